//! The Adult table and its hierarchies, read with nothing but the standard library. The files have no quotes.

use std::path::PathBuf;

use amidst_core::hierarchy::{self, Generalization, Recipe};
use amidst_core::parameter::Value;
use amidst_core::table::{Column, Table};

/// The folder with the data; `None` where it is not to be found.
pub fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/adult"));
    folder.is_dir().then_some(folder)
}

/// The first `limit` rows of a file in the folder that hold no `?`.
pub fn read(file: &str, limit: usize) -> Option<Table> {
    let text = std::fs::read_to_string(folder()?.join(file)).ok()?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next()?.split(',').collect();
    let rows: Vec<Vec<&str>> =
        lines.map(|l| l.split(',').collect::<Vec<_>>()).filter(|r| !r.contains(&"?")).take(limit).collect();
    let columns = names.iter().enumerate().map(|(c, n)| Column::from_values(n, rows.iter().map(|r| r[c]))).collect();
    Some(Table { columns, rows: rows.len() })
}

/// The quasi columns of a table bound to the hierarchies of a sub-folder, with their positions.
pub fn quasi(table: &Table, hierarchies: &str, names: &[&str]) -> Option<(Vec<usize>, Vec<Generalization>)> {
    let folder = folder()?.join(hierarchies);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|e| e.to_string());
    let mut bound = (Vec::new(), Vec::new());
    for name in names {
        let position = table.position(name)?;
        let column = &table.columns[position];
        let keys = [("file".to_string(), Value::Text(format!("{name}.csv")))];
        let hierarchy = hierarchy::build(&Recipe { table: &keys, read: &read, missing: &[] }, column).ok()?;
        bound.0.push(position);
        bound.1.push(Generalization::bind(column, Some(&hierarchy)).ok()?);
    }
    Some(bound)
}
