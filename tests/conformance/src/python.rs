//! Python programs and the packages they need.
//!
//! The packages are installed once, into a virtual environment under the target directory that the programs of tests share.
//! Without Python 3 or without a package index the tests fail and report it.

use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::timeout;

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

/// How long an installation may take.
const PATIENCE: Duration = Duration::from_mins(15);

/// One at a time in this program.
static INSTALLING: Mutex<()> = Mutex::const_new(());

/// A command that runs one of our Python programs. `target`: `CARGO_TARGET_TMPDIR` of the tests.
///
/// # Errors
/// There is no Python 3, or its packages cannot be installed.
pub async fn script(target: &Path, name: &str) -> Result<Command> {
    let mut command = Command::new(programs(target).await?.join("python"));
    // AWS_* variables of the machine must not reach it: they could point at a real account.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.arg(Path::new(PYTHON).join(name));
    Ok(command)
}

/// The folder of the programs of the virtual environment, `python` and `aws` among them.
///
/// # Errors
/// There is no Python 3, or its packages cannot be installed.
pub async fn programs(target: &Path) -> Result<PathBuf> {
    let _guard = INSTALLING.lock().await;
    // One at a time among the programs of tests. The kernel unlocks it when the file is closed.
    let lock = File::create(target.join("python.lock"))?;
    let lock = timeout(PATIENCE, tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)));
    let lock = lock.await.context("another program installs Python packages for too long")???;
    let python =
        timeout(PATIENCE, virtual_environment(target)).await.context("Python packages took too long")??;
    drop(lock);
    Ok(python.parent().unwrap_or(&python).to_owned())
}

/// The Python of a virtual environment with the pinned packages. A marker with the requirements' text shows that it is
/// complete; an incomplete or outdated one is recreated.
async fn virtual_environment(target: &Path) -> Result<PathBuf> {
    let directory = target.join("python");
    let marker = directory.join("complete");
    let requirements = Path::new(PYTHON).join("requirements.txt");
    let constraints = Path::new(PYTHON).join("constraints.txt");
    let wanted = std::fs::read_to_string(&requirements)? + &std::fs::read_to_string(&constraints)?;
    let python = directory.join("bin").join("python");
    if std::fs::read_to_string(&marker).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory))
        .await
        .context("cannot make a virtual environment: is python3 with its venv module installed?")?;
    run(Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"])
        .arg(&requirements)
        .arg("-c")
        .arg(&constraints))
    .await
    .context("cannot install its packages: is a Python package index reachable?")?;
    std::fs::write(&marker, wanted)?;
    Ok(python)
}

/// Runs a command; what it wrote is in the error if it fails.
///
/// # Errors
/// It cannot be started, or ends with another status than 0.
pub async fn run(command: &mut Command) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .with_context(|| format!("cannot start {}", command.as_std().get_program().display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    print!("{text}");
    Ok(())
}
