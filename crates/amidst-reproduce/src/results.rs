//! Stores the outcomes of finished experiments, so that an interrupted run can be resumed.
//!
//! An outcome is reused only if it was found by the same program with the same settings: version, quick or full run,
//! and data.

use std::path::Path;

use amidst::{Failure, TOOL, report};
use serde::{Deserialize, Serialize};

use crate::experiment::{Chart, Experiment, Outcome};

/// What an outcome depends on in addition to the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The program and its version.
    pub tool: String,
    /// Whether the smaller version was run.
    pub quick: bool,
    /// A description of the table.
    pub data: String,
}

impl Settings {
    /// The settings of a run of this program.
    pub fn new(quick: bool, data: &str) -> Settings {
        Settings { tool: TOOL.to_string(), quick, data: data.to_string() }
    }
}

/// A finished experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// The experiment's id.
    pub id: String,
    /// What it was run with.
    pub settings: Settings,
    /// Duration in seconds.
    pub seconds: f64,
    /// The outcome.
    pub outcome: Outcome,
}

/// The folder in which outcomes are stored.
const KEPT: &str = "results";

impl Finished {
    /// The outcome stored in `folder` for an experiment; `None` if there is none or it was found with other settings.
    pub fn read(folder: &Path, experiment: &Experiment, settings: &Settings) -> Option<Finished> {
        let text = std::fs::read_to_string(folder.join(KEPT).join(format!("{}.json", experiment.id))).ok()?;
        let finished: Finished = serde_json::from_str(&text).ok()?;
        (finished.settings == *settings && finished.id == experiment.id).then_some(finished)
    }

    /// Writes the table, the charts and, last, the whole outcome as JSON to a folder.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        write(folder, &format!("{}.csv", self.id), &self.outcome.table.csv())?;
        for (name, svg) in self.charts() {
            write(folder, &name, &svg)?;
        }
        let text = serde_json::to_string_pretty(self).map_err(|e| Failure::Io(e.to_string()))?;
        let kept = folder.join(KEPT);
        std::fs::create_dir_all(&kept).map_err(|e| Failure::Io(format!("cannot make {}: {e}", kept.display())))?;
        write(&kept, &format!("{}.json", self.id), &text)
    }

    /// The charts as SVG files: name and content.
    fn charts(&self) -> Vec<(String, String)> {
        let many = self.outcome.charts.len() > 1;
        let name = |i: usize| if many { format!("{}-{}.svg", self.id, i + 1) } else { format!("{}.svg", self.id) };
        let charts = self.outcome.charts.iter().enumerate();
        charts.map(|(i, chart)| (name(i), report::standalone(&drawn(chart)))).collect()
    }
}

/// A chart as markup for the page.
pub fn drawn(chart: &Chart) -> maud::Markup {
    let series: Vec<report::Curve<'_>> =
        chart.series.iter().map(|s| report::Curve { name: &s.name, points: &s.points }).collect();
    let axes = report::Axes { x: &chart.x, y: &chart.y, places: &chart.places };
    let names: Vec<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
    let description = format!("{} over {}: {}", chart.y, chart.x, names.join(", "));
    report::curves(&chart.title, &description, axes, &series)
}

/// Writes a file under a temporary name and renames it, so that it is complete or absent.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let (path, partial) = (folder.join(name), folder.join(format!(".{name}.partial")));
    let failed = |e: std::io::Error| Failure::Io(format!("cannot write {}: {e}", path.display()));
    std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, &path)).map_err(failed)
}
