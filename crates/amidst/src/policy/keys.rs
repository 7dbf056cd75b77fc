//! Every key that a policy may have, with what it means: the parser, the reference, `amidst explain` and the schema for
//! editors read this table, so that none of them knows a key that the others do not.

use super::Role;

/// What stands under one heading of a policy.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// The key of the heading.
    pub name: &'static str,
    /// The heading as it is written.
    pub heading: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// What holds where it is absent.
    pub default: &'static str,
    /// What it means.
    pub help: &'static str,
    /// A value, as it is written.
    pub example: &'static str,
    /// For keys of columns, the roles for which it means something; empty: for all.
    pub roles: &'static [Role],
}

/// What the value of a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A number, or a fraction in quotes.
    Number,
    /// A whole number.
    Whole,
    /// A number, or a text such as "2 %".
    Share,
    /// True or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of lists of texts.
    Lists,
    /// A table of a hierarchy builder.
    Hierarchy,
    /// A table with options of its own.
    Table,
    /// A date.
    Date,
    /// One of several of these, as the help says.
    Any,
}

impl Kind {
    /// In words.
    pub fn words(self) -> String {
        match self {
            Kind::Text => "text".to_string(),
            Kind::Texts => "list of texts".to_string(),
            Kind::Number => "number or fraction".to_string(),
            Kind::Whole => "whole number".to_string(),
            Kind::Share => "share, percentage or number of rows".to_string(),
            Kind::Flag => "true or false".to_string(),
            Kind::Choice(words) => words.iter().map(|w| format!("`\"{w}\"`")).collect::<Vec<_>>().join(", "),
            Kind::Lists => "list of lists of texts".to_string(),
            Kind::Hierarchy => "table of a hierarchy".to_string(),
            Kind::Table => "table".to_string(),
            Kind::Date => "date".to_string(),
            Kind::Any => "as told".to_string(),
        }
    }
}

const fn key(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
    example: &'static str,
    roles: &'static [Role],
) -> Key {
    Key { name, kind, default, help, example, roles }
}

/// The section called `name`.
pub fn section(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|s| s.name == name)
}

/// The names of the keys of a section.
pub(super) fn names(section: &str) -> Vec<&'static str> {
    self::section(section).map(|s| s.keys.iter().map(|k| k.name).collect()).unwrap_or_default()
}

/// Everything that a policy may say, in the order in which it is usually written.
pub const SECTIONS: &[Section] = &[
    Section { name: "data", heading: "[data]", help: "The table, and what it does not say by itself.", keys: DATA },
    Section {
        name: "columns",
        heading: "[columns.NAME]",
        help: "One column. Columns that no section names are an error, unless [columns.\"*\"] says what they are: identifying, quasi or insensitive.",
        keys: COLUMNS,
    },
    Section {
        name: "require",
        heading: "[[require]]",
        help: "What every class of a release must satisfy; one section for each requirement. Beside these two keys it has the parameters of its model.",
        keys: REQUIRE,
    },
    Section {
        name: "quasi",
        heading: "[[quasi]]",
        help: "One of several quasi-identifiers: columns that somebody may know together. With such sections each set must satisfy every requirement by itself, whatever the cells of its other columns, and every quasi column is in a set; without them all quasi columns are one set.",
        keys: QUASI,
    },
    Section { name: "search", heading: "[search]", help: "How the release is searched for.", keys: SEARCH },
    Section {
        name: "risk",
        heading: "[risk]",
        help: "What is known of the population that the table was drawn from. It is measured and reported, not required: k-map requires it.",
        keys: RISK,
    },
    Section {
        name: "utility",
        heading: "[utility]",
        help: "What the release should be useful for. It is measured and reported.",
        keys: UTILITY,
    },
    Section {
        name: "release",
        heading: "[release]",
        help: "What the release is, for whom, and which risk is accepted: told in report and certificate, and compared with the measured risk.",
        keys: RELEASE,
    },
    Section { name: "output", heading: "[output]", help: "What is written.", keys: OUTPUT },
];

