//! Addresses of machines: IPv4, IPv6, MAC.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{Detector, Means, some};

pub(super) const DETECTOR: Detector = Detector {
    id: "network",
    finding: "values are addresses of machines",
    means: Means::Person,
    found: |profile| some(profile, is_address),
};

fn is_address(value: &str) -> bool {
    let host = value.split(['/', '%']).next().unwrap_or_default();
    let with_port = host.rsplit_once(':').map_or(host, |(host, _)| host);
    let v4 = [host, with_port].iter().any(|h| h.parse::<Ipv4Addr>().is_ok());
    let v6 = host.matches(':').count() >= 2 && host.trim_matches(['[', ']']).parse::<Ipv6Addr>().is_ok();
    v4 || v6 || is_mac(value)
}

fn is_mac(value: &str) -> bool {
    let pair = |p: &str| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit());
    [':', '-'].iter().any(|mark| value.split(*mark).count() == 6 && value.split(*mark).all(pair))
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    #[test]
    fn addresses_are_found() {
        assert_eq!(id(["192.168.0.1", "10.0.0.7:8080", "172.16.1.0/24"]), Some("network"));
        assert_eq!(id(["2001:db8::1", "::1", "fe80::1%eth0"]), Some("network"));
        assert_eq!(id(["00:1A:2b:3c:4D:5e", "00-1A-2B-3C-4D-5F"]), Some("network"));
        assert_eq!(id(["1.2.3", "10:30", "12:45", "10:30"]), None);
    }
}
