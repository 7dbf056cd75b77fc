//! The types of an experiment: what a paper claims, how it is measured here, and the outcome.

use std::sync::atomic::{AtomicBool, Ordering};

use amidst::Failure;
use serde::{Deserialize, Serialize};

use crate::data::Adult;

/// A paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paper {
    /// Machanavajjhala et al. 2007.
    Article,
    /// Sumana and Hareesh 2010.
    Survey,
    /// Sun, Li and Wang 2010.
    LAlpha,
    /// Sun, Wang and Li 2008.
    Update,
    /// Kabir et al. 2010.
    Clustering,
}

impl Paper {
    /// All papers, in the order of the page.
    pub const ALL: [Paper; 5] = [Paper::Article, Paper::Survey, Paper::LAlpha, Paper::Update, Paper::Clustering];

    /// The name on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Paper::Article => "article",
            Paper::Survey => "survey",
            Paper::LAlpha => "l-alpha",
            Paper::Update => "update",
            Paper::Clustering => "clustering",
        }
    }

    /// Authors, title and place of publication.
    pub fn citation(self) -> &'static str {
        match self {
            Paper::Article => {
                "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam: ℓ-Diversity: Privacy Beyond k-Anonymity. ACM TKDD 1(1), 2007"
            }
            Paper::Survey => {
                "Sumana, Hareesh: Anonymity: An Assessment and Perspective in Privacy Preserving Data Mining. 2010"
            }
            Paper::LAlpha => {
                "Sun, Li, Wang: A family of enhanced (L,α)-diversity models for privacy preserving data publishing. FGCS, 2010"
            }
            Paper::Update => "Sun, Wang, Li: L-Diversity Based Dynamic Update for Large Time-evolving Microdata. 2008",
            Paper::Clustering => {
                "Kabir, Wang, Bertino, Chi: Systematic Clustering Method for l-diversity Model. ADC 2010"
            }
        }
    }
}

/// An experiment as registered in [`EXPERIMENTS`](crate::EXPERIMENTS).
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// Its name on the command line and the stem of its file names.
    pub id: &'static str,
    /// The paper.
    pub paper: Paper,
    /// Where in the paper, such as "Figures 9 and 11".
    pub place: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// What the paper claims.
    pub claim: &'static str,
    /// How it is measured here.
    pub measured: &'static str,
    /// Differences from the paper, with reasons.
    pub departures: &'static [&'static str],
    /// Whether it needs Adult or its stand-in.
    pub adult: bool,
    /// Runs it.
    pub run: fn(&Context<'_>) -> Result<Outcome, Failure>,
}

/// The inputs of an experiment.
pub struct Context<'a> {
    /// The Adult table or its stand-in.
    pub adult: &'a Adult,
    /// Whether to run the smaller version.
    pub quick: bool,
    /// Set by another thread to stop the run.
    pub cancel: &'a AtomicBool,
    /// Called with the share of the experiment that is done, from 0 to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
}

impl Context<'_> {
    /// Reports that `done` of `all` steps are done.
    ///
    /// # Errors
    /// When the run was asked to stop.
    pub fn step(&self, done: usize, all: usize) -> Result<(), Failure> {
        (self.progress)(done as f64 / all.max(1) as f64);
        if self.cancel.load(Ordering::Relaxed) { Err(Failure::Cancelled) } else { Ok(()) }
    }
}

/// The outcome of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The measured figures.
    pub table: Sheet,
    /// The same figures as charts.
    pub charts: Vec<Chart>,
    /// Numbers printed in the paper, with those found.
    pub printed: Vec<Printed>,
    /// The claims with their verdicts.
    pub claims: Vec<Claim>,
    /// Parameters and seeds.
    pub settings: Vec<(String, String)>,
}

/// A table of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// A chart: several series over one axis of categories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: String,
    /// The vertical axis.
    pub y: String,
    /// The labels of the horizontal axis.
    pub places: Vec<String>,
    /// The series.
    pub series: Vec<Series>,
}

/// One series of a chart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// One figure for each label of the axis; `None` where there is none.
    pub points: Vec<Option<f64>>,
}

/// A number or text printed in a paper, with the one found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// What the number is.
    pub what: String,
    /// The paper's text.
    pub printed: String,
    /// The text found here.
    pub found: String,
    /// Whether they agree to the printed digits.
    pub agrees: bool,
    /// Why they differ, if this is known, or another remark.
    pub remark: String,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The claim holds.
    Holds,
    /// The claim does not hold.
    DoesNotHold,
    /// The claim cannot be tested as printed.
    Impossible,
}

impl Verdict {
    /// Its name in words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Impossible => "impossible",
        }
    }
}

