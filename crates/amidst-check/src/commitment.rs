//! The commitment of a certificate to the rows of the input: the root of a Merkle tree over salted rows.
//!
//! The owner can later open single rows and cannot open a row that was not in the table at that time. This file is the
//! checker's half: from an opened row and its path it recomputes the root. The tree is built elsewhere, by other code.
//!
//! With `‖` for concatenation, `n` (rows), `i` (index) and `columns` (their number) as eight bytes, big-endian, and
//! `text(t)` for the length of `t` in bytes (eight bytes as well) followed by `t`:
//!
//! ```text
//! leaf i   = SHA-256(0x00 ‖ salt ‖ i ‖ text(cell 1) ‖ text(cell 2) ‖ …)        salt: 32 bytes, another for every leaf
//! inner    = SHA-256(0x01 ‖ left ‖ right)
//! root     = SHA-256(0x02 ‖ text("amidst-rows-1") ‖ n ‖ columns ‖ text(name 1) ‖ text(name 2) ‖ … ‖ top)
//! ```
//!
//! The left subtree of a tree over n leaves has the largest power of two below n leaves (RFC 6962). The first byte
//! separates the domains of leaves, inner nodes and roots; the root binds the number of rows and the names of the
//! columns.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::digest::hex;

/// The hash scheme that this version writes and reads.
pub const SCHEME: &str = "amidst-rows-1";

/// A digest or a salt: 32 bytes.
pub(crate) type Block = [u8; 32];

/// What a certificate states about the rows of the input without disclosing any of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commitment {
    /// The hash scheme: [`SCHEME`].
    pub scheme: String,
    /// The columns of a row, in order.
    pub columns: Vec<String>,
    /// Number of rows: those of the input except rows dropped for a missing value.
    pub rows: u64,
    /// The root, in lowercase hexadecimal.
    pub root: String,
}

impl Commitment {
    /// Why the commitment does not fit a certificate that states `rows` rows and a release with the columns
    /// `published`; `None` when it fits.
    pub(crate) fn wrong(&self, rows: u64, published: &[String]) -> Option<String> {
        let twice = |(at, name): (usize, &String)| self.columns[..at].contains(name);
        if self.scheme != SCHEME {
            return Some(format!(
                "the commitment follows a scheme \"{}\" that this checker does not know",
                self.scheme
            ));
        }
        if block(&self.root).is_none() {
            return Some("the root of the commitment is no digest".into());
        }
        if self.columns.is_empty() || self.columns.iter().enumerate().any(twice) {
            return Some("the commitment does not name its columns plainly".into());
        }
        if let Some(name) = published.iter().find(|name| !self.columns.contains(name)) {
            return Some(format!("the commitment leaves out the published column \"{name}\""));
        }
        (self.rows != rows)
            .then(|| format!("the commitment is to {} rows, the certificate speaks of {rows} rows", self.rows))
    }

    /// Whether a row with this salt and these cells is the leaf at `index`; `path` lists sibling digests from the leaf
    /// upwards.
    pub(crate) fn holds(&self, index: u64, salt: &Block, cells: &[String], path: &[Block]) -> bool {
        if index >= self.rows || cells.len() != self.columns.len() {
            return false;
        }
        let mut leaf = Sha256::new();
        leaf.update([0]);
        leaf.update(salt);
        leaf.update(index.to_be_bytes());
        cells.iter().for_each(|cell| text(&mut leaf, cell));
        let top = top_from_path(leaf.finalize().into(), index, self.rows, path);
        top.is_some_and(|top| block(&self.root) == Some(self.rooted(&top)))
    }

    /// The root for the topmost node `top`.
    fn rooted(&self, top: &Block) -> Block {
        let mut root = Sha256::new();
        root.update([2]);
        text(&mut root, SCHEME);
        root.update(self.rows.to_be_bytes());
        root.update((self.columns.len() as u64).to_be_bytes());
        self.columns.iter().for_each(|name| text(&mut root, name));
        root.update(top);
        root.finalize().into()
    }
}

