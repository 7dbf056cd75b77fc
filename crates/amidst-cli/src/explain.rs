//! `amidst explain NAME`: describes one model, algorithm, metric, attack or hierarchy builder.

use amidst::Failure;
use amidst::core::hierarchy::BUILDERS;
use amidst::core::model::{self, Sensitive};
use amidst::core::parameter::{Kind, Parameter};
use amidst::core::{algorithm, attack, metric};
use amidst::policy::keys::SECTIONS;
use amidst::utility::{MEASURES, Measure};
use clap::Args;
use serde_json::{Value, json};

use crate::reference::{TOPICS, topic};
use crate::terminal::{CommandResult, Outcome, Terminal, dim, heading, table};

/// Explain a model, algorithm, metric, attack or hierarchy builder; or policy, roles, hierarchies, search, output
#[derive(Debug, Args)]
pub struct Explain {
    /// Its name, such as entropy-l-diversity, or a part of the policy, such as search
    name: String,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Explain {
    /// Prints the description of the name.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        // Names are lowercase; users also write them capitalized.
        let name = self.name.trim().to_lowercase();
        let name = name.as_str();
        if let Some(text) = topic(name).filter(|_| !self.json) {
            terminal.result(text)?;
            return Ok(Outcome::Done);
        }
        if self.json {
            terminal.json(&json(name).ok_or_else(|| unknown(name))?)?;
            return Ok(Outcome::Done);
        }
        let text = if let Some(entry) = model::find(name) {
            model_text(entry)
        } else if let Some(a) = algorithm::find(name) {
            algorithm_text(a, &format!("algorithm, {}", a.kind.name()))
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
    // Error messages about columns mention these words; their explanation is under unique-rows.
    let name = if matches!(name, "accept" | "insensitive") { "unique-rows" } else { name };
    MEASURES.iter().find(|m| m.id == name)
}

/// The output of `amidst explain --json`.
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
        let options: Vec<Value> = a.options.iter().map(parameter).collect();
        let more = json!({"full_domain": a.full_domain(), "options": options, "example": algorithm_example(a)});
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

/// The text with a capital first letter, unless it begins with a symbol, as in `n ≥ k` or k-anonymity.
fn capital(text: &str) -> String {
    let symbol = !text.starts_with("a ") && !text.chars().nth(1).is_some_and(char::is_alphabetic);
    if symbol {
        return text.to_string();
    }
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn plain(title: &str, kind: &str, definition: &str, source: &str) -> String {
    let (title, definition) = (capital(title), capital(definition));
    format!("{} {}\n\n  {definition}\n\n  {}", heading(title), dim(format!("({kind})")), dim(source))
}

/// The rows of a table of parameters or options.
fn parameter_rows(head: &str, parameters: &[Parameter]) -> Vec<Vec<String>> {
    let mut rows = vec![vec![head.to_string(), "what".to_string(), String::new()]];
    for p in parameters {
        let needed = if p.required { "required" } else { "optional" };
        rows.push(vec![p.name.to_string(), format!("{}, {needed}", kind_text(p.kind)), p.help.to_string()]);
    }
    rows
}

fn indented(example: &str) -> String {
    example.lines().map(|l| format!("    {l}\n")).collect()
}

fn algorithm_text(entry: &algorithm::Entry, kind: &str) -> String {
    let options = match entry.options {
        [] => String::new(),
        options => table(&parameter_rows("option", options)) + "\n\n",
    };
    format!(
        "{} {}\n\n  {}\n\n{options}{}\n  {}",
        heading(capital(entry.title)),
        dim(format!("({kind})")),
        capital(entry.definition),
        indented(&algorithm_example(entry)),
        dim(entry.citation)
    )
}

/// The search section of a policy with the algorithm and every option for which an example can be given.
fn algorithm_example(entry: &algorithm::Entry) -> String {
    let mut example = format!("[search]\nalgorithm = \"{}\"", entry.id);
    // A list of counts fits only one size of clusters, so it is left out.
    let shown: Vec<&Parameter> = entry.options.iter().filter(|p| p.kind != Kind::Counts).collect();
    if !shown.is_empty() {
        example.push_str("\n\n[search.options]");
    }
    for p in shown {
        example.push_str(&format!("\n{} = {}", p.name, kind_example(p.name, p.kind)));
    }
    example
}

fn model_text(entry: &model::Entry) -> String {
    let on = match entry.sensitive {
        Sensitive::None => "no sensitive column",
        Sensitive::One => "one sensitive column, named by `on`",
        Sensitive::OneOrMany => "one sensitive column named by `on`, or a list of them (then article Definition 4.6)",
    };
    let (rows, example) = (parameter_rows("parameter", entry.parameters), indented(&example(entry)));
    format!(
        "{} {}\n\n  {}\n\n  It protects {on}.\n\n{}\n\n{example}\n  {}",
        heading(capital(entry.title)),
        dim("(privacy model)"),
        capital(entry.definition),
        table(&rows),
        dim(entry.citation)
    )
}

/// A requirement with the model, as a policy states it.
fn example(entry: &model::Entry) -> String {
    let mut example = format!("[[require]]\nmodel = \"{}\"", entry.id);
    if entry.sensitive != Sensitive::None {
        example.push_str("\non = \"disease\"");
    }
    for p in entry.parameters.iter().filter(|p| p.required) {
        example.push_str(&format!("\n{} = {}", p.name, kind_example(p.name, p.kind)));
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
        Kind::Counts => "a list of whole numbers from 1".to_string(),
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

/// A value that the parameter accepts, as a policy writes it.
fn kind_example(name: &str, kind: Kind) -> String {
    match (name, kind) {
        ("rho1", _) => "0.2".to_string(),
        ("rho2", _) => "0.8".to_string(),
        ("min", _) => "0".to_string(),
        // A percentage, and bounds that begin at 1.
        ("c2", _) => "5".to_string(),
        ("l" | "c" | "c1" | "delta" | "beta", _) | (_, Kind::Count) => "3".to_string(),
        (_, Kind::Counts) => "[2, 3, 1]".to_string(),
        (_, Kind::Number) => "0.5".to_string(),
        (_, Kind::Choice(words)) => format!("\"{}\"", words.first().copied().unwrap_or_default()),
        (_, Kind::Flag) => "true".to_string(),
        (_, Kind::Value) => "\"HIV\"".to_string(),
        (_, Kind::Values) => "[\"Flu\"]".to_string(),
        (_, Kind::Bounds) => "{ HIV = 0.2, Cancer = \"1/3\" }".to_string(),
        (_, Kind::Categories) => "[[\"HIV\"], [\"Flu\"]]".to_string(),
        (_, Kind::Weights) => "\"uniform\"".to_string(),
        (_, Kind::Population) => "\"population.csv\"".to_string(),
    }
}

fn unknown(name: &str) -> Failure {
    let models = model::MODELS.iter().map(|e| e.id);
    let algorithms = algorithm::ALGORITHMS.iter().map(|e| e.id);
    let metrics = metric::METRICS.iter().map(|e| e.id);
    let attacks = attack::ATTACKS.iter().map(|e| e.id);
    let builders = BUILDERS.iter().map(|e| e.id);
    let measures = MEASURES.iter().map(|m| m.id);
    let topics = TOPICS.into_iter().chain(SECTIONS.iter().map(|s| s.name));
    let known = models.chain(algorithms).chain(metrics).chain(measures).chain(attacks).chain(builders).chain(topics);
    let nearest = amidst::nearest(name, known);
    let hint = nearest.map_or(".".to_string(), |n| format!("; did you mean `{n}`?"));
    Failure::Usage(format!(
        "nothing is called `{name}`{hint} `amidst models`, `algorithms`, `metrics`, `attacks` and `hierarchies` list the names; \
         `amidst explain policy` tells what a policy may say"
    ))
}
