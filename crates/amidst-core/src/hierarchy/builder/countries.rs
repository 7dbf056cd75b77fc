//! `countries`: names or ISO 3166-1 codes of countries become their continent.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::{Column, Dictionary};

pub(super) const BUILDER: Builder = Builder {
    id: "countries",
    definition: "Countries by their English names or ISO 3166-1 codes: the continent, then `*`.",
    example: "{ countries = true }",
    options: &[],
    categorical: true,
    by_value: false,
    reads_file: false,
    build,
};

/// Continents and their countries.
const COUNTRIES: &str = include_str!("data/countries.txt");

/// Every name and code with its continent, in lower case.
fn known() -> rustc_hash::FxHashMap<String, &'static str> {
    let mut continent = "";
    let mut known = rustc_hash::FxHashMap::default();
    for line in COUNTRIES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(name) => continent = name,
            None => known.extend(line.split(';').map(|name| (name.to_lowercase(), continent))),
        }
    }
    known
}

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    if recipe.get("countries") != Some(&Value::Flag(true)) {
        return Err(HierarchyError::new("countries", "write `countries = true`"));
    }
    let known = known();
    // What is no country is for the binding to tell.
    let found: Vec<(&str, &'static str)> = (column.dictionary.iter())
        .filter_map(|value| Some((value, *known.get(&value.trim().to_lowercase())?)))
        .collect();
    let leaves: Dictionary = found.iter().map(|f| f.0).collect();
    let level = Level::by_key(found.iter().map(|f| f.1), str::to_string);
    let mut hierarchy = Hierarchy { leaves, levels: vec![level] };
    hierarchy.close();
    Ok(hierarchy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::tests::{make, table};

    #[test]
    fn countries_have_continents() {
        let column = Column::from_values("country", ["Germany", "de", "USA", "Japan", "Atlantis"]);
        let h = make(table([("countries", Value::Flag(true))]), &column).unwrap();
        let path = |value: &str| h.paths().find(|p| p.0 == value).map(|p| p.1.join(" "));
        assert_eq!(path("Germany").as_deref(), Some("Europe *"));
        assert_eq!(path("de").as_deref(), Some("Europe *"));
        assert_eq!((path("USA").as_deref(), path("Japan").as_deref()), (Some("Americas *"), Some("Asia *")));
        assert_eq!(path("Atlantis"), None);
    }

    #[test]
    fn every_code_stands_once() {
        let lines: Vec<&str> = COUNTRIES.lines().filter(|line| line.contains(';')).collect();
        let codes: Vec<&str> = lines.iter().flat_map(|line| line.split(';').take(2)).collect();
        let distinct: std::collections::BTreeSet<&str> = codes.iter().copied().collect();
        assert_eq!(distinct.len(), codes.len());
        assert!(lines.iter().all(|line| {
            let mut parts = line.split(';');
            parts.next().is_some_and(|c| c.len() == 2)
                && parts.next().is_some_and(|c| c.len() == 3)
                && parts.next().is_some()
        }));
        assert!(lines.len() > 235, "{}", lines.len());
        // No name means two continents.
        let names: usize = lines.iter().map(|line| line.split(';').count()).sum();
        assert_eq!(known().len(), names);
    }
}
