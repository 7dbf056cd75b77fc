//! Measures whole processes relative to reading alone: `cargo bench -p amidst-cli --bench whole`.
//!
//! Writes synthetic patients to a temporary folder, then runs, each as a separate process: reading the table, auditing
//! it, anonymizing it. Prints a table of ratios, in which the speed of the machine cancels out. `AMIDST_BENCH_ROWS`
//! sets the number of rows (default: ten million; 0 leaves this part out). Adult is measured as well where the shared
//! data exists. If `AMIDST_BENCH_PYTHON` names a Python with Polars and DuckDB, these read the same table for
//! comparison.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use amidst::io::ReadOptions;
use amidst_testkit::table;

const STEP: &str = "AMIDST_BENCH_READ";

fn main() {
    if let Ok(path) = std::env::var(STEP) {
        let keep = |name: &str| name != "id";
        let input = amidst::io::read(&path, &ReadOptions { keep: Some(&keep), ..ReadOptions::default() });
        let rows = input.map(|i| i.table.rows).unwrap_or_default();
        println!("{{\"rows\": {rows}, \"peak_memory_bytes\": {}}}", amidst::peak_memory_bytes());
        return;
    }
    let rows: u64 = std::env::var("AMIDST_BENCH_ROWS").ok().and_then(|r| r.parse().ok()).unwrap_or(10_000_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    if rows == 0 {
        return adult(env!("CARGO_BIN_EXE_amidst"), folder.path());
    }
    let (data, policy, out) = (folder.path().join("p.csv"), folder.path().join("p.toml"), folder.path().join("out"));
    let mut file = std::io::BufWriter::new(std::fs::File::create(&data).expect("a file for the patients"));
    let started = Instant::now();
    amidst::sample::write(rows, 1, &mut file).expect("room for the patients");
    drop(file);
    let drawn = started.elapsed().as_secs_f64();
    let competing = amidst::sample::policy("p.csv");
    let optimal = competing.replace("[search]\n", "[search]\nalgorithm = \"optimal\"\n");
    std::fs::write(&policy, &optimal).expect("a policy");
    let bytes = std::fs::metadata(&data).map_or(0, |m| m.len());
    println!("{rows} rows, {} MB, drawn in {drawn:.2} s\n", bytes / 1_000_000);
    println!("| process | seconds | CPU seconds | peak MB | times reading |");
    println!("| --- | --- | --- | --- | --- |");
    let amidst = env!("CARGO_BIN_EXE_amidst");
    let me = std::env::current_exe().expect("this program");
    let read = best(|| run(Command::new(&me).env(STEP, &data)));
    print("reading alone", &read, read.seconds);
    let audit = |data: &Path, qi: &str| {
        let arguments = ["audit", &text(data), "--qi", qi, "--sensitive", "diagnosis", "--json"];
        best(|| run(Command::new(amidst).args(arguments)))
    };
    print("audit, 3 quasi columns", &audit(&data, "age,sex,education"), read.seconds);
    print("audit, 5 quasi columns", &audit(&data, "age,sex,education,occupation,nationality"), read.seconds);
    print("audit, 6 quasi columns", &audit(&data, "age,sex,zip,nationality,occupation,education"), read.seconds);
    let anonymize = || {
        best(|| {
            run(Command::new(amidst).args(["anonymize", &text(&policy), "--out", &text(&out), "--force", "--json"]))
        })
    };
    print("anonymize by `optimal`, checked, with report", &anonymize(), read.seconds);
    std::fs::write(&policy, &competing).expect("a policy");
    print("anonymize without an algorithm, checked, with report", &anonymize(), read.seconds);
    for (name, used) in peers(&data) {
        print(&format!("reading alone, {name}"), &used, read.seconds);
    }
    let plain = folder.path().join("plain.csv");
    table::generate(&plain, rows).expect("room for the table");
    println!("\n| {rows} rows × {} columns | seconds | CPU seconds | peak MB | times reading |", table::HEADER.len());
    println!("| --- | --- | --- | --- | --- |");
    let read = best(|| run(Command::new(&me).env(STEP, &plain)));
    print("reading alone", &read, read.seconds);
    for qi in ["age,sex,zip", "age,sex,zip,nationality", "age,sex,zip,nationality,occupation"] {
        print(&format!("audit by {qi}"), &audit(&plain, qi), read.seconds);
    }
    adult(amidst, folder.path());
}

/// What other programs use to read the table into memory; empty without a Python that has them.
fn peers(data: &Path) -> Vec<(&'static str, Used)> {
    let Ok(python) = std::env::var("AMIDST_BENCH_PYTHON") else { return Vec::new() };
    let scripts = [
        ("Polars", "import polars; t = polars.read_csv(sys.argv[1])"),
        (
            "DuckDB",
            "import duckdb; duckdb.sql('SET enable_progress_bar = false'); duckdb.sql('CREATE TABLE t AS FROM read_csv(\\'' + sys.argv[1] + '\\')')",
        ),
    ];
    let peak = "print('{\"peak_memory_bytes\": %d}' % (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))";
    let used = |script: &str| {
        let script = format!("import resource, sys\n{script}\n{peak}");
        best(|| run(Command::new(&python).args(["-c", &script, &text(data)])))
    };
    scripts.map(|(name, script)| (name, used(script))).into()
}

/// Resources used by a process.
struct Used {
    seconds: f64,
    cpu: f64,
    peak: f64,
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn print(name: &str, used: &Used, reading: f64) {
    let ratio = used.seconds / reading;
    println!("| {name} | {:.2} | {:.2} | {:.0} | {ratio:.2} |", used.seconds, used.cpu, used.peak);
}

/// The fastest of three runs: other load on the machine only adds time.
fn best(run: impl Fn() -> Used) -> Used {
    let mut runs: Vec<Used> = (0..3).map(|_| run()).collect();
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs.swap_remove(0)
}

/// Runs a process in a shell that reports the processor time of its children.
fn run(command: &mut Command) -> Used {
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$@\"; times >&2", "sh"]).arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
    let started = Instant::now();
    let output = shell.output().expect("a shell");
    let seconds = started.elapsed().as_secs_f64();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{stderr}"));
    // The last line: user and system time of the children, as 0m1.230s 0m0.120s.
    let time = |t: &str| {
        let (minutes, seconds) = t.trim_end_matches('s').split_once('m').unwrap_or(("0", "0"));
        minutes.parse::<f64>().unwrap_or(0.0) * 60.0 + seconds.parse::<f64>().unwrap_or(0.0)
    };
    let cpu = stderr.lines().last().unwrap_or_default().split_whitespace().map(time).sum();
    Used { seconds, cpu, peak: json["peak_memory_bytes"].as_f64().unwrap_or(0.0) / 1e6 }
}

