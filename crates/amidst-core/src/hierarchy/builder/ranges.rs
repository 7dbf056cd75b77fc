//! `ranges`: numbers between explicit break points, fewer at each level.
//!
//! n break points make n + 1 groups, the first and the last open: `<18`, `[18-29]`, …, `>=65`; a break point belongs to
//! the group above it. The break points of a level are some of those of the level before, so that the levels nest. The
//! level `*` is always added.

use super::Builder;
use crate::hierarchy::line::{DIGITS, Line, boundary};
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::Column;

pub(super) const BUILDER: Builder = Builder {
    id: "ranges",
    definition: "Numbers between the given break points, one list a level; each list holds some break points of the one \
                 before. Ranges of decimals are written with one digit more than the break points have, or with `digits`.",
    example: "{ ranges = [[18, 30, 45, 65], [45]] }",
    options: &[DIGITS],
    categorical: false,
    by_value: true,
    reads_file: false,
    build,
};

const KEY: &str = "ranges";

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let mut breaks = Vec::new();
    for (i, level) in recipe.list(KEY, "[[18, 30, 45, 65], [45]]")?.iter().enumerate() {
        let level = match level {
            Value::List(points) if !points.is_empty() => points,
            _ => {
                let message = format!(
                    "level {} of `ranges` must be a list of break points, as in [[18, 30, 45, 65], [45]]; \
                     the level `*` is added by itself",
                    i + 1
                );
                return Err(HierarchyError::new(KEY, message));
            }
        };
        breaks.push(level.iter().map(|p| boundary(KEY, p)).collect::<Result<Vec<_>, _>>()?);
    }
    let mut line = Line::through(&breaks.concat()).written_as(recipe)?;
    let breaks = breaks
        .into_iter()
        .map(|level| level.into_iter().map(|p| line.units(KEY, p)).collect())
        .collect::<Result<Vec<Vec<i128>>, _>>()?;
    for (i, level) in breaks.iter().enumerate() {
        if let Some(pair) = level.windows(2).find(|p| p[0] >= p[1]) {
            let (a, b) = (line.write(pair[0]), line.write(pair[1]));
            let message = format!("break points must ascend, but at level {} {a} stands before {b}", i + 1);
            return Err(HierarchyError::new(KEY, message));
        }
    }
    for (i, pair) in breaks.windows(2).enumerate() {
        if let Some(lone) = pair[1].iter().find(|p| pair[0].binary_search(p).is_err()) {
            let message = format!(
                "{} breaks level {} but not level {}, so the levels would not nest; add it there or remove it here",
                line.write(*lone),
                i + 2,
                i + 1
            );
            return Err(HierarchyError::new(KEY, message));
        }
        if pair[1].len() == pair[0].len() {
            let message = format!("level {} of `ranges` is not coarser than level {}", i + 2, i + 1);
            return Err(HierarchyError::new(KEY, message));
        }
    }

    let (leaves, places) = line.place(recipe, KEY, column)?;
    let mut levels: Vec<Level> = breaks
        .iter()
        .map(|level| {
            let group = |place: &i128| level.partition_point(|p| p <= place);
            let label = |group: usize| match (group.checked_sub(1).and_then(|g| level.get(g)), level.get(group)) {
                (Some(&low), Some(&high)) => line.between(low, high),
                (Some(&low), None) => line.from(low),
                (None, Some(&high)) => line.below(high),
                (None, None) => crate::hierarchy::TOP.to_string(),
            };
            Level::by_key(places.iter().map(group), label)
        })
        .collect();
    levels.push(Level::top(leaves.len()));
    Ok(Hierarchy { leaves, levels })
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{list, make, table};
    use crate::parameter::Value;
    use crate::table::Column;

    fn ranges<const N: usize>(levels: [Value; N]) -> Vec<(String, Value)> {
        table([("ranges", Value::List(levels.into()))])
    }

    #[test]
    fn tails_are_open_and_breaks_belong_above() {
        let column = Column::from_values("age", ["17", "18", "29", "30", "64", "65"]);
        let h = make(ranges([list(["18", "30", "45", "65"]), list(["45"])]), &column).unwrap();
        let level = |l| (0..6).map(|leaf| h.label(leaf, l)).collect::<Vec<_>>();
        assert_eq!(level(1), ["<18", "[18-29]", "[18-29]", "[30-44]", "[45-64]", ">=65"]);
        assert_eq!(level(2), ["<45", "<45", "<45", "<45", ">=45", ">=45"]);
        assert_eq!(level(3), ["*"; 6]);
    }

    #[test]
    fn decimals_are_written_as_other_ranges() {
        let h = make(ranges([list(["0.5", "1"])]), &Column::from_values("x", ["0.75"])).unwrap();
        assert_eq!(h.label(0, 1), "[0.50-0.99]");
    }

    #[test]
    fn what_does_not_nest_is_refused() {
        let column = Column::from_values("age", ["17"]);
        let message = |recipe| make(recipe, &column).unwrap_err().message;
        assert!(message(ranges([list(["18", "30"]), list(["40"])])).contains("40 breaks level 2 but not level 1"));
        assert!(message(ranges([list(["30", "18"])])).contains("must ascend"));
        assert!(message(ranges([list(["18"]), list(["18"])])).contains("not coarser"));
        assert!(message(ranges([list([])])).contains("level 1"));
        assert!(message(table([("ranges", list(["18"]))])).contains("list of break points"));
    }
}
