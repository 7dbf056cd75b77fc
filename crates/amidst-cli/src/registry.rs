//! `amidst models | algorithms | metrics | attacks | hierarchies`: lists the registries, as a table or JSON.

use amidst::core::hierarchy::{BUILDERS, Builder};
use amidst::core::{algorithm::ALGORITHMS, attack::ATTACKS, metric::METRICS, model::MODELS};
use amidst::utility::MEASURES;
use clap::Args;
use serde_json::{Value, json};

use crate::terminal::{CommandResult, Outcome, Terminal, table};

/// Options of a registry listing.
#[derive(Debug, Args)]
pub struct List {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// One line of a listing.
struct Line {
    id: &'static str,
    definition: &'static str,
    citation: &'static str,
    parameters: Vec<&'static str>,
}

impl List {
    /// `amidst models`.
    pub fn models(&self, terminal: &Terminal) -> CommandResult {
        let lines = MODELS.iter().map(|m| Line {
            id: m.id,
            definition: m.definition,
            citation: m.citation,
            parameters: m.parameters.iter().map(|p| p.name).collect(),
        });
        self.print(terminal, "models", lines.collect())
    }

    /// `amidst algorithms`.
    pub fn algorithms(&self, terminal: &Terminal) -> CommandResult {
        let lines = ALGORITHMS.iter().map(|a| Line {
            id: a.id,
            definition: a.definition,
            citation: a.citation,
            parameters: Vec::new(),
        });
        self.print(terminal, "algorithms", lines.collect())
    }

    /// `amidst metrics`.
    pub fn metrics(&self, terminal: &Terminal) -> CommandResult {
        let line = |id, definition, citation| Line { id, definition, citation, parameters: Vec::new() };
        let metrics = METRICS.iter().map(|m| line(m.id, m.definition, m.citation));
        let lines = metrics.chain(MEASURES.iter().map(|m| line(m.id, m.definition, m.citation)));
        self.print(terminal, "metrics", lines.collect())
    }

    /// `amidst attacks`.
    pub fn attacks(&self, terminal: &Terminal) -> CommandResult {
        let lines = ATTACKS.iter().map(|a| Line {
            id: a.id,
            definition: a.definition,
            citation: a.citation,
            parameters: a.parameters.iter().map(|p| p.name).collect(),
        });
        self.print(terminal, "attacks", lines.collect())
    }

    /// `amidst hierarchies`.
    pub fn hierarchies(&self, terminal: &Terminal) -> CommandResult {
        if self.json {
            let entry = |b: &Builder| json!({"id": b.id, "definition": b.definition, "example": b.example, "options": b.options});
            terminal.json(&json!({ "hierarchies": BUILDERS.iter().map(entry).collect::<Vec<Value>>() }))?;
            return Ok(Outcome::Done);
        }
        terminal.result(crate::reference::topic("hierarchies").unwrap_or_default())?;
        terminal.note("\nIn a policy: `hierarchy = …` under [columns.NAME].");
        Ok(Outcome::Done)
    }

    fn print(&self, terminal: &Terminal, name: &str, lines: Vec<Line>) -> CommandResult {
        if self.json {
            let entries: Vec<Value> = lines
                .iter()
                .map(|l| {
                    json!({"id": l.id, "definition": l.definition, "citation": l.citation, "parameters": l.parameters})
                })
                .collect();
            terminal.json(&json!({ name: entries }))?;
            return Ok(Outcome::Done);
        }
        let mut rows = vec![vec!["name".to_string(), "parameters".to_string(), "definition".to_string()]];
        if lines.iter().all(|l| l.parameters.is_empty()) {
            rows[0].remove(1);
        }
        for line in &lines {
            let mut row = vec![line.id.to_string(), line.parameters.join(", "), line.definition.to_string()];
            if rows[0].len() == 2 {
                row.remove(1);
            }
            rows.push(row);
        }
        terminal.result(table(&rows))?;
        terminal.note("\n`amidst explain NAME` tells more about one of them.");
        Ok(Outcome::Done)
    }
}
