//! Inside a crate, modules use only what lies below them.
//!
//! ARCHITECTURE.md lists the top modules of every crate in layers, from the bottom up, in blocks that begin with
//! "```layers". This test reads the source of each crate as tokens, finds every path that starts at the crate, at a
//! parent, at an imported name or in a group of braces, follows it through `use` declarations, those with `*` included,
//! to the module that declares what it names, and fails on a path that leads to the same or a higher layer. Inside
//! folders there is no list, but no cycle either. The `mod.rs` of a folder and the files in it are one unit: those
//! files may use what `mod.rs` itself declares. What `mod.rs` says that the folder may use is all that it uses. Nothing
//! uses what the root of a crate declares, constants aside. Code under `#[cfg(test)]` may use every module.

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

/// The files of a crate with the module that each holds; a crate may have a library and a program.
fn files(source: &Path) -> Vec<(Module, PathBuf)> {
    let mut found = Vec::new();
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
                found.push((module, path));
            }
        }
    }
    found
}

/// What is in the modules of a crate.
#[derive(Default)]
struct Source {
    /// The tokens of each module, those of its tests and of modules in braces left out.
    tokens: BTreeMap<Module, Vec<TokenTree>>,
    /// The modules that are declared for tests only.
    tests: Vec<Module>,
    /// What each module imports, by the name that it has there; `*` for all of a module.
    imports: BTreeMap<Module, Vec<(String, Module)>>,
    /// The names of the items of each module, its modules and constants left out.
    items: BTreeMap<Module, BTreeSet<String>>,
}

/// The words before the name of an item.
const ITEMS: [&str; 6] = ["enum", "fn", "struct", "trait", "type", "union"];

impl Source {
    fn read(folder: &Path) -> Source {
        let mut source = Source::default();
        for (module, path) in files(folder) {
            let text = fs::read_to_string(&path).expect("the source can be read");
            source.add(&module, text.parse().unwrap_or_else(|_| panic!("{} is not Rust", path.display())));
        }
        source.link();
        source
    }

