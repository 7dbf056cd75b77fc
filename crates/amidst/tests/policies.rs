//! Every bad policy in `tests/policies` gets exactly the message that stands beside it.
//!
//! `UPDATE_GOLDEN=1 cargo test -p amidst --test policies` writes the messages anew; read the difference before keeping
//! it.

use std::fs;
use std::path::Path;

use amidst::policy::Policy;

#[test]
fn bad_policies_get_their_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() > 10, "the corpus is gone");
    for file in files {
        let name = file.file_name().unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let errors = Policy::parse(&text, Path::new(name)).expect_err(&format!("{name:?} should not parse"));
        let shown = errors.to_string() + "\n";
        assert!(shown.lines().count() <= 50, "{name:?} fills more than a screen");
        let golden = file.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, &shown).unwrap();
        }
        assert_eq!(shown, fs::read_to_string(&golden).unwrap_or_default(), "{name:?}");
    }
}
