//! A partition as rectangles over two columns.
//!
//! How many persons a rectangle holds is told by its border as well as by its shade: the more, the thicker and darker.

use std::error::Error;

use maud::Markup;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::{Area, FILL, INK, LEGEND, WIDTH, shortened, svg, text};
use crate::report::partition::Partition;
use crate::words::grouped;

/// Where the plane begins and ends.
const PLANE: ((i32, i32), (i32, i32)) = ((96, LEGEND + 4), (WIDTH - 4, LEGEND + 4 + 240));
/// Room below the plane for two lines of labels and the column's name.
const BELOW: i32 = 44;
/// How high a line of text is, and how wide a character.
const LINE: i32 = 14;
const CHARACTER: i32 = 7;
/// A label that is cut shorter than this says nothing.
const FEWEST: usize = 6;
/// The steps of border and shade: each holds up to twice the persons of the one before.
const STEPS: u32 = 4;

/// Rectangles over two columns, each as its classes cover them.
pub fn partition(title: &str, description: &str, partition: &Partition) -> Markup {
    svg(title, description, PLANE.1.1 + BELOW, |area| draw(area, partition))
}

fn draw(area: &Area<'_>, partition: &Partition) -> Result<(), Box<dyn Error>> {
    let most = partition.boxes.iter().map(|b| b.persons).max().unwrap_or(1).max(1);
    legend(area, most)?;
    let ((left, top), (right, bottom)) = PLANE;
    let x = |share: f64| left + (f64::from(right - left) * share).round() as i32;
    let y = |share: f64| bottom - (f64::from(bottom - top) * share).round() as i32;
    // The small ones last, so that none hides another.
    let mut boxes: Vec<_> = partition.boxes.iter().collect();
    let size = |b: &crate::report::partition::PartitionBox| (b.to[0] - b.from[0]) * (b.to[1] - b.from[1]);
    boxes.sort_by(|a, b| size(b).total_cmp(&size(a)));
    for b in boxes {
        let corners = [(x(b.from[0]), y(b.to[1])), (x(b.to[0]), y(b.from[1]))];
        rectangle(area, corners, step(b.persons, most))?;
    }
    area.draw(&PathElement::new(vec![(left, top), (left, bottom), (right, bottom)], INK.stroke_width(1)))?;
    across(area, partition, &x)?;
    upward(area, partition, &y)?;
    Ok(())
}

fn step(persons: u64, most: u64) -> u32 {
    let halvings = (1..STEPS).take_while(|&h| persons <= most >> h).count() as u32;
    STEPS - 1 - halvings
}

fn rectangle(area: &Area<'_>, corners: [(i32, i32); 2], step: u32) -> Result<(), Box<dyn Error>> {
    let corners = [corners[0], (corners[1].0.max(corners[0].0 + 1), corners[1].1.max(corners[0].1 + 1))];
    area.draw(&Rectangle::new(corners, FILL.mix(0.05 + 0.13 * f64::from(step)).filled()))?;
    // The library draws the borders of rectangles in one width, but lines in any.
    let [(left, top), (right, bottom)] = corners;
    let border = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    area.draw(&PathElement::new(border, FILL.stroke_width(1 + step)))?;
    Ok(())
}

fn legend(area: &Area<'_>, most: u64) -> Result<(), Box<dyn Error>> {
    const SLOT: i32 = 74;
    text(area, "persons", (4, 10), HPos::Left)?;
    let (unit, sign) = if most < 1_000_000 { (1, "") } else { (1000, " k") };
    for step in 0..STEPS {
        let at = 62 + SLOT * step as i32;
        rectangle(area, [(at, 4), (at + 16, 16)], step)?;
        let up_to = format!("≤ {}{sign}", grouped((most >> (STEPS - 1 - step)) / unit));
        text(area, &up_to, (at + 20, 10), HPos::Left)?;
    }
    Ok(())
}

/// The labels of one axis with the persons they stand for, those of most persons first.
fn labels(partition: &Partition, axis: usize) -> Vec<(&str, f64)> {
    let mut sums: std::collections::BTreeMap<&str, (u64, f64)> = std::collections::BTreeMap::new();
    for b in &partition.boxes {
        let sum = sums.entry(&b.labels[axis]).or_insert((0, (b.from[axis] + b.to[axis]) / 2.0));
        sum.0 += b.persons;
    }
    let mut labels: Vec<(&str, u64, f64)> = sums.into_iter().map(|(label, (n, at))| (label, n, at)).collect();
    labels.sort_by_key(|l| std::cmp::Reverse(l.1));
    labels.into_iter().map(|(label, _, at)| (label, at)).collect()
}