    /// Takes the tokens of a module apart; modules in braces are modules of their own.
    fn add(&mut self, module: &Module, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut kept = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at].to_string() == "#" && tokens.get(at + 1).is_some_and(|t| t.to_string() == "[cfg (test)]") {
                let ends = |i: &usize| tokens[*i].to_string() == ";" || braces(&tokens[*i]).is_some();
                let end = (at + 2..tokens.len()).find(ends).unwrap_or(tokens.len() - 1);
                let names = (at..end).filter(|&i| tokens[i].to_string() == "mod").map(|i| tokens[i + 1].to_string());
                self.tests.extend(names.map(|name| below(module, name)));
                at = end + 1;
            } else if tokens[at].to_string() == "mod"
                && let Some(inner) = tokens.get(at + 2).and_then(braces)
            {
                self.add(&below(module, tokens[at + 1].to_string()), inner);
                at += 3;
            } else {
                kept.push(tokens[at].clone());
                at += 1;
            }
        }
        self.tokens.entry(module.clone()).or_default().extend(kept);
    }

    /// Drops the modules of tests and looks up what the others declare and import.
    fn link(&mut self) {
        self.tokens.retain(|module, _| !self.tests.iter().any(|test| module.starts_with(test)));
        for (module, tokens) in &self.tokens {
            let named = tokens.windows(2).filter(|pair| ITEMS.contains(&pair[0].to_string().as_str()));
            self.items.insert(module.clone(), named.map(|pair| pair[1].to_string()).collect());
            let mut found = Vec::new();
            for at in (0..tokens.len()).filter(|&at| tokens[at].to_string() == "use") {
                for (name, path) in leaves(tokens, at + 1) {
                    // A name that is neither a child nor imported is that of another crate.
                    let relative =
                        path.first().is_some_and(|first| !matches!(first.as_str(), "crate" | "super" | "self"));
                    let child =
                        path.first().is_some_and(|first| self.tokens.contains_key(&below(module, first.clone())));
                    if !relative || child {
                        found.push((name, absolute(module, &path)));
                    }
                }
            }
            self.imports.insert(module.clone(), found);
        }
    }

    fn imported(&self, module: &[String]) -> &[(String, Module)] {
        self.imports.get(module).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a module has an item, a module or an import of this name.
    fn offers(&self, module: &[String], name: &String) -> bool {
        self.items.get(module).is_some_and(|items| items.contains(name))
            || self.tokens.contains_key(&below(module, name.clone()))
            || self.imported(module).iter().any(|(own, _)| own == name)
    }

    /// The paths of a module, from the root of the crate.
    fn paths(&self, module: &Module, tokens: &[TokenTree]) -> Vec<Module> {
        let mut found = Vec::new();
        paths(tokens, module, self.imported(module), &mut found);
        found
    }

    /// The paths to items that the root itself declares, with the modules that they are in.
    fn uses_of_the_root(&self) -> Vec<String> {
        let root = self.items.get(&Module::new());
        // A module may have the name of a function; then the path leads to the module.
        let own = |name: &String| {
            root.is_some_and(|root| root.contains(name)) && !self.tokens.contains_key(std::slice::from_ref(name))
        };
        let declared = |path: &Module| path.first().is_some_and(own);
        let inside = self.tokens.iter().filter(|(module, _)| !module.is_empty());
        let paths =
            inside.flat_map(|(module, tokens)| self.paths(module, tokens).into_iter().map(move |p| (module, p)));
        paths
            .filter(|(_, path)| declared(path))
            .map(|(from, path)| format!("{} -> {}", from.join("::"), path.join("::")))
            .collect()
    }

    /// The modules that a path leads through: what it names may be imported where the path says that it is.
    fn follow(&self, path: &[String], met: &mut BTreeSet<Module>) {
        let mut here = Module::new();
        for (i, name) in path.iter().enumerate() {
            let child = below(&here, name.clone());
            if self.tokens.contains_key(&child) {
                here = child;
                continue;
            }
            // All of a module is what it declares and what it imports; what it declares hides what comes with a star.
            let declared = self.items.get(&here).is_some_and(|items| items.contains(name));
            let star = |target: &Module| !declared && self.offers(&target[..target.len() - 1], name);
            let meant = |own: &String, target: &Module| own == name || name == "*" || own == "*" && star(target);
            for (own, target) in self.imported(&here).iter().filter(|(own, target)| meant(own, target)) {
                let all = own == "*" && name != "*";
                let target = if all { below(&target[..target.len() - 1], name.clone()) } else { target.clone() };
                let target: Module = target.iter().chain(&path[i + 1..]).cloned().collect();
                if !target.starts_with(path) && met.insert(target.clone()) {
                    self.follow(&target, met);
                }
            }
            break;
        }
        met.insert(here);
    }

    /// What each module names.
    fn uses(&self) -> Uses {
        let named = |module: &Module, tokens: &[TokenTree]| {
            let mut met = BTreeSet::new();
            self.paths(module, tokens).iter().for_each(|path| self.follow(path, &mut met));
            met.into_iter().filter(|target| self.tokens.contains_key(target)).collect()
        };
        self.tokens.iter().map(|(module, tokens)| (module.clone(), named(module, tokens))).collect()
    }
}

fn below(module: &[String], name: String) -> Module {
    [module, &[name]].concat()
}

fn braces(token: &TokenTree) -> Option<TokenStream> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}

fn colons(tokens: &[TokenTree], at: usize) -> bool {
    (0..2).all(|i| tokens.get(at + i).is_some_and(|t| t.to_string() == ":"))
}

/// The paths that a tree of names stands for, which begins at `at`, each with the name that it is imported as.
fn leaves(tokens: &[TokenTree], at: usize) -> Vec<(String, Module)> {
    match tokens.get(at) {
        Some(TokenTree::Ident(name)) if colons(tokens, at + 1) => {
            let own = name.to_string();
            let whole = |(name, path): (String, Module)| {
                // `a::{self, b}` imports `a` under its own name.
                let name = if path.is_empty() && name == "self" { own.clone() } else { name };
                (name, [vec![own.clone()], path].concat())
            };
            leaves(tokens, at + 3).into_iter().map(whole).collect()
        }
        Some(TokenTree::Ident(name)) => {
            let own = name.to_string();
            let renamed = tokens.get(at + 1).is_some_and(|t| t.to_string() == "as");
            let shown = if renamed { tokens.get(at + 2).map_or(own.clone(), ToString::to_string) } else { own.clone() };
            vec![(shown, if own == "self" { vec![] } else { vec![own] })]
        }
        Some(TokenTree::Punct(star)) if star.as_char() == '*' => vec![("*".into(), vec!["*".into()])],
        Some(group) => {
            let inner: Vec<TokenTree> = braces(group).into_iter().flatten().collect();
            let parts = inner.split(|t| t.to_string() == ",").filter(|part| !part.is_empty());
            parts.flat_map(|part| leaves(part, 0)).collect()
        }
        None => vec![],
    }
}