const DATA: &[Key] = &[
    key(
        "input",
        Kind::Text,
        "given by the caller",
        "a file, a folder or pattern of files, or sqlite:// or postgres://; relative to the policy",
        "\"patients.csv\"",
        &[],
    ),
    key("separator", Kind::Text, "guessed", "what stands between the cells of a CSV file", "\";\"", &[]),
    key(
        "encoding",
        Kind::Text,
        "UTF-8, or what the byte order mark says",
        "the encoding of text",
        "\"windows-1252\"",
        &[],
    ),
    key(
        "header",
        Kind::Flag,
        "true",
        "whether the first line names the columns; without it they are column1, column2, …",
        "false",
        &[],
    ),
    key("decimal", Kind::Choice(&[".", ","]), "\".\"", "what stands before decimals", "\",\"", &[]),
    key(
        "date_format",
        Kind::Text,
        "dates are texts unless written year-month-day",
        "how dates are written: d-m-y, m-d-y, y-m-d or a pattern",
        "\"%d.%m.%Y\"",
        &[],
    ),
    key("sheet", Kind::Text, "the only one that holds something", "the sheet of a workbook", "\"Patients\"", &[]),
    key(
        "merged",
        Kind::Choice(&["refuse", "fill", "empty"]),
        "\"refuse\"",
        "merged cells: an error, each has the value, or only the first has it",
        "\"fill\"",
        &[],
    ),
    key(
        "formulas",
        Kind::Choice(&["refuse", "unknown"]),
        "\"refuse\"",
        "cells of a workbook whose formula failed (#N/A) or was never calculated: an error, or unknown",
        "\"unknown\"",
        &[],
    ),
    key("missing", Kind::Texts, "[]", "cells that mean \"unknown\"; nulls always do", "[\"?\", \"\"]", &[]),
    key(
        "missing_rows",
        Kind::Choice(&["drop", "keep"]),
        "\"drop\"",
        "rows with an unknown cell are left out, or unknown is a value of its own",
        "\"keep\"",
        &[],
    ),
];

const VALUED: &[Role] = &[Role::Quasi, Role::Sensitive];

const COLUMNS: &[Key] = &[
    key(
        "role",
        Kind::Choice(&["identifying", "quasi", "sensitive", "insensitive", "key", "consent"]),
        "must be stated",
        "what the column is to the people in the table; see `amidst explain roles`",
        "\"quasi\"",
        &[],
    ),
    key(
        "type",
        Kind::Choice(&["text", "integer", "decimal", "date"]),
        "guessed",
        "what its values are",
        "\"integer\"",
        &[],
    ),
    key(
        "hierarchy",
        Kind::Hierarchy,
        "none: local recoding makes ranges or sets",
        "how its values are generalized; see `amidst hierarchies`",
        "{ intervals = [5, 10, 20] }",
        VALUED,
    ),
    key(
        "level",
        Kind::Whole,
        "0: its values",
        "the level of its hierarchy whose labels are published in the place of its values; requirements, `order` and \
         `categories` speak of the labels",
        "1",
        &[Role::Sensitive],
    ),
    key("weight", Kind::Number, "1", "how much a loss in this column counts", "2.0", &[Role::Quasi]),
    key(
        "generalize",
        Kind::Choice(&["hierarchy", "ranges", "sets"]),
        "by hierarchy where there is one",
        "what a local recoding writes",
        "\"ranges\"",
        &[Role::Quasi],
    ),
    key(
        "order",
        Kind::Texts,
        "numbers and dates have their own",
        "the rank order of texts",
        "[\"low\", \"middle\", \"high\"]",
        VALUED,
    ),
    key(
        "categories",
        Kind::Lists,
        "each value is its own",
        "values that are equally sensitive, the most sensitive first",
        "[[\"HIV\", \"Cancer\"], [\"Flu\"]]",
        &[Role::Sensitive],
    ),
    key(
        "weights",
        Kind::Any,
        "\"uniform\"",
        "weights of the categories: \"uniform\", { sensitivity = 2 }, or one for each",
        "\"uniform\"",
        &[Role::Sensitive],
    ),
    key(
        "waived",
        Kind::Texts,
        "[\"yes\", \"true\", \"1\"]",
        "values that mean that the person waived protection",
        "[\"yes\"]",
        &[Role::Consent],
    ),
    key(
        "mode",
        Kind::Choice(&["publish", "join", "separate"]),
        "\"publish\"",
        "what becomes of rows whose person waived protection",
        "\"join\"",
        &[Role::Consent],
    ),
    key(
        "accept",
        Kind::Text,
        "refused where it singles people out",
        "why a column is published as it is although it singles people out; printed in report and certificate",
        "\"printed on the door\"",
        &[Role::Insensitive],
    ),
];

