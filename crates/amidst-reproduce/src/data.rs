//! The tables of the experiments: Adult as the papers used it, its stand-in, and synthetic retail orders.

use std::path::Path;

use amidst::core::internal::random::Random;
use amidst::core::table::{Column, Table, ValueType};
use amidst::{Failure, sample};
use sha2::{Digest, Sha256};

use crate::trial::Quasi;

/// Where Adult can be downloaded.
pub const WHERE_TO_GET_IT: &str = "Adult is at https://archive.ics.uci.edu/dataset/2/adult (CC BY 4.0): put adult.data and \
                                   adult.test into one folder and name it with --data";

/// The known versions of Adult: file name and SHA-256.
const TKDD: (&str, &str) = ("adult_tkdd.csv", "a0020fbf143df306c7969ab839446384bf62f3bc67e5b46b9a2777c34e3e049d");
const WHOLE: (&str, &str) = ("adult.csv", "3a4c49f62566e1d82f9038f2a113c6d4424070b401f6edae5e18fb64ddfb78fd");
const TRAIN: (&str, &str) = ("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d");
/// The digest is that of the file without its first line, a comment.
const TEST: (&str, &str) = ("adult.test", "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074");

/// The columns of `adult.data`.
const COLUMNS: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
];
const TRAIN_ROWS: usize = 32_561;

/// The Adult table, or its stand-in.
#[derive(Debug, Clone)]
pub struct Adult {
    /// The rows without unknown values.
    pub table: Table,
    /// The quasi columns in the order of the article's Figure 7, with their hierarchies.
    pub quasi: Vec<Quasi>,
    /// The sensitive column with many values: occupation.
    pub occupation: &'static str,
    /// The sensitive column with two values: salary class.
    pub salary: &'static str,
    /// Whether this is a stand-in.
    pub stand_in: bool,
    /// A description of the table.
    pub words: String,
}

impl Adult {
    /// Adult from a folder: `adult_tkdd.csv`, `adult.csv`, or `adult.data` with `adult.test`.
    ///
    /// # Errors
    /// When the folder has none of them, or a file is not the one that the papers' numbers were found with.
    pub fn read(folder: &Path) -> Result<Adult, Failure> {
        let has = |name: &str| folder.join(name).is_file();
        let (rows, what) = if has(TKDD.0) {
            (of_tkdd(&checked(folder, TKDD)?)?, TKDD.0)
        } else if has(WHOLE.0) {
            let text = checked(folder, WHOLE)?;
            (of_lines(text.lines().skip(1), |row| row < TRAIN_ROWS)?, WHOLE.0)
        } else if has(TRAIN.0) && has(TEST.0) {
            let (train, test) = (checked(folder, TRAIN)?, checked(folder, TEST)?);
            let lines =
                |text: &str| text.lines().filter(|l| !l.trim().is_empty()).map(String::from).collect::<Vec<_>>();
            let (mut all, test) = (lines(&train), lines(&test));
            let rows = all.len();
            all.extend(test);
            (of_lines(all.iter().map(String::as_str), |row| row < rows)?, "adult.data and adult.test")
        } else {
            return Err(Failure::Usage(format!(
                "{} holds neither {}, {} nor {} with {}. {WHERE_TO_GET_IT}",
                folder.display(),
                TKDD.0,
                WHOLE.0,
                TRAIN.0,
                TEST.0
            )));
        };
        let names = [
            "age",
            "sex",
            "race",
            "marital-status",
            "education",
            "native-country",
            "workclass",
            "occupation",
            "salary-class",
            "salary-class-paper",
        ];
        let table = table(&names, &rows);
        let words = format!("Adult ({what}), {} rows without unknown values", table.rows);
        let quasi = ["age", "sex", "race", "marital-status", "education", "native-country", "workclass"]
            .map(|name| Quasi { name: name.into(), hierarchy: Some(hierarchy(&table, name)) });
        let (occupation, salary) = ("occupation", "salary-class-paper");
        Ok(Adult { table, quasi: quasi.to_vec(), occupation, salary, stand_in: false, words })
    }

