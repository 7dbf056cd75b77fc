//! The report in a browser, as wide as a phone and as a desktop: nothing overflows, no script fails, and every figure
//! on the page is the one in the JSON.

use std::process::Command;

use crate::test_folder::TestFolder;

/// A script that reports on a page once it is laid out. The report has no script; it is added to copies.
///
/// In addition to the page as a whole, every element must end within it, unless it is in a box that scrolls; and the
/// labels of cards must stay within their cell, where a phone puts them in front of the figure.
const PROBE: &str = "<script>window.failures=[];addEventListener('error',e=>failures.push(e.message));\
addEventListener('load',()=>{const say=[],page=document.documentElement,wide=page.clientWidth;\
if(page.scrollWidth>wide)say.push('the page is '+page.scrollWidth+' wide');\
for(const e of document.querySelectorAll('body *')){if(e.closest('svg')&&e.tagName!='svg')continue;\
const r=e.getBoundingClientRect();if(r.right>wide+1&&!e.closest('.scroll'))say.push(e.tagName+' ends at '+r.right);\
if(e.scrollHeight>e.clientHeight+1&&e.tagName=='TD'&&getComputedStyle(e).display!='table-cell')\
say.push('a cell is too low: '+e.textContent)}\
const json=JSON.parse(window.REPORT);let figures=0;\
for(const d of document.querySelectorAll('data')){let at=json;\
for(const key of d.dataset.at.split('/').slice(1))at=at?.[key.replace(/~1/g,'/').replace(/~0/g,'~')];\
figures++;if(Number(d.value)!==at)say.push(d.dataset.at+' is '+d.value+', not '+at)}\
const alone=[...document.querySelectorAll('svg')].filter(s=>!s.querySelector('title')||!s.querySelector('desc'));\
if(alone.length)say.push(alone.length+' charts without words');\
const ids=[...document.querySelectorAll('nav a')].filter(a=>!document.querySelector(a.getAttribute('href')));\
if(ids.length)say.push(ids.length+' links lead nowhere');\
document.title='figures '+figures+', failures '+JSON.stringify(say.concat(failures).slice(0,5))})</script></head>";

fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|b| Command::new(b).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// A copy of a report with the script.
fn probed(page: &str, json: &str) -> String {
    // The JSON as a string of the script; `</` would end the script element.
    let text = serde_json::to_string(json).unwrap().replace("</", "<\\/");
    page.replacen("</head>", &format!("<script>window.REPORT={text}</script>{PROBE}"), 1)
}

#[test]
fn the_page_fits_a_phone_and_a_desk() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium on this machine");
        return;
    };
    let scratch = TestFolder::with_sample(1500);
    let policy = scratch.read("policy.toml");
    scratch.file("full.toml", &policy);
    scratch.file("local.toml", &policy.replace("[search]\n", "[search]\nalgorithm = \"mondrian\"\n"));
    let mut pages = Vec::new();
    for name in ["full", "local"] {
        let run = scratch.amidst(&["anonymize", &format!("{name}.toml"), "--out", name]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        for part in ["public", "internal"] {
            let file = |end: &str| format!("{name}/{part}/report.{end}");
            pages.push((format!("{name}-{part}"), file("html"), file("json")));
        }
    }
    for end in ["html", "json"] {
        let report = format!("raw.{end}");
        let call = ["audit", "patients.csv", "--policy", "policy.toml", "--population", "patients.csv"];
        assert_eq!(scratch.amidst(&[&call[..], &["--report", &report]].concat()).code, 1);
    }
    pages.push(("raw".to_string(), "raw.html".into(), "raw.json".into()));
    // Headless windows have a minimum width, so phones are frames; one browser shows all of them.
    let mut frames = String::from("<!DOCTYPE html><title>frames</title><link rel=icon href=data:,>");
    for (name, page, json) in &pages {
        scratch.file(&format!("probe-{name}.html"), &probed(&scratch.read(page), &scratch.read(json)));
        for width in [390, 1280] {
            frames.push_str(&format!(
                "<iframe src=probe-{name}.html style='width:{width}px;height:900px;border:0' onload=\"\
                 document.body.append('{name} {width}: '+this.contentDocument.title+'; ')\"></iframe>"
            ));
        }
    }
    scratch.file("frames.html", &frames);
    let out = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"])
        .args(["--virtual-time-budget=10000", "--window-size=1400,1000", "--enable-logging=stderr", "--v=0"])
        .arg(format!("--user-data-dir={}", scratch.path("profile").display()))
        .arg(format!("file://{}", scratch.path("frames.html").display()))
        .output()
        .unwrap();
    // A frame that is ready before the page is fully parsed reports between the frames, not after them.
    let (said, log) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    for (name, ..) in &pages {
        for width in [390, 1280] {
            let start = format!("{name} {width}: figures ");
            let told = said.split(&start).nth(1).unwrap_or_else(|| panic!("{start} in {said}"));
            let (figures, rest) = told.split_once(", failures ").unwrap();
            assert!(figures.parse::<u32>().unwrap() > 40, "{said}");
            assert!(rest.starts_with("[];"), "{said}");
        }
    }
    assert!(!log.contains("CONSOLE"), "{log}");
}

/// A report on many columns folds them, so that it has a bounded height on a phone.
#[test]
fn many_columns_fold_on_a_phone() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium on this machine");
        return;
    };
    let scratch = TestFolder::new();
    let names: Vec<String> = (0..24).map(|c| format!("c{c}")).collect();
    let row = |r: usize| (0..24).map(|c| format!("v{}", (r * (c + 3) + r / 7) % 6)).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..600).map(row).collect();
    scratch.file("data.csv", &format!("{}\n{}\n", names.join(","), rows.join("\n")));
    let column = |(i, name): (usize, &String)| match i {
        0..6 => format!("[columns.{name}]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n"),
        _ => format!("[columns.{name}]\nrole = \"sensitive\"\n"),
    };
    let columns: String = names.iter().enumerate().map(column).collect();
    let policy = format!("[data]\ninput = \"data.csv\"\n{columns}[[require]]\nmodel = \"k-anonymity\"\nk = 2\n");
    scratch.file("policy.toml", &policy);
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let say = "<script>addEventListener('load',()=>{document.title='height '+document.documentElement.scrollHeight})</script></head>";
    let mut frames = String::from("<!DOCTYPE html><title>frames</title><link rel=icon href=data:,>");
    for part in ["public", "internal"] {
        let page = scratch.read(&format!("out/{part}/report.html"));
        assert!(page.matches("<details").count() >= 24, "{part}");
        scratch.file(&format!("{part}.html"), &page.replacen("</head>", say, 1));
        frames.push_str(&format!(
            "<iframe src={part}.html style='width:360px;height:900px;border:0' onload=\"\
             document.body.append('{part}: '+this.contentDocument.title+'; ')\"></iframe>"
        ));
    }
    scratch.file("frames.html", &frames);
    let out = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"])
        .args(["--virtual-time-budget=10000", "--window-size=1400,1000"])
        .arg(format!("--user-data-dir={}", scratch.path("profile").display()))
        .arg(format!("file://{}", scratch.path("frames.html").display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    for part in ["public", "internal"] {
        let told = said.split(&format!("{part}: height ")).nth(1).unwrap_or_else(|| panic!("{part} in {said}"));
        let height: u32 = told.split(';').next().unwrap().parse().unwrap();
        let most = if part == "public" { 12_000 } else { 16_000 };
        assert!((1000..most).contains(&height), "{part} is {height} pixels high");
    }
}
