//! A corpus of forged releases: each tries to pass as a release that protects people, and none may.
//!
//! Every forgery starts from a release that is accepted. A forger can compute digests, so all digests are recomputed:
//! only what the checker reads and recounts can detect the forgery.

#[cfg(test)]
mod columnar;
#[cfg(test)]
mod files;
#[cfg(test)]
mod made;
#[cfg(test)]
mod mutated;
#[cfg(test)]
mod ordered;
#[cfg(test)]
mod signed;
#[cfg(test)]
mod statements;
#[cfg(test)]
mod text;

use amidst_check::{Options, ProblemKind, verify};
use made::{Case, FORMATS};

/// One attempt.
pub struct Forgery {
    /// What it is called.
    pub name: String,
    /// What it tries.
    pub tries: &'static str,
    /// What must be found against it.
    pub found: ProblemKind,
    /// Makes it.
    pub make: Box<dyn Fn() -> Case>,
}

/// A forgery.
pub fn forgery(
    name: impl Into<String>,
    tries: &'static str,
    found: ProblemKind,
    make: impl Fn() -> Case + 'static,
) -> Forgery {
    Forgery { name: name.into(), tries, found, make: Box::new(make) }
}

#[test]
fn what_is_not_forged_is_accepted() {
    for format in FORMATS {
        let case = Case::new(format);
        let verdict = verify(case.folder(), &case.certificate, &Options::default());
        assert!(verdict.valid, "{format}: {:?}", verdict.problems);
        assert!(verdict.clone().strict().valid, "{format}: {:?}", verdict.attested);
    }
    let controls = statements::controls().into_iter().chain(ordered::controls());
    for (name, case) in controls.chain(files::controls()).chain(signed::controls()) {
        let verdict = verify(case.folder(), &case.certificate, &Options::default());
        assert!(verdict.valid, "{name}: {:?}", verdict.problems);
    }
}

#[test]
fn no_forgery_is_accepted() {
    let corpus = [
        statements::forgeries(),
        ordered::forgeries(),
        signed::forgeries(),
        files::forgeries(),
        text::forgeries(),
        columnar::forgeries(),
    ];
    let corpus: Vec<Forgery> = corpus.into_iter().flatten().collect();
    assert!(corpus.len() >= 100, "{}", corpus.len());
    let mut names = std::collections::BTreeSet::new();
    let mut accepted = Vec::new();
    for forgery in &corpus {
        assert!(names.insert(forgery.name.clone()), "{} is there twice", forgery.name);
        let case = (forgery.make)().sealed();
        let verdict = verify(case.folder(), &case.certificate, &Options::default());
        let found = verdict.problems.iter().any(|p| p.is_violation() && p.kind == forgery.found);
        if verdict.valid || !found {
            accepted.push(format!("{} ({}): {:?}", forgery.name, forgery.tries, verdict.problems));
        }
        // Messages contain no control characters.
        assert!(verdict.problems.iter().all(|p| !p.message.contains(char::is_control)), "{}", forgery.name);
    }
    assert!(accepted.is_empty(), "{} of {}:\n{}", accepted.len(), corpus.len(), accepted.join("\n"));
}
