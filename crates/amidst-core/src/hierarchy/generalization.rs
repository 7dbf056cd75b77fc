//! A hierarchy bound to a column: what the codes of the column become at each level.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{Hierarchy, Level, TOP};
use crate::table::{Column, ValueType};

/// How local recoding writes a cell of this column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generalize {
    /// As a node of the hierarchy.
    #[default]
    Hierarchy,
    /// As a range of ranks, `[20-29]`.
    Ranges,
    /// As a set of values, `{a,b}`.
    Sets,
}

/// What one quasi column becomes, level by level, in codes of its active domain.
#[derive(Debug, Clone)]
pub struct Generalization {
    /// The column's name.
    pub name: String,
    /// The type of its values.
    pub kind: ValueType,
    /// Whether information loss measures it on the number line (else by hierarchy height).
    pub numeric: bool,
    /// How much a loss in this column counts.
    pub weight: f64,
    /// How local recoding writes its cells.
    pub generalize: Generalize,
    /// Whether the policy gave a hierarchy; without one there are only the values and `*`.
    pub has_hierarchy: bool,
    /// Levels 0…h; level 0 is the values themselves.
    pub levels: Vec<GeneralizedLevel>,
    /// The leaves of the hierarchy, whether or not the table has them.
    pub leaves: u64,
    /// Position of each code on the number line; its rank for a column that is not numeric.
    pub coordinates: Vec<f64>,
}

/// One level of a generalization. Value codes are numbered in the order of the first active code they cover.
#[derive(Debug, Clone)]
pub struct GeneralizedLevel {
    /// The value at this level of each active code.
    pub of: Vec<u32>,
    /// The value at the next level of each value of this one; empty at the top.
    pub up: Vec<u32>,
    /// The label of each value.
    pub labels: Vec<String>,
    /// How many leaves of the hierarchy each value covers: all of them where it is called like the top.
    pub leaves: Vec<u64>,
    /// How many active codes each value covers.
    pub active: Vec<u64>,
    /// The lowest and highest coordinate that each value covers: those of the top where it is called like the top.
    pub extent: Vec<(f64, f64)>,
}

/// What a cell of the release says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cell {
    /// A value of a hierarchy level.
    Node {
        /// The level.
        level: u32,
        /// The value, as numbered in [`GeneralizedLevel`].
        value: u32,
    },
    /// All codes from `low` to `high`, inclusive.
    Range {
        /// The lowest code.
        low: u32,
        /// The highest code.
        high: u32,
    },
    /// These codes, ascending.
    Set(Box<[u32]>),
}

impl Generalization {
    /// Binds `hierarchy` to `column`, numeric when its type is. Fails with the codes of the values that the hierarchy
    /// lacks.
    pub fn bind(column: &Column, hierarchy: Option<&Hierarchy>) -> Result<Self, Vec<u32>> {
        Self::bind_as(column, hierarchy, column.kind.is_numeric())
    }

    /// Binds `hierarchy` to `column`, which information loss measures on the number line when `numeric` (see
    /// [`is_numeric`](super::is_numeric)). Fails with the codes of the values that the hierarchy lacks.
    pub fn bind_as(column: &Column, hierarchy: Option<&Hierarchy>, numeric: bool) -> Result<Self, Vec<u32>> {
        let active = column.dictionary.len();
        let leaf_of = leaves_of(column, hierarchy)?;
        let numeric = numeric && column.kind.is_numeric();
        let coordinates: Vec<f64> = if numeric {
            column.dictionary.iter().map(|v| column.kind.coordinate(v).unwrap_or(0.0)).collect()
        } else {
            (0..active).map(|c| c as f64).collect()
        };
        let height = hierarchy.map_or(1, Hierarchy::height);
        let mut levels: Vec<GeneralizedLevel> = (0..=height)
            .into_par_iter()
            .map(|level| match (level, hierarchy) {
                (0, Some(h)) => GeneralizedLevel::values(&leaf_of, |leaf| h.leaves.value(leaf), &coordinates),
                (0, None) => GeneralizedLevel::values(&leaf_of, |code| column.dictionary.value(code), &coordinates),
                (_, Some(h)) => GeneralizedLevel::of_level(&leaf_of, &h.levels[level - 1], &coordinates),
                (_, None) => GeneralizedLevel::of_level(&leaf_of, &Level::top(active), &coordinates),
            })
            .collect();
        for level in 0..height {
            let mut up = vec![0; levels[level].labels.len()];
            for code in 0..active {
                up[levels[level].of[code] as usize] = levels[level + 1].of[code];
            }
            levels[level].up = up;
        }
        cover_as_the_top(&mut levels);
        Ok(Generalization {
            name: column.name.clone(),
            kind: column.kind,
            numeric,
            weight: 1.0,
            generalize: Generalize::default(),
            has_hierarchy: hierarchy.is_some(),
            levels,
            leaves: hierarchy.map_or(active, |h| h.leaves.len()) as u64,
            coordinates,
        })
    }

