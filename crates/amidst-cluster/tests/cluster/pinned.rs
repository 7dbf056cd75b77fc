//! What a cluster releases, pinned by digests: JSON, certificates, reports and the tables themselves.
//!
//! `AMIDST_PIN=write` writes `digests.txt` anew, for changes that are meant.

use std::path::Path;

use amidst::check::sha256_hex;
use amidst_testkit::pins::Pins;

use crate::processes::Cluster;
use crate::tables;

#[test]
fn releases_of_a_cluster_change_by_no_byte() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/digests.txt");
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(folder.path(), 2);
    let mut pins = Pins::new(file, sha256_hex);
    let patients = tables::patients(folder.path(), 3_000, 2);
    let visits = tables::visits(folder.path());
    let mut release = |name: &str, policy: &Path, data: &Path, more: &[&str]| {
        let out = folder.path().join(name);
        let output = cluster.anonymize(policy, data, &out, more);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        pins.json(&format!("{name}.json"), serde_json::from_slice(&output.stdout).unwrap());
        pins.folder(name, &out, folder.path());
    };
    for algorithm in ["optimal", "mondrian", "top-down"] {
        let policy = tables::patients_policy(folder.path(), algorithm);
        release(algorithm, &policy, &patients, &["--part-rows", "2000"]);
    }
    let policy = tables::patients_policy(folder.path(), "mondrian");
    release("cut", &policy, &patients, &["--gather", "1000"]);
    release("visits", &tables::visits_policy(folder.path()), &visits, &[]);
    pins.assert_unchanged();
}
