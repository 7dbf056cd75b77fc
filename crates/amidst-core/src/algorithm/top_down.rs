//! Top-down specialization, the local recoding of the (l,α) paper, for any monotone policy.
//!
//! **Source.** Sun, Li, Wang, *A family of enhanced (L,α)-diversity models for privacy preserving data publishing*,
//! FGCS 2010, Algorithm 1; the paper describes one quasi column and says that several are alike.
//!
//! **Algorithm.** All rows start fully generalized in one node. A node is specialized one level down on the column that
//! lowers the information loss most. Children that fail the policy go back to the parent; if the rows left there fail
//! it, just enough rows are pulled back out of the children, each child staying valid, until the parent holds; where no
//! child can spare them, whole children go back (the paper's step 10), those first that lose least by it; if none is
//! left then, the node is not specialized on that column. Children are specialized further; rows left in a parent stay
//! at its level in that column but may still be specialized on the others.
//!
//! **Rows that are pulled back** come first from the sensitive values the parent has fewest of, which is what every
//! diversity model asks for; those that turn out not to be needed go back down. Among rows of a child that have the
//! same sensitive values the last goes first, in the order of their quasi values.
//!
//! **One quasi column**, of which the paper speaks: its plain reading, with rows in the order of their values and in
//! the opposite one, is tried as well ([`crate::local::top_down::plain`]), and the classes that lose least are kept.
//!
//! **Which column** lowers the loss most is decided before rows are pulled ([`crate::local::top_down::specialize`]),
//! so that a table that is too large to be gathered is divided alike.
//!
//! **Cost.** O(n·d) per node and level.

use super::{Algorithm, Entry, Found, InParts, RecodingKind, Search, SearchError};
use crate::frequency::add_up;
use crate::hierarchy::Generalization;
use crate::ids::SensitiveId;
use crate::local::class::{Judge, Part, Partition, shape_of};
use crate::local::finish::found;
use crate::local::shape::{ShapeWord, Space};
use crate::local::top_down::plain::{Order, plain};
use crate::local::top_down::specialize::{Branches, Child, PullableRows, Specializer, Units, level_below};

pub(super) const ENTRY: Entry = Entry {
    id: "top-down",
    title: "Top-down specialization",
    definition: "specializes fully generalized rows level by level as long as every class satisfies the policy; rows \
                 that cannot follow stay behind in a valid class of their own",
    citation: "(l,α) paper Algorithm 1",
    kind: RecodingKind::Local,
    options: &[],
    algorithm: &TopDown,
};

#[derive(Debug)]
struct TopDown;

impl Algorithm for TopDown {
    fn supports(&self, search: &Search<'_>) -> Result<(), SearchError> {
        supports(search)
    }

    fn in_parts(&self) -> InParts {
        InParts::TopDown
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        supports(search)?;
        found(search, |search, world| Ok((partition(search, world.space, world.judge, world.tuple_of)?, Vec::new())))
    }
}

/// Every column needs a hierarchy.
pub(crate) fn supports(search: &Search<'_>) -> Result<(), SearchError> {
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

/// The classes that top-down specialization finds. Where the plain reading of the paper is defined and cheap, those of
/// the least loss.
pub(super) fn partition(
    search: &Search<'_>,
    space: &Space,
    judge: &Judge<'_>,
    tuple_of: &[u32],
) -> Result<Partition, SearchError> {
    let loss = |partition: &Partition| partition.loss(search.set, tuple_of, space);
    let mut best = grown(search, space, judge, tuple_of, &vec![false; space.width()])?;
    for order in [Order::Ascending, Order::Descending] {
        if let Some(other) = plain(search, judge, tuple_of, order)?
            && loss(&other) < loss(&best)
        {
            best = other;
        }
    }
    Ok(best)
}

/// The same for rows that are no longer specialized on some columns.
pub(crate) fn grown(
    search: &Search<'_>,
    space: &Space,
    judge: &Judge<'_>,
    tuple_of: &[u32],
    stuck: &[bool],
) -> Result<Partition, SearchError> {
    let run = Run { search, space, judge, tuple_of };
    let parts: Vec<Part> = (search.set.groups.entries.iter().enumerate()).map(|(e, x)| (e as u32, x.rows)).collect();
    let mut classes = Vec::new();
    if !parts.is_empty() {
        run.grow(parts, stuck.to_vec(), &mut classes)?;
    }
    Ok(Partition { classes })
}

/// A node specialized on one column.
struct Step {
    column: usize,
    /// Its parts, child by child.
    parts: Vec<Vec<Part>>,
    branches: Branches,
}

struct Run<'a> {
    search: &'a Search<'a>,
    space: &'a Space,
    judge: &'a Judge<'a>,
    tuple_of: &'a [u32],
}

