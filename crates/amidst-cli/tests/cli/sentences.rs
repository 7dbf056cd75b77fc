//! The first sentences of a report are true: recomputed from the released file, over random tables and policies.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::house::House;

/// Numbers that look random, the same every time.
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

/// The rows of a CSV text, cells in quotes included.
fn parse(text: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(std::mem::take(&mut cell)),
                c => cell.push(c),
            }
        }
        cells.push(cell);
        cells
    };
    text.lines().map(cells).collect()
}

/// A released table, and what it says of itself.
struct Release {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    waived: Vec<usize>,
}

impl Release {
    /// The sizes of the groups of rows that agree in these columns; `row` means all.
    fn groups(&self, columns: &str, protected: bool) -> Vec<usize> {
        let names: Vec<&str> = columns.split(", ").flat_map(|part| part.split(" and ")).collect();
        let at: Vec<usize> = match columns {
            "row" => (0..self.header.len()).collect(),
            _ => {
                names.iter().map(|n| self.header.iter().position(|h| h == n).unwrap_or_else(|| panic!("{n}"))).collect()
            }
        };
        let mut groups: BTreeMap<Vec<&String>, usize> = BTreeMap::new();
        for (row, cells) in self.rows.iter().enumerate() {
            if !(protected && self.waived.contains(&row)) {
                *groups.entry(at.iter().map(|&c| &cells[c]).collect()).or_default() += 1;
            }
        }
        groups.into_values().collect()
    }

    fn unique(&self, columns: &str) -> usize {
        self.groups(columns, false).into_iter().filter(|&n| n == 1).count()
    }

    /// Whether "12 of 400 rows (3 %) are unique" and its like is so.
    fn says(&self, found: &str, unique: usize) {
        let rows = self.rows.len();
        let number = |text: &str| text.replace(',', "").parse::<usize>().unwrap();
        match found {
            "no row is" => assert_eq!(unique, 0),
            "the only row is" => assert_eq!((unique, rows), (1, 1)),
            all if all.starts_with("all ") => {
                let said = number(all.trim_start_matches("all ").trim_end_matches(" rows are"));
                assert_eq!((said, unique), (rows, rows));
            }
            some => {
                let (part, rest) = some.split_once(" of ").unwrap();
                assert_eq!((number(part), number(rest.split_once(" rows").unwrap().0)), (unique, rows), "{some}");
            }
        }
    }

    /// Holds a sentence against the rows; whether it was one of those that speak of rows.
    fn check(&self, sentence: &str) -> Option<&'static str> {
        let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
        let number = |text: &str| text.replace(',', "").parse::<usize>().unwrap();
        if let Some((who, rest)) = sentence.split_once(" shares their ") {
            let (columns, others) = rest.rsplit_once(" with at least ").unwrap();
            let others = number(others.split(' ').next().unwrap());
            assert!(matches!(who, "Every person" | "Everyone else"));
            assert_eq!(who == "Everyone else", !self.waived.is_empty());
            let smallest = self.groups(columns, who == "Everyone else").into_iter().min().unwrap();
            assert_eq!(smallest, others + 1, "{sentence}");
            return Some(if columns == "row" { "row" } else { "columns" });
        }
        if let Some((who, columns)) = sentence.split_once(" alone: nobody else has ") {
            let (_, columns) = columns.split_once(" combination of ").unwrap();
            let who = number(who.trim_start_matches("Of the others ").split(' ').next().unwrap());
            let alone = self.groups(columns, true).into_iter().filter(|&n| n == 1).count();
            assert_eq!(alone, who, "{sentence}");
            return Some("columns");
        }
        if let Some((columns, found)) = sentence.strip_prefix("Beside them ").and_then(|s| s.split_once(": with ")) {
            let columns = columns.split(" are published").next().unwrap().split(" is published").next().unwrap();
            let named = columns.split(", ").flat_map(|part| part.split(" and ")).count();
            assert_eq!(named + 2, self.header.len(), "all columns but the quasi ones: {sentence}");
            let found = found.split_once(' ').unwrap().1.trim_end_matches(" unique");
            self.says(found, self.unique("row"));
            return Some("beside");
        }
        if let Some((columns, found)) = sentence.strip_prefix("On ").and_then(|s| s.split_once(" alone ")) {
            self.says(found.trim_end_matches(" unique"), self.unique(columns));
            return Some("raw");
        }
        if let Some((rows, _)) = sentence.split_once(" published unprotected") {
            assert_eq!(number(rows.split(' ').next().unwrap()), self.waived.len());
            return Some("waived");
        }
        None
    }
}

#[test]
fn the_first_sentences_are_true_of_every_release() {
    let mut met: BTreeMap<&str, usize> = BTreeMap::new();
    let mut made = 0;
    for seed in 0..60 {
        let (table, policy) = draw(seed);
        let house = House::new();
        house.file("people.csv", &table);
        house.file("policy.toml", &policy);
        let run = house.amidst(&["anonymize", "policy.toml", "--out", "release"]);
        if run.code == 1 {
            continue;
        }
        assert_eq!(run.code, 0, "{seed}: {}\n{policy}", run.stderr);
        made += 1;
        let mut rows = parse(&house.read("release/public/release.csv"));
        let certificate: Value = serde_json::from_str(&house.read("release/public/certificate.json")).unwrap();
        let waived = certificate["waived"].as_array().unwrap().iter().map(|w| w.as_u64().unwrap() as usize).collect();
        let release = Release { header: rows.remove(0), rows, waived };
        for part in ["public", "internal"] {
            let report: Value = serde_json::from_str(&house.read(&format!("release/{part}/report.json"))).unwrap();
            let said: Vec<&str> = report["summary"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let kinds: Vec<&str> = said.iter().filter_map(|s| release.check(s)).collect();
            kinds.iter().for_each(|kind| *met.entry(kind).or_default() += 1);
            // Either of whole rows, or of columns and then of what stands beside them.
            let others = release.header.len() > 2;
            assert!(kinds.contains(&"row") || !others || kinds.contains(&"beside"), "{seed}: {said:?}");
            let page = house.read(&format!("release/{part}/report.md"));
            assert!(page.contains(&format!("- {}\n", said[0])), "{seed}: {}", said[0]);
            assert!(run.stdout.contains(said[0]), "{seed}: {}", run.stdout);
        }
    }
    assert!(made > 30, "{made}");
    for kind in ["row", "columns", "beside", "raw", "waived"] {
        assert!(met.get(kind).is_some_and(|&n| n > 3), "{kind}: {met:?}");
    }
}
