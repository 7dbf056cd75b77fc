//! The screens, from left to right: one file each, with its script beside it where it has one.
//!
//! May use: `jobs`, `parts`, `places`, `project`, `results`, `studio`, `work`, and what those use.

mod columns;
mod compare;
mod data;
pub mod explore;
pub mod hierarchies;
mod protection;
pub mod publish;

use std::sync::{Arc, OnceLock};

use amidst::Failure;
use maud::Markup;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::jobs::Kind;
use crate::parts::Query;
use crate::studio::{Studio, View};
use crate::work;

/// A screen.
pub struct Screen {
    /// Its name in addresses.
    pub name: &'static str,
    /// Its name on the page.
    pub title: &'static str,
    /// Whether it has a script of its own.
    pub script: bool,
    /// What it shows.
    pub draw: fn(&View, &Query) -> Markup,
}

/// Every screen, in the order of the work.
pub const SCREENS: &[Screen] = &[
    Screen { name: "data", title: "Data", script: true, draw: data::draw },
    Screen { name: "columns", title: "Columns", script: false, draw: columns::draw },
    Screen { name: "hierarchies", title: "Hierarchies", script: true, draw: hierarchies::draw },
    Screen { name: "protection", title: "Protection", script: true, draw: protection::draw },
    Screen { name: "explore", title: "Explore", script: true, draw: explore::draw },
    Screen { name: "compare", title: "Compare", script: true, draw: compare::draw },
    Screen { name: "publish", title: "Publish", script: true, draw: publish::draw },
];

/// The screen of that name.
pub fn find(name: &str) -> Option<&'static Screen> {
    SCREENS.iter().find(|screen| screen.name == name)
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every script and style with its type.
const ASSETS: &[(&str, &str, &str)] = &[
    ("studio.css", "text/css; charset=utf-8", include_str!("../assets/studio.css")),
    ("studio.js", SCRIPT, include_str!("../assets/studio.js")),
    ("data.js", SCRIPT, include_str!("data.js")),
    ("hierarchies.js", SCRIPT, include_str!("hierarchies.js")),
    ("protection.js", SCRIPT, include_str!("protection.js")),
    ("explore.js", SCRIPT, include_str!("explore.js")),
    ("compare.js", SCRIPT, include_str!("compare.js")),
    ("publish.js", SCRIPT, include_str!("publish.js")),
];

/// A script or style, with its type.
pub fn asset(name: &str) -> Option<(&'static str, &'static str)> {
    ASSETS.iter().find(|(own, _, _)| *own == name).map(|(_, kind, text)| (*kind, *text))
}

/// Where a script or style is: an address that changes with any of them, so that browsers may keep what they have.
/// Scripts name each other relative to it.
pub fn address(name: &str) -> String {
    format!("/assets/{}/{name}", edition())
}

/// What all scripts and styles of this program are known by.
pub fn edition() -> &'static str {
    static EDITION: OnceLock<String> = OnceLock::new();
    EDITION.get_or_init(|| {
        let mut digest = Sha256::new();
        ASSETS.iter().for_each(|(name, _, text)| {
            digest.update(name);
            digest.update(text);
        });
        digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    })
}

/// Starts a job that a page asked for.
///
/// # Errors
/// When it is asked for in a way that cannot be meant.
pub fn run(studio: &Arc<Studio>, kind: Kind, asked: &Value) -> Result<(), Failure> {
    match kind {
        Kind::Look | Kind::Survey | Kind::Check => work::again(studio)?,
        Kind::Explore => work::explore(studio),
        Kind::Compare => work::compare(studio),
        Kind::Publish => publish::publish(studio, asked)?,
        Kind::Verify => publish::verify(studio, asked)?,
        Kind::Series => publish::series(studio, asked)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_that_a_page_names_is_there() {
        for screen in SCREENS {
            assert_eq!(asset(&format!("{}.js", screen.name)).is_some(), screen.script, "{}", screen.name);
        }
        assert!(asset("studio.css").is_some() && asset("studio.js").is_some() && asset("../Cargo.toml").is_none());
        // A script that is named in two ways would run twice.
        let named = ASSETS.iter().flat_map(|(_, _, text)| text.lines()).filter(|line| line.starts_with("import "));
        assert!(named.clone().count() >= 6 && named.clone().all(|line| line.ends_with("from \"./studio.js\";")));
    }
}
