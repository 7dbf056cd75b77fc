//! Rank orders that make an ordered distance smaller: ranks that nobody has, and ranks that are exchanged.

use amidst_check::{CertificateDraft, ProblemKind};
use serde_json::json;

use crate::made::{Case, POLICY, claim, delimited, draft, sensitive};
use crate::{Forgery, forgery};

const DIVERSITY: &str = "model = \"distinct-l-diversity\"\non = \"disease\"\nl = 2";
const WORDS: [&str; 4] = ["Cancer", "Flu", "Flu, \"late\"", "HIV"];

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| text.to_string()).collect()
}

/// A release whose policy ranks its words by a list: the one of the column, or the one of its hierarchy.
fn listed(within: bool) -> Case {
    let list = json!(WORDS).to_string();
    let list =
        if within { format!("hierarchy = {{ order = {list}, groups = [2] }}") } else { format!("order = {list}") };
    let closeness = "model = \"t-closeness\"\non = \"disease\"\nt = 0.5\ndistance = \"ordered\"";
    let policy = POLICY.replace("role = \"sensitive\"", &format!("role = \"sensitive\"\n{list}"));
    let mut own = CertificateDraft { policy: policy.replace(DIVERSITY, closeness), ..draft() };
    own.sensitive[0].order = Some(texts(&WORDS));
    own.requirements[1] = claim("t-closeness", Some("disease"), json!({"t": 0.5, "distance": "ordered"}));
    Case::of("release.csv", &delimited(b','), own)
}

/// A release whose numbers, from 100 to 111, have their own order.
fn natural() -> Case {
    let raw = "role = \"insensitive\"\naccept = \"printed on every bill\"";
    let closeness = "model = \"t-closeness\"\non = \"cost\"\nt = 1\ndistance = \"ordered\"";
    let policy = POLICY.replace(raw, "role = \"sensitive\"").replace(DIVERSITY, closeness);
    let mut own = CertificateDraft { policy, ..draft() };
    own.accepted.clear();
    own.sensitive.push(sensitive("cost"));
    own.sensitive[1].order = Some((100..112).map(|n| n.to_string()).collect());
    own.requirements[1] = claim("t-closeness", Some("cost"), json!({"t": 1, "distance": "ordered"}));
    Case::of("release.csv", &delimited(b','), own)
}

/// Orders that follow from their policies.
pub fn controls() -> Vec<(&'static str, Case)> {
    vec![
        ("an order by a list", listed(false)),
        ("an order by a hierarchy", listed(true)),
        ("an order by number", natural()),
    ]
}

/// All forgeries of this file.
pub fn forgeries() -> Vec<Forgery> {
    let mut list = Vec::new();
    let mut of = |name: String, tries, base: fn() -> Case, at: usize, change: fn(&mut Vec<String>)| {
        list.push(forgery(name, tries, ProblemKind::Policy, move || {
            base().saying(|c| change(c.sensitive[at].order.as_mut().expect("it has an order")))
        }));
    };
    let by_list: [fn() -> Case; 2] = [|| listed(false), || listed(true)];
    for (base, name) in by_list.into_iter().zip(["a list", "a hierarchy"]) {
        of(format!("padded ranks behind {name}"), "a thousand ranks that nobody has", base, 0, |order| {
            order.extend((0..1000).map(|n| n.to_string()));
        });
        of(format!("exchanged ranks of {name}"), "near values far from each other", base, 0, |order| order.swap(1, 2));
        of(format!("ranks before {name}"), "a rank that nobody has at the front", base, 0, |order| {
            order.insert(0, "healthy".into());
        });
    }
    of("padded ranks of numbers".into(), "numbers that nobody has", natural, 1, |order| {
        order.extend((112..1000).map(|n| n.to_string()));
    });
    of("exchanged numbers".into(), "numbers out of order", natural, 1, |order| order.swap(3, 4));
    of("exchanged numbers behind a word".into(), "a word that ends the comparison", natural, 1, |order| {
        order.insert(0, "-".into());
        order.swap(3, 4);
    });
    of("a word at the end".into(), "a rank for a word that nobody has", natural, 1, |order| order.push("?".into()));
    list
}
