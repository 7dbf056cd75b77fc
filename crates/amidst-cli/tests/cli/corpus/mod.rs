//! Tables about people without a description, with what must become of their columns; see `tables.txt`.

pub mod dress;
mod make;
mod walk;

/// What must become of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Absent from the release, or nothing but `*`.
    Gone,
    /// The same, and k counts the people for whom its values stand.
    People,
    /// Every published value is shared by at least five rows.
    Coarse,
    /// In the release.
    Stays,
}

/// A synthetic table.
pub struct Made {
    pub name: String,
    pub rows: usize,
    pub columns: Vec<(String, Fate)>,
    pub csv: String,
}

/// All tables of the corpus.
pub fn tables() -> Vec<Made> {
    let mut tables: Vec<(Vec<&str>, Vec<Vec<&str>>)> = Vec::new();
    for line in include_str!("tables.txt").lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        match line.starts_with(' ') {
            false => tables.push((line.split(' ').collect(), Vec::new())),
            true => tables.last_mut().unwrap().1.push(line.split('|').map(str::trim).collect()),
        }
    }
    tables.iter().map(|(head, columns)| made(head, columns)).collect()
}

fn made(head: &[&str], columns: &[Vec<&str>]) -> Made {
    let (name, language, rows) = (head[0], head[1], head[2].parse().unwrap());
    let quoted = |text: &str| match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    };
    let mut csv = columns.iter().map(|c| quoted(c[1])).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..rows {
        let mut cells: Vec<String> = Vec::new();
        for (c, column) in columns.iter().enumerate() {
            let cell = make::cell(name, language, c, row, column[2], &cells);
            cells.push(cell);
        }
        csv.push_str(&(cells.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(",") + "\n"));
    }
    let fate = |text: &str| match text {
        "gone" => Fate::Gone,
        "people" => Fate::People,
        "coarse" => Fate::Coarse,
        "stays" => Fate::Stays,
        _ => panic!("unknown fate `{text}`"),
    };
    let columns = columns.iter().map(|c| (c[1].to_string(), fate(c[0]))).collect();
    Made { name: name.to_string(), rows, columns, csv }
}
