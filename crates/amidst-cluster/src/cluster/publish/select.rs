//! The statement that makes published cells of rows, or of combinations of them with their number.
//!
//! Where every published column was counted, the counted combinations tell the release. Of a table that was gathered
//! the driver knows what they become, and counts the published combinations itself; others are joined with the
//! recoding. Either way each is digested once, however many rows have it. Other columns, and persons, are known of rows
//! only.

use amidst::core::hierarchy::Generalization;
use amidst::policy::Role;

use super::{DIGEST, PERSON, Publishing};
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

    /// What a row, or a combination, becomes.
    pub(super) fn select(&self, joining: &Joining, unit: Unit) -> String {
        let prepared = self.recoded.prepared;
        let policy = self.recoded.policy;
        let mut names = Vec::new();
        let mut published = Vec::new();
        let mut cells = vec![sql::text(&policy.search.seed.to_string())];
        for field in self.read.source.schema.fields() {
            let column = sql::name(field.name());
            let role = policy.column(field.name()).map_or(Role::Identifying, |c| c.role);
            let cell = match role {
                Role::Quasi => {
                    let own = |g: &Generalization| g.name == *field.name();
                    let q = prepared.generalizations.iter().position(own).unwrap_or_default();
                    if unit == Unit::Published { format!("t.{LABEL}{q}") } else { format!("c.l{q}") }
                }
                Role::Sensitive | Role::Insensitive => kept(field, &format!("t.{column}")),
                _ => continue,
            };
            // Each with its length, so that no two rows are joined to one text.
            let text = format!("coalesce(CAST({cell} AS VARCHAR), '')");
            cells.extend([format!("CAST(character_length({text}) AS VARCHAR)"), text]);
            published.push(format!("{cell} AS {column}"));
            names.push(column);
        }
        let digest = format!("arrow_cast(substr(md5(concat_ws('|', {})), 1, 16), 'Utf8')", cells.join(", "));
        published.push(format!("{digest} AS {}", sql::name(DIGEST)));
        names.push(sql::name(DIGEST));
        match unit {
            Unit::Combinations | Unit::Published => {
                let dealt = joining.dealt;
                let rows = if dealt { "c.upto - c.after".to_string() } else { format!("t.{}", sql::name(ROWS)) };
                published.push(format!("{rows} AS {}", sql::name(ROWS)));
                let from = if unit == Unit::Published { "t".to_string() } else { self.combinations(joining) };
                chunks(&names, &format!("SELECT {} FROM {from}", published.join(", ")))
            }
            Unit::Rows => {
                let key = prepared.key.filter(|_| prepared.set.persons).and_then(|k| prepared.table.columns.get(k));
                published.extend(key.map(|key| {
                    let person = format!("t.{}", sql::name(&key.name));
                    format!("coalesce(CAST({person} AS VARCHAR), '') AS {}", sql::name(PERSON))
                }));
                format!("SELECT {} FROM {}", published.join(", "), self.rows(joining))
            }
        }
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
        match joining.among {
            None => format!("t{numbers}{}", joining.joins),
            Some(_) => format!("(SELECT t.*{} FROM t{numbers}) AS t{}", found(joining), joining.joins),
        }
    }

    /// The rows with their labels.
    fn rows(&self, joining: &Joining) -> String {
        let policy = self.recoded.policy;
        let known = sql::filter(&self.read.source.known(policy));
        let numbers = self.numbers(joining);
        if !joining.dealt {
            return format!("t{numbers}{}{known}", joining.joins);
        }
        // Rows that agree are interchangeable; any fixed order of them will do, and that of the other columns is one.
        let keys: Vec<String> = joining.keys.iter().map(|&k| format!("t.{}", self.column(k))).collect();
        let fields = self.read.source.schema.fields().iter();
        let all = fields.filter(|f| policy.column(f.name()).is_some_and(|c| c.role != Role::Identifying));
        let order: Vec<String> = all.map(|f| format!("t.{}", sql::name(f.name()))).collect();
        let (among, found, numbers) = match &joining.among {
            Some(join) => (format!("{numbers}{join}"), found(joining), String::new()),
            None => (String::new(), String::new(), numbers),
        };
        format!(
            "(SELECT t.*{found}, row_number() OVER (PARTITION BY {} ORDER BY {}) AS __amidst_row FROM t{among}{known}) AS \
             t{numbers}{} WHERE t.__amidst_row > c.after AND t.__amidst_row <= c.upto",
            keys.join(", "),
            order.join(", "),
            joining.joins
        )
    }
}

/// The numbers of the deciding columns as columns: they are looked up once and travel on, because a plan twice as deep
/// is refused by the scheduler.
fn found(joining: &Joining) -> String {
    (0..joining.keys.len()).map(|i| format!(", m{i}.g AS {}{i}", Joining::FOUND)).collect()
}

/// Combinations that stand for at most [`CHUNK`] rows each.
fn chunks(names: &[String], combinations: &str) -> String {
    let (names, rows) = (names.join(", "), sql::name(ROWS));
    format!(
        "SELECT {names}, least({rows} - __amidst_first, {CHUNK}) AS {rows} FROM (SELECT {names}, {rows}, unnest(range(0, \
         {rows}, {CHUNK})) AS __amidst_first FROM ({combinations}) AS d) AS e"
    )
}

/// As many rows of `columns` as each combination of `from` stands for, in the order of the combinations.
pub fn expanded(columns: &str, names: &str, from: &str) -> String {
    let rows = sql::name(ROWS);
    format!(
        "SELECT {names} FROM (SELECT {names}, unnest(range(0, {rows})) AS __amidst_turn FROM (SELECT {columns}, {rows} FROM \
         {from}) AS d) AS e"
    )
}
