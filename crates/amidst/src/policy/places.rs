//! Where each key of a policy is in its text.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// The place of each key, by the keys that lead to it; elements of a list are keyed by their position, from "0".
pub(super) type Places = BTreeMap<Vec<String>, Place>;

/// Where a key and its value are in the text.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub key: Range<usize>,
    pub value: Range<usize>,
}

/// The place of every key of a document.
pub(super) fn places(document: &DeTable<'_>) -> Places {
    let mut places = Places::new();
    note(document, &mut Vec::new(), &mut places);
    places
}

/// The keys that lead to the innermost value or key of a policy's text that `span` begins in; elements of a list are
/// keyed by their position. Empty where there is none.
pub(super) fn keys_at(text: &str, span: &Range<usize>) -> Vec<String> {
    let (document, _) = DeTable::parse_recoverable(text);
    let places = places(document.get_ref());
    let within = |part: &Range<usize>| part.contains(&span.start).then_some(part.len());
    let smallest = |place: &Place| within(&place.key).into_iter().chain(within(&place.value)).min();
    let found = places.iter().filter_map(|(keys, place)| Some((smallest(place)?, usize::MAX - keys.len(), keys)));
    found.min().map(|(_, _, keys)| keys.clone()).unwrap_or_default()
}

fn note(table: &DeTable<'_>, path: &mut Vec<String>, places: &mut Places) {
    for (key, value) in table.iter() {
        path.push(key.get_ref().to_string());
        places.insert(path.clone(), Place { key: key.span(), value: value.span() });
        note_inside(value.get_ref(), path, places);
        path.pop();
    }
}

fn note_inside(value: &DeValue<'_>, path: &mut Vec<String>, places: &mut Places) {
    match value {
        DeValue::Table(inner) => note(inner, path, places),
        // Lists of values can be long and are never pointed into; lists of tables are the requirements.
        DeValue::Array(items) if items.iter().all(|i| i.get_ref().is_table()) => {
            for (i, item) in items.iter().enumerate() {
                path.push(i.to_string());
                places.insert(path.clone(), Place { key: item.span(), value: item.span() });
                note_inside(item.get_ref(), path, places);
                path.pop();
            }
        }
        _ => {}
    }
}
