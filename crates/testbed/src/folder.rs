//! The folder of a rig: logs, keys, kubeconfigs and the store.
//!
//! A temporary one is removed at the end of the rig. A test binary that shares one rig among its tests has no end that
//! it would notice, so a janitor outlives us: a small `sh` that waits for our end and removes the folder then.

use crate::lock;
use crate::pki::write;
use anyhow::{Context as _, Result};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use tempfile::TempDir;

/// Marks a folder that may be emptied.
const MARK: &str = ".foo-rig";
/// Keeps temporary folders.
const KEEP: &str = "FOO_KEEP_RIG";

/// Gets a line when this process ends, or end of file if it was killed. The supervisors of its programs see that at the
/// same moment; the pause is for them. Only the store (130 MB) is removed from a folder that is kept for its logs.
const JANITOR: &str = r#"
what=$1
read -r word
[ "$word" = done ] && exit
[ "$word" = keep ] && { what=$1/etcd; read -r word; }
sleep 1
rm -rf "$what"
"#;

#[derive(Debug)]
pub(crate) enum Folder {
    Given(PathBuf),
    Temporary(Temporary),
}

#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    /// None once it is decided that the folder stays.
    owned: Mutex<Option<TempDir>>,
    janitor: Mutex<Child>,
}

impl Folder {
    /// A given folder is emptied and left as it is at the end; without one a temporary folder is created.
    pub(crate) fn prepare(given: Option<PathBuf>) -> Result<Self> {
        if let Some(path) = given {
            if path.join(MARK).exists() {
                std::fs::remove_dir_all(&path).with_context(|| format!("emptying {}", path.display()))?;
            }
            std::fs::create_dir_all(&path).with_context(|| format!("creating {}", path.display()))?;
            let is_empty = path.read_dir()?.next().is_none();
            anyhow::ensure!(is_empty, "{} is not empty and was not made by a rig", path.display());
            write(&path.join(MARK), "")?;
            return Ok(Self::Given(path.canonicalize()?));
        }
        let temporary = tempfile::Builder::new().prefix("foo-rig-").tempdir()?;
        let path = temporary.path().canonicalize()?;
        let janitor = Command::new("sh")
            .args(["-c", JANITOR, "janitor"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .context("starting a janitor")?;
        let owned = Mutex::new(Some(temporary));
        Ok(Self::Temporary(Temporary { path, owned, janitor: Mutex::new(janitor) }))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Given(path) | Self::Temporary(Temporary { path, .. }) => path,
        }
    }

    /// The folder stays where it is, for a user to read.
    pub(crate) fn keep(&self) {
        let Self::Temporary(temporary) = self else { return };
        let Some(folder) = lock(&temporary.owned).take() else { return };
        let path = folder.keep();
        temporary.signal("keep");
        eprintln!("logs are in {}", path.display());
    }
}

impl Temporary {
    fn signal(&self, word: &str) {
        if let Some(pipe) = &mut lock(&self.janitor).stdin {
            drop(writeln!(pipe, "{word}"));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() || std::env::var_os(KEEP).is_some() {
            self.keep();
        }
        let Self::Temporary(temporary) = self else { return };
        if let Some(folder) = lock(&temporary.owned).take() {
            drop(folder);
            temporary.signal("done");
        }
        let mut janitor = lock(&temporary.janitor);
        drop(janitor.stdin.take());
        drop(janitor.wait());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn the_janitor_removes_what_a_process_left_that_was_killed() {
        let folder = Folder::prepare(None).unwrap();
        let path = folder.path().to_owned();
        let Folder::Temporary(temporary) = &folder else { panic!("not temporary") };
        let _kept = lock(&temporary.owned).take().unwrap().keep();
        // What the kernel does when we end.
        drop(lock(&temporary.janitor).stdin.take());
        let deadline = Instant::now() + Duration::from_secs(10);
        while path.exists() {
            assert!(Instant::now() < deadline, "still there");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[test]
    fn a_kept_folder_loses_its_store() {
        let folder = Folder::prepare(None).unwrap();
        let path = folder.path().to_owned();
        std::fs::create_dir(path.join("etcd")).unwrap();
        std::fs::write(path.join("log"), "line").unwrap();
        folder.keep();
        drop(folder);
        assert!(path.join("log").exists() && !path.join("etcd").exists());
        std::fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn an_orderly_end_removes_the_folder_at_once() {
        let folder = Folder::prepare(None).unwrap();
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }
}
