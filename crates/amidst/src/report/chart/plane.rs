//! Pictures of what is possible: points of risk against loss, and the nodes of a lattice by how much they generalize.
//!
//! A point is a link where it has an address, so that it can be reached and chosen by the keyboard.

use maud::{Markup, html};

use super::shortened;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 30.0;
/// The radius of a point.
const RADIUS: f64 = 5.0;

/// A point of a picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Where it stands from left to right: what it costs.
    pub x: f64,
    /// Where it stands from below: the risk.
    pub y: f64,
    /// What it is, for those who hover over it or listen to it.
    pub words: String,
    /// Where it leads.
    pub address: Option<String>,
    /// How it is drawn.
    pub mark: Mark,
}

/// How a point or node is drawn. Shape tells, not colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A ring.
    Open,
    /// A disc.
    Filled,
    /// A disc in a ring.
    Chosen,
}

/// Points with their axes.
pub fn plane(title: &str, description: &str, axes: (&str, &str), points: &[Point]) -> Markup {
    let most = |of: fn(&Point) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let (high_x, high_y) = (ceiling(most(|p| p.x)), ceiling(most(|p| p.y)));
    let at_x = |x: f64| LEFT + (WIDTH - LEFT - RIGHT) * x / high_x;
    let at_y = |y: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * y / high_y;
    let places = apart(points.iter().map(|p| (at_x(p.x), at_y(p.y))).collect());
    html! {
        svg role="group" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) aria-label=(title) {
            title { (title) }
            desc { (description) }
            @for i in 0..=4 {
                @let (x, y) = (high_x * f64::from(i) / 4.0, high_y * f64::from(i) / 4.0);
                line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(one(at_y(y))) y2=(one(at_y(y))) stroke="#C9CED6" stroke-width="1" {}
                text x=(LEFT - 6.0) y=(one(at_y(y) + 4.0)) text-anchor="end" font-size="11" fill="#222222" { (figure(y)) }
                text x=(one(at_x(x))) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" font-size="11" fill="#222222" { (figure(x)) }
            }
            text x=(WIDTH - RIGHT) y=(HEIGHT - 6.0) text-anchor="end" font-size="12" fill="#222222" { (axes.0) " →" }
            text x="4" y="13" font-size="12" fill="#222222" { "↑ " (axes.1) }
            @for (point, (x, y)) in points.iter().zip(places) { (linked(point, &dot(x, y, RADIUS, point.mark))) }
        }
    }
}

/// Places of discs, moved aside where one would cover the centre of an earlier one, so that each can be seen and
/// clicked.
///
/// The nearest free place on small rings around the point is taken: at most three radii away, inside of the axes. Where
/// all of them are taken the point stays.
fn apart(mut places: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    const CLOSEST: f64 = RADIUS + 2.0;
    const DIRECTIONS: u32 = 12;
    for i in 1..places.len() {
        let (before, rest) = places.split_at_mut(i);
        let (x, y) = rest[0];
        let free = |&(x, y): &(f64, f64)| {
            let inside = (LEFT..=WIDTH - RIGHT).contains(&x) && (TOP..=HEIGHT - BOTTOM).contains(&y);
            inside && before.iter().all(|p| (p.0 - x).hypot(p.1 - y) >= CLOSEST - 1e-6)
        };
        let rings = [1.0, 1.5, 2.0].into_iter().flat_map(|ring| {
            (0..DIRECTIONS).map(move |d| {
                let angle = std::f64::consts::TAU * f64::from(d) / f64::from(DIRECTIONS);
                (x + ring * CLOSEST * angle.cos(), y - ring * CLOSEST * angle.sin())
            })
        });
        rest[0] = std::iter::once((x, y)).chain(rings).find(free).unwrap_or((x, y));
    }
    places
}

/// A node of a lattice.
#[derive(Debug, Clone, PartialEq)]
pub struct LatticeNode {
    /// The level of each column.
    pub levels: Vec<usize>,
    /// How much of what is shown it has, from 0 to 1; darker is more.
    pub shade: f64,
    /// What it is and where it leads; its place is not looked at.
    pub point: Point,
}

/// A lattice: a row for each sum of levels, the most general on top, and lines from each node to those right above it.
pub fn lattice(title: &str, description: &str, nodes: &[LatticeNode]) -> Markup {
    const ROW: f64 = 44.0;
    // Where only a part is drawn, nothing stands below or above it.
    let all = |node: &LatticeNode| node.levels.iter().sum::<usize>();
    let lowest = nodes.iter().map(all).min().unwrap_or(0);
    let sum = |node: &LatticeNode| all(node) - lowest;
    let ranks = nodes.iter().map(sum).max().unwrap_or(0) + 1;
    let mut sizes = vec![0usize; ranks];
    let mut place = Vec::with_capacity(nodes.len());
    for node in nodes {
        place.push(sizes[sum(node)]);
        sizes[sum(node)] += 1;
    }
    let widest = sizes.iter().copied().max().unwrap_or(1).max(1) as f64;
    let width = (widest * 26.0).clamp(240.0, 1400.0);
    let height = ROW * ranks as f64;
    let at = |i: usize| {
        let rank = sum(&nodes[i]);
        (width * (place[i] as f64 + 0.5) / sizes[rank] as f64, height - ROW * (rank as f64 + 0.5))
    };
    let radius = (width / widest / 2.6).clamp(3.0, 9.0);
    let index = |levels: &[usize]| nodes.iter().position(|n| n.levels == levels);
    html! {
        svg role="group" viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}")) height=(format!("{height:.0}")) aria-label=(title) {
            title { (title) }
            desc { (description) }
            @if nodes.len() <= 300 { @for (i, node) in nodes.iter().enumerate() {
                @let (x1, y1) = at(i);
                @for column in 0..node.levels.len() {
                    @let above = { let mut up = node.levels.clone(); up[column] += 1; index(&up) };
                    @if let Some(above) = above {
                        @let (x2, y2) = at(above);
                        line x1=(one(x1)) y1=(one(y1)) x2=(one(x2)) y2=(one(y2)) stroke="#C9CED6" stroke-width="0.7" {}
                    }
                }
            } }
            @for (i, node) in nodes.iter().enumerate() {
                @let (x, y) = at(i);
                (linked(&node.point, &shaded(x, y, radius, node)))
            }
        }
    }
}

