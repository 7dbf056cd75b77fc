//! Without a stated algorithm the best of several is published, reported in one line, and no column is only stars.

use serde_json::Value;

use crate::corpus;
use crate::test_folder::TestFolder;

/// The losses of the algorithms that competed, by id.
fn losses(told: &Value) -> Vec<(String, f64)> {
    let all = told["compared"]["algorithms"].as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|a| Some((a["algorithm"].as_str()?.to_string(), a["cost"].as_f64()?))).collect()
}

#[test]
fn drafts_lose_at_most_half_of_what_one_coding_a_column_loses() {
    let (mut default, mut one_coding, mut starred) = (0.0, 0.0, Vec::new());
    for made in corpus::tables() {
        let scratch = TestFolder::new();
        scratch.file("data.csv", &made.csv);
        assert_eq!(scratch.amidst(&["init", "data.csv"]).code, 0, "{}", made.name);
        let told = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--json"]).json(0);
        let losses = losses(&told);
        let published = told["compared"]["published"].as_str().unwrap_or_default();
        assert_eq!(told["algorithm"].as_str(), Some(published), "{}", made.name);
        let loss = |id: &str| losses.iter().find(|l| l.0 == id).map(|l| l.1);
        let Some(own) = loss(published) else { panic!("{}: {told}", made.name) };
        // What keeps something of every column may lose more, and says how much the least is.
        let least = told["compared"]["least"].as_f64().unwrap_or(own);
        assert!(least <= own && losses.iter().all(|l| least <= l.1 + 1e-9), "{}: {losses:?}", made.name);
        // Where no single coding satisfies the policy it would have cost everything.
        default += own;
        one_coding += loss("optimal").unwrap_or(1.0);
        let release = scratch.path("out/public/release.csv");
        let release = amidst::io::read(release.to_str().unwrap(), &amidst::io::ReadOptions::default()).unwrap().table;
        let policy = scratch.read("policy.toml");
        let stars = release.columns.iter().filter(|c| c.dictionary.iter().all(|v| v == "*"));
        // A draft may have to replace its only quasi column by `*`, and says so. Where all rows must be equal, as for
        // five people with k = 5, a column without an order in which one person differs becomes `*`.
        let forced = policy.contains("released as *") || told["classes"] == 1;
        starred.extend(stars.filter(|_| !forced).map(|c| format!("{}: {}", made.name, c.name)));
    }
    assert!(default <= 0.5 * one_coding && starred.is_empty(), "{default} against {one_coding}; {starred:?}");
}

/// A number below `of` that follows from a row and a column alone.
fn drawn(row: u32, column: u32, of: u32) -> u32 {
    let x = (row * 64 + column + 1).wrapping_mul(2_654_435_761);
    let x = (x ^ x >> 15).wrapping_mul(2_246_822_519);
    (x ^ x >> 13) % of
}

#[test]
fn drafts_of_small_tables_with_codes_from_anywhere_keep_something_of_every_column() {
    let jobs = ["clerk", "nurse", "cook", "driver", "baker", "judge"];
    for (rows, seed) in [(30, 0), (45, 1), (60, 2), (80, 3), (120, 4), (200, 5)] {
        let scratch = TestFolder::new();
        let mut text = String::from("postcode,age,sex,job,born,weight,diagnosis\n");
        for row in 0..rows {
            let draw = |column: u32, of: u32| drawn(row + 1_000 * seed, column, of);
            text += &format!(
                "{:05},{},{},{},{}-{:02}-{:02},{}.{},{}\n",
                1_000 + draw(0, 99_000),
                18 + draw(1, 70),
                ["f", "m"][draw(2, 2) as usize],
                jobs[draw(3, 6) as usize],
                1940 + draw(4, 60),
                1 + draw(5, 12),
                1 + draw(6, 28),
                50 + draw(7, 60),
                draw(8, 10),
                ["flu", "cold", "asthma", "gout"][draw(9, 4) as usize]
            );
        }
        scratch.file("data.csv", &text);
        assert_eq!(scratch.amidst(&["init", "data.csv"]).code, 0);
        let told = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--json"]).json(0);
        let release = scratch.read("out/public/release.csv");
        assert!(starred(&release).is_empty(), "{rows} rows: {:?}, {}", starred(&release), told["compared"]);
        assert!(told["compared"]["starred"].is_null(), "{rows} rows: {}", told["compared"]);
        assert_eq!(scratch.amidst(&["verify", "out", "--policy", "policy.toml"]).code, 0, "{rows} rows");
        // One style of ranges.
        let open = release.lines().skip(1).filter(|line| line.contains('[') && !line.contains(']')).count();
        assert_eq!(open, 0, "{rows} rows: {release}");
    }
}

