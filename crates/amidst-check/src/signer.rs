//! Public keys and their owners: OpenSSH lines, lines of an `allowed_signers` file, or PEM.
//!
//! Only Ed25519 is supported. A key is written in one form, the OpenSSH line without comment, so that equal keys have
//! equal texts.

use base64ct::{Base64, Base64Unpadded, Encoding};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

/// The name of the algorithm, in the line and in its encoded part.
const NAME: &str = "ssh-ed25519";

/// What comes before the 32 bytes of a key in its DER form (RFC 8410).
const DER: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

const PEM: (&str, &str) = ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----");

/// The longest file of keys, in bytes.
const LONGEST: usize = 1 << 20;

/// An Ed25519 public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The key of these 32 bytes; `None` when they are not a point of the curve, or a weak point under which anything
    /// verifies.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<PublicKey> {
        VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak()).map(PublicKey)
    }

    /// The key of a line `ssh-ed25519 AAAA…` with nothing around it; `None` for any other text.
    pub fn from_line(line: &str) -> Option<PublicKey> {
        let encoded = line.strip_prefix(NAME)?.strip_prefix(' ')?;
        let wire = Base64::decode_vec(encoded).ok()?;
        let key = wire.strip_prefix(prefix().as_slice())?;
        let key = PublicKey::from_bytes(key.try_into().ok()?)?;
        // Refuses a second encoding of the same key.
        (key.line() == line).then_some(key)
    }

    /// The OpenSSH line, without a comment.
    pub fn line(&self) -> String {
        format!("{NAME} {}", Base64::encode_string(&self.wire()))
    }

    /// The fingerprint that `ssh-keygen -l` shows.
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", Base64Unpadded::encode_string(&Sha256::digest(self.wire())))
    }

    /// Whether the signature of `bytes` by this key is valid under strict verification, which refuses malleable
    /// signatures and weak keys.
    pub fn signed(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        self.0.verify_strict(bytes, &Signature::from_bytes(signature)).is_ok()
    }

    fn wire(&self) -> Vec<u8> {
        [prefix().as_slice(), self.0.as_bytes()].concat()
    }
}

/// The bytes before the 32 bytes of a key in OpenSSH's encoding: the name of the algorithm and their length.
fn prefix() -> Vec<u8> {
    [&(NAME.len() as u32).to_be_bytes(), NAME.as_bytes(), &32u32.to_be_bytes()].concat()
}

/// A key with the name of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The name in the file of keys: the principals of an `allowed_signers` line, or the comment of a key.
    pub name: Option<String>,
    /// The key.
    pub key: PublicKey,
}

/// The keys in a text: a PEM block, or lines of OpenSSH or of an `allowed_signers` file. Keys of other algorithms are
/// skipped, as long as there is at least one Ed25519 key.
///
/// # Errors
/// A message that says what is wrong with the text.
pub fn signers(text: &str) -> Result<Vec<Signer>, String> {
    if text.len() > LONGEST {
        return Err("it is too long for a file of keys".into());
    }
    if text.trim_start().starts_with(PEM.0) {
        return pem(text.trim()).map(|key| vec![Signer { name: None, key }]);
    }
    if text.contains("PRIVATE KEY-----") {
        return Err("this is a private key; give the public one (the file that ends with .pub)".into());
    }
    let (mut found, mut other) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match read_line(line).map_err(|what| format!("line {}: {what}", number + 1))? {
            Read::Key(signer) => found.push(signer),
            Read::Other(algorithm) => other = Some(algorithm),
        }
    }
    match (found.is_empty(), other) {
        (false, _) => Ok(found),
        (true, Some(algorithm)) => Err(format!("it has keys of {algorithm} only; signatures are of ssh-ed25519")),
        (true, None) => Err("there is no key in it".into()),
    }
}

enum Read {
    Key(Signer),
    Other(String),
}

