//! How much more an m-invariant version loses than any m-invariant version must, on the Adult table.
//!
//! `cargo bench -p amidst --bench invariant [ROWS]`: versions of 10,000 rows, of which 5 % go and as many come from one
//! to the next, for m = 2, 4, 6 and 8. *Loss* is the information loss of the version; *bound* the proven least loss of
//! a version of these rows with these signatures and counterfeits (`core::series::least_loss`); *gap* the share of the
//! loss above the bound, so the largest share that a better method could save. The figures do not depend on the
//! machine.

#![allow(clippy::print_stdout)] // A bench exists to print its table.
#![allow(clippy::unwrap_used)] // And may stop where it stands.

mod adult;

use std::collections::BTreeMap;
use std::time::Instant;

use amidst::core::internal::local::shape::Space;
use amidst::core::internal::random::Random;
use amidst::core::internal::series::{Allowed, Invariant, Signed, least_loss, m_invariant};
use amidst::prepare::{LoadOptions, Prepared};

const VERSIONS: usize = 4;

/// What the classes of a version cost their rows.
fn loss(space: &Space, rows: &[Signed<'_>], made: &Invariant) -> f64 {
    let mut shapes: BTreeMap<u32, (Vec<_>, u32)> = BTreeMap::new();
    for (row, &class) in rows.iter().zip(&made.class_of) {
        let (shape, count) = shapes.entry(class).or_insert_with(|| (space.empty(), 0));
        match *count {
            0 => space.start(shape, row.codes),
            _ => space.add(shape, row.codes),
        }
        *count += 1;
    }
    shapes.values().map(|(shape, rows)| space.cost(shape) * f64::from(*rows)).sum()
}

fn main() {
    let Some(data) = adult::folder() else { return };
    let size: usize = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(10_000);
    let policy = adult::policy(&data, "[[require]]\nmodel = \"m-invariance\"\nm = 2\n");
    let whole = Prepared::load(&policy, &LoadOptions::default()).unwrap();
    let (set, space) = (&whole.set, Space::new(&whole.generalizations));
    let tuple_of = set.tuple_of_entry();
    let mut order: Vec<usize> = (0..whole.entry_of_row.len()).collect();
    Random::new(2).shuffle(&mut order);
    let churn = size / 20;
    println!("m  version   rows  classes  counterfeits       loss      bound  ratio      gap  seconds");
    for m in [2, 4, 6, 8] {
        let mut signatures: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
        for version in 0..VERSIONS {
            let present = &order[version * churn..version * churn + size];
            let signed = present.iter().map(|&r| {
                let entry = whole.entry_of_row[r].index();
                let value = set.sensitive_code(set.groups.entries[entry].sensitive, 0);
                Signed { codes: set.tuple(tuple_of[entry] as usize), value, signature: &signatures[r] }
            });
            let signed: Vec<Signed<'_>> = signed.collect();
            let values = set.sensitive_domains[0];
            let start = Instant::now();
            let made = m_invariant(&space, &signed, values, m).unwrap();
            let seconds = start.elapsed().as_secs_f64();
            let (lost, fakes) = (loss(&space, &signed, &made), made.counterfeits.len());
            let widest = made.signatures.iter().map(Vec::len).max().unwrap_or(0);
            let bound = least_loss(&space, &signed, values, m, Allowed { counterfeits: fakes, widest });
            // With counterfeits for as many classes as there are, nothing is proven.
            let ratio = if bound > 0.0 { format!("{:.2}", lost / bound) } else { "–".to_string() };
            println!(
                "{m}  {:>7} {size:>6} {:>8} {fakes:>13} {lost:>10.1} {bound:>10.1} {ratio:>6} {:>6.1} % {seconds:>8.2}",
                version + 1,
                made.signatures.len(),
                100.0 * (lost - bound) / lost.max(1e-9),
            );
            let new = made.class_of.iter().map(|&class| made.signatures[class as usize].clone());
            let new: Vec<Vec<u32>> = new.collect();
            present.iter().zip(new).for_each(|(&r, signature)| signatures[r] = signature);
        }
    }
}