/// A cell of a random table: what kind of column it is follows from the table and the column.
fn random_cell(table: u32, row: u32, column: u32) -> String {
    let draw = |way: u32, of: u32| drawn(row + 5_000 * table, 8 * column + way, of);
    // Every other table has columns that follow from one another.
    let person = |of: u32| if table.is_multiple_of(2) { drawn(row + 5_000 * table, 999, of) } else { draw(0, of) };
    match drawn(table, 700 + column, 9) {
        0 => (18 + person(70)).to_string(),
        1 => format!("{:05}", 10_000 + draw(0, 90_000)),
        2 => ["oak", "elm", "ash", "fir", "yew"][person(5) as usize].to_string(),
        3 => format!("{}-{:02}-{:02}", 1940 + person(60), 1 + draw(1, 12), 1 + draw(2, 28)),
        4 => format!("{}.{}", 50 + person(60), draw(1, 10)),
        5 => ["north", "south", "east", "west", "centre", "coast", "hills"][draw(0, 7) as usize].to_string(),
        6 => (1 + draw(0, 6)).to_string(),
        7 => format!("{}{:02}", ["12", "13", "27", "80"][person(4) as usize], draw(1, 100)),
        _ => ["yes", "no"][usize::from(draw(0, 5) == 0)].to_string(),
    }
}

#[test]
fn drafts_of_random_tables_lose_half_and_keep_something_of_every_column() {
    let (mut default, mut one_coding) = (0.0, 0.0);
    for table in 0..24u32 {
        let (rows, columns) = (40 + drawn(table, 500, 260), 2 + drawn(table, 501, 7));
        let scratch = TestFolder::new();
        let names: Vec<String> = (0..columns).map(|c| format!("c{c}")).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..rows {
            text += &((0..columns).map(|c| random_cell(table, row, c)).collect::<Vec<_>>().join(",") + "\n");
        }
        scratch.file("data.csv", &text);
        assert_eq!(scratch.amidst(&["init", "data.csv"]).code, 0, "table {table}");
        let told = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--json"]).json(0);
        default += told["metrics"]["gcp"].as_f64().unwrap();
        one_coding += losses(&told).iter().find(|l| l.0 == "optimal").map_or(1.0, |l| l.1);
        let stars = starred(&scratch.read("out/public/release.csv"));
        assert!(stars.is_empty(), "table {table}: {stars:?} of {rows} rows, {columns} columns: {}", told["compared"]);
        assert_eq!(scratch.amidst(&["verify", "out", "--policy", "policy.toml"]).code, 0, "table {table}");
    }
    assert!(default <= 0.5 * one_coding, "{default} against {one_coding}");
}

#[test]
fn a_column_of_which_nothing_can_be_kept_is_named() {
    let scratch = TestFolder::new();
    let mut text = String::from("age,word\n");
    // Nobody shares a word, and there is nothing between a word and `*`.
    (0..40).for_each(|i| text += &format!("{},w{}\n", 20 + drawn(i, 0, 50), i));
    scratch.file("d.csv", &text);
    let policy = "[data]\ninput = \"d.csv\"\n[columns.age]\nrole = \"quasi\"\ngeneralize = \"ranges\"\n\
                  [columns.word]\nrole = \"quasi\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n";
    scratch.file("p.toml", policy);
    let run = scratch.amidst(&["anonymize", "p.toml", "--out", "out"]);
    let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("no release was found that keeps something of word"), "{said} {}", run.stderr);
    let told = scratch.amidst(&["anonymize", "p.toml", "--out", "again", "--json"]).json(0);
    assert_eq!(told["compared"]["starred"], serde_json::json!(["word"]));
}

