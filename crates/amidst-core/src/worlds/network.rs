//! Reasoning about all cohorts at once: bounds on how many of each have each value.
//!
//! **The unknowns** are the cohorts, and for each class with more rows than persons its counterfeits. Those of a class
//! add up to what it publishes of each value; the values of an unknown add up to its size. So if the others of a class
//! have at least a number of a value the unknown has at most the rest, and the other way round. Bounds are tightened
//! until nothing changes, or until the limit of steps: they hold at every moment, so stopping early is sound.
//!
//! A person two of whose classes in a row have no value in common has changed it in between. They are taken for
//! somebody else from then on: a new life. Where classes contradict each other in a way that does not tell when the
//! value changed, or where only a value has changed that stands for another, and not what it stands for, lives would
//! say too little; then nothing is proven about persons whom the classes concern.

use super::history::{Cohort, History};

/// How many of an unknown have a value: at least, and at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub value: u32,
    pub low: u32,
    pub high: u32,
}

/// Lists of different lengths, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Lists<T> {
    items: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Lists<T> {
    pub fn push(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.ends.push(self.items.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    fn start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    pub fn get(&self, at: usize) -> &[T] {
        &self.items[self.start(at)..self.ends[at]]
    }

    pub fn get_mut(&mut self, at: usize) -> &mut [T] {
        let start = self.start(at);
        &mut self.items[start..self.ends[at]]
    }
}

/// An unknown: a cohort in one of its lives, or the counterfeits of a class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unknown {
    pub size: u32,
    /// `None` for counterfeits.
    pub cohort: Option<Cohort>,
}

/// The unknowns and the classes that tie them together.
#[derive(Debug, Clone)]
pub(super) struct Network<'h> {
    pub history: &'h History,
    pub unknowns: Vec<Unknown>,
    /// The classes of each unknown.
    pub classes: Lists<u32>,
    /// What each unknown can have, by value.
    pub bounds: Lists<Bounds>,
    /// The unknowns of each class; none where it has fewer rows than persons, which nothing can be told from.
    pub members: Lists<u32>,
    /// Classes that contradict the others.
    pub contradictions: Vec<u32>,
}

/// A listener that is told how the bounds came about.
pub(super) trait Listener {
    /// The bounds of an unknown have become tighter because of a class.
    fn learned(&mut self, network: &Network<'_>, unknown: u32, class: u32);
}

impl Listener for () {
    fn learned(&mut self, _: &Network<'_>, _: u32, _: u32) {}
}

impl<'h> Network<'h> {
    /// The network of a history, with nothing reasoned yet.
    pub fn new(history: &'h History) -> Self {
        let mut network = Network {
            history,
            unknowns: Vec::new(),
            classes: Lists::default(),
            bounds: Lists::default(),
            members: Lists::default(),
            contradictions: Vec::new(),
        };
        let mut path = Vec::new();
        for (cohort, members) in history.inhabited() {
            history.path(cohort, &mut path);
            network.lives(cohort, members, &path);
        }
        for cohort in history.excluded() {
            history.path(cohort, &mut path);
            network.contradictions.extend(&path);
        }
        for (class, seen) in (0u32..).zip(history.classes()) {
            let spare = seen.rows.saturating_sub(u64::from(seen.persons));
            if spare > 0 {
                let size = u32::try_from(spare).unwrap_or(u32::MAX);
                let counts = history.counts(class).iter();
                network.add(Unknown { size, cohort: None }, &[class], counts.map(|&(value, n)| (value, n)).collect());
            }
        }
        network.gather();
        network
    }

    /// Adds a cohort, in as many lives as its classes ask for.
    fn lives(&mut self, cohort: Cohort, size: u32, path: &[u32]) {
        let unknown = Unknown { size, cohort: Some(cohort) };
        let (mut first, mut common) = (0, self.history.counts(path[0]).to_vec());
        for (at, &class) in path.iter().enumerate().skip(1) {
            let both = intersect(&common, self.history.counts(class));
            if both.is_empty() {
                let forced = intersect(self.history.counts(path[at - 1]), self.history.counts(class)).is_empty();
                if !forced || self.history.is_finer() && self.still_fits(&path[first..at], class) {
                    self.contradictions.extend(path);
                }
                self.add(unknown, &path[first..at], common);
                (first, common) = (at, self.history.counts(class).to_vec());
            } else {
                common = both;
            }
        }
        self.add(unknown, &path[first..], common);
    }

    /// Whether what their values stand for may be the same in a class as in those before, although the values are not:
    /// then they may have kept it, which two lives say nothing of.
    fn still_fits(&self, before: &[u32], class: u32) -> bool {
        let meant = |class: u32| {
            let mut meant: Vec<u32> = self.history.counts(class).iter().map(|c| self.history.meant(c.0)).collect();
            meant.sort_unstable();
            meant
        };
        let before: Vec<Vec<u32>> = before.iter().map(|&class| meant(class)).collect();
        meant(class).iter().any(|value| before.iter().all(|held| held.binary_search(value).is_ok()))
    }

    fn add(&mut self, unknown: Unknown, classes: &[u32], most: Vec<(u32, u32)>) {
        self.unknowns.push(unknown);
        let known = self.history.classes();
        let full = |c: &&u32| known[**c as usize].rows >= u64::from(known[**c as usize].persons);
        self.classes.push(classes.iter().filter(full).copied());
        self.bounds.push(most.into_iter().map(|(value, n)| Bounds { value, low: 0, high: n.min(unknown.size) }));
    }

