//! Curves: figures of several series over a few places of an axis, as the papers print them.
//!
//! Each series has a mark and a stroke of its own, so that it can be told from the others without colour. A place
//! without a figure is a gap.

use std::error::Error;

use maud::{Markup, PreEscaped, html};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{Area, FILL, INK, WIDTH, svg, text};

/// Where the axes begin and end.
const LEFT: i32 = 52;
const RIGHT: i32 = WIDTH - 10;
const TOP: i32 = 24;
const BOTTOM: i32 = 214;
/// The height of a line of the legend.
const LINE: i32 = 18;
const SOFT: RGBColor = RGBColor(221, 225, 230);

/// One series.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its figure at each place of the axis.
    pub points: &'a [Option<f64>],
}

/// What the axes show.
#[derive(Debug, Clone, Copy)]
pub struct Axes<'a> {
    /// The name of the horizontal axis.
    pub x: &'a str,
    /// The name of the vertical axis.
    pub y: &'a str,
    /// The places of the horizontal axis.
    pub places: &'a [String],
}

/// Figures of several series over the places of an axis.
pub fn curves(title: &str, description: &str, axes: Axes<'_>, series: &[Curve<'_>]) -> Markup {
    let height = BOTTOM + 44 + LINE * series.len() as i32;
    svg(title, description, height, |area| draw(area, axes, series))
}

/// A chart as a file of its own.
pub fn standalone(chart: &Markup) -> String {
    let open = "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" ";
    html! { (PreEscaped(chart.0.replacen("<svg ", open, 1))) }.into_string()
}

fn draw(area: &Area<'_>, axes: Axes<'_>, series: &[Curve<'_>]) -> Result<(), Box<dyn Error>> {
    let largest = series.iter().flat_map(|s| s.points).flatten().copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    let step = tick(largest);
    let ticks = (largest / step).ceil().max(1.0) as i32;
    let y = |value: f64| {
        let share = value / (step * f64::from(ticks));
        BOTTOM - (f64::from(BOTTOM - TOP) * share).round() as i32
    };
    for i in 0..=ticks {
        let value = step * f64::from(i);
        area.draw(&PathElement::new([(LEFT, y(value)), (RIGHT, y(value))], SOFT.stroke_width(1)))?;
        text(area, &short(value, step), (LEFT - 5, y(value)), HPos::Right)?;
    }
    area.draw(&PathElement::new([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], INK.stroke_width(1)))?;
    text(area, axes.y, (4, 10), HPos::Left)?;
    let places = axes.places.len().max(1) as i32;
    let x = |place: usize| LEFT + (RIGHT - LEFT) * (2 * place as i32 + 1) / (2 * places);
    // Where there are many places, not all of them have room for their names.
    let every = (axes.places.iter().map(|p| p.chars().count()).max().unwrap_or(1) as i32 * 8 * places
        / (RIGHT - LEFT).max(1)
        + 1) as usize;
    for (i, place) in axes.places.iter().enumerate().filter(|(i, _)| i % every == 0) {
        text(area, place, (x(i), BOTTOM + 11), HPos::Center)?;
    }
    text(area, axes.x, ((LEFT + RIGHT) / 2, BOTTOM + 28), HPos::Center)?;
    for (n, curve) in series.iter().enumerate() {
        let points: Vec<Option<(i32, i32)>> =
            (0..).zip(curve.points).map(|(i, p)| p.filter(|v| v.is_finite()).map(|v| (x(i), y(v)))).collect();
        for run in points.split(Option::is_none) {
            line(area, n, &run.iter().flatten().copied().collect::<Vec<_>>())?;
        }
        points.iter().flatten().try_for_each(|&at| mark(area, n, at))?;
        let at = BOTTOM + 46 + LINE * n as i32;
        line(area, n, &[(LEFT, at), (LEFT + 28, at)])?;
        mark(area, n, (LEFT + 14, at))?;
        text(area, curve.name, (LEFT + 36, at), HPos::Left)?;
    }
    Ok(())
}

const COLORS: [RGBColor; 7] = [
    FILL,
    RGBColor(178, 74, 20),
    RGBColor(23, 96, 43),
    RGBColor(120, 48, 130),
    RGBColor(90, 90, 90),
    RGBColor(150, 110, 0),
    INK,
];

/// A line in the stroke of a series: the first is whole, the others are dashed, each in its own way.
fn line(area: &Area<'_>, series: usize, points: &[(i32, i32)]) -> Result<(), Box<dyn Error>> {
    let style = COLORS[series % COLORS.len()].stroke_width(2);
    let (dash, gap) = [(0.0, 0.0), (7.0, 3.0), (3.0, 3.0), (11.0, 3.0), (2.0, 5.0), (6.0, 6.0), (0.0, 0.0)][series % 7];
    for pair in points.windows(2) {
        let (from, to) = ((f64::from(pair[0].0), f64::from(pair[0].1)), (f64::from(pair[1].0), f64::from(pair[1].1)));
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |along: f64| {
            let share = if length > 0.0 { along.min(length) / length } else { 0.0 };
            ((from.0 + (to.0 - from.0) * share).round() as i32, (from.1 + (to.1 - from.1) * share).round() as i32)
        };
        if dash == 0.0 {
            area.draw(&PathElement::new([pair[0], pair[1]], style))?;
            continue;
        }
        let mut along = 0.0;
        while along < length {
            area.draw(&PathElement::new([at(along), at(along + dash)], style))?;
            along += dash + gap;
        }
    }
    Ok(())
}

/// The mark of a series.
fn mark(area: &Area<'_>, series: usize, at: (i32, i32)) -> Result<(), Box<dyn Error>> {
    let color = COLORS[series % COLORS.len()];
    let corner = |d: i32| [(at.0 - d, at.1 - d), (at.0 + d, at.1 + d)];
    match series % 7 {
        0 => area.draw(&Circle::new(at, 4, color.filled()))?,
        1 => area.draw(&Rectangle::new(corner(4), color.filled()))?,
        2 => area.draw(&TriangleMarker::new(at, 5, color.filled()))?,
        3 => {
            area.draw(&Circle::new(at, 4, WHITE.filled()))?;
            area.draw(&Circle::new(at, 4, color.stroke_width(2)))?;
        }
        4 => {
            area.draw(&Rectangle::new(corner(4), WHITE.filled()))?;
            area.draw(&Rectangle::new(corner(4), color.stroke_width(2)))?;
        }
        5 => area.draw(&Cross::new(at, 4, color.stroke_width(2)))?,
        // The seventh is a plain line.
        _ => (),
    }
    Ok(())
}

/// The distance of ticks: 1, 2 or 5 times a power of ten, so that there are four to eight.
fn tick(largest: f64) -> f64 {
    if largest <= 0.0 || !largest.is_finite() {
        return 1.0;
    }
    let rough = largest / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= rough * 0.999).unwrap_or(power * 10.0)
}

