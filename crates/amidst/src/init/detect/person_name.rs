//! Names of people, whole or in parts, by a short list of frequent ones.
//!
//! A list can never be complete, so a part of the values is enough. Towns and first names overlap (Sofia, Florence): a
//! column that its name calls a place is one.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Detector, Means};
use crate::init::names::{Name, fold};
use crate::init::profile::Profile;

pub(super) const DETECTOR: Detector =
    Detector { id: "person-name", finding: "values are names of people", means: Means::Person, found };

/// Frequent names, without accents.
static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lines = include_str!("person_names.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).map(fold).collect()
});

fn found(profile: &Profile<'_>) -> bool {
    if profile.values.len() < 3 || profile.is_number() || Name::of(&profile.column.name).tells_of("place") {
        return false;
    }
    // A name alone, or among up to five capitalised words one that is a name: "García López, María".
    let share = profile.share(|value| {
        let words: Vec<&str> = value.split([' ', ',', '.', '-', ';']).filter(|w| !w.is_empty()).collect();
        let capital =
            words.iter().all(|w| !w.starts_with(|c: char| c.is_lowercase() || c.is_numeric()) || w.len() <= 3);
        let known = words.iter().filter(|w| NAMES.contains(&fold(w))).count();
        (1..=5).contains(&words.len()) && capital && known > 0 && (words.len() == 1 || known * 3 >= words.len())
    });
    let lower = profile.share(|value| NAMES.contains(&fold(value)));
    // Names that are on no list: an initial and a surname, or many values of two or three capitalised words.
    let initials = profile.share(has_initial);
    let unlisted = profile.distinct >= 20 && profile.share(is_capitalised) >= 0.8;
    share >= 0.4 || lower >= 0.5 || initials >= 0.6 || unlisted
}

/// `K. Haddad`, `Haddad, K.`
fn has_initial(value: &str) -> bool {
    let words: Vec<&str> = value.split([' ', ',']).filter(|w| !w.is_empty()).collect();
    let letters = |w: &str| w.chars().filter(|c| c.is_alphabetic()).count();
    let initial = |w: &&str| w.ends_with('.') && letters(w) == 1 && w.starts_with(char::is_uppercase);
    let surname = |w: &&str| letters(w) >= 2 && w.starts_with(char::is_uppercase);
    (2..=4).contains(&words.len()) && words.iter().any(initial) && words.iter().any(surname)
}

/// Two or three words of letters that begin with a capital.
fn is_capitalised(value: &str) -> bool {
    let words: Vec<&str> = value.split([' ', ',', '-']).filter(|w| !w.is_empty()).collect();
    let name = |w: &&str| {
        w.starts_with(char::is_uppercase) && w.chars().all(|c| c.is_alphabetic() || matches!(c, '.' | '\'' | '’'))
    };
    (2..=3).contains(&words.len()) && words.iter().all(name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn names_are_found_in_several_languages() {
        for values in [
            ["John Smith", "Mary Jones", "Zed Quux", "Emma Brown"],
            ["Müller, Hans", "Schmidt, Anna", "Weber, Peter", "Xaver, Q."],
            ["García López, María", "Fernández, José", "Ruiz, Ana", "Sánchez, Luis"],
            ["Kowalski", "Nowak", "Wiśniewska", "Wójcik"],
            ["Dr. Rossi Giulia", "Bianchi Marco", "Ferrari Luca", "Esposito Anna"],
            ["jan", "piet", "maria", "sofie"],
        ] {
            assert_eq!(id(values), Some("person-name"), "{values:?}");
        }
        assert_eq!(id(["K. Haddad", "M. Xu", "Novak, P.", "K. Haddad"]), Some("person-name"));
        let unlisted = (0..80).map(|i| {
            format!(
                "{} {}",
                ["Amara", "Wei", "Layla", "Petr", "Yuki"][i % 5],
                ["Okafor", "Xu", "Haddad", "Tanaka", "Diallo", "Singh", "Osei"][i % 7]
            )
        });
        assert_eq!(id(unlisted), Some("person-name"));
        assert_eq!(id(["Red", "Green", "Blue", "Red"]), None);
        assert_eq!(id(["Never-married", "Divorced", "Widowed", "Separated"]), None);
    }
}
