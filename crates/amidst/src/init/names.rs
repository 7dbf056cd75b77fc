//! What the name of a column says: its words, looked up in `names.toml`.
//!
//! Names are written in many ways (`dateOfBirth`, `DATE_OF_BIRTH`, `Geburtsdatum`, `Fecha de nacimiento`) and
//! languages, and compounds hide their words. A name says what its owner means, not what the cells hold, so values
//! overrule it.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word says; see `names.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Meaning {
    Identifying,
    Number,
    Text,
    Quasi,
    Measure,
    Sensitive,
    Person,
}

/// A section of `names.toml`.
#[derive(Debug, serde::Deserialize)]
struct Section {
    role: Meaning,
    #[serde(flatten)]
    words: HashMap<String, Vec<String>>,
}

/// A word of a column's name that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    section: &'static str,
    meaning: Meaning,
}

static WORDS: LazyLock<HashMap<String, Vec<Known>>> = LazyLock::new(|| words_of(include_str!("names.toml")));

/// The words of the file, without accents. A file that cannot be read has none; a test sees to it that it can.
fn words_of(file: &str) -> HashMap<String, Vec<Known>> {
    let sections: HashMap<String, Section> = toml::from_str(file).unwrap_or_default();
    let mut words: HashMap<String, Vec<Known>> = HashMap::new();
    for (name, Section { role, words: listed }) in sections {
        let known = Known { section: name.leak(), meaning: role };
        for word in listed.values().flatten() {
            // ä is written a or ae where there is no ä.
            let spelled = word.to_lowercase().replace('ä', "ae").replace('ö', "oe").replace('ü', "ue");
            for form in [fold(word), fold(&spelled)] {
                let meanings = words.entry(form).or_default();
                if !meanings.contains(&known) {
                    meanings.push(known);
                }
            }
        }
    }
    words
}

/// A column's name, understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Name {
    /// Known words with their length, longest first.
    found: Vec<(usize, Known)>,
    /// How many words there are, known or not.
    words: usize,
}

impl Name {
    /// Takes a name apart and looks its words up.
    pub fn of(name: &str) -> Name {
        let words = words(name);
        let mut found: Vec<(usize, Known)> = Vec::new();
        let mut add = |length: usize, known: &[Known]| found.extend(known.iter().map(|&k| (length, k)));
        for start in 0..words.len() {
            for end in start + 1..=words.len().min(start + 5) {
                let joined = words[start..end].concat();
                match look_up(&joined) {
                    Some(known) => add(joined.len(), known),
                    None if end == start + 1 => parts(&joined).into_iter().for_each(|(n, known)| add(n, known)),
                    None => {}
                }
            }
        }
        found.sort_by_key(|&(length, known)| (std::cmp::Reverse(length), known.section));
        Name { found, words: words.len() }
    }

    fn has(&self, meaning: Meaning) -> bool {
        self.found.iter().any(|(_, known)| known.meaning == meaning)
    }

    /// Whether a word of this section is in the name.
    pub fn tells_of(&self, section: &str) -> bool {
        self.found.iter().any(|(_, known)| known.section == section)
    }

    /// Whether this name and another are those of the two halves of people's names: `first_name` and `last_name`, or
    /// `Vorname` and `Name`.
    pub fn completes(&self, other: &Name) -> bool {
        let half = |name: &Name, section: &str| name.tells_of(section);
        let whole = |name: &Name| name.words == 1 && name.tells_of("person-name") && !half(name, "given-name");
        let ends =
            |given: &Name, family: &Name| half(given, "given-name") && (half(family, "family-name") || whole(family));
        // A patient's first name does not belong to a doctor's last name.
        let of_one = self.has(Meaning::Person) == other.has(Meaning::Person);
        of_one && (ends(self, other) || ends(other, self))
    }