    /// Synthetic patients in place of Adult: the papers' numbers cannot be reproduced with them, trends may.
    ///
    /// # Errors
    /// When the sample cannot be generated.
    pub fn stand_in() -> Result<Adult, Failure> {
        const ROWS: u64 = 20_000;
        let mut text = Vec::new();
        sample::write(ROWS, 1, &mut text).map_err(|e| Failure::Io(e.to_string()))?;
        let text = String::from_utf8(text).map_err(|e| Failure::Io(e.to_string()))?;
        let at = |row: &[&str], i: usize| row.get(i).map_or(String::new(), |cell| (*cell).to_string());
        // id,age,sex,zip,nationality,occupation,education,diagnosis,cost
        let rows: Vec<Vec<String>> = (text.lines().skip(1))
            .map(|line| line.split(',').collect::<Vec<_>>())
            .map(|row| {
                let dear = at(&row, 8).parse::<u64>().is_ok_and(|cost| cost >= 5_000);
                let cost = if dear { "from 5000" } else { "below 5000" };
                let mut cells: Vec<String> = [1, 2, 4, 3, 6, 5, 7].iter().map(|&i| at(&row, i)).collect();
                cells.push(cost.into());
                cells
            })
            .collect();
        // The names differ from those of Adult's columns whose groups are defined by value.
        let names = ["age", "sex", "nationality", "zip", "schooling", "occupation", "diagnosis", "cost"];
        let table = table(&names, &rows);
        let quasi = ["age", "sex", "nationality", "zip", "schooling", "occupation"]
            .map(|name| Quasi { name: name.into(), hierarchy: Some(hierarchy(&table, name)) });
        let words = format!("a stand-in: {ROWS} made-up patients of `amidst sample --rows {ROWS} --seed 1`");
        Ok(Adult { table, quasi: quasi.to_vec(), occupation: "diagnosis", salary: "cost", stand_in: true, words })
    }

    /// The first `n` quasi columns; all if there are fewer.
    pub fn first(&self, n: usize) -> &[Quasi] {
        &self.quasi[..n.min(self.quasi.len())]
    }

    /// The first `n` quasi columns; age has no hierarchy and is generalized to ranges, for local recoding.
    pub fn local(&self, n: usize) -> Vec<Quasi> {
        let age = |q: &Quasi| Quasi { hierarchy: q.hierarchy.clone().filter(|_| q.name != "age"), ..q.clone() };
        self.first(n).iter().map(age).collect()
    }

    /// `rows` rows drawn without replacement, in their original order.
    pub fn some_rows(&self, rows: usize, seed: u64) -> Table {
        let mut order: Vec<usize> = (0..self.table.rows).collect();
        Random::new(seed).shuffle(&mut order);
        let mut keep = vec![false; self.table.rows];
        order.iter().take(rows).for_each(|&row| keep[row] = true);
        let mut table = self.table.clone();
        table.retain(&keep);
        table.columns.iter_mut().for_each(Column::compact);
        table
    }
}

/// The text of a file, whose SHA-256 must be the expected one.
fn checked(folder: &Path, (name, expected): (&str, &str)) -> Result<String, Failure> {
    let path = folder.join(name);
    let bytes = std::fs::read(&path).map_err(|e| Failure::Io(format!("cannot read {}: {e}", path.display())))?;
    let content = match bytes.iter().position(|&b| b == b'\n').filter(|_| bytes.starts_with(b"|")) {
        Some(end) => &bytes[end + 1..],
        None => &bytes[..],
    };
    let digest: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
    // Some copies of the file end with an empty line.
    let trimmed: &[u8] = content.strip_suffix(b"\n\n").map_or(content, |_| &content[..content.len() - 1]);
    let other: String = Sha256::digest(trimmed).iter().map(|byte| format!("{byte:02x}")).collect();
    if digest != expected && other != expected {
        return Err(Failure::Usage(format!(
            "{} is not the file that is meant: its SHA-256 is {digest}, expected {expected}. {WHERE_TO_GET_IT}",
            path.display()
        )));
    }
    String::from_utf8(content.to_vec()).map_err(|_| Failure::Usage(format!("{} is no text", path.display())))
}

/// The columns of `adult_tkdd.csv` that the experiments use.
fn of_tkdd(text: &str) -> Result<Vec<Vec<String>>, Failure> {
    let cells = |line: &str| {
        let row: Vec<&str> = line.split(',').collect();
        let used = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10].map(|i| row.get(i).map(|c| (*c).to_string()));
        used.into_iter().collect::<Option<Vec<String>>>()
    };
    let rows: Option<Vec<Vec<String>>> = text.lines().skip(1).map(cells).collect();
    rows.ok_or_else(|| Failure::Usage(format!("{} has a line with too few cells", TKDD.0)))
}

/// The same columns from lines in the format of `adult.data`; `train` says which lines are of the training half.
fn of_lines<'a>(
    lines: impl Iterator<Item = &'a str>,
    train: impl Fn(usize) -> bool,
) -> Result<Vec<Vec<String>>, Failure> {
    let place = |name: &str| COLUMNS.iter().position(|c| *c == name).unwrap_or(0);
    let used =
        ["age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"].map(place);
    let mut rows = Vec::new();
    for (number, line) in lines.enumerate() {
        let row: Vec<&str> = line.split(',').map(str::trim).collect();
        if row.len() != COLUMNS.len() {
            return Err(Failure::Usage(format!("row {} of Adult has {} cells, not 15", number + 1, row.len())));
        }
        if row.contains(&"?") {
            continue;
        }
        let label = row[14].trim_end_matches('.');
        let mut cells: Vec<String> = used.iter().map(|&i| row[i].to_string()).collect();
        // The article's labels: those of the test half end with a dot, so none of them counted as above 50K.
        cells.extend([label.to_string(), if train(number) { label } else { "<=50K" }.to_string()]);
        rows.push(cells);
    }
    Ok(rows)
}

