//! Pictures for notebooks, drawn by the code that draws those of reports and of the studio.

use amidst::core::internal::lattice::Explored;
use amidst::explore::local::Compared;
use amidst::report::chart::{Mark, Point, plane};

const TITLE: &str = "Risk against loss";

/// The axis from below.
const RISK: &str = "largest risk of anyone";

/// The front of a lattice: filled points satisfy the policy.
pub fn front(names: &[&str], metric: &str, explored: &Explored) -> String {
    let valid = |levels: &[usize]| explored.minimal.iter().any(|m| m.levels.iter().zip(levels).all(|(a, b)| a <= b));
    let points: Vec<Point> = explored
        .front
        .iter()
        .map(|p| {
            let levels: Vec<String> =
                names.iter().zip(&p.levels).map(|(name, level)| format!("{name} {level}")).collect();
            let stands = if valid(&p.levels) { ", satisfies the policy" } else { "" };
            let words = format!("risk {:.4}, {metric} {:.4}, {}{stands}", p.max_risk, p.cost, levels.join(", "));
            let mark = if valid(&p.levels) { Mark::Filled } else { Mark::Open };
            Point { x: p.cost, y: p.max_risk, words, address: None, mark }
        })
        .collect();
    let described =
        "Each point is a combination of levels that no other beats in both. Filled points satisfy the policy.";
    plane(TITLE, described, (metric, RISK), &points).into_string()
}

/// What local algorithms make of a table: filled points; rings for Mondrian with several k.
pub fn algorithms(metric: &str, compared: &Compared) -> String {
    let rings = compared.front.iter().map(|p| Point {
        x: p.cost,
        y: p.risk.prosecutor_max,
        words: format!("k = {}, risk {:.4}, {metric} {:.4}", p.k, p.risk.prosecutor_max, p.cost),
        address: None,
        mark: Mark::Open,
    });
    let tried = compared.algorithms.iter().filter_map(|tried| {
        let (cost, risk) = (tried.cost(metric)?, tried.judged.as_ref().ok()?.risk.prosecutor_max);
        let words = format!("{}, risk {risk:.4}, {metric} {cost:.4}", tried.algorithm);
        Some(Point { x: cost, y: risk, words, address: None, mark: Mark::Filled })
    });
    let points: Vec<Point> = rings.chain(tried).collect();
    let described = "Filled: each algorithm on the policy. Rings: Mondrian for several k, whatever the policy says.";
    plane(TITLE, described, (metric, RISK), &points).into_string()
}
