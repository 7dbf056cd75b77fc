//! `dates`: calendar dates by day, week, month, quarter, year, decade.
//!
//! Dates are written year-month-day, or as `written` says (`"d-m-y"` for 05.03.2024, `"m-d-y"` for 03/05/2024, whatever
//! the separators); a time of day after them is allowed, and `day` drops it. Labels are `2024-03-05`,
//! `2024-W10` (ISO 8601 weeks, with the year the week belongs to), `2024-03`, `2024-Q1`, `2024`, `2020s`. A week may
//! lie in two months, quarters, years or decades, so none of these can follow it. The level `*` is always added.

use std::str::FromStr;

use jiff::civil::Date;

use super::Builder;
use crate::hierarchy::recipe::nearest;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::{Column, DATE_ORDERS, DateOrder};

pub(super) const BUILDER: Builder = Builder {
    id: "dates",
    definition: "Calendar dates by unit, finer first: day, week, month, quarter, year, decade. Weeks nest in no other \
                 unit. With `written = \"d-m-y\"` or \"m-d-y\" dates are read in this order.",
    example: "{ dates = [\"month\", \"year\", \"decade\"] }",
    options: &["written"],
    categorical: false,
    by_value: true,
    reads_file: false,
    build,
};

/// The units, finer first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
}

const UNITS: [(&str, Unit); 6] = [
    ("day", Unit::Day),
    ("week", Unit::Week),
    ("month", Unit::Month),
    ("quarter", Unit::Quarter),
    ("year", Unit::Year),
    ("decade", Unit::Decade),
];

impl Unit {
    fn nests_in(self, wider: Unit) -> bool {
        self < wider && self != Unit::Week
    }

    /// What dates in one unit share.
    fn key(self, date: Date) -> (i16, i16) {
        match self {
            Unit::Day => (date.year(), date.day_of_year()),
            Unit::Week => {
                let week = date.iso_week_date();
                (week.year(), i16::from(week.week()))
            }
            Unit::Month => (date.year(), i16::from(date.month())),
            Unit::Quarter => (date.year(), i16::from((date.month() + 2) / 3)),
            Unit::Year => (date.year(), 0),
            Unit::Decade => (date.year().div_euclid(10) * 10, 0),
        }
    }

    fn label(self, (year, part): (i16, i16)) -> String {
        match self {
            Unit::Day => {
                let date = Date::new(year, 1, 1).and_then(|d| d.with().day_of_year(part).build());
                date.map_or_else(|_| format!("{year:04}-{part:03}"), |d| d.to_string())
            }
            Unit::Week => format!("{year:04}-W{part:02}"),
            Unit::Month => format!("{year:04}-{part:02}"),
            Unit::Quarter => format!("{year:04}-Q{part}"),
            Unit::Year => format!("{year:04}"),
            Unit::Decade => format!("{year:04}s"),
        }
    }
}

fn wrong(message: String) -> HierarchyError {
    HierarchyError::new("dates", message)
}

