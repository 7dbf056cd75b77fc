//! `mask`: codes lose one character a level, from the right or the left.
//!
//! Level i keeps the first (from the left: the last) `length` − i characters and writes i mask characters for the rest;
//! level `length` is `*`. A shorter value counts as padded with blanks on the masked side, and blanks are not written:
//! of `length` 5, 142 becomes `142*`, then `142**` together with 14248. What a longer value has beyond `length` is
//! masked from level 1 on. Characters are Unicode characters, not bytes. `masked` states the levels: level i masks
//! `masked[i]` characters; without it, each level masks one more than the one below.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::Column;

pub(super) const BUILDER: Builder = Builder {
    id: "mask",
    definition: "Codes of `length` characters, masked from the right or the left, one more character a level: \
                 14248, 1424*, 142**, …, *. Without `length`, the longest value counts. `masked = [2, 4]` makes levels of \
                 these numbers of masked characters only.",
    example: "{ mask = { length = 5, from = \"right\", character = \"*\" } }",
    options: &[],
    categorical: true,
    by_value: false,
    reads_file: false,
    build,
};

/// More levels than this are a slip, and cannot be searched.
const LONGEST: usize = 64;

struct Mask {
    length: Option<usize>,
    from_right: bool,
    character: char,
    /// The numbers of masked characters that make a level; empty for all.
    masked: Vec<usize>,
}

fn wrong(message: impl Into<String>) -> HierarchyError {
    HierarchyError::new("mask", message)
}

fn read(recipe: &Recipe<'_>) -> Result<Mask, HierarchyError> {
    let Some(Value::Table(options)) = recipe.get("mask") else {
        return Err(wrong("`mask` must be a table, such as { length = 5, from = \"right\" }"));
    };
    let mut mask = Mask { length: None, from_right: true, character: '*', masked: Vec::new() };
    for (key, value) in options {
        match key.as_str() {
            "length" => {
                let length = value.number().and_then(|n| n.to_u64()).map(|n| n as usize);
                let valid = length.filter(|n| (1..=LONGEST).contains(n));
                let message = format!("`length` must be a whole number from 1 to {LONGEST}");
                mask.length = Some(valid.ok_or_else(|| wrong(message))?);
            }
            "from" => {
                mask.from_right = match value {
                    Value::Text(side) if side == "right" => true,
                    Value::Text(side) if side == "left" => false,
                    _ => return Err(wrong("`from` must be \"right\" or \"left\"")),
                }
            }
            "character" => {
                let text = value.text().unwrap_or_default();
                let mut characters = text.chars();
                mask.character = match (characters.next(), characters.next()) {
                    (Some(c), None) if !c.is_control() => c,
                    _ => return Err(wrong("`character` must be one character, such as \"*\"")),
                }
            }
            "masked" => mask.masked = levels(value)?,
            unknown => {
                let keys = "length, from, character, masked";
                return Err(wrong(format!("unknown key `{unknown}` in `mask`; it takes {keys}")));
            }
        }
    }
    Ok(mask)
}

/// The numbers of masked characters that are stated, ascending.
fn levels(value: &Value) -> Result<Vec<usize>, HierarchyError> {
    let Value::List(items) = value else { return Err(wrong("`masked` must be a list, such as [2, 4]")) };
    let number = |item: &Value| item.number().and_then(|n| n.to_u64()).map(|n| n as usize).filter(|n| *n > 0);
    let stated: Option<Vec<usize>> = items.iter().map(number).collect();
    let ascending = stated.filter(|list| !list.is_empty() && list.is_sorted_by(|a, b| a < b));
    ascending.ok_or_else(|| wrong("`masked` must hold whole numbers of masked characters, ascending, such as [2, 4]"))
}

