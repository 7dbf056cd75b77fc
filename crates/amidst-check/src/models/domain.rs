//! What models know of a sensitive column: its published values, and the input table's distribution.

use rustc_hash::FxHashMap;

use crate::certificate::SensitiveColumn;

/// More rows than any table has; larger numbers in a certificate are refused before they overflow anything.
const MOST_ROWS: u64 = 1_000_000_000_000_000;

/// A sensitive column: values are numbered by their place in `values`.
#[derive(Debug, Default)]
pub(crate) struct Domain {
    /// The published values.
    pub values: Vec<Vec<u8>>,
    /// The number of each published value.
    numbers: FxHashMap<Vec<u8>, u32>,
    /// For every published value its place in the table's distribution.
    pub places: Vec<Option<usize>>,
    /// The table's distribution in rank order.
    pub table: Vec<u64>,
    /// Its sum.
    pub total: u64,
    /// Whether the rank order means something.
    pub ordered: bool,
    /// Group numbers of each place at the levels 1 … h.
    pub levels: Option<Vec<Vec<u32>>>,
    /// Categories, the most sensitive first.
    pub categories: Option<Vec<Vec<String>>>,
    /// Their weights.
    pub weights: Option<Vec<String>>,
}

impl Domain {
    /// Joins what the certificate says of a column with the values that the release holds.
    pub(crate) fn new(column: &SensitiveColumn, values: Vec<Vec<u8>>) -> Result<Domain, String> {
        let mut labels: FxHashMap<&[u8], usize> = FxHashMap::default();
        let mut total = 0u64;
        for (place, entry) in column.distribution.iter().enumerate() {
            total =
                total.checked_add(entry.count).filter(|&t| t <= MOST_ROWS).ok_or("the distribution is too large")?;
            if let Some(label) = &entry.value
                && labels.insert(label.as_bytes(), place).is_some()
            {
                return Err("the distribution lists a value twice".into());
            }
        }
        if let Some(levels) = &column.levels {
            if levels.len() != column.distribution.len() {
                return Err("the levels are not one list for each value of the distribution".into());
            }
            if levels.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
                return Err("the levels of its values differ in number".into());
            }
        }
        let places = values.iter().map(|v| labels.get(v.as_slice()).copied()).collect();
        let numbers = values.iter().enumerate().map(|(id, value)| (value.clone(), id as u32)).collect();
        Ok(Domain {
            values,
            numbers,
            places,
            table: column.distribution.iter().map(|e| e.count).collect(),
            total,
            ordered: column.ordered,
            levels: column.levels.clone(),
            categories: column.categories.clone(),
            weights: column.weights.clone(),
        })
    }

    /// The number of a value, if it is published.
    pub(crate) fn id(&self, text: &str) -> Option<u32> {
        self.numbers.get(text.as_bytes()).copied()
    }

    /// For each of `values`, whether it is in `set`.
    pub(crate) fn flags(&self, set: &[String]) -> Vec<bool> {
        let mut flags = vec![false; self.values.len()];
        for id in set.iter().filter_map(|text| self.id(text)) {
            flags[id as usize] = true;
        }
        flags
    }

    /// The place of a value in the table's distribution.
    pub(crate) fn place(&self, id: u32) -> Result<usize, String> {
        self.places
            .get(id as usize)
            .copied()
            .flatten()
            .ok_or_else(|| "a published value is missing from the table's distribution".into())
    }

    /// How often the table holds a value.
    pub(crate) fn in_table(&self, id: u32) -> Result<u64, String> {
        match self.table.get(self.place(id)?).copied() {
            Some(count) if count > 0 => Ok(count),
            _ => Err("a published value has no count in the table's distribution".into()),
        }
    }
}
