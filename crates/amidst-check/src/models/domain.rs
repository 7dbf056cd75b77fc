//! A sensitive column as models see it: its published values and their distribution over the whole release.
//!
//! Classes are compared with the release that they are part of, so that the release suffices to check them. The
//! certificate adds the meaning of values: their rank order and their groups in a hierarchy.

use rustc_hash::FxHashMap;

use crate::certificate::SensitiveColumn;

/// A sensitive column: values are numbered by their place in `values`.
#[derive(Debug, Default)]
pub(crate) struct Domain {
    /// The published values.
    pub values: Vec<Vec<u8>>,
    /// The number of each published value.
    numbers: FxHashMap<Vec<u8>, u32>,
    /// How often each value occurs in the classes.
    pub table: Vec<u64>,
    /// The sum of `table`.
    pub total: u64,
    /// The rank order, if the values have one.
    pub ranking: Option<Ranking>,
    /// Group numbers of each value at the levels 1 … h; empty for a value that occurs in no class.
    pub levels: Option<Vec<Vec<u32>>>,
    /// Categories, the most sensitive first.
    pub categories: Option<Vec<Vec<String>>>,
    /// Their weights.
    pub weights: Option<Vec<String>>,
}

/// A rank order.
#[derive(Debug)]
pub(crate) struct Ranking {
    /// The values that occur in classes with their ranks, ascending by rank.
    pub ranked: Vec<(u32, usize)>,
    /// Number of ranks, including those of values that do not occur.
    pub ranks: usize,
}

impl Domain {
    /// Combines the certificate's statements on a column with the published values and their counts in the classes.
    pub(crate) fn new(column: &SensitiveColumn, values: Vec<Vec<u8>>, table: Vec<u64>) -> Result<Domain, String> {
        let numbers = values.iter().enumerate().map(|(id, value)| (value.clone(), id as u32)).collect();
        let mut domain = Domain {
            total: table.iter().sum(),
            values,
            numbers,
            table,
            ranking: None,
            levels: None,
            categories: column.categories.clone(),
            weights: column.weights.clone(),
        };
        domain.ranking = column.order.as_ref().map(|order| domain.ranking(order)).transpose()?;
        if let Some(levels) = &column.levels {
            let mut groups: Vec<Option<Vec<u32>>> = vec![None; domain.values.len()];
            for leveled in levels {
                let id =
                    domain.id(&leveled.value).ok_or("the levels name a value that the release does not contain")?;
                if groups[id as usize].replace(leveled.groups.clone()).is_some() {
                    return Err("the levels list a value twice".into());
                }
            }
            let lacking = groups.iter().zip(&domain.table).any(|(groups, &count)| groups.is_none() && count > 0);
            if lacking {
                return Err("the levels lack a published value".into());
            }
            if levels.windows(2).any(|pair| pair[0].groups.len() != pair[1].groups.len()) {
                return Err("the levels of its values differ in number".into());
            }
            domain.levels = Some(groups.into_iter().map(Option::unwrap_or_default).collect());
        }
        Ok(domain)
    }

    fn ranking(&self, order: &[String]) -> Result<Ranking, String> {
        let mut ranks: FxHashMap<&[u8], usize> = FxHashMap::default();
        for (rank, value) in order.iter().enumerate() {
            if ranks.insert(value.as_bytes(), rank).is_some() {
                return Err("the order lists a value twice".into());
            }
        }
        let mut ranked = Vec::new();
        for (id, value) in (0u32..).zip(&self.values).filter(|&(id, _)| self.table[id as usize] > 0) {
            ranked.push((id, *ranks.get(value.as_slice()).ok_or("the order lacks a published value")?));
        }
        ranked.sort_unstable_by_key(|&(_, rank)| rank);
        Ok(Ranking { ranked, ranks: order.len() })
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

    /// How often a value occurs in the classes of the release.
    pub(crate) fn in_table(&self, id: u32) -> Result<u64, String> {
        match self.table.get(id as usize).copied() {
            Some(count) if count > 0 => Ok(count),
            _ => Err("a value of a class has no count in the release".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::Leveled;

    fn column(order: Option<&[&str]>, levels: Option<&[(&str, &[u32])]>) -> SensitiveColumn {
        let leveled = |&(value, groups): &(&str, &[u32])| Leveled { value: value.into(), groups: groups.to_vec() };
        SensitiveColumn {
            name: "s".into(),
            order: order.map(|order| order.iter().map(|v| v.to_string()).collect()),
            levels: levels.map(|levels| levels.iter().map(leveled).collect()),
            categories: None,
            weights: None,
        }
    }

    fn domain(column: &SensitiveColumn) -> Result<Domain, String> {
        // The value z belongs to a row in no class.
        Domain::new(column, ["a", "b", "z"].map(|v| v.as_bytes().to_vec()).to_vec(), vec![3, 1, 0])
    }

    #[test]
    fn ranks_count_what_the_order_lists_and_the_release_lacks() {
        let ranking = domain(&column(Some(&["b", "x", "a"]), None)).unwrap().ranking.unwrap();
        assert_eq!((ranking.ranked, ranking.ranks), (vec![(1, 0), (0, 2)], 3));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error =
            |order: Option<&[&str]>, levels: Option<&[(&str, &[u32])]>| domain(&column(order, levels)).unwrap_err();
        assert!(error(Some(&["a"]), None).contains("lacks"));
        assert!(error(Some(&["a", "b", "a"]), None).contains("twice"));
        assert!(error(None, Some(&[("a", &[0])])).contains("lack"));
        assert!(error(None, Some(&[("a", &[0]), ("b", &[0]), ("c", &[0])])).contains("does not contain"));
        assert!(error(None, Some(&[("a", &[0]), ("b", &[0, 0])])).contains("differ"));
        assert!(error(None, Some(&[("a", &[0]), ("a", &[0])])).contains("twice"));
    }
}
