//! The classes of a release by their labels: a tree, one column a level, one label a branch.

use std::ops::Range;

use rayon::prelude::*;

use super::lists::Lists;
use super::side::Side;
use crate::frequency::FrequencySet;
use crate::table::Codes;

/// Up to this many branches are gathered, to be compared with one value after the other.
const FEW: usize = 128;

/// The classes by their labels, a level for each column.
pub(super) struct Tree {
    levels: Vec<Nodes>,
    /// The classes of each node of the last level.
    classes: Lists,
}

/// The nodes of a level.
#[derive(Default)]
struct Nodes {
    /// The label of each node, ascending among the nodes of one parent.
    labels: Vec<u32>,
    /// Where the children of each node begin in the next level.
    children: Vec<u32>,
}

impl Nodes {
    fn children(&self, node: u32) -> Range<usize> {
        self.children[node as usize] as usize..self.children[node as usize + 1] as usize
    }
}

impl Tree {
    /// The tree of `classes`, by the columns of `sides`.
    pub fn new(classes: &[u32], sides: &[Side<'_>]) -> Tree {
        let mut levels: Vec<Nodes> = sides.iter().map(|_| Nodes::default()).collect();
        let mut of_leaf = Lists::default();
        let mut last = vec![u32::MAX; sides.len()];
        for class in sorted(classes, sides) {
            let own = |side: &Side<'_>| side.own.codes.get(class as usize);
            let same = sides.iter().zip(&last).take_while(|(side, last)| own(side) == **last).count();
            for depth in same..sides.len() {
                let below = levels.get(depth + 1).map_or(0, |nodes| nodes.labels.len());
                last[depth] = own(&sides[depth]);
                levels[depth].labels.push(last[depth]);
                levels[depth].children.push(below as u32);
            }
            if same < sides.len() && !of_leaf.members.is_empty() {
                of_leaf.offsets.push(of_leaf.members.len());
            }
            of_leaf.members.push(class);
        }
        if !of_leaf.members.is_empty() {
            of_leaf.offsets.push(of_leaf.members.len());
        }
        for depth in 0..levels.len() {
            let end = levels.get(depth + 1).map_or(0, |nodes| nodes.labels.len());
            levels[depth].children.push(end as u32);
        }
        Tree { levels, classes: of_leaf }
    }

    /// The classes that the tuples of `range` fit, one tuple after the other, and where those of each end.
    pub fn search(&self, sides: &[Side<'_>], tuples: &FrequencySet, range: Range<usize>) -> (Vec<usize>, Vec<u32>) {
        let (mut ends, mut found) = (Vec::with_capacity(range.len()), Vec::with_capacity(range.len()));
        let mut steps: Vec<Step> = sides.iter().map(|_| Step::default()).collect();
        let mut last: Option<&[u32]> = None;
        for at in range {
            let tuple = tuples.tuple(at);
            let same = last.map_or(0, |last| tuple.iter().zip(last).take_while(|(a, b)| a == b).count());
            for depth in same..sides.len() {
                let (above, below) = steps.split_at_mut(depth);
                let Some(step) = below.first_mut() else { continue };
                let parents = above.last().map(|step| step.path.as_slice());
                if depth > same || last.is_none() {
                    step.turn(self, depth, parents);
                }
                step.take(self, &sides[depth], tuple[depth], depth, parents);
            }
            last = Some(tuple);
            let leaves = steps.last().map_or([].as_slice(), |step| &step.path);
            let start = found.len();
            if self.classes.len() == self.classes.members.len() {
                found.extend(leaves.iter().map(|&leaf| self.classes.members[leaf as usize]));
            } else {
                leaves.iter().for_each(|&leaf| found.extend_from_slice(self.classes.get(leaf as usize)));
            }
            if found.len() > start + 1 {
                found[start..].sort_unstable();
            }
            ends.push(found.len());
        }
        (ends, found)
    }

    /// The branches below `parents`, the nodes of the level above `depth`, or those of the root.
    fn branches<'t>(
        &'t self,
        depth: usize,
        parents: Option<&'t [u32]>,
    ) -> impl Iterator<Item = Range<usize>> + Clone + use<'t> {
        let root = parents.is_none().then(|| 0..self.levels[depth].labels.len());
        let above = depth.checked_sub(1).map(|above| &self.levels[above]);
        let below = parents.into_iter().flatten().filter_map(move |&parent| Some(above?.children(parent)));
        root.into_iter().chain(below)
    }
}

/// Where a search stands in one level.
#[derive(Default)]
struct Step {
    /// The (label, node) of all branches below the nodes above, where they are few.
    few: Option<Vec<(u32, u32)>>,
    spare: Vec<(u32, u32)>,
    /// The nodes that the current value fits.
    path: Vec<u32>,
}

