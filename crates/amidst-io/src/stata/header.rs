//! Parses everything of a Stata file except its rows: variables, and the positions of rows, long texts and labels.

use std::collections::HashMap;

use encoding_rs::{Encoding, UTF_8};

use super::{File, Kind, Variable};
use crate::binary::{Ends, Place, ValueLabels, before_zero};
use crate::limits::COLUMN_LIMIT;

/// Widths of fields, which differ between formats.
struct Widths {
    name: usize,
    format: usize,
    label: usize,
}

/// Parses a file.
pub(super) fn parse<'a>(bytes: &'a [u8], stated: &'static Encoding) -> Result<File<'a>, String> {
    match bytes.first() {
        Some(b'<') => tagged(bytes, stated),
        Some(113..=115) => old(bytes, stated),
        Some(&other @ 102..=112) => {
            Err(format!("it is of format {other}, older than Stata 8; open it in Stata and save it again"))
        }
        _ => Err("it does not begin as such files do".to_string()),
    }
}

fn expect(place: &mut Place<'_>, tag: &str) -> Result<(), String> {
    match place.accept(tag.as_bytes()) {
        true => Ok(()),
        false => Err(format!("{tag} is not where it should be")),
    }
}

/// Formats 117 to 119.
fn tagged<'a>(bytes: &'a [u8], stated: &'static Encoding) -> Result<File<'a>, String> {
    let mut place = Place::new(bytes, 0, false);
    expect(&mut place, "<stata_dta><header><release>")?;
    let digits = place.take(3)?;
    let release = match digits {
        b"117" => 117,
        b"118" => 118,
        b"119" => 119,
        _ => return Err("it is of a format later than 119, which is not known yet".to_string()),
    };
    expect(&mut place, "</release><byteorder>")?;
    let big_endian = place.take(3)? == b"MSF";
    place = Place::new(bytes, place.at(), big_endian);
    expect(&mut place, "</byteorder><K>")?;
    let count = if release == 119 { u64::from(place.u32()?) } else { u64::from(place.u16()?) };
    expect(&mut place, "</K><N>")?;
    let rows = if release == 117 { u64::from(place.u32()?) } else { place.u64()? };
    expect(&mut place, "</N><label>")?;
    let length = if release == 117 { usize::from(place.u8()?) } else { usize::from(place.u16()?) };
    place.take(length)?;
    expect(&mut place, "</label><timestamp>")?;
    let length = usize::from(place.u8()?);
    place.take(length)?;
    expect(&mut place, "</timestamp></header><map>")?;
    let mut map = Vec::with_capacity(14);
    for _ in 0..14 {
        map.push(place.u64()?);
    }
    let widths = match release {
        117 => Widths { name: 33, format: 49, label: 33 },
        _ => Widths { name: 129, format: 57, label: 129 },
    };
    let encoding = if release >= 118 { UTF_8 } else { stated };
    let section = |position: usize, tag: &str| -> Result<Place<'a>, String> {
        let at = map.get(position).and_then(|&at| usize::try_from(at).ok()).ok_or(Ends)?;
        let mut place = Place::new(bytes, at, big_endian);
        expect(&mut place, tag)?;
        Ok(place)
    };
    let types: Vec<u16> = {
        let mut place = section(2, "<variable_types>")?;
        if count as usize > COLUMN_LIMIT {
            return Err(format!("it has {count} columns; select those that are needed first"));
        }
        (0..count).map(|_| place.u16()).collect::<Result<_, Ends>>()?
    };
    let kinds = types.into_iter().map(|kind| match kind {
        1..=2045 => Some(Kind::Text(usize::from(kind))),
        32768 => Some(Kind::Long2),
        65526 => Some(Kind::Double),
        65527 => Some(Kind::Float),
        65528 => Some(Kind::Long),
        65529 => Some(Kind::Int),
        65530 => Some(Kind::Byte),
        _ => None,
    });
    let kinds: Vec<Kind> = kinds.collect::<Option<_>>().ok_or("a column has a type that does not exist")?;
    let names = texts(section(3, "<varnames>")?, count, widths.name, encoding)?;
    let formats = texts(section(5, "<formats>")?, count, widths.format, encoding)?;
    let labels = texts(section(6, "<value_label_names>")?, count, widths.label, encoding)?;
    let (variables, width) = variables(kinds, names, formats, labels);
    let cells = section(9, "<data>")?.take_each(rows, width)?;
    let texts = long_texts(section(10, "<strls>")?, release)?;
    let labels = labels_117(section(11, "<value_labels>")?, widths.label, encoding)?;
    Ok(File { release, big_endian, variables, rows: cells, texts, labels })
}

