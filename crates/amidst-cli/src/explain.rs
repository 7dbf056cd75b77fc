//! `amidst explain NAME`: one model, algorithm, metric, attack or hierarchy builder in full.

use amidst::Failure;
use amidst::core::hierarchy::BUILDERS;
use amidst::core::model::{self, Sensitive};
use amidst::core::parameter::{Kind, Parameter};
use amidst::core::{algorithm, attack, metric};
use amidst::utility::{MEASURES, Measure};
use clap::Args;
use serde_json::{Value, json};

use crate::terminal::{CommandResult, Outcome, Terminal, dim, heading, table};

/// Explain a model, algorithm, metric, attack or hierarchy builder: definition, parameters, source
#[derive(Debug, Args)]
pub struct Explain {
    /// Its name, such as entropy-l-diversity
    name: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Prints what is known under the name.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let name = self.name.as_str();
        if self.json {
            terminal.json(&json(name).ok_or_else(|| unknown(name))?)?;
            return Ok(Outcome::Done);
        }
        let text = if let Some(entry) = model::find(name) {
            model_text(entry)
        } else if let Some(a) = algorithm::find(name) {
            let kind = if a.full_domain { "full-domain recoding" } else { "local recoding" };
            plain(a.title, &format!("algorithm, {kind}"), a.definition, a.citation)
        } else if let Some(m) = metric::find(name) {
            plain(m.title, "metric; less is better", m.definition, m.citation)
        } else if let Some(m) = measure(name) {
            plain(m.title, "figure of usefulness", m.definition, m.citation)
        } else if let Some(a) = attack::find(name) {
            attack_text(a)
        } else if let Some(b) = BUILDERS.iter().find(|b| b.id == name) {
            plain(b.id, "hierarchy builder", b.definition, &format!("hierarchy = {}", b.example))
        } else {
            return Err(unknown(name));
        };
        terminal.result(text)?;
        Ok(Outcome::Done)
    }
}

fn measure(name: &str) -> Option<&'static Measure> {
    // What an error about a column names leads to what it is about.
    let name = if matches!(name, "accept" | "insensitive") { "unique-rows" } else { name };
    MEASURES.iter().find(|m| m.id == name)
}

/// What `amidst explain --json` prints.
fn json(name: &str) -> Option<Value> {
    let of = |kind: &str, title: &str, definition: &str, citation: &str| {
        json!({"id": name, "kind": kind, "title": title, "definition": definition, "citation": citation,
               "parameters": []})
    };
    let with = |mut object: Value, more: Value| {
        if let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) {
            object.extend(more);
        }
        object
    };
    if let Some(m) = model::find(name) {
        let parameters: Vec<Value> = m.parameters.iter().map(parameter).collect();
        let sensitive = match m.sensitive {
            Sensitive::None => "none",
            Sensitive::One => "one",
            Sensitive::OneOrMany => "one or many",
        };
        let more = json!({"parameters": parameters, "sensitive": sensitive, "example": example(m)});
        return Some(with(of("model", m.title, m.definition, m.citation), more));
    }
    if let Some(a) = algorithm::find(name) {
        let more = json!({"full_domain": a.full_domain});
        return Some(with(of("algorithm", a.title, a.definition, a.citation), more));
    }
    if let Some(m) = metric::find(name) {
        return Some(of("metric", m.title, m.definition, m.citation));
    }
    if let Some(m) = measure(name) {
        return Some(of("measure", m.title, m.definition, m.citation));
    }
    if let Some(a) = attack::find(name) {
        let parameters: Vec<Value> = a.parameters.iter().map(parameter).collect();
        let more = json!({"parameters": parameters, "assumes": a.assumes, "needs": a.needs.describe()});
        return Some(with(of("attack", a.title, a.definition, a.citation), more));
    }
    let b = BUILDERS.iter().find(|b| b.id == name)?;
    Some(with(
        of("hierarchy", b.id, b.definition, ""),
        json!({"citation": null, "example": format!("hierarchy = {}", b.example)}),
    ))
}

fn parameter(p: &Parameter) -> Value {
    json!({"name": p.name, "type": kind_text(p.kind), "required": p.required, "help": p.help})
}

fn plain(title: &str, kind: &str, definition: &str, source: &str) -> String {
    format!("{} {}\n\n  {definition}\n\n  {}", heading(title), dim(format!("({kind})")), dim(source))
}

