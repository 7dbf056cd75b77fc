//! Prints the checker's verdicts on release folders, for `scripts/checkers.sh`: paths of folders come on stdin, one per
//! line; for each, one line of JSON with the verdict.

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
        // The caller waits for the answer before it sends the next path.
        drop(std::io::stdout().flush());
    }
}