/// The first or last `keep` characters of `value`; all of them when it has fewer.
fn kept(value: &str, keep: usize, first: bool) -> &str {
    if first {
        value.char_indices().nth(keep).map_or(value, |(end, _)| &value[..end])
    } else {
        match keep.checked_sub(1) {
            None => "",
            Some(skip) => value.char_indices().rev().nth(skip).map_or(value, |(start, _)| &value[start..]),
        }
    }
}

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let mask = read(recipe)?;
    let (leaves, lengths) = recipe.understood("mask", column, "codes", |value| Some(value.chars().count()))?;
    let longest = lengths.into_iter().max().unwrap_or(1).max(1);
    let length = match mask.length {
        Some(length) => length,
        None if longest <= LONGEST => longest,
        None => return Err(wrong(format!("the longest value has {longest} characters; state a `length`"))),
    };
    if let Some(all) = mask.masked.iter().find(|masked| **masked >= length) {
        return Err(wrong(format!("`masked` has {all} of {length} characters; the level `*` is added by itself")));
    }
    let stated = if mask.masked.is_empty() { (1..length).collect() } else { mask.masked };
    let mut levels = Vec::with_capacity(length);
    for masked in stated {
        let stars: String = std::iter::repeat_n(mask.character, masked).collect();
        let label = |kept: &str| if mask.from_right { format!("{kept}{stars}") } else { format!("{stars}{kept}") };
        levels.push(Level::by_key(leaves.iter().map(|v| kept(v, length - masked, mask.from_right)), label));
    }
    levels.push(Level::top(leaves.len()));
    Ok(Hierarchy { leaves, levels })
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{make, n, t, table};
    use crate::hierarchy::{Hierarchy, HierarchyError};
    use crate::parameter::Value;
    use crate::table::Column;

    fn mask<const N: usize>(options: [(&str, Value); N], values: &[&str]) -> Result<Hierarchy, HierarchyError> {
        make(table([("mask", Value::Table(table(options)))]), &Column::from_values("zip", values.iter().copied()))
    }

    #[test]
    fn a_code_loses_its_right_end() {
        let h = mask([("length", n("5")), ("from", t("right"))], &["14248"]).unwrap();
        assert_eq!(h.paths().next().unwrap().1, ["1424*", "142**", "14***", "1****", "*"]);
    }

    #[test]
    fn from_the_left_with_another_character() {
        let h = mask([("from", t("left")), ("character", t("#"))], &["ab3é"]).unwrap();
        assert_eq!(h.paths().next().unwrap().1, ["#b3é", "##3é", "###é", "*"]);
    }

    #[test]
    fn only_the_stated_numbers_of_characters_make_a_level() {
        let two = Value::List(vec![n("2"), n("4")]);
        let h = mask([("length", n("5")), ("masked", two)], &["14248"]).unwrap();
        assert_eq!(h.paths().next().unwrap().1, ["142**", "1****", "*"]);
        for (wrong, what) in [
            (Value::List(vec![]), "such as [2, 4]"),
            (Value::List(vec![n("4"), n("2")]), "ascending"),
            (Value::List(vec![n("0"), n("2")]), "whole numbers"),
            (Value::List(vec![n("2"), n("5")]), "added by itself"),
            (n("2"), "must be a list"),
        ] {
            let error = mask([("length", n("5")), ("masked", wrong)], &["14248"]).unwrap_err();
            assert!(error.key == "mask" && error.message.contains(what), "{}", error.message);
        }
    }

    #[test]
    fn shorter_and_longer_values_find_a_place() {
        let h = mask([("length", n("3"))], &["1", "", "12", "123", "12345"]).unwrap();
        let labels = |value: &str| h.paths().find(|(leaf, _)| *leaf == value).unwrap().1;
        assert_eq!(labels(""), ["*", "**", "*"]);
        assert_eq!(labels("1"), ["1*", "1**", "*"]);
        assert_eq!(labels("12"), ["12*", "1**", "*"]);
        assert_eq!(labels("123"), labels("12345"));
    }

    #[test]
    fn bad_options_are_refused() {
        for (key, value) in
            [("length", n("0")), ("length", n("1.5")), ("from", t("top")), ("character", t("**")), ("size", n("5"))]
        {
            assert_eq!(mask([(key, value)], &["14248"]).unwrap_err().key, "mask");
        }
        assert!(make(table([("mask", n("5"))]), &Column::from_values("zip", ["1"])).is_err());
    }
}
