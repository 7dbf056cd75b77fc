//! The corpus: policies over the sample's patients, one for every algorithm, format and family of models at least.

use amidst::series::Mode;

/// One policy.
pub struct Case {
    /// The name of its digests.
    pub name: &'static str,
    /// `[columns]` and `[[require]]`.
    pub columns: &'static str,
    /// Further lines of `[search]`.
    pub search: &'static str,
    pub seed: u64,
    pub format: &'static str,
}

/// The columns that all cases share: five quasi columns, two sensitive ones.
macro_rules! columns {
    ($key:literal, $require:literal) => {
        concat!(
            "[columns.id]\nrole = \"",
            $key,
            "\"\n",
            r#"
[columns.age]
role = "quasi"
hierarchy = { intervals = [5, 10, 20, 40] }
[columns.sex]
role = "quasi"
hierarchy = { suppress = true }
[columns.zip]
role = "quasi"
hierarchy = { mask = { length = 5, from = "right", character = "*" } }
[columns.nationality]
role = "quasi"
hierarchy = { suppress = true }
[columns.education]
role = "identifying"
[columns.occupation]
role = "identifying"
[columns.diagnosis]
role = "sensitive"
[columns.cost]
role = "identifying"
"#,
            $require
        )
    };
}

const K: &str = columns!("identifying", "[[require]]\nmodel = \"k-anonymity\"\nk = 5\n");

const L: &str = columns!(
    "identifying",
    "[[require]]\nmodel = \"k-anonymity\"\nk = 3\n[[require]]\nmodel = \"distinct-l-diversity\"\nl = 3\n"
);

const ENTROPY: &str = columns!("identifying", "[[require]]\nmodel = \"entropy-l-diversity\"\nl = 2.5\n");

const RECURSIVE: &str = columns!("identifying", "[[require]]\nmodel = \"recursive-c-l-diversity\"\nc = 3\nl = 2\n");

const CLOSE: &str = columns!("identifying", "[[require]]\nmodel = \"t-closeness\"\nt = 0.4\n");

const ALPHA: &str = columns!("identifying", "[[require]]\nmodel = \"general-alpha-k-anonymity\"\nk = 4\nalpha = 0.5\n");

const RISK: &str = columns!("identifying", "[[require]]\nmodel = \"average-risk\"\nthreshold = 0.2\n");

const KEYED: &str = columns!("key", "[[require]]\nmodel = \"distinct-l-diversity\"\nl = 3\n");

const fn case(
    name: &'static str,
    columns: &'static str,
    search: &'static str,
    seed: u64,
    format: &'static str,
) -> Case {
    Case { name, columns, search, seed, format }
}

/// Releases.
pub const CASES: &[Case] = &[
    case("optimal-k-csv", K, "algorithm = \"optimal\"\nmax_suppression = 0.05", 1, "csv"),
    case("optimal-k-seed", K, "algorithm = \"optimal\"\nmax_suppression = 0.05", 2, "csv"),
    case("optimal-mask", K, "algorithm = \"optimal\"\nmax_suppression = 0.1\nsuppressed = \"mask\"", 1, "csv"),
    case("optimal-discernibility", L, "algorithm = \"optimal\"\nmetric = \"discernibility\"", 1, "csv"),
    case("optimal-l-parquet", L, "algorithm = \"optimal\"\nmax_suppression = 0.02", 1, "parquet"),
    case("optimal-entropy-arrow", ENTROPY, "algorithm = \"optimal\"\nmax_suppression = 0.05", 1, "arrow"),
    case("optimal-recursive-jsonl", RECURSIVE, "algorithm = \"optimal\"\nmax_suppression = 0.05", 1, "jsonl"),
    case("optimal-close-tsv", CLOSE, "algorithm = \"optimal\"\nmax_suppression = 0.05", 1, "tsv"),
    case("optimal-alpha", ALPHA, "algorithm = \"optimal\"\nmax_suppression = 0.05", 1, "csv"),
    case("optimal-risk", RISK, "algorithm = \"optimal\"\nmax_suppression = 0.05", 1, "csv"),
    case("incognito", L, "algorithm = \"incognito\"", 1, "csv"),
    case("samarati", K, "algorithm = \"samarati\"\nmax_suppression = 0.05", 1, "csv"),
    case("mondrian-k", K, "algorithm = \"mondrian\"", 1, "csv"),
    case("mondrian-gz", L, "algorithm = \"mondrian\"", 3, "csv.gz"),
    case("mondrian-close", CLOSE, "algorithm = \"mondrian\"", 1, "parquet"),
    case("top-down", L, "algorithm = \"top-down\"", 1, "csv"),
    case("top-down-entropy", ENTROPY, "algorithm = \"top-down\"", 1, "csv"),
    case("systematic", L, "algorithm = \"systematic\"", 1, "csv"),
    case("systematic-seed", K, "algorithm = \"systematic\"", 5, "jsonl"),
    case("k-member", L, "algorithm = \"k-member\"", 1, "csv"),
    case("one-pass-k-means", L, "algorithm = \"one-pass-k-means\"", 1, "csv"),
    case("alpha-k-clustering", ALPHA, "algorithm = \"alpha-k-clustering\"", 1, "csv"),
    case("portfolio", L, "algorithm = \"portfolio\"", 1, "csv"),
    case("portfolio-recursive", RECURSIVE, "algorithm = \"portfolio\"", 2, "arrow"),
];

/// Series of two versions.
pub const SERIES: &[(Mode, Case)] = &[
    (Mode::Maintain, case("series-maintain", KEYED, "algorithm = \"mondrian\"", 1, "csv")),
    (Mode::MInvariant, case("series-m-invariant", KEYED, "algorithm = \"mondrian\"", 1, "csv")),
];
