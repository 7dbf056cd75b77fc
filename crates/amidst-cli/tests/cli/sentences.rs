//! The first sentences of a report are true: recomputed from the released file, over random tables and policies.

use std::collections::BTreeMap;

use crate::said;
use crate::test_folder::TestFolder;

/// A deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

/// A small table and a policy for it.
fn draw(seed: u64) -> (String, String) {
    let random = &mut Random(seed * 7919 + 17);
    let rows = 20 + random.below(180);
    let (ages, zips, diseases) = (2 + random.below(30), 1 + random.below(6), 1 + random.below(6));
    let wards = 1 + random.below(4);
    let waivers = random.below(3) == 0;
    let number = random.below(4) == 0;
    let raw = random.below(2) == 0;
    let sensitive = random.below(5) > 0;
    let mut header = vec!["age", "zip"];
    header.extend(sensitive.then_some("disease"));
    header.extend(raw.then_some("ward"));
    header.extend(number.then_some("number"));
    header.extend(waivers.then_some("waiver"));
    let mut table = format!("{}\n", header.join(","));
    for row in 0..rows {
        let mut cells = vec![(20 + random.below(ages)).to_string(), format!("1{}", random.below(zips))];
        cells.extend(sensitive.then(|| format!("d{}", random.below(diseases))));
        cells.extend(raw.then(|| format!("w{}", row % wards)));
        cells.extend(number.then(|| row.to_string()));
        cells.extend(waivers.then(|| if random.below(9) == 0 { "yes" } else { "no" }.to_string()));
        table.push_str(&format!("{}\n", cells.join(",")));
    }
    let k = 1 + random.below(6);
    let algorithm = random.pick(&["optimal", "mondrian", "top-down", "systematic"]);
    let mut policy = String::from(
        "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 10] }\n\
         [columns.zip]\nrole = \"quasi\"\nhierarchy = { suppress = true }\n",
    );
    let sections = [
        (sensitive, "[columns.disease]\nrole = \"sensitive\"\n"),
        (raw, "[columns.ward]\nrole = \"insensitive\"\naccept = \"on the door\"\n"),
        (number, "[columns.number]\nrole = \"insensitive\"\naccept = \"asked for\"\n"),
        (waivers, "[columns.waiver]\nrole = \"consent\"\n"),
    ];
    sections.iter().filter(|(there, _)| *there).for_each(|(_, section)| policy.push_str(section));
    let treatment = random.pick(&["drop", "mask"]);
    policy.push_str(&format!(
        "[[require]]\nmodel = \"k-anonymity\"\nk = {k}\n[search]\nalgorithm = \"{algorithm}\"\nsuppressed = \"{treatment}\"\n\
         max_suppression = {}\n",
        random.pick(&["0", "0.2"])
    ));
    (table, policy)
}

#[test]
fn the_first_sentences_are_true_of_every_release() {
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    let mut made = 0;
    for seed in 0..60 {
        let (table, policy) = draw(seed);
        let scratch = TestFolder::new();
        scratch.file("people.csv", &table);
        scratch.file("policy.toml", &policy);
        // Half of the runs print text, the others JSON.
        let how: &[&str] = if seed % 2 == 0 { &[] } else { &["--json"] };
        let run = scratch.amidst(&[&["anonymize", "policy.toml", "--out", "release"], how].concat());
        if run.code == 1 {
            continue;
        }
        assert_eq!(run.code, 0, "{seed}: {}\n{policy}", run.stderr);
        made += 1;
        let kinds = said::judged(&scratch, "release", &run).unwrap_or_else(|wrong| panic!("{seed}: {wrong}\n{policy}"));
        kinds.iter().for_each(|kind| *met.entry(kind).or_default() += 1);
    }
    assert!(made > 30, "{made}");
    for kind in ["row", "columns", "beside", "raw", "waived"] {
        assert!(met.get(kind).is_some_and(|&n| n > 3), "{kind}: {met:?}");
    }
}
