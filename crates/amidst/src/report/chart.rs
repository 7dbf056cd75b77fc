//! Charts as inline SVG: bars, steps and rectangles, each with a title and a description for those who cannot see them.
//!
//! Shape tells, not colour: the original table's bars are outlines, the release's are filled. A chart is drawn as wide
//! as a phone and grows with the page.

mod curves;
mod icicle;
mod partition;
mod plane;

use std::error::Error;

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::words::grouped;
pub use curves::{Axes, Curve, curves, standalone};
pub use icicle::{Node, icicle};
pub use partition::partition;
pub use plane::{LatticeNode, Mark, Point, lattice, plane};

const WIDTH: i32 = 360;
/// Where labels end and bars begin.
const LEFT: i32 = 140;
/// Where the longest bar ends; its figure stands behind it.
const RIGHT: i32 = 298;
const BAR: i32 = 12;
const GAP: i32 = 9;
const LEGEND: i32 = 22;
/// The longest label that fits in front of a bar; the table beside the chart has it whole.
const LABEL_CHARS: usize = 20;
/// The library writes four fifths of it into the picture.
const FONT: i32 = 14;
const INK: RGBColor = RGBColor(34, 34, 34);
const FILL: RGBColor = RGBColor(31, 90, 145);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// One line of a bar chart.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// The figure of the original table.
    pub before: Option<u64>,
    /// The figure of the release.
    pub after: u64,
}

/// Horizontal bars, before and after where there is a before.
pub fn bars(title: &str, description: &str, lines: &[Line]) -> Markup {
    let pairs = lines.iter().any(|l| l.before.is_some());
    let step = GAP + if pairs { 2 * BAR + 2 } else { BAR };
    let top = if pairs { LEGEND } else { 4 };
    let height = top + step * lines.len() as i32;
    svg(title, description, height, |area| draw_bars(area, lines, pairs, top, step))
}

fn draw_bars(area: &Area<'_>, lines: &[Line], pairs: bool, top: i32, step: i32) -> Result<(), Box<dyn Error>> {
    if pairs {
        rectangle(area, (LEFT, 6), (LEFT + 14, 14), false)?;
        text(area, "before", (LEFT + 18, 10), HPos::Left)?;
        rectangle(area, (LEFT + 70, 6), (LEFT + 84, 14), true)?;
        text(area, "after", (LEFT + 88, 10), HPos::Left)?;
    }
    let longest = lines.iter().map(|l| l.after.max(l.before.unwrap_or(0))).max().unwrap_or(0).max(1);
    let end = |n: u64| LEFT + ((RIGHT - LEFT) as f64 * n as f64 / longest as f64).round() as i32;
    for (i, line) in lines.iter().enumerate() {
        let mut y = top + step * i as i32 + GAP / 2;
        let middle = y + (step - GAP) / 2;
        text(area, &shortened(&line.label), (LEFT - 6, middle), HPos::Right)?;
        if pairs {
            if let Some(before) = line.before {
                rectangle(area, (LEFT, y), (end(before), y + BAR), false)?;
                text(area, &grouped(before), (end(before) + 4, y + BAR / 2), HPos::Left)?;
            }
            y += BAR + 2;
        }
        rectangle(area, (LEFT, y), (end(line.after), y + BAR), true)?;
        text(area, &grouped(line.after), (end(line.after) + 4, y + BAR / 2), HPos::Left)?;
    }
    Ok(())
}

/// For each column the levels of its hierarchy as boxes, filled up to the level that was chosen.
pub fn levels(title: &str, description: &str, columns: &[(String, usize, usize)]) -> Markup {
    const ROW: i32 = 26;
    svg(title, description, ROW * columns.len() as i32 + 4, |area| {
        let highest = columns.iter().map(|c| c.2).max().unwrap_or(0).max(1) as i32;
        let width = ((RIGHT - LEFT) / highest).clamp(4, 30);
        for (i, (name, level, height)) in columns.iter().enumerate() {
            let y = 4 + ROW * i as i32;
            text(area, &shortened(name), (LEFT - 6, y + 8), HPos::Right)?;
            for step in 0..*height {
                let x = LEFT + step as i32 * width;
                rectangle(area, (x, y), (x + width - 3, y + 16), step < *level)?;
            }
            text(area, &format!("{level} of {height}"), (LEFT + *height as i32 * width + 4, y + 8), HPos::Left)?;
        }
        Ok(())
    })
}

