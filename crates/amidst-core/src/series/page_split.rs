//! Where a set of shapes is best cut in two, so that a search need not look at both halves.

use super::class_rules::ClassRules;
use super::classes::Classes;
use crate::local::shape::{Shape, ShapeWord};

/// The classes of a new page.
pub(super) const PAGE: usize = 12;

/// How many items decide where a cut goes; more of them would hardly decide otherwise.
const SAMPLE: usize = 128;

/// Orders items so that two parts are apart, and tells where the second begins: in the column where the shapes over
/// both parts say most about the classes below them, between values, as near to the middle as values allow.
pub(super) fn cut<'s>(rules: &ClassRules<'_>, items: &mut [u32], shape_of: impl Fn(u32) -> &'s Shape) -> usize {
    let space = &rules.space;
    let step = items.len().div_ceil(SAMPLE);
    let sample: Vec<&Shape> = items.iter().step_by(step).map(|&item| shape_of(item)).collect();
    let mut best: Option<(f64, usize, f64)> = None;
    for column in 0..space.width() {
        let mut keys: Vec<f64> = sample.iter().map(|shape| space.middle(shape, column)).collect();
        let (low, high) = keys.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &k| (l.min(k), h.max(k)));
        if low == high {
            continue;
        }
        let middle = keys.len() / 2;
        let median = *keys.select_nth_unstable_by(middle, f64::total_cmp).1;
        // The second part begins at the median, or at the next value where that is nearer to the middle.
        let before = sample.iter().filter(|shape| space.middle(shape, column) < median).count();
        let after = sample.iter().filter(|shape| space.middle(shape, column) <= median).count();
        let above =
            sample.iter().map(|s| space.middle(s, column)).filter(|&k| k > median).fold(f64::INFINITY, f64::min);
        let at = if before == 0 || (after < sample.len() && after - middle < middle - before) { above } else { median };
        let vague = vagueness(rules, &sample, |shape| space.middle(shape, column) < at)
            + vagueness(rules, &sample, |shape| space.middle(shape, column) >= at);
        if best.is_none_or(|(least, ..)| vague < least) {
            best = Some((vague, column, at));
        }
    }
    let Some((_, column, at)) = best else { return items.len() / 2 };
    items.sort_unstable_by_key(|&item| (space.middle(shape_of(item), column) >= at, item));
    let second = items.partition_point(|&item| space.middle(shape_of(item), column) < at);
    second.clamp(1, items.len() - 1)
}

/// How much more the shape over some shapes costs than the cheapest of them, column by column, for all of them.
fn vagueness(rules: &ClassRules<'_>, sample: &[&Shape], within: impl Fn(&Shape) -> bool) -> f64 {
    let space = &rules.space;
    let mut merged: Vec<ShapeWord> = Vec::new();
    let mut least = vec![f64::INFINITY; space.width()];
    let mut number = 0.0;
    for shape in sample.iter().filter(|shape| within(shape)) {
        if merged.is_empty() {
            merged = shape.to_vec();
        } else {
            space.merge(&mut merged, shape);
        }
        for (column, least) in least.iter_mut().enumerate() {
            *least = least.min(space.column_cost(shape, column));
        }
        number += 1.0;
    }
    if number == 0.0 {
        return 0.0;
    }
    number * least.iter().enumerate().map(|(column, least)| space.column_cost(&merged, column) - least).sum::<f64>()
}

/// Puts classes into pages of neighbours.
pub(super) fn paginate(rules: &ClassRules<'_>, classes: &Classes, some: &mut [u32], pages: &mut Vec<Vec<u32>>) {
    if some.len() <= PAGE {
        if !some.is_empty() {
            some.sort_unstable();
            pages.push(some.to_vec());
        }
        return;
    }
    let second = cut(rules, some, |class| classes.shape(class as usize));
    let (low, high) = some.split_at_mut(second);
    paginate(rules, classes, low, pages);
    paginate(rules, classes, high, pages);
}
