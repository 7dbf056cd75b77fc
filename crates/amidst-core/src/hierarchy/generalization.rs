//! A hierarchy bound to a column: what the codes of the column become at each level.

use std::borrow::Cow;

use super::{Hierarchy, TOP};
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
    /// How many leaves of the hierarchy each value covers.
    pub leaves: Vec<u64>,
    /// How many active codes each value covers.
    pub active: Vec<u64>,
    /// The lowest and highest coordinate that each value covers.
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
    /// Binds `hierarchy` to `column`. Fails with the codes of the values that the hierarchy lacks.
    pub fn bind(column: &Column, hierarchy: Option<&Hierarchy>) -> Result<Self, Vec<u32>> {
        let active = column.dictionary.len();
        let mut leaf_of = Vec::with_capacity(active);
        let mut lacking = Vec::new();
        for (code, value) in column.dictionary.iter().enumerate() {
            match hierarchy.map_or(Some(code as u32), |h| h.leaves.code(value)) {
                Some(leaf) => leaf_of.push(leaf),
                None => lacking.push(code as u32),
            }
        }
        if !lacking.is_empty() {
            return Err(lacking);
        }
        let coordinates: Vec<f64> = match column.kind {
            ValueType::Text => (0..active).map(|c| c as f64).collect(),
            kind => column.dictionary.iter().map(|v| kind.coordinate(v).unwrap_or(0.0)).collect(),
        };
        let leaves = hierarchy.map_or(active, |h| h.leaves.len());
        let height = hierarchy.map_or(1, Hierarchy::height);
        let identity: Vec<u32> = (0..leaves as u32).collect();
        let everything = vec![0; leaves];
        let mut levels: Vec<GeneralizedLevel> = Vec::with_capacity(height + 1);
        for level in 0..=height {
            // The groups of all leaves at this level, and their labels.
            let of_leaf: &[u32] = match (level, hierarchy) {
                (0, _) => &identity,
                (_, Some(h)) => &h.levels[level - 1].of_leaf,
                (_, None) => &everything,
            };
            let label = |group: u32| match (level, hierarchy) {
                (0, Some(h)) => h.leaves.value(group).to_string(),
                (0, None) => column.dictionary.value(group).to_string(),
                (_, Some(h)) => h.levels[level - 1].labels[group as usize].clone(),
                (_, None) => TOP.to_string(),
            };
            let groups = of_leaf.iter().max().map_or(0, |&m| m as usize + 1);
            let mut leaves_of_group = vec![0u64; groups];
            of_leaf.iter().for_each(|&g| leaves_of_group[g as usize] += 1);
            let mut renumbered = vec![u32::MAX; groups];
            let mut out = GeneralizedLevel {
                of: Vec::with_capacity(active),
                up: Vec::new(),
                labels: Vec::new(),
                leaves: Vec::new(),
                active: Vec::new(),
                extent: Vec::new(),
            };
            for (code, &leaf) in leaf_of.iter().enumerate() {
                let group = of_leaf[leaf as usize];
                let slot = &mut renumbered[group as usize];
                if *slot == u32::MAX {
                    *slot = out.labels.len() as u32;
                    out.labels.push(label(group));
                    out.leaves.push(leaves_of_group[group as usize]);
                    out.active.push(0);
                    out.extent.push((f64::INFINITY, f64::NEG_INFINITY));
                }
                let value = *slot as usize;
                out.of.push(*slot);
                out.active[value] += 1;
                let (low, high) = out.extent[value];
                out.extent[value] = (low.min(coordinates[code]), high.max(coordinates[code]));
            }
            levels.push(out);
        }
        for level in 0..height {
            let mut up = vec![0; levels[level].labels.len()];
            for code in 0..active {
                up[levels[level].of[code] as usize] = levels[level + 1].of[code];
            }
            levels[level].up = up;
        }
        Ok(Generalization {
            name: column.name.clone(),
            kind: column.kind,
            numeric: column.kind.is_numeric(),
            weight: 1.0,
            generalize: Generalize::default(),
            has_hierarchy: hierarchy.is_some(),
            levels,
            leaves: leaves as u64,
            coordinates,
        })
    }

    /// h: the highest level.
    pub fn height(&self) -> usize {
        self.levels.len() - 1
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
            Cell::Node { level, value } => Cow::Borrowed(&self.levels[*level as usize].labels[*value as usize]),
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
    use crate::hierarchy::Level;

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
    fn values_that_the_hierarchy_lacks_are_named() {
        let (_, hierarchy) = zip();
        let column = Column::from_values("zip", ["4350x", "9999x"]);
        assert_eq!(Generalization::bind(&column, Some(&hierarchy)).unwrap_err(), [1]);
    }
}
