//! The values of synthetic tables: determined by table, column and row alone.

/// A pseudo-random generator seeded by table, column and row.
pub struct Dice(u64);

impl Dice {
    pub fn at(table: &str, column: usize, row: usize) -> Dice {
        let seed =
            table.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        Dice(seed ^ (column as u64 + 1) << 40 ^ (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }

    fn digits(&mut self, n: usize) -> Vec<u64> {
        (0..n).map(|i| if i == 0 { 1 + self.below(9) } else { self.below(10) }).collect()
    }
}

fn joined(digits: &[u64]) -> String {
    digits.iter().map(u64::to_string).collect()
}

fn names(language: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match language {
        "de" => {
            (&["Hans", "Anna", "Jürgen", "Sabine", "Lena", "Uwe"], &["Müller", "Schmidt", "Weber", "Koch", "Bauer"])
        }
        "fr" => (&["Jean", "Marie", "Camille", "Hugo", "Chloé"], &["Martin", "Dubois", "Moreau", "Girard", "Roux"]),
        "es" => (&["José", "María", "Lucía", "Pablo", "Ana"], &["García", "López", "Ruiz", "Pérez", "Díaz"]),
        "it" => (&["Giulia", "Marco", "Luca", "Chiara", "Paolo"], &["Rossi", "Russo", "Conti", "Greco", "Gallo"]),
        "nl" => (&["Jan", "Sanne", "Bram", "Femke", "Lotte"], &["Jansen", "Bakker", "Visser", "Smit", "Mulder"]),
        "pt" => (&["João", "Maria", "Rita", "Pedro", "Inês"], &["Silva", "Santos", "Costa", "Lopes", "Alves"]),
        "pl" => (&["Piotr", "Anna", "Ewa", "Jakub", "Zofia"], &["Nowak", "Kowalska", "Mazur", "Wójcik", "Krawczyk"]),
        _ => (&["John", "Mary", "Emma", "Oliver", "Sarah"], &["Smith", "Jones", "Brown", "Taylor", "Walker"]),
    }
}

fn words(language: &str) -> &'static [&'static str] {
    match language {
        "de" => &["kam", "mit", "der", "Mutter", "und", "war", "sehr", "müde", "nach", "dem", "Unfall", "zu", "Hause"],
        "fr" => &["est", "venu", "avec", "sa", "mère", "et", "reste", "très", "fatigué", "depuis", "hier", "soir"],
        "es" => &["vino", "con", "su", "madre", "y", "sigue", "muy", "cansado", "desde", "ayer", "por", "la", "noche"],
        "it" => &["venuto", "con", "la", "madre", "ed", "resta", "molto", "stanco", "da", "ieri", "sera", "dopo"],
        "nl" => {
            &["kwam", "met", "zijn", "moeder", "en", "was", "erg", "moe", "na", "het", "ongeluk", "van", "gisteren"]
        }
        "pt" => &["veio", "com", "a", "mãe", "e", "continua", "muito", "cansado", "desde", "ontem", "à", "noite"],
        "pl" => {
            &["przyszedł", "z", "matką", "i", "jest", "bardzo", "zmęczony", "po", "wypadku", "od", "wczoraj", "wieczór"]
        }
        _ => &[
            "came", "with", "her", "mother", "and", "was", "very", "tired", "after", "the", "accident", "last", "night",
        ],
    }
}

/// One cell. `before` holds the earlier cells of the row.
pub fn cell(table: &str, language: &str, column: usize, row: usize, kind: &str, before: &[String]) -> String {
    let mut dice = Dice::at(table, column, row);
    let mut parts = kind.split_whitespace();
    let (kind, args): (&str, Vec<&str>) = (parts.next().unwrap(), parts.collect());
    let number = |i: usize| -> u64 { args[i].parse().unwrap() };
    let (first, last) = names(language);
    match kind {
        "serial" => {
            let prefix = args[0].trim_matches('-').to_string()
                + if args[0].len() > 1 && args[0].ends_with('-') { "-" } else { "" };
            let n = match args.get(2) {
                Some(&"shuffled") => (row * 7919 + 31) % 1009 + 1,
                Some(&"gaps") => row * 3 + dice.below(2) as usize,
                _ => row + 1,
            };
            format!("{prefix}{n:0width$}", width = number(1) as usize)
        }
        "visits" => format!("{}{:0width$}", args[0], row % number(2) as usize + 1, width = number(1) as usize),
        // People in rotation, so that all have the same number of rows.
        "turn" => (row % number(0) as usize + 1).to_string(),
        // Ascending with gaps; two rows may have the same.
        "steps" => (number(0) + row as u64 * number(1) + dice.below(number(1) * 3 / 2)).to_string(),
        // A pseudonym for each of `number(1)` people.
        "token" => {
            let mut person = Dice::at(table, column, dice.below(number(1)) as usize);
            (0..number(0)).map(|_| format!("{:x}", person.below(16))).collect()
        }
        // An amount that is zero for nine of ten people.
        "seldom" => {
            if dice.below(10) == 0 {
                (100 + dice.below(40) * 191).to_string()
            } else {
                "0".to_string()
            }
        }
        "person" => (10_000 + Dice::at(table, column, dice.below(number(0)) as usize).below(80_000)).to_string(),
        // No two rows the same.
        "number" => {
            let span = number(1) - number(0);
            (number(0) + (row as u64 * 48_271 + 17) * 7 % span).to_string()
        }
        "int" => dice.between(number(0), number(1)).to_string(),
        "decimal" => {
            let scale = 10u64.pow(number(2) as u32);
            let value = dice.between(number(0) * scale, number(1) * scale);
            format!("{}.{:0width$}", value / scale, value % scale, width = number(2) as usize)
        }
        "cents" => {
            let value = dice.between(number(0) * 100, number(1) * 100);
            format!("{}.{:02}", value / 100, value % 100)
        }
        "pick" => {
            let all: Vec<&str> = args[0].split(',').collect();
            let n = all.len() as u64;
            all[dice.below(n).min(dice.below(n)) as usize].to_string()
        }
        // A number for each value of an earlier column.
        "tells" => format!("{}.5", before[number(0) as usize].bytes().map(u64::from).sum::<u64>()),
        "first" => format!("{}{}", dice.of(first), ["", " A.", "-Ann"][dice.below(3) as usize]),
        "last" => dice.of(last).to_string(),
        "full" => format!("{} {}", dice.of(first), dice.of(last)),
        "lastfirst" => format!("{}, {}", dice.of(last), dice.of(first)),
        "email" => format!("u{}@{}.example", dice.below(1 << 40), ["mail", "post", "web"][dice.below(3) as usize]),
        // Addresses of `number(0)` people.
        "mailbox" => {
            format!("u{}@mail.example", Dice::at(table, column, dice.below(number(0)) as usize).below(1 << 40))
        }
        "phone" => args[0]
            .replace('_', " ")
            .chars()
            .map(|c| if c == '#' { char::from(b'0' + dice.below(10) as u8) } else { c })
            .collect(),
        "digits" => joined(&dice.digits(number(0) as usize)),
        "text" => (0..8 + dice.below(6)).map(|_| dice.of(words(language))).collect::<Vec<_>>().join(" "),
        "street" => format!(
            "{} {}",
            ["Lindenweg", "Hauptstr.", "Rue Haute", "Calle Mayor", "Via Roma"][dice.below(5) as usize],
            dice.below(180) + 1
        ),
        "url" => format!("https://example.org/p/{}", dice.below(1 << 30)),
        "ip" => format!("{}.{}.{}.{}", dice.between(11, 220), dice.below(256), dice.below(256), dice.below(256)),
        "mac" => (0..6).map(|_| format!("{:02x}", dice.below(256))).collect::<Vec<_>>().join(":"),
        "uuid" => format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            dice.below(1 << 32),
            dice.below(1 << 16),
            dice.below(1 << 12),
            dice.below(1 << 12),
            dice.below(1 << 48)
        ),
        "plate" => format!("{}{}{}-{:04}", letter(&mut dice), letter(&mut dice), letter(&mut dice), dice.below(10_000)),
        "vin" => (0..17)
            .map(|i| if i % 3 == 0 { letter(&mut dice) } else { char::from(b'0' + dice.below(10) as u8) })
            .collect(),
        "lat" => format!("{}.{:05}", 47 + dice.below(7), dice.below(100_000)),
        "lon" => format!("{}.{:05}", 6 + dice.below(9), dice.below(100_000)),
        "icd" => {
            ["J10", "E11", "I21", "F32", "C50", "K35"][dice.below(6).min(dice.below(6)) as usize].to_string() + ".9"
        }
        "postcode" => args[0]
            .replace('_', " ")
            .chars()
            .map(|c| match c {
                '9' => char::from(b'1' + dice.below(9) as u8),
                'A' => letter(&mut dice),
                c => c,
            })
            .collect(),
        "date" => date(&mut dice, args[0], number(1), number(2)),
        _ => number_of_state(&mut dice, kind),
    }
}

