//! The provenance of a release: who signed it, until when it may be relied on, and which version of its series precedes
//! it.
//!
//! None of this is a claim about rows: a signature shows who made a statement, not that it is true; the last day is
//! stated by the maker; the digest of the previous certificate links the versions of a series. It is checked
//! separately, so that a release can be valid and unsigned, or signed and expired.

use crate::certificate::{Certificate, Link};
use crate::content::{Content, Location};
use crate::digest::sha256_hex;
use crate::envelope::{CERTIFICATE, ENVELOPE, Envelope, LARGEST};
use crate::files::content;
use crate::options::Seals;
use crate::policy::PolicySaid;
use crate::problem::{Problem, ProblemKind};
use crate::signer::{PublicKey, Signer};
use crate::verdict::{SignedBy, Verdict};

/// Adds signatures, last day and predecessor to a verdict.
pub(crate) fn provenance(release: &Location, certificate: &Certificate, seals: &Seals<'_>, verdict: &mut Verdict) {
    let keys = match signatures(release, certificate, seals) {
        Ok(keys) => keys,
        Err(problems) => {
            verdict.problems.extend(problems);
            Vec::new()
        }
    };
    let known: Vec<&Signer> = seals.signers.iter().flatten().collect();
    verdict.signatures = keys.iter().map(|key| signed_by(key, &known)).collect();
    if seals.signers.is_empty() {
        verdict.not_checked.push(match keys.len() {
            0 => "who made the release: nobody has signed it".into(),
            _ => "whose keys have signed it: no signer was named to compare them with".into(),
        });
    } else {
        let trusted = keys.iter().filter(|key| known.iter().any(|signer| signer.key == **key));
        verdict.signed_by = Some(trusted.map(|key| signed_by(key, &known)).collect());
        verdict.problems.extend(seals.signers.iter().filter_map(|wanted| unsigned(wanted, &keys)));
    }
    until(certificate, seals, verdict);
    match chain(certificate, seals.previous) {
        Ok(unchecked) => verdict.not_checked.extend(unchecked),
        Err(problem) => verdict.problems.push(problem),
    }
}

fn signed_by(key: &PublicKey, known: &[&Signer]) -> SignedBy {
    let name = known.iter().find(|signer| signer.key == *key).and_then(|signer| signer.name.clone());
    SignedBy { key: key.line(), fingerprint: key.fingerprint(), name }
}

/// The keys that signed the release; empty when it has no signed statement.
fn signatures(
    release: &Location,
    certificate: &Certificate,
    seals: &Seals<'_>,
) -> Result<Vec<PublicKey>, Vec<Problem>> {
    let Some(envelope) = at(release, ENVELOPE, seals.envelope.as_ref()).map_err(|p| vec![p])? else {
        return Ok(Vec::new());
    };
    let digest = match at(release, CERTIFICATE, seals.certificate.as_ref()).map_err(|p| vec![p])? {
        Some(bytes) => sha256_hex(&bytes),
        None => sha256_hex(certificate.to_json().map_err(|p| vec![p])?.as_bytes()),
    };
    Envelope::parse(&envelope).map_err(|p| vec![p])?.keys(certificate, &digest)
}

/// The bytes of a small file of the release that the certificate does not list; `None` when there is no such file.
fn at(release: &Location, name: &str, stated: Option<&std::path::PathBuf>) -> Result<Option<Vec<u8>>, Problem> {
    use std::io::Read;
    let found = match (stated, release) {
        (Some(path), _) => Content::file(path),
        (None, Location::Path(folder)) if !folder.is_dir() => return Ok(None),
        (None, location) => match content(location, name) {
            Ok(content) => content,
            Err(problem) if problem.kind == ProblemKind::MissingFile => return Ok(None),
            Err(problem) => return Err(problem),
        },
    };
    let failed = |e: std::io::Error| {
        Problem::violation(ProblemKind::Unreadable, format!("{}: it cannot be read: {e}", found.display()))
    };
    let mut bytes = Vec::new();
    found.open().map_err(failed)?.take(LARGEST + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// The problem to report when none of `wanted` has signed.
fn unsigned(wanted: &[Signer], keys: &[PublicKey]) -> Option<Problem> {
    if wanted.iter().any(|signer| keys.contains(&signer.key)) {
        return None;
    }
    let name = |signer: &Signer| {
        let fingerprint = signer.key.fingerprint();
        signer.name.as_ref().map_or_else(|| fingerprint.clone(), |name| format!("{name} ({fingerprint})"))
    };
    let mut names: Vec<String> = wanted.iter().take(3).map(name).collect();
    if wanted.len() > names.len() {
        names.push(format!("{} others", wanted.len() - names.len()));
    }
    let others = match keys {
        [] => "; there is no signature that stands".to_string(),
        keys => {
            format!("; it was signed by {}", keys.iter().map(PublicKey::fingerprint).collect::<Vec<_>>().join(", "))
        }
    };
    let message = format!("the release is not signed by {}{others}", names.join(" or "));
    Some(Problem::violation(ProblemKind::Signer, message))
}

/// Whether the release may still be relied on.
fn until(certificate: &Certificate, seals: &Seals<'_>, verdict: &mut Verdict) {
    // An unreadable policy is reported elsewhere as a violation.
    let Some(last) = PolicySaid::parse(&certificate.policy).ok().and_then(|policy| policy.valid_until) else { return };
    verdict.valid_until = Some(last.to_string());
    let Some(day) = seals.day else {
        verdict.not_checked.push(format!("whether it is still {last}, until when the release may be relied on"));
        return;
    };
    verdict.fresh = Some(day <= last);
    if day > last {
        let message = format!("the release may be relied on until {last}, and {day} is later");
        verdict.problems.push(Problem::violation(ProblemKind::Expired, message));
    }
}

/// Whether the version follows `previous`; the text in `Ok` names what could not be checked.
fn chain(certificate: &Certificate, previous: Option<&Certificate>) -> Result<Option<String>, Problem> {
    let wrong = |what: String| Err(Problem::violation(ProblemKind::Chain, what));
    let Some(Link { version, previous: digest }) = &certificate.series else {
        return match previous {
            Some(_) => wrong("the release is no version of a series, so it follows none".into()),
            None => Ok(None),
        };
    };
    let is_digest = |text: &String| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if *version == 0 || digest.as_ref().is_some_and(|digest| *version == 1 || !is_digest(digest)) {
        return wrong("the certificate does not say plainly which version it is, and which was before".into());
    }
    let before = version - 1;
    let Some(previous) = previous else {
        if before > 0 && digest.is_none() {
            let what =
                format!("which version {before} it follows: version {version} is unchained, it names none before it");
            return Ok(Some(what));
        }
        return Ok((before > 0).then(|| format!("that it follows version {before}, whose certificate is not at hand")));
    };
    let Some(digest) = digest else {
        return wrong(format!("version {version} does not say which version {before} it follows"));
    };
    let whole = previous.computed_digest().is_ok_and(|computed| computed == previous.digest);
    let in_place = previous.series.as_ref().is_none_or(|link| link.version == before);
    if !whole || !in_place || previous.digest != *digest {
        return wrong(format!(
            "version {version} does not follow this version {before}: one of the two was altered or replaced"
        ));
    }
    Ok(None)
}
