//! Signing: an owner says with a key that a release is theirs.
//!
//! What is signed is a statement about the digests of all public files, with the certificate in it (an in-toto
//! Statement in a DSSE envelope, see `amidst_check::Envelope`). A release is verified before it is signed. The file
//! appears whole or not at all, and is made outside the public part, so that a kill leaves nothing in what is handed
//! over.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use amidst_check::{Certificate, ENVELOPE, Envelope, Problem, ProblemKind, PublicKey, sha256_hex};
use ed25519_dalek::pkcs8::DecodePrivateKey;
use ed25519_dalek::{Signer, SigningKey};

use crate::scratch::Scratch;
use crate::verify::{Subject, verify};
use crate::{Failure, Remedy, files};

/// Longer than any file with one key.
const LONGEST: u64 = 64 << 10;

/// A private key as it was read: ready, or still to be opened with a passphrase.
#[derive(Debug)]
pub enum KeyFile {
    /// It can sign.
    Open(Box<Key>),
    /// It is an OpenSSH key that a passphrase protects.
    Locked(Box<ssh_key::PrivateKey>),
}

/// A private key.
#[derive(Debug)]
pub struct Key(SigningKey);

impl Key {
    /// The public half.
    ///
    /// # Errors
    /// When the key is not fit to sign with.
    pub fn public(&self) -> Result<PublicKey, Failure> {
        PublicKey::from_bytes(self.0.verifying_key().as_bytes())
            .ok_or_else(|| Failure::Usage("the key is a weak one, with which anybody could sign".into()))
    }
}

impl KeyFile {
    /// Reads a private key: one of OpenSSH, or PKCS#8 in PEM.
    ///
    /// # Errors
    /// When the file cannot be read, or is no Ed25519 key.
    pub fn read(path: &Path) -> Result<KeyFile, Failure> {
        let failed = |e: io::Error| match e.kind() {
            io::ErrorKind::NotFound => Failure::Usage(format!("there is no key {}", path.display())),
            _ => Failure::Io(format!("cannot read the key {}: {e}", path.display())),
        };
        let mut text = String::new();
        let mut file = fs::File::open(path).map_err(failed)?.take(LONGEST);
        file.read_to_string(&mut text).map_err(|e| match e.kind() {
            io::ErrorKind::InvalidData => Failure::Usage(format!("{} is no key: it is no text", path.display())),
            _ => failed(e),
        })?;
        KeyFile::parse(&text).map_err(|what| Failure::Usage(format!("cannot sign with {}: {what}", path.display())))
    }

    /// Reads a private key from its text.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<KeyFile, String> {
        let first = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        match first {
            "-----BEGIN OPENSSH PRIVATE KEY-----" => {
                let key = ssh_key::PrivateKey::from_openssh(text.trim()).map_err(|_| unread_openssh(text))?;
                match key.is_encrypted() {
                    true => Ok(KeyFile::Locked(Box::new(key))),
                    false => of_openssh(&key).map(|key| KeyFile::Open(Box::new(key))),
                }
            }
            "-----BEGIN PRIVATE KEY-----" => match SigningKey::from_pkcs8_pem(text.trim()) {
                Ok(key) => Ok(KeyFile::Open(Box::new(Key(key)))),
                Err(_) => Err("it is damaged, or no Ed25519 key; `openssl genpkey -algorithm ed25519` makes one".into()),
            },
            "-----BEGIN ENCRYPTED PRIVATE KEY-----" => Err(
                "it is protected by a passphrase, which is known for OpenSSH keys only; `openssl pkey -in KEY -out PLAIN` \
                 opens it"
                    .into(),
            ),
            _ if first.starts_with("-----BEGIN") && first.contains("PRIVATE KEY") => Err(format!(
                "it is a key of another kind ({}); `ssh-keygen -t ed25519` makes one that can sign",
                first.trim_matches('-').trim_start_matches("BEGIN ")
            )),
            _ if first.starts_with("ssh-") || first.contains("PUBLIC KEY") => {
                Err("this is a public key; give the private one".into())
            }
            _ => Err("it is no private key; `ssh-keygen -t ed25519` makes one".into()),
        }
    }

    /// The key, which `passphrase` is asked for where it is needed.
    ///
    /// # Errors
    /// When the passphrase is wrong, or the key cannot sign.
    pub fn open(self, passphrase: impl FnOnce() -> Result<String, Failure>) -> Result<Key, Failure> {
        let locked = match self {
            KeyFile::Open(key) => return Ok(*key),
            KeyFile::Locked(locked) => locked,
        };
        let opened = locked
            .decrypt(passphrase()?.as_bytes())
            .map_err(|_| Failure::Usage("the passphrase does not open the key".into()))?;
        of_openssh(&opened).map_err(Failure::Usage)
    }
}

/// What is wrong with an OpenSSH key that could not be read: its kind, where it tells one.
fn unread_openssh(text: &str) -> String {
    match openssh_algorithm(text).filter(|name| name != "ssh-ed25519") {
        Some(name) => {
            format!(
                "it is a key of {}; `ssh-keygen -t ed25519` makes one that can sign",
                amidst_check::printable(&name)
            )
        }
        None => "the OpenSSH key is damaged".into(),
    }
}

/// The algorithm that an OpenSSH key names before its public half.
fn openssh_algorithm(text: &str) -> Option<String> {
    let lines: String = text.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
    let bytes = amidst_check::base64(&lines)?;
    let mut rest = bytes.strip_prefix(b"openssh-key-v1\0")?;
    // Cipher, the function that makes its key, the options of that.
    for _ in 0..3 {
        rest = part(rest)?.1;
    }
    // The number of keys, and the first public one, which begins with its algorithm.
    let (key, _) = part(rest.get(4..)?)?;
    let (name, _) = part(key)?;
    String::from_utf8(name.to_vec()).ok().filter(|name| name.len() < 64 && name.is_ascii())
}