fn letter(dice: &mut Dice) -> char {
    char::from(b'A' + dice.below(26) as u8)
}

fn date(dice: &mut Dice, format: &str, from: u64, to: u64) -> String {
    let (y, m, d) = (dice.between(from, to), dice.between(1, 12), dice.between(1, 28));
    let (hour, minute) = (dice.below(24), dice.below(60));
    match format {
        "dmy" => format!("{d:02}.{m:02}.{y}"),
        "dmyslash" => format!("{d:02}/{m:02}/{y}"),
        "dmydash" => format!("{d:02}-{m:02}-{y}"),
        "mdy" => format!("{m}/{d}/{y}"),
        "stamp" => format!("{y}-{m:02}-{d:02} {hour:02}:{minute:02}:{:02}", dice.below(60)),
        _ => format!("{y}-{m:02}-{d:02}"),
    }
}

/// Numbers with a check digit.
fn number_of_state(dice: &mut Dice, kind: &str) -> String {
    let weighted = |d: &[u64], w: &[u64]| d.iter().zip(w).map(|(d, w)| d * w).sum::<u64>();
    loop {
        match kind {
            "ssn" => {
                return format!("{:03}-{:02}-{:04}", dice.between(1, 665), dice.between(1, 99), dice.between(1, 9999));
            }
            "dni" => {
                let n = dice.below(90_000_000) + 10_000_000;
                return format!("{n}{}", char::from(b"TRWAGMYFPDXBNJZSQVHLCKE"[(n % 23) as usize]));
            }
            "iban" => {
                let account = joined(&dice.digits(18));
                let rest = format!("{account}131400").bytes().fold(0, |r, b| (r * 10 + u64::from(b - b'0')) % 97);
                return format!("DE{:02}{account}", 98 - rest);
            }
            "card" => {
                let mut d = dice.digits(15);
                let double = |(i, d): (usize, &u64)| if i % 2 == 0 { d * 2 / 10 + d * 2 % 10 } else { *d };
                let sum: u64 = d.iter().rev().enumerate().map(double).sum();
                d.push((10 - sum % 10) % 10);
                return joined(&d);
            }
            "bsn" => {
                let mut d = dice.digits(8);
                let rest = weighted(&d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
                if rest < 10 {
                    d.push(rest);
                    return joined(&d);
                }
            }
            "nif" => {
                let mut d = dice.digits(8);
                let rest = weighted(&d, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
                d.push(if rest < 2 { 0 } else { 11 - rest });
                return joined(&d);
            }
            "nhs" => {
                let mut d = dice.digits(9);
                let check = (11 - weighted(&d, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11;
                if check < 10 {
                    d.push(check);
                    return joined(&d);
                }
            }
            "pesel" => {
                let begin = format!(
                    "{:02}{:02}{:02}{:04}",
                    dice.below(100),
                    dice.between(1, 12),
                    dice.between(1, 28),
                    dice.below(10_000)
                );
                let d: Vec<u64> = begin.bytes().map(|b| u64::from(b - b'0')).collect();
                let check = (10 - weighted(&d, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10) % 10;
                return format!("{begin}{check}");
            }
            _ => panic!("unknown kind `{kind}`"),
        }
    }
}
