//! Signed statements that were altered, belong to another release, or carry further content.

use amidst_check::{
    Certificate, CertificateDraft, ENVELOPE, Envelope, Link, Options, ProblemKind, PublicKey, Seals, Signer,
    sha256_hex, signers, verify,
};
use ed25519_dalek::{Signer as _, SigningKey};

use crate::made::{Case, POLICY, delimited, draft, put};
use crate::{Forgery, forgery};

fn key(number: u8) -> (SigningKey, PublicKey) {
    let own = SigningKey::from_bytes(&[number; 32]);
    let public = PublicKey::from_bytes(own.verifying_key().as_bytes()).unwrap();
    (own, public)
}

/// The statement about a release, signed with these keys.
fn envelope(certificate: &Certificate, keys: &[u8]) -> Envelope {
    let digest = sha256_hex(certificate.to_json().unwrap().as_bytes());
    let mut envelope = Envelope::about(certificate, &digest).unwrap();
    for &number in keys {
        let (own, public) = key(number);
        let signature = own.sign(&envelope.signed_bytes().unwrap());
        envelope.attach(&public, &signature.to_bytes()).unwrap();
    }
    envelope
}

fn signed(keys: &[u8]) -> Case {
    let case = Case::new("csv");
    let line = envelope(&case.certificate, keys).line();
    put(&case.folder().join(ENVELOPE), line.as_bytes());
    case
}

/// Releases that are accepted.
pub fn controls() -> Vec<(&'static str, Case)> {
    vec![("one signature", signed(&[1])), ("three signatures", signed(&[3, 1, 2]))]
}

/// A signed release whose statement was changed as a text.
fn changed(name: &str, tries: &'static str, change: fn(String) -> String) -> Forgery {
    forgery(name, tries, ProblemKind::Signature, move || {
        let case = signed(&[1, 2]);
        let path = case.folder().join(ENVELOPE);
        let text = std::fs::read_to_string(&path).unwrap();
        let altered = change(text.clone());
        assert_ne!(text, altered);
        put(&path, altered.as_bytes());
        case
    })
}

pub fn forgeries() -> Vec<Forgery> {
    let mut all = vec![
        changed("space in an envelope", "something between tokens", |text| text.replace("\":", "\": ")),
        changed("a line more", "a second line", |text| format!("{text}{{}}\n")),
        changed("no line feed", "an envelope that does not end", |text| text.trim_end().into()),
        changed("a key more", "raw rows under a key of their own", |text| {
            text.replacen('{', "{\"rows\":\"Ann,HIV\",", 1)
        }),
        changed("a key more in a signature", "raw rows in a signature", |text| {
            text.replacen("{\"keyid\"", "{\"rows\":\"Ann,HIV\",\"keyid\"", 1)
        }),
        changed("another type", "a payload of another type", |text| text.replace("in-toto+json", "in-toto+text")),
        changed("no signatures", "a statement that nobody signed", |text| {
            let start = text.find("[{").unwrap();
            format!("{}[]}}\n", &text[..start])
        }),
        changed("the signature of another", "a signature under another's key", |text| {
            text.replace(&key(1).1.line(), &key(9).1.line())
        }),
        changed("a signature twice", "the same signature twice", |text| {
            let (start, end) = (text.find("[{").unwrap() + 1, text.find("},{").unwrap() + 1);
            format!("{}{},{}", &text[..start], &text[start..end], &text[start..])
        }),
    ];
    all.push(forgery(
        "another release's statement",
        "a statement about something else",
        ProblemKind::Signature,
        || {
            let (case, other) = (Case::new("csv"), Case::new("tsv"));
            put(&case.folder().join(ENVELOPE), envelope(&other.certificate, &[1]).line().as_bytes());
            case
        },
    ));
    for (name, link) in [
        ("a version 0", Link { version: 0, previous: None }),
        ("a first version after another", Link { version: 1, previous: Some("0".repeat(64)) }),
        ("a digest that is none", Link { version: 2, previous: Some("Ann has HIV".into()) }),
    ] {
        all.push(forgery(name, "a place in a series that there is not", ProblemKind::Chain, move || {
            Case::new("csv").saying(|c| c.series = Some(link.clone())).sealed()
        }));
    }
    all
}

