//! The statement that makes published cells of rows, or of combinations of them with their number.
//!
//! Where every published column was counted, the counted combinations tell the release. Of a table that was gathered
//! the driver knows what they become, and counts the published combinations itself; others are joined with the
//! recoding, and those that are published as the same cells are merged. Either way each is digested once, however many
//! rows have it, and what is written from follows from the published rows alone. Other columns, and persons, are known
//! of rows only.

use std::sync::Arc;

use amidst::core::hierarchy::Generalization;
use amidst::policy::Role;
use datafusion::arrow::datatypes::Field;

use super::{DIGEST, PERSON, Publishing};
use crate::cluster::alias::Aliases;
use crate::cluster::count::ROWS;
use crate::cluster::recode::{Joining, LABEL};
use crate::cluster::sql;
use crate::cluster::typed::kept;

/// What the table `t` of a statement has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The rows of the source.
    Rows,
    /// Their distinct combinations of counted columns, with the number of rows.
    Combinations,
    /// The distinct combinations of published cells, with the number of rows.
    Published,
}

/// The most rows that a combination stands for when it is recoded; more are several. A list of so many numbers is made
/// for each of them when they become rows.
const CHUNK: u64 = 1024;

impl Publishing<'_> {
    /// What the release follows from.
    pub(super) fn unit(&self) -> Unit {
        let role = |name: &str| self.recoded.policy.column(name).map_or(Role::Identifying, |c| c.role);
        let uncounted = self.read.source.schema.fields().iter().any(|f| role(f.name()) == Role::Insensitive);
        match self.read.placement {
            _ if uncounted || self.recoded.prepared.set.persons => Unit::Rows,
            Some(_) => Unit::Combinations,
            None => Unit::Published,
        }
    }

    /// The published columns, and what is in them, in the order of the input.
    fn cells(&self, unit: Unit) -> Vec<(String, String)> {
        let policy = self.recoded.policy;
        let fields = self.read.source.schema.fields().iter();
        let cell = |field: &Arc<Field>| {
            let column = sql::name(field.name());
            let cell = match policy.column(field.name()).map_or(Role::Identifying, |c| c.role) {
                Role::Quasi => {
                    let own = |g: &Generalization| g.name == *field.name();
                    let q = self.recoded.prepared.generalizations.iter().position(own).unwrap_or_default();
                    if unit == Unit::Published { format!("t.{LABEL}{q}") } else { format!("c.l{q}") }
                }
                Role::Sensitive | Role::Insensitive => kept(field, &format!("t.{column}")),
                _ => return None,
            };
            Some((column, cell))
        };
        fields.filter_map(cell).collect()
    }

    /// The digest of published cells.
    fn digest<'a>(&self, cells: impl Iterator<Item = &'a str>) -> String {
        let mut texts = vec![sql::text(&self.recoded.policy.search.seed.to_string())];
        for cell in cells {
            // Each with its length, so that no two rows are joined to one text.
            let text = format!("coalesce(CAST({cell} AS VARCHAR), '')");
            texts.extend([format!("CAST(character_length({text}) AS VARCHAR)"), text]);
        }
        let digest = format!("arrow_cast(substr(md5(concat_ws('|', {})), 1, 16), 'Utf8')", texts.join(", "));
        format!("{digest} AS {}", sql::name(DIGEST))
    }

    /// What rows become, sorted by digest.
    pub(super) fn recoded_rows(&self, joining: &Joining, aliases: &Aliases) -> String {
        let prepared = self.recoded.prepared;
        let cells = self.cells(Unit::Rows);
        let mut published: Vec<String> = cells.iter().map(|(column, cell)| format!("{cell} AS {column}")).collect();
        published.push(self.digest(cells.iter().map(|(_, cell)| cell.as_str())));
        let key = prepared.key.filter(|_| prepared.set.persons).and_then(|k| prepared.table.columns.get(k));
        published.extend(key.map(|key| {
            let person = format!("t.{}", sql::name(&key.name));
            format!("coalesce(CAST({person} AS VARCHAR), '') AS {}", sql::name(PERSON))
        }));
        let rows = self.rows(joining, aliases);
        format!("SELECT {} FROM {rows} ORDER BY {}", published.join(", "), sql::name(DIGEST))
    }

    /// What combinations become, with the number of rows of each.
    pub(super) fn recoded_combinations(&self, joining: &Joining, unit: Unit) -> String {
        let cells = self.cells(unit).into_iter();
        let mut published: Vec<String> = cells.map(|(column, cell)| format!("{cell} AS {column}")).collect();
        let rows = if joining.dealt { "c.upto - c.after".to_string() } else { format!("t.{}", sql::name(ROWS)) };
        published.push(format!("{rows} AS {}", sql::name(ROWS)));
        let from = if unit == Unit::Published { "t".to_string() } else { self.combinations(joining) };
        format!("SELECT {} FROM {from}", published.join(", "))
    }

    /// Recoded combinations, those that are published as the same cells with their rows together: how many they were
    /// must not show in how the release is written.
    pub(super) fn merged(&self, recoded: &str) -> String {
        let (names, rows) = (self.names(), sql::name(ROWS));
        format!("SELECT {names}, sum({rows}) AS {rows} FROM ({recoded}) AS c GROUP BY {names}")
    }

    /// Distinct published combinations, each as several that stand for at most [`CHUNK`] rows, sorted by digest.
    pub(super) fn chunks(&self, distinct: &str) -> String {
        let (names, digest, rows) = (self.names(), sql::name(DIGEST), sql::name(ROWS));
        let cells = self.cells(Unit::Published);
        let digested = self.digest(cells.iter().map(|(column, _)| column.as_str()));
        format!(
            "SELECT {names}, {digest}, least({rows} - __amidst_first, {CHUNK}) AS {rows} FROM (SELECT {names}, {digest}, \
             {rows}, unnest(range(0, {rows}, {CHUNK})) AS __amidst_first FROM (SELECT {names}, {digested}, {rows} FROM \
             ({distinct}) AS c) AS d) AS e ORDER BY {digest}, {rows} DESC"
        )
    }

    /// The names of the published columns.
    fn names(&self) -> String {
        let names: Vec<String> = self.cells(Unit::Published).into_iter().map(|(column, _)| column).collect();
        names.join(", ")
    }

    /// The name of a column of the prepared table.
    fn column(&self, position: usize) -> String {
        sql::name(&self.recoded.prepared.table.columns[position].name)
    }

    /// The joins that look the numbers of the deciding columns up.
    fn numbers(&self, joining: &Joining) -> String {
        let number = |(i, &position): (usize, &usize)| {
            format!(" JOIN m{i} ON t.{} IS NOT DISTINCT FROM m{i}.v", self.column(position))
        };
        joining.keys.iter().enumerate().map(number).collect()
    }

    /// The combinations with their labels. Those that are dealt out have a line for each class that they go to.
    fn combinations(&self, joining: &Joining) -> String {
        let numbers = self.numbers(joining);
        match joining.dealt {
            false => format!("t{numbers}{}", joining.joins),
            true => format!("(SELECT t.*{} FROM t{numbers}) AS t{}", found(joining), joining.joins),
        }
    }

    /// The rows with their labels.
    fn rows(&self, joining: &Joining, aliases: &Aliases) -> String {
        let policy = self.recoded.policy;
        let fields = self.read.source.schema.fields().iter();
        let read: Vec<&str> = fields
            .filter(|f| policy.column(f.name()).is_some_and(|c| c.role != Role::Identifying))
            .map(|f| f.name().as_str())
            .collect();
        let mut known = sql::filter(&self.read.source.known(policy));
        let mut t = "t".to_string();
        if !aliases.is_empty() {
            t = aliases.replaced(read.iter().copied(), &known);
            known.clear();
        }
        let numbers = self.numbers(joining);
        if !joining.dealt {
            return format!("{t}{numbers}{}{known}", joining.joins);
        }
        // Rows that agree are interchangeable; any fixed order of them will do, and that of their cells is one. They
        // agree in the numbers of their cells, of which several may have one, such as zeros with and without a sign.
        let keys: Vec<String> = (0..joining.keys.len()).map(|i| format!("m{i}.g")).collect();
        let order: Vec<String> = read.iter().map(|name| format!("t.{}", sql::name(name))).collect();
        let among = joining.among.as_deref().unwrap_or_default();
        format!(
            "(SELECT t.*{}, row_number() OVER (PARTITION BY {} ORDER BY {}) AS __amidst_row FROM {t}{numbers}{among}{known}) \
             AS t{} WHERE t.__amidst_row > c.after AND t.__amidst_row <= c.upto",
            found(joining),
            keys.join(", "),
            order.join(", "),
            joining.joins
        )
    }
}

/// The numbers of the deciding columns as columns: they are looked up once and travel on to where rows are dealt out,
/// because a plan twice as deep is refused by the scheduler.
fn found(joining: &Joining) -> String {
    (0..joining.keys.len()).map(|i| format!(", m{i}.g AS {}{i}", Joining::FOUND)).collect()
}

/// As many rows of `columns` as each combination of `from` stands for, in the order of the combinations.
pub fn expanded(columns: &str, names: &str, from: &str) -> String {
    let rows = sql::name(ROWS);
    format!(
        "SELECT {names} FROM (SELECT {names}, unnest(range(0, {rows})) AS __amidst_turn FROM (SELECT {columns}, {rows} FROM \
         {from}) AS d) AS e"
    )
}
