//! What the checker says of release folders, for `scripts/checkers.sh`: paths of folders come on stdin, one a line; for
//! each, one JSON line with the verdict.

#![allow(clippy::print_stdout, reason = "the output is what this is for")]

use std::io::{BufRead, Write};
use std::path::Path;

use amidst_check::{Certificate, Options, Verdict, verify};

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let folder = Path::new(&line);
        let verdict = match Certificate::read(&folder.join("certificate.json")) {
            Ok(certificate) => verify(folder, &certificate, &Options::default()),
            Err(problem) => Verdict::invalid(vec![problem]),
        };
        println!("{}", serde_json::to_string(&verdict).unwrap_or_default());
        // Whoever asks waits for the answer before the next question.
        drop(std::io::stdout().flush());
    }
}