    /// h: the highest level.
    pub fn height(&self) -> usize {
        self.levels.len() - 1
    }

    /// Whether a value is called like the top, of whichever level it is: then it says as little.
    pub fn is_top(&self, level: usize, value: u32) -> bool {
        let top = self.height();
        level == top || self.levels[top].labels.first() == self.levels[level].labels.get(value as usize)
    }

    /// The level of what a node says: the highest where it is called like the top, else its own.
    pub fn level_said(&self, level: u32, value: u32) -> u32 {
        if self.is_top(level as usize, value) { self.height() as u32 } else { level }
    }

    /// The number of distinct values in the table.
    pub fn active(&self) -> usize {
        self.coordinates.len()
    }

    /// Whether `cell` covers the value `code`.
    pub fn covers(&self, cell: &Cell, code: u32) -> bool {
        match cell {
            Cell::Node { level, value } => self.levels[*level as usize].of[code as usize] == *value,
            Cell::Range { low, high } => (*low..=*high).contains(&code),
            Cell::Set(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// How many values of the table `cell` covers.
    pub fn covered_active(&self, cell: &Cell) -> u64 {
        match cell {
            Cell::Node { level, value } => self.levels[*level as usize].active[*value as usize],
            Cell::Range { low, high } => u64::from(high - low) + 1,
            Cell::Set(codes) => codes.len() as u64,
        }
    }

    /// How many leaves `cell` covers: those of the hierarchy for a node, values of the table for ranges and sets.
    pub fn covered_leaves(&self, cell: &Cell) -> u64 {
        match cell {
            Cell::Node { level, value } => self.levels[*level as usize].leaves[*value as usize],
            _ => self.covered_active(cell),
        }
    }

    /// The lowest node that covers all of `codes`; the top for none.
    pub fn lowest_common_node(&self, codes: impl IntoIterator<Item = u32>) -> Cell {
        let mut level = 0;
        let mut codes = codes.into_iter();
        let Some(first) = codes.next() else {
            return Cell::Node { level: self.height() as u32, value: 0 };
        };
        for code in codes {
            while self.levels[level].of[code as usize] != self.levels[level].of[first as usize] {
                level += 1;
            }
        }
        Cell::Node { level: level as u32, value: self.levels[level].of[first as usize] }
    }

    /// What the release prints for `cell`.
    pub fn label(&self, cell: &Cell) -> Cow<'_, str> {
        let value = |code: u32| self.levels[0].labels[self.levels[0].of[code as usize] as usize].as_str();
        match cell {
            // In a table without rows the top has no label of its own.
            Cell::Node { level, value } => {
                Cow::Borrowed(self.levels[*level as usize].labels.get(*value as usize).map_or(TOP, String::as_str))
            }
            Cell::Range { low, high } if low == high => Cow::Borrowed(value(*low)),
            Cell::Range { low: 0, high } if *high as usize + 1 == self.active() => Cow::Borrowed(TOP),
            Cell::Range { low, high } => Cow::Owned(format!("[{}-{}]", value(*low), value(*high))),
            Cell::Set(codes) if codes.len() == 1 => Cow::Borrowed(value(codes[0])),
            Cell::Set(codes) if codes.len() == self.active() => Cow::Borrowed(TOP),
            Cell::Set(codes) => {
                let mut members: Vec<String> = codes.iter().map(|&c| escape(value(c))).collect();
                members.sort();
                Cow::Owned(format!("{{{}}}", members.join(",")))
            }
        }
    }
}

/// The leaf of each code of `column`, or the codes that have none.
fn leaves_of(column: &Column, hierarchy: Option<&Hierarchy>) -> Result<Vec<u32>, Vec<u32>> {
    let codes = 0..column.dictionary.len() as u32;
    let Some(hierarchy) = hierarchy else { return Ok(codes.collect()) };
    let leaves = &hierarchy.leaves;
    let known = leaves.len() as u32;
    let found: Vec<Option<u32>> = codes
        .into_par_iter()
        .map(|code| {
            let value = column.dictionary.value(code);
            // Builders that read the column keep its order, and then no lookup is needed.
            if code < known && leaves.value(code) == value { Some(code) } else { leaves.code(value) }
        })
        .collect();
    let lacking: Vec<u32> = (0u32..).zip(&found).filter(|(_, leaf)| leaf.is_none()).map(|(code, _)| code).collect();
    if lacking.is_empty() { Ok(found.into_iter().flatten().collect()) } else { Err(lacking) }
}

impl GeneralizedLevel {
    /// Level 0: every active code is a value of its own.
    fn values<'l>(leaf_of: &[u32], label: impl Fn(u32) -> &'l str, coordinates: &[f64]) -> Self {
        GeneralizedLevel {
            of: (0..leaf_of.len() as u32).collect(),
            up: Vec::new(),
            labels: leaf_of.iter().map(|&leaf| label(leaf).to_string()).collect(),
            leaves: vec![1; leaf_of.len()],
            active: vec![1; leaf_of.len()],
            extent: coordinates.iter().map(|&c| (c, c)).collect(),
        }
    }

    /// A level above the values, with only the groups that active codes fall into.
    fn of_level(leaf_of: &[u32], level: &Level, coordinates: &[f64]) -> Self {
        let mut leaves_of_group = vec![0u64; level.labels.len()];
        level.of_leaf.iter().for_each(|&g| leaves_of_group[g as usize] += 1);
        let mut renumbered = vec![u32::MAX; level.labels.len()];
        let mut out = GeneralizedLevel {
            of: Vec::with_capacity(leaf_of.len()),
            up: Vec::new(),
            labels: Vec::new(),
            leaves: Vec::new(),
            active: Vec::new(),
            extent: Vec::new(),
        };
        for (&leaf, &coordinate) in leaf_of.iter().zip(coordinates) {
            let group = level.of_leaf[leaf as usize] as usize;
            if renumbered[group] == u32::MAX {
                renumbered[group] = out.labels.len() as u32;
                out.labels.push(level.labels[group].clone());
                out.leaves.push(leaves_of_group[group]);
                out.active.push(0);
                out.extent.push((f64::INFINITY, f64::NEG_INFINITY));
            }
            let value = renumbered[group];
            out.of.push(value);
            out.active[value as usize] += 1;
            let (low, high) = &mut out.extent[value as usize];
            (*low, *high) = (low.min(coordinate), high.max(coordinate));
        }
        out
    }
}

/// Gives values that are called like the top what the top covers: a reader cannot tell them from it.
fn cover_as_the_top(levels: &mut [GeneralizedLevel]) {
    let Some((top, below)) = levels.split_last_mut() else { return };
    let (Some(label), Some(&leaves), Some(&extent)) = (top.labels.first(), top.leaves.first(), top.extent.first())
    else {
        return;
    };
    for level in below {
        for value in (0..level.labels.len()).filter(|&value| level.labels[value] == *label).collect::<Vec<_>>() {
            level.leaves[value] = leaves;
            level.extent[value] = extent;
        }
    }
}

/// A member of a printed set, with the characters that structure the set escaped.
fn escape(member: &str) -> String {
    let mut out = String::with_capacity(member.len());
    for c in member.chars() {
        if matches!(c, ',' | '{' | '}' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip() -> (Column, Hierarchy) {
        let column = Column::from_values("zip", ["4350x", "4351x", "4360x"]);
        let hierarchy = Hierarchy {
            leaves: ["4350x", "4351x", "4352x", "4360x"].into_iter().collect(),
            levels: vec![
                Level { labels: vec!["435*".into(), "436*".into()], of_leaf: vec![0, 0, 0, 1] },
                Level { labels: vec!["*".into()], of_leaf: vec![0; 4] },
            ],
        };
        (column, hierarchy)
    }

    #[test]
    fn levels_cover_what_the_hierarchy_says() {
        let (column, hierarchy) = zip();
        let g = Generalization::bind(&column, Some(&hierarchy)).unwrap();
        assert_eq!((g.height(), g.leaves, g.active()), (2, 4, 3));
        assert_eq!(g.levels[1].of, [0, 0, 1]);
        assert_eq!((&g.levels[1].leaves[..], &g.levels[1].active[..]), (&[3, 1][..], &[2, 1][..]));
        assert_eq!(g.levels[1].up, [0, 0]);
        assert_eq!(g.lowest_common_node([0, 1]), Cell::Node { level: 1, value: 0 });
        assert_eq!(g.label(&g.lowest_common_node([0, 2])), "*");
        assert_eq!(g.label(&Cell::Range { low: 0, high: 1 }), "[4350x-4351x]");
        assert_eq!(g.label(&Cell::Set([0, 2].into())), "{4350x,4360x}");
    }

    #[test]
    fn a_categorical_column_has_ranks_for_coordinates() {
        let column = Column::from_values("zip", ["10115", "80331"]);
        let g = Generalization::bind(&column, None).unwrap();
        assert_eq!(
            (g.numeric, &g.coordinates[..], g.levels[1].extent[0]),
            (true, &[10115.0, 80331.0][..], (10115.0, 80331.0))
        );
        let g = Generalization::bind_as(&column, None, false).unwrap();
        assert_eq!((g.numeric, &g.coordinates[..], g.levels[1].extent[0]), (false, &[0.0, 1.0][..], (0.0, 1.0)));
        assert_eq!((&g.levels[1].labels[..], g.levels[0].up.len()), (&["*".to_string()][..], 2));
    }

    #[test]
    fn no_rows_are_no_trouble() {
        let g = Generalization::bind(&Column::new("x"), None).unwrap();
        assert_eq!((g.height(), g.active(), g.label(&g.lowest_common_node([])).as_ref()), (1, 0, "*"));
    }

    #[test]
    fn values_that_the_hierarchy_lacks_are_named() {
        let (_, hierarchy) = zip();
        let column = Column::from_values("zip", ["4350x", "9999x"]);
        assert_eq!(Generalization::bind(&column, Some(&hierarchy)).unwrap_err(), [1]);
    }
}
