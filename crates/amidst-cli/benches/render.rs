//! Measures how long a browser takes to show a report: `cargo bench -p amidst-cli --bench render`.
//!
//! Publishes synthetic patients, as many as Adult has rows without unknown values, full-domain and by Mondrian, and
//! opens each report in headless Chromium. A script in a copy of the page reports, by the page's clock, when it was
//! loaded, when it was laid out and when the second frame after that began, that is, when the first one was on the
//! screen. The processor time of all browser processes is reported minus that for an empty page. Each figure is the
//! minimum of five runs. Skipped, with a message, without Chromium.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::Path;
use std::process::Command;

const ROWS: &str = "45222";

/// Writes to the console when the page was loaded, laid out and painted.
const PROBE: &str = "<script>addEventListener('load',()=>{const loaded=performance.now();\
document.documentElement.getBoundingClientRect();const laid=performance.now();\
requestAnimationFrame(()=>requestAnimationFrame(()=>console.log('RENDERED '+loaded+' '+laid+' '+performance.now()+' .')))\
})</script></head>";

fn main() {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|b| starts(b)) else {
        println!("skipped: no Chromium on this machine");
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let amidst = |arguments: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_amidst")).current_dir(folder.path()).args(arguments).output();
        let run = run.expect("the command");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    };
    amidst(&["sample", "--rows", ROWS, "--out", "patients.csv"]);
    let policy = amidst::sample::policy("patients.csv");
    let local = policy.replace("[search]\n", "[search]\nalgorithm = \"mondrian\"\n");
    write(
        &folder.path().join("empty.html"),
        &format!("<!DOCTYPE html><html><head><title>-</title>{PROBE}<body></body></html>"),
    );
    println!("| {ROWS} rows | kB | loaded, ms | laid out, ms | painted, ms | CPU seconds beyond an empty page |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let empty = best(browser, folder.path(), "empty.html");
    for (name, policy) in [("full-domain", policy), ("mondrian", local)] {
        write(&folder.path().join("policy.toml"), &policy);
        amidst(&["anonymize", "policy.toml", "--out", name]);
        let page = std::fs::read_to_string(folder.path().join(name).join("report.html")).expect("a report");
        let probed = format!("{name}.html");
        write(&folder.path().join(&probed), &page.replacen("</head>", PROBE, 1));
        let shown = best(browser, folder.path(), &probed);
        let [loaded, laid, painted] = shown.at;
        let (size, cpu) = (page.len() / 1000, shown.cpu - empty.cpu);
        println!("| {name} | {size} | {loaded:.0} | {laid:.0} | {painted:.0} | {cpu:.2} |");
    }
    let [loaded, laid, painted] = empty.at;
    println!("| an empty page | 0 | {loaded:.0} | {laid:.0} | {painted:.0} | 0 (of {:.2}) |", empty.cpu);
}

fn starts(browser: &str) -> bool {
    Command::new(browser).arg("--version").output().is_ok_and(|o| o.status.success())
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("room for a file");
}

/// The cost of showing a page.
struct Shown {
    /// Milliseconds until the page was loaded, laid out and painted.
    at: [f64; 3],
    /// Processor time of the whole browser, in seconds.
    cpu: f64,
}

/// The minimum of five runs for each figure: other load on the machine only adds time.
fn best(browser: &str, folder: &Path, page: &str) -> Shown {
    let runs: Vec<Shown> = (0..5).map(|_| show(browser, folder, page)).collect();
    let least = |figure: &dyn Fn(&Shown) -> f64| runs.iter().map(figure).fold(f64::INFINITY, f64::min);
    Shown { at: [0, 1, 2].map(|i| least(&|run| run.at[i])), cpu: least(&|run| run.cpu) }
}

/// Runs the browser in a shell that reports the processor time of its children.
fn show(browser: &str, folder: &Path, page: &str) -> Shown {
    let output = Command::new("sh")
        .args(["-c", "\"$@\"; times >&2", "sh", browser, "--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--enable-logging=stderr", "--v=0", "--window-size=1280,900"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("--screenshot={}", folder.join("page.png").display()))
        .arg(format!("file://{}", folder.join(page).display()))
        .output()
        .expect("a shell");
    let told = String::from_utf8_lossy(&output.stderr);
    let times = told.split("RENDERED ").nth(1).unwrap_or_else(|| panic!("the page said nothing: {told}"));
    let at: Vec<f64> = times.split_whitespace().map_while(|t| t.parse().ok()).collect();
    let [loaded, laid, painted] = at[..] else { panic!("the page said {times}") };
    // The last line: user and system time of the children, as 0m1.230s 0m0.120s.
    let time = |t: &str| {
        let (minutes, seconds) = t.trim_end_matches('s').split_once('m').unwrap_or(("0", "0"));
        minutes.parse::<f64>().unwrap_or(0.0) * 60.0 + seconds.parse::<f64>().unwrap_or(0.0)
    };
    let cpu = told.lines().last().unwrap_or_default().split_whitespace().map(time).sum();
    Shown { at: [loaded, laid, painted], cpu }
}
