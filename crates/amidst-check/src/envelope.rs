//! A signed statement about a release: an in-toto Statement v1 in a DSSE envelope, one line of JSON.
//!
//! The statement follows from the certificate byte by byte: its subjects are the digests of the listed files and of the
//! certificate, its predicate is the certificate. The envelope has one form, too, and each signature carries the key
//! that made it. The file can therefore hold nothing that the certificate does not, and every changed bit is found
//! without knowing the owners of the keys. Who they are must be known from elsewhere: see [`crate::signers`].

use base64ct::{Base64, Encoding};
use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;
use crate::problem::{Problem, ProblemKind};
use crate::signer::PublicKey;

/// The file name of the signed statement in the folder of a release.
pub const ENVELOPE: &str = "release.intoto.jsonl";

/// The predicate type: a certificate of Amidst in its second format.
pub const PREDICATE_TYPE: &str = "urn:amidst:certificate:2";

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// The name of the certificate in statements.
pub(crate) const CERTIFICATE: &str = "certificate.json";

/// The largest envelope in bytes: a certificate in it may list many values.
pub(crate) const LARGEST: u64 = 64 << 20;

/// The maximum number of signatures.
const MOST_SIGNATURES: usize = 64;

/// The bytes of a text in base64; `None` when it is none.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    Base64::decode_vec(text).ok()
}