/// A claim with its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim as a sentence.
    pub sentence: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// The evidence; for a claim that does not hold or is impossible, the reason.
    pub why: String,
    /// Whether it depends on times, so that another or a busy machine may give another verdict.
    #[serde(default)]
    pub timed: bool,
}

impl Claim {
    /// A claim with the verdict `holds` and the evidence `why`.
    pub fn judged(sentence: impl Into<String>, holds: bool, why: impl Into<String>) -> Claim {
        let verdict = if holds { Verdict::Holds } else { Verdict::DoesNotHold };
        Claim { sentence: sentence.into(), verdict, why: why.into(), timed: false }
    }

    /// A claim that cannot be tested as printed.
    pub fn impossible(sentence: impl Into<String>, why: impl Into<String>) -> Claim {
        Claim { sentence: sentence.into(), verdict: Verdict::Impossible, why: why.into(), timed: false }
    }

    /// The same claim, marked as depending on times.
    pub fn by_time(self) -> Claim {
        Claim { timed: true, ..self }
    }
}

impl Printed {
    /// A printed number and the one found, compared to the printed digits; the last digit may be rounded or truncated.
    pub fn number(what: impl Into<String>, printed: &str, found: f64) -> Printed {
        let digits = printed.split('.').nth(1).map_or(0, str::len);
        let unit = 10f64.powi(-(digits as i32));
        let agrees = printed.parse::<f64>().is_ok_and(|value| (found - value).abs() <= unit / 2.0 + 1e-9);
        Printed {
            what: what.into(),
            printed: printed.to_string(),
            found: format!("{found:.digits$}"),
            agrees,
            remark: String::new(),
        }
    }

    /// A printed text and the one found.
    pub fn text(what: impl Into<String>, printed: impl Into<String>, found: impl Into<String>) -> Printed {
        let (printed, found) = (printed.into(), found.into());
        Printed { what: what.into(), agrees: printed == found, printed, found, remark: String::new() }
    }

    /// The same with a remark.
    pub fn remark(self, remark: impl Into<String>) -> Printed {
        Printed { remark: remark.into(), ..self }
    }
}

impl Sheet {
    /// An empty table with these columns.
    pub fn new<const N: usize>(columns: [&str; N]) -> Sheet {
        Sheet { columns: columns.map(String::from).to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// The table as CSV.
    pub fn csv(&self) -> String {
        let cell = |text: &String| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.clone(),
        };
        let line = |cells: &Vec<String>| cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
        std::iter::once(&self.columns).chain(&self.rows).map(line).collect()
    }
}

impl Chart {
    /// An empty chart.
    pub fn new(title: &str, x: &str, y: &str, places: impl IntoIterator<Item = impl ToString>) -> Chart {
        let places = places.into_iter().map(|p| p.to_string()).collect();
        Chart { title: title.into(), x: x.into(), y: y.into(), places, series: Vec::new() }
    }

    /// Adds a series.
    pub fn add(&mut self, name: impl Into<String>, points: Vec<Option<f64>>) {
        self.series.push(Series { name: name.into(), points });
    }
}

/// Whether no figure falls below the previous one by more than the fraction `slack`; missing figures are skipped.
pub fn rises(points: &[Option<f64>], slack: f64) -> bool {
    let known: Vec<f64> = points.iter().flatten().copied().collect();
    known.windows(2).all(|w| w[1] >= w[0] * (1.0 - slack) - 1e-12)
}

/// Whether low ≤ high·(1 + slack) wherever both are known.
pub fn below(low: &[Option<f64>], high: &[Option<f64>], slack: f64) -> bool {
    low.iter().zip(high).all(|pair| match pair {
        (Some(low), Some(high)) => *low <= *high * (1.0 + slack) + 1e-12,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_to_the_digits_that_are_printed() {
        assert!(Printed::number("x", "2.8", 2.828).agrees);
        assert!(Printed::number("x", "2.12", 2.125).agrees && Printed::number("x", "8.88", 8.875).agrees);
        assert!(!Printed::number("x", "2.8", 2.9).agrees && !Printed::number("x", "8", 9.0).agrees);
    }

    #[test]
    fn trends_pass_over_gaps() {
        assert!(rises(&[Some(1.0), None, Some(2.0)], 0.0) && !rises(&[Some(2.0), None, Some(1.0)], 0.1));
        assert!(below(&[Some(1.0), None], &[Some(1.0), Some(0.0)], 0.0) && !below(&[Some(2.0)], &[Some(1.0)], 0.5));
    }

    #[test]
    fn cells_with_commas_are_quoted() {
        let mut sheet = Sheet::new(["a", "b"]);
        sheet.push(["1,2", "say \"no\""]);
        assert_eq!(sheet.csv(), "a,b\n\"1,2\",\"say \"\"no\"\"\"\n");
    }
}
