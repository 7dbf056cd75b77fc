//! Texts that two readers read differently, or that carry something in addition to the rows.

use std::io::Write;

use amidst_check::ProblemKind::{self, Form};
use flate2::{Compression, GzBuilder};

use crate::made::{Case, delimited, gzip, json_lines};
use crate::{Forgery, forgery};

/// The release with its text changed.
fn csv(name: &str, tries: &'static str, change: impl Fn(String) -> Vec<u8> + 'static) -> Forgery {
    forgery(format!("CSV: {name}"), tries, Form, move || {
        let text = String::from_utf8(delimited(b',')).unwrap();
        let changed = change(text.clone());
        assert_ne!(text.into_bytes(), changed);
        Case::new("csv").with(changed)
    })
}

/// The release with one piece of its text replaced.
fn swap(name: &str, tries: &'static str, from: &'static str, to: &'static str) -> Forgery {
    csv(name, tries, move |text| text.replacen(from, to, 1).into_bytes())
}

fn json(name: &str, tries: &'static str, from: &'static str, to: &'static str) -> Forgery {
    forgery(format!("JSON: {name}"), tries, Form, move || {
        let text = String::from_utf8(json_lines()).unwrap();
        assert!(text.contains(from), "{from}");
        Case::new("jsonl").with(text.replacen(from, to, 1))
    })
}

fn gz(name: &str, tries: &'static str, make: impl Fn(Vec<u8>) -> Vec<u8> + 'static) -> Forgery {
    forgery(format!("gzip: {name}"), tries, Form, move || Case::new("csv.gz").with(make(delimited(b','))))
}

pub fn forgeries() -> Vec<Forgery> {
    let mut list = csv_forgeries();
    list.extend(json_forgeries());
    list.extend(gzip_forgeries());
    list
}

const FIRST: &str = "[20-29],0*,100,Flu\n";

