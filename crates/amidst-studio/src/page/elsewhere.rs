//! The same work without the page: what a screen does, the release and series, as a command line and as Python.

use serde_json::Value;

use crate::screens::{Screen, publish};
use crate::studio::View;

/// A way to do something elsewhere.
pub struct Elsewhere {
    /// What tells its texts from others on the page.
    pub id: String,
    /// What is done.
    pub words: String,
    pub command: String,
    pub python: String,
}

/// What the screen shows, and the release; where releases are published also the series of the folder.
pub fn ways(view: &View, screen: &Screen) -> Vec<Elsewhere> {
    let names = Names::of(view);
    let mut ways: Vec<Elsewhere> = of_screen(view, screen, &names).into_iter().collect();
    ways.push(Elsewhere {
        id: String::new(),
        words: "The release".to_string(),
        command: format!("amidst anonymize {} --out release", names.policy),
        python: format!(
            "{}release = am.anonymize({}, policy)\nrelease.save(\"release\")",
            names.read, names.table_text
        ),
    });
    if screen.name == "publish" {
        let found = publish::series_of(view);
        let begun = found
            .iter()
            .enumerate()
            .map(|(i, (folder, mode))| (format!("-series-{}", i + 1), folder.as_str(), Some(*mode)));
        let to_begin = (found.is_empty(), ("-series".to_string(), "series", None));
        let all = begun.chain(to_begin.0.then_some(to_begin.1));
        ways.extend(all.map(|(id, folder, mode)| series(id, folder, mode, &names)));
    }
    ways
}

/// The policy and its table as commands and programs name them.
struct Names {
    policy: String,
    table: String,
    table_text: String,
    read: String,
}

impl Names {
    fn of(view: &View) -> Names {
        let policy = view.project.policy_name();
        let input = view.policy.as_ref().and_then(|p| p.data.input.clone()).unwrap_or_else(|| "table.csv".into());
        Names {
            policy: quoted(&policy),
            table: quoted(&input),
            table_text: text(&input),
            read: format!("import amidst as am\n\npolicy = am.Policy.read({})\n", text(&policy)),
        }
    }
}

fn of_screen(view: &View, screen: &Screen, names: &Names) -> Option<Elsewhere> {
    let Names { policy, table, table_text, read } = names;
    let of_table = |call: &str| format!("import amidst as am\n\nam.{call}({table_text})");
    let (command, python) = match screen.name {
        "data" => (format!("amidst init {table}"), of_table("init")),
        "columns" => (format!("amidst audit {table}"), of_table("survey")),
        "hierarchies" | "protection" => (format!("amidst check {policy}"), format!("{read}policy.check()")),
        "explore" => (format!("amidst explore {policy}"), format!("{read}am.explore({table_text}, policy)")),
        "publish" => {
            let folder = view.results.verified.as_ref().map_or("release", |verified| verified.folder.as_str());
            let python = format!("import amidst as am\n\nam.verify({})", text(folder));
            (format!("amidst verify {}", quoted(folder)), python)
        }
        _ => return None,
    };
    Some(Elsewhere { id: "-screen".to_string(), words: "This screen".to_string(), command, python })
}

/// A series from its beginning to its audit.
fn series(id: String, folder: &str, mode: Option<&str>, names: &Names) -> Elsewhere {
    let dir = quoted(folder);
    let (flag, argument) = match mode {
        Some(mode) => (format!(" --mode {mode}"), format!(", mode={}", text(mode))),
        None => (String::new(), String::new()),
    };
    let command = format!(
        "amidst series init {dir} --policy {}{flag}\namidst series insert {dir} march.csv\n\
         amidst series delete {dir} left.csv\namidst series publish {dir} --safe\namidst series audit {dir}",
        names.policy
    );
    let python = format!(
        "{}series = am.Series({})\nseries.init({}, policy{argument})\nseries.insert(\"march.csv\")\n\
         series.delete(\"left.csv\")\nseries.publish(safe=True)\nseries.audit()",
        names.read,
        text(folder),
        names.table_text
    );
    Elsewhere { id, words: format!("The series {folder}"), command, python }
}

/// A text as Python and JSON write it.
fn text(word: &str) -> String {
    Value::from(word).to_string()
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) && !word.starts_with('-');
    if plain && !word.is_empty() { word.to_string() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_shell() {
        let found = ["policy.toml", "my policy's.toml", "Patientenübersicht.csv", "a;b"].map(quoted);
        assert_eq!(found, ["policy.toml", "'my policy'\\''s.toml'", "'Patientenübersicht.csv'", "'a;b'"]);
    }

    #[test]
    fn a_series_is_begun_changed_published_and_audited() {
        let names = Names {
            policy: "policy.toml".into(),
            table: "t.csv".into(),
            table_text: "\"t.csv\"".into(),
            read: String::new(),
        };
        let way = series("-series-1".into(), "my ward", Some("maintain"), &names);
        let lines: Vec<&str> = way.command.lines().collect();
        assert_eq!(lines[0], "amidst series init 'my ward' --policy policy.toml --mode maintain");
        assert_eq!(lines[4], "amidst series audit 'my ward'");
        assert!(
            way.python.contains("am.Series(\"my ward\")\nseries.init(\"t.csv\", policy, mode=\"maintain\")"),
            "{}",
            way.python
        );
    }
}