impl Run<'_> {
    /// Specializes a node as far as possible and collects the classes: children first, then what stays behind. The
    /// parts of a node are in the order of their entries.
    fn grow(&self, parts: Vec<Part>, stuck: Vec<bool>, classes: &mut Vec<Vec<Part>>) -> Result<(), SearchError> {
        self.search.checkpoint()?;
        let loss = self.space.cost(&self.shape(&parts)) * parts.iter().map(|p| p.1).sum::<u64>() as f64;
        let mut best: Option<Step> = None;
        for (column, g) in self.search.generalizations.iter().enumerate().filter(|&(c, _)| !stuck[c]) {
            let step = self.specialize(&parts, column, g);
            self.search.checkpoint()?;
            let Some(step) = step else { continue };
            let less = |b: &Step| step.branches.loss < b.branches.loss;
            if step.branches.loss <= loss && best.as_ref().is_none_or(less) {
                best = Some(step);
            }
        }
        let Some(step) = best else {
            classes.push(parts);
            return Ok(());
        };
        drop(parts);
        let column = step.column;
        let (children, rest) = self.divided(step);
        for child in children {
            self.grow(child, stuck.clone(), classes)?;
        }
        if !rest.is_empty() {
            let mut stuck = stuck;
            stuck[column] = true;
            self.grow(rest, stuck, classes)?;
        }
        Ok(())
    }

    fn code(&self, entry: u32, column: usize) -> u32 {
        self.search.set.tuple(self.tuple_of[entry as usize] as usize)[column]
    }

    fn entry(&self, entry: u32) -> crate::frequency::Entry {
        self.search.set.groups.entries[entry as usize]
    }

    fn shape(&self, parts: &[Part]) -> Vec<ShapeWord> {
        let mut shape = self.space.empty();
        shape_of(parts, self.search.set, self.tuple_of, self.space, &mut shape);
        shape
    }

    /// One level down from the lowest node that covers the rows; a level at which nothing divides is passed over.
    fn specialize(&self, parts: &[Part], column: usize, g: &Generalization) -> Option<Step> {
        let below = g.levels.get(level_below(g, parts.iter().map(|p| self.code(p.0, column)))?)?;
        let mut sorted: Vec<(u32, Part)> =
            parts.iter().map(|&p| (below.of[self.code(p.0, column) as usize], p)).collect();
        sorted.sort_by_key(|s| s.0);
        let parts: Vec<Vec<Part>> =
            sorted.chunk_by(|a, b| a.0 == b.0).map(|child| child.iter().map(|c| c.1).collect()).collect();
        let child = |parts: &Vec<Part>| {
            let entries = parts.iter().map(|&(e, rows)| crate::frequency::Entry { rows, ..self.entry(e) });
            Child { tally: self.judge.tally(entries), shape: self.shape(parts) }
        };
        let mut children: Vec<Child> = parts.iter().map(child).collect();
        let specializer = Specializer { space: self.space, judge: self.judge, control: self.search.control };
        let branches = specializer.specialize(&mut children, |separate| self.pools(&parts, separate))?;
        Some(Step { column, parts, branches })
    }

    /// The sensitive tuple and person of each part of a child, in their order, and the position of the part.
    fn keyed(&self, parts: &[Part]) -> Vec<((SensitiveId, u32), usize)> {
        let key = |p: &Part| (self.entry(p.0).sensitive, self.entry(p.0).person);
        let mut keyed: Vec<((SensitiveId, u32), usize)> = parts.iter().enumerate().map(|(i, p)| (key(p), i)).collect();
        keyed.sort_unstable();
        keyed
    }

    /// The rows of the children that stand by themselves.
    fn pools(&self, children: &[Vec<Part>], separate: &[bool]) -> Vec<PullableRows> {
        let mut pools = Vec::new();
        for (child, parts) in children.iter().enumerate().filter(|&(c, _)| separate[c]) {
            for same in self.keyed(parts).chunk_by(|a, b| a.0 == b.0) {
                let own: Vec<Part> = same.iter().map(|&(_, i)| parts[i]).collect();
                let rows = own.iter().rev().map(|p| p.1);
                let units = match self.search.set.persons {
                    true => Units::Persons(rows.collect()),
                    false => Units::Rows(rows.sum()),
                };
                pools.push(PullableRows { key: same[0].0, child, shape: self.shape(&own), units, pulled: Vec::new() });
            }
        }
        pools
    }

    /// The parts of the children, and those that stay in the parent.
    fn divided(&self, step: Step) -> (Vec<Vec<Part>>, Vec<Part>) {
        let Step { mut parts, branches: Branches { separate, pools, .. }, .. } = step;
        let mut rest: Vec<Part> = Vec::new();
        for of_child in pools.chunk_by(|a, b| a.child == b.child) {
            let own = &mut parts[of_child[0].child];
            let keyed = self.keyed(own);
            for pool in of_child {
                let (first, end) =
                    (keyed.partition_point(|k| k.0 < pool.key), keyed.partition_point(|k| k.0 <= pool.key));
                let taken = pool.taken(keyed[first..end].iter().rev().map(|&(_, i)| own[i].1));
                for (&(_, i), rows) in keyed[first..end].iter().rev().zip(taken).filter(|t| t.1 > 0) {
                    rest.push((own[i].0, rows));
                    own[i].1 -= rows;
                }
            }
            own.retain(|p| p.1 > 0);
        }
        let mut children = Vec::new();
        for (parts, separate) in parts.into_iter().zip(separate) {
            if separate { children.push(parts) } else { rest.extend(parts) }
        }
        add_up(&mut rest);
        (children, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::FrequencySet;
    use crate::local::fixture::{Fixture, hierarchy};
    use crate::parameter::{Parameters, Value};
    use crate::recoding::Assignment;
    use crate::requirement::Requirement;
    use crate::sensitive::SensitiveDomain;
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
                let of_entry = &mut runs[offsets[e.index()]..offsets[e.index() + 1]];
                let run = of_entry.iter_mut().find(|r| r.1 > 0).unwrap();
                run.1 -= 1;
                fixture.generalizations[0].label(&found.recoding.classes[run.0 as usize][0]).to_string()
            })
            .collect();
        assert_eq!(rows, ["4351", "4351", "435*", "435*"]);
    }

    /// A table of one column with a hierarchy of three levels, and what its rows are: codes and sensitive codes.
    fn digits(seed: u64, rows: usize, values: usize) -> (Fixture, Vec<(String, u32)>) {
        let mut random = crate::random::Random::new(seed);
        let zips: Vec<String> = (0..rows).map(|_| (0..3).map(|_| ["0", "1", "2"][random.below(3)]).collect()).collect();
        let diseases: Vec<&str> = (0..rows).map(|_| ["a", "b", "c", "d"][random.below(values)]).collect();
        let columns = vec![
            Column::from_values("zip", zips.iter().map(String::as_str)),
            Column::from_values("disease", diseases.iter().copied()),
        ];
        let table = Table { columns, rows };
        let zip = hierarchy(&table.columns[0], &[&|v| v[..2].to_string(), &|v| v[..1].to_string()]);
        let (set, entry_of) = FrequencySet::count(&table, &[0], &[1], None);
        let dictionary = table.columns[1].dictionary.clone();
        let domain = SensitiveDomain { dictionary, ..SensitiveDomain::default() };
        let lines = zips.into_iter().zip(diseases.iter().map(|d| table.columns[1].dictionary.code(d).unwrap()));
        let generalizations = vec![Generalization::bind(&table.columns[0], Some(&zip)).unwrap()];
        (Fixture { set, generalizations, domains: vec![domain], entry_of }, lines.collect())
    }

    /// Algorithm 1 read plainly, on rows: children that fail go back; if what went back fails, rows follow one by one
    /// out of children that stay valid without them, and then whole children, the smallest first.
    fn plainly(
        rows: Vec<usize>,
        kept: usize,
        lines: &[(String, u32)],
        holds: &dyn Fn(&[usize]) -> bool,
        out: &mut Vec<Vec<usize>>,
    ) {
        if kept == 3 {
            out.push(rows);
            return;
        }
        let mut children: std::collections::BTreeMap<&str, Vec<usize>> = Default::default();
        rows.iter().for_each(|&r| children.entry(&lines[r].0[..kept + 1]).or_default().push(r));
        let (mut valid, failing): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
            children.into_values().partition(|child| holds(child));
        let mut rest: Vec<usize> = failing.concat();
        if !rest.is_empty() && !holds(&rest) {
            for child in &mut valid {
                let mut at = 0;
                while at < child.len() && !holds(&rest) {
                    let row = child.remove(at);
                    if holds(child) {
                        rest.push(row);
                    } else {
                        child.insert(at, row);
                        at += 1;
                    }
                }
            }
            valid.sort_by_key(|child| std::cmp::Reverse(child.len()));
            while !holds(&rest) {
                rest.extend(valid.pop().into_iter().flatten());
            }
        }
        valid.into_iter().for_each(|child| plainly(child, kept + 1, lines, holds, out));
        if !rest.is_empty() {
            out.push(rest);
        }
    }

    /// What both lose: the plain reading first, of rows as they come or in the order of their values.
    fn both(seed: u64, rows: usize, values: usize, policy: usize, sorted: bool) -> Option<(f64, f64)> {
        let (fixture, lines) = digits(seed, rows, values);
        let stated: [(&str, &[(&str, &str)]); 4] = [
            ("distinct-l-diversity", &[("l", "2")]),
            ("distinct-l-diversity", &[("l", "3")]),
            ("entropy-l-diversity", &[("l", "2")]),
            ("recursive-c-l-diversity", &[("c", "2"), ("l", "2")]),
        ];
        let requirements = [fixture.requirement(stated[policy].0, stated[policy].1).unwrap()];
        fixture.search(&requirements, &Parameters::default(), |search| {
            let judge = Judge::new(search).ok()?;
            let (space, tuple_of) = (Space::new(search.generalizations), search.set.tuple_of_entry());
            let parts = |rows: &[usize]| {
                let mut parts: Vec<Part> = rows.iter().map(|&r| (fixture.entry_of[r].0, 1)).collect();
                add_up(&mut parts);
                parts
            };
            let holds = |rows: &[usize]| {
                let entry =
                    |&(e, rows): &Part| crate::frequency::Entry { rows, ..search.set.groups.entries[e as usize] };
                judge.holds(&judge.tally(parts(rows).iter().map(entry)))
            };
            let mut classes = Vec::new();
            let mut order: Vec<usize> = (0..rows).collect();
            if sorted {
                order.sort_by_key(|&r| &lines[r]);
            }
            plainly(order, 0, &lines, &holds, &mut classes);
            let plainly = Partition { classes: classes.iter().map(|c| parts(c)).collect() };
            let ours = partition(search, &space, &judge, &tuple_of).unwrap();
            Some((plainly.loss(search.set, &tuple_of, &space), ours.loss(search.set, &tuple_of, &space)))
        })
    }

    /// The plain reading with rows in the order of their values is never better. With rows as they come either can be
    /// lucky: a whole child that could have gone back must not be the reason.
    #[test]
    fn a_plain_reading_of_the_paper_is_not_better() {
        let (mut tried, mut worse, mut better, mut total) = (0, 0, 0, (0.0, 0.0));
        for seed in 0..600 {
            let (rows, values) = (5 + seed as usize % 23, 2 + seed as usize % 3);
            let policy = seed as usize / 3 % 4;
            let Some((plainly, ours)) = both(seed, rows, values, policy, true) else { continue };
            assert!(ours <= plainly + 1e-9, "seed {seed}: {ours} where a plain reading loses {plainly}");
            let Some((plainly, ours)) = both(seed, rows, values, policy, false) else { continue };
            tried += 1;
            worse += usize::from(ours > plainly + 1e-9);
            better += usize::from(ours < plainly - 1e-9);
            total = (total.0 + plainly, total.1 + ours);
        }
        assert!(
            tried > 300 && worse * 100 <= 4 * tried && better > 8 * worse && total.1 <= total.0,
            "{worse} of {tried} worse, {better} better, {total:?}"
        );
    }

    /// No child can spare a row, but one of them can go back whole.
    #[test]
    fn a_whole_child_goes_back_where_single_rows_cannot() {
        let table = Table {
            columns: vec![
                Column::from_values("zip", ["1", "1", "2", "2", "3"]),
                Column::from_values("disease", ["HIV", "Flu", "HIV", "Flu", "HIV"]),
            ],
            rows: 5,
        };
        let zip = hierarchy(&table.columns[0], &[]);
        let (set, entry_of) = FrequencySet::count(&table, &[0], &[1], None);
        let domain = SensitiveDomain { dictionary: table.columns[1].dictionary.clone(), ..SensitiveDomain::default() };
        let generalizations = vec![Generalization::bind(&table.columns[0], Some(&zip)).unwrap()];
        let fixture = Fixture { set, generalizations, domains: vec![domain], entry_of };
        let requirements = [fixture.requirement("distinct-l-diversity", &[("l", "2")]).unwrap()];
        let found = fixture.find("top-down", &requirements, &Parameters::default()).unwrap();
        fixture.check(&found.recoding, &requirements);
        assert_eq!(found.recoding.classes.len(), 2);
    }
}