impl Step {
    /// Turns to the branches below other nodes.
    fn turn(&mut self, tree: &Tree, depth: usize, parents: Option<&[u32]>) {
        let mut few = self.few.take().unwrap_or_else(|| std::mem::take(&mut self.spare));
        few.clear();
        let labels = &tree.levels[depth].labels;
        for own in tree.branches(depth, parents) {
            if few.len() + own.len() > FEW {
                self.spare = few;
                return;
            }
            let first = own.start as u32;
            few.extend(labels[own].iter().copied().zip(first..));
        }
        self.few = Some(few);
    }

    /// Takes the branches that `value` fits.
    fn take(&mut self, tree: &Tree, side: &Side<'_>, value: u32, depth: usize, parents: Option<&[u32]>) {
        let fitting = side.fitting(value);
        if let Some(few) = &self.few {
            return fitting.pick(few, &mut self.path);
        }
        self.path.clear();
        for own in tree.branches(depth, parents) {
            let first = own.start;
            fitting.among(&tree.levels[depth].labels[own], |at| self.path.push((first + at) as u32));
        }
    }
}

/// The classes in the order of their labels in the columns of `sides`.
fn sorted(classes: &[u32], sides: &[Side<'_>]) -> Vec<u32> {
    // The labels of as many columns as fit into one integer, and below them where the class stands among the others.
    let bits = |count: usize| usize::BITS - count.saturating_sub(1).leading_zeros();
    let places = bits(classes.len());
    let (mut used, mut packed) = (places, 0);
    for side in sides {
        let more = bits(side.own.dictionary.len());
        if used + more > u64::BITS {
            break;
        }
        (used, packed) = (used + more, packed + 1);
    }
    let mut keys = vec![0u64; classes.len()];
    for side in &sides[..packed] {
        let bits = bits(side.own.dictionary.len());
        match &side.own.codes {
            Codes::U8(codes) => append(&mut keys, bits, classes, codes),
            Codes::U16(codes) => append(&mut keys, bits, classes, codes),
            Codes::U32(codes) => append(&mut keys, bits, classes, codes),
        }
    }
    keys.iter_mut().zip(0u64..).for_each(|(key, at)| *key = *key << places | at);
    keys.par_sort_unstable();
    let class = |key: u64| classes[(key & ((1 << places) - 1)) as usize];
    let mut order: Vec<u32> = keys.iter().map(|&key| class(key)).collect();
    if packed < sides.len() {
        let mut rest = order.as_mut_slice();
        for alike in keys.chunk_by(|a, b| a >> places == b >> places) {
            let (own, others) = rest.split_at_mut(alike.len());
            own.sort_by(|&a, &b| {
                let codes = |class: u32| sides[packed..].iter().map(move |side| side.own.codes.get(class as usize));
                codes(a).cmp(codes(b))
            });
            rest = others;
        }
    }
    order
}

/// Appends the labels of a column to the keys of the classes.
fn append<C: Copy + Into<u64>>(keys: &mut [u64], bits: u32, classes: &[u32], codes: &[C]) {
    keys.iter_mut().zip(classes).for_each(|(key, &class)| *key = *key << bits | codes[class as usize].into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn classes_are_sorted_by_more_labels_than_one_integer_holds() {
        // Twelve columns of 40 labels take 72 bits, and the place of a class another ten. The last columns tell most
        // classes apart.
        let columns: Vec<Column> = (0..12usize)
            .map(|at| {
                let label = |class: usize| format!("{:02}", if at < 10 { class / 500 } else { class * (at + 3) % 40 });
                let every = (0..40).map(|l| format!("{l:02}")).chain((0..1000).map(label)).collect::<Vec<_>>();
                Column::from_values("c", every.iter().map(String::as_str))
            })
            .collect();
        let classes: Vec<u32> = (40..1040).rev().filter(|class| class % 7 > 0).collect();
        let sides: Vec<Side<'_>> = columns.iter().map(|c| Side::new(c, &classes, 0, c, None)).collect();
        let labels = |class: u32| columns.iter().map(|c| c.codes.get(class as usize)).collect::<Vec<u32>>();
        let mut expected = classes.clone();
        expected.sort_by_key(|&class| labels(class));
        assert_eq!(sorted(&classes, &sides), expected);
        let tree = Tree::new(&classes, &sides);
        let mut leaves: Vec<Vec<u32>> = expected.iter().map(|&class| labels(class)).collect();
        leaves.dedup();
        assert_eq!((tree.levels[11].labels.len(), tree.classes.len()), (leaves.len(), leaves.len()));
        assert_eq!(tree.classes.members, expected);
    }
}
