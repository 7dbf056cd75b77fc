//! Inside a crate, modules use only what lies below them.
//!
//! ARCHITECTURE.md lists the top modules of every crate in layers, from the bottom up, in blocks that begin with
//! "```layers". This test reads the source of each crate as tokens, finds every path that starts at the crate, at a
//! parent or in a group of braces, and fails on a path that leads to the same or a higher layer. Inside folders there
//! is no list, but no cycle either. Code under `#[cfg(test)]` may look wherever it wants.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

type Module = Vec<String>;

/// Modules with the modules that each of them names.
type Uses = BTreeMap<Module, BTreeSet<Module>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a crate by the module that each holds.
fn files(source: &Path) -> BTreeMap<Module, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![source.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the source can be read") {
            let path = entry.expect("the source can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let relative = path.strip_prefix(source).expect("the source can be read").with_extension("");
                let mut module: Module = relative.iter().map(|p| p.to_string_lossy().into_owned()).collect();
                module.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
                found.insert(module, path);
            }
        }
    }
    found
}

/// The tokens without what is compiled for tests only, and the modules declared for tests only.
fn without_tests(tokens: TokenStream, tests: &mut Vec<String>) -> Vec<TokenTree> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].to_string() == "#" && tokens.get(at + 1).is_some_and(|t| t.to_string() == "[cfg (test)]") {
            let end = (at + 2..tokens.len()).find(|&i| {
                tokens[i].to_string() == ";"
                    || matches!(&tokens[i], TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
            });
            let end = end.unwrap_or(tokens.len() - 1);
            tests.extend((at..end).filter(|&i| tokens[i].to_string() == "mod").map(|i| tokens[i + 1].to_string()));
            at = end + 1;
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

fn colons(tokens: &[TokenTree], at: usize) -> bool {
    (0..2).all(|i| tokens.get(at + i).is_some_and(|t| t.to_string() == ":"))
}

/// The paths that a tree of names stands for, which begins at `at`.
fn leaves(tokens: &[TokenTree], at: usize) -> Vec<Module> {
    match tokens.get(at) {
        Some(TokenTree::Ident(name)) => {
            let own = name.to_string();
            if !colons(tokens, at + 1) {
                return vec![vec![own]];
            }
            let below = leaves(tokens, at + 3);
            below.into_iter().map(|path| [vec![own.clone()], path].concat()).collect()
        }
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            inner
                .split(|t| t.to_string() == ",")
                .filter(|part| !part.is_empty())
                .flat_map(|part| leaves(part, 0))
                .collect()
        }
        _ => vec![vec![]],
    }
}

/// Every path that starts at the crate or at a parent, made absolute.
fn paths(tokens: &[TokenTree], module: &Module, found: &mut Vec<Module>) {
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                paths(&inner, module, found);
            }
            TokenTree::Ident(name) if !(at > 1 && colons(tokens, at - 2)) && colons(tokens, at + 1) => {
                let mut base = module.clone();
                let mut rest = at + 3;
                match name.to_string().as_str() {
                    "crate" => base.clear(),
                    "super" => {
                        base.pop();
                        while tokens.get(rest).is_some_and(|t| t.to_string() == "super") {
                            base.pop();
                            rest += 3;
                        }
                    }
                    _ => {
                        at += 1;
                        continue;
                    }
                }
                found.extend(leaves(tokens, rest).into_iter().map(|path| [base.clone(), path].concat()));
            }
            _ => {}
        }
        at += 1;
    }
}

/// What each module of a crate names, code for tests left out.
fn uses(source: &Path) -> Uses {
    let files = files(source);
    let mut kept = BTreeMap::new();
    let mut only_tests: Vec<Module> = Vec::new();
    for (module, path) in &files {
        let text = fs::read_to_string(path).expect("the source can be read");
        let tokens = text.parse().unwrap_or_else(|_| panic!("{} is not Rust", path.display()));
        let mut tests = Vec::new();
        kept.insert(module.clone(), without_tests(tokens, &mut tests));
        only_tests.extend(tests.into_iter().map(|name| [module.clone(), vec![name]].concat()));
    }
    kept.retain(|module, _| !only_tests.iter().any(|test| module.starts_with(test)));
    let known: BTreeSet<Module> = kept.keys().cloned().collect();
    let resolve = |mut path: Module| {
        while !path.is_empty() && !known.contains(&path) {
            path.pop();
        }
        path
    };
    let named = |module: &Module, tokens: &[TokenTree]| {
        let mut found = Vec::new();
        paths(tokens, module, &mut found);
        found.into_iter().map(resolve).collect()
    };
    kept.iter().map(|(module, tokens)| (module.clone(), named(module, tokens))).collect()
}