fn csv_forgeries() -> Vec<Forgery> {
    vec![
        swap("a stray quote in the header", "rows hidden in a name", "age,site", "age,\"site"),
        swap("a quote inside a name", "a name with two readings", "age,site", "a\"ge,site"),
        swap("a quoted name", "quotes that nobody needs", "age,site", "age,\"site\""),
        forgery("CSV: rows in the header", "rows that only some readers see", ProblemKind::Column, || {
            let text = String::from_utf8(delimited(b',')).unwrap();
            Case::new("csv").with(text.replacen("disease\n", "\"disease\nAnn,0,0,HIV\"\n", 1))
        }),
        swap("a stray quote", "rows hidden in a cell", FIRST, "[20-29],0*,100,\"Flu\n"),
        swap("a quote inside a cell", "a cell with two readings", FIRST, "[20-29],0*,100,Fl\"u\n"),
        swap("text after a quote", "a cell with two readings", FIRST, "[20-29],0*,100,\"Flu\"x\n"),
        swap("a space before a quote", "a cell with two readings", FIRST, "[20-29],0*,100, \"Flu\"\n"),
        swap("a quoted cell", "quotes that nobody needs", FIRST, "[20-29],0*,100,\"Flu\"\n"),
        swap("a quoted number", "quotes that nobody needs", FIRST, "[20-29],0*,\"100\",Flu\n"),
        swap("quotes undone", "a doubled quote that is none", "\"Flu, \"\"late\"\"\"", "\"Flu, \"late\"\""),
        swap("an escaped quote", "the escape of another dialect", "\"\"late\"\"", "\\\"late\\\""),
        swap(
            "single quotes",
            "a separator in the quotes of another dialect",
            "\"Flu, \"\"late\"\"\"",
            "'Flu, \"late\"'",
        ),
        swap("a carriage return in a cell", "a row that some readers split", FIRST, "[20-29],0*,100,Fl\ru\n"),
        swap(
            "a row behind a carriage return",
            "a row that some readers see",
            FIRST,
            "[20-29],0*,100,Flu\rAnn,0,0,HIV\n",
        ),
        swap("one carriage return at an end", "line ends of two kinds", FIRST, "[20-29],0*,100,Flu\r\n"),
        csv("carriage returns at all ends", "line ends of another kind", |text| {
            text.replace('\n', "\r\n").into_bytes()
        }),
        csv("carriage returns alone", "line ends of an old kind", |text| text.replace('\n', "\r").into_bytes()),
        csv("a byte order mark", "a first name with two readings", |text| format!("\u{feff}{text}").into_bytes()),
        swap("a mark in a row", "a cell with two readings", FIRST, "\u{feff}[20-29],0*,100,Flu\n"),
        csv("no line end at the end", "a last row that some readers drop", |text| text.trim_end().as_bytes().to_vec()),
        csv("an empty line at the end", "a row that some readers see", |text| format!("{text}\n").into_bytes()),
        swap("an empty line", "a row that some readers see", FIRST, "[20-29],0*,100,Flu\n\n"),
        csv("an empty first line", "a header that some readers skip", |text| format!("\n{text}").into_bytes()),
        swap("a line of spaces", "a row that some readers see", FIRST, "[20-29],0*,100,Flu\n  \n"),
        swap("a short row", "a row that some readers fill up", FIRST, "[20-29],0*,100\n"),
        swap("a long row", "a cell that some readers drop", FIRST, "[20-29],0*,100,Flu,Ann\n"),
        swap("a separator at the end", "a cell that some readers drop", FIRST, "[20-29],0*,100,Flu,\n"),
        csv("another separator", "a table of one column", |text| text.replace(',', ";").into_bytes()),
        csv("two tables", "a second table behind the first", |text| format!("{text}name\nAnn\n").into_bytes()),
        swap("a comment", "a line that some readers skip", FIRST, "# Ann has HIV\n[20-29],0*,100,Flu\n"),
        csv("a zero byte", "a text that some readers end here", |text| text.replacen("Flu", "Fl\0u", 1).into_bytes()),
        csv("a zero byte at the end", "bytes that some readers drop", |text| format!("{text}\0").into_bytes()),
        csv("bytes that are no text", "a cell with two readings", |text| {
            let at = text.find("Flu").unwrap();
            let mut bytes = text.into_bytes();
            bytes[at] = 0xff;
            bytes
        }),
        csv("UTF-16", "another encoding", |text| text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        csv("an overlong form", "a quote that is none", |text| {
            let (a, b) = text.split_once("Flu").unwrap();
            [a.as_bytes(), b"Fl\xc0\xa2u", b.as_bytes()].concat()
        }),
        csv("nothing", "an empty file", |_| Vec::new()),
        csv("quotes only", "a quote that never ends", |_| b"\"".to_vec()),
        csv("one cell without end", "a cell that fills the memory", |text| {
            [text.as_bytes(), b"\"".as_slice(), &vec![b'x'; 70 << 20]].concat()
        }),
    ]
}

fn json_forgeries() -> Vec<Forgery> {
    let one = "{\"age\":\"[20-29]\",\"site\":\"0*\",\"cost\":100,\"disease\":\"Flu\"}\n";
    vec![
        json("a key twice", "two diseases in one row", "\"cost\":100", "\"cost\":100,\"disease\":\"HIV\""),
        json(
            "the first key twice",
            "two ages in one row",
            one,
            "{\"age\":\"x\",\"age\":\"[20-29]\",\"site\":\"0*\",\"cost\":100,\"disease\":\"Flu\"}\n",
        ),
        json("an object", "a row in a cell", "\"cost\":100", "\"cost\":{\"name\":\"Ann\"}"),
        json("a list", "several cells in one", "\"cost\":100", "\"cost\":[100,\"Ann\"]"),
        json("many digits", "numbers that collapse", "\"cost\":101", "\"cost\":123456789012345678901234"),
        json("a long decimal", "decimals that collapse", "\"cost\":101", "\"cost\":0.10000000000000000555"),
        json("beyond doubles", "whole numbers that collapse", "\"cost\":101", "\"cost\":9007199254740993"),
        json("a zero with a sign", "two zeros", "\"cost\":101", "\"cost\":-0"),
        json("a decimal zero with a sign", "two zeros", "\"cost\":101", "\"cost\":-0.0"),
        json("a point without need", "two texts of a number", "\"cost\":101", "\"cost\":101.0"),
        json("an exponent", "two texts of a number", "\"cost\":101", "\"cost\":1.01e2"),
        json("too great a number", "a number that is infinite elsewhere", "\"cost\":101", "\"cost\":1e999"),
        json("no number", "a word of another language", "\"cost\":101", "\"cost\":NaN"),
        json("a number as a text", "a column of two kinds", "\"cost\":101", "\"cost\":\"101\""),
        json("a text as a number", "a column of two kinds", "\"site\":\"0*\"", "\"site\":0"),
        json("truth among numbers", "a column of two kinds", "\"cost\":101", "\"cost\":true"),
        json("null among texts", "two ways to say nothing", "\"disease\":\"Flu\"", "\"disease\":null"),
        json(
            "another order",
            "keys in another order",
            one,
            "{\"site\":\"0*\",\"age\":\"[20-29]\",\"cost\":100,\"disease\":\"Flu\"}\n",
        ),
        json("a key less", "a row without a cell", "\"cost\":101,", ""),
        json("a key more", "a row with a name", "\"cost\":101", "\"cost\":101,\"name\":\"Ann\""),
        json("a space", "white space", "\"cost\":101", "\"cost\": 101"),
        json("an escape without need", "two texts of a cell", "\"Flu\"", "\"\\u0046lu\""),
        json("an escaped slash", "two texts of a cell", "\"0*\"", "\"0\\/*\""),
        json("half a character", "an escape of half a character", "\"Flu\"", "\"\\ud83d\""),
        json(
            "a key in other letters",
            "two texts of a key",
            one,
            "{\"\\u0061ge\":\"[20-29]\",\"site\":\"0*\",\"cost\":100,\"disease\":\"Flu\"}\n",
        ),
        json(
            "a carriage return",
            "line ends of another kind",
            one,
            "{\"age\":\"[20-29]\",\"site\":\"0*\",\"cost\":100,\"disease\":\"Flu\"}\r\n",
        ),
        json(
            "an empty line",
            "a line that is no row",
            one,
            "{\"age\":\"[20-29]\",\"site\":\"0*\",\"cost\":100,\"disease\":\"Flu\"}\n\n",
        ),
        json("two rows on a line", "a row that some readers drop", "}\n{", "} {"),
        json("a comment", "a comment", "\"cost\":101", "\"cost\":101/* Ann */"),
        forgery("JSON: a byte order mark", "a first key with two readings", Form, || {
            Case::new("jsonl").with([&b"\xef\xbb\xbf"[..], &json_lines()].concat())
        }),
        forgery("JSON: no line end at the end", "a last row that some readers drop", Form, || {
            Case::new("jsonl").with(json_lines().trim_ascii_end())
        }),
        forgery("JSON: a list of rows", "another format", Form, || Case::new("jsonl").with(b"[{\"age\":1}]\n")),
        forgery("JSON: depth", "nesting without end", Form, || Case::new("jsonl").with("[".repeat(1 << 20))),
    ]
}

fn gzip_forgeries() -> Vec<Forgery> {
    let built = |builder: fn() -> GzBuilder| {
        move |text: Vec<u8>| {
            let mut encoder = builder().write(Vec::new(), Compression::default());
            encoder.write_all(&text).unwrap();
            encoder.finish().unwrap()
        }
    };
    vec![
        gz("a comment", "a name in a comment", built(|| GzBuilder::new().comment("Ann has HIV"))),
        gz("a file name", "a name in the file's name", built(|| GzBuilder::new().filename("ann-has-hiv.csv"))),
        gz("an extra field", "a name in an extra field", built(|| GzBuilder::new().extra("Ann has HIV"))),
        gz("a time", "when it was made", built(|| GzBuilder::new().mtime(1_700_000_000))),
        gz("a system", "where it was made", built(|| GzBuilder::new().operating_system(3))),
        gz("bytes behind", "rows behind the data", |text| [&gzip(&text)[..], b"Ann,HIV\n"].concat()),
        gz("zeros behind", "filling behind the data", |text| [&gzip(&text)[..], &[0; 512]].concat()),
        gz("an empty member", "a member that holds nothing", |text| [gzip(&text), gzip(b"")].concat()),
        gz("a member that carries a name", "a second member with a comment", |text| {
            let second = GzBuilder::new().comment("Ann").write(Vec::new(), Compression::default()).finish().unwrap();
            [gzip(&text), second].concat()
        }),
        gz("rows in a second member", "rows that some readers do not reach", |text| {
            [gzip(&text), gzip(b"Ann,0,0\n")].concat()
        }),
        gz("no gzip", "a table that is not packed", |text| text),
        gz("cut off", "half of the data", |text| gzip(&text)[..60].to_vec()),
        gz("one cell without end", "a small file that fills the memory", |text| {
            gzip(&[&text[..], b"\"", &vec![b'x'; 100 << 20]].concat())
        }),
    ]
}
