//! Decides whether a connection uses TLS, and verifies the server.
//!
//! Rows about people are never sent to another machine in clear text unless the address says so explicitly. With TLS
//! the certificate is always verified, including the host name: encryption alone does not protect against an attacker
//! who impersonates the server. The client library knows neither `verify-full` nor `sslrootcert`, so both are parsed
//! here and removed from the address.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use postgres::Config;
use postgres::config::Host;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::decoded;
use crate::limits::{POLICY_LIMIT, small_file};

/// The TLS settings of an address.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TlsSettings {
    mode: Option<String>,
    /// The file with the certificates of trusted authorities.
    roots: Option<String>,
}

/// Splits an address into the part for the client library and the TLS settings.
pub(super) fn split_tls_settings(server: &str) -> (String, TlsSettings) {
    let Some((start, settings)) = server.split_once('?') else { return (server.to_string(), TlsSettings::default()) };
    let mut tls_settings = TlsSettings::default();
    let mut others = Vec::new();
    for setting in settings.split('&') {
        match setting.split_once('=') {
            Some(("sslmode", mode)) => tls_settings.mode = Some(decoded(mode)),
            Some(("sslrootcert", file)) => tls_settings.roots = Some(decoded(file)),
            _ => others.push(setting),
        }
    }
    let others = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
    (format!("{start}{others}"), tls_settings)
}

/// Whether the server is on another machine, according to its address.
fn is_remote(config: &Config) -> bool {
    // If numeric addresses are given, they are used for the connection instead of names.
    if !config.get_hostaddrs().is_empty() {
        return config.get_hostaddrs().iter().any(|address| !address.is_loopback());
    }
    config.get_hosts().iter().any(|host| match host {
        Host::Unix(_) => false,
        Host::Tcp(name) => {
            let local = name.eq_ignore_ascii_case("localhost");
            !local && !name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    })
}

/// Whether to use TLS; an error for settings that would silently fall back to clear text.
pub(super) fn decide(config: &Config, tls_settings: &TlsSettings) -> Result<bool, String> {
    let remote = is_remote(config);
    match tls_settings.mode.as_deref() {
        None => Ok(remote || tls_settings.roots.is_some()),
        Some("require" | "verify-ca" | "verify-full") => Ok(true),
        Some("disable") if tls_settings.roots.is_some() => {
            Err("the address has both sslmode=disable and sslrootcert; leave one out".to_string())
        }
        Some("disable") => Ok(false),
        Some("allow" | "prefer") if !remote => Ok(false),
        Some(mode @ ("allow" | "prefer")) => Err(format!(
            "sslmode={mode} may send rows about people to another machine in clear text. Use sslmode=verify-full, with \
             sslrootcert=FILE where the authority is your own; or a tunnel (ssh -L); or, on a network that you trust with \
             these rows, sslmode=disable"
        )),
        Some(_) => Err("sslmode is one of verify-full, require and disable".to_string()),
    }
}

/// The TLS connector, which trusts the authorities of `tls_settings` or, without any, those of the system.
pub(super) fn connector(tls_settings: &TlsSettings) -> Result<MakeRustlsConnect, String> {
    let mut roots = RootCertStore::empty();
    match &tls_settings.roots {
        Some(file) => {
            let bytes = small_file(Path::new(file), POLICY_LIMIT).map_err(|e| format!("sslrootcert {file}: {e}"))?;
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                let added = certificate.ok().and_then(|certificate| roots.add(certificate).ok());
                added.ok_or_else(|| format!("sslrootcert {file}: not a certificate in PEM"))?;
            }
        }
        // Some systems list invalid certificates; these are skipped.
        None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
    }
    if roots.is_empty() {
        let place = tls_settings.roots.as_deref().unwrap_or("the system");
        return Err(format!(
            "{place} has no certificate of an authority to trust; name a file with sslrootcert=ca.pem"
        ));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS cannot be set up: {e}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(address: &str) -> Result<bool, String> {
        let (address, tls_settings) = split_tls_settings(address);
        decide(&address.parse::<Config>().unwrap(), &tls_settings)
    }

    #[test]
    fn rows_leave_the_machine_encrypted_or_by_a_clear_word() {
        for local in ["localhost", "127.0.0.1", "127.8.9.1", "[::1]", "%2Fvar%2Frun"] {
            assert_eq!(decided(&format!("postgres://{local}/d")), Ok(false), "{local}");
            assert_eq!(decided(&format!("postgres://{local}/d?sslmode=verify-full")), Ok(true), "{local}");
            assert_eq!(decided(&format!("postgres://{local}/d?sslmode=prefer")), Ok(false), "{local}");
        }
        for remote in ["db.example", "10.0.0.1", "localhost.evil.example", "[2001:db8::1]", "localhost,db.example"] {
            assert_eq!(decided(&format!("postgres://{remote}/d")), Ok(true), "{remote}");
            assert_eq!(decided(&format!("postgres://{remote}/d?sslmode=require")), Ok(true), "{remote}");
            assert_eq!(decided(&format!("postgres://{remote}/d?sslmode=disable")), Ok(false), "{remote}");
            for weak in ["prefer", "allow", "PREFER", ""] {
                assert!(decided(&format!("postgres://{remote}/d?sslmode={weak}")).is_err(), "{remote} {weak}");
            }
        }
        // The numeric address decides, not the name.
        assert_eq!(decided("postgres://localhost/d?hostaddr=10.0.0.1"), Ok(true));
        assert_eq!(decided("postgres://db.example/d?hostaddr=127.0.0.1"), Ok(false));
        assert!(decided("postgres://h/d?sslmode=disable&sslrootcert=ca.pem").is_err());
    }

    #[test]
    fn what_the_client_does_not_know_is_taken_out() {
        let (address, found) =
            split_tls_settings("postgres://h/d?connect_timeout=3&sslrootcert=a%20b.pem&sslmode=verify-full");
        assert_eq!(address, "postgres://h/d?connect_timeout=3");
        assert_eq!(found, TlsSettings { mode: Some("verify-full".into()), roots: Some("a b.pem".into()) });
        assert!(connector(&TlsSettings { roots: Some("/dev/zero".into()), ..TlsSettings::default() }).is_err());
    }
}
