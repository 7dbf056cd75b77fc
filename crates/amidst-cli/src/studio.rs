//! `amidst studio`: serves the page on which a release is made.

use std::net::IpAddr;
use std::process::{Command, Stdio};

use amidst::Failure;
use amidst_studio::project::Project;
use amidst_studio::{Options, start};
use clap::Args;

use crate::terminal::{CommandResult, Outcome, Terminal};

/// The variable that may hold the password.
const PASSWORD: &str = "AMIDST_STUDIO_PASSWORD";

/// The fewest characters of a password.
const SHORTEST: usize = 12;

/// Open the page on which a release is made, step by step
///
/// It is served on this machine alone, behind an address that holds a key. Everything you change there is written to
/// the policy at once; the command line makes the same release from that policy. Ctrl+C ends it; nothing is lost.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst studio\n  amidst studio patients.csv\n  amidst studio policy.toml --port 8080 --no-browser"
)]
pub struct Studio {
    /// A policy, a table, or a folder; the working directory when absent
    #[arg(value_name = "POLICY|DATA")]
    subject: Option<String>,

    /// The port; a free one when absent
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Print the address and open no browser
    #[arg(long)]
    no_browser: bool,

    /// Listen on this address instead of this machine's own. Everyone who reaches it and knows the password sees the
    /// table and can write into the folder; what is sent can be read on the way
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,

    /// What others must know, at least 12 characters; needed with an address that others reach. Who is on this machine
    /// may see arguments: the environment variable AMIDST_STUDIO_PASSWORD keeps it from them
    #[arg(long, value_name = "PASSWORD")]
    password: Option<String>,

    /// The name of a server in front of the studio that encrypts and passes requests on
    #[arg(long, value_name = "NAME")]
    name: Vec<String>,
}

impl Studio {
    /// Serves the page until the process is ended.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let password = self.password.clone().or_else(|| std::env::var(PASSWORD).ok().filter(|p| !p.is_empty()));
        self.admissible(password.as_deref())?;
        let project = Project::of(self.subject.as_deref())?;
        let options = Options { host: self.host, port: self.port, password, names: self.name.clone() };
        let running = start(project, &options)?;
        terminal.result(&running.address)?;
        terminal.note("Ctrl+C ends the studio; everything is in the policy file.");
        if !self.host.is_loopback() {
            let reached = match self.host.is_unspecified() {
                true => "all addresses of this machine".to_string(),
                false => self.host.to_string(),
            };
            terminal.warning(format!(
                "others reach {reached}: whoever knows the password sees the table and can write into the folder, and what is \
                 sent is not encrypted. Use it in a network that you trust, or behind a server that encrypts"
            ));
        }
        if !self.no_browser && self.host.is_loopback() {
            browse(&running.once);
        }
        let stop = terminal.stop_flag();
        running.until(|| stop.load(std::sync::atomic::Ordering::Relaxed));
        Ok(Outcome::Done)
    }

    /// An address that other machines can reach requires a password of some length.
    fn admissible(&self, password: Option<&str>) -> Result<(), Failure> {
        match password {
            Some(password) if password.chars().count() < SHORTEST || password.trim() != password => {
                Err(Failure::Usage(format!(
                    "the password must have at least {SHORTEST} characters, and no space before or after them"
                )))
            }
            None if !self.host.is_loopback() => Err(Failure::Usage(format!(
                "others could reach {}: whoever opens the page there sees the table and can write into the folder. Give it \
                 a --password of at least {SHORTEST} characters (or the variable {PASSWORD}), or leave --host out and stay on this machine",
                self.host
            ))),
            _ => Ok(()),
        }
    }
}

/// Opens the system's preferred browser, if there is one; the address is printed in any case.
fn browse(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = match cfg!(windows) {
        true => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        false => Command::new(program),
    };
    let _ = command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
