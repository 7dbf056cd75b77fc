//! *Explore*: what is possible. The lattice and the front of risk against loss for full-domain recodings; what each
//! algorithm makes of the table for local ones; and why a node cannot be published.

use std::collections::BTreeSet;

use amidst::core::internal::lattice::{Explored, ExploredNode, FrontPoint};
use amidst::core::model::named::K_ANONYMITY;
use amidst::explore::local::Compared;
use amidst::explore::{How, NodeRequirement, Seen};
use amidst::plan::metric_of;
use amidst::policy::Policy;
use amidst::report::Partition;
use amidst::report::chart::{LatticeNode, Mark, Point, lattice, partition, plane};
use amidst::words::{count, grouped};
use maud::{Markup, html};
use serde_json::json;

use crate::jobs::{Ending, Kind};
use crate::parts::{self, Query};
use crate::results::{Exploration, Fitted, Growing, Possible};
use crate::studio::View;

/// Nodes and points that are listed.
const LISTED: usize = 20;

/// The largest lattice that is drawn.
const DRAWN: usize = 700;

type Columns = [(String, usize)];

pub fn draw(view: &View, query: &Query) -> Markup {
    let head = parts::head(
        "Explore",
        "What is possible: how much risk is left for how much loss, before you publish anything.",
    );
    if view.text.is_none() {
        return parts::no_policy(&head);
    }
    let explored = view.results.explored.as_deref();
    let again = if explored.is_some() { "Explore again" } else { "Explore" };
    let growing = view.results.growing.as_deref().filter(|_| growing_counts(view));
    html! {
        (head)
        (parts::job(view, Kind::Explore))
        @if !view.jobs.runs(Kind::Explore) { p.run { (parts::start(Kind::Explore, again, &json!({}))) } }
        @if let Some(growing) = growing {
            (so_far(view, growing, query))
        } @else if let Some(explored) = explored {
            (parts::stale(view, &explored.fitted.basis))
            @match &explored.possible {
                Possible::Lattice(columns, found) => (of_lattice(explored, columns, found, query)),
                Possible::Local(found, partitions) => (of_local(view, explored, found, partitions, query)),
            }
        }
        p.next { a.button href="/compare" { "Next: compare before and after" } }
    }
}

/// Whether what a search has seen so far is what there is to see: while it runs, and after somebody stopped it.
fn growing_counts(view: &View) -> bool {
    let ending = view.jobs.of(Kind::Explore).map(|job| job.ending());
    matches!(ending, Some(None | Some(Ending::Stopped)))
}

/// What a search that runs, or was stopped, has seen: its curve grows.
fn so_far(view: &View, growing: &Growing, query: &Query) -> Markup {
    let (looked, seen) = growing.so_far();
    let metric = metric(Some(&growing.fitted.policy));
    let columns = heights(&growing.fitted);
    let chosen = chosen(query);
    let how = |how: &How| match how {
        How::Levels(levels) => words(&columns, levels),
        How::Algorithm(id) => (*id).to_string(),
        How::Size(k) => format!("Mondrian with k = {k}"),
    };
    let point = |seen: &Seen| Point {
        x: seen.cost,
        y: seen.max_risk,
        words: format!("risk {:.4}, {metric} {:.4}, {}", seen.max_risk, seen.cost, how(&seen.how)),
        address: match &seen.how {
            How::Levels(levels) => Some(address(levels, Shade::asked(query))),
            How::Size(k) => Some(size_address(*k)),
            How::Algorithm(_) => None,
        },
        mark: match &seen.how {
            How::Levels(levels) if chosen.as_ref() == Some(levels) => Mark::Chosen,
            How::Algorithm(_) => Mark::Filled,
            _ => Mark::Open,
        },
    };
    let points: Vec<Point> = seen.iter().map(point).collect();
    html! {
        section id="growing" aria-labelledby="curve" {
            h2 id="curve" { "Risk against loss, so far (measured by " (metric) ")" }
            (parts::stale(view, &growing.fitted.basis))
            @if points.is_empty() { p.soft { "Nothing to draw yet: first it is found which combinations satisfy the policy." } } @else {
                div.scroll id="growing-plane" tabindex="0" role="group" aria-label="Risk against loss, so far" {
                    (plane("Risk against loss, so far", "Each point is a way to release the table.", (&metric, "largest risk of anyone"), &points)) }
                p.soft { span id="looked" { (grouped(looked)) } (if looked == 1 { " way" } else { " ways" }) " to release the table measured so far; drawn are those that no other beats in both. Choose one to see whether it satisfies the policy, and why." }
            }
        }
        @if let Some(levels) = &chosen { (node(&growing.fitted, &columns, levels)) }
        (size_chosen(view, query))
    }
}