/// A path from the root of the crate.
fn absolute(module: &Module, path: &[String]) -> Module {
    let mut base = module.clone();
    let mut rest = path;
    while let Some(first) = rest.first() {
        match first.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            "self" => {}
            _ => break,
        }
        rest = &rest[1..];
    }
    [base, rest.to_vec()].concat()
}

/// Every path that starts at the crate, at the module itself, at a parent or at an imported name, from the root of the
/// crate.
fn paths(tokens: &[TokenTree], module: &Module, imported: &[(String, Module)], found: &mut Vec<Module>) {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                paths(&inner, module, imported, found);
            }
            TokenTree::Ident(name)
                if matches!(name.to_string().as_str(), "crate" | "super" | "self")
                    && !(at > 1 && colons(tokens, at - 2)) =>
            {
                // `use crate as other` would hide every path that follows.
                let renamed = name != "self" && tokens.get(at + 1).is_some_and(|t| t.to_string() == "as");
                assert!(!renamed, "{}: `{name}` under another name", module.join("::"));
                if colons(tokens, at + 1) {
                    found.extend(leaves(tokens, at).into_iter().map(|(_, path)| absolute(module, &path)));
                }
            }
            TokenTree::Ident(name) if colons(tokens, at + 1) && !(at > 1 && colons(tokens, at - 2)) => {
                let targets = imported.iter().filter(|(own, _)| name == own).map(|(_, target)| target);
                let rest = |target: &Module| {
                    let paths = leaves(tokens, at + 3).into_iter();
                    paths.map(|(_, path)| [&target[..], &path[..]].concat()).collect::<Vec<Module>>()
                };
                found.extend(targets.flat_map(rest));
            }
            _ => {}
        }
    }
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

/// The folders of the crates of the workspace.
fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("crates")).expect("the source can be read");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("the source can be read").path()).collect();
    folders.push(root().join("python"));
    folders.sort();
    folders
}

/// The crates of the workspace with the modules of each, and what these name.
fn crates() -> Vec<(String, Uses)> {
    let name = |folder: &PathBuf| folder.file_name().expect("a folder has a name").to_string_lossy().into_owned();
    folders().iter().map(|folder| (name(folder), Source::read(&folder.join("src")).uses())).collect()
}

