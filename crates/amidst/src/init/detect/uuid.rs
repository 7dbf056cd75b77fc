//! UUIDs and other long random codes: hashes and tokens stand for one thing each.

use super::{Detector, Means, some};

pub(super) const DETECTOR: Detector = Detector {
    id: "uuid",
    finding: "values are UUIDs, hashes or tokens",
    means: Means::OnePerson,
    found: |profile| some(profile, is_uuid),
};

fn is_uuid(value: &str) -> bool {
    let value = value.trim_matches(['{', '}']);
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let groups: Vec<usize> = value.split('-').map(|g| if hex(g) { g.len() } else { 0 }).collect();
    let mixed = value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic());
    groups == [8, 4, 4, 4, 12] || ([16, 32, 40, 64].contains(&value.len()) && hex(value) && mixed)
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn uuids_and_hashes_are_found() {
        assert_eq!(
            id(["550e8400-e29b-41d4-a716-446655440000", "{6BA7B810-9DAD-11D1-80B4-00C04FD430C8}"]),
            Some("uuid")
        );
        assert_eq!(id(["d41d8cd98f00b204e9800998ecf8427e", "9e107d9d372bb6826bd81d3542a419d6"]), Some("uuid"));
        assert_eq!(id(["550e8400", "facade", "decade", "facade"]), None);
    }
}