/// The columns whose levels a node has, with the heights of their hierarchies.
fn heights(fitted: &Fitted) -> Vec<(String, usize)> {
    fitted.prepared.generalizations.iter().map(|g| (g.name.clone(), g.height())).collect()
}

/// Where classes of a size are looked at.
fn size_address(k: u64) -> String {
    format!("/explore?size={k}#size")
}

/// What it means to ask for classes of the size that an address names, with a way to ask for it.
fn size_chosen(view: &View, query: &Query) -> Markup {
    let Some(k) = query.get("size").and_then(|size| size.parse::<u64>().ok()) else { return html! {} };
    let stated =
        view.requirements().iter().position(|r| r.get("model").and_then(|m| m.as_str()) == Some(K_ANONYMITY.id));
    let current = stated.map(|i| parts::typed(view.requirements()[i].get("k"))).unwrap_or_default();
    html! {
        section.card id="size" tabindex="-1" aria-labelledby="size-title" {
            h2 id="size-title" { "Classes of at least " (k) " rows" }
            p { "Nobody would be found with a probability above 1/" (k) ". This is what Mondrian makes of the table for k alone." }
            @if current == k.to_string() { p.soft { "The policy asks for this k." } } @else {
                p { button.small type="button" data-edit=(parts::k_of(stated, k)) { "Require k = " (k) } }
            }
        }
    }
}

/// The metric that a search goes by: that of the policy, or the one that is chosen for it.
fn metric(policy: Option<&Policy>) -> String {
    policy.and_then(|policy| metric_of(policy).ok()).map_or_else(String::new, |metric| metric.id.to_string())
}

/// What the metric of a policy is, in a sentence.
fn measured(policy: &Policy) -> Markup {
    html! { @if let Ok(metric) = metric_of(policy) { "Loss is measured by " code { (metric.id) } ": " (metric.title) ". " } }
}

/// What the colour of a node tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shade {
    Loss,
    Risk,
}

impl Shade {
    fn asked(query: &Query) -> Shade {
        if query.get("shade").is_some_and(|shade| shade == "risk") { Shade::Risk } else { Shade::Loss }
    }
}

/// Where a node is looked at; what the colours tell stays.
fn address(levels: &[usize], shade: Shade) -> String {
    let shade = if shade == Shade::Risk { "&shade=risk" } else { "" };
    format!("/explore?node={}{shade}#node", written(levels))
}

/// A node as addresses write it.
fn written(levels: &[usize]) -> String {
    levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
}

fn words(columns: &Columns, levels: &[usize]) -> String {
    columns.iter().zip(levels).map(|((name, _), level)| format!("{name} {level}")).collect::<Vec<_>>().join(", ")
}

/// The node that an address names.
fn chosen(query: &Query) -> Option<Vec<usize>> {
    query.get("node").map(|node| node.split('.').filter_map(|level| level.parse().ok()).collect())
}

/// Why the node that an address names can be published, or why not, shown on hovering; none where nothing was
/// explored.
pub fn why(view: &View, query: &Query) -> Option<Markup> {
    let growing = view.results.growing.as_deref().filter(|_| growing_counts(view)).map(|growing| &growing.fitted);
    let fitted = growing.or_else(|| view.results.explored.as_deref().map(|explored| &explored.fitted))?;
    Some(node(fitted, &heights(fitted), &chosen(query)?))
}