const REQUIRE: &[Key] = &[
    key("model", Kind::Text, "must be stated", "a privacy model; `amidst models` lists them", "\"k-anonymity\"", &[]),
    key(
        "on",
        Kind::Any,
        "the only sensitive column",
        "the sensitive column that it protects, or a list of them",
        "\"disease\"",
        &[],
    ),
];

const QUASI: &[Key] = &[key(
    "columns",
    Kind::Texts,
    "must be stated",
    "the quasi columns of the set; a column may be in several sets",
    "[\"age\", \"zip\"]",
    &[],
)];

const SEARCH: &[Key] = &[
    key("algorithm", Kind::Text, "chosen", "`amidst algorithms` lists them", "\"mondrian\"", &[]),
    key("metric", Kind::Text, "chosen", "what \"best\" means; `amidst metrics` lists them", "\"loss\"", &[]),
    key(
        "max_suppression",
        Kind::Share,
        "0",
        "how many rows may be left out: a percentage or a share; a whole number is a number of rows",
        "\"2 %\"",
        &[],
    ),
    key(
        "suppressed",
        Kind::Choice(&["drop", "mask"]),
        "\"drop\"",
        "rows that are left out are not published, or published with every quasi column `*`",
        "\"mask\"",
        &[],
    ),
    key("seed", Kind::Whole, "1", "where randomness starts", "1", &[]),
    key(
        "levels",
        Kind::Table,
        "searched for",
        "publish exactly this node of the lattice: a level for each quasi column",
        "{ age = 2, zip = 1 }",
        &[],
    ),
    key(
        "time_limit",
        Kind::Number,
        "none",
        "seconds that the search may take; the portfolio improves its release until then, and Ctrl-C publishes the best so far",
        "60",
        &[],
    ),
    key(
        "options",
        Kind::Table,
        "those of the algorithm",
        "what only the chosen algorithm understands; `amidst explain NAME` tells",
        "{}",
        &[],
    ),
];

const RISK: &[Key] = &[
    key(
        "population",
        Kind::Text,
        "none",
        "a table of the population with the quasi columns, and perhaps a column `count`",
        "\"people.csv\"",
        &[],
    ),
    key(
        "sampling_fraction",
        Kind::Number,
        "unknown",
        "the share of the population that is in the table",
        "\"1/20\"",
        &[],
    ),
];

const UTILITY: &[Key] =
    &[key("target", Kind::Text, "none", "a published column that analysts want to predict", "\"disease\"", &[])];

const RELEASE: &[Key] = &[
    key("title", Kind::Text, "none", "what the data set is called", "\"Ward visits 2024\"", &[]),
    key("purpose", Kind::Text, "none", "what the release is for", "\"teaching\"", &[]),
    key("recipient", Kind::Text, "none", "who gets it", "\"students of the course\"", &[]),
    key(
        "threshold",
        Kind::Any,
        "none",
        "the highest risk of re-identification that is accepted: ema, health-canada, ipc-low, ipc-medium, ipc-high, cms-11, or a number",
        "\"ema\"",
        &[],
    ),
    key("valid_until", Kind::Date, "none", "the last day on which it may be used", "2027-12-31", &[]),
];

const OUTPUT: &[Key] = &[
    key(
        "file",
        Kind::Text,
        "\"release.csv\"",
        "the name of the release; its ending decides the format",
        "\"release.parquet\"",
        &[],
    ),
    key(
        "order",
        Kind::Choice(&["shuffled", "input"]),
        "\"shuffled\"",
        "the order of rows; that of the input may tell who is who",
        "\"shuffled\"",
        &[],
    ),
    key(
        "ranges",
        Kind::Choice(&["label", "midpoint", "bounds", "rounded"]),
        "\"label\"",
        "how ranges of numbers are written: [20-39], the number in the middle, two columns NAME_min and NAME_max, which repeat what is no range, or with ends that are rounded outward, so that none is anybody's value",
        "\"midpoint\"",
        &[],
    ),
    key(
        "values",
        Kind::Choice(&["generalized", "representative"]),
        "\"generalized\"",
        "labels that cover all values of a class, or one typical value for each class and column",
        "\"representative\"",
        &[],
    ),
];
