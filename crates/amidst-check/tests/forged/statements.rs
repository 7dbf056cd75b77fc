//! Certificates that contradict their own policy, or that prove nothing.

use amidst_check::{Certificate, CertificateDraft, ProblemKind, SuppressedAs};
use serde_json::json;

use crate::made::{Case, POLICY, claim, delimited, draft, sensitive};
use crate::{Forgery, forgery};

/// A release that is consistent with one policy but carries another.
fn instead(own: CertificateDraft, policy: String) -> Case {
    Case::of("release.csv", &delimited(b','), own).saying(|c| c.policy = policy)
}

/// A consistent release whose policy is the usual one with a piece replaced.
fn honest(from: &str, to: &str, change: impl Fn(&mut CertificateDraft)) -> CertificateDraft {
    assert!(POLICY.contains(from), "{from}");
    let mut own = draft();
    own.policy = POLICY.replace(from, to);
    change(&mut own);
    own
}

const L: &str = "[[require]]\nmodel = \"distinct-l-diversity\"\non = \"disease\"\nl = 2\n";

/// Unusual releases that are accepted.
pub fn controls() -> Vec<(&'static str, Case)> {
    let of = |own| Case::of("release.csv", &delimited(b','), own);
    vec![
        (
            "a fraction",
            of(honest(L, "[[require]]\nmodel = \"general-alpha-k-anonymity\"\nalpha = \"1/3\"\nk = 3\n", |own| {
                own.requirements[1] =
                    claim("general-alpha-k-anonymity", Some("disease"), json!({"alpha": "2/6", "k": 3}));
            })),
        ),
        ("a share in percent", of(honest("0.1", "\"10 %\"", |own| (own.rows_in, own.suppressed) = (13, 1)))),
        ("columns by default", of(honest("[columns.cost]", "[columns.\"*\"]", |_| {}))),
        (
            "consent",
            of(honest(
                "[[require]]\nmodel = \"k",
                "[columns.c]\nrole = \"consent\"\n[[require]]\nmodel = \"k",
                |own| {
                    own.waived = vec![3];
                },
            )),
        ),
    ]
}

/// All forgeries of this file.
pub fn forgeries() -> Vec<Forgery> {
    let mut list = weaker();
    list.extend(others());
    list.extend(spoken());
    list.extend(nothing());
    list
}

/// Consistent with a weaker policy but carrying the usual one: only the comparison detects it.
fn weaker() -> Vec<Forgery> {
    let usual = |name: &str, tries, own: fn() -> CertificateDraft| {
        forgery(name, tries, ProblemKind::Policy, move || instead(own(), POLICY.to_string()))
    };
    vec![
        usual("fewer quasi columns", "classes over one column of two", || {
            honest("[columns.age]\nrole = \"quasi\"", "[columns.age]\nrole = \"insensitive\"", |own| {
                drop(own.quasi.remove(0))
            })
        }),
        usual("another quasi column", "an insensitive column as quasi", || {
            honest("[columns.disease]\nrole = \"sensitive\"", "[columns.disease]\nrole = \"sensitive\"\n", |own| {
                own.policy =
                    own.policy.replace("[columns.site]\nrole = \"quasi\"", "[columns.site]\nrole = \"insensitive\"");
                own.quasi = vec!["age".into()];
            })
        }),
        usual("a smaller k", "k = 2 where the policy says 3", || {
            honest("k = 3", "k = 2", |own| own.requirements[0] = claim("k-anonymity", None, json!({"k": 2})))
        }),
        usual("a smaller l", "l = 1 where the policy says 2", || {
            honest("l = 2", "l = 1", |own| {
                own.requirements[1] = claim("distinct-l-diversity", Some("disease"), json!({"l": 1}));
            })
        }),
        usual("a requirement less", "no diversity", || honest(L, "", |own| drop(own.requirements.pop()))),
        usual("the other requirement less", "no k-anonymity", || {
            honest("[[require]]\nmodel = \"k-anonymity\"\nk = 3\n", "", |own| drop(own.requirements.remove(0)))
        }),
        usual("another model", "a weaker model of the same number", || {
            honest(L, "[[require]]\nmodel = \"p-sensitive-k-anonymity\"\non = \"disease\"\np = 2\nk = 1\n", |own| {
                own.requirements[1] = claim("p-sensitive-k-anonymity", Some("disease"), json!({"p": 2, "k": 1}));
            })
        }),
        usual("a requirement twice", "one requirement in place of another", || {
            honest(L, "[[require]]\nmodel = \"k-anonymity\"\nk = 3\n", |own| {
                own.requirements[1] = own.requirements[0].clone()
            })
        }),
        usual("a requirement more", "a requirement that nobody asked for", || {
            honest(L, &format!("{L}[[require]]\nmodel = \"max-risk\"\nthreshold = 1\n"), |own| {
                own.requirements.push(claim("max-risk", None, json!({"threshold": 1})));
            })
        }),
        usual("no sensitive column", "a sensitive column as an insensitive one", || {
            honest("role = \"sensitive\"", "role = \"insensitive\"", |own| {
                own.policy = own.policy.replace(L, "");
                own.sensitive.clear();
                own.requirements.pop();
            })
        }),
        usual("sensitive as quasi", "diversity over nothing", || {
            honest("role = \"sensitive\"", "role = \"quasi\"", |own| {
                own.policy = own.policy.replace(L, "").replace("k = 3", "k = 1");
                own.sensitive.clear();
                own.quasi.push("disease".into());
                own.requirements = vec![claim("k-anonymity", None, json!({"k": 1}))];
            })
        }),
        usual("insensitive as sensitive", "requirements on another column", || {
            let raw = "[columns.cost]\nrole = \"insensitive\"\naccept = \"printed on every bill\"";
            honest(raw, "[columns.cost]\nrole = \"sensitive\"", |own| {
                own.accepted.clear();
                own.sensitive.push(sensitive("cost"));
                own.policy = own.policy.replace("on = \"disease\"", "on = \"cost\"");
                own.requirements[1] = claim("distinct-l-diversity", Some("cost"), json!({"l": 2}));
            })
        }),
        usual("more rows suppressed", "beyond the limit of a tenth", || {
            honest("0.1", "0.5", |own| (own.rows_in, own.suppressed) = (20, 8))
        }),
        usual("masked rows", "masked where the policy drops", || {
            honest("[search]", "[search]\nsuppressed = \"mask\"", |own| own.suppressed_as = SuppressedAs::Mask)
        }),
        usual("consent that nobody gave", "rows waived without a consent column", || {
            honest("[columns.age]", "[columns.c]\nrole = \"consent\"\n[columns.age]", |own| own.waived = vec![0])
        }),
    ]
}