fn of_lattice(explored: &Exploration, columns: &Columns, found: &Explored, query: &Query) -> Markup {
    let metric = metric(Some(&explored.fitted.policy));
    let (chosen, shade) = (chosen(query), Shade::asked(query));
    let is_chosen = |levels: &[usize]| chosen.as_deref() == Some(levels);
    let valid = |levels: &[usize]| found.minimal.iter().any(|m| m.levels.iter().zip(levels).all(|(a, b)| a <= b));
    let point = |p: &FrontPoint| Point {
        x: p.cost,
        y: p.max_risk,
        words: format!(
            "risk {:.4}, {metric} {:.4}, {}{}",
            p.max_risk,
            p.cost,
            words(columns, &p.levels),
            if valid(&p.levels) { ", satisfies the policy" } else { "" }
        ),
        address: Some(address(&p.levels, shade)),
        mark: if is_chosen(&p.levels) {
            Mark::Chosen
        } else if valid(&p.levels) {
            Mark::Filled
        } else {
            Mark::Open
        },
    };
    let points: Vec<Point> = found.front.iter().map(point).collect();
    html! {
        p.lead {
            @if found.minimal.is_empty() { "None of " (grouped(found.nodes as u64)) " combinations of levels satisfies the policy." }
            @else { strong { (grouped(found.minimal.len() as u64)) } " of " (grouped(found.nodes as u64)) (if found.minimal.len() == 1 { " combinations of levels satisfies" } else { " combinations of levels satisfy" }) " the policy and cannot be made more precise." }
            @if !found.complete { " The time limit cut the search short." } }
        section aria-labelledby="curve" {
            h2 id="curve" { "Risk against loss (measured by " (metric) ")" }
            div.scroll tabindex="0" role="group" aria-label="Risk against loss" {
                (plane("Risk against loss", "Each point is a combination of levels that no other beats in both.", (&metric, "largest risk of anyone"), &points)) }
            p.soft { (measured(&explored.fitted.policy)) "Every point is a combination of levels that no other beats in both. Filled points satisfy the policy. Choose one to see why, or why not." }
        }
        @if let Some(levels) = &chosen { (node(&explored.fitted, columns, levels)) }
        (picture(columns, found, &metric, chosen.as_deref(), shade))
        @if !found.minimal.is_empty() { section aria-labelledby="minimal" {
            h2 id="minimal" { "Most precise combinations, least loss first" }
            div.scroll id="minimal-rows" tabindex="0" role="group" aria-label="Most precise combinations" { table.wraps {
                thead { tr { th scope="col" { span.hidden { "look" } } th.n scope="col" { (metric) } th.n scope="col" { "left out" } th.n scope="col" { "classes" }
                    @for (name, height) in columns { th.n scope="col" { (parts::breakable(name)) span.soft { " of\u{a0}" (height) } } } } }
                tbody { @for node in listed(found, &metric) { tr {
                    td { a href=(address(&node.levels, shade)) { "look" span.hidden { " at " (words(columns, &node.levels)) } } }
                    td.n { @let lost = loss(node, &metric); @if lost.is_finite() { (format!("{lost:.4}")) } @else { "–" } }
                    td.n { (grouped(node.suppressed)) } td.n { (grouped(node.classes)) }
                    @for level in &node.levels { td.n { (level) } }
                } } }
            } }
            p.soft { "A number below a column is the level of its hierarchy: 0 is the value itself, the largest is everything alike." }
            @if found.minimal.len() > LISTED { p.soft { "and " (grouped((found.minimal.len() - LISTED) as u64)) " more" } }
        } }
    }
}

/// What a node loses; infinite where it was not measured.
fn loss(node: &ExploredNode, metric: &str) -> f64 {
    node.metrics.iter().find(|(id, _)| *id == metric).and_then(|(_, value)| *value).unwrap_or(f64::INFINITY)
}