/// A figure beside a tick.
fn short(value: f64, step: f64) -> String {
    let (scaled, unit, step) = match step {
        s if s >= 1e8 => (value / 1e9, "G", s / 1e9),
        s if s >= 1e5 => (value / 1e6, "M", s / 1e6),
        s if s >= 1e4 => (value / 1e3, "k", s / 1e3),
        s => (value, "", s),
    };
    if value == 0.0 {
        return "0".to_string();
    }
    let digits = (-step.log10().floor()).max(0.0) as usize;
    format!("{scaled:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (largest, step) in [(0.0, 1.0), (5.0, 1.0), (7.0, 2.0), (0.9, 0.2), (45_222.0, 10_000.0), (1.3e8, 5e7)] {
            assert!((tick(largest) / step - 1.0).abs() < 1e-9, "{largest}: {}", tick(largest));
        }
        assert_eq!(
            [short(0.4, 0.2), short(20_000.0, 10_000.0), short(1e8, 5e7), short(1e6, 5e5), short(3.0, 1.0)],
            ["0.4", "20k", "100M", "1.0M", "3"]
        );
    }

    #[test]
    fn a_place_without_a_figure_is_a_gap_and_nothing_can_be_drawn() {
        let places: Vec<String> = ["2", "4", "6"].map(String::from).to_vec();
        let axes = Axes { x: "l", y: "height", places: &places };
        let whole = [Some(1.0), Some(2.0), Some(3.0)];
        let broken = [Some(1.0), None, Some(f64::NAN)];
        let series = [Curve { name: "k <&>", points: &whole }, Curve { name: "entropy", points: &broken }];
        let drawn = curves("t", "d", axes, &series).into_string();
        assert!(drawn.contains("k &lt;&amp;&gt;") && drawn.ends_with("</svg>"), "{drawn}");
        assert!(!drawn.contains("NaN"), "{drawn}");
        let empty = Axes { places: &[], ..axes };
        assert!(standalone(&curves("t", "d", empty, &[])).starts_with("<svg xmlns="));
    }
}