/// Whether the policy publishes cells that cover their originals: labels, neither bounds nor representative values.
pub(crate) fn cells_cover(policy: &str) -> bool {
    let Ok(policy) = toml::from_str::<toml::Table>(policy) else { return false };
    let output = policy.get("output").and_then(toml::Value::as_table);
    let is = |key: &str, words: &[&str]| {
        let stated = output.and_then(|output| output.get(key));
        stated.is_none_or(|stated| stated.as_str().is_some_and(|stated| words.contains(&stated)))
    };
    // Ends of ranges are rounded outward, so rounded ranges cover what they are made of.
    is("ranges", &["label", "rounded"]) && is("values", &["generalized"])
}

/// The topmost node of a tree of `size` leaves, computed from one leaf and its path; `None` when the length of the path
/// does not fit `size` and `index`.
fn top_from_path(leaf: Block, index: u64, size: u64, path: &[Block]) -> Option<Block> {
    if size <= 1 {
        return path.is_empty().then_some(leaf);
    }
    let (beside, below) = path.split_last()?;
    let left = (size - 1).checked_ilog2().map(|power| 1u64 << power)?;
    let (left, right) = match index < left {
        true => (top_from_path(leaf, index, left, below)?, *beside),
        false => (*beside, top_from_path(leaf, index - left, size - left, below)?),
    };
    let mut inner = Sha256::new();
    inner.update([1]);
    inner.update(left);
    inner.update(right);
    Some(inner.finalize().into())
}

fn text(hasher: &mut Sha256, text: &str) {
    hasher.update((text.len() as u64).to_be_bytes());
    hasher.update(text.as_bytes());
}