/// Labels below the plane, where they have room.
fn across(area: &Area<'_>, partition: &Partition, x: &impl Fn(f64) -> i32) -> Result<(), Box<dyn Error>> {
    let ((left, _), (right, bottom)) = PLANE;
    let labels = labels(partition, 0);
    let middle = |at: f64, half: i32| x(at).clamp((left - 60 + half).min(right - half), right - half);
    let half = |label: &str| CHARACTER * label.chars().count() as i32 / 2 + 4;
    let place = |label: &str, at: f64| (middle(at, half(label)) - half(label), middle(at, half(label)) + half(label));
    let apart = |one: (i32, i32), other: (i32, i32)| one.1 <= other.0 || one.0 >= other.1;
    let room = room(&labels, x);
    let cut = |label: &str| -> String {
        let label = shortened(label);
        match usize::try_from(room / CHARACTER - 1) {
            Ok(most @ FEWEST..) if label.chars().count() > most => label.chars().take(most - 1).chain(['…']).collect(),
            _ => label,
        }
    };
    let whole: Vec<(i32, i32)> = labels.iter().map(|(label, at)| place(&shortened(label), *at)).collect();
    let crowded = whole.iter().enumerate().any(|(i, one)| whole[..i].iter().any(|other| !apart(*one, *other)));
    let mut taken: Vec<(i32, i32)> = Vec::new();
    for (label, at) in labels {
        // Some of every label says more than all of one.
        let label = if crowded { cut(label) } else { shortened(label) };
        let (span, middle) = (place(&label, at), middle(at, half(&label)));
        if taken.iter().all(|t| apart(span, *t)) {
            area.draw(&PathElement::new(vec![(x(at), bottom), (middle, bottom + 5)], INK.stroke_width(1)))?;
            text(area, &label, (middle, bottom + 6 + LINE / 2), HPos::Center)?;
            taken.push(span);
        }
    }
    text(area, &format!("{} →", shortened(&partition.columns[0])), (right, bottom + 10 + 3 * LINE / 2), HPos::Right)
}

/// The least distance between the middles of two labels.
fn room(labels: &[(&str, f64)], x: &impl Fn(f64) -> i32) -> i32 {
    let mut middles: Vec<i32> = labels.iter().map(|(_, at)| x(*at)).collect();
    middles.sort_unstable();
    middles.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(WIDTH)
}

/// Labels beside the plane, where they have room.
fn upward(area: &Area<'_>, partition: &Partition, y: &impl Fn(f64) -> i32) -> Result<(), Box<dyn Error>> {
    let ((left, top), (_, bottom)) = PLANE;
    let mut taken: Vec<i32> = Vec::new();
    for (label, at) in labels(partition, 1) {
        let middle = y(at).clamp(top + LINE / 2, bottom - LINE / 2);
        if taken.iter().all(|t| (t - middle).abs() >= LINE + 2) {
            let short: String = match label.chars().count() {
                0..=12 => shortened(label),
                _ => shortened(label).chars().take(11).chain(['…']).collect(),
            };
            area.draw(&PathElement::new(vec![(left - 4, middle), (left, y(at))], INK.stroke_width(1)))?;
            text(area, &short, (left - 6, middle), HPos::Right)?;
            taken.push(middle);
        }
    }
    text(area, &format!("↑ {}", shortened(&partition.columns[1])), (4, bottom + 10 + 3 * LINE / 2), HPos::Left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::partition::PartitionBox;

    #[test]
    fn more_persons_have_a_thicker_border() {
        assert_eq!([1, 12, 13, 25, 26, 50, 51, 100].map(|n| step(n, 100)), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(step(1, 1), 3);
        let a_box = |from: f64, to: f64, persons: u64| PartitionBox {
            labels: [format!("<{from}>"), "b".into()],
            from: [from, from],
            to: [to, to],
            classes: 1,
            persons,
        };
        let boxes = vec![a_box(0.0, 0.5, 100), a_box(0.5, 1.0, 10)];
        let columns = ["age".to_string(), "zip".to_string()];
        let all = Partition { columns, classes: 2, persons: 110, regions: 2, drawn: 2, drawn_persons: 110, boxes };
        let drawn = super::partition("t", "d", &all).into_string();
        assert!(drawn.contains("stroke-width=\"4\"") && drawn.contains("stroke-width=\"1\""), "{drawn}");
        assert!(drawn.contains("&lt;0&gt;") && drawn.contains("age →") && drawn.contains("≤ 100"), "{drawn}");
        // Long labels are cut rather than left out, where a part of each has room.
        let lands = ["Mecklenburg-Vorpommern", "Baden-Württemberg", "Schleswig-Holstein", "Nordrhein-Westfalen"];
        let land = |(i, name): (usize, &&str)| PartitionBox {
            labels: [name.to_string(), "b".into()],
            ..a_box(i as f64 / 4.0, (i + 1) as f64 / 4.0, 10)
        };
        let boxes: Vec<PartitionBox> = lands.iter().enumerate().map(land).collect();
        let drawn = super::partition("t", "d", &Partition { boxes, ..all.clone() }).into_string();
        assert!(["Mec", "Bad", "Sch", "Nor"].iter().all(|part| drawn.contains(part)), "{drawn}");
        let nothing = Partition { boxes: Vec::new(), ..all };
        assert!(super::partition("t", "d", &nothing).into_string().ends_with("</svg>"));
    }
}
