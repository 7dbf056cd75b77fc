//! What a change did to the policy, line by line.

use similar::{ChangeTag, TextDiff};

/// A line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Whether it came, went or stayed.
    pub change: Change,
    /// Its number in the new text, or in the old one where it went; from 1.
    pub number: usize,
    /// What it says.
    pub text: String,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is as it was.
    Kept,
}

/// Lines that stay around what changed.
const CONTEXT: usize = 2;

/// What changed from `old` to `new`, with some lines around it; empty where nothing did.
pub fn lines(old: &str, new: &str) -> Vec<Vec<Line>> {
    let diff = TextDiff::from_lines(old, new);
    let line = |change: similar::Change<&str>| {
        let (kind, number) = match change.tag() {
            ChangeTag::Insert => (Change::Added, change.new_index()),
            ChangeTag::Delete => (Change::Removed, change.old_index()),
            ChangeTag::Equal => (Change::Kept, change.new_index()),
        };
        Line {
            change: kind,
            number: number.unwrap_or(0) + 1,
            text: change.value().trim_end_matches(['\n', '\r']).to_string(),
        }
    };
    let groups = diff.grouped_ops(CONTEXT);
    groups.iter().map(|ops| ops.iter().flat_map(|op| diff.iter_changes(op)).map(line).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_one_gone_and_one_new() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let found = lines(old, "a\nb\nc\nD\ne\nf\n");
        let changed: Vec<(Change, usize, &str)> = found[0]
            .iter()
            .filter(|l| l.change != Change::Kept)
            .map(|l| (l.change, l.number, l.text.as_str()))
            .collect();
        assert_eq!(changed, [(Change::Removed, 4, "d"), (Change::Added, 4, "D")]);
        assert_eq!(found[0].len(), 6);
        assert!(lines(old, old).is_empty());
    }
}