/// A part with its length before it, and what stands behind it.
fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, behind) = bytes.split_first_chunk::<4>()?;
    behind.split_at_checked(u32::from_be_bytes(*length) as usize)
}

fn of_openssh(key: &ssh_key::PrivateKey) -> Result<Key, String> {
    let pair = key.key_data().ed25519().ok_or_else(|| {
        format!("it is a key of {}; `ssh-keygen -t ed25519` makes one that can sign", key.algorithm().as_str())
    })?;
    let own = SigningKey::from_bytes(&pair.private.to_bytes());
    match own.verifying_key().as_bytes() == &pair.public.0 {
        true => Ok(Key(own)),
        false => Err("its two halves do not belong together: it is damaged".into()),
    }
}

/// A release that was signed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Signed {
    /// The signed statement.
    pub envelope: PathBuf,
    /// The key that signed now.
    pub key: PublicKey,
    /// How many keys have signed it.
    pub signatures: usize,
}

/// Signs a release, which is verified first. Signatures of others stay; those that do not stand are replaced with
/// `force` only.
///
/// # Errors
/// When the release does not stand (nothing is signed then), or the statement cannot be written.
pub fn sign(subject: &Subject, key: &Key, force: bool) -> Result<Signed, Failure> {
    let public = key.public()?;
    let verdict = verify(subject);
    let spared = |problem: &Problem| force && problem.kind == ProblemKind::Signature;
    let against: Vec<String> =
        verdict.problems.iter().filter(|p| p.is_violation() && !spared(p)).map(Problem::to_string).collect();
    if !against.is_empty() {
        let broken = verdict.problems.iter().any(|p| p.kind == ProblemKind::Signature);
        let problem = format!("the release does not stand, so it was not signed: {}", against.join("; "));
        return Err(match broken {
            true => Failure::impossible(problem, Remedy::ReplaceStatement),
            false => Failure::Impossible(problem.into()),
        });
    }
    let place = subject.envelope_place();
    // Beside the public part, never in it: what a kill leaves must not be handed over.
    let outside = if subject.release.is_dir() {
        files::parent(&absolute(&subject.release)?).to_path_buf()
    } else {
        files::parent(&place).to_path_buf()
    };
    let failed = |e: io::Error| Failure::Io(format!("cannot write {}: {e}", place.display()));
    let guard = files::lock_folder(files::parent(&place))?;
    let refused = |problem: Problem| Failure::Usage(problem.to_string());
    let bytes = fs::read(&subject.certificate)
        .map_err(|e| Failure::Io(format!("cannot read {}: {e}", subject.certificate.display())))?;
    let certificate = Certificate::read(&subject.certificate).map_err(refused)?;
    let mut envelope = Envelope::about(&certificate, &sha256_hex(&bytes)).map_err(refused)?;
    if let Ok(text) = fs::read(&place)
        && let Ok(before) = Envelope::parse(&text)
        && before.says_the_same(&envelope)
        && before.keys(&certificate, &sha256_hex(&bytes)).is_ok()
    {
        envelope.join(&before);
    }
    let signed = envelope.signed_bytes().map_err(refused)?;
    envelope.attach(&public, &key.0.sign(&signed).to_bytes()).map_err(refused)?;
    // What was made is looked at before anybody sees it.
    let keys = envelope
        .keys(&certificate, &sha256_hex(&bytes))
        .map_err(|problems| Failure::Refused(problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ")))?;
    let scratch = Scratch::new_in(&outside).map_err(failed)?;
    let made = scratch.path().join(ENVELOPE);
    files::write_private(&made, envelope.line().as_bytes()).map_err(failed)?;
    files::set_mode(&made, 0o644).map_err(failed)?;
    fs::rename(&made, &place).map_err(failed)?;
    files::sync_folder(files::parent(&place));
    drop(guard);
    Ok(Signed { envelope: place, key: public, signatures: keys.len() })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|e| Failure::Io(format!("cannot look at {}: {e}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seed of test vector 1 of RFC 8032, as `openssl` writes it.
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n";

    /// The public half of a key of OpenSSH of another kind, as its private file begins.
    const ECDSA: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAaAAAABNlY2RzYS\n\
                         1zaGEyLW5pc3RwMjU2AAAACG5pc3RwMjU2AAAAQQQO6Iuuf3jr5onw9d3HJTzX222nUCT0\n\
                         rMFTVnY1Nan7ZMajuQc5DHfAk7ltyke2jRT6nB1zIMQawMpDoEnqJklq\n-----END OPENSSH PRIVATE KEY-----\n";

    #[test]
    fn keys_that_cannot_sign_are_refused_in_words() {
        let cases = [
            ("", "ssh-keygen"),
            ("hello", "no private key"),
            ("ssh-ed25519 AAAA", "public"),
            ("-----BEGIN RSA PRIVATE KEY-----\n", "RSA PRIVATE KEY"),
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "passphrase"),
            ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "damaged"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----", "damaged"),
            (ECDSA, "ecdsa-sha2-nistp256"),
        ];
        for (text, word) in cases {
            let error = KeyFile::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn the_standards_key_has_the_standards_public_half() {
        let KeyFile::Open(key) = KeyFile::parse(PEM).unwrap() else { panic!("it is not protected") };
        let line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
        assert_eq!(key.public().unwrap().line(), line);
    }
}