fn read_line(line: &str) -> Result<Read, String> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let is_algorithm = |word: &str| {
        ["ssh-", "ecdsa-", "sk-"].iter().any(|kind| word.starts_with(kind)) && !word.contains(['"', '=', ',', '@'])
            || word.starts_with("sk-") && word.ends_with("@openssh.com")
    };
    let at = words.iter().position(|word| is_algorithm(word)).ok_or("this is no public key")?;
    let encoded = words.get(at + 1).ok_or("the key itself is missing")?;
    if at > 1 {
        // Options restrict the use of a key; ignoring them would extend it.
        return Err(
            "options of allowed signers are not known here; give the key alone, or the line without them".into()
        );
    }
    if words[at] != NAME {
        return Ok(Read::Other(words[at].to_string()));
    }
    let key = PublicKey::from_line(&format!("{NAME} {encoded}")).ok_or("this is no Ed25519 key: is it cut short?")?;
    let name = match at {
        1 => Some(words[0].to_string()),
        _ => Some(words[at + 2..].join(" ")).filter(|comment| !comment.is_empty()),
    };
    Ok(Read::Key(Signer { name, key }))
}

fn pem(text: &str) -> Result<PublicKey, String> {
    let inner = text.strip_prefix(PEM.0).and_then(|text| text.strip_suffix(PEM.1));
    let inner = inner.ok_or("the PEM text does not end where its key ends")?;
    let encoded: String = inner.split_ascii_whitespace().collect();
    let bytes = Base64::decode_vec(&encoded).map_err(|_| "the PEM text cannot be decoded")?;
    let key = bytes.strip_prefix(DER.as_slice()).and_then(|key| <&[u8; 32]>::try_from(key).ok());
    let key = key.ok_or("the PEM text holds a key of another algorithm than Ed25519")?;
    PublicKey::from_bytes(key).ok_or_else(|| "the PEM text holds no point of the curve".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vector 1 of RFC 8032, and the key of its seed as OpenSSH and OpenSSL write it.
    const KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    const SIGNATURE: &str = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
                             d25bf5f0595bbe24655141438e7a100b";
    const LINE: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
    const PEM_TEXT: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n\
                            -----END PUBLIC KEY-----\n";

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
    }

    #[test]
    fn the_standards_own_signature_is_one_and_no_other_is() {
        let key = PublicKey::from_bytes(&bytes(KEY)).unwrap();
        let signature: [u8; 64] = bytes(SIGNATURE);
        assert!(key.signed(b"", &signature));
        assert!(!key.signed(b"x", &signature));
        for bit in 0..512 {
            let mut flipped = signature;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!key.signed(b"", &flipped), "bit {bit}");
        }
    }

    #[test]
    fn one_key_is_read_from_every_form() {
        let key = PublicKey::from_bytes(&bytes(KEY)).unwrap();
        assert_eq!(key.line(), LINE);
        let read = |text: &str| signers(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let named = |name: &str| vec![Signer { name: Some(name.into()), key }];
        assert_eq!(read(LINE), vec![Signer { name: None, key }]);
        assert_eq!(read(&format!("# ours\n\n{LINE} ann at work\n")), named("ann at work"));
        assert_eq!(read(&format!("ann@example.org {LINE}")), named("ann@example.org"));
        assert_eq!(read(PEM_TEXT), vec![Signer { name: None, key }]);
        assert_eq!(read(&format!("ssh-rsa AAAA\n{LINE}")).len(), 1);
    }

    #[test]
    fn what_is_no_key_is_refused_in_words() {
        let zero = PublicKey::from_bytes(&[0; 32]);
        assert!(zero.is_none(), "a key of small order signs everything");
        let cases = [
            (String::new(), "no key"),
            ("ssh-rsa AAAAB3NzaC1yc2E= ann".into(), "ssh-rsa"),
            (LINE[..LINE.len() - 4].into(), "cut short"),
            (format!("ann namespaces=\"file\" {LINE}"), "options"),
            (format!("ann cert-authority {LINE}"), "options"),
            ("hello".into(), "no public key"),
            ("ssh-ed25519".into(), "missing"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----".into(), "private"),
            (PEM_TEXT.replace("MCow", "MCox"), "another algorithm"),
            (PEM_TEXT.replace("-----END", "----END"), "does not end"),
        ];
        for (text, word) in cases {
            let error = signers(&text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