    /// The unknowns of each class.
    fn gather(&mut self) {
        let classes = self.history.classes().len();
        let mut counts = vec![0usize; classes];
        self.classes.items.iter().for_each(|&class| counts[class as usize] += 1);
        let mut next = 0;
        let begin = |&n: &usize| {
            next += n;
            next - n
        };
        let mut at: Vec<usize> = counts.iter().map(begin).collect();
        let mut items = vec![0u32; next];
        for unknown in 0..self.unknowns.len() {
            for &class in self.classes.get(unknown) {
                items[at[class as usize]] = unknown as u32;
                at[class as usize] += 1;
            }
        }
        // Where the unknowns of a class are filled in, the next one's begin.
        self.members = Lists { items, ends: at };
    }

    /// The number of bounds.
    pub fn entries(&self) -> u64 {
        self.bounds.items.len() as u64
    }

    /// Tightens the bounds until nothing changes, or until this number of them were looked at.
    pub fn tighten(&mut self, mut steps: u64, listener: &mut impl Listener) {
        let mut queue: std::collections::VecDeque<u32> = (0..self.members.len() as u32).collect();
        let mut waiting = vec![true; queue.len()];
        let mut learned = Vec::new();
        let mut sums = Vec::new();
        while let Some(class) = queue.pop_front() {
            waiting[class as usize] = false;
            learned.clear();
            let Some(cost) = self.apply(class, &mut sums, &mut learned, listener) else {
                self.contradictions.push(class);
                continue;
            };
            for &unknown in &learned {
                for &other in self.classes.get(unknown as usize) {
                    if !std::mem::replace(&mut waiting[other as usize], true) {
                        queue.push_back(other);
                    }
                }
            }
            match steps.checked_sub(cost) {
                Some(left) => steps = left,
                None => return,
            }
        }
    }

    /// What a class tells about its unknowns. `None` when nothing satisfies it; otherwise how much was looked at.
    fn apply(
        &mut self,
        class: u32,
        sums: &mut Vec<(u64, u64)>,
        learned: &mut Vec<u32>,
        listener: &mut impl Listener,
    ) -> Option<u64> {
        let history = self.history;
        let counts = history.counts(class);
        sums.clear();
        sums.resize(counts.len(), (0, 0));
        let many = self.members.get(class as usize).len();
        let mut cost = 1;
        for at in 0..many {
            let unknown = self.members.get(class as usize)[at] as usize;
            let mut place = 0;
            for b in self.bounds.get(unknown) {
                place += counts[place..].partition_point(|c| c.0 < b.value);
                sums[place].0 += u64::from(b.low);
                sums[place].1 += u64::from(b.high);
                cost += 1;
            }
        }
        let full = (many > 0).then(|| counts.iter().zip(sums.iter()));
        if full.is_some_and(|mut full| full.any(|(c, s)| s.0 > u64::from(c.1) || s.1 < u64::from(c.1))) {
            return None;
        }
        for at in 0..many {
            let unknown = self.members.get(class as usize)[at];
            let size = self.unknowns[unknown as usize].size;
            let mut told = false;
            let mut place = 0;
            for b in 0..self.bounds.get(unknown as usize).len() {
                let old = self.bounds.get(unknown as usize)[b];
                place += counts[place..].partition_point(|c| c.0 < old.value);
                let n = u64::from(counts[place].1);
                // The sums may be those from before others of this class learned something: looser, never wrong.
                let most = n.saturating_sub(sums[place].0 - u64::from(old.low));
                let least = n.saturating_sub(sums[place].1 - u64::from(old.high));
                if most < u64::from(old.high) || least > u64::from(old.low) {
                    let (low, high) = (least.max(u64::from(old.low)), most.min(u64::from(old.high)));
                    told = true;
                    self.bounds.get_mut(unknown as usize)[b] = Bounds { low: low as u32, high: high as u32, ..old };
                    if low > high {
                        return None;
                    }
                    sums[place].0 = sums[place].0 + low - u64::from(old.low);
                    sums[place].1 = sums[place].1 + high - u64::from(old.high);
                }
            }
            // Also when nothing was told: the size alone may tell something, at first.
            if fit(self.bounds.get_mut(unknown as usize), size)? || told {
                learned.push(unknown);
                listener.learned(self, unknown, class);
            }
        }
        Some(cost)
    }
}

/// Makes bounds fit the size that they add up to. `None` when they cannot; otherwise whether they changed.
fn fit(bounds: &mut [Bounds], size: u32) -> Option<bool> {
    let size = u64::from(size);
    let mut changed = false;
    loop {
        let (mut low, mut high) = (0, 0);
        for b in bounds.iter() {
            low += u64::from(b.low);
            high += u64::from(b.high);
        }
        let (room, lack) = (size.checked_sub(low)?, high.checked_sub(size)?);
        let mut again = false;
        for b in bounds.iter_mut() {
            let most = (u64::from(b.low) + room).min(u64::from(b.high)) as u32;
            let least = u64::from(b.high).saturating_sub(lack).max(u64::from(b.low)) as u32;
            again |= (least, most) != (b.low, b.high);
            (b.low, b.high) = (least, most);
        }
        if !again {
            return Some(changed);
        }
        changed = true;
    }
}

/// What two classes have in common, each value as often as the one that has fewer.
fn intersect(a: &[(u32, u32)], b: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let both = |&(value, n): &(u32, u32)| {
        let at = b.binary_search_by_key(&value, |c| c.0).ok()?;
        Some((value, n.min(b[at].1)))
    };
    a.iter().filter_map(both).collect()
}