fn model_text(entry: &model::Entry) -> String {
    let on = match entry.sensitive {
        Sensitive::None => "no sensitive column",
        Sensitive::One => "one sensitive column, named by `on`",
        Sensitive::OneOrMany => "one sensitive column named by `on`, or a list of them (then article Definition 4.6)",
    };
    let mut rows = vec![vec!["parameter".to_string(), "what".to_string(), String::new()]];
    for p in entry.parameters {
        let needed = if p.required { "required" } else { "optional" };
        rows.push(vec![p.name.to_string(), format!("{}, {needed}", kind_text(p.kind)), p.help.to_string()]);
    }
    let example: String = example(entry).lines().map(|l| format!("    {l}\n")).collect();
    format!(
        "{} {}\n\n  {}\n\n  It protects {on}.\n\n{}\n\n{example}\n  {}",
        heading(entry.title),
        dim("(privacy model)"),
        entry.definition,
        table(&rows),
        dim(entry.citation)
    )
}

/// A requirement of the model, as a policy states it.
fn example(entry: &model::Entry) -> String {
    let mut example = format!("[[require]]\nmodel = \"{}\"", entry.id);
    if entry.sensitive != Sensitive::None {
        example.push_str("\non = \"disease\"");
    }
    for p in entry.parameters.iter().filter(|p| p.required) {
        example.push_str(&format!("\n{} = {}", p.name, kind_example(p.kind)));
    }
    example
}

fn attack_text(entry: &attack::Entry) -> String {
    let mut lines = vec![
        format!("{} {}", heading(entry.title), dim("(attack)")),
        String::new(),
        format!("  The adversary knows {}.", entry.assumes),
        format!("  It succeeds when {}.", entry.definition),
        format!("  To run it, supply {}.", entry.needs.describe()),
        String::new(),
    ];
    if !entry.parameters.is_empty() {
        let mut rows = vec![vec!["parameter".to_string(), "what".to_string(), String::new()]];
        rows.extend(entry.parameters.iter().map(|p| vec![p.name.to_string(), kind_text(p.kind), p.help.to_string()]));
        lines.push(table(&rows));
        lines.push(String::new());
    }
    lines.push(format!("  {}", dim(entry.citation)));
    lines.join("\n")
}

fn kind_text(kind: Kind) -> String {
    match kind {
        Kind::Count => "whole number from 1".to_string(),
        Kind::Number => "number or \"fraction\"".to_string(),
        Kind::Choice(words) => format!("one of {}", words.join(", ")),
        Kind::Flag => "true or false".to_string(),
        Kind::Value => "a sensitive value".to_string(),
        Kind::Values => "a list of sensitive values".to_string(),
        Kind::Bounds => "{ value = number, … }".to_string(),
        Kind::Categories => "lists of values, most sensitive first".to_string(),
        Kind::Weights => "\"uniform\", { sensitivity = β } or a list".to_string(),
        Kind::Population => "a file with the population".to_string(),
    }
}

fn kind_example(kind: Kind) -> &'static str {
    match kind {
        Kind::Count => "3",
        Kind::Number => "0.5",
        Kind::Choice(words) => words.first().copied().unwrap_or_default(),
        Kind::Flag => "true",
        Kind::Value => "\"HIV\"",
        Kind::Values => "[\"Flu\"]",
        Kind::Bounds => "{ HIV = 0.2, Cancer = \"1/3\" }",
        Kind::Categories => "[[\"HIV\"], [\"Flu\"]]",
        Kind::Weights => "\"uniform\"",
        Kind::Population => "\"population.csv\"",
    }
}

fn unknown(name: &str) -> Failure {
    let models = model::MODELS.iter().map(|e| e.id);
    let algorithms = algorithm::ALGORITHMS.iter().map(|e| e.id);
    let metrics = metric::METRICS.iter().map(|e| e.id);
    let attacks = attack::ATTACKS.iter().map(|e| e.id);
    let builders = BUILDERS.iter().map(|e| e.id);
    let measures = MEASURES.iter().map(|m| m.id);
    let known = models.chain(algorithms).chain(metrics).chain(measures).chain(attacks).chain(builders);
    let nearest = amidst::nearest(name, known);
    let hint = nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
    Failure::Usage(format!(
        "nothing is called `{name}`{hint} `amidst models`, `algorithms`, `metrics` and `attacks` list the names"
    ))
}
