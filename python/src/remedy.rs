//! What can be done about a failure, in the words of this package: its calls and their arguments.

use amidst::core::attack::Knowledge;
use amidst::{Lacks, Remedy};

/// A remedy as somebody who writes Python carries it out.
pub fn words(remedy: &Remedy) -> String {
    match remedy {
        Remedy::ReplaceRelease => "remove it, choose another folder, or pass force=True".into(),
        Remedy::RemoveOrMove => "force=True replaces releases only; remove it, or choose another folder".into(),
        Remedy::ReplaceFile => "choose another name, or pass force=True".into(),
        Remedy::NameCertificate(table) => format!("verify({:?}, certificate=…) names it", table.display().to_string()),
        Remedy::GiveKnowledge(Knowledge::External) => "pass external=".into(),
        Remedy::GiveKnowledge(Knowledge::Population) => "pass population=".into(),
        Remedy::GiveKnowledge(Knowledge::Original) => {
            "pass the table that the release was made from as original=".into()
        }
        Remedy::GiveKnowledge(Knowledge::Versions) => {
            "attack a Series, or pass the earlier versions as earlier= and the persons as external=".into()
        }
        Remedy::GivePersons(versions) => {
            format!("pass one as external=, or a list of {versions}: one for each version, the oldest first")
        }
        Remedy::NamePersonColumn => "name the column that tells who is who with person=".into(),
        Remedy::ScopeOfClass => "scope=\"class\" takes each class as minimal by itself".into(),
        Remedy::ExploreNode => "explore(table, policy, node=…) tells more".into(),
        Remedy::BeginSeries(folder) => {
            format!("Series({:?}).init(table, policy) starts one", folder.display().to_string())
        }
        Remedy::ExtendSeries { lacks, .. } => extend(*lacks),
        Remedy::PublishSafe { exposed, cost, .. } => {
            let (more, does) = match exposed {
                true => (", allow_leak=True", "exposes nobody else"),
                false => ("", "publishes one that does not"),
            };
            format!("publish(safe=True{more}) {does}: {cost}; allow_leak=True alone publishes this one and says so")
        }
        Remedy::AllowLeak => {
            "it exposes nobody who was not exposed before, and publish(allow_leak=True) publishes it and says so".into()
        }
        Remedy::UndoOrAllowLeak { searched, .. } => {
            let searched = if *searched { "no safe version was found; " } else { "" };
            format!(
                "{searched}undo() takes back the last batch; publish(allow_leak=True) publishes this one all the same and \
                 says so"
            )
        }
        // A remedy that this package has no argument for is told as the library tells it.
        other => other.to_string(),
    }
}

fn extend(lacks: Lacks) -> String {
    match lacks {
        Lacks::Value => "add what is lacking to the policy that the series began with, or to its hierarchy, and call \
                         extend(policy); or list it in `missing` of a new series if it means \"unknown\""
            .into(),
        Lacks::Reason => "a series keeps the roles of its columns: leave the rows out, or start a new series in which they \
                          are \"quasi\" or \"identifying\"; `accept = \"why\"` in the policy that the series began with \
                          publishes them all the same, once extend(policy) has taken the reason over"
            .into(),
    }
}