/// The most precise nodes that are listed: those that lose least.
fn listed<'a>(found: &'a Explored, metric: &str) -> Vec<&'a ExploredNode> {
    let mut nodes: Vec<&ExploredNode> = found.minimal.iter().collect();
    nodes.sort_by(|a, b| loss(a, metric).total_cmp(&loss(b, metric)));
    nodes.truncate(LISTED);
    nodes
}

/// The nodes that are drawn: all of them, or of a large lattice the most precise ones that satisfy the policy with
/// those right above and below.
fn drawn(columns: &Columns, found: &Explored, metric: &str) -> Vec<Vec<usize>> {
    if !found.all.is_empty() && found.all.len() <= DRAWN {
        return found.all.iter().map(|p| p.levels.clone()).collect();
    }
    let mut nodes = BTreeSet::new();
    for node in listed(found, metric) {
        for (i, (_, height)) in columns.iter().enumerate() {
            let mut near = node.levels.clone();
            near[i] = (near[i] + 1).min(*height);
            nodes.insert(near.clone());
            near[i] = node.levels[i].saturating_sub(1);
            nodes.insert(near);
        }
        nodes.insert(node.levels.clone());
    }
    nodes.into_iter().collect()
}

fn picture(columns: &Columns, found: &Explored, metric: &str, chosen: Option<&[usize]>, shade: Shade) -> Markup {
    let most = found.all.iter().map(|p| p.cost).filter(|c| c.is_finite()).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let node = |levels: Vec<usize>| {
        let minimal = found.minimal.iter().any(|m| m.levels == levels);
        let valid = found.minimal.iter().any(|m| m.levels.iter().zip(&levels).all(|(a, b)| a <= b));
        let stands = match (minimal, valid) {
            (true, _) => "satisfies the policy, most precise",
            (_, true) => "satisfies the policy",
            _ => "does not satisfy the policy",
        };
        let place = found.all.binary_search_by(|p| p.levels.cmp(&levels)).ok();
        let figures = place.map(|i| &found.all[i]);
        let told = figures.map_or(String::new(), |p| {
            format!("smallest class {}, risk {:.4}, {metric} {:.4}, ", p.smallest, p.max_risk, p.cost)
        });
        LatticeNode {
            shade: figures.map_or(0.3, |p| match shade {
                Shade::Risk => p.max_risk,
                Shade::Loss if p.cost.is_finite() => p.cost / most,
                Shade::Loss => 1.0,
            }),
            point: Point {
                x: 0.0,
                y: 0.0,
                words: format!("{}, {told}{stands}", words(columns, &levels)),
                address: Some(address(&levels, shade)),
                mark: match (minimal || chosen == Some(levels.as_slice()), valid) {
                    (true, _) => Mark::Chosen,
                    (_, true) => Mark::Filled,
                    _ => Mark::Open,
                },
            },
            levels,
        }
    };
    let nodes: Vec<LatticeNode> = drawn(columns, found, metric).into_iter().map(node).collect();
    let part = (nodes.len() as f64) < found.nodes;
    let title = if part { "Around the most precise combinations" } else { "All combinations" };
    html! {
        @if !nodes.is_empty() { section aria-labelledby="lattice" {
            h2 id="lattice" tabindex="-1" { (title) }
            @if !found.all.is_empty() { (shades(metric, chosen, shade)) }
            div.scroll.picture id="lattice-box" tabindex="0" role="group" aria-label=(title) {
                (lattice("Combinations of levels", "The most precise at the bottom, the most general on top.", &nodes)) }
            p.soft { @if part { "Of " (grouped(found.nodes as u64)) " combinations, those that satisfy the policy and cannot be more precise, and their neighbours. " }
                "Top: more general; bottom: more precise. "
                @if !found.all.is_empty() { "The stronger the colour, the more " @match shade { Shade::Loss => (metric), Shade::Risk => "risk for whoever is easiest to find" } ". " }
                "Dashed: does not satisfy the policy. Ringed: satisfies it and cannot be more precise. Choose one to see why." }
        } }
    }
}

