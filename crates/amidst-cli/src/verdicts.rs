//! Formats requirements and their verdicts as a table.

use amidst::check::{self, ClaimStatus, printable};
use amidst::json::{Figure, Figures, RequirementVerdict};
use amidst::series::Chain;

use crate::terminal::{figure, proven, table, thousands, verdict};

/// A requirement with its verdict, from any source.
pub struct Judged {
    model: String,
    on: Vec<String>,
    /// The set of quasi columns whose classes are meant, where the policy has several.
    quasi: Option<Vec<String>>,
    parameters: Figures,
    measured: Figures,
    holds: bool,
    /// Why no parameter value satisfies the requirement, if this is known.
    obstacle: Option<&'static str>,
    /// How well it is established, if a checker determined that.
    status: Option<ClaimStatus>,
}

impl From<&RequirementVerdict> for Judged {
    fn from(found: &RequirementVerdict) -> Self {
        Judged {
            model: found.model.to_string(),
            on: found.on.clone(),
            quasi: found.quasi.clone(),
            parameters: found.parameters.clone(),
            measured: found.measured.clone(),
            holds: found.holds,
            obstacle: found.obstacle,
            status: None,
        }
    }
}

impl From<&check::Requirement> for Judged {
    fn from(claim: &check::Requirement) -> Self {
        Judged {
            model: claim.model.clone(),
            on: claim.on.as_ref().map(|on| on.names().to_vec()).unwrap_or_default(),
            quasi: claim.quasi.clone(),
            parameters: claim.parameters.clone().into(),
            measured: claim.measured.clone().into(),
            holds: claim.holds,
            obstacle: None,
            status: None,
        }
    }
}

impl From<&check::Found> for Judged {
    fn from(found: &check::Found) -> Self {
        Judged { status: Some(found.verdict), ..Judged::from(&found.requirement) }
    }
}

impl Judged {
    fn row(&self) -> Vec<String> {
        let word = match (self.holds, self.status) {
            (true, Some(ClaimStatus::Proven)) => proven(),
            (true, Some(other)) => other.word().to_string(),
            (holds, _) => verdict(holds),
        };
        let names = |names: &Vec<String>| names.iter().map(|name| printable(name).into_owned()).collect::<Vec<_>>();
        let set = self.quasi.as_ref().map(|set| format!(" by {}", names(set).join(", "))).unwrap_or_default();
        let stated = format!("{} {}{set}", printable(&self.model), self.stated());
        vec![stated, names(&self.on).join(", "), word, self.reached()]
    }

    /// The stated parameters.
    fn stated(&self) -> String {
        let shown = |value: Figure| match value {
            Figure::None => "–".to_string(),
            Figure::Number(x) => figure(x),
            Figure::Text(text) => printable(&text).into_owned(),
        };
        let pair = |(name, value)| format!("{} = {}", printable(name), shown(value));
        self.parameters.iter().map(pair).collect::<Vec<_>>().join(", ")
    }

    /// The measured parameters. Without a measured value: "any" if every value holds, otherwise "none".
    fn reached(&self) -> String {
        let every = if self.holds { "any" } else { "none" };
        let pair = |name: &str, sign: &str, shown: &str| format!("{} {sign} {}", printable(name), printable(shown));
        let pairs = self.measured.measured(&self.model).map(|(name, figure)| match figure {
            Some((sign, shown)) => pair(name, sign, &shown),
            None => pair(name, "=", every),
        });
        let why = self.obstacle.map(|why| format!(": {why}")).unwrap_or_default();
        pairs.collect::<Vec<_>>().join(", ") + &why
    }
}

/// A table of requirements with their verdicts, one per line.
pub fn requirements<T>(found: impl IntoIterator<Item = T>) -> String
where
    Judged: From<T>,
{
    let head = ["requirement", "on", "verdict", "measured"].map(String::from).to_vec();
    let rows = found.into_iter().map(|one| Judged::from(one).row());
    table(&[head].into_iter().chain(rows).collect::<Vec<_>>())
}

/// Whether the certificates of all versions form a chain, in a few lines.
pub fn chained(chain: &Chain) -> String {
    let mut lines = chain.problems.iter().map(|what| format!("  NOT CHAINED: {what}")).collect::<Vec<_>>();
    if lines.is_empty() && chain.linked > 0 {
        lines.push(format!("  the certificates of {} versions follow each other", thousands(chain.linked)));
    }
    lines.extend(chain.not_checked.iter().map(|what| format!("  not checked: {what}")));
    lines.join("\n")
}
