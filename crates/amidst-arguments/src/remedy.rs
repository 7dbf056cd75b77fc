//! Words remedies for failures in terms of the arguments.

use amidst::Remedy;

/// What can be done about a failure, with the flags of these commands; what has none is worded by the library.
pub fn words(remedy: &Remedy) -> String {
    match remedy {
        Remedy::NameDestination => "give it with --out FOLDER, or as `file` under [output] in the policy".into(),
        Remedy::AnotherDestination => "choose another --out".into(),
        Remedy::ReplaceRelease => "remove it, choose another --out, or replace it with --force".into(),
        Remedy::RemoveOrMove => "--force replaces releases only; remove it yourself, or choose another --out".into(),
        other => other.to_string(),
    }
}
