//! `amidst sign`: signs a release with the owner's key.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use amidst::Failure;
use amidst::sign::{KeyFile, sign};
use amidst::verify::Subject;
use clap::Args;
use serde_json::json;

use crate::terminal::{CommandResult, Outcome, Terminal};

/// The environment variable for the passphrase of a key.
const PASSPHRASE: &str = "AMIDST_PASSPHRASE";

/// Sign a release with a key, so that others can tell whose it is
///
/// The release is verified first. The signature is an in-toto statement about the digests of all public files, with the
/// certificate in it, in a DSSE envelope: release.intoto.jsonl in the public part. Keys are Ed25519: one of OpenSSH
/// (ssh-keygen -t ed25519), with or without a passphrase, or PKCS#8 in PEM. Several may sign one release.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst sign release/ --key ~/.ssh/id_ed25519\n  amidst verify release/ --signer ~/.ssh/id_ed25519.pub\n\nThe passphrase of a key is asked for on the terminal, or taken from AMIDST_PASSPHRASE."
)]
pub struct Sign {
    /// The folder that `anonymize` wrote, its public part, a version of a series, or a table with its certificate
    /// beside it
    #[arg(value_name = "RELEASE_DIR")]
    folder: PathBuf,

    /// The private key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// Replace a signed statement that does not stand
    #[arg(long)]
    force: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Sign {
    /// Signs the release; an invalid release is exit code 1.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let subject = Subject::at(&self.folder)?;
        let file = KeyFile::read(&self.key)?;
        if readable_by_others(&self.key) {
            terminal.warning(format!("{} can be read by others than its owner", self.key.display()));
        }
        let key = file.open(|| passphrase(&self.key))?;
        let signed = sign(&subject, &key, self.force)?;
        let fingerprint = signed.key.fingerprint();
        if self.json {
            terminal.json(&json!({
                "envelope": signed.envelope, "key": signed.key.line(), "fingerprint": fingerprint,
                "signatures": signed.signatures,
            }))?;
        } else {
            let others = match signed.signatures {
                1 => String::new(),
                2 => ", beside 1 other".to_string(),
                n => format!(", beside {} others", n - 1),
            };
            terminal.result(format!("signed with {fingerprint}{others}: {}", signed.envelope.display()))?;
            terminal.note("who has your public key can now check it with `amidst verify … --signer KEY.pub`");
        }
        Ok(Outcome::Done)
    }
}

/// The passphrase of a key, from the environment or the terminal.
fn passphrase(key: &Path) -> Result<String, Failure> {
    if let Ok(stated) = std::env::var(PASSPHRASE) {
        return Ok(stated);
    }
    let key = key.display();
    if !std::io::stdin().is_terminal() {
        return Err(Failure::Usage(format!(
            "{key} is protected by a passphrase, and there is no terminal to ask for it; state it in {PASSPHRASE}"
        )));
    }
    rpassword::prompt_password(format!("passphrase of {key}: "))
        .map_err(|e| Failure::Usage(format!("cannot ask for the passphrase of {key}: {e}; state it in {PASSPHRASE}")))
}

#[cfg(unix)]
fn readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable_by_others(_path: &Path) -> bool {
    false
}
