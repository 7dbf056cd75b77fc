//! `icd10`: codes of diseases become their category of three characters, then their chapter.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::{Column, Dictionary};

pub(super) const BUILDER: Builder = Builder {
    id: "icd10",
    definition: "Codes of ICD-10, with or without a point: the category (I21), then the chapter (I00-I99), then `*`.",
    example: "{ icd10 = true }",
    options: &[],
    categorical: true,
    by_value: false,
    reads_file: false,
    build,
};

/// The first and last category of each chapter.
const CHAPTERS: &str = include_str!("data/icd10.txt");

/// The category of a code.
fn category(value: &str) -> Option<&str> {
    let code = value.trim_end_matches(['*', '+', '†', '!', '-']);
    let category = code.get(..3)?;
    let bytes = category.as_bytes();
    let detail = code[3..].strip_prefix('.').unwrap_or(&code[3..]);
    let shaped = bytes[0].is_ascii_uppercase() && bytes[1].is_ascii_digit() && bytes[2].is_ascii_alphanumeric();
    (shaped && detail.len() <= 4 && detail.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(category)
}

/// The chapter of a category.
fn chapter(category: &str) -> Option<&'static str> {
    // The third character may be a letter, which no chapter ends with: two characters and the place of the third
    // decide.
    let within = |line: &&'static str| {
        let (first, last) = line.split_once('-').unwrap_or((line, line));
        first <= category
            && (category <= last || category[..2] == last[..2] && category.as_bytes()[2].is_ascii_uppercase())
    };
    CHAPTERS.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).find(within)
}

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    if recipe.get("icd10") != Some(&Value::Flag(true)) {
        return Err(HierarchyError::new("icd10", "write `icd10 = true`"));
    }
    let found = |value: &str| -> Option<(String, String, &'static str)> {
        let category = category(value)?;
        Some((value.to_string(), category.to_string(), chapter(category)?))
    };
    // What is no code is for the binding to tell.
    let codes: Vec<(String, String, &'static str)> = column.dictionary.iter().filter_map(found).collect();
    let leaves: Dictionary = codes.iter().map(|c| c.0.as_str()).collect();
    let categories = Level::by_key(codes.iter().map(|c| c.1.as_str()), str::to_string);
    let chapters = Level::by_key(codes.iter().map(|c| c.2), str::to_string);
    let mut hierarchy = Hierarchy { leaves, levels: vec![categories, chapters] };
    hierarchy.close();
    Ok(hierarchy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::tests::{make, table};

    #[test]
    fn codes_have_categories_and_chapters() {
        let column = Column::from_values("diagnosis", ["I21.4", "I219", "E11.9", "D50", "C7A.1", "Z99"]);
        let h = make(table([("icd10", Value::Flag(true))]), &column).unwrap();
        let path = |value: &str| h.paths().find(|p| p.0 == value).map(|p| p.1.join(" ")).unwrap();
        assert_eq!(path("I21.4"), "I21 I00-I99 *");
        assert_eq!(path("I219"), "I21 I00-I99 *");
        assert_eq!(path("D50"), "D50 D50-D89 *");
        assert_eq!(path("C7A.1"), "C7A C00-D49 *");
    }

    #[test]
    fn chapters_hold_every_category_once_and_in_order() {
        let lines: Vec<&str> = CHAPTERS.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines.len(), 22);
        assert!(lines.windows(2).all(|pair| pair[0].split_once('-').unwrap().1 < pair[1].split_once('-').unwrap().0));
        for letter in 'A'..='Z' {
            assert!(chapter(&format!("{letter}10")).is_some(), "{letter}10");
        }
        assert_eq!(
            (chapter("D48"), chapter("D89"), chapter("H60")),
            (Some("C00-D49"), Some("D50-D89"), Some("H60-H95"))
        );
        assert_eq!((category("flu"), category("I2"), category("É21")), (None, None, None));
    }
}
