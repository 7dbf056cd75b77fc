//! The table of the reading bench: nine columns of few values each, all independent.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Its columns.
pub const HEADER: [&str; 9] =
    ["age", "sex", "zip", "nationality", "occupation", "education", "year", "diagnosis", "cost"];

/// Writes this number of rows of the table.
pub fn generate(path: &Path, rows: u64) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    writeln!(out, "{}", HEADER.join(","))?;
    let nationalities = ["Portuguese", "German", "Irish", "Indian", "Japanese", "American", "Brazilian"];
    let occupations = ["clerk", "nurse", "teacher", "engineer", "farmer", "driver", "cook", "unemployed", "retired"];
    let education = ["none", "primary", "secondary", "bachelor", "master", "doctorate"];
    let diagnoses = ["influenza", "bronchitis", "gastric ulcer", "pneumonia", "fracture", "diabetes", "hypertension"];
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    for _ in 0..rows {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let pick = |shift: u32, n: usize| (state >> shift) as usize % n;
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{}",
            18 + pick(3, 72),
            ["male", "female"][pick(11, 2)],
            10_000 + 7 * pick(13, 900),
            nationalities[pick(20, 7)],
            occupations[pick(24, 9)],
            education[pick(30, 6)],
            2015 + pick(35, 10),
            diagnoses[pick(40, 7)],
            50 * pick(45, 200),
        )?;
    }
    out.flush()?;
    Ok(())
}