/// Adult's first 30,162 rows without unknown values, with ARX's hierarchies: the CPU time of the whole process for
/// every requirement, suppression limit and metric, with 8 and 9 quasi columns.
fn adult(amidst: &str, folder: &Path) {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/adult");
    let Ok(all) = std::fs::read_to_string(shared.join("adult.csv")) else {
        println!("\nskipped: Adult is not there");
        return;
    };
    let mut lines = all.lines();
    let header = lines.next().into_iter();
    let clean = lines.filter(|l| l.split(',').all(|cell| cell.trim() != "?")).take(30_162);
    let table: String = header.chain(clean).flat_map(|l| [l, "\n"]).collect();
    std::fs::write(folder.join("adult.csv"), table).expect("room for Adult");
    println!("\nCPU seconds (peak MB) by quasi columns, requirement and suppression.\n");
    println!("| columns | requirement | suppression | loss | discernibility | height |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let quasi = [
        "age",
        "workclass",
        "education",
        "marital-status",
        "race",
        "sex",
        "native-country",
        "salary-class",
        "occupation",
    ];
    let extra = [
        ("k = 5", ""),
        ("k = 5, distinct l = 3", "model = \"distinct-l-diversity\"\nl = 3\n"),
        ("k = 5, entropy l = 3", "model = \"entropy-l-diversity\"\nl = 3\n"),
        ("k = 5, recursive c = 4, l = 3", "model = \"recursive-c-l-diversity\"\nc = 4\nl = 3\n"),
        ("k = 5, t = 0.2", "model = \"t-closeness\"\nt = 0.2\n"),
    ];
    for (width, sensitive) in [(8, "occupation"), (9, "relationship")] {
        for (name, require) in extra {
            for suppression in ["0.0", "0.02", "1.0"] {
                let mut policy = "[data]\ninput = \"adult.csv\"\n".to_string();
                for column in &quasi[..width] {
                    let file = format!("{}/hierarchies_arx/{column}.csv", shared.display());
                    let hierarchy = format!("hierarchy = {{ file = \"{file}\" }}");
                    policy.push_str(&format!("[columns.{column}]\nrole = \"quasi\"\n{hierarchy}\n"));
                }
                policy.push_str(&format!("[columns.{sensitive}]\nrole = \"sensitive\"\n"));
                policy.push_str("[columns.\"*\"]\nrole = \"identifying\"\n");
                policy.push_str("[[require]]\nmodel = \"k-anonymity\"\nk = 5\n");
                if !require.is_empty() {
                    policy.push_str(&format!("[[require]]\non = \"{sensitive}\"\n{require}"));
                }
                policy.push_str(&format!("[search]\nalgorithm = \"optimal\"\nmax_suppression = {suppression}\n"));
                let cells: Vec<String> = ["loss", "discernibility", "height"]
                    .map(|metric| {
                        let path = folder.join("adult.toml");
                        std::fs::write(&path, format!("{policy}metric = \"{metric}\"\n")).expect("a policy");
                        let out = text(&folder.join("adult"));
                        let used = best(|| {
                            let arguments = ["anonymize", &text(&path), "--out", &out, "--force", "--json"];
                            run(Command::new(amidst).args(arguments))
                        });
                        format!("{:.2} ({:.0})", used.cpu, used.peak)
                    })
                    .into();
                let share = suppression.parse::<f64>().unwrap_or(0.0) * 100.0;
                println!("| {width} | {name} | {share:.0} % | {} |", cells.join(" | "));
            }
        }
    }
}