/// What the header of a `mod.rs` says that its folder may use; none where it says nothing.
fn stated(text: &str) -> Option<String> {
    let header: Vec<&str> =
        text.lines().take_while(|line| line.starts_with("//!")).map(|line| line[3..].trim()).collect();
    let (_, rest) = header
        .split(|line| line.is_empty())
        .map(|part| part.join(" "))
        .find_map(|part| part.split_once("May use: ").map(|(before, rest)| (before.to_owned(), rest.to_owned())))?;
    let end = [". ", "never "].iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// What a folder uses beyond the modules that it names and what those use.
fn beyond(uses: &Uses, folder: &Module, stated: &str) -> BTreeSet<String> {
    let names =
        stated.split('`').skip(1).step_by(2).map(|name| name.split("::").map(str::to_owned).collect::<Module>());
    let beside = &folder[..folder.len() - 1];
    let named: Vec<Module> = names.flat_map(|name| [[beside, &name[..]].concat(), name]).collect();
    let mut open: Vec<&Module> = uses.keys().filter(|module| named.iter().any(|n| module.starts_with(n))).collect();
    let mut allowed: BTreeSet<&Module> = BTreeSet::new();
    while let Some(module) = open.pop() {
        if allowed.insert(module) {
            open.extend(&uses[module]);
        }
    }
    let own = uses.iter().filter(|(from, _)| from.starts_with(folder));
    let targets = own.flat_map(|(from, targets)| targets.iter().map(move |to| (from, to)));
    let outside = targets.filter(|(_, to)| !to.starts_with(folder) && !folder.starts_with(to) && !allowed.contains(to));
    outside.map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::"))).collect()
}

#[test]
fn folders_use_what_they_say() {
    let mut wrong = Vec::new();
    for folder in folders() {
        let source = folder.join("src");
        let uses = Source::read(&source).uses();
        for (module, path) in
            files(&source).into_iter().filter(|(module, path)| path.ends_with("mod.rs") && uses.contains_key(module))
        {
            match stated(&fs::read_to_string(&path).unwrap()) {
                None => wrong.push(format!("{} does not say what it may use", path.display())),
                Some(text) if text.contains("everything below") => {}
                Some(text) => wrong.extend(beyond(&uses, &module, &text)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_uses_the_root() {
    let wrong = |folder: PathBuf| Source::read(&folder.join("src")).uses_of_the_root();
    let wrong: Vec<String> = folders().into_iter().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_use_only_what_lies_below_them() {
    let document = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut wrong = Vec::new();
    for (name, uses) in crates() {
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
    for (name, uses) in crates() {
        let folders: BTreeSet<&[String]> =
            uses.keys().flat_map(|module| (1..module.len()).map(move |depth| &module[..depth])).collect();
        for folder in folders {
            let cycle = cyclic(&between_children(&uses, folder));
            wrong.extend(cycle.into_iter().map(|example| format!("{name}: {example} is part of a cycle")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A crate whose modules are given as texts.
fn source_of(modules: &[(&str, &str)]) -> Source {
    let mut source = Source::default();
    for (module, text) in modules {
        let module: Module = module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        source.add(&module, text.parse().expect("a text of a test is Rust"));
    }
    source.link();
    source
}

/// The uses of a crate whose modules are given as texts.
fn uses_of(modules: &[(&str, &str)]) -> Vec<String> {
    let uses = source_of(modules).uses();
    let pairs = uses.iter().flat_map(|(from, targets)| targets.iter().map(move |to| (from, to)));
    let far = pairs.filter(|(from, to)| !from.starts_with(to));
    far.map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::"))).collect()
}

#[test]
fn the_reader_sees_through_braces_parents_and_macros() {
    let text = "use crate::{a, b::{C, d::E}}; fn f() { vec![super::super::g::h()]; self::super::k::l(); }
                #[cfg(test)] mod t { use crate::z; }";
    let others = ["a", "b", "b::d", "m", "m::g", "m::n", "m::n::k", "z"].map(|module| (module, ""));
    let found = uses_of(&[&others[..], &[("m::n::o", text), ("m::n::o::t", "use crate::z;")]].concat());
    assert_eq!(found, ["a", "b", "b::d", "m::g", "m::n::k"].map(|to| format!("m::n::o -> {to}")));
    let pairs = [(("a", "b"), ""), (("b", "c"), "b -> c"), (("c", "b"), "c -> b")];
    let uses = pairs.map(|((a, b), example)| ((a.to_owned(), b.to_owned()), example.to_owned())).into();
    assert_eq!(cyclic(&uses), ["b -> c", "c -> b"]);
}

#[test]
fn the_reader_sees_through_imports_and_modules_in_braces() {
    let root = ("", "mod high; mod low; mod other; pub use high::{High as Tall, self as top}; pub use other::*;");
    let low =
        |text: &'static str| uses_of(&[root, ("high", ""), ("other", "pub use crate::high::High;"), ("low", text)]);
    for text in
        ["use crate::Tall;", "use super::{Tall};", "fn f() { crate::top::g() }", "mod m { use super::super::Tall; }"]
    {
        let from = if text.starts_with("mod") { "low::m" } else { "low" };
        assert_eq!(low(text), ["other -> high".replace("other", from), "other -> high".into()], "{text}");
    }
    assert_eq!(low("use super::*;"), ["low -> high", "low -> other", "other -> high"]);
    assert_eq!(low("use crate::other::High;"), ["low -> high", "low -> other", "other -> high"]);
}

#[test]
fn the_reader_sees_through_imported_modules_and_stars() {
    let folder = ("low", "mod a; mod b; pub use b::*;");
    let low = |text: &'static str| uses_of(&[("", "mod low;"), folder, ("low::a", text), ("low::b", "pub struct B;")]);
    for text in ["use super::B;", "use crate::low; fn f() { low::B::g() }", "use crate::low as up; use up::{B};"] {
        assert_eq!(low(text), ["low::a -> low::b"], "{text}");
    }
    assert!(low("use super::Other;").is_empty(), "what `low` declares itself is not from `b`");
    let root = ("", "mod low; fn run() {} const NAME: &str = \"\"; pub use low::f;");
    let low = |text: &'static str| source_of(&[root, ("low", text)]).uses_of_the_root();
    assert_eq!(low("fn f() { super::run() }"), ["low -> run"]);
    assert_eq!(low("use crate::{NAME, run};"), ["low -> run"]);
    assert!(low("use crate::{NAME, f};").is_empty());
}