/// The uses between the children of a folder, with an example of each.
fn between_children(uses: &Uses, folder: &[String]) -> BTreeMap<(String, String), String> {
    let mut found = BTreeMap::new();
    for (from, targets) in uses.iter().filter(|(from, _)| from.starts_with(folder) && from.len() > folder.len()) {
        for to in targets.iter().filter(|to| to.starts_with(folder) && to.len() > folder.len()) {
            let (a, b) = (&from[folder.len()], &to[folder.len()]);
            if a != b {
                found
                    .entry((a.clone(), b.clone()))
                    .or_insert_with(|| format!("{} -> {}", from.join("::"), to.join("::")));
            }
        }
    }
    found
}

/// The uses that are part of a cycle: modules that nothing left uses, or that use nothing left, are taken away until
/// all that are left do both.
fn cyclic(uses: &BTreeMap<(String, String), String>) -> Vec<String> {
    let mut left: BTreeMap<_, _> = uses.iter().collect();
    loop {
        let before = left.len();
        let users: BTreeSet<&String> = left.keys().map(|(a, _)| a).collect();
        let used: BTreeSet<&String> = left.keys().map(|(_, b)| b).collect();
        left.retain(|(a, b), _| used.contains(a) && users.contains(b));
        if left.len() == before {
            return left.into_values().cloned().collect();
        }
    }
}

/// The layers of a crate as ARCHITECTURE.md lists them, the lowest first.
fn layers(document: &str, name: &str) -> Vec<Vec<String>> {
    let begin = format!("```layers {name}\n");
    let (_, rest) = document.split_once(&begin).unwrap_or_else(|| panic!("ARCHITECTURE.md has no layers of {name}"));
    let (block, _) = rest.split_once("```").expect("the source can be read");
    block.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
}

fn crates() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(root().join("crates"))
        .expect("the source can be read")
        .map(|entry| entry.expect("the source can be read").file_name().into_string().expect("the source can be read"))
        .collect();
    names.sort();
    names
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let document = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut wrong = Vec::new();
    for name in crates() {
        let uses = uses(&root().join("crates").join(&name).join("src"));
        let layers = layers(&document, &name);
        let layer = |module: &str| layers.iter().position(|l| l.iter().any(|m| m == module));
        let tops: BTreeSet<&String> = uses.keys().filter_map(|module| module.first()).collect();
        wrong.extend(tops.iter().filter(|m| layer(m).is_none()).map(|m| format!("{name}: {m} is in no layer")));
        let listed = layers.iter().flatten();
        wrong.extend(listed.filter(|m| !tops.contains(m)).map(|m| format!("{name}: there is no module {m}")));
        for ((from, to), example) in between_children(&uses, &[]) {
            if layer(&from) <= layer(&to) {
                wrong.push(format!("{name}: {example} does not point downwards"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn folders_have_no_cycles() {
    let mut wrong = Vec::new();
    for name in crates() {
        let uses = uses(&root().join("crates").join(&name).join("src"));
        let folders: BTreeSet<&[String]> =
            uses.keys().flat_map(|module| (1..module.len()).map(move |depth| &module[..depth])).collect();
        for folder in folders {
            let cycle = cyclic(&between_children(&uses, folder));
            wrong.extend(cycle.into_iter().map(|example| format!("{name}: {example} is part of a cycle")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_sees_through_braces_parents_and_macros() {
    let text =
        "use crate::{a, b::{C, d::E}}; fn f() { vec![super::super::g::h()]; } #[cfg(test)] mod t { use crate::z; }";
    let mut tests = Vec::new();
    let tokens = without_tests(text.parse().unwrap(), &mut tests);
    let mut found = Vec::new();
    paths(&tokens, &vec!["m".into(), "n".into(), "o".into()], &mut found);
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a", "b::C", "b::d::E", "m::g::h"]);
    assert_eq!(tests, ["t"]);
    let pairs = [(("a", "b"), ""), (("b", "c"), "b -> c"), (("c", "b"), "c -> b")];
    let uses = pairs.map(|((a, b), example)| ((a.to_owned(), b.to_owned()), example.to_owned())).into();
    assert_eq!(cyclic(&uses), ["b -> c", "c -> b"]);
}
