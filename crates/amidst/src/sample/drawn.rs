//! A Bernoulli sample of a table: every row is in it with the same chance, whatever the others.
//!
//! A row's fate follows from the seed and its number alone, so a table that is read with more threads, or that grew at
//! its end, gives the same rows.

use std::path::Path;

use amidst_core::parameter::Rational;
use amidst_core::table::Table;
use amidst_io::{Format, ReadOptions, WriteOptions};

use super::random::Random;
use crate::Failure;

/// Keeps each row of `table` with the chance `share`.
pub fn draw(table: &mut Table, share: &Rational, seed: u64) {
    // 2⁶⁴ equally likely numbers, of which this many keep a row.
    let bound = (share.to_f64().clamp(0.0, 1.0) * 18_446_744_073_709_551_616.0) as u128;
    let keep: Vec<bool> = (0..table.rows as u64).map(|row| u128::from(Random::new(seed, row).bits()) < bound).collect();
    table.retain(&keep);
    table.columns.iter_mut().for_each(amidst_core::table::Column::compact);
}

/// The sample of the table at `source`.
///
/// # Errors
/// When the share is not between 0 and 1, or the table cannot be read.
pub fn drawn(source: &str, share: &Rational, seed: u64) -> Result<Table, Failure> {
    if share.is_negative() || *share > Rational::from(1) {
        return Err(Failure::Usage(format!("a share lies between 0 and 1, such as 0.05 or 1/20; not {share}")));
    }
    let mut table = amidst_io::read(source, &ReadOptions::default()).map_err(Failure::Read)?.table;
    draw(&mut table, share, seed);
    Ok(table)
}

/// Writes a sample into a file, in the format of its ending, or into `out` as CSV where there is no file.
///
/// # Errors
/// When it cannot be written.
pub fn write(table: &Table, path: Option<&Path>, out: &mut (dyn std::io::Write + Send)) -> Result<(), Failure> {
    let options = WriteOptions::default();
    let written = match path {
        Some(path) => {
            let format = Format::of_path(path).unwrap_or(Format::Csv);
            amidst_io::write(table, None, path, format, &options)
        }
        None => amidst_io::write_to(table, None, out, Format::Csv, &options),
    };
    written.map(|_| ()).map_err(|e| Failure::Io(format!("cannot write the sample: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use amidst_core::table::Column;

    fn people(rows: usize) -> Table {
        let names: Vec<String> = (0..rows).map(|row| row.to_string()).collect();
        Table { columns: vec![Column::from_values("id", names.iter().map(String::as_str))], rows }
    }

    fn ids(table: &Table) -> Vec<String> {
        (0..table.rows).map(|row| table.columns[0].value(row).to_string()).collect()
    }

    #[test]
    fn a_sample_holds_about_its_share_and_follows_from_the_seed() {
        let share: Rational = "1/20".parse().unwrap();
        let sample = |rows, seed| {
            let mut table = people(rows);
            draw(&mut table, &share, seed);
            ids(&table)
        };
        let first = sample(40_000, 1);
        // 2,000 are expected with a standard deviation of 44.
        assert!((1_800..2_200).contains(&first.len()), "{}", first.len());
        assert_eq!(first, sample(40_000, 1));
        assert_ne!(first, sample(40_000, 2));
        // The beginning of a longer table is drawn alike.
        let shorter = sample(10_000, 1);
        assert_eq!(shorter, first[..shorter.len()]);
    }

    #[test]
    fn all_and_nothing_are_shares_too() {
        for (share, rows) in [("0", 0), ("1", 1000)] {
            let mut table = people(1000);
            draw(&mut table, &share.parse().unwrap(), 7);
            assert_eq!(table.rows, rows);
        }
    }
}
