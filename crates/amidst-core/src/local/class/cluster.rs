//! A class under construction: its rows, what they count and what their cells cost.

use crate::frequency::{Entry, FrequencySet, add_up};
use crate::local::class::{Judge, Part, Partition, Tally, shape_of};
use crate::local::shape::{ShapeWord, Space};

/// Everything a cluster needs to know about its table and policy.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// The table.
    pub set: &'a FrequencySet,
    /// The tuple of each entry.
    pub tuple_of: &'a [u32],
    /// What cells cost.
    pub space: &'a Space,
    /// What a class must satisfy.
    pub judge: &'a Judge<'a>,
}

/// A class under construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cluster {
    /// Its rows.
    pub parts: Vec<Part>,
    /// What they count.
    pub tally: Tally,
    /// The shape over them.
    pub shape: Vec<ShapeWord>,
    /// What that shape costs a row.
    pub cost: f64,
}

impl Cluster {
    /// The information loss of the class.
    pub fn loss(&self) -> f64 {
        self.cost * self.tally.rows as f64
    }
}

impl<'a> World<'a> {
    /// The quasi tuple of an entry.
    #[inline]
    pub fn codes(&self, entry: u32) -> &'a [u32] {
        self.set.tuple(self.tuple_of[entry as usize] as usize)
    }

    /// The entry with this number.
    #[inline]
    pub fn entry(&self, entry: u32) -> Entry {
        self.set.groups.entries[entry as usize]
    }

    /// A cluster of these rows.
    pub fn cluster(&self, parts: Vec<Part>) -> Cluster {
        let mut cluster = Cluster { parts, ..Cluster::default() };
        cluster.tally = self.judge.tally(cluster.parts.iter().map(|&(e, rows)| Entry { rows, ..self.entry(e) }));
        self.reshape(&mut cluster);
        cluster
    }

    /// Computes shape and cost anew, after rows have left.
    pub fn reshape(&self, cluster: &mut Cluster) {
        cluster.shape.resize(self.space.words(), ShapeWord::default());
        shape_of(&cluster.parts, self.set, self.tuple_of, self.space, &mut cluster.shape);
        cluster.cost = if cluster.parts.is_empty() { 0.0 } else { self.space.cost(&cluster.shape) };
    }

    /// Adds rows of an entry.
    pub fn add(&self, cluster: &mut Cluster, entry: u32, rows: u64) {
        if cluster.parts.is_empty() {
            cluster.shape.resize(self.space.words(), ShapeWord::default());
            self.space.start(&mut cluster.shape, self.codes(entry));
        } else {
            self.space.add(&mut cluster.shape, self.codes(entry));
        }
        cluster.cost = self.space.cost(&cluster.shape);
        self.judge.add(&mut cluster.tally, self.entry(entry), rows);
        put(&mut cluster.parts, entry, rows);
    }

    /// Takes rows of an entry away. The shape shrinks only with [`World::reshape`].
    pub fn take(&self, cluster: &mut Cluster, entry: u32, rows: u64) {
        self.judge.remove(&mut cluster.tally, self.entry(entry), rows);
        if let Some(at) = cluster.parts.iter().position(|p| p.0 == entry) {
            cluster.parts[at].1 -= rows;
            if cluster.parts[at].1 == 0 {
                cluster.parts.remove(at);
            }
        }
    }

    /// How much the total information loss grows when rows of an entry join.
    #[inline]
    pub fn growth(&self, cluster: &Cluster, entry: u32, rows: u64) -> f64 {
        let cost = self.space.cost_with(&cluster.shape, self.codes(entry));
        cost * (cluster.tally.rows + rows) as f64 - cluster.loss()
    }

    /// Whether the cluster satisfies the policy.
    pub fn holds(&self, cluster: &Cluster) -> bool {
        self.judge.holds_over(&cluster.tally, || Some(self.space.cells(&cluster.shape)))
    }

    /// Whether the cluster would satisfy the policy with these rows as well.
    pub fn holds_with(&self, cluster: &Cluster, entry: u32, rows: u64) -> bool {
        if self.judge.size_only {
            return cluster.tally.rows + rows >= self.judge.least;
        }
        let mut tally = cluster.tally.clone();
        self.judge.add(&mut tally, self.entry(entry), rows);
        self.judge.holds_over(&tally, || {
            let mut shape = cluster.shape.clone();
            match cluster.parts.is_empty() {
                true => return Some(self.space.cells(&self.shape(&[(entry, rows)]))),
                false => self.space.add(&mut shape, self.codes(entry)),
            }
            Some(self.space.cells(&shape))
        })
    }

    /// Whether the cluster would satisfy the policy without these rows.
    pub fn holds_without(&self, cluster: &Cluster, entry: u32, rows: u64) -> bool {
        let left = cluster.tally.rows.saturating_sub(rows);
        if self.judge.size_only || left < self.judge.least {
            return left >= self.judge.least;
        }
        let mut tally = cluster.tally.clone();
        self.judge.remove(&mut tally, self.entry(entry), rows);
        self.judge.holds_over(&tally, || {
            let stays = |&(e, n): &Part| e != entry || n > rows;
            Some(self.space.cells(&self.shape(&cluster.parts.iter().copied().filter(stays).collect::<Vec<Part>>())))
        })
    }

    /// The tightest shape over some rows.
    pub fn shape(&self, parts: &[Part]) -> Vec<ShapeWord> {
        let mut shape = self.space.empty();
        shape_of(parts, self.set, self.tuple_of, self.space, &mut shape);
        shape
    }

    /// The clusters of a partition.
    pub fn clusters(&self, partition: &Partition) -> Vec<Cluster> {
        partition.classes.iter().filter(|c| !c.is_empty()).map(|c| self.cluster(c.clone())).collect()
    }
}

/// The total information loss of some clusters.
pub fn total(clusters: &[Cluster]) -> f64 {
    clusters.iter().map(Cluster::loss).sum()
}

/// The partition that clusters stand for.
pub fn partition(clusters: Vec<Cluster>) -> Partition {
    Partition { classes: clusters.into_iter().map(|c| c.parts).filter(|p| !p.is_empty()).collect() }
}

/// Adds rows of an entry to a list of parts.
pub fn put(parts: &mut Vec<Part>, entry: u32, rows: u64) {
    match parts.iter_mut().find(|p| p.0 == entry) {
        Some(part) => part.1 += rows,
        None => parts.push((entry, rows)),
    }
}

/// Rows of the same entry together.
pub fn combined(parts: &[Part]) -> Vec<Part> {
    let mut parts = parts.to_vec();
    add_up(&mut parts);
    parts
}
