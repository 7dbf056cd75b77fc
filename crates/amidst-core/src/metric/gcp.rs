//! Global certainty penalty, GCP.
//!
//! **Definition.** Information loss per cell: IL / (rows × number of quasi columns), from 0 (nothing generalized) to 1
//! (everything). Rows are those of the input; a suppressed row counts 1 in every column.
//!
//! **Source.** Ghinita, Karras, Kalnis & Mamoulis 2007, "Fast data anonymization with low information loss"; the
//! normalized certainty penalty of a cell is that of Xu et al. 2006, here with the cell costs of `information-loss`.

use super::{CellCosts, CellLoss, Entry, Input, Metric, NodeCost, Release, information_loss};

pub(super) const ENTRY: Entry = Entry {
    id: "gcp",
    title: "global certainty penalty (GCP)",
    definition: "information loss / (rows × number of quasi columns), from 0 to 1",
    citation: "Ghinita, Karras, Kalnis & Mamoulis 2007; Xu et al. 2006",
    metric: &Gcp,
};

#[derive(Debug)]
struct Gcp;

impl Metric for Gcp {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        Some(information_loss::ENTRY.metric.loss(release)? * scale(&release.input())?)
    }

    fn cell_loss(&self) -> Option<CellLoss> {
        Some(information_loss::cell_loss)
    }

    fn weighted(&self) -> bool {
        true
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        Some(Box::new(information_loss::additive(input, scale(input)?)?))
    }

    fn cells<'a>(&self, input: &Input<'a>) -> Option<CellCosts<'a>> {
        Some(CellCosts { scale: scale(input)?, ..information_loss::ENTRY.metric.cells(input)? })
    }
}

/// One over the number of quasi cells; `None` without any.
fn scale(input: &Input<'_>) -> Option<f64> {
    let cells = input.set.rows as f64 * input.generalizations.len() as f64;
    if cells > 0.0 { Some(1.0 / cells) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::{agrees, cases};

    #[test]
    fn gcp_is_information_loss_per_cell() {
        agrees(&Gcp, |case| Some(information_loss::ENTRY.metric.loss(&case.release())? / 30.0));
        assert_eq!(Gcp.loss(&cases()[0].release()), Some(0.0));
        assert_eq!(Gcp.loss(&cases()[3].release()), Some(1.0));
    }
}
