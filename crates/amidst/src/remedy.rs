//! What a caller can do about a failure, as a type.
//!
//! The library knows operations and their arguments, not how a person reaches them: the same remedy is a flag on a
//! command line, a keyword in Python and a button in the studio. Each of them words it
//! ([`Failure::worded`](crate::Failure::worded));
//! [`Display`](fmt::Display) names the operations of this library.

use std::fmt;
use std::path::PathBuf;

use amidst_core::attack::Knowledge;

/// What a caller can do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Name the place where the release goes; nothing does so yet.
    NameDestination,
    /// Publish elsewhere: the place holds what the release is made from.
    AnotherDestination,
    /// Remove the release that is in the way, publish elsewhere, or allow that it is replaced.
    ReplaceRelease,
    /// Remove what is in the way, or publish elsewhere: only releases are replaced.
    RemoveOrMove,
    /// Choose another name for a file, or allow that the one with this name is replaced.
    ReplaceFile,
    /// Allow that a signed statement is replaced that does not hold.
    ReplaceStatement,
    /// Name the certificate of this table.
    NameCertificate(PathBuf),
    /// Give what an attack knows beside the release.
    GiveKnowledge(Knowledge),
    /// Give one table of persons, or this many, one for each version.
    GivePersons(usize),
    /// Name the column that tells persons apart.
    NamePersonColumn,
    /// Take each class as minimal by itself: the parameter `scope` of the attack `minimality`.
    ScopeOfClass,
    /// Look at the node of the lattice that the policy names.
    ExploreNode,
    /// Begin a series in this folder.
    BeginSeries(PathBuf),
    /// Add to the policy that a series began with, and extend the series by it.
    ExtendSeries {
        /// The folder of the series.
        folder: PathBuf,
        /// Why.
        lacks: Lacks,
    },
    /// Publish the version of a series that was made safe.
    PublishSafe {
        /// The folder of the series.
        folder: PathBuf,
        /// Whether versions before it exposed somebody, so that leaks must be allowed as well.
        exposed: bool,
        /// What it costs, in a sentence.
        cost: String,
    },
    /// Publish a version all the same, which exposes nobody who was not exposed before.
    AllowLeak,
    /// Take back the last batch of a series, or publish the version all the same.
    UndoOrAllowLeak {
        /// The folder of the series.
        folder: PathBuf,
        /// Whether a safe version was searched for, without success.
        searched: bool,
    },
}

/// What a series does not allow for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacks {
    /// A value that its policy does not know.
    Value,
    /// The reason for which columns that single people out are published.
    Reason,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Remedy::NameDestination => "name it, or state `file` under [output] in the policy",
            Remedy::AnotherDestination => "choose another destination",
            Remedy::ReplaceRelease => "remove it, choose another destination, or allow that it is replaced",
            Remedy::RemoveOrMove => "only releases are replaced; remove it yourself, or choose another destination",
            Remedy::ReplaceFile => "choose another name, or allow that it is replaced",
            Remedy::ReplaceStatement => "a signed statement that does not stand is replaced where that is allowed",
            Remedy::NameCertificate(table) => return write!(f, "name the certificate of {}", table.display()),
            Remedy::GiveKnowledge(knowledge) => match knowledge {
                Knowledge::Release => "the release is all that is needed",
                Knowledge::External => "give an external table",
                Knowledge::Population => "give a table of the population",
                Knowledge::Original => "give the table that the release was made from",
                Knowledge::Versions => "attack a series, or give the earlier versions and the tables of persons",
            },
            Remedy::GivePersons(versions) => {
                return write!(f, "give one table of persons, or {versions}: one for each version, the oldest first");
            }
            Remedy::NamePersonColumn => "name the column that tells who is who",
            Remedy::ScopeOfClass => "the parameter `scope = \"class\"` takes each class as minimal by itself",
            Remedy::ExploreNode => "exploring the node tells more",
            Remedy::BeginSeries(folder) => return write!(f, "begin one in {} with a policy", folder.display()),
            Remedy::ExtendSeries { lacks: Lacks::Value, .. } => {
                "add what is lacking to the policy that the series began with, or to its hierarchy, and extend the series by \
                 it; or list it in `missing` of a new series if it means \"unknown\". The copy in the private part is not edited"
            }
            Remedy::ExtendSeries { lacks: Lacks::Reason, .. } => {
                "a series keeps the roles of its columns: leave the rows out, or start a new series in which they are \
                 \"quasi\" or \"identifying\"; `accept = \"why\"` in the policy that the series began with publishes them all \
                 the same, once the series is extended by it"
            }
            Remedy::PublishSafe { exposed, cost, .. } => {
                let safe = if *exposed { "a safe version exposes nobody else" } else { "a safe version exposes nobody" };
                return write!(f, "{safe}: {cost}; this one is published where leaks are allowed, and says so");
            }
            Remedy::AllowLeak => {
                "it exposes nobody who was not exposed before, and is published where leaks are allowed, and says so"
            }
            Remedy::UndoOrAllowLeak { searched, .. } => {
                let searched = if *searched { "no safe version was found; " } else { "" };
                return write!(
                    f,
                    "{searched}the last batch can be taken back; the version is published where leaks are allowed, and says so"
                );
            }
        })
    }
}
