//! The policy of a series, kept in its private half.

use std::fs;
use std::path::Path;

use crate::policy::Policy;
use crate::{Failure, files};

/// The policy of the series: with its own copies of the files that it names, so that it stays what it was.
pub(super) fn own_policy(policy: &Policy, private: &Path) -> Result<Policy, Failure> {
    let mut own = policy.clone();
    let folder = private.join("hierarchies");
    for (number, column) in own.columns.iter_mut().chain(&mut own.default).enumerate() {
        for file in column.hierarchy_files_mut() {
            let from = policy.origin.resolve(file);
            let name = format!("{number}-{}", from.file_name().unwrap_or_default().to_string_lossy());
            let copied = (files::create_private_folders(&folder).and_then(|()| fs::read(&from)))
                .and_then(|content| files::rewrite_private(&folder.join(&name), &content));
            copied.map_err(|e| Failure::Io(format!("cannot copy {}: {e}", from.display())))?;
            *file = format!("hierarchies/{name}");
        }
    }
    let (path, text) = (private.join("policy.toml"), own.to_toml());
    files::rewrite_private(&path, text.as_bytes())
        .map_err(|e| Failure::Io(format!("cannot write {}: {e}", path.display())))?;
    Ok(Policy::parse(&text, &path)?)
}
