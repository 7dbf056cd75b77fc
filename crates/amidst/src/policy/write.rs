//! From a policy to TOML that reads back as the same policy, but for passwords, which stay with their owner.

use std::fmt::Write;

use amidst_core::parameter::Rational;
use amidst_core::parameter::Value;
use amidst_core::search::{MaxSuppression, Suppressed};
use amidst_io::{Formulas, Merged, without_password};

use super::columns::GENERALIZE;
use super::quote::{key, text};
use super::{
    ColumnPolicy, ConsentMode, MissingRows, OutputOrder, OutputValues, Policy, Ranges, ReleasePolicy, RiskPolicy,
};

impl Policy {
    /// The policy as TOML, its defaults written out. Parsing it gives an equal policy; only the passwords of databases
    /// are left out.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        self.write_data(&mut out);
        for column in self.columns.iter().chain(&self.default) {
            write_column(&mut out, column);
        }
        for requirement in &self.requirements {
            line(&mut out, "\n[[require]]");
            field(&mut out, "model", &text(requirement.model.id));
            match &requirement.on[..] {
                [] => {}
                [one] => field(&mut out, "on", &text(one)),
                several => field(&mut out, "on", &texts(several)),
            }
            for (name, parameter) in requirement.parameters.iter() {
                field(&mut out, name, &value(parameter));
            }
        }
        for columns in &self.quasi_sets {
            line(&mut out, "\n[[quasi]]");
            field(&mut out, "columns", &texts(columns));
        }
        self.write_search(&mut out);
        if self.risk != RiskPolicy::default() {
            line(&mut out, "\n[risk]");
            if let Some(file) = &self.risk.population {
                field(&mut out, "population", &text(&without_password(file)));
            }
            if let Some(fraction) = &self.risk.sampling_fraction {
                field(&mut out, "sampling_fraction", &value(&Value::Number(fraction.clone())));
            }
        }
        if let Some(target) = &self.utility.target {
            line(&mut out, "\n[utility]");
            field(&mut out, "target", &text(target));
        }
        self.write_release(&mut out);
        line(&mut out, "\n[output]");
        if let Some(file) = &self.output.file {
            field(&mut out, "file", &text(file));
        }
        let order = match self.output.order {
            OutputOrder::Shuffled => "shuffled",
            OutputOrder::Input => "input",
        };
        field(&mut out, "order", &text(order));
        // Left out where nothing is asked for, so that policies of before read as they did.
        match self.output.ranges {
            Ranges::Label => {}
            Ranges::Midpoint => field(&mut out, "ranges", &text("midpoint")),
            Ranges::Bounds => field(&mut out, "ranges", &text("bounds")),
            Ranges::Rounded => field(&mut out, "ranges", &text("rounded")),
        }
        if self.output.values == OutputValues::Representative {
            field(&mut out, "values", &text("representative"));
        }
        out
    }

    fn write_data(&self, out: &mut String) {
        line(out, "[data]");
        if let Some(input) = &self.data.input {
            field(out, "input", &text(&without_password(input)));
        }
        if let Some(separator) = self.data.separator {
            field(out, "separator", &text(&separator.to_string()));
        }
        self.write_conventions(out);
        field(out, "missing", &texts(&self.data.missing));
        let rows = match self.data.missing_rows {
            MissingRows::Drop => "drop",
            MissingRows::Keep => "keep",
        };
        field(out, "missing_rows", &text(rows));
    }

    fn write_release(&self, out: &mut String) {
        let told = &self.release;
        if *told == ReleasePolicy::default() {
            return;
        }
        line(out, "\n[release]");
        for (name, value) in [("title", &told.title), ("purpose", &told.purpose), ("recipient", &told.recipient)] {
            if let Some(value) = value {
                field(out, name, &text(value));
            }
        }
        if let Some(threshold) = &told.threshold {
            field(out, "threshold", &text(&threshold.name()));
        }
        if let Some(day) = &told.valid_until {
            field(out, "valid_until", day);
        }
    }

    fn write_conventions(&self, out: &mut String) {
        let told = &self.data.conventions;
        if let Some(encoding) = told.encoding {
            field(out, "encoding", &text(&encoding.name()));
        }
        if let Some(sheet) = &told.sheet {
            field(out, "sheet", &text(sheet));
        }
        if let Some((name, _)) = super::parse::MERGED.iter().find(|(_, m)| *m == told.merged)
            && told.merged != Merged::Refuse
        {
            field(out, "merged", &text(name));
        }
        if told.formulas == Formulas::Unknown {
            field(out, "formulas", "\"unknown\"");
        }
        if told.no_header {
            field(out, "header", "false");
        }
        if told.decimal_comma {
            field(out, "decimal", "\",\"");
        }
        if let Some(format) = &told.date_format {
            field(out, "date_format", &text(format.text()));
        }
    }

    fn write_search(&self, out: &mut String) {
        let search = &self.search;
        line(out, "\n[search]");
        for (name, chosen) in [("algorithm", &search.algorithm), ("metric", &search.metric)] {
            if let Some(chosen) = chosen {
                field(out, name, &text(chosen));
            }
        }
        let limit = match &search.max_suppression {
            MaxSuppression::Rows(rows) => rows.to_string(),
            // A share must not look like a number of rows.
            MaxSuppression::Share(share) => match decimal(share) {
                Some(written) if written.contains('.') => written,
                _ => text(&share.to_string()),
            },
        };
        field(out, "max_suppression", &limit);
        let suppressed = match search.suppressed {
            Suppressed::Drop => "drop",
            Suppressed::Mask => "mask",
        };
        field(out, "suppressed", &text(suppressed));
        field(out, "seed", &search.seed.to_string());
        if !search.levels.is_empty() {
            let levels = search.levels.iter().map(|(name, level)| format!("{} = {level}", key(name)));
            field(out, "levels", &format!("{{ {} }}", levels.collect::<Vec<_>>().join(", ")));
        }
        if let Some(limit) = search.time_limit {
            field(out, "time_limit", &format!("{}.{:09}", limit.as_secs(), limit.subsec_nanos()));
        }
        if search.options.iter().next().is_some() {
            line(out, "\n[search.options]");
            for (name, option) in search.options.iter() {
                field(out, name, &value(option));
            }
        }
    }
}

