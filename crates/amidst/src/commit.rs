//! The owner's half of the commitment to the rows of the input: the secret, the tree over the salted rows, and the
//! paths that open single rows.
//!
//! The scheme is stated in `amidst_check::Commitment`'s file and in docs/commitment.md; the checker climbs a path by
//! code of its own. Every leaf has a salt of its own, HMAC-SHA-256 of its place under the secret, so that an opened row
//! tells nothing about another, and who only holds the certificate cannot try rows out. Leaves stand in an order that
//! is drawn with the secret and follows from what rows hold, so that a place in the tree tells nothing about the place
//! in the input, and a table that is read in another order (as databases do) has the same tree.
//!
//! Two releases of one table have two secrets and two roots: this is the one thing in a release that does not follow
//! from policy, data and seed. That is why it is only there where it was asked for.

use std::collections::HashSet;

use amidst_check::{Commitment, OpenedRow, SCHEME};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Failure;
use crate::policy::Role;
use crate::prepare::Prepared;

/// The file with the secret, in the internal part of a release.
pub const COMMITMENT: &str = "commitment.json";

/// A digest or a salt.
pub(crate) type Block = [u8; 32];

/// What opens rows. Who has it and guesses a row can tell whether it was in the input, so it stays with the owner.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// How rows are hashed.
    pub scheme: String,
    /// The root that it belongs to, in hexadecimal.
    pub root: String,
    /// The secret, in hexadecimal.
    pub secret: String,
}

impl Secret {
    /// The text of its file.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Failure> {
        serde_json::to_string_pretty(self).map(|text| text + "\n").map_err(|e| Failure::Io(e.to_string()))
    }
}

/// A tree over the rows of a table.
pub struct Tree {
    key: Block,
    /// For each leaf, the row of the table.
    row_of: Vec<usize>,
    digests: Digests,
    columns: Vec<usize>,
    names: Vec<String>,
}

impl Tree {
    /// A tree under a new secret.
    ///
    /// # Errors
    /// When the rows are not here, or the system has no randomness.
    pub fn new(prepared: &Prepared) -> Result<Tree, Failure> {
        let mut key = [0; 32];
        random(&mut key)?;
        Tree::of(prepared, key)
    }

    /// The tree that belongs to a secret.
    ///
    /// # Errors
    /// When the secret is none, or the rows are not here.
    pub fn again(prepared: &Prepared, secret: &Secret) -> Result<Tree, Failure> {
        let key = bytes(&secret.secret).filter(|_| secret.scheme == SCHEME);
        let key = key.ok_or_else(|| Failure::Usage(format!("{COMMITMENT} is damaged: it holds no secret")))?;
        Tree::of(prepared, key)
    }

    fn of(prepared: &Prepared, key: Block) -> Result<Tree, Failure> {
        if prepared.weights.is_some() {
            let what = "rows that were counted elsewhere cannot be committed to: anonymize the table on this machine";
            return Err(Failure::Usage(what.to_string()));
        }
        // What is published, and what tells persons apart. Identifying columns were never read.
        let shown = |role: &Role| matches!(role, Role::Quasi | Role::Sensitive | Role::Insensitive | Role::Key);
        let columns: Vec<usize> = (0..prepared.table.columns.len()).filter(|&c| shown(&prepared.roles[c])).collect();
        let names = columns.iter().map(|&c| prepared.table.columns[c].name.clone()).collect();
        let mut tree = Tree { key, row_of: Vec::new(), digests: Digests::default(), columns, names };
        let mut drawn: Vec<(Block, usize)> = (0..prepared.table.rows)
            .map(|row| (hmac(&tree.key, &[b"order", &tree.encoded(prepared, row)]), row))
            .collect();
        drawn.sort_unstable();
        tree.row_of = drawn.into_iter().map(|(_, row)| row).collect();
        let leaf = |(index, &row): (usize, &usize)| {
            let index = index as u64;
            leaf(&tree.salt(index), index, &tree.encoded(prepared, row))
        };
        tree.digests = Digests::over(tree.row_of.iter().enumerate().map(leaf).collect());
        Ok(tree)
    }

    /// What the certificate says.
    pub fn commitment(&self) -> Commitment {
        self.digests.commitment(&self.names)
    }

    /// What the owner keeps.
    pub fn secret(&self) -> Secret {
        Secret { scheme: SCHEME.to_string(), root: self.commitment().root, secret: hex(&self.key) }
    }