    /// Whether it is a number that stands for a person: `patient_id`, `Kundennummer`, or `id` alone.
    pub fn numbers_persons(&self) -> bool {
        let alone = self.words == 1 && self.found.first().is_some_and(|(n, k)| *n <= 3 && k.meaning == Meaning::Number);
        self.has(Meaning::Number) && (self.has(Meaning::Person) || alone)
    }

    /// Whether the name says that a number of something is meant.
    pub fn numbers(&self) -> bool {
        self.has(Meaning::Number)
    }

    /// Whether the name says of whom the column speaks, and nothing else.
    pub fn is_person(&self) -> bool {
        self.has(Meaning::Person) && self.found.iter().all(|(_, known)| known.meaning == Meaning::Person)
    }

    /// What the name says, by its longest known word; of words of one length the one that is released with more care,
    /// except that the name *of a place* is a place.
    pub fn meaning(&self) -> Option<Meaning> {
        let says = |m: Meaning| !matches!(m, Meaning::Number | Meaning::Person);
        let told: Vec<&(usize, Known)> = self.found.iter().filter(|(_, known)| says(known.meaning)).collect();
        let longest = told.first()?.0;
        let longest: Vec<&Known> = told.iter().filter(|(n, _)| *n == longest).map(|(_, known)| known).collect();
        let dated = ["birth", "age", "postcode", "coordinate"].iter().any(|section| self.tells_of(section));
        let order = [Meaning::Quasi, Meaning::Identifying, Meaning::Text, Meaning::Measure, Meaning::Sensitive];
        let first = order.into_iter().find(|m| longest.iter().any(|known| known.meaning == *m));
        // When or where something private happened is not private alone: others may know it.
        first.map(|m| if m == Meaning::Sensitive && dated { Meaning::Quasi } else { m })
    }
}

/// A name for a comment, which ends with its line and acts on no terminal.
pub(super) fn clean(name: &str) -> String {
    name.chars().map(|c| if amidst_check::acts(c) { ' ' } else { c }).collect()
}

/// A word as it is listed, or its singular.
fn look_up(word: &str) -> Option<&'static [Known]> {
    let singular = |ending: &str| word.strip_suffix(ending).filter(|stem| stem.len() >= 4);
    let forms = [Some(word), singular("s"), singular("es"), singular("n"), singular("en"), singular("e")];
    forms.into_iter().flatten().find_map(|form| WORDS.get(form)).map(Vec::as_slice)
}

/// The known words of a compound: all of it if it is made of known words only, else the long word at its end or
/// beginning.
fn parts(word: &str) -> Vec<(usize, &'static [Known])> {
    if word.len() > 40 || !word.is_ascii() {
        return Vec::new();
    }
    let mut found = Vec::new();
    if split(word, true, &mut found) {
        return found;
    }
    let cuts = 1..word.len();
    let ends = cuts.clone().map(|at| &word[at..]).filter(|w| w.len() >= 5).find_map(|w| Some((w.len(), look_up(w)?)));
    // What is private is released as it is, so a name must be surer to say so: "partition" has nothing to do with a
    // "parti".
    let sure = |w: &str, known: &[Known]| w.len() >= 6 || known.iter().all(|k| k.meaning != Meaning::Sensitive);
    let begins = cuts.rev().map(|at| &word[..at]).filter(|w| w.len() >= 5);
    let begins =
        begins.into_iter().find_map(|w| look_up(w).filter(|known| sure(w, known)).map(|known| (w.len(), known)));
    // What a column holds stands at the end of a compound in some languages and at its beginning in others.
    [ends, begins].into_iter().flatten().collect()
}

