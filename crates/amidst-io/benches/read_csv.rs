//! Reads a low-cardinality CSV file, compared with `arrow-csv` on one thread (time and peak memory), and writes it
//! again.
//!
//! `AMIDST_BENCH_ROWS` sets the number of rows (default: 10 million). Every measurement runs in its own process, so
//! that peaks of memory are separate; each is run three times and the fastest counts.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use amidst_io::{Format, ReadOptions, WriteOptions, read, write};
use amidst_testkit::table::{HEADER, generate};
use arrow_schema::{DataType, Field, Schema};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 3;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, child, what, path] = arguments.as_slice()
        && child == "--child"
    {
        return measure(what, Path::new(path));
    }
    let rows: u64 = std::env::var("AMIDST_BENCH_ROWS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("table.csv");
    generate(&path, rows)?;
    let size = std::fs::metadata(&path)?.len();
    let mut out = std::io::stdout();
    writeln!(out, "{rows} rows × {} columns, {} MB", HEADER.len(), size / 1_000_000)?;
    writeln!(out, "{:<34} {:>8} {:>8} {:>9} {:>8}", "", "seconds", "MB/s", "peak MB", "ratio")?;
    let mut base = None;
    for (what, label) in [
        ("arrow", "arrow-csv, string arrays, 1 thread"),
        ("1", "amidst, 1 thread"),
        ("0", "amidst, all cores"),
        ("write", "amidst, writing it, all cores"),
    ] {
        let (seconds, peak) = best(what, &path)?;
        let base = *base.get_or_insert(seconds);
        let speed = size as f64 / 1e6 / seconds;
        writeln!(out, "{label:<34} {seconds:>8.3} {speed:>8.0} {:>9} {:>7.2}×", peak / 1000, base / seconds)?;
    }
    writeln!(out, "memory allowed: a quarter of the file and 200 MB = {} MB", size / 4_000_000 + 200)?;
    Ok(())
}

/// The fastest of three runs: seconds, and the highest peak in kB.
fn best(what: &str, path: &Path) -> Outcome<(f64, u64)> {
    let (mut seconds, mut peak) = (f64::INFINITY, 0);
    for _ in 0..ROUNDS {
        let output = Command::new(std::env::current_exe()?).arg("--child").arg(what).arg(path).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let text = String::from_utf8(output.stdout)?;
        let mut numbers = text.split_whitespace();
        seconds = f64::min(seconds, numbers.next().ok_or("no time")?.parse()?);
        peak = u64::max(peak, numbers.next().ok_or("no memory")?.parse()?);
    }
    Ok((seconds, peak))
}

fn measure(what: &str, path: &Path) -> Outcome<()> {
    let mut start = Instant::now();
    let rows = match what {
        "arrow" => arrow(path)?,
        "write" => {
            let input = read(&path.to_string_lossy(), &ReadOptions::default())?;
            start = Instant::now();
            let copy = path.with_file_name("copy.csv");
            write(&input.table, None, &copy, Format::Csv, &WriteOptions { sync: false, ..WriteOptions::default() })?
                .rows
        }
        threads => {
            let options = ReadOptions { threads: threads.parse()?, ..ReadOptions::default() };
            read(&path.to_string_lossy(), &options)?.table.rows as u64
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    writeln!(std::io::stdout(), "{seconds} {} {rows}", peak_memory())?;
    Ok(())
}

fn arrow(path: &Path) -> Outcome<u64> {
    let fields: Vec<Field> = HEADER.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
    let builder = arrow_csv::ReaderBuilder::new(Arc::new(Schema::new(fields))).with_header(true).with_batch_size(8192);
    let mut rows = 0;
    for batch in builder.build(File::open(path)?)? {
        rows += batch?.num_rows() as u64;
    }
    Ok(rows)
}

/// The peak resident memory of this process, in kB; 0 where the system does not report it.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse().ok()).unwrap_or(0)
}