/// The usual certificate with another policy.
fn others() -> Vec<Forgery> {
    let carrying = |name: &str, tries, from: &'static str, to: &'static str| {
        assert!(POLICY.contains(from), "{from}");
        forgery(name, tries, ProblemKind::Policy, move || instead(draft(), POLICY.replace(from, to)))
    };
    vec![
        carrying(
            "an identifying column",
            "a column that the policy never publishes",
            "[columns.cost]\nrole = \"insensitive\"",
            "[columns.cost]\nrole = \"identifying\"",
        ),
        carrying(
            "a key column",
            "the key of persons published",
            "[columns.cost]\nrole = \"insensitive\"",
            "[columns.cost]\nrole = \"key\"",
        ),
        carrying(
            "a consent column",
            "the consent published",
            "[columns.cost]\nrole = \"insensitive\"",
            "[columns.cost]\nrole = \"consent\"",
        ),
        carrying(
            "an unnamed column",
            "a column that the policy does not name",
            "[columns.cost]\nrole = \"insensitive\"\n",
            "",
        ),
        carrying(
            "unnamed and identifying",
            "a column that the default hides",
            "[columns.cost]\nrole = \"insensitive\"",
            "[columns.\"*\"]\nrole = \"identifying\"",
        ),
        forgery("a byte order mark", "a policy that not every reader of TOML reads", ProblemKind::Policy, || {
            instead(draft(), format!("\u{feff}{POLICY}"))
        }),
        carrying("a great k", "k = 50 in the policy, 3 proven", "k = 3", "k = 50"),
        carrying("a k as text", "k = \"3.5\" in the policy", "k = 3", "k = \"3.5\""),
        carrying("a k with many digits", "k a hair above 3", "k = 3", "k = 3.0000000000000000000000001"),
        carrying(
            "a quasi column more",
            "a quasi column that the release lacks",
            "[columns.name]\nrole = \"identifying\"",
            "[columns.name]\nrole = \"quasi\"",
        ),
        carrying(
            "another sensitive column",
            "a sensitive column that the release lacks",
            "[columns.name]\nrole = \"identifying\"",
            "[columns.name]\nrole = \"sensitive\"",
        ),
        carrying(
            "no rows may go",
            "no suppression allowed, some claimed",
            "max_suppression = 0.1",
            "max_suppression = 0\nsuppressed = \"mask\"",
        ),
        carrying("no policy", "a policy that is no TOML", "[data]", "[data"),
        carrying("a key twice", "a policy with two readings", "k = 3", "k = 3\nk = 50"),
        carrying(
            "an unknown section",
            "something that the checker does not know",
            "[data]",
            "[[quasi]]\ncolumns = [\"age\"]\n[data]",
        ),
        carrying("an unknown role", "a role that is none", "role = \"insensitive\"", "role = \"harmless\""),
        carrying(
            "categories",
            "categories in the policy only",
            "[columns.disease]\nrole = \"sensitive\"",
            "[columns.disease]\nrole = \"sensitive\"\ncategories = [[\"HIV\"], [\"Flu\"]]",
        ),
    ]
}

