//! Tables that pretend to be elsewhere, cut in pieces and at once.

use std::sync::Arc;

use super::*;
use crate::algorithm::{MaxSuppression, find};
use crate::local::fixture::Fixture;
use crate::parameter::{Parameters, Value};
use crate::recoding::Recoding;

/// What counting on a table elsewhere tells of some of its tuples.
fn summary(pieces: &Pieces<'_>, set: &FrequencySet, tuples: &[u32]) -> Summary {
    let mut summary = Summary::default();
    let codes = |column: usize| tuples.iter().map(move |&t| set.tuple(t as usize)[column]);
    for column in 0..set.width {
        let mut values: Vec<u32> = codes(column).collect();
        values.sort_unstable();
        values.dedup();
        for code in values {
            for sensitive in 0..set.sensitive_count() as u32 {
                let has = |t: &&u32| {
                    set.tuple(**t as usize)[column] == code
                        && set.groups.get(**t as usize).iter().any(|e| e.sensitive == sensitive)
                };
                let some: Vec<u32> = tuples.iter().filter(has).copied().collect();
                if some.is_empty() {
                    continue;
                }
                let entries = some.iter().flat_map(|&t| set.groups.get(t as usize));
                let rows = entries.filter(|e| e.sensitive == sensitive).map(|e| e.rows).sum();
                let reach: Vec<Vec<u32>> = (0..set.width)
                    .map(|c| {
                        let turns = pieces.turns(c);
                        let turn = |t: &u32| turns.iter().position(|&x| x == set.tuple(*t as usize)[c]).unwrap();
                        let places: Vec<usize> = some.iter().map(turn).collect();
                        match pieces.spans(c) {
                            true => vec![turns[*places.iter().min().unwrap()], turns[*places.iter().max().unwrap()]],
                            false => places.iter().map(|&p| turns[p]).collect(),
                        }
                    })
                    .collect();
                let line = Line { column, code, sensitive, rows, combinations: some.len() as u64 };
                pieces.add(&mut summary, line, &reach);
            }
        }
    }
    summary
}

fn part(pieces: &Pieces<'_>, set: &FrequencySet, tuples: &[u32]) -> FrequencySet {
    let (mut codes, mut counts) = (Vec::new(), Vec::new());
    for &t in tuples.iter().rev() {
        for entry in set.groups.get(t as usize) {
            codes.extend_from_slice(set.tuple(t as usize));
            counts.push((entry.sensitive, entry.rows));
        }
    }
    pieces.part(&codes, &counts)
}

/// Cuts a table that may be gathered only in parts of at most `most` combinations; the recoding it leads to, and how often
/// it was cut elsewhere.
fn in_pieces(search: &Search<'_>, most: usize) -> Result<(Recoding, FrequencySet, usize), SearchError> {
    let set = search.set;
    let top: Vec<usize> = search.generalizations.iter().map(|g| g.height()).collect();
    let whole = crate::rolled::roll_up(set, search.generalizations, &top);
    let pieces = Pieces::new(&Search { set: &whole, ..search.clone() })?;
    let mut open: Vec<(Vec<u32>, Arc<[u32]>)> = vec![((0..set.len() as u32).collect(), Arc::from([]))];
    let (mut all, mut cuts) = (Vec::new(), 0);
    while let Some((tuples, path)) = open.pop() {
        let entries: usize = tuples.iter().map(|&t| set.groups.get(t as usize).len()).sum();
        if entries <= most {
            let part = part(&pieces, set, &tuples);
            let finished = pieces.finish(&part, &path)?;
            assert_eq!(finished.of_tuple.len(), tuples.len());
            all.extend(finished.pieces);
            continue;
        }
        let summary = summary(&pieces, set, &tuples);
        match pieces.cut(&summary) {
            Some(division) => {
                cuts += 1;
                for side in 0..division.combinations.len() as u32 {
                    let of = |t: &u32| set.tuple(*t as usize)[division.column];
                    let on = |t: &&u32| division.sides.contains(&(of(t), side));
                    let tuples: Vec<u32> = tuples.iter().filter(on).copied().collect();
                    let entries: usize = tuples.iter().map(|&t| set.groups.get(t as usize).len()).sum();
                    assert_eq!(entries as u64, division.combinations[side as usize]);
                    let path: Vec<u32> = path.iter().copied().chain([side]).collect();
                    open.push((tuples, Arc::from(path)));
                }
            }
            None => {
                let own = part(&pieces, set, &tuples);
                let mut counts: Vec<(u32, u64)> = own.groups.entries.iter().map(|e| (e.sensitive, e.rows)).collect();
                crate::frequency::add_up(&mut counts);
                all.push(pieces.leaf(&summary, &path, own.tuple(0).to_vec(), counts)?);
            }
        }
    }
    let assembled = pieces.assemble(&all)?;
    let (mut codes, mut counts) = (Vec::new(), Vec::new());
    for piece in &all {
        for &count in &piece.counts {
            codes.extend_from_slice(&piece.first);
            counts.push(count);
        }
    }
    let small = pieces.part(&codes, &counts);
    Ok((assembled.recoding(&small, &all), small, cuts))
}

#[test]
fn a_table_in_pieces_is_cut_like_one_at_hand() {
    let (mut cut, mut left_out) = (0, 0);
    for seed in 0..2 {
        let fixture = Fixture::random(seed, 120 + 40 * seed as usize, false);
        for (requirements, way) in fixture.policies().iter().zip(["loss", "median"].iter().cycle()) {
            let options = Parameters::from_pairs([("cut", Value::Text(way.to_string()))]);
            for (limit, suppressed) in [(0, Suppressed::Drop), (12, Suppressed::Drop), (40, Suppressed::Mask)] {
                fixture.search(requirements, &options, |search| {
                    let max_suppression = MaxSuppression::Rows(limit);
                    let search = Search { max_suppression, suppressed, ..search.clone() };
                    let whole = find("mondrian").unwrap().algorithm.search(&search);
                    for most in [20, 60] {
                        let pieces = in_pieces(&search, most);
                        let (Ok(whole), Ok((recoding, set, cuts))) = (&whole, &pieces) else {
                            // Only where a class is too large to be gathered, or no release exists.
                            let told = pieces.map(|_| ()).unwrap_err().to_string();
                            assert!(whole.is_err() || limit > 0 && told.contains("max_suppression"), "{told}");
                            continue;
                        };
                        assert_eq!(whole.recoding.classes, recoding.classes);
                        assert_eq!(whole.recoding.masked, recoding.masked);
                        assert_eq!(whole.recoding.groups(search.set), recoding.groups(set));
                        cut += cuts;
                        left_out += recoding.groups(set).1;
                    }
                });
            }
        }
    }
    assert!(cut > 50 && left_out > 0, "{cut} cuts, {left_out} rows left out");
}

#[test]
fn what_takes_all_rows_is_refused() {
    let fixture = Fixture::random(1, 100, false);
    let options = Parameters::from_pairs([("relaxed", Value::Flag(true))]);
    fixture.search(&fixture.policies()[0], &options, |search| {
        assert!(matches!(Pieces::new(search), Err(SearchError::Unsupported(why)) if why.contains("relaxed")));
    });
}
