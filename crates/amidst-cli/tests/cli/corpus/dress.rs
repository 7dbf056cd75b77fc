//! Writes a table in the form in which other programs would write it.

use std::io::Write;

use super::Made;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dress {
    /// Semicolons and Windows-1252, as Excel exports it in much of Europe.
    Windows,
    /// UTF-16 with a byte order mark.
    Utf16,
    /// The nameless first column of R's `write.csv`.
    RowNumbers,
    /// A JSON list of objects.
    Json,
    /// Compressed by zstd.
    Zstd,
    /// A workbook with a second sheet that is smaller.
    Workbook,
    /// No header.
    Headless,
}

pub const DRESSES: [Dress; 7] =
    [Dress::Windows, Dress::Utf16, Dress::RowNumbers, Dress::Json, Dress::Zstd, Dress::Workbook, Dress::Headless];

impl Dress {
    /// The name of the file, and its bytes.
    pub fn of(self, made: &Made) -> (&'static str, Vec<u8>) {
        let rows = || -> Vec<Vec<String>> {
            let mut lines = csv_rows(&made.csv);
            lines.remove(0);
            lines
        };
        let names: Vec<&str> = made.columns.iter().map(|(name, _)| name.as_str()).collect();
        match self {
            Dress::Windows => {
                let all = std::iter::once(names.iter().map(|n| n.to_string()).collect()).chain(rows());
                let text = separated(all, ";");
                let byte = |c: char| if (c as u32) < 256 { c as u8 } else { b'?' };
                // A letter whose bytes differ from UTF-8, independent of the table's content.
                ("data.csv", text.chars().map(byte).collect())
            }
            Dress::Utf16 => {
                let text = format!("\u{feff}{}", made.csv);
                ("data.csv", text.encode_utf16().flat_map(u16::to_le_bytes).collect())
            }
            Dress::RowNumbers => {
                let head = std::iter::once(String::new()).chain(names.iter().map(|n| n.to_string())).collect();
                let numbered =
                    |(i, row): (usize, Vec<String>)| std::iter::once((i + 1).to_string()).chain(row).collect();
                let all = std::iter::once(head).chain(rows().into_iter().enumerate().map(numbered));
                ("data.csv", separated(all, ",").into_bytes())
            }
            Dress::Json => {
                let object = |row: Vec<String>| {
                    let members = names.iter().zip(row).map(|(n, v)| (n.to_string(), serde_json::Value::from(v)));
                    serde_json::Value::Object(members.collect())
                };
                let list: Vec<serde_json::Value> = rows().into_iter().map(object).collect();
                ("data.json", serde_json::to_vec_pretty(&list).unwrap())
            }
            Dress::Zstd => ("data.csv.zst", zstd::encode_all(made.csv.as_bytes(), 3).unwrap()),
            Dress::Workbook => ("data.xlsx", workbook(&names, &rows())),
            Dress::Headless => ("data.csv", separated(rows().into_iter(), ",").into_bytes()),
        }
    }
}

fn separated(rows: impl Iterator<Item = Vec<String>>, separator: &str) -> String {
    let quoted = |cell: &String| match cell.contains([',', ';', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let line = |row: Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(separator) + "\n";
    rows.map(line).collect()
}

/// The rows of a CSV text whose cells hold no line breaks and no quotes.
pub fn csv_rows(csv: &str) -> Vec<Vec<String>> {
    let line = |line: &str| {
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
    csv.lines().map(line).collect()
}

/// A workbook with the table and a sheet of notes.
pub fn workbook(names: &[&str], rows: &[Vec<String>]) -> Vec<u8> {
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let cell = |text: &str| match text.parse::<f64>().is_ok_and(|n| n.to_string() == text) {
        true => format!("<c><v>{text}</v></c>"),
        false if text.is_empty() => "<c/>".to_string(),
        false => format!("<c t=\"inlineStr\"><is><t xml:space=\"preserve\">{}</t></is></c>", escaped(text)),
    };
    let sheet = |rows: &mut dyn Iterator<Item = Vec<String>>| {
        let row = |cells: Vec<String>| format!("<row>{}</row>", cells.iter().map(|c| cell(c)).collect::<String>());
        let space = "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"";
        format!("<worksheet {space}><sheetData>{}</sheetData></worksheet>", rows.map(row).collect::<String>())
    };
    let header = names.iter().map(|n| n.to_string()).collect();
    let table = sheet(&mut std::iter::once(header).chain(rows.iter().cloned()));
    let notes = sheet(&mut [vec!["note".to_string()], vec!["made up".to_string()]].into_iter());
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relation = |id: &str, kind: &str, to: &str| {
        format!("<Relationship Id=\"{id}\" Type=\"{office}/{kind}\" Target=\"{to}\"/>")
    };
    let parts = [
        (
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>".to_string(),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{package}\">{}</Relationships>",
                relation("r1", "officeDocument", "xl/workbook.xml")
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" xmlns:r=\"{office}\"><sheets>\
                 <sheet name=\"Notes\" sheetId=\"1\" r:id=\"r1\"/><sheet name=\"Table\" sheetId=\"2\" r:id=\"r2\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships xmlns=\"{package}\">{}{}</Relationships>",
                relation("r1", "worksheet", "worksheets/sheet1.xml"),
                relation("r2", "worksheet", "worksheets/sheet2.xml")
            ),
        ),
        ("xl/worksheets/sheet1.xml", notes),
        ("xl/worksheets/sheet2.xml", table),
    ];
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        out.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        out.write_all(text.as_bytes()).unwrap();
    }
    out.finish().unwrap().into_inner()
}