#[test]
fn an_envelope_takes_as_many_signatures_as_are_accepted_and_no_more() {
    let case = signed(&(1..=64).collect::<Vec<u8>>());
    let path = case.folder().join(ENVELOPE);
    assert!(verify(case.folder(), &case.certificate, &Options::default()).valid);
    let mut full = Envelope::parse(&std::fs::read(&path).unwrap()).unwrap();
    let (again, further) = (key(64), key(65));
    let signature = |own: &SigningKey| own.sign(&full.signed_bytes().unwrap()).to_bytes();
    let (known, new) = (signature(&again.0), signature(&further.0));
    full.attach(&again.1, &known).unwrap();
    assert!(full.attach(&further.1, &new).unwrap_err().message.contains("64"));
    std::fs::write(&path, full.line()).unwrap();
    assert!(verify(case.folder(), &case.certificate, &Options::default()).valid);
}

#[test]
fn a_version_without_the_digest_of_the_one_before_is_said_to_be_unchained() {
    let link = |version, previous: Option<String>| Some(Link { version, previous });
    let said = |link: Option<Link>| {
        let case = Case::new("csv").saying(|c| c.series = link).sealed();
        let verdict = verify(case.folder(), &case.certificate, &Options::default());
        (verdict.valid, verdict.not_checked.iter().any(|what| what.contains("unchained")))
    };
    assert_eq!(said(link(3, None)), (true, true));
    assert_eq!(said(link(3, Some("0".repeat(64)))), (true, false));
    assert_eq!(said(link(1, None)), (true, false));
}

#[test]
fn the_policy_that_is_held_must_state_the_same_last_day() {
    let until = |day: &str| format!("{POLICY}\n[release]\nvalid_until = {day}\n");
    let own = CertificateDraft { policy: until("2030-01-01"), ..draft() };
    let case = Case::of("release.csv", &delimited(b','), own);
    for (held, fits) in [(until("2030-01-01"), true), (until("2027-01-01"), false), (POLICY.to_string(), false)] {
        let options = Options { policy: Some(&held), ..Options::default() };
        let verdict = verify(case.folder(), &case.certificate, &options);
        let named = verdict.problems.iter().any(|p| p.kind == ProblemKind::Policy && p.message.contains("2030"));
        assert_eq!((verdict.valid, named), (fits, !fits), "{:?}", verdict.problems);
    }
}

#[test]
fn every_flipped_bit_of_a_signed_statement_is_noticed() {
    let case = signed(&[1]);
    let path = case.folder().join(ENVELOPE);
    let whole = std::fs::read(&path).unwrap();
    // Every bit outside the payload, and several hundred in it.
    let text = String::from_utf8(whole.clone()).unwrap();
    let start = text.find("\"payload\":\"").unwrap() + 11;
    let end = start + text[start..].find('"').unwrap();
    let positions = (0..start).chain((start..end).step_by(7)).chain(end..whole.len());
    for position in positions {
        let mut bytes = whole.clone();
        bytes[position] ^= 1 << (position % 8);
        std::fs::write(&path, &bytes).unwrap();
        let verdict = verify(case.folder(), &case.certificate, &Options::default());
        let named = verdict.problems.iter().any(|p| p.is_violation() && p.kind == ProblemKind::Signature);
        assert!(named && !verdict.valid && !verdict.matching, "byte {position}: {:?}", verdict.problems);
        assert!(verdict.signatures.is_empty(), "byte {position}");
    }
}

#[test]
fn what_was_changed_after_signing_is_named() {
    let named = |case: &Case, word: &str| {
        let verdict = verify(case.folder(), &case.certificate, &Options::default());
        let found = verdict.problems.iter().filter(|p| p.kind == ProblemKind::Signature).map(|p| p.to_string());
        let found: Vec<String> = found.collect();
        assert!(found.iter().any(|message| message.contains(word)), "{word}: {found:?}");
    };
    // A forger can recompute the certificate of an altered table, but not the signature.
    let case = signed(&[1]);
    let text = std::fs::read_to_string(case.path()).unwrap();
    let case = case.with(text.replace("HIV", "Flu")).sealed();
    named(&case, "release.csv");
    named(&case, "certificate.json");
    let case = signed(&[1]).saying(|c| c.tool = "amidst 9".into()).sealed();
    named(&case, "the certificate is not the one that was signed");
}

