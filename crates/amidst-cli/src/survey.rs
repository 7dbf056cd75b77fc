//! The text output of `amidst audit` for a table without a policy.

use amidst::audit::{SetRisk, Survey};
use amidst::words::counted;

use crate::terminal::{heading, table, thousands};

/// Maximum number of columns listed.
const COLUMNS: usize = 20;

/// Maximum number of sets listed.
const SETS: usize = 10;

/// The result as text.
pub fn text(found: &Survey) -> String {
    let share = |n: u64| format!("{:.1} %", 100.0 * n as f64 / found.rows.max(1) as f64);
    let mut lines =
        vec![heading(format!("{}, {}", counted(found.rows, "row"), counted(found.columns.len() as u64, "column")))];
    let head = ["column", "probably", "distinct", "of rows", "alone", "of rows"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for c in found.columns.iter().take(COLUMNS) {
        let role = c.role.name().to_string();
        rows.push(vec![
            c.name.clone(),
            role,
            thousands(c.distinct),
            share(c.distinct),
            thousands(c.uniques),
            share(c.uniques),
        ]);
    }
    lines.extend([String::new(), table(&rows)]);
    if let Some(more) = found.columns.len().checked_sub(COLUMNS).filter(|n| *n > 0) {
        lines.push(format!("and {more} more columns that single out fewer people"));
    }
    lines.extend([String::new(), sets(found, &share)]);
    lines.extend([String::new(), scores(found, &share), String::new(), "Next:".to_string()]);
    lines.extend((1..).zip(&found.next).map(|(i, next): (u32, &String)| format!("{i}. {next}")));
    lines.join("\n")
}

fn sets(found: &Survey, share: &dyn Fn(u64) -> String) -> String {
    let mut rows = vec![["columns together", "combinations", "alone", "of rows"].map(String::from).to_vec()];
    let told: Vec<&SetRisk> = [2, 3]
        .into_iter()
        .flat_map(|n| found.sets.iter().filter(move |s| s.columns.len() == n).take(SETS / 2))
        .collect();
    for s in told {
        rows.push(vec![s.columns.join(" + "), thousands(s.distinct), thousands(s.uniques), share(s.uniques)]);
    }
    let mut text = table(&rows);
    if !found.not_considered.is_empty() {
        text.push_str(&format!(
            "\nput together: {}; left aside, so that it stays quick: {}",
            found.considered.join(", "),
            found.not_considered.join(", ")
        ));
    }
    text
}

fn scores(found: &Survey, share: &dyn Fn(u64) -> String) -> String {
    let suda = &found.suda;
    let mut rows = vec![vec!["minimal sample uniques (SUDA2)".to_string(), String::new()]];
    for (size, n) in (1..).zip(&suda.by_size) {
        let of: u32 = size;
        rows.push(vec![format!("of {of} column{}", if of == 1 { "" } else { "s" }), thousands(*n)]);
    }
    let singled = format!("{} ({})", thousands(suda.singled_out), share(suda.singled_out));
    rows.push(vec![format!("rows with one of up to {} columns", suda.max_size), singled]);
    rows.push(vec!["score of a row, mean and highest".to_string(), format!("{:.1}, {:.0}", suda.mean, suda.highest)]);
    let named: Vec<String> =
        suda.contributions.iter().take(5).map(|(name, share)| format!("{name} {:.0} %", 100.0 * share)).collect();
    rows.push(vec!["columns that contribute most".to_string(), named.join(", ")]);
    let top: Vec<String> = suda.rows.iter().take(5).map(|(row, score)| format!("{row} ({score:.0})")).collect();
    rows.push(vec!["rows most at risk, with scores".to_string(), top.join(", ")]);
    table(&rows)
}