/// Takes a compound apart into known words, with the letters that join them; short words only at its end.
fn split(word: &str, first: bool, found: &mut Vec<(usize, &'static [Known])>) -> bool {
    if word.is_empty() {
        return !first;
    }
    for at in (2..=word.len()).rev() {
        let Some((head, rest)) = word.split_at_checked(at) else { continue };
        // Short words stand at the end of a compound, those of three letters also at its start.
        let short = head.len() <= 3;
        let (ends, starts) = (rest.is_empty() && !first, first && head.len() == 3);
        if head.len() < 2 || (short && !ends && !starts) {
            continue;
        }
        let Some(known) = WORDS.get(head) else { continue };
        for joint in ["", "s", "n", "en", "er", "es", "e"] {
            let Some(rest) = rest.strip_prefix(joint) else { continue };
            let before = found.len();
            found.push((head.len(), known.as_slice()));
            if split(rest, false, found) && (rest.len() != 1) {
                return true;
            }
            found.truncate(before);
        }
    }
    false
}

/// The words of a name, in small letters without accents: `nativeCountry`, `native-country` and `NATIVE_COUNTRY` are
/// two words, and so are `IDPatient` and `address1`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (i, &c) in letters.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|i| letters.get(i)).copied().unwrap_or(' ');
        let after = letters.get(i + 1).copied().unwrap_or(' ');
        let capital = c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && after.is_lowercase()));
        let digit = c.is_numeric() != before.is_numeric();
        if !c.is_alphanumeric() || capital || digit {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c);
        }
    }
    words.iter().map(|word| fold(word)).filter(|word| !word.is_empty()).collect()
}