fn write_column(out: &mut String, column: &ColumnPolicy) {
    line(out, &format!("\n[columns.{}]", key(&column.name)));
    field(out, "role", &text(column.role.name()));
    if let Some(kind) = column.kind {
        field(out, "type", &text(kind.name()));
    }
    if let Some(recipe) = &column.hierarchy {
        field(out, "hierarchy", &table(recipe));
    }
    if let Some(level) = column.level {
        field(out, "level", &level.to_string());
    }
    if let Some(weight) = &column.weight {
        field(out, "weight", &value(&Value::Number(weight.clone())));
    }
    if let Some(generalize) = column.generalize
        && let Some((name, _)) = GENERALIZE.iter().find(|(_, g)| *g == generalize)
    {
        field(out, "generalize", &text(name));
    }
    if !column.order.is_empty() {
        field(out, "order", &texts(&column.order));
    }
    if !column.categories.is_empty() {
        let lists: Vec<String> = column.categories.iter().map(|c| texts(c)).collect();
        field(out, "categories", &format!("[{}]", lists.join(", ")));
    }
    if let Some(weights) = &column.weights {
        field(out, "weights", &value(weights));
    }
    if let Some(consent) = &column.consent {
        field(out, "waived", &texts(&consent.waived));
        let mode = match consent.mode {
            ConsentMode::Publish => "publish",
            ConsentMode::Join => "join",
            ConsentMode::Separate => "separate",
        };
        field(out, "mode", &text(mode));
    }
    if let Some(reason) = &column.accept {
        field(out, "accept", &text(reason));
    }
}

fn line(out: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{line}");
}

fn field(out: &mut String, name: &str, value: &str) {
    let _ = writeln!(out, "{} = {value}", key(name));
}

/// A list of texts.
pub(crate) fn texts(list: &[String]) -> String {
    let items: Vec<String> = list.iter().map(|t| text(t)).collect();
    format!("[{}]", items.join(", "))
}

/// An inline table.
pub(crate) fn table(pairs: &[(String, Value)]) -> String {
    if pairs.is_empty() {
        return "{}".to_string();
    }
    let pairs: Vec<String> = pairs.iter().map(|(k, v)| format!("{} = {}", key(k), value(v))).collect();
    format!("{{ {} }}", pairs.join(", "))
}

/// The number in decimal, if it has an end there.
fn decimal(number: &Rational) -> Option<String> {
    if number.value().is_integer() {
        let digits = number.to_string();
        // TOML's whole numbers have 64 bits; a larger one is written with a point.
        return Some(if digits.parse::<i64>().is_ok() { digits } else { digits + ".0" });
    }
    let shown = number.to_string();
    if shown.contains('.') {
        return Some(shown);
    }
    // Digits are moved before the point one by one; a policy's numbers have at most some hundred.
    let ten = Rational::from(10);
    let mut shifted = number.value().clone();
    for places in 1..=500 {
        shifted *= ten.value();
        if shifted.is_integer() {
            let digits = shifted.numer().to_string();
            let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |d| ("-", d));
            let padded = format!("{digits:0>width$}", width = places + 1);
            let (whole, fraction) = padded.split_at(padded.len() - places);
            return Some(format!("{sign}{whole}.{fraction}"));
        }
    }
    None
}

/// Any value. A fraction that no decimal equals is written as a text.
pub(crate) fn value(of: &Value) -> String {
    match of {
        Value::Number(n) => decimal(n).unwrap_or_else(|| text(&n.to_string())),
        Value::Text(t) => text(&without_password(t)),
        Value::Flag(flag) => flag.to_string(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(pairs) => table(pairs),
    }
}
