//! `intervals`: numbers in intervals of equal width, wider at each level.
//!
//! Level i holds the intervals of width `intervals[i]` that start at `origin` (0 when absent) and go on in both
//! directions. Each width is a multiple of the one before: else an interval would straddle two of the next level.
//! `bottom` and `top` code the tails: values under `bottom` are one group `<bottom` at every level, values from `top`
//! on are one group `>=top`; an interval that such a bound cuts ends there. `digits` states with how many digits after
//! the point intervals of decimals are written. The level `*` is always added.

use super::Builder;
use crate::hierarchy::line::{DIGITS, Line, boundary};
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::table::Column;

pub(super) const BUILDER: Builder = Builder {
    id: "intervals",
    definition: "Numbers in intervals of the given widths, one width a level; each is a multiple of the one before. \
                 `bottom` and `top` code the tails. Intervals of decimals are written with one digit more than the widths \
                 have, `[60.0-79.9]`, or with `digits`; values with more digits are rounded down.",
    example: "{ intervals = [5, 10, 20], origin = 0, bottom = 0, top = 100 }",
    options: &["origin", "bottom", "top", DIGITS],
    categorical: false,
    by_value: true,
    reads_file: false,
    build,
};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Interval {
    Below(i128),
    Between(i128, i128),
    From(i128),
}

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let stated = recipe.list("intervals", "[5, 10, 20]")?;
    let widths = stated.iter().map(|w| boundary("intervals", w)).collect::<Result<Vec<_>, _>>()?;
    let optional = |key: &str| recipe.get(key).map(|v| boundary(key, v)).transpose();
    let (origin, bottom, top) = (optional("origin")?, optional("bottom")?, optional("top")?);
    let all: Vec<_> = widths.iter().copied().chain([origin, bottom, top].into_iter().flatten()).collect();
    let mut line = Line::through(&all).written_as(recipe)?;

    let widths = widths.into_iter().map(|w| line.units("intervals", w)).collect::<Result<Vec<_>, _>>()?;
    let units = |key: &str, n: Option<_>| n.map(|n| line.units(key, n)).transpose();
    let origin = units("origin", origin)?.unwrap_or(0);
    let (bottom, top) = (units("bottom", bottom)?, units("top", top)?);
    if let Some(w) = widths.iter().find(|w| **w <= 0) {
        return Err(HierarchyError::new("intervals", format!("a width must be more than 0, not {}", line.write(*w))));
    }
    for pair in widths.windows(2) {
        if pair[1] <= pair[0] || pair[1] % pair[0] != 0 {
            let (wide, narrow) = (line.write(pair[1]), line.write(pair[0]));
            let message = format!(
                "width {wide} is no multiple of {narrow} greater than it, so the levels would not nest; \
                 each width must be a multiple of the one before, such as [5, 10, 20]"
            );
            return Err(HierarchyError::new("intervals", message));
        }
    }
    if let (Some(b), Some(t)) = (bottom, top)
        && b >= t
    {
        let message = format!("`top` ({}) must be more than `bottom` ({})", line.write(t), line.write(b));
        return Err(HierarchyError::new("top", message));
    }

    let (leaves, places) = line.place(recipe, "intervals", column)?;
    let part = |place: i128, width: i128| match (bottom, top) {
        (Some(b), _) if place < b => Interval::Below(b),
        (_, Some(t)) if place >= t => Interval::From(t),
        _ => {
            let low = place - (place - origin).rem_euclid(width);
            Interval::Between(bottom.map_or(low, |b| b.max(low)), top.map_or(low + width, |t| t.min(low + width)))
        }
    };
    let label = |part: Interval| match part {
        Interval::Below(b) => line.below(b),
        Interval::Between(low, high) => line.between(low, high),
        Interval::From(t) => line.from(t),
    };
    let mut levels: Vec<Level> =
        widths.iter().map(|&width| Level::by_key(places.iter().map(|&p| part(p, width)), label)).collect();
    levels.push(Level::top(leaves.len()));
    Ok(Hierarchy { leaves, levels })
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{list, make, n, table};
    use crate::table::Column;

    #[test]
    fn ages_in_fives_tens_and_twenties() {
        let column = Column::from_values("age", ["17", "20", "-3", "29"]);
        let h = make(table([("intervals", list(["5", "10", "20"]))]), &column).unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert_eq!(paths[0], ("-3", vec!["[-5--1]", "[-10--1]", "[-20--1]", "*"]));
        assert_eq!(paths[3], ("29", vec!["[25-29]", "[20-29]", "[20-39]", "*"]));
    }

    #[test]
    fn tails_are_coded_and_cut_intervals() {
        let column = Column::from_values("age", ["2", "3", "4", "61", "62", "99"]);
        let recipe = table([("intervals", list(["5", "10"])), ("bottom", n("3")), ("top", n("62"))]);
        let h = make(recipe, &column).unwrap();
        let first: Vec<_> = h.paths().map(|(_, labels)| labels[0]).collect();
        assert_eq!(first, ["<3", "[3-4]", "[3-4]", "[60-61]", ">=62", ">=62"]);
        assert_eq!(h.label(0, 2), "<3");
    }

    #[test]
    fn decimals_are_exact() {
        let column = Column::from_values("x", ["0.29999999999999999999", "0.3", "0.1"]);
        let h = make(table([("intervals", list(["0.1", "0.3"])), ("origin", n("0"))]), &column).unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert_eq!(paths[0], ("0.1", vec!["[0.10-0.19]", "[0.00-0.29]", "*"]));
        assert_eq!(paths[1].1[0], "[0.20-0.29]");
        assert_eq!(paths[2].1, ["[0.30-0.39]", "[0.30-0.59]", "*"]);
    }

    #[test]
    fn digits_are_those_that_the_policy_states_and_never_those_of_a_value() {
        let labels = |values: &[&str], more: &[(&str, &str)]| {
            let mut recipe = table([("intervals", list(["20"]))]);
            recipe.extend(more.iter().map(|(key, value)| (key.to_string(), n(value))));
            make(recipe, &Column::from_values("kg", values.iter().copied())).map(|h| h.label(0, 1).to_string())
        };
        assert_eq!(labels(&["61.5"], &[]).unwrap(), "[60.0-79.9]");
        assert_eq!(labels(&["61.5", "62.12345"], &[]).unwrap(), "[60.0-79.9]");
        assert_eq!(labels(&["61.5"], &[("digits", "2")]).unwrap(), "[60.00-79.99]");
        // Whole numbers stay whole.
        assert_eq!(labels(&["61"], &[("digits", "2")]).unwrap(), "[60-79]");
        for wrong in ["0", "13", "1.5", "-1"] {
            assert_eq!(labels(&["61.5"], &[("digits", wrong)]).unwrap_err().key, "digits", "{wrong}");
        }
        assert!(labels(&["61.5"], &[("origin", "0.5"), ("digits", "1")]).unwrap_err().message.contains("from 2"));
    }

    #[test]
    fn bad_recipes_name_their_key() {
        let column = Column::from_values("age", ["1", "2"]);
        let key = |recipe| make(recipe, &column).unwrap_err().key;
        assert_eq!(key(table([("intervals", list(["5", "12"]))])), "intervals");
        assert_eq!(key(table([("intervals", list(["5", "5"]))])), "intervals");
        assert_eq!(key(table([("intervals", list(["0"]))])), "intervals");
        assert_eq!(key(table([("intervals", list([]))])), "intervals");
        assert_eq!(key(table([("intervals", n("5"))])), "intervals");
        assert_eq!(key(table([("intervals", list(["5"])), ("bottom", n("5")), ("top", n("5"))])), "top");
        assert_eq!(key(table([("intervals", list(["5"])), ("origin", n("1/3"))])), "origin");
        let words = Column::from_values("age", ["young", "old"]);
        assert!(
            make(table([("intervals", list(["5"]))]), &words).unwrap_err().message.contains("none of the 2 values")
        );
    }
}