    /// Opens rows of the table, in the order of the tree.
    pub fn open(&self, prepared: &Prepared, rows: &[usize]) -> Vec<OpenedRow> {
        let wanted: HashSet<usize> = rows.iter().copied().collect();
        let leaves = (0..self.row_of.len()).filter(|&leaf| wanted.contains(&self.row_of[leaf]));
        leaves
            .map(|leaf| OpenedRow {
                leaf: leaf as u64,
                salt: hex(&self.salt(leaf as u64)),
                cells: self.cells(prepared, self.row_of[leaf]).map(String::from).collect(),
                labels: Default::default(),
                path: self.digests.path(leaf),
            })
            .collect()
    }

    fn salt(&self, leaf: u64) -> Block {
        hmac(&self.key, &[b"salt", &leaf.to_be_bytes()])
    }

    fn cells<'a>(&'a self, prepared: &'a Prepared, row: usize) -> impl Iterator<Item = &'a str> {
        self.columns.iter().map(move |&column| prepared.table.columns[column].value(row))
    }

    fn encoded(&self, prepared: &Prepared, row: usize) -> Vec<u8> {
        encoded(self.cells(prepared, row))
    }
}

/// The digests of a tree, the leaves first; a digest that has no other beside it stands on the next level as it is.
#[derive(Debug, Default)]
pub(crate) struct Digests(Vec<Vec<Block>>);

impl Digests {
    /// The tree over these leaves.
    pub fn over(leaves: Vec<Block>) -> Digests {
        let (mut levels, mut level) = (Vec::new(), leaves);
        while level.len() > 1 {
            let above = level.chunks(2).map(|pair| match pair {
                [left, right] => hash(&[&[1], left, right]),
                alone => alone.first().copied().unwrap_or_default(),
            });
            let above = above.collect();
            levels.push(std::mem::replace(&mut level, above));
        }
        levels.push(level);
        Digests(levels)
    }

    /// The commitment to rows with the columns `names`.
    pub fn commitment(&self, names: &[String]) -> Commitment {
        let top = self.0.last().and_then(|level| level.first()).copied().unwrap_or_default();
        let rows = self.0.first().map_or(0, Vec::len) as u64;
        let texts = encoded(names.iter().map(String::as_str));
        let columns = (names.len() as u64).to_be_bytes();
        let root = hash(&[&[2], &text(SCHEME), &rows.to_be_bytes(), &columns, &texts, &top]);
        Commitment { scheme: SCHEME.to_string(), columns: names.to_vec(), rows, root: hex(&root) }
    }

    /// The digests beside the way from a leaf to the top.
    pub fn path(&self, leaf: usize) -> Vec<String> {
        let beside = |(height, level): (usize, &Vec<Block>)| level.get((leaf >> height) ^ 1).map(hex);
        self.0.iter().enumerate().filter_map(beside).collect()
    }
}

/// The digest of a row, from its salt, its place in the tree and its encoded cells.
pub(crate) fn leaf(salt: &Block, index: u64, cells: &[u8]) -> Block {
    hash(&[&[0], salt, &index.to_be_bytes(), cells])
}

/// Cells, or names, as they are digested.
pub(crate) fn encoded<'a>(cells: impl Iterator<Item = &'a str>) -> Vec<u8> {
    cells.flat_map(text).collect()
}

/// Random bytes of the operating system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), Failure> {
    getrandom::fill(bytes).map_err(|e| Failure::Io(format!("the system has no randomness: {e}")))
}

/// A text after its length.
fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_be_bytes()[..], text.as_bytes()].concat()
}

fn hash(parts: &[&[u8]]) -> Block {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// HMAC-SHA-256 (RFC 2104) with a key of 32 bytes.
fn hmac(key: &Block, parts: &[&[u8]]) -> Block {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let (inner, outer) = (pad(0x36), pad(0x5c));
    let parts = [&[&inner[..]][..], parts].concat();
    hash(&[&outer, &hash(&parts)])
}

pub(crate) fn hex(block: &Block) -> String {
    block.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Option<Block> {
    let mut found = [0; 32];
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (at, byte) in found.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hmac_is_the_standard_one() {
        // RFC 4231, test case 1, whose key of 20 bytes is padded with zeros by definition.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let expected = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7";
        assert_eq!(hex(&hmac(&key, &[b"Hi ", b"There"])), expected);
    }
}