/// A statement and its signatures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Envelope {
    payload_type: String,
    payload: String,
    signatures: Vec<Written>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    keyid: String,
    sig: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Statement<'a> {
    #[serde(rename = "_type")]
    kind: &'a str,
    subject: Vec<Subject>,
    predicate_type: &'a str,
    predicate: Certificate,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subject {
    name: String,
    digest: Sha256,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sha256 {
    sha256: String,
}

fn altered(message: String) -> Problem {
    Problem::violation(ProblemKind::Signature, message)
}

fn subjects(certificate: &Certificate, digest: &str) -> Vec<Subject> {
    let subject = |name: &str, sha256: &str| Subject { name: name.into(), digest: Sha256 { sha256: sha256.into() } };
    let files = certificate.outputs.iter().map(|output| subject(&output.file, &output.sha256));
    files.chain([subject(CERTIFICATE, digest)]).collect()
}

/// The statement about a release: `digest` is the SHA-256 of the certificate's file.
fn statement(certificate: &Certificate, digest: &str) -> Result<String, Problem> {
    let statement = Statement {
        kind: STATEMENT_TYPE,
        subject: subjects(certificate, digest),
        predicate_type: PREDICATE_TYPE,
        predicate: certificate.clone(),
    };
    serde_json::to_string(&statement).map_err(|e| altered(format!("the statement cannot be written: {e}")))
}

impl Envelope {
    /// The statement about a release in an envelope without signatures; `digest` is the SHA-256 of the certificate's
    /// file in hexadecimal.
    ///
    /// # Errors
    /// When the certificate cannot be serialized, or is too long to be signed.
    pub fn about(certificate: &Certificate, digest: &str) -> Result<Envelope, Problem> {
        let statement = statement(certificate, digest)?;
        if statement.len() as u64 > LARGEST / 2 {
            return Err(altered("the certificate is too long to be signed".into()));
        }
        let payload = Base64::encode_string(statement.as_bytes());
        Ok(Envelope { payload_type: PAYLOAD_TYPE.into(), payload, signatures: Vec::new() })
    }

    /// Reads an envelope in its one form.
    ///
    /// # Errors
    /// When the bytes are not an envelope, hold anything else, or have no signature or more than 64.
    pub fn parse(bytes: &[u8]) -> Result<Envelope, Problem> {
        let wrong = |what: &str| altered(format!("{ENVELOPE}: {what}"));
        if bytes.len() as u64 > LARGEST {
            return Err(wrong("it is too long for a signed statement"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is no text"))?;
        let envelope: Envelope = serde_json::from_str(text).map_err(|_| {
            wrong("it is no signed envelope: one line of JSON with payloadType, payload and signatures")
        })?;
        if envelope.line() != text {
            return Err(wrong("it is not in its one form: something was added, or it was altered"));
        }
        if envelope.payload_type != PAYLOAD_TYPE {
            return Err(wrong("the type of its payload is not that of an in-toto statement"));
        }
        if envelope.signatures.is_empty() || envelope.signatures.len() > MOST_SIGNATURES {
            return Err(wrong("it has no signature, or far too many"));
        }
        Ok(envelope)
    }

    /// The envelope as the line to write to a file.
    pub fn line(&self) -> String {
        // Strings and lists of strings can always be serialized.
        let mut line = serde_json::to_string(self).unwrap_or_default();
        line.push('\n');
        line
    }

    /// The bytes that a key signs: the payload and its type, each with its length (DSSE's PAE).
    ///
    /// # Errors
    /// When the payload cannot be decoded.
    pub fn signed_bytes(&self) -> Result<Vec<u8>, Problem> {
        let body = Base64::decode_vec(&self.payload)
            .map_err(|_| altered(format!("{ENVELOPE}: its payload was altered: it is no base64")))?;
        let head = format!("DSSEv1 {} {} {} ", self.payload_type.len(), self.payload_type, body.len());
        Ok([head.as_bytes(), &body].concat())
    }

    /// Adds a signature; one by the same key is replaced.
    ///
    /// # Errors
    /// When it would be one more than an envelope may have.
    pub fn attach(&mut self, key: &PublicKey, signature: &[u8; 64]) -> Result<(), Problem> {
        let keyid = key.line();
        if self.signatures.iter().filter(|other| other.keyid != keyid).count() >= MOST_SIGNATURES {
            return Err(altered(format!(
                "{ENVELOPE}: it has {MOST_SIGNATURES} signatures, and no further one would be accepted"
            )));
        }
        self.signatures.retain(|other| other.keyid != keyid);
        self.signatures.push(Written { keyid, sig: Base64::encode_string(signature) });
        self.signatures.sort_by(|a, b| a.keyid.cmp(&b.keyid));
        Ok(())
    }

    /// Adds the signatures of another envelope around the same statement, unless their keys have signed here already.
    pub fn join(&mut self, other: &Envelope) {
        let known = |written: &&Written| self.signatures.iter().all(|own| own.keyid != written.keyid);
        let new: Vec<Written> = other.signatures.iter().filter(known).cloned().collect();
        self.signatures.extend(new);
        self.signatures.sort_by(|a, b| a.keyid.cmp(&b.keyid));
    }

    /// Whether two envelopes hold the same statement, regardless of signatures.
    pub fn says_the_same(&self, other: &Envelope) -> bool {
        (&self.payload_type, &self.payload) == (&other.payload_type, &other.payload)
    }

    /// The keys of all signatures, if every signature is valid and the statement is about this certificate.
    ///
    /// # Errors
    /// Everything that was altered: files, certificate, statement or signatures.
    pub fn keys(&self, certificate: &Certificate, digest: &str) -> Result<Vec<PublicKey>, Vec<Problem>> {
        let signed = self.signed_bytes().map_err(|p| vec![p])?;
        let mut problems = self.differences(certificate, digest);
        let mut keys: Vec<PublicKey> = Vec::new();
        for (number, written) in self.signatures.iter().enumerate() {
            match read_signature(written) {
                Ok((key, signature)) if key.signed(&signed, &signature) => keys.push(key),
                Ok((key, _)) => problems.push(altered(format!(
                    "{ENVELOPE}: signature {} by {} does not fit: the statement, the signature or the key was altered",
                    number + 1,
                    key.fingerprint()
                ))),
                Err(what) => problems.push(altered(format!("{ENVELOPE}: signature {}: {what}", number + 1))),
            }
        }
        if !self.signatures.windows(2).all(|pair| pair[0].keyid < pair[1].keyid) {
            problems.push(altered(format!(
                "{ENVELOPE}: its signatures are not in the order of their keys, or one is twice"
            )));
        }
        if problems.is_empty() { Ok(keys) } else { Err(problems) }
    }

    /// The differences between the statement and the one about this certificate.
    fn differences(&self, certificate: &Certificate, digest: &str) -> Vec<Problem> {
        let expected = match statement(certificate, digest) {
            Ok(expected) => expected,
            Err(problem) => return vec![problem],
        };
        if self.payload == Base64::encode_string(expected.as_bytes()) {
            return Vec::new();
        }
        let body = Base64::decode_vec(&self.payload).unwrap_or_default();
        let read: Option<Statement<'_>> = serde_json::from_slice(&body).ok();
        let Some(said) = read else {
            return vec![altered(format!(
                "{ENVELOPE}: its payload is no statement about a certificate: it was altered"
            ))];
        };
        let own = subjects(certificate, digest);
        let mut problems = Vec::new();
        for subject in &own {
            let stated = said.subject.iter().find(|other| other.name == subject.name);
            if stated != Some(subject) {
                problems.push(altered(match stated {
                    Some(_) => format!("{}: the file is not the one that was signed", subject.name),
                    None => format!("{}: the file was not signed", subject.name),
                }));
            }
        }
        let foreign = said.subject.iter().filter(|subject| own.iter().all(|other| other.name != subject.name));
        problems.extend(
            foreign.map(|s| altered(format!("{}: this was signed, and the certificate does not list it", s.name))),
        );
        if said.predicate != *certificate {
            problems.push(altered("the certificate is not the one that was signed".into()));
        }
        if problems.is_empty() {
            problems.push(altered(format!("{ENVELOPE}: its statement is not in its one form: it was altered")));
        }
        problems
    }
}

fn read_signature(written: &Written) -> Result<(PublicKey, [u8; 64]), &'static str> {
    let key = PublicKey::from_line(&written.keyid).ok_or("its key is no Ed25519 key: it was altered")?;
    let bytes = Base64::decode_vec(&written.sig).map_err(|_| "it is no base64: it was altered")?;
    let signature = <[u8; 64]>::try_from(bytes).map_err(|_| "it does not have 64 bytes: it was altered")?;
    // Some base64 decoders accept several texts for the same bytes.
    if Base64::encode_string(&signature) != written.sig {
        return Err("its text is not in its one form: it was altered");
    }
    Ok((key, signature))
}
