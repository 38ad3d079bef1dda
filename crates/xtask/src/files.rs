//! The text files of the repository, as checks and measures read them.

use anyhow::{Context as _, Result, ensure};
use std::path::Path;
use std::process::Command;

/// A text file: its path from the root of the repository, and what is in it.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The path of every file that is, or would be, committed, from the root of the repository.
pub(crate) fn paths(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("running git ls-files")?;
    ensure!(output.status.success(), "git ls-files: {}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).context("a file name that is not UTF-8")?;
    // Not there: deleted but not committed.
    let is_there = |path: &&str| !path.is_empty() && root.join(path).is_file();
    Ok(list.split('\0').filter(is_there).map(str::to_owned).collect())
}

/// Every text file of these.
pub(crate) fn read(root: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for path in paths(root)? {
        // Not UTF-8: no text.
        if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
            files.push(File { path, text });
        }
    }
    Ok(files)
}

impl File {
    pub(crate) fn ends_with(&self, extensions: &[&str]) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| extensions.iter().any(|wanted| e == *wanted))
    }

    pub(crate) fn is_code(&self) -> bool {
        self.ends_with(&["rs", "sh", "go", "toml", "yaml", "yml"]) || !self.path.contains('.')
    }

    /// Lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}