/// What the colours of the lattice tell, to be chosen.
fn shades(metric: &str, chosen: Option<&[usize]>, current: Shade) -> Markup {
    let node = chosen.map(|levels| format!("node={}&", written(levels))).unwrap_or_default();
    html! {
        p.shades { "Colours tell"
            @for (shade, name, words) in [(Shade::Loss, "loss", metric), (Shade::Risk, "risk", "risk")] {
                a href=(format!("/explore?{node}shade={name}#lattice")) aria-current=[(shade == current).then_some("true")] { (words) }
            }
        }
    }
}

/// Why a node can be published, or why not.
fn node(fitted: &Fitted, columns: &Columns, levels: &[usize]) -> Markup {
    let told = match fitted.verdict(levels) {
        Ok(told) => told,
        Err(failure) => return html! { div.wrong id="node" { p { (failure) } } },
    };
    let title = match (told.valid, told.rows_to_suppress) {
        (true, 0) => "This node satisfies the policy".to_string(),
        (true, rows) => format!("This node satisfies the policy with {} left out", count(rows, "row", "rows")),
        (false, rows) => format!(
            "This node cannot be published: {} would have to be left out, {} may be",
            count(rows, "row", "rows"),
            grouped(told.suppression_limit)
        ),
    };
    html! {
        section.card id="node" tabindex="-1" aria-labelledby="node-title" {
            h2 id="node-title" { (title) }
            p.soft { (words(columns, levels)) " · " (count(told.classes, "class", "classes")) }
            @for r in &told.requirements { (obstacle(r, told.valid)) }
        }
    }
}

/// What came of one requirement at a node. Classes that break it are left out of a node that can be published.
fn obstacle(r: &NodeRequirement, valid: bool) -> Markup {
    let holds = r.verdict.holds;
    let classes = count(r.failing_classes, "class", "classes");
    let rows = count(r.failing_rows, "row", "rows");
    html! {
        p {
            @if holds { span.holds { "holds" } " " (r.verdict.model) }
            @else if valid { span.holds { "holds" } " " (r.verdict.model) " with " (classes) " of " (rows) " left out; the worst of these:" }
            @else { span.fails { "fails" } " " (r.verdict.model) " in " (classes) " with " (rows) "; the worst:" }
        }
        @if !holds { ul { @for class in &r.worst {
            li { (class.labels().join(", ")) " " span.soft { "(" (count(class.rows, "row", "rows")) ")" } }
        } } }
    }
}

type Named = (&'static str, Partition);

/// The partition to be drawn: that of the algorithm that was asked for, or of the one that loses least.
fn shown_partition<'a>(partitions: &'a [Named], asked: Option<&String>) -> Option<&'a Named> {
    let own = partitions.iter().find(|(id, _)| Some(*id) == asked.map(String::as_str));
    own.or_else(|| partitions.first())
}

fn where_classes_lie(shown: Option<&Named>) -> Markup {
    let Some((id, found)) = shown else { return html! {} };
    let [across, up] = &found.columns;
    html! {
        section aria-labelledby="classes" {
            h2 id="classes" tabindex="-1" { "Where the classes of " (id) " lie" }
            div.scroll.picture-of-classes tabindex="0" role="group" aria-label=(format!("Classes by {across} and {up}")) {
                (partition(&format!("Classes by {across} and {up}"), "Rectangles, each where classes lie.", found)) }
            p.soft { "Each rectangle is what some classes cover in " (across) " (across) and " (up) " (upward); the more persons, the thicker the border and the darker the shade. "
                @if found.drawn < found.regions { "Drawn are the " (grouped(found.drawn)) " of " (grouped(found.regions)) " rectangles that hold the most persons. " }
                "Choose another algorithm below to see its classes." }
        }
    }
}

