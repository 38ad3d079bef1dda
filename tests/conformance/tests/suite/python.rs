//! Python programs and the packages they need.
//!
//! The packages are installed once, into a virtual environment under the target directory. Without Python 3 or without
//! a package index the tests fail and report it.

use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;
use tokio::sync::Mutex;

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python");

/// One at a time: the tests of this program share the virtual environment.
static INSTALLING: Mutex<()> = Mutex::const_new(());

/// A command that runs one of our Python programs.
pub(crate) async fn script(name: &str) -> Result<Command> {
    let python = {
        let _guard = INSTALLING.lock().await;
        virtual_environment(Path::new(env!("CARGO_TARGET_TMPDIR"))).await?
    };
    let mut command = Command::new(python);
    // AWS_* variables of the machine must not reach it: they could point at a real account.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.arg(Path::new(PYTHON).join(name));
    Ok(command)
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
pub(crate) async fn run(command: &mut Command) -> Result<()> {
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
