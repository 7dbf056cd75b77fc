//! `mask`: codes lose one character a level, from the right or the left.
//!
//! Level i keeps the first (from the left: the last) `length` − i characters and writes i mask characters for the rest;
//! level `length` is `*`. A shorter value counts as padded with blanks on the masked side, and blanks are not written:
//! of `length` 5, 142 becomes `142*`, then `142**` together with 14248. What a longer value has beyond `length` is
//! masked from level 1 on. Characters are Unicode characters, not bytes.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::Column;

pub(super) const BUILDER: Builder = Builder {
    id: "mask",
    definition: "Codes of `length` characters, masked from the right or the left, one more character a level: \
                 14248, 1424*, 142**, …, *. Without `length`, the longest value counts.",
    example: "{ mask = { length = 5, from = \"right\", character = \"*\" } }",
    options: &[],
    categorical: true,
    build,
};

/// More levels than this are a slip: nobody searches them.
const LONGEST: usize = 64;

struct Mask {
    length: Option<usize>,
    from_right: bool,
    character: char,
}

fn wrong(message: impl Into<String>) -> HierarchyError {
    HierarchyError::new("mask", message)
}

fn read(recipe: &Recipe<'_>) -> Result<Mask, HierarchyError> {
    let Some(Value::Table(options)) = recipe.get("mask") else {
        return Err(wrong("`mask` must be a table, such as { length = 5, from = \"right\" }"));
    };
    let mut mask = Mask { length: None, from_right: true, character: '*' };
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
            unknown => {
                return Err(wrong(format!("unknown key `{unknown}` in `mask`; it takes length, from, character")));
            }
        }
    }
    Ok(mask)
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
    let mut levels = Vec::with_capacity(length);
    for masked in 1..length {
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
