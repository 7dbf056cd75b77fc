//! Top-down specialization, the local recoding of the (l,α) paper, for any monotone policy.
//!
//! **Source.** Sun, Li, Wang, *A family of enhanced (L,α)-diversity models for privacy preserving data publishing*,
//! FGCS 2010, Algorithm 1; the paper describes one quasi column and says that several are alike.
//!
//! **Algorithm.** All rows start fully generalized in one node. A node is specialized one level down on the column that
//! lowers the information loss most. Children that fail the policy go back to the parent; if the rows left there fail it,
//! just enough rows are pulled back out of the children, each child staying valid, until the parent holds; if that cannot
//! be done the node is not specialized on that column. Children are specialized further; rows left in a parent stay at
//! its level in that column but may still be specialized on the others.
//!
//! **Rows that are pulled back** come first from the sensitive values the parent has fewest of, which is what every
//! diversity model asks for; those that turn out not to be needed go back down.
//!
//! **Cost.** O(n·d) per node and level.

use super::{Algorithm, Entry, Found, Search, SearchError};
use crate::frequency::add_up;
use crate::hierarchy::Generalization;
use crate::local::{Judge, Part, Partition, Space, Tally, found, shape_of};

pub(super) const ENTRY: Entry = Entry {
    id: "top-down",
    title: "Top-down specialization",
    definition: "specializes fully generalized rows level by level as long as every class satisfies the policy; rows \
                 that cannot follow stay behind in a valid class of their own",
    citation: "(l,α) paper Algorithm 1",
    full_domain: false,
    options: &[],
    algorithm: &TopDown,
};

#[derive(Debug)]
struct TopDown;

impl Algorithm for TopDown {
    fn supports(&self, search: &Search<'_>) -> Result<(), SearchError> {
        match search.generalizations.iter().find(|g| !g.has_hierarchy) {
            Some(g) => Err(SearchError::Unsupported(format!(
                "top-down specializes along hierarchies and column `{0}` has none; write for example {1} under \
                 [columns.{0}], or choose the algorithm portfolio",
                g.name,
                if g.numeric {
                    "hierarchy = { intervals = [5, 10, 20] }"
                } else {
                    "hierarchy = { file = \"hierarchy.csv\" }"
                }
            ))),
            None => Ok(()),
        }
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        self.supports(search)?;
        found(search, |search, world| Ok((partition(search, world.space, world.judge, world.tuple_of)?, Vec::new())))
    }
}

/// The classes that top-down specialization finds.
pub(super) fn partition(
    search: &Search<'_>,
    space: &Space,
    judge: &Judge<'_>,
    tuple_of: &[u32],
) -> Result<Partition, SearchError> {
    let run = Run { search, space, judge, tuple_of };
    let parts: Vec<Part> = (search.set.groups.entries.iter().enumerate()).map(|(e, x)| (e as u32, x.rows)).collect();
    let mut classes = Vec::new();
    if !parts.is_empty() {
        run.grow(parts, vec![false; space.width()], &mut classes)?;
    }
    Ok(Partition { classes })
}

/// A node specialized on one column.
struct Branches {
    children: Vec<Child>,
    /// The rows that stay in the parent.
    rest: Vec<Part>,
    loss: f64,
}

struct Child {
    parts: Vec<Part>,
    tally: Tally,
}

struct Run<'a> {
    search: &'a Search<'a>,
    space: &'a Space,
    judge: &'a Judge<'a>,
    tuple_of: &'a [u32],
}

