//! Triggers of a connection's own: what watches the state while it is changed, and leaves nothing in the file.
//!
//! The [`seal`](super::seal) counts every row that comes or goes, and [`undo`](super::undo) writes down what reverts
//! it. Both look at all columns of a table, whichever it has.

use rusqlite::Connection;

/// A column of a table, and whether it belongs to the primary key.
pub(super) struct Field {
    pub name: String,
    pub key: bool,
}

/// The columns of a table, in their order.
pub(super) fn fields(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Field>> {
    let mut query = connection.prepare("SELECT name, pk FROM pragma_table_info(?1) ORDER BY cid")?;
    let fields = query.query_map([table], |row| Ok(Field { name: row.get(0)?, key: row.get::<_, i64>(1)? > 0 }))?;
    fields.collect()
}

/// What creates a trigger of `whose` that runs `body` after each `event` on a row of a table, where the condition
/// holds.
pub(super) fn after(whose: &str, event: &str, table: &str, condition: &str, body: &str) -> String {
    format!("CREATE TEMP TRIGGER {whose}_{table}_{event} AFTER {event} ON main.{table} {condition} BEGIN {body} END;\n")
}

/// What drops the triggers of `whose` on a table.
pub(super) fn dropped(whose: &str, table: &str) -> String {
    let drop = |event: &str| format!("DROP TRIGGER IF EXISTS temp.{whose}_{table}_{event};\n");
    ["INSERT", "UPDATE", "DELETE"].map(drop).concat()
}
