//! Words remedies for failures in terms of the command line: its commands and flags.

use std::path::Path;

use amidst::core::attack::Knowledge;
use amidst::{Lacks, Remedy};

/// A remedy as an instruction for the command line.
pub fn words(remedy: &Remedy) -> String {
    match remedy {
        Remedy::ReplaceFile => "choose another name, or replace it with --force".into(),
        Remedy::ReplaceStatement => "--force replaces a signed statement that does not stand".into(),
        Remedy::NameCertificate(table) => format!("name it with --release {} --certificate FILE", table.display()),
        Remedy::GiveKnowledge(knowledge) => match knowledge {
            Knowledge::External => "give it with --external".into(),
            Knowledge::Population => "give it with --population".into(),
            Knowledge::Original => "give the table that the release was made from with --original".into(),
            Knowledge::Versions => {
                "name the folder of a series, or give the others with --earlier and the persons with --external".into()
            }
            _ => remedy.to_string(),
        },
        Remedy::GivePersons(versions) => {
            format!("give one with --external, or {versions}: one for each version, the oldest first")
        }
        Remedy::NamePersonColumn => "name the column that tells who is who with --person".into(),
        Remedy::ScopeOfClass => "`--set scope=class` takes each class as minimal by itself".into(),
        Remedy::ExploreNode => "`amidst explore POLICY --node …` tells more".into(),
        Remedy::BeginSeries(folder) => {
            format!("start one with `amidst series init {} --policy POLICY`", folder.display())
        }
        Remedy::ExtendSeries { folder, lacks } => extend(folder, *lacks),
        Remedy::PublishSafe { folder, exposed, cost } => {
            let command = publish_safe(folder, *exposed);
            let does = if *exposed { "exposes nobody else" } else { "publishes one that does not" };
            format!("`{command}` {does}: {cost}; --allow-leak alone publishes this one and says so")
        }
        Remedy::AllowLeak => {
            "it exposes nobody who was not exposed before, and --allow-leak publishes it and says so".into()
        }
        Remedy::UndoOrAllowLeak { folder, searched } => {
            let searched = if *searched { "no safe version was found; " } else { "" };
            let undo = format!("`amidst series undo {}` takes back the last batch", folder.display());
            format!("{searched}{undo}; --allow-leak publishes this one all the same and says so")
        }
        other => amidst_arguments::words(other),
    }
}

/// The command that publishes the safe version of a series; `exposed`: earlier versions have exposed somebody.
pub fn publish_safe(folder: &Path, exposed: bool) -> String {
    let also = if exposed { " --allow-leak" } else { "" };
    format!("amidst series publish {} --safe{also}", folder.display())
}

fn extend(folder: &Path, lacks: Lacks) -> String {
    let command = format!("`amidst series extend {} --policy POLICY`", folder.display());
    match lacks {
        Lacks::Value => format!(
            "add what is lacking to the policy that the series began with, or to its hierarchy, and run {command}; or list it \
             in `missing` of a new series if it means \"unknown\". The copy in the private part is not edited"
        ),
        Lacks::Reason => format!(
            "a series keeps the roles of its columns: leave the rows out, or start a new series in which they are \"quasi\" or \
             \"identifying\"; `accept = \"why\"` in the policy that the series began with publishes them all the same, once \
             {command} has taken the reason over"
        ),
    }
}
