//! The project: the folder that the studio works in, its policy, and which files it may serve and write.

use std::path::{Component, Path, PathBuf};

use amidst::Failure;

/// A folder with a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder.
    pub folder: PathBuf,
    /// The policy, which need not exist yet.
    pub policy: PathBuf,
    /// The table that was named when the studio was started.
    pub data: Option<String>,
}

impl Project {
    /// The project of what the command names: a policy, a folder, a table, or nothing for the working directory. A
    /// table gets the policy `policy.toml` of the working directory, or one named after it where that is another
    /// table's.
    ///
    /// # Errors
    /// When there is no such policy or folder.
    pub fn of(subject: Option<&str>) -> Result<Project, Failure> {
        let here = std::env::current_dir().map_err(|e| Failure::Io(format!("no working directory: {e}")))?;
        let Some(subject) = subject else { return Ok(Project::in_folder(&here)) };
        let path = here.join(subject);
        let policy = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        if policy {
            if !path.is_file() {
                return Err(Failure::Usage(format!(
                    "there is no policy {subject}; `amidst studio` without a name starts one"
                )));
            }
            let folder = path.parent().map_or_else(|| here.clone(), Path::to_path_buf);
            return Ok(Project { folder, policy: path, data: None });
        }
        let holds_policy = path.join("policy.toml").is_file();
        let table_folder =
            || std::fs::read_dir(&path).is_ok_and(|mut entries| entries.any(|e| e.is_ok_and(|e| is_table(&e.path()))));
        if path.is_dir() && (holds_policy || !table_folder()) {
            return Ok(Project::in_folder(&path));
        }
        let mut project = Project::in_folder(&here);
        if project.policy.exists() {
            let same =
                |text: String| amidst::policy::Policy::parse(&text, &project.policy).ok().and_then(|p| p.data.input);
            let named = std::fs::read_to_string(&project.policy).ok().and_then(same);
            let here_too = named.is_some_and(|input| here.join(input) == path);
            if here_too {
                return Ok(project);
            }
            let stem = path.file_stem().map_or("table".into(), |stem| stem.to_string_lossy().into_owned());
            project.policy = here.join(format!("{stem}.policy.toml"));
        }
        if !project.policy.exists() {
            project.data = Some(subject.to_string());
        }
        Ok(project)
    }

    /// The project of a folder.
    pub fn in_folder(folder: &Path) -> Project {
        Project { folder: folder.to_path_buf(), policy: folder.join("policy.toml"), data: None }
    }

    /// The name of the policy's file.
    pub fn policy_name(&self) -> String {
        self.policy.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Where a file or folder inside of the project is; none for what lies elsewhere, by `..`, by a link or by an
    /// absolute path.
    pub fn inside(&self, relative: &str) -> Option<PathBuf> {
        let path = Path::new(relative);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        let hidden = path.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'));
        if !plain || hidden || relative.is_empty() || relative.contains('\0') {
            return None;
        }
        let full = self.folder.join(path);
        // What exists must not lead elsewhere; of what does not, its nearest folder must not.
        let existing = full.ancestors().find(|part| part.symlink_metadata().is_ok())?;
        let real = existing.canonicalize().ok()?;
        real.starts_with(self.folder.canonicalize().ok()?).then_some(full)
    }

    /// A name in the folder that nothing has yet, made from one that a browser sent.
    pub fn vacant(&self, sent: &str) -> PathBuf {
        let last = sent.rsplit(['/', '\\']).next().unwrap_or_default();
        let clean: String = last
            .chars()
            .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ') { c } else { '_' })
            .take(100)
            .collect();
        let clean = clean.trim_start_matches(['.', ' ']).trim_end().to_string();
        let name = if clean.is_empty() { "table.csv".to_string() } else { clean };
        let (stem, ending) = match name.find('.') {
            Some(dot) => name.split_at(dot),
            None => (name.as_str(), ""),
        };
        let candidates = (1..).map(|n| if n == 1 { name.clone() } else { format!("{stem}-{n}{ending}") });
        candidates.map(|name| self.folder.join(name)).find(|path| path.symlink_metadata().is_err()).unwrap_or_default()
    }
}

fn is_table(path: &Path) -> bool {
    amidst::io::Format::of_path(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_the_folder_is_reached() {
        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("secret"), "x").unwrap();
        std::fs::create_dir(folder.path().join("release")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(other.path(), folder.path().join("link")).unwrap();
        let project = Project::in_folder(folder.path());
        for inside in ["release", "release/public/report.html", "new"] {
            assert!(project.inside(inside).is_some(), "{inside}");
        }
        let absolute = other.path().join("secret");
        for outside in
            ["", "..", "../x", "release/../../x", "/etc/passwd", "link/secret", "link", ".policy.toml.history", "a\0b"]
        {
            assert_eq!(project.inside(outside), None, "{outside}");
        }
        assert_eq!(project.inside(absolute.to_str().unwrap()), None);
    }

    #[test]
    fn uploads_get_names_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::in_folder(folder.path());
        let name = |sent: &str| project.vacant(sent).strip_prefix(folder.path()).unwrap().to_str().unwrap().to_string();
        assert_eq!(name("../../etc/people.csv.gz"), "people.csv.gz");
        assert_eq!(name("..\\.hidden\u{202e}.csv"), "hidden_.csv");
        assert_eq!(name("/"), "table.csv");
        std::fs::write(folder.path().join("people.csv.gz"), "").unwrap();
        assert_eq!(name("people.csv.gz"), "people-2.csv.gz");
    }
}
