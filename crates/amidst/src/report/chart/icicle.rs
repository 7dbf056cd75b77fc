//! A hierarchy as a picture: a row of boxes for each level, each as wide as the rows that fall into it, under its
//! parent.

use maud::{Markup, html};

use super::shortened;
use crate::words::grouped;

const WIDTH: f64 = 720.0;
const ROW: f64 = 30.0;
/// Boxes narrower than this are not drawn one by one.
const NARROWEST: f64 = 2.0;
/// About the width of a letter.
const LETTER: f64 = 6.6;

/// A node of a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What a release would print.
    pub label: String,
    /// The rows that fall into it.
    pub rows: u64,
    /// Its parent among the nodes of the next level.
    pub parent: usize,
}

/// A box to draw.
struct Block<'a> {
    node: &'a Node,
    x: f64,
    width: f64,
}

/// The levels from the top down to the values. Nodes of fewer rows than `few` are outlines.
pub fn icicle(title: &str, description: &str, levels: &[Vec<Node>], few: u64) -> Markup {
    let placed = placed(levels);
    let height = ROW * levels.len() as f64;
    html! {
        svg role="img" viewBox=(format!("0 0 {WIDTH} {height}")) aria-label=(title) {
            title { (title) }
            desc { (description) }
            @for (depth, blocks) in placed.iter().rev().enumerate() {
                @let y = depth as f64 * ROW;
                @let thin = blocks.iter().filter(|b| b.width < NARROWEST).count();
                @if thin * 2 <= blocks.len() {
                    @for block in blocks.iter().filter(|b| b.width >= NARROWEST) { (drawn(block, y, few)) }
                } @else {
                    rect x="1" y=(y + 1.0) width=(WIDTH - 2.0) height=(ROW - 4.0) fill="none" stroke="#222222" stroke-dasharray="3 3" {}
                    text x="8" y=(y + 19.0) font-size="12" fill="#222222" { (grouped(blocks.len() as u64)) " nodes" }
                }
            }
        }
    }
}

fn drawn(block: &Block<'_>, y: f64, few: u64) -> Markup {
    let label = shortened(&block.node.label);
    let fits = ((block.width - 8.0) / LETTER) as usize;
    let shown: String = match label.chars().count() <= fits {
        true => label.clone(),
        false if fits >= 3 => label.chars().take(fits - 1).chain(['…']).collect(),
        false => String::new(),
    };
    let fill = if block.node.rows < few { "none" } else { "#9EBEDB" };
    html! {
        rect x=(format!("{:.1}", block.x + 0.5)) y=(y + 1.0) width=(format!("{:.1}", (block.width - 1.0).max(0.5)))
            height=(ROW - 4.0) fill=(fill) stroke="#222222" stroke-width="0.5" {
            title { (label) ": " (grouped(block.node.rows)) @if block.node.rows == 1 { " row" } @else { " rows" } }
        }
        @if !shown.is_empty() {
            text x=(format!("{:.1}", block.x + 4.0)) y=(y + 18.0) font-size="11" fill="#222222" pointer-events="none" { (shown) }
        }
    }
}

/// Where the nodes of each level stand: under their parents, in their own order.
fn placed(levels: &[Vec<Node>]) -> Vec<Vec<Block<'_>>> {
    let all = levels.last().map_or(0, |top| top.iter().map(|n| n.rows).sum::<u64>()).max(1) as f64;
    // Where the next child of each node of the level above begins.
    let mut next: Vec<f64> = vec![0.0];
    let mut placed: Vec<Vec<Block<'_>>> = Vec::new();
    for (depth, level) in levels.iter().rev().enumerate() {
        let mut starts = vec![0.0; level.len()];
        for (i, node) in level.iter().enumerate() {
            let parent = if depth == 0 { 0 } else { node.parent };
            if let Some(at) = next.get_mut(parent) {
                starts[i] = *at;
                *at += WIDTH * node.rows as f64 / all;
            }
        }
        let block = |(node, &x): (_, &f64)| -> Block<'_> {
            let node: &Node = node;
            Block { node, x, width: WIDTH * node.rows as f64 / all }
        };
        placed.push(level.iter().zip(&starts).map(block).collect());
        next = starts;
    }
    placed.reverse();
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(label: &str, rows: u64, parent: usize) -> Node {
        Node { label: label.to_string(), rows, parent }
    }

    #[test]
    fn children_stand_under_their_parents() {
        // The values are not in the order of their parents.
        let values = vec![node("a", 10, 0), node("b", 30, 1), node("c", 20, 0)];
        let groups = vec![node("A", 30, 0), node("<B>", 30, 0)];
        let levels = [values, groups, vec![node("*", 60, 0)]];
        let found = placed(&levels);
        let at = |level: usize, i: usize| (found[level][i].x.round() as i64, found[level][i].width.round() as i64);
        assert_eq!((at(0, 0), at(0, 2), at(0, 1)), ((0, 120), (120, 240), (360, 360)));
        assert_eq!((at(1, 0), at(1, 1), at(2, 0)), ((0, 360), (360, 360), (0, 720)));
        let picture = icicle("t", "d", &levels, 15).into_string();
        assert!(
            picture.contains("&lt;B&gt;") && picture.contains("a: 10 rows") && !picture.contains("<B>"),
            "{picture}"
        );
        assert_eq!(picture.matches("fill=\"none\"").count(), 1, "only one node has few rows");
        assert!(icicle("t", "d", &[], 1).into_string().ends_with("</svg>"));
    }
}