fn saying(name: &str, tries: &'static str, found: ProblemKind, change: fn(&mut Certificate)) -> Forgery {
    forgery(name, tries, found, move || Case::new("csv").saying(change))
}

/// Other statements in the certificate.
fn spoken() -> Vec<Forgery> {
    vec![
        saying("persons without a key", "persons attested that no column tells apart", ProblemKind::Policy, |c| {
            c.persons = true
        }),
        saying("an old format", "a certificate of an older version", ProblemKind::Certificate, |c| c.format -= 1),
        saying("a new format", "a certificate of a version to come", ProblemKind::Certificate, |c| c.format += 1),
        saying("rows more", "rows that are not there", ProblemKind::Rows, |c| (c.rows_in, c.rows_out) = (13, 13)),
        saying("classes fewer", "fewer classes than there are", ProblemKind::Classes, |c| c.classes -= 1),
        saying("a better figure", "k = 4 measured as 5", ProblemKind::Measured, |c| {
            drop(c.requirements[0].measured.insert("k".into(), json!(5)));
        }),
        saying("a parameter more", "a parameter that no model has", ProblemKind::Policy, |c| {
            drop(c.requirements[0].parameters.insert("sigma".into(), json!(5)));
        }),
        saying("counterfeits", "rows that stand for nobody, out of nowhere", ProblemKind::Rows, |c| {
            c.counterfeits = Some(2)
        }),
        saying("nobody", "all rows but one stand for nobody, though there is no series", ProblemKind::Rows, |c| {
            c.counterfeits = Some(c.rows_out - 1);
            (c.rows_in, c.rows_dropped_missing, c.suppressed) = (1, 0, 0);
        }),
        saying("escape sequences", "a column name that prints a verdict", ProblemKind::Column, |c| {
            c.quasi[0] = "\u{1b}[2J\u{1b}[32mthe release is what its certificate says\u{202e}".into();
        }),
        saying("an excuse", "a reason that the policy does not give", ProblemKind::Policy, |c| {
            c.accepted[0].reason = "harmless".into();
        }),
        saying("an empty excuse", "a reason that says nothing", ProblemKind::Insensitive, |c| {
            c.accepted[0].reason = " ".into();
            c.policy = c.policy.replace("printed on every bill", " ");
        }),
        saying("masked rows that are none", "a row counted as masked that is published", ProblemKind::Rows, |c| {
            (c.suppressed, c.suppressed_as) = (1, SuppressedAs::Mask);
            c.policy = c.policy.replace("[search]", "[search]\nsuppressed = \"mask\"");
        }),
        saying("too few persons", "an attested k below what is required", ProblemKind::Measured, |c| {
            c.persons = true;
            c.policy = c.policy.replace("role = \"identifying\"", "role = \"key\"");
            drop(c.requirements[0].measured.insert("k".into(), json!(2)));
        }),
        saying("rows that are unique", "fewer unique rows than there are", ProblemKind::Measured, |c| {
            c.unique_rows.insensitive = 0;
        }),
        saying("no tables", "a certificate about nothing", ProblemKind::Certificate, |c| c.outputs.clear()),
    ]
}

/// Statements from which nothing follows.
fn nothing() -> Vec<Forgery> {
    let without = |name: &str, tries, change: fn(&mut Certificate)| saying(name, tries, ProblemKind::Nothing, change);
    vec![
        without("no quasi column", "classes over no column", |c| {
            c.quasi.clear();
            c.policy = c.policy.replace("role = \"quasi\"", "role = \"insensitive\"");
        }),
        without("no requirement", "nothing required", |c| {
            c.requirements.clear();
            c.policy = c.policy.split("[[require]]").next().unwrap_or_default().to_string();
        }),
        without("everybody waived", "nobody protected", |c| {
            c.waived = (0..12).collect();
            c.policy = c.policy.replace("[columns.age]", "[columns.c]\nrole = \"consent\"\n[columns.age]");
        }),
    ]
}
