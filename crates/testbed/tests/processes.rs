//! Nothing that a test started may outlive it, however the test ends.

use anyhow::{Result, ensure};
use foo_testbed::Tools;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Command lines that mention the folder: the programs and their supervisors, not `foo-rig` itself.
fn processes_of(folder: &Path) -> Result<Vec<String>> {
    let folder = folder.to_string_lossy().into_owned();
    let entries = std::fs::read_dir("/proc")?.flatten();
    let command_lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    Ok(command_lines
        .map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "))
        .filter(|line| line.contains(&folder) && !line.contains("foo-rig --"))
        .collect())
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_test_leaves_no_process_behind() -> Result<()> {
    Tools::find()?;
    let folder = tempfile::tempdir()?;
    let mut rig = Command::new(env!("CARGO_BIN_EXE_foo-rig"))
        .args(["--without-capi", "--folder"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(rig.stdout.take().expect("piped")).read_line(&mut line)?;
    ensure!(line.starts_with("export KUBECONFIG="), "{line}");
    let running = processes_of(folder.path())?;
    for program in ["etcd", "kube-apiserver", "kube-controller-manager"] {
        // Each twice: the program, and the supervisor that has its path as an argument.
        ensure!(
            running.iter().filter(|it| it.contains(&format!("/{program} --"))).count() >= 2,
            "{running:?}"
        );
    }

    // Child::kill is SIGKILL: no destructor runs.
    rig.kill()?;
    rig.wait()?;

    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let left = processes_of(folder.path())?;
        if left.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "left behind: {left:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