/// A sample of `rows` patients with its policy.
fn sample(rows: &str) -> TestFolder {
    let scratch = TestFolder::new();
    assert_eq!(scratch.amidst(&["sample", "--rows", rows, "--out", "patients.csv", "--policy", "p.toml"]).code, 0);
    scratch
}

/// The same, with `line` in a section of the policy.
fn sampled(rows: &str, section: &str, line: &str) -> TestFolder {
    let scratch = sample(rows);
    let policy = scratch.read("p.toml").replace(section, &format!("{section}\n{line}"));
    scratch.file("p.toml", &policy);
    scratch
}

#[test]
fn the_choice_is_told_and_can_be_fixed() {
    let scratch = sample("400");
    let run = scratch.amidst(&["anonymize", "p.toml", "--out", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for said in
        ["one coding for the whole column (optimal): 0.", "local (mondrian): 0.", "published", "fixes the choice"]
    {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    let told = scratch.amidst(&["anonymize", "p.toml", "--out", "again", "--json"]).json(0);
    let winner = told["algorithm"].as_str().unwrap();
    let fixed =
        scratch.read("p.toml").replace("[search]", &format!("[search]\nalgorithm = \"{winner}\"\nmetric = \"gcp\""));
    scratch.file("fixed.toml", &fixed);
    assert_eq!(scratch.amidst(&["anonymize", "fixed.toml", "--out", "fixed"]).code, 0);
    assert_eq!(scratch.read("out/public/release.csv"), scratch.read("fixed/public/release.csv"));
    // The losses of the others depend on the input, so only the owner may see them.
    for file in scratch.files("out/public") {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("one coding for the whole column"), "{}", file.display());
    }
    assert!(scratch.read("out/internal/report.json").contains("one coding for the whole column"));
}

/// The columns of a release that are `*` in every row.
fn starred(release: &str) -> Vec<String> {
    // Lists of values are quoted, and their commas part no cells.
    let cells = |line: &str| -> Vec<String> {
        let mut quoted = false;
        let parts = line.split(|c: char| {
            quoted ^= c == '"';
            c == ',' && !quoted
        });
        parts.map(str::to_string).collect()
    };
    let rows: Vec<Vec<String>> = release.lines().map(cells).collect();
    let all = |c: &usize| rows[1..].iter().all(|row| row[*c] == "*");
    (0..rows[0].len()).filter(all).map(|c| rows[0][c].clone()).collect()
}

#[test]
fn no_column_is_lost_where_a_little_more_loss_keeps_it() {
    let scratch = TestFolder::new();
    let mut text = String::from("age,zip,sex,job,edu\n");
    for i in 0..120u32 {
        let part = |column: u32, of: u32| drawn(i, column - 1, of);
        let (age, zip, sex) = (18 + part(1, 60), 10_000 + part(2, 80_000), ["f", "m"][part(3, 2) as usize]);
        text += &format!("{age},{zip},{sex},j{},e{}\n", part(4, 12), part(5, 6));
    }
    scratch.file("d.csv", &text);
    let policy = |search: &str, zip: &str| {
        let column = |name: &str, more: &str| format!("[columns.{name}]\nrole = \"quasi\"\n{more}\n");
        let all = [
            column("age", "generalize = \"ranges\""),
            column("zip", &format!("hierarchy = {{ mask = {{ length = 5 }} }}\n{zip}")),
            column("sex", ""),
            column("job", ""),
            column("edu", ""),
        ];
        let all = all.concat();
        format!("[data]\ninput = \"d.csv\"\n{all}[[require]]\nmodel = \"k-anonymity\"\nk = 5\n[search]\n{search}\n")
    };
    scratch.file("plain.toml", &policy("algorithm = \"portfolio\"", ""));
    assert_eq!(scratch.amidst(&["anonymize", "plain.toml", "--out", "plain"]).code, 0);
    scratch.file("p.toml", &policy("", ""));
    let told = scratch.amidst(&["anonymize", "p.toml", "--out", "out", "--json"]).json(0);
    let [plain, kept] = ["plain", "out"].map(|name| scratch.read(&format!("{name}/public/release.csv")));
    assert_eq!((starred(&plain), starred(&kept)), (vec!["zip".to_string()], Vec::new()), "{told}");
    let [own, least] = [&told["metrics"]["gcp"], &told["compared"]["least"]].map(|loss| loss.as_f64().unwrap());
    assert!(least < own && own < 1.2 * least, "{own} instead of {least}");
    let said = scratch.amidst(&["anonymize", "p.toml", "--out", "again"]).stdout;
    assert!(said.contains("with a column that is * in every row"), "{said}");
    assert_eq!(scratch.amidst(&["verify", "out", "--policy", "p.toml"]).code, 0);
    // Where rows cannot be recoded apart, weights do it, and the line that says so can be followed.
    let masking = "suppressed = \"mask\"";
    scratch.file("w.toml", &policy(masking, ""));
    let told = scratch.amidst(&["anonymize", "w.toml", "--out", "weighted", "--json"]).json(0);
    let kept = scratch.read("weighted/public/release.csv");
    assert!(starred(&kept).is_empty(), "{told}");
    let weight = told["compared"]["weights"]["zip"].as_f64().unwrap();
    let said = scratch.amidst(&["anonymize", "w.toml", "--out", "weighted-again"]).stdout;
    assert!(said.contains(&format!("`weight = {weight}` under [columns.zip]")), "{said}");
    let algorithm = format!("algorithm = \"{}\"\nmetric = \"gcp\"\n{masking}", told["algorithm"].as_str().unwrap());
    scratch.file("fixed.toml", &policy(&algorithm, &format!("weight = {weight}")));
    assert_eq!(scratch.amidst(&["anonymize", "fixed.toml", "--out", "fixed"]).code, 0);
    assert_eq!(scratch.read("fixed/public/release.csv"), kept);
}

#[test]
fn a_metric_of_full_domain_recodings_alone_decides_among_them() {
    let scratch = sampled("300", "[search]", "metric = \"height\"");
    let told = scratch.amidst(&["anonymize", "p.toml", "--out", "out", "--json"]).json(0);
    assert_eq!(told["algorithm"], "optimal");
    let local = told["compared"]["algorithms"].as_array().unwrap().iter().find(|a| a["algorithm"] == "mondrian");
    assert!(local.unwrap()["unsuited"].as_str().unwrap().contains("`height`"), "{told}");
}

#[test]
fn cells_are_suppressed_one_by_one_and_checked() {
    let scratch = sampled("500", "[search]", "algorithm = \"cell-suppression\"");
    let told = scratch.amidst(&["anonymize", "p.toml", "--out", "out", "--json"]).json(0);
    assert!(told["levels"].is_object(), "{told}");
    let cells: u64 = told["suppressed_cells"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert!(cells > 0, "{told}");
    assert_eq!(scratch.amidst(&["verify", "out"]).code, 0);
    assert_eq!(scratch.amidst(&["verify", "out", "--policy", "p.toml"]).code, 0);
}

#[test]
fn classes_can_be_published_as_one_value_each() {
    let scratch = sampled("500", "[output]", "values = \"representative\"");
    let run = scratch.amidst(&["anonymize", "p.toml", "--out", "out", "--json"]);
    let told = run.json(0);
    assert_eq!(scratch.amidst(&["verify", "out"]).code, 0);
    let read = |path: &str| {
        let path = scratch.path(path);
        amidst::io::read(path.to_str().unwrap(), &amidst::io::ReadOptions::default()).unwrap().table
    };
    let (release, original) = (read("out/public/release.csv"), read("patients.csv"));
    let ages = original.column("age").unwrap();
    let counts = ages.counts();
    for value in release.column("age").unwrap().dictionary.iter().filter(|v| v.parse::<u32>().is_ok()) {
        let code = ages.dictionary.code(value).unwrap_or_else(|| panic!("{value} is nobody's age"));
        assert!(counts[code as usize] >= 5, "only {} people are {value}", counts[code as usize]);
    }
    let whole = release.column("age").unwrap().dictionary.iter().filter(|v| v.parse::<u32>().is_ok()).count();
    assert!(whole > 5, "{told}");
    // Classes are counted from the published cells.
    let mut seen = std::collections::BTreeSet::new();
    for row in 0..release.rows {
        let quasi = release.columns.iter().filter(|c| c.name != "diagnosis");
        seen.insert(quasi.map(|c| c.value(row).to_string()).collect::<Vec<_>>());
    }
    assert_eq!(told["classes"].as_u64(), Some(seen.len() as u64));
    let compared = scratch.amidst(&["verify", "out", "--policy", "p.toml"]);
    assert!(compared.code == 2 && compared.stderr.contains("stand for classes"), "{}", compared.stderr);
}

/// Amounts and days that nobody shares stay numbers and days, and are nobody's.
#[test]
fn numbers_stay_numbers_where_nobody_shares_a_value() {
    let scratch = TestFolder::new();
    let row = |i: usize| {
        let (day, cents) = (i * 7919 % 9000, i * 48_271 % 700_001);
        let born = format!("{}-{:02}-{:02}", 1940 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
        format!("{born},{}.{:02},{}\n", 1000 + cents / 100, cents % 100, ["flu", "gout", "cold"][i % 3])
    };
    scratch.file("people.csv", &(0..400).map(row).fold("born,paid,illness\n".to_string(), |all, row| all + &row));
    let policy = "[data]\ninput = \"people.csv\"\n[columns.born]\nrole = \"quasi\"\nhierarchy = { dates = [\"year\", \"decade\"] }\n\
                  [columns.paid]\nrole = \"quasi\"\nhierarchy = { intervals = [500, 1000] }\ngeneralize = \"ranges\"\n\
                  [columns.illness]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n\
                  [output]\nvalues = \"representative\"\n";
    for ranges in ["label", "rounded", "midpoint"] {
        scratch.file("p.toml", &format!("{policy}ranges = \"{ranges}\"\n"));
        assert_eq!(scratch.amidst(&["anonymize", "p.toml", "--out", "out", "--force"]).code, 0);
        assert_eq!(scratch.amidst(&["verify", "out"]).code, 0);
        let read = |path: &str| {
            let path = scratch.path(path);
            amidst::io::read(path.to_str().unwrap(), &amidst::io::ReadOptions::default()).unwrap().table
        };
        let (release, original) = (read("out/public/release.csv"), read("people.csv"));
        assert_eq!(release.rows, 400);
        for (name, kind) in
            [("born", amidst::core::table::ValueType::Date), ("paid", amidst::core::table::ValueType::Integer)]
        {
            let published = release.column(name).unwrap();
            let guessed = amidst::core::table::ValueType::guess(published.dictionary.iter());
            assert_eq!(guessed, kind, "{name}: {:?}", published.dictionary.iter().collect::<Vec<_>>());
            let own = |value: &&str| original.column(name).unwrap().dictionary.code(value).is_some();
            assert_eq!(published.dictionary.iter().find(own), None, "{name} is somebody's");
            assert!(published.dictionary.len() > 3, "{name}");
        }
    }
}

#[test]
fn ranges_can_be_published_as_their_middle() {
    let scratch = sampled("500", "[output]", "ranges = \"midpoint\"");
    assert_eq!(scratch.amidst(&["anonymize", "p.toml", "--out", "out"]).code, 0);
    assert_eq!(scratch.amidst(&["verify", "out"]).code, 0);
    let release = scratch.path("out/public/release.csv");
    let release = amidst::io::read(release.to_str().unwrap(), &amidst::io::ReadOptions::default()).unwrap().table;
    let ages = &release.column("age").unwrap().dictionary;
    assert!(ages.len() > 2 && ages.iter().all(|age| !age.contains('[')), "{:?}", ages.iter().collect::<Vec<_>>());
    scratch.file("wrong.toml", &scratch.read("p.toml").replace("midpoint", "middle"));
    let wrong = scratch.amidst(&["check", "wrong.toml"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("midpoint"), "{}", wrong.stderr);
}