/// Formats 113 to 115.
fn old<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Result<File<'a>, String> {
    let mut place = Place::new(bytes, 0, false);
    let release = u32::from(place.u8()?);
    let big_endian = match place.u8()? {
        1 => true,
        2 => false,
        _ => return Err("the order of its bytes is unknown".to_string()),
    };
    place = Place::new(bytes, 4, big_endian);
    let count = u64::from(place.u16()?);
    let rows = u64::from(place.u32()?);
    place.take(81 + 18)?;
    let kinds = place.take(count as usize)?.iter().map(|kind| match kind {
        1..=244 => Some(Kind::Text(usize::from(*kind))),
        251 => Some(Kind::Byte),
        252 => Some(Kind::Int),
        253 => Some(Kind::Long),
        254 => Some(Kind::Float),
        255 => Some(Kind::Double),
        _ => None,
    });
    let kinds: Vec<Kind> = kinds.collect::<Option<_>>().ok_or("a column has a type that does not exist")?;
    let fields = |place: &mut Place<'a>, width: usize| -> Result<Vec<String>, String> {
        let found = texts(place.clone(), count, width, encoding)?;
        place.take(count as usize * width)?;
        Ok(found)
    };
    let names = fields(&mut place, 33)?;
    place.take(2 * (count as usize + 1))?;
    let formats = fields(&mut place, if release == 113 { 12 } else { 49 })?;
    let labels = fields(&mut place, 33)?;
    place.take(count as usize * 81)?;
    loop {
        let (kind, length) = (place.u8()?, place.u32()?);
        if kind == 0 && length == 0 {
            break;
        }
        place.take(length as usize)?;
    }
    let (variables, width) = variables(kinds, names, formats, labels);
    let cells = place.take_each(rows, width)?;
    let mut labels = HashMap::new();
    while !place.is_over() {
        place.u32()?;
        let (name, set) = label_set(&mut place, 33, encoding)?;
        labels.insert(name, set);
    }
    Ok(File { release, big_endian, variables, rows: cells, texts: HashMap::new(), labels })
}

fn variables(
    kinds: Vec<Kind>,
    names: Vec<String>,
    formats: Vec<String>,
    labels: Vec<String>,
) -> (Vec<Variable>, usize) {
    let mut offset = 0;
    let mut list = Vec::with_capacity(kinds.len());
    for (((kind, name), format), labels) in kinds.into_iter().zip(names).zip(formats).zip(labels) {
        list.push(Variable { name, kind, offset, format, labels });
        offset += kind.width();
    }
    (list, offset)
}

/// `count` texts of fixed width.
fn texts(mut place: Place<'_>, count: u64, width: usize, encoding: &'static Encoding) -> Result<Vec<String>, String> {
    let text = |bytes: &[u8]| encoding.decode_without_bom_handling(before_zero(bytes)).0.into_owned();
    Ok(place.take_each(count, width)?.map(text).collect())
}

fn long_texts(mut place: Place<'_>, release: u32) -> Result<HashMap<(u32, u64), &[u8]>, String> {
    let mut found = HashMap::new();
    while place.accept(b"GSO") {
        let variable = place.u32()?;
        let observation = if release == 117 { u64::from(place.u32()?) } else { place.u64()? };
        let kind = place.u8()?;
        let length = place.u32()? as usize;
        let text = place.take(length)?;
        // Type 130 is text with a terminating zero; others are bytes without one.
        found.insert((variable, observation), if kind == 130 { before_zero(text) } else { text });
    }
    Ok(found)
}

fn labels_117(
    mut place: Place<'_>,
    width: usize,
    encoding: &'static Encoding,
) -> Result<HashMap<String, ValueLabels<i32>>, String> {
    let mut sets = HashMap::new();
    while place.accept(b"<lbl>") {
        place.u32()?;
        let (name, set) = label_set(&mut place, width, encoding)?;
        sets.insert(name, set);
        expect(&mut place, "</lbl>")?;
    }
    Ok(sets)
}

/// A table of labels: number, bytes of text, offsets, codes, texts.
fn label_set(
    place: &mut Place<'_>,
    width: usize,
    encoding: &'static Encoding,
) -> Result<(String, ValueLabels<i32>), String> {
    let name = encoding.decode_without_bom_handling(before_zero(place.take(width)?)).0.into_owned();
    place.take(3)?;
    let count = place.u32()?;
    let length = place.u32()? as usize;
    let mut offsets = place.clone();
    let all = (count as usize).checked_mul(4).ok_or(Ends)?;
    place.take(all)?;
    let mut codes = place.clone();
    place.take(all)?;
    let text = place.take(length)?;
    let mut list = Vec::new();
    for _ in 0..count {
        let (offset, code) = (offsets.u32()? as usize, codes.i32()?);
        let label = before_zero(text.get(offset..).ok_or(Ends)?);
        list.push((code, encoding.decode_without_bom_handling(label).0.into_owned()));
    }
    Ok((name, ValueLabels::new(list, i32::cmp)))
}