fn units(recipe: &Recipe<'_>) -> Result<Vec<(&'static str, Unit)>, HierarchyError> {
    let names = || UNITS.iter().map(|(name, _)| *name);
    let mut units: Vec<(&str, Unit)> = Vec::new();
    for item in recipe.list("dates", "[\"month\", \"year\"]")? {
        let Value::Text(written) = item else {
            return Err(wrong(format!("`dates` lists units: {}", names().collect::<Vec<_>>().join(", "))));
        };
        let Some(unit) = UNITS.into_iter().find(|(name, _)| name == written) else {
            let hint = match nearest(written, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(wrong(format!("unknown unit `{written}`; {hint}")));
        };
        if let Some(&(finer, before)) = units.last()
            && !before.nests_in(unit.1)
        {
            let name = unit.0;
            return Err(wrong(match before {
                Unit::Week if unit.1 > Unit::Week => {
                    format!("`week` does not nest in `{name}`: a week may lie in two of them; drop one of the pair")
                }
                _ if finer == name => format!("`{name}` stands twice"),
                _ => format!("`{finer}` does not nest in `{name}`: list finer units first"),
            }));
        }
        units.push(unit);
    }
    Ok(units)
}

/// The order in which the dates are written, where the recipe says it.
fn written(recipe: &Recipe<'_>) -> Result<Option<DateOrder>, HierarchyError> {
    let names = || DATE_ORDERS.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    match recipe.get("written") {
        None => Ok(None),
        Some(Value::Text(text)) if DATE_ORDERS.iter().any(|(name, _)| name == text) => {
            Ok(DATE_ORDERS.iter().find(|(name, _)| name == text).map(|&(_, order)| order))
        }
        Some(_) => Err(HierarchyError::new("written", format!("`written` must be one of {}", names()))),
    }
}

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let units = units(recipe)?;
    let order = written(recipe)?;
    let read = |value: &str| match order {
        None => Date::from_str(value.trim()).ok(),
        Some(order) => order.read(value),
    };
    let what = match order {
        None | Some(DateOrder::YearMonthDay) => "dates such as 2024-03-05",
        Some(DateOrder::DayMonthYear) => "dates such as 05.03.2024",
        Some(DateOrder::MonthDayYear) => "dates such as 03/05/2024",
    };
    let (leaves, dates) = recipe.understood("dates", column, what, read)?;
    let level = |unit: Unit| Level::by_key(dates.iter().map(|&d| unit.key(d)), |key| unit.label(key));
    let mut levels: Vec<Level> = units.into_iter().map(|(_, unit)| level(unit)).collect();
    levels.push(Level::top(leaves.len()));
    Ok(Hierarchy { leaves, levels })
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{list, make, table};
    use crate::table::Column;

    #[test]
    fn every_unit_has_its_label() {
        let column = Column::from_values("born", ["2021-01-02", "1999-12-31"]);
        let h = make(table([("dates", list(["day", "month", "quarter", "year", "decade"]))]), &column).unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert_eq!(paths[0].1, ["1999-12-31", "1999-12", "1999-Q4", "1999", "1990s", "*"]);
        assert_eq!(paths[1].1, ["2021-01-02", "2021-01", "2021-Q1", "2021", "2020s", "*"]);
        let h = make(table([("dates", list(["day", "week"]))]), &column).unwrap();
        assert_eq!(h.label(1, 2), "2020-W53");
    }

    #[test]
    fn times_of_day_are_dropped() {
        let mut column = Column::from_values("seen", ["2024-03-05T10:00:00", "2024-03-05 11:30"]);
        column.kind = crate::table::ValueType::Date;
        let h = make(table([("dates", list(["day"]))]), &column).unwrap();
        assert_eq!(h.levels[0].labels, ["2024-03-05"]);
    }

    #[test]
    fn dates_are_read_in_the_order_stated() {
        let column = Column::from_values("seen", ["05.03.2024", "24.12.2023 18:00"]);
        let t = crate::hierarchy::tests::t;
        let h = make(table([("dates", list(["month", "year"])), ("written", t("d-m-y"))]), &column).unwrap();
        assert_eq!(h.paths().next().unwrap().1, ["2024-03", "2024", "*"]);
        assert_eq!(make(table([("dates", list(["year"])), ("written", t("x"))]), &column).unwrap_err().key, "written");
    }

    #[test]
    fn what_does_not_nest_names_the_pair() {
        let column = Column::from_values("born", ["2021-01-02"]);
        let message = |units: &[&str]| {
            let units = crate::parameter::Value::List(units.iter().map(|u| crate::hierarchy::tests::t(u)).collect());
            make(table([("dates", units)]), &column).unwrap_err().message
        };
        for wider in ["month", "quarter", "year", "decade"] {
            assert!(message(&["week", wider]).contains(&format!("`week` does not nest in `{wider}`")));
        }
        assert!(message(&["year", "month"]).contains("`year` does not nest in `month`"));
        assert!(message(&["year", "year"]).contains("twice"));
        assert!(message(&["months"]).contains("did you mean `month`?"));
        let words = Column::from_values("born", ["x"]);
        assert!(make(table([("dates", list(["year"]))]), &words).is_err());
    }
}