/// A table with these columns; age is a number.
fn table(names: &[&str], rows: &[Vec<String>]) -> Table {
    let column = |(i, name): (usize, &&str)| {
        let mut column = Column::from_values(name, rows.iter().map(|row| row[i].as_str()));
        if *name == "age" {
            column.kind = ValueType::Integer;
        }
        column.sort(&[]);
        column
    };
    Table { columns: names.iter().enumerate().map(column).collect(), rows: rows.len() }
}

/// The groups of a value at the levels between the value and `*`.
fn groups(column: &str, value: &str) -> Vec<String> {
    let in_any = |lists: &[(&str, &[&str])]| {
        let found = lists.iter().find(|(_, values)| values.contains(&value));
        found.map_or_else(|| "other".to_string(), |(name, _)| (*name).to_string())
    };
    match column {
        "age" => {
            let age: u64 = value.parse().unwrap_or(0);
            [5, 10, 20].map(|width| format!("{}-{}", age / width * width, age / width * width + width - 1)).to_vec()
        }
        "marital-status" => vec![in_any(&[
            ("married", &["Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent", "Separated"]),
            ("not married", &["Divorced", "Widowed", "Never-married"]),
        ])],
        "education" if value.parse::<u64>().is_err() && EDUCATION.iter().any(|g| g.1.contains(&value)) => {
            let group = in_any(EDUCATION);
            let college =
                if matches!(group.as_str(), "college" | "advanced") { "from college on" } else { "below college" };
            vec![group, college.to_string()]
        }
        "native-country" => vec![in_any(COUNTRY)],
        "workclass" => vec![in_any(&[
            ("private", &["Private"]),
            ("self-employed", &["Self-emp-inc", "Self-emp-not-inc"]),
            ("government", &["Federal-gov", "Local-gov", "State-gov"]),
            ("without pay", &["Without-pay"]),
        ])],
        "zip" => vec![value.chars().take(3).collect::<String>() + "**"],
        _ => Vec::new(),
    }
}

const EDUCATION: &[(&str, &[&str])] = &[
    ("elementary", &["Preschool", "1st-4th", "5th-6th", "7th-8th"]),
    ("secondary", &["9th", "10th", "11th", "12th", "HS-grad"]),
    ("college", &["Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors"]),
    ("advanced", &["Masters", "Prof-school", "Doctorate"]),
];

const COUNTRY: &[(&str, &[&str])] = &[
    ("North America", &["United-States", "Canada", "Outlying-US(Guam-USVI-etc)", "Puerto-Rico"]),
    (
        "Latin America",
        &[
            "Mexico",
            "Honduras",
            "Guatemala",
            "Nicaragua",
            "El-Salvador",
            "Cuba",
            "Jamaica",
            "Dominican-Republic",
            "Haiti",
            "Trinadad&Tobago",
            "Ecuador",
            "Peru",
            "Columbia",
        ],
    ),
    (
        "Western Europe",
        &["England", "Scotland", "Ireland", "Germany", "France", "Italy", "Portugal", "Greece", "Holand-Netherlands"],
    ),
    ("Eastern Europe", &["Poland", "Hungary", "Yugoslavia"]),
    (
        "Asia",
        &[
            "China",
            "Hong",
            "Taiwan",
            "Japan",
            "Philippines",
            "Vietnam",
            "Laos",
            "Cambodia",
            "Thailand",
            "India",
            "Iran",
            "South",
        ],
    ),
];