impl Run<'_> {
    /// Specializes a node as far as possible and collects the classes: children first, then what stays behind.
    fn grow(&self, parts: Vec<Part>, stuck: Vec<bool>, classes: &mut Vec<Vec<Part>>) -> Result<(), SearchError> {
        self.search.checkpoint()?;
        let loss = self.loss(&parts);
        let mut best: Option<(usize, Branches)> = None;
        for (column, g) in self.search.generalizations.iter().enumerate().filter(|&(c, _)| !stuck[c]) {
            let Some(branches) = self.specialize(&parts, column, g) else { continue };
            if branches.loss <= loss && best.as_ref().is_none_or(|(_, b)| branches.loss < b.loss) {
                best = Some((column, branches));
            }
        }
        let Some((column, branches)) = best else {
            classes.push(parts);
            return Ok(());
        };
        for child in branches.children {
            self.grow(child.parts, stuck.clone(), classes)?;
        }
        if !branches.rest.is_empty() {
            let mut stuck = stuck;
            stuck[column] = true;
            self.grow(branches.rest, stuck, classes)?;
        }
        Ok(())
    }

    fn code(&self, entry: u32, column: usize) -> usize {
        self.search.set.tuple(self.tuple_of[entry as usize] as usize)[column] as usize
    }

    fn entry(&self, entry: u32) -> crate::frequency::Entry {
        self.search.set.groups.entries[entry as usize]
    }

    fn tally(&self, parts: &[Part]) -> Tally {
        self.judge.tally(parts.iter().map(|&(e, rows)| crate::frequency::Entry { rows, ..self.entry(e) }))
    }

    fn loss(&self, parts: &[Part]) -> f64 {
        if parts.is_empty() {
            return 0.0;
        }
        let mut shape = vec![0; self.space.words()];
        shape_of(parts, self.search.set, self.tuple_of, self.space, &mut shape);
        self.space.cost(&shape) * parts.iter().map(|p| p.1).sum::<u64>() as f64
    }

    /// One level down from the lowest node that covers the rows; a level at which nothing divides is passed over.
    fn specialize(&self, parts: &[Part], column: usize, g: &Generalization) -> Option<Branches> {
        let first = self.code(parts[0].0, column);
        let mut level = 0;
        for &(entry, _) in parts {
            let code = self.code(entry, column);
            while g.levels[level].of[code] != g.levels[level].of[first] {
                level += 1;
            }
        }
        let below = g.levels.get(level.checked_sub(1)?)?;
        let mut sorted: Vec<(u32, Part)> = parts.iter().map(|&p| (below.of[self.code(p.0, column)], p)).collect();
        sorted.sort_by_key(|s| s.0);
        let mut children = Vec::new();
        let mut rest = Vec::new();
        for child in sorted.chunk_by(|a, b| a.0 == b.0) {
            let parts: Vec<Part> = child.iter().map(|c| c.1).collect();
            let tally = self.tally(&parts);
            if self.holds(&parts, &tally) {
                children.push(Child { parts, tally });
            } else {
                rest.extend(parts);
            }
        }
        if children.is_empty() {
            return None;
        }
        if !rest.is_empty() {
            let tally = self.tally(&rest);
            if !self.holds(&rest, &tally) && !self.pull(&mut children, &mut rest, tally) {
                return None;
            }
        }
        let loss = children.iter().map(|c| self.loss(&c.parts)).sum::<f64>() + self.loss(&rest);
        Some(Branches { children, rest, loss })
    }

    fn holds(&self, parts: &[Part], tally: &Tally) -> bool {
        self.judge.holds_over(tally, || {
            let mut shape = vec![0; self.space.words()];
            shape_of(parts, self.search.set, self.tuple_of, self.space, &mut shape);
            Some(self.space.cells(&shape))
        })
    }

    /// Pulls just enough rows out of the children for the parent to hold; false when that cannot be done. It is not even
    /// tried where a population counts: which row lets a class match more people depends on all the others.
    fn pull(&self, children: &mut [Child], rest: &mut Vec<Part>, mut tally: Tally) -> bool {
        if self.judge.crowded() {
            return false;
        }
        // Rows that can be pulled, by sensitive value and child; the last of each pool goes first.
        let mut pools: Vec<((u32, u32), usize, Vec<usize>)> = Vec::new();
        for (c, child) in children.iter().enumerate() {
            let mut keyed: Vec<((u32, u32), usize)> = (child.parts.iter().enumerate())
                .map(|(i, p)| ((self.entry(p.0).sensitive, self.entry(p.0).person), i))
                .collect();
            keyed.sort_unstable();
            for pool in keyed.chunk_by(|a, b| a.0 == b.0) {
                pools.push((pool[0].0, c, pool.iter().map(|p| p.1).collect()));
            }
        }
        let have = |tally: &Tally, key: (u32, u32)| {
            tally.counts.binary_search_by_key(&key, |c| c.0).map_or(0, |i| tally.counts[i].1)
        };
        let mut pulled: Vec<(usize, usize, u64)> = Vec::new();
        while !self.judge.holds(&tally) {
            pools.sort_by_key(|(key, c, _)| (have(&tally, *key), u64::MAX - children[*c].tally.rows, *key, *c));
            let mut chosen = None;
            for (p, (_, c, pool)) in pools.iter().enumerate() {
                let Some(&part) = pool.last() else { continue };
                let (entry, rows) = children[*c].parts[part];
                // A person's rows move together: halves of a person would count twice.
                let rows = if self.search.set.persons { rows } else { 1 };
                let mut less = children[*c].tally.clone();
                self.judge.remove(&mut less, self.entry(entry), rows);
                if self.judge.holds(&less) {
                    chosen = Some((p, part, rows, less));
                    break;
                }
            }
            let Some((p, part, rows, less)) = chosen else { return false };
            let (_, c, pool) = &mut pools[p];
            let child = &mut children[*c];
            child.tally = less;
            child.parts[part].1 -= rows;
            self.judge.add(&mut tally, self.entry(child.parts[part].0), rows);
            if child.parts[part].1 == 0 {
                pool.pop();
            }
            pulled.push((*c, part, rows));
        }
        // Just enough: what the parent can do without goes back down.
        for i in (0..pulled.len()).rev() {
            let (c, part, rows) = pulled[i];
            let entry = self.entry(children[c].parts[part].0);
            let (mut less, mut more) = (tally.clone(), children[c].tally.clone());
            self.judge.remove(&mut less, entry, rows);
            self.judge.add(&mut more, entry, rows);
            if self.judge.holds(&less) && self.judge.holds(&more) {
                tally = less;
                children[c].tally = more;
                children[c].parts[part].1 += rows;
                pulled[i].2 = 0;
            }
        }
        rest.extend(pulled.iter().filter(|p| p.2 > 0).map(|&(c, part, rows)| (children[c].parts[part].0, rows)));
        add_up(rest);
        children.iter_mut().for_each(|c| c.parts.retain(|p| p.1 > 0));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::SensitiveDomain;
    use crate::frequency::FrequencySet;
    use crate::local::fixture::{Fixture, hierarchy};
    use crate::parameter::{Parameters, Value};
    use crate::recoding::Assignment;
    use crate::requirement::Requirement;
    use crate::table::{Column, Table};

    #[test]
    fn every_class_satisfies_the_policy() {
        Fixture::trial("top-down", &Parameters::default());
    }

    #[test]
    fn a_column_without_a_hierarchy_is_named() {
        let mut fixture = Fixture::random(1, 20, false);
        fixture.generalizations[2].has_hierarchy = false;
        let error = fixture.find("top-down", &fixture.policies()[0], &Parameters::default()).unwrap_err();
        assert!(error.to_string().contains("`trade`") && error.to_string().contains("hierarchy ="), "{error}");
    }

    /// The (l,α) paper's Table 8: rows 3 and 4 end at 435*, rows 1 and 2 keep their zip code.
    #[test]
    fn table_8_of_the_paper() {
        let Some(model) = crate::model::find("distinct-l-alpha-diversity") else { return };
        let table = Table {
            columns: vec![
                Column::from_values("zip", ["4351", "4351", "4351", "4352"]),
                Column::from_values("disease", ["HIV", "Flu", "HIV", "Flu"]),
            ],
            rows: 4,
        };
        let mask = |kept: usize| move |v: &str| format!("{}{}", &v[..kept], "*".repeat(4 - kept));
        let (three, two, one) = (mask(3), mask(2), mask(1));
        let zip = hierarchy(&table.columns[0], &[&three, &two, &one]);
        let (set, entry_of) = FrequencySet::count(&table, &[0], &[1], None);
        let domain = SensitiveDomain {
            dictionary: table.columns[1].dictionary.clone(),
            categories: vec![vec!["HIV".into()], vec!["Flu".into()]],
            weights: Some(Value::Text("uniform".into())),
            ..SensitiveDomain::default()
        };
        let number = |n: u64| Value::Number(n.into());
        let parameters = Parameters::from_pairs([("l", number(2)), ("alpha", number(1))]);
        let requirements = [Requirement::new(model, parameters, vec![0], std::slice::from_ref(&domain)).unwrap()];
        let generalizations = vec![Generalization::bind(&table.columns[0], Some(&zip)).unwrap()];
        let fixture = Fixture { set, generalizations, domains: vec![domain], entry_of };
        let found = fixture.find("top-down", &requirements, &Parameters::default()).unwrap();
        fixture.check(&found.recoding, &requirements);
        let Assignment::Entries { offsets, mut runs } = found.recoding.assignment else { panic!("no row was parted") };
        let rows: Vec<String> = (fixture.entry_of.iter())
            .map(|&e| {
                // Runs are taken in row order.
                let of_entry = &mut runs[offsets[e as usize]..offsets[e as usize + 1]];
                let run = of_entry.iter_mut().find(|r| r.1 > 0).unwrap();
                run.1 -= 1;
                fixture.generalizations[0].label(&found.recoding.classes[run.0 as usize][0]).to_string()
            })
            .collect();
        assert_eq!(rows, ["4351", "4351", "435*", "435*"]);
    }
}