fn of_local(view: &View, explored: &Exploration, found: &Compared, partitions: &[Named], query: &Query) -> Markup {
    let metric = metric(Some(&explored.fitted.policy));
    let current = view.policy.as_ref().and_then(|p| p.search.algorithm.clone());
    let front: Vec<Point> = found
        .front
        .iter()
        .map(|p| Point {
            x: p.cost,
            y: p.risk.prosecutor_max,
            words: format!("k = {}, risk {:.4}, {metric} {:.4}", p.k, p.risk.prosecutor_max, p.cost),
            address: Some(size_address(p.k)),
            mark: if query.get("size").is_some_and(|size| *size == p.k.to_string()) {
                Mark::Chosen
            } else {
                Mark::Open
            },
        })
        .collect();
    let drawn = |algorithm: &str| partitions.iter().any(|(id, _)| *id == algorithm);
    let asked = query.get("algorithm").or(current.as_ref());
    let shown = shown_partition(partitions, asked).map(|(id, _)| *id);
    let tried: Vec<Point> = found
        .algorithms
        .iter()
        .filter_map(|tried| {
            let judged = tried.judged.as_ref().ok()?;
            Some(Point {
                x: tried.cost(&metric)?,
                y: judged.risk.prosecutor_max,
                words: format!(
                    "{}, risk {:.4}, {metric} {:.4}",
                    tried.algorithm,
                    judged.risk.prosecutor_max,
                    tried.cost(&metric)?
                ),
                address: drawn(tried.algorithm).then(|| format!("/explore?algorithm={}#classes", tried.algorithm)),
                mark: if shown == Some(tried.algorithm) { Mark::Chosen } else { Mark::Filled },
            })
        })
        .collect();
    html! {
        section aria-labelledby="curve" {
            h2 id="curve" { "Risk against loss (measured by " (metric) ")" }
            div.scroll tabindex="0" role="group" aria-label="Risk against loss" {
                (plane("Risk against loss", "Filled: each algorithm on the policy. Rings: Mondrian for several k.", (&metric, "largest risk of anyone"), &[front, tried].concat())) }
            p.soft { (measured(&explored.fitted.policy)) "Filled: what each algorithm makes of the policy; choose one to see its classes. Rings: Mondrian for k alone, whatever the policy says; choose one to require its k." }
        }
        (size_chosen(view, query))
        (where_classes_lie(shown_partition(partitions, asked)))
        section aria-labelledby="algorithms" {
            h2 id="algorithms" { "What each algorithm makes of the table" }
            div.scroll id="tried" tabindex="0" role="group" aria-label="Algorithms" { table {
                thead { tr { th scope="col" { "algorithm" } th.n scope="col" { "classes" } th.n scope="col" { "left out" } th.n scope="col" { "smallest class" }
                    th.n scope="col" { (metric) } th scope="col" { span.hidden { "use" } } } }
                tbody { @for tried in &found.algorithms { tr {
                    th scope="row" { @if drawn(tried.algorithm) {
                        a href=(format!("/explore?algorithm={}#classes", tried.algorithm)) { (tried.algorithm) } } @else { (tried.algorithm) } }
                    @match &tried.judged {
                        Ok(judged) => {
                            td.n { (grouped(judged.class_count())) } td.n { (grouped(judged.suppressed)) } td.n { (grouped(judged.risk.smallest.unwrap_or(0))) }
                            td.n { (tried.cost(&metric).map_or("–".into(), |c| format!("{c:.4}"))) }
                            td { @if current.as_deref() == Some(tried.algorithm) { "in use" } @else {
                                button.small type="button" data-edit=(json!({"op": "set", "path": ["search", "algorithm"], "value": tried.algorithm})) { "Use " span.hidden { (tried.algorithm) } } } }
                        }
                        Err(why) => td.wide colspan="5" { span.soft { (why) } },
                    }
                } } }
            } }
        }
    }
}