fn shaded(x: f64, y: f64, radius: f64, node: &LatticeNode) -> Markup {
    html! {
        circle cx=(one(x)) cy=(one(y)) r=(one(radius)) fill="#FFFFFF" {}
        circle cx=(one(x)) cy=(one(y)) r=(one(radius)) fill="#1F5A91" fill-opacity=(format!("{:.2}", node.shade.clamp(0.0, 1.0)))
            stroke="#222222" stroke-width="1" stroke-dasharray=[(node.point.mark == Mark::Open).then_some("2 2")] {}
        @if node.point.mark == Mark::Chosen {
            circle cx=(one(x)) cy=(one(y)) r=(one(radius + 3.0)) fill="none" stroke="#222222" stroke-width="1.5" {}
        }
    }
}

fn dot(x: f64, y: f64, radius: f64, mark: Mark) -> Markup {
    let fill = if mark == Mark::Open { "#FFFFFF" } else { "#1F5A91" };
    html! {
        circle cx=(one(x)) cy=(one(y)) r=(one(radius)) fill=(fill) stroke="#222222" stroke-width="1" {}
        @if mark == Mark::Chosen {
            circle cx=(one(x)) cy=(one(y)) r=(one(radius + 3.5)) fill="none" stroke="#222222" stroke-width="1.5" {}
        }
    }
}

/// What is drawn, as a link where it leads somewhere.
fn linked(point: &Point, drawn: &Markup) -> Markup {
    let words: String = point.words.split(", ").map(shortened).collect::<Vec<_>>().join(", ");
    html! {
        @match &point.address {
            Some(address) => a href=(address) aria-label=(words) { title { (words) } (drawn) },
            None => g role="img" aria-label=(words) { title { (words) } (drawn) },
        }
    }
}

fn one(x: f64) -> String {
    format!("{x:.1}")
}

/// A round number that is no less.
fn ceiling(x: f64) -> f64 {
    if !x.is_finite() || x <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(x.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(|c| *c >= x * 0.999_999).unwrap_or(x)
}

fn figure(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f64, y: f64) -> Point {
        Point { x, y, words: "<a>, 1".into(), address: Some("/x?n=1&m=2".into()), mark: Mark::Filled }
    }

    #[test]
    fn points_are_links_with_words() {
        let drawn = plane("t", "d", ("loss", "risk"), &[point(0.1, 0.5), Point { address: None, ..point(0.3, 0.2) }])
            .into_string();
        assert_eq!((drawn.matches("<a ").count(), drawn.matches("role=\"img\"").count()), (1, 1));
        assert!(drawn.contains("&lt;a&gt;, 1") && drawn.contains("/x?n=1&amp;m=2"), "{drawn}");
        assert!(!plane("t", "d", ("x", "y"), &[]).into_string().contains("NaN"));
    }

    #[test]
    fn no_point_covers_the_centre_of_another() {
        let crowd: Vec<(f64, f64)> =
            (0..8).map(|_| (200.0, 150.0)).chain([(203.0, 150.0), (LEFT, TOP), (LEFT, TOP)]).collect();
        let moved = apart(crowd.clone());
        for (i, a) in moved.iter().enumerate() {
            assert!((a.0 - crowd[i].0).hypot(a.1 - crowd[i].1) <= 3.0 * RADIUS, "{i} is far from its figures");
            assert!(a.0 >= LEFT && a.1 >= TOP, "{i} is outside");
            assert!(moved[..i].iter().all(|b| (a.0 - b.0).hypot(a.1 - b.1) > RADIUS), "{i} covers another");
        }
        let alone = vec![(60.0, 40.0), (80.0, 40.0)];
        assert_eq!(apart(alone.clone()), alone);
    }

    #[test]
    fn a_lattice_has_an_edge_for_each_step() {
        let of = |levels: [usize; 2]| LatticeNode { levels: levels.to_vec(), shade: 0.5, point: point(0.0, 0.0) };
        let nodes: Vec<LatticeNode> = [[0, 0], [0, 1], [1, 0], [1, 1]].map(of).to_vec();
        let drawn = lattice("t", "d", &nodes).into_string();
        assert_eq!((drawn.matches("<line").count(), drawn.matches("<a ").count()), (4, 4));
        assert!(lattice("t", "d", &[]).into_string().ends_with("</svg>"));
    }

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!([ceiling(0.13), ceiling(0.2), ceiling(37.0), ceiling(0.0)], [0.2, 0.2, 50.0, 1.0]);
        assert_eq!((figure(0.05), figure(1.0)), ("0.05".into(), "1".into()));
    }
}
