//! How far a release is from the least loss that is possible.

use serde::Serialize;

/// How far a local recoding is from the best at the most. It follows from the values of the input, so it stays
/// internal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LossBound {
    /// The metric.
    pub metric: &'static str,
    /// What no release of this kind can lose less than.
    pub least_loss: f64,
    /// How many times as much this one loses.
    pub ratio: f64,
}

impl LossBound {
    /// The bound of a release, given what it loses; `None` where nothing is proven.
    pub fn of(metric: &'static str, least_loss: Option<f64>, loss: Option<f64>) -> Option<Self> {
        let (least_loss, loss) = (least_loss.filter(|l| *l > 0.0)?, loss?);
        // What loses less than what was proven is rounding.
        Some(LossBound { metric, least_loss, ratio: (loss / least_loss).max(1.0) })
    }

    /// The bound in words.
    pub fn words(&self) -> String {
        let ratio = (self.ratio * 100.0).ceil() / 100.0;
        format!("at most {ratio:.2} times the least {} possible", self.metric)
    }
}