#[test]
fn a_release_tells_who_signed_and_only_whom_the_caller_knows_is_trusted() {
    let case = signed(&[1, 2]);
    let line = |number: u8| format!("person{number}@example.org {}", key(number).1.line());
    let ask = |lists: &[Vec<Signer>]| {
        let seals = Seals { signers: lists, ..Seals::default() };
        verify(case.folder(), &case.certificate, &Options { seals, ..Options::default() })
    };
    let list = |numbers: &[u8]| signers(&numbers.iter().map(|&n| line(n)).collect::<Vec<_>>().join("\n")).unwrap();
    let names = |verdict: &amidst_check::Verdict| -> Vec<String> {
        verdict.signed_by.iter().flatten().filter_map(|s| s.name.clone()).collect()
    };
    let nobody = ask(&[]);
    assert!(nobody.stands() && nobody.signed_by.is_none() && nobody.signatures.len() == 2);
    assert!(nobody.signatures.iter().all(|s| s.name.is_none()), "the release itself says nothing about whose keys");
    let one = ask(&[list(&[1, 7])]);
    assert!(one.stands());
    assert_eq!(names(&one), ["person1@example.org"]);
    let both = ask(&[list(&[1]), list(&[2])]);
    assert!(both.stands() && names(&both).len() == 2);
    for lists in [vec![list(&[7])], vec![list(&[1]), list(&[7])]] {
        let verdict = ask(&lists);
        assert!(
            verdict.valid && verdict.matching && !verdict.stands(),
            "it is valid, but not signed by whom was asked for"
        );
        assert!(verdict.problems.iter().any(|p| p.kind == ProblemKind::Signer && p.message.contains("person7")));
    }
}

#[test]
fn a_version_follows_the_one_whose_digest_it_carries() {
    let first = Case::new("csv").saying(|c| c.series = Some(Link { version: 1, previous: None })).sealed();
    let digest = first.certificate.digest.clone();
    let link = |version| Some(Link { version, previous: Some(digest.clone()) });
    let second = Case::new("csv").saying(|c| c.series = link(2)).sealed();
    let look = |case: &Case, previous: Option<&Certificate>| {
        let seals = Seals { previous, ..Seals::default() };
        verify(case.folder(), &case.certificate, &Options { seals, ..Options::default() })
    };
    assert!(look(&first, None).valid);
    assert!(look(&second, Some(&first.certificate)).valid);
    let alone = look(&second, None);
    assert!(alone.valid && alone.not_checked.iter().any(|what| what.contains("version 1")), "{:?}", alone.not_checked);
    let mut altered = first.certificate.clone();
    altered.tool = "amidst 9".into();
    let third = Case::new("csv").saying(|c| c.series = link(3)).sealed();
    let plain = Case::new("csv");
    for (case, previous) in
        [(&second, &altered), (&second, &plain.certificate), (&third, &first.certificate), (&plain, &first.certificate)]
    {
        let verdict = look(case, Some(previous));
        assert!(
            !verdict.valid && verdict.problems.iter().any(|p| p.kind == ProblemKind::Chain),
            "{:?}",
            verdict.problems
        );
    }
}

#[test]
fn a_release_is_fresh_until_the_end_of_its_last_day() {
    let case = Case::new("csv");
    let policy = format!("{}\n[release]\nvalid_until = 2027-12-31\n", case.certificate.policy);
    let case = case.saying(|c| c.policy = policy).sealed();
    let on = |day: Option<&str>| {
        let day = day.map(|day| day.parse::<toml::value::Datetime>().unwrap().date.unwrap());
        let seals = Seals { day, ..Seals::default() };
        verify(case.folder(), &case.certificate, &Options { seals, ..Options::default() })
    };
    assert_eq!(on(Some("2027-12-31")).fresh, Some(true));
    let late = on(Some("2028-01-01"));
    assert!(late.valid && !late.stands() && late.fresh == Some(false) && late.problems[0].kind == ProblemKind::Expired);
    let unknown = on(None);
    assert!(unknown.stands() && unknown.fresh.is_none() && unknown.valid_until.as_deref() == Some("2027-12-31"));
}