/// Small letters without accents.
pub(super) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' | 'ā' => out.push('a'),
            'ç' | 'ć' | 'č' => out.push('c'),
            'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' | 'ē' => out.push('e'),
            'ì' | 'í' | 'î' | 'ï' | 'ī' => out.push('i'),
            'ł' => out.push('l'),
            'ñ' | 'ń' | 'ň' => out.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ő' => out.push('o'),
            'ś' | 'š' | 'ş' => out.push('s'),
            'ß' => out.push_str("ss"),
            'ù' | 'ú' | 'û' | 'ü' | 'ů' | 'ű' | 'ū' => out.push('u'),
            'ý' | 'ÿ' => out.push('y'),
            'ź' | 'ż' | 'ž' => out.push('z'),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            // Marks that stand for themselves, and apostrophes.
            '\u{300}'..='\u{36f}' | '\'' | '’' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_read() {
        let sections: HashMap<String, Section> = toml::from_str(include_str!("names.toml")).unwrap();
        assert!(sections.len() > 15);
        for (name, section) in &sections {
            for language in ["en", "de", "fr", "es", "it", "nl", "pt", "pl"] {
                assert!(
                    section.words.get(language).is_some_and(|w| !w.is_empty()),
                    "{name} has no words in {language}"
                );
            }
            let plain = |w: &&String| w.chars().all(|c| c.is_lowercase() && c.is_alphabetic());
            assert_eq!(section.words.values().flatten().find(|w| !plain(w)), None, "in {name}");
        }
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(words("native-country"), ["native", "country"]);
        assert_eq!(words("patientID"), ["patient", "id"]);
        assert_eq!(words("IDPatient"), ["id", "patient"]);
        assert_eq!(words("ZIP_Code2"), ["zip", "code", "2"]);
        assert_eq!(words("Größe (cm)"), ["grosse", "cm"]);
        assert_eq!(words("tranche d'âge"), ["tranche", "d", "age"]);
    }

    #[test]
    fn names_mean_the_same_in_every_language() {
        let cases: &[(&[&str], Meaning)] = &[
            (
                &[
                    "Last Name",
                    "Nachname",
                    "nom_de_famille",
                    "Apellidos",
                    "COGNOME",
                    "achternaam",
                    "sobrenome",
                    "nazwisko",
                ],
                Meaning::Identifying,
            ),
            (
                &[
                    "eMail",
                    "Telefonnummer",
                    "téléphone",
                    "Correo electrónico",
                    "indirizzo",
                    "huisnummer",
                    "endereço",
                    "ulica",
                ],
                Meaning::Identifying,
            ),
            (
                &[
                    "dateOfBirth",
                    "Geburtsdatum",
                    "Date de naissance",
                    "fecha_nacimiento",
                    "DataNascita",
                    "geboortedatum",
                    "data de nascimento",
                    "data_urodzenia",
                ],
                Meaning::Quasi,
            ),
            (
                &[
                    "zip",
                    "PLZ",
                    "Postleitzahl",
                    "code postal",
                    "Código Postal",
                    "CAP",
                    "postcode",
                    "cep",
                    "kod_pocztowy",
                ],
                Meaning::Quasi,
            ),
            (
                &[
                    "diagnosis",
                    "Hauptdiagnose",
                    "Diagnosen",
                    "maladie",
                    "enfermedad",
                    "diagnosi",
                    "aandoening",
                    "doença",
                    "choroba",
                ],
                Meaning::Sensitive,
            ),
            (
                &[
                    "annual_income",
                    "Monatsgehalt",
                    "salaire",
                    "sueldo",
                    "stipendio",
                    "salaris",
                    "salário",
                    "wynagrodzenie",
                ],
                Meaning::Sensitive,
            ),
            (
                &[
                    "comments",
                    "Bemerkungen",
                    "commentaire",
                    "observaciones",
                    "osservazioni",
                    "toelichting",
                    "observações",
                    "uwagi",
                ],
                Meaning::Text,
            ),
            (
                &[
                    "weight_kg",
                    "Koerpergroesse",
                    "Körpergröße",
                    "montant",
                    "importe",
                    "durata",
                    "bedrag",
                    "preço",
                    "kwota",
                ],
                Meaning::Measure,
            ),
        ];
        for (names, meaning) in cases {
            for name in *names {
                assert_eq!(Name::of(name).meaning(), Some(*meaning), "{name}");
            }
        }
    }

    #[test]
    fn persons_are_numbered_in_every_language() {
        for name in [
            "patient_id",
            "Patientennummer",
            "patientid",
            "custno",
            "numéro client",
            "id_paciente",
            "ID",
            "Nr.",
            "numero_socio",
            "deelnemernummer",
            "número do aluno",
            "nr_klienta",
            "PersonId",
            "studentNumber",
            "Kunden-Nr",
        ] {
            let known = Name::of(name);
            let register = known.meaning() == Some(Meaning::Identifying);
            assert!(known.numbers_persons() || register, "{name}: {known:?}");
        }
        for name in ["hospital_id", "age", "number of children", "paid", "grid", "Kinderzahl"] {
            assert!(!Name::of(name).numbers_persons(), "{name}");
        }
    }

    #[test]
    fn first_and_last_names_are_halves() {
        let halves = |a: &str, b: &str| Name::of(a).completes(&Name::of(b)) && Name::of(b).completes(&Name::of(a));
        for (given, family) in [
            ("first_name", "last_name"),
            ("Vorname", "Name"),
            ("PRENOM", "NOM"),
            ("nombre", "apellidos"),
            ("imię", "nazwisko"),
        ] {
            assert!(halves(given, family), "{given}, {family}");
        }
        assert!(
            !halves("first_name", "first_name") && !halves("name", "name") && !halves("first_name", "doctor last name")
        );
        assert!(!halves("first_name", "city") && !halves("age", "last_name"));
    }

    #[test]
    fn the_longest_word_decides() {
        for (name, meaning) in [
            ("school_name", Meaning::Quasi),
            ("city name", Meaning::Quasi),
            ("patient name", Meaning::Identifying),
            ("birth name", Meaning::Identifying),
            ("credit card number", Meaning::Identifying),
            ("credit", Meaning::Sensitive),
            ("age at diagnosis", Meaning::Quasi),
            ("salary-class", Meaning::Sensitive),
        ] {
            assert_eq!(Name::of(name).meaning(), Some(meaning), "{name}");
        }
        assert_eq!(Name::of("xyz").meaning(), None);
        assert_eq!(Name::of("").meaning(), None);
    }
}