/// The lines of a column's hierarchy: for each value its groups, then the top.
pub fn hierarchy(table: &Table, name: &str) -> String {
    let values = table.column(name).map(|column| column.dictionary.iter().collect::<Vec<_>>()).unwrap_or_default();
    let lines = values.into_iter().map(|value| {
        let levels = std::iter::once(value.to_string()).chain(groups(name, value)).chain(["*".to_string()]);
        levels.collect::<Vec<_>>().join(";")
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// A synthetic table like the Lands End orders of the article's Figure 8: `rows` orders with the same columns and, as
/// far as the number of rows permits, the same numbers of distinct values; the cost, rounded to hundreds, is in 147
/// buckets.
///
/// Each style has a price and a cost, so that cost follows from style and price; styles, codes and days are skewed.
/// Shipments have a separate generator.
pub fn retail(rows: usize, seed: u64) -> (Table, Vec<Quasi>) {
    let (mut random, mut shipments) = (Random::new(seed), Random::new(seed + 1));
    // The square of a uniform share favours small numbers.
    let mut skewed = |n: usize| {
        let share = random.share();
        ((share * share) * n as f64) as usize
    };
    let lines: Vec<Vec<String>> = (0..rows)
        .map(|_| {
            let zip = 10_000 + skewed(31_953) * 2;
            let day = skewed(320);
            let style = skewed(1_509);
            let price = (style * 7_919) % 346;
            let cost = (price * 147 / 346 + skewed(3)).min(146);
            let gender = if skewed(4) == 0 { "F" } else { "M" };
            vec![
                format!("{zip:05}"),
                format!("{day:03}"),
                gender.to_string(),
                format!("s{style:04}"),
                format!("{:04}", 5 + price * 3),
                "1".to_string(),
                ["ground", "express"][shipments.below(2)].to_string(),
                (cost * 100).to_string(),
            ]
        })
        .collect();
    let names = ["zip", "date", "gender", "style", "price", "quantity", "shipment", "cost"];
    let columns = names.iter().enumerate().map(|(i, name)| {
        let mut column = Column::from_values(name, lines.iter().map(|row| row[i].as_str()));
        column.sort(&[]);
        column
    });
    let table = Table { columns: columns.collect(), rows };
    let levels = |name: &str, value: &str| -> Vec<String> {
        let rounded = |digits: usize| {
            (1..digits).map(|n| value.chars().take(digits - n).collect::<String>() + &"*".repeat(n)).collect::<Vec<_>>()
        };
        match name {
            "zip" => rounded(5),
            "price" => rounded(4),
            "date" => {
                let day: usize = value.parse().unwrap_or(0);
                vec![format!("month {}", day / 30), format!("quarter {}", day / 90)]
            }
            _ => Vec::new(),
        }
    };
    let quasi = names[..7].iter().map(|name| {
        let values = table.column(name).map(|c| c.dictionary.iter().map(String::from).collect::<Vec<_>>());
        let line = |value: &String| {
            let all = std::iter::once(value.clone()).chain(levels(name, value)).chain(["*".to_string()]);
            all.collect::<Vec<_>>().join(";")
        };
        let lines: Vec<String> = values.unwrap_or_default().iter().map(line).collect();
        Quasi { name: (*name).to_string(), hierarchy: Some(lines.join("\n") + "\n") }
    });
    let quasi = quasi.collect();
    (table, quasi)
}

/// The table with an additional column of eight health conditions, drawn at random, as the (l,α) paper adds it to
/// Adult.
pub fn with_health(table: &Table, seed: u64) -> Table {
    let conditions = ["HIV", "Cancer", "Phthisis", "Hepatitis", "Obesity", "Asthma", "Flu", "Indigestion"];
    let mut random = Random::new(seed);
    let drawn: Vec<&str> = (0..table.rows).map(|_| conditions[random.below(conditions.len())]).collect();
    let mut column = Column::from_values("health", drawn);
    column.sort(&[]);
    let mut table = table.clone();
    table.columns.push(column);
    table
}

/// The four categories of those conditions, the most sensitive first.
pub fn health_categories() -> Vec<Vec<String>> {
    [["HIV", "Cancer"], ["Phthisis", "Hepatitis"], ["Obesity", "Asthma"], ["Flu", "Indigestion"]]
        .map(|pair| pair.map(String::from).to_vec())
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_adult_is_refused_with_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let none = Adult::read(folder.path()).unwrap_err();
        assert!(none.to_string().contains("archive.ics.uci.edu"), "{none}");
        std::fs::write(folder.path().join("adult_tkdd.csv"), "age,sex\n1,2\n").unwrap();
        let wrong = Adult::read(folder.path()).unwrap_err();
        assert!(wrong.to_string().contains(TKDD.1) && wrong.exit_code() == 2, "{wrong}");
    }

    #[test]
    fn the_stand_in_and_the_orders_bind_to_their_hierarchies() {
        let adult = Adult::stand_in().unwrap();
        assert!(adult.stand_in);
        crate::trial::Trial::new(&adult.table, &adult.quasi, &[adult.occupation, adult.salary]).unwrap();
        let (table, quasi) = retail(2_000, 1);
        let trial = crate::trial::Trial::new(&table, &quasi, &["cost"]).unwrap();
        let heights: Vec<usize> = trial.generalizations.iter().map(|g| g.height()).collect();
        assert_eq!(heights, [5, 3, 1, 1, 4, 1, 1], "the heights of Figure 8");
    }
}