/// 32 bytes from 64 hexadecimal digits; letters must be lowercase, so that a digest has one text.
pub(crate) fn block(text: &str) -> Option<Block> {
    let digit = |d: u8| match d {
        b'0'..=b'9' => Some(d - b'0'),
        b'a'..=b'f' => Some(d - b'a' + 10),
        _ => None,
    };
    let mut found = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, digits) in found.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(digits[0])? << 4 | digit(digits[1])?;
    }
    debug_assert_eq!(hex(&found), text);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(parts: &[&[u8]]) -> Block {
        Sha256::digest(parts.concat()).into()
    }

    /// The largest power of two below `size`.
    fn half(size: usize) -> usize {
        let mut left = 1;
        while left * 2 < size {
            left *= 2;
        }
        left
    }

    /// The tree by its definition.
    fn top(leaves: &[Block]) -> Block {
        if let [leaf] = leaves {
            return *leaf;
        }
        let left = half(leaves.len());
        hash(&[&[1], &top(&leaves[..left]), &top(&leaves[left..])])
    }

    fn path(leaves: &[Block], index: usize) -> Vec<Block> {
        if leaves.len() == 1 {
            return Vec::new();
        }
        let left = half(leaves.len());
        let (mut found, beside) = match index < left {
            true => (path(&leaves[..left], index), top(&leaves[left..])),
            false => (path(&leaves[left..], index - left), top(&leaves[..left])),
        };
        found.push(beside);
        found
    }

    fn rows(count: usize) -> (Commitment, Vec<Block>, Vec<Block>) {
        let salts: Vec<Block> = (0..count).map(|i| hash(&[b"salt", &i.to_be_bytes()])).collect();
        let cell = |text: &str| [&(text.len() as u64).to_be_bytes()[..], text.as_bytes()].concat();
        let leaf = |i: usize| hash(&[&[0], &salts[i], &(i as u64).to_be_bytes(), &cell(&i.to_string()), &cell("x")]);
        let leaves: Vec<Block> = (0..count).map(leaf).collect();
        let (many, columns) = ((count as u64).to_be_bytes(), 2u64.to_be_bytes());
        let names = [cell("a"), cell("b")].concat();
        let root = hash(&[&[2], &cell(SCHEME), &many, &columns, &names, &top(&leaves)]);
        let columns = vec!["a".to_string(), "b".to_string()];
        (Commitment { scheme: SCHEME.into(), columns, rows: count as u64, root: hex(&root) }, salts, leaves)
    }

    #[test]
    fn every_row_opens_at_its_place_and_nowhere_else() {
        for count in 1..=33 {
            let (commitment, salts, leaves) = rows(count);
            for i in 0..count {
                let cells = [i.to_string(), "x".to_string()];
                let own = path(&leaves, i);
                for at in 0..count as u64 + 2 {
                    assert_eq!(commitment.holds(at, &salts[i], &cells, &own), at == i as u64, "{count} {i} {at}");
                }
                assert!(!commitment.holds(i as u64, &salts[(i + 1) % count], &cells, &own) || count == 1);
                assert!(!commitment.holds(i as u64, &salts[i], &["other".into(), "x".into()], &own));
                assert!(!commitment.holds(i as u64, &salts[i], &cells[..1], &own));
                for cut in 0..own.len() {
                    let mut short = own.clone();
                    short.remove(cut);
                    assert!(!commitment.holds(i as u64, &salts[i], &cells, &short));
                    let mut bent = own.clone();
                    bent[cut][7] ^= 1;
                    assert!(!commitment.holds(i as u64, &salts[i], &cells, &bent));
                }
                let long = [own.clone(), vec![leaves[0]]].concat();
                assert!(!commitment.holds(i as u64, &salts[i], &cells, &long));
            }
        }
    }

    #[test]
    fn the_root_binds_rows_columns_and_scheme() {
        let (honest, salts, leaves) = rows(5);
        let cells = ["2".to_string(), "x".to_string()];
        let holds = |commitment: &Commitment| commitment.holds(2, &salts[2], &cells, &path(&leaves, 2));
        assert!(holds(&honest));
        for changed in [
            Commitment { rows: 6, ..honest.clone() },
            Commitment { columns: vec!["a".into(), "c".into()], ..honest.clone() },
            Commitment { columns: vec!["b".into(), "a".into()], ..honest.clone() },
            Commitment { root: hex(&top(&leaves)), ..honest.clone() },
            Commitment { root: honest.root.to_uppercase(), ..honest.clone() },
        ] {
            assert!(!holds(&changed), "{changed:?}");
        }
    }

    #[test]
    fn an_inner_node_is_no_row() {
        // A tree of two leaves whose one "row" would be the two digests of a pair below it.
        let (honest, _, leaves) = rows(4);
        let pair = Commitment { rows: 2, ..honest };
        let node = |l: &Block, r: &Block| hash(&[&[1], l, r]);
        let (left, right) = (node(&leaves[0], &leaves[1]), node(&leaves[2], &leaves[3]));
        assert!(top_from_path(left, 0, 2, &[right]).is_some(), "the digests alone would fit");
        let cells = [hex(&leaves[0]), hex(&leaves[1])];
        assert!(!pair.holds(0, &leaves[0], &cells, &[right]), "no bytes of a leaf hash to an inner node");
    }

    #[test]
    fn what_contradicts_the_certificate_is_said() {
        let (honest, ..) = rows(3);
        let published = ["b".to_string()];
        assert_eq!(honest.wrong(3, &published), None);
        assert!(honest.wrong(4, &published).is_some_and(|what| what.contains("3 rows")));
        assert!(honest.wrong(3, &["z".to_string()]).is_some_and(|what| what.contains("\"z\"")));
        let twice = Commitment { columns: vec!["a".into(), "a".into()], ..honest.clone() };
        assert!(twice.wrong(3, &[]).is_some());
        assert!(Commitment { scheme: "md5".into(), ..honest.clone() }.wrong(3, &published).is_some());
        assert!(Commitment { root: "00".into(), ..honest }.wrong(3, &published).is_some());
    }
}
