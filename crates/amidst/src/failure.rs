//! Why a job ended without a result, and the exit code that says so.

use amidst_core::internal::partial::TooLarge;
use amidst_core::search::{Impossible, SearchError};
use amidst_io::ReadError;

use crate::policy::{PolicyError, PolicyErrors};
use crate::remedy::Remedy;

/// A job that ended without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The policy is wrong.
    #[error(transparent)]
    Policy(#[from] PolicyErrors),
    /// The data cannot be read.
    #[error(transparent)]
    Read(ReadError),
    /// There is no result for a reason that the caller can do something about.
    #[error(transparent)]
    Advised(Box<Advised>),
    /// The call is wrong: two options that exclude each other, an output that exists.
    #[error("{0}")]
    Usage(String),
    /// No release satisfies the policy.
    #[error("{0}")]
    Impossible(Impossible),
    /// The job was asked to stop.
    #[error("stopped; nothing was written")]
    Cancelled,
    /// A file cannot be read or written.
    #[error("{0}")]
    Io(String),
    /// The table stays with its engine, and more of it would have to be gathered than may be.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The independent checker refused what the search found: a defect of Amidst itself. Nothing was published.
    #[error(
        "the independent checker refused the release, so nothing was written: {0}. This is a defect in Amidst; please report it"
    )]
    Refused(String),
}

/// Why there is no result, and what the caller can do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct Advised {
    /// What is wrong.
    pub problem: String,
    /// What can be done about it.
    pub remedy: Remedy,
    /// Whether it is the policy that cannot be satisfied, and not the call that is wrong.
    pub impossible: bool,
}

impl Failure {
    /// A wrong call, and what its caller can do.
    pub fn usage(problem: impl Into<String>, remedy: Remedy) -> Self {
        Failure::Advised(Box::new(Advised { problem: problem.into(), remedy, impossible: false }))
    }

    /// What no release satisfies, and what the caller can do.
    pub fn impossible(problem: impl Into<String>, remedy: Remedy) -> Self {
        Failure::Advised(Box::new(Advised { problem: problem.into(), remedy, impossible: true }))
    }

    /// Whether no release satisfies the policy.
    pub fn is_impossible(&self) -> bool {
        matches!(self, Failure::Impossible(_)) || matches!(self, Failure::Advised(advised) if advised.impossible)
    }

    /// The same failure, with its remedies in the words of the caller's own interface.
    #[must_use]
    pub fn worded(self, words: impl Fn(&Remedy) -> String) -> Self {
        match self {
            Failure::Advised(advised) => {
                let told = format!("{}; {}", advised.problem, words(&advised.remedy));
                if advised.impossible { Failure::Impossible(told.into()) } else { Failure::Usage(told) }
            }
            Failure::Policy(errors) => Failure::Policy(errors.worded(words)),
            other => other,
        }
    }

    /// 1: the policy cannot be satisfied; 2: bad input, policy or usage; 3: an internal or I/O failure; 130: stopped.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Policy(_) | Failure::Usage(_) | Failure::TooLarge(_) => 2,
            Failure::Read(
                ReadError::Io { .. } | ReadError::PermissionDenied { .. } | ReadError::DatabaseFailed { .. },
            ) => 3,
            Failure::Read(_) => 2,
            Failure::Advised(advised) if advised.impossible => 1,
            Failure::Advised(_) => 2,
            Failure::Impossible(_) => 1,
            Failure::Cancelled => 130,
            Failure::Io(_) | Failure::Refused(_) => 3,
        }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Cancelled => Failure::Cancelled,
            SearchError::Impossible(why) => Failure::Impossible(why),
            other => Failure::Usage(other.to_string()),
        }
    }
}

impl From<PolicyError> for Failure {
    fn from(error: PolicyError) -> Self {
        match error {
            PolicyError::Wrong(errors) => Failure::Policy(errors),
            // A file that is not there, or is no text, is a slip in the command; the rest is the machine's fault.
            unreadable if unreadable.exit_code() == 2 => Failure::Usage(unreadable.to_string()),
            unreadable => Failure::Io(unreadable.to_string()),
        }
    }
}
