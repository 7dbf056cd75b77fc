//! The quick run on Adult, compared with a checked-in list: every number that a paper prints, and every verdict.
//!
//! Verdicts that depend on times are listed but not compared: another or a busy machine may give others. For an
//! intended change, `AMIDST_PIN=write cargo test -p amidst-reproduce --test quick` rewrites the list, and the commit
//! gives the reason.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use amidst_reproduce::{Experiment, Finished, Options, Progress, Reproduced, Verdict, chosen, run};

struct Silent;

impl Progress for Silent {
    fn begins(&self, _: &Experiment, _: usize, _: usize) {}
    fn at(&self, _: f64) {}
    fn done(&self, _: &Experiment, _: &Finished, _: bool) {}
}

fn list(reproduced: &Reproduced) -> String {
    let mut lines = Vec::new();
    for (experiment, finished) in &reproduced.experiments {
        let id = experiment.id;
        for p in &finished.outcome.printed {
            let agrees = if p.agrees { "as printed" } else { "differs" };
            lines.push(format!("{id} | {} | {} | {} | {agrees}", p.what, p.printed, p.found));
        }
        for claim in &finished.outcome.claims {
            let verdict = if claim.timed { "by time" } else { claim.verdict.words() };
            lines.push(format!("{id} | {} | {verdict}", claim.sentence));
        }
    }
    lines.join("\n") + "\n"
}

fn data() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/adult"));
    folder.is_dir().then_some(folder)
}

#[test]
fn the_quick_run_on_adult_gives_the_listed_numbers_and_verdicts() {
    let Some(data) = data() else {
        eprintln!("skipped: the Adult data is not there");
        return;
    };
    // The page is kept for inspection.
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduced");
    let _ = std::fs::remove_dir_all(&out);
    let options = Options { experiments: chosen(&[]).unwrap(), data: Some(data), out: Some(out.clone()), quick: true };
    let reproduced = run(&options, &Silent, &AtomicBool::new(false)).unwrap();
    let found = list(&reproduced);
    let pinned = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quick.txt");
    if std::env::var("AMIDST_PIN").is_ok_and(|v| v == "write") {
        std::fs::write(&pinned, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&pinned).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
    for (experiment, finished) in &reproduced.experiments {
        let unexplained = |verdict: Verdict, why: &str| verdict != Verdict::Holds && why.is_empty();
        assert!(!finished.outcome.claims.iter().any(|c| unexplained(c.verdict, &c.why)), "{}", experiment.id);
        let printed = &finished.outcome.printed;
        assert!(
            printed.iter().all(|p| p.agrees || !p.remark.is_empty()),
            "{}: a difference without a reason",
            experiment.id
        );
        assert!(out.join(format!("{}.csv", experiment.id)).exists());
    }
}

#[test]
fn finished_experiments_are_not_run_again_and_others_are() {
    let out = tempfile::tempdir().unwrap();
    let names = ["survey-tables", "clustering-tables", "update-tables", "l-alpha-tables"].map(String::from);
    let experiments = chosen(&names).unwrap();
    let options = Options { experiments, data: None, out: Some(out.path().to_path_buf()), quick: true };
    let first = run(&options, &Silent, &AtomicBool::new(false)).unwrap();
    assert_eq!(first.experiments.len(), 4);
    assert!(first.stand_in && first.tally().2 > 20);
    let page = std::fs::read_to_string(out.path().join("reproduce.html")).unwrap();
    assert!(page.contains("stand-in") && page.contains("clustering-tables") && !page.contains("<script"), "{page}");
    // Stored outcomes are reused unchanged, including their times.
    let again = run(&options, &Silent, &AtomicBool::new(false)).unwrap();
    let seconds = |r: &Reproduced| r.experiments.iter().map(|(_, f)| f.seconds).collect::<Vec<_>>();
    assert_eq!(seconds(&first), seconds(&again));
    // A stopped run keeps what it finished; other settings do not use it.
    let slow = Options { quick: false, ..options.clone() };
    let stopped = run(&slow, &Silent, &AtomicBool::new(true)).unwrap_err();
    assert_eq!(stopped.exit_code(), 130);
    let kept = run(&options, &Silent, &AtomicBool::new(true)).unwrap();
    assert_eq!(seconds(&first), seconds(&kept));
}
