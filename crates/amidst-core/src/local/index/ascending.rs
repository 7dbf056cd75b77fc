//! Items of an index one after the other, the nearest first.

use crate::local::shape::Hull;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Tree;
use super::kd_tree::Total;

impl Tree {
    /// Shows items in ascending order of what `of_item` says, which is never less than `of_node` says of a node of the
    /// tree that holds it (by its number and hull), until `see` has seen enough; whether it has.
    pub fn ascending(
        &self,
        of_node: impl Fn(u32, &Hull) -> f64,
        of_item: impl Fn(u32) -> f64,
        mut see: impl FnMut(u32, f64) -> bool,
    ) -> bool {
        let mut waiting: BinaryHeap<Reverse<(Total, bool, u32)>> = BinaryHeap::with_capacity(64);
        waiting.push(Reverse((Total(f64::NEG_INFINITY), false, 0)));
        let mut found: Vec<Reverse<(Total, bool, u32)>> = Vec::with_capacity(8);
        while let Some(Reverse((Total(key), is_item, number))) = waiting.pop() {
            if is_item {
                if see(number, key) {
                    return true;
                }
                continue;
            }
            self.open(
                number,
                |half, hull| waiting.push(Reverse((Total(of_node(half, hull)), false, half))),
                |item| found.push(Reverse((Total(of_item(item)), true, item))),
            );
            waiting.extend(found.drain(..));
        }
        false
    }
}
