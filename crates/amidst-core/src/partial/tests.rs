//! Tables that pretend to be elsewhere, cut in pieces and at once.

use std::collections::BTreeMap;

use super::*;
use crate::algorithm::{InParts, find};
use crate::ids::SensitiveId;
use crate::local::fixture::Fixture;
use crate::parameter::{Parameters, Value};
use crate::recoding::Recoding;
use crate::search::MaxSuppression;

fn in_parts(algorithm: &str) -> InParts {
    find(algorithm).unwrap().algorithm.in_parts()
}

/// What counting on a table elsewhere tells of some of its tuples.
fn summary(pieces: &PartialSearch<'_>, set: &FrequencySet, tuples: &[u32]) -> Summary {
    let mut summary = Summary::default();
    let codes = |column: usize| tuples.iter().map(move |&t| set.tuple(t as usize)[column]);
    for column in 0..set.width {
        let mut values: Vec<u32> = codes(column).collect();
        values.sort_unstable();
        values.dedup();
        for code in values {
            for sensitive in (0..set.sensitive_count() as u32).map(SensitiveId) {
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

fn part(pieces: &PartialSearch<'_>, set: &FrequencySet, tuples: &[u32]) -> FrequencySet {
    let (mut codes, mut counts) = (Vec::new(), Vec::new());
    for &t in tuples.iter().rev() {
        for entry in set.groups.get(t as usize) {
            codes.extend_from_slice(set.tuple(t as usize));
            counts.push((entry.sensitive, entry.rows));
        }
    }
    pieces.part(&codes, &counts)
}

/// Some tuples of a table, the displaced among them, and where they hang.
type Open = (Vec<u32>, Vec<DisplacedRows>, Arc<Place>);

/// The last combinations of some tuples that have a sensitive tuple: their codes and rows, the last first.
fn last(set: &FrequencySet, tuples: &[u32], sensitive: SensitiveId, most: u64) -> Vec<(Vec<u32>, u64)> {
    let entries = tuples.iter().flat_map(|&t| set.groups.get(t as usize).iter().map(move |e| (t, e)));
    let mut found: Vec<(Vec<u32>, u64)> = (entries.filter(|(_, e)| e.sensitive == sensitive))
        .map(|(t, e)| (set.tuple(t as usize).to_vec(), e.rows))
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.truncate(most as usize);
    found
}

/// Cuts a table that may be gathered only in parts of at most `most` combinations; the recoding it leads to, how often
/// it was cut elsewhere, and how many rows were pulled out of children there.
fn in_pieces(
    search: &Search<'_>,
    algorithm: &str,
    most: usize,
) -> Result<(Recoding, FrequencySet, usize, u64), SearchError> {
    let set = search.set;
    let top: Vec<usize> = search.generalizations.iter().map(|g| g.height()).collect();
    let whole = crate::frequency::rolled::roll_up(set, search.generalizations, &top);
    let pieces = PartialSearch::new(&Search { set: &whole, ..search.clone() }, in_parts(algorithm))?;
    let mut set = set.clone();
    let mut open: Vec<Open> = vec![((0..set.len() as u32).collect(), Vec::new(), pieces.root())];
    let (mut all, mut cuts, mut moved) = (Vec::new(), 0, 0);
    while let Some((tuples, displaced, place)) = open.pop() {
        let entries: usize = tuples.iter().map(|&t| set.groups.get(t as usize).len()).sum();
        if entries + displaced.len() <= most {
            let finished = pieces.finish(&part(&pieces, &set, &tuples), &displaced, &place)?;
            assert_eq!(finished.of_tuple.len() * set.width, finished.tuples.len());
            all.extend(finished.pieces);
            continue;
        }
        let mut summary = summary(&pieces, &set, &tuples);
        displaced.iter().for_each(|moved| pieces.add_displaced(&mut summary, moved));
        let Some(division) = pieces.divide(&summary, &place) else {
            let own = pieces.with(&part(&pieces, &set, &tuples), &displaced);
            let mut counts: Vec<(SensitiveId, u64)> =
                own.groups.entries.iter().map(|e| (e.sensitive, e.rows)).collect();
            crate::frequency::add_up(&mut counts);
            all.push(pieces.leaf(&summary, &place, own.tuple(0).to_vec(), counts)?);
            continue;
        };
        cuts += 1;
        let side = |codes: &[u32]| division.side(codes[division.column]).unwrap();
        let sides = division.combinations.len() as u32;
        let mut parts: Vec<Open> = (0..sides).map(|s| (Vec::new(), Vec::new(), division.place(&place, s))).collect();
        // What has left altogether has no side.
        let there = tuples.iter().filter(|&&t| !set.groups.get(t as usize).is_empty());
        there.for_each(|&t| parts[side(set.tuple(t as usize)) as usize].0.push(t));
        displaced.into_iter().for_each(|moved| parts[side(&moved.codes) as usize].1.push(moved));
        for pulled in &division.pulled {
            let (from, to) = (pulled.side as usize, division.rest().unwrap() as usize);
            let mut all = last(&set, &parts[from].0, pulled.sensitive, pulled.looked_at());
            let same = parts[from].1.iter().filter(|moved| moved.sensitive == pulled.sensitive);
            all.extend(same.map(|moved| (moved.codes.clone(), moved.rows)));
            all.sort_by(|a, b| b.cmp(a));
            let taken = pulled.taken(all.iter().map(|a| a.1));
            for ((codes, rows), taken) in all.into_iter().zip(taken).filter(|t| t.1 > 0) {
                let sensitive = pulled.sensitive;
                moved += taken;
                parts[from].1.retain(|moved| (&moved.codes, moved.sensitive) != (&codes, sensitive));
                // Gone from where it was.
                let tuple = parts[from].0.iter().copied().find(|&t| set.tuple(t as usize) == codes);
                let mut groups: Vec<(u32, Entry)> = Vec::new();
                for (t, entries) in (0..).zip(set.groups.iter()) {
                    let kept = entries.iter().filter(|e| Some(t) != tuple || e.sensitive != sensitive);
                    groups.extend(kept.map(|&e| (t, e)));
                }
                set.groups = Groups::collect(set.len(), groups);
                parts[to].1.push(DisplacedRows { codes: codes.clone(), sensitive, rows: taken });
                if rows > taken {
                    parts[from].1.push(DisplacedRows { codes, sensitive, rows: rows - taken });
                }
            }
        }
        for (side, (tuples, displaced, _)) in parts.iter().enumerate() {
            let entries: usize = tuples.iter().map(|&t| set.groups.get(t as usize).len()).sum();
            assert!((entries + displaced.len()) as u64 <= division.combinations[side]);
        }
        open.extend(parts);
    }
    let assembled = pieces.assemble(&all)?;
    // Pieces that have their first tuple in common share it.
    let mut firsts: BTreeMap<(&[u32], SensitiveId), u64> = BTreeMap::new();
    for piece in &all {
        for &(sensitive, rows) in &piece.counts {
            *firsts.entry((&piece.first, sensitive)).or_default() += rows;
        }
    }
    let codes: Vec<u32> = firsts.keys().flat_map(|key| key.0.iter().copied()).collect();
    let counts: Vec<(SensitiveId, u64)> = firsts.iter().map(|(key, &rows)| (key.1, rows)).collect();
    let small = pieces.part(&codes, &counts);
    Ok((assembled.recoding(&small, &all), small, cuts, moved))
}

/// Compares a table in pieces with one at hand, for all policies; how often it was cut, how many rows were left out,
/// and how many were pulled out of children.
fn compare(algorithm: &str, ways: &[Parameters]) -> (usize, u64, u64) {
    let (mut cut, mut left_out, mut pulled) = (0, 0, 0);
    for seed in 0..2 {
        let mut fixture = Fixture::random(seed, 120 + 40 * seed as usize, false);
        if seed == 1 {
            // Several rows agree in everything, so that some may go and others stay.
            (1..).zip(&mut fixture.set.groups.entries).for_each(|(i, entry)| entry.rows = 1 + i % 3);
            fixture.set.rows = crate::frequency::rows(&fixture.set.groups.entries);
        }
        for (requirements, options) in fixture.policies().iter().zip(ways.iter().cycle()) {
            for (limit, suppressed) in [(0, Suppressed::Drop), (12, Suppressed::Drop), (40, Suppressed::Mask)] {
                fixture.search(requirements, options, |search| {
                    let max_suppression = MaxSuppression::Rows(limit);
                    let search = Search { max_suppression, suppressed, ..search.clone() };
                    let whole = find(algorithm).unwrap().algorithm.search(&search);
                    for most in [20, 60] {
                        let pieces = in_pieces(&search, algorithm, most);
                        let (Ok(whole), Ok((recoding, set, cuts, moved))) = (&whole, &pieces) else {
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
                        pulled += moved;
                    }
                });
            }
        }
    }
    (cut, left_out, pulled)
}

#[test]
fn a_table_in_pieces_is_cut_like_one_at_hand() {
    let ways = ["loss", "median"].map(|way| Parameters::from_pairs([("cut", Value::Text(way.to_string()))]));
    let (cut, left_out, pulled) = compare("mondrian", &ways);
    assert!(cut > 50 && left_out > 0 && pulled == 0, "{cut} cuts, {left_out} rows left out, {pulled} pulled");
}

#[test]
fn a_table_in_pieces_is_specialized_like_one_at_hand() {
    let (cut, left_out, pulled) = compare("top-down", &[Parameters::default()]);
    assert!(cut > 50 && left_out > 0 && pulled > 20, "{cut} cuts, {left_out} rows left out, {pulled} pulled");
}

#[test]
fn what_takes_all_rows_is_refused() {
    let fixture = Fixture::random(1, 100, false);
    let options = Parameters::from_pairs([("relaxed", Value::Flag(true))]);
    fixture.search(&fixture.policies()[0], &options, |search| {
        assert!(
            matches!(PartialSearch::new(search, InParts::Mondrian), Err(SearchError::Unsupported(why)) if why.contains("relaxed"))
        );
        assert!(matches!(PartialSearch::new(search, in_parts("k-member")), Err(SearchError::Unsupported(_))));
    });
}