/// For each column the shares of its cells that are exact, generalized and gone, as one bar of three parts.
pub fn parts(title: &str, description: &str, columns: &[(String, [u64; 3])]) -> Markup {
    const ROW: i32 = 24;
    svg(title, description, LEGEND + ROW * columns.len() as i32 + 4, |area| {
        let soft = RGBColor(158, 190, 219);
        for (x, fill, name) in
            [(LEFT, Some(FILL), "exact"), (LEFT + 62, Some(soft), "generalized"), (LEFT + 160, None, "*")]
        {
            part(area, (x, 6), (x + 14, 14), fill)?;
            text(area, name, (x + 18, 10), HPos::Left)?;
        }
        for (i, (name, rows)) in columns.iter().enumerate() {
            let y = LEGEND + ROW * i as i32;
            text(area, &shortened(name), (LEFT - 6, y + 8), HPos::Right)?;
            let all = rows.iter().sum::<u64>().max(1) as f64;
            let mut sum = 0;
            let mut x = LEFT;
            for (&n, fill) in rows.iter().zip([Some(FILL), Some(soft), None]) {
                sum += n;
                let end = LEFT + ((WIDTH - 12 - LEFT) as f64 * sum as f64 / all).round() as i32;
                if end > x {
                    part(area, (x, y), (end, y + 16), fill)?;
                }
                x = end;
            }
        }
        Ok(())
    })
}

fn part(area: &Area<'_>, from: (i32, i32), to: (i32, i32), fill: Option<RGBColor>) -> Result<(), Box<dyn Error>> {
    if let Some(color) = fill {
        area.draw(&Rectangle::new([from, to], color.filled()))?;
    }
    area.draw(&Rectangle::new([from, to], INK.stroke_width(1)))?;
    Ok(())
}

fn rectangle(area: &Area<'_>, from: (i32, i32), to: (i32, i32), filled: bool) -> Result<(), Box<dyn Error>> {
    // A bar of no length is still a line: nothing is not the same as not looked at.
    let to = (to.0.max(from.0 + 1), to.1);
    let style = if filled { FILL.filled() } else { INK.stroke_width(1) };
    area.draw(&Rectangle::new([from, to], style))?;
    Ok(())
}

fn text(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos) -> Result<(), Box<dyn Error>> {
    let style = ("sans-serif", FONT).into_font().color(&INK).pos(Pos::new(side, VPos::Center));
    area.draw(&Text::new(text.to_string(), at, style))?;
    Ok(())
}

/// Labels come from data: they may be long, and hold characters that SVG forbids.
fn shortened(label: &str) -> String {
    let clean = label.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    if label.chars().count() <= LABEL_CHARS {
        return clean.collect();
    }
    clean.take(LABEL_CHARS - 1).chain(['…']).collect()
}

/// An `svg` element around what `draw` draws. A drawing that fails leaves only its title and description.
fn svg(
    title: &str,
    description: &str,
    height: i32,
    draw: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn Error>>,
) -> Markup {
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, (WIDTH as u32, height.max(1) as u32)).into_drawing_area();
        let done = draw(&area).and_then(|()| area.present().map_err(Into::into));
        drop(area);
        if done.is_err() {
            drawn.clear();
        }
    }
    // The page has its own opening tag: a size that follows the page, and words for those who listen to it.
    let inner = drawn.split_once('>').map_or("", |(_, rest)| rest).trim_end().trim_end_matches("</svg>");
    html! {
        svg role="img" viewBox=(format!("0 0 {WIDTH} {height}")) aria-label=(title) {
            title { (title) }
            desc { (description) }
            (PreEscaped(inner))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_real_text_and_escaped() {
        let line = Line { label: "<b>&\u{0}".into(), before: Some(3), after: 1200 };
        let drawn = bars("a <title>", "what", &[line]).into_string();
        assert!(drawn.contains("&lt;b&gt;&amp;\u{fffd}"), "{drawn}");
        assert!(drawn.contains("1,200") && drawn.contains("a &lt;title&gt;"), "{drawn}");
        assert!(!drawn.contains("<b>") && !drawn.contains("http"), "{drawn}");
        assert_eq!(drawn.matches("<svg").count(), 1);
        assert_eq!(drawn.matches("</svg>").count(), 1);
    }

    #[test]
    fn nothing_at_all_can_be_drawn() {
        for drawn in
            [bars("t", "d", &[]), levels("t", "d", &[("a".into(), 0, 0)]), parts("t", "d", &[("a".into(), [0; 3])])]
        {
            assert!(drawn.into_string().ends_with("</svg>"));
        }
    }
}
