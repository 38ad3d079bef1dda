//! Nodes that join once their instance enters service of its Auto Scaling group: what families with a shell write for
//! them. Bottlerocket has a setting instead.
//!
//! An instance that waits stopped in a warm pool boots twice. Its first boot prepares: files and commands. cloud-init does
//! not run them again at the second boot, at which the Node joins. So a unit of systemd joins: it runs at each boot, and
//! begins with [`SCRIPT`]. An instance that waits running or hibernated stays in that script.
//!
//! Without a lifecycle hook AWS stops an instance before its first boot is complete (Auto Scaling User Guide, "Use
//! lifecycle hooks with a warm pool"), and cloud-init does not run a module again that has begun: [`begin`] has it do so.
//!
//! Marks are in cloud-init's folder of the instance (cloud-init, "Directory layout"), so that an image of a Node has none
//! for the instances that are launched from it.

use crate::input::FileInput;
use crate::shell;
use serde_json::{Value, json};

/// Ends once the instance is in no warm pool: at once if it is in service, so that it can run at each boot. It continues
/// as long as instance metadata cannot be read, or has a state that is not known. The status 404 means that the instance
/// is in no group, or that Auto Scaling has not written the item yet: only after two minutes of it the script ends.
pub(crate) const SCRIPT: &str = "/etc/foo-node/wait.sh";

/// Exists once the Node has joined.
pub(crate) const JOINED: &str = "/var/lib/cloud/instance/foo-node-joined";
/// Exists once all commands of the first boot have run.
const PREPARED: &str = "/var/lib/cloud/instance/foo-node-prepared";

/// Modules of cloud-init that run once for each instance.
#[derive(Clone, Copy)]
pub(crate) enum Modules {
    /// Those that write files and run commands.
    FilesAndCommands,
    /// All of them.
    All,
}

impl Modules {
    /// Their semaphores in cloud-init's folder of the instance, as a shell expands them.
    const fn semaphores(self) -> &'static str {
        match self {
            Self::FilesAndCommands => "sem/config_write_files sem/config_runcmd sem/config_scripts_user",
            Self::All => "sem/config_*",
        }
    }
}

/// The file that waits.
pub(crate) fn script() -> FileInput {
    shell::fixed(SCRIPT, "0755", include_str!("wait.sh").to_owned())
}

/// The line of a unit that has nothing more to do once the Node has joined.
pub(crate) fn unless_joined() -> String {
    format!("ConditionPathExists=!{JOINED}\n")
}

/// The line of a unit that waits. A unit of the type `oneshot` has no time limit for its start (systemd, systemd.service,
/// "TimeoutStartSec"). By way of the shell, since SELinux may deny systemd to execute a file in `/etc`.
pub(crate) fn exec_start_pre() -> String {
    format!("ExecStartPre=/bin/sh {SCRIPT}\n")
}

/// An entry of `bootcmd`, which cloud-init runs at every boot and before it writes files (cloud-init, "Bootcmd").
pub(crate) fn begin(repeated: Modules) -> Value {
    shell::command(&repeat(repeated))
}

/// Has cloud-init repeat a first boot that was not complete: it runs a module again if its semaphore is missing
/// (cloud-init, "How to re-run cloud-init"). Only once, since a command of the user may reboot the instance, and never on an
/// instance whose Node has joined.
fn repeat(modules: Modules) -> String {
    let semaphores = modules.semaphores();
    format!(
        "cd /var/lib/cloud/instance || exit 0\n\
         for mark in prepared repeated joined; do [ ! -e foo-node-$mark ] || exit 0; done\n\
         if [ -e foo-node-begun ]; then touch foo-node-repeated && rm -f {semaphores}; else touch foo-node-begun; fi"
    )
}

/// The last entries of `runcmd`: the instance is prepared. `unit` starts after cloud-init, at this boot and at later ones.
pub(crate) fn end(unit: &str) -> [Value; 4] {
    [
        shell::reload(),
        json!(["systemctl", "enable", unit]),
        shell::command(&complete()),
        // It waits for cloud-init, and cloud-init must not wait for it.
        json!(["systemctl", "start", "--no-block", unit]),
    ]
}

/// Marks the first boot as complete, unless the instance is being stopped: systemd ends the services that commands need, and
/// leaves the commands themselves running, which then fail one after the other (cloud-init, `cloud-final.service`:
/// `KillMode=process`). A shutdown has a job for `shutdown.target` until it has ended all services. `is-system-running` would
/// not show it: before a boot is complete that is `starting`, also during a shutdown (systemd, `manager_state`). The mark
/// comes after everything else is on the disk, because EC2 may cut the power of an instance that does not end in time.
fn complete() -> String {
    format!(
        "case $(systemctl show -p ActiveState -p Job shutdown.target) in\n*Job=[1-9]*) ;;\n\
         *=inactive*) sync && touch {PREPARED} ;;\nesac"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// cloud-init's folder of an instance, for one test.
    fn folder(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("foo-bootstrap-{test}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(folder.join("sem")).unwrap();
        folder
    }

    /// The text for this folder.
    fn within(folder: &Path, text: &str) -> String {
        text.replace("/var/lib/cloud/instance", folder.to_str().unwrap())
    }

    /// A boot, up to the point where cloud-init writes files; which modules it runs then.
    fn boot(folder: &Path, modules: Modules) -> Vec<&'static str> {
        let status = Command::new("sh").args(["-c", &within(folder, &repeat(modules))]).status().unwrap();
        assert!(status.success());
        let all = ["config_write_files", "config_runcmd", "config_scripts_user", "config_ssh"];
        let runs = all.into_iter().filter(|name| !folder.join("sem").join(name).exists()).collect();
        for name in all {
            std::fs::write(folder.join("sem").join(name), "").unwrap();
        }
        runs
    }

    #[test]
    fn a_first_boot_that_was_not_complete_is_repeated_once() {
        for (modules, repeated) in [(Modules::FilesAndCommands, 3), (Modules::All, 4)] {
            let folder = folder(&format!("repeated-{repeated}"));
            let ran = [(); 3].map(|()| boot(&folder, modules).len());
            assert_eq!(ran, [4, repeated, 0]);
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn a_complete_first_boot_is_not_repeated() {
        let folder = folder("complete");
        boot(&folder, Modules::All);
        assert!(is_marked(&folder, "Job=\nActiveState=inactive\n"));
        assert_eq!([(); 2].map(|()| boot(&folder, Modules::All).len()), [0, 0]);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn nothing_is_repeated_on_an_instance_whose_node_has_joined() {
        let folder = folder("joined");
        boot(&folder, Modules::All);
        std::fs::write(within(&folder, JOINED), "").unwrap();
        assert_eq!(boot(&folder, Modules::All).len(), 0);
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Whether the first boot is complete if systemd reports this of `shutdown.target` after the commands of the user.
    fn is_marked(folder: &Path, report: &str) -> bool {
        let stubs = "systemctl() { printf %s \"$REPORT\"; }\nsync() { :; }\n";
        let text = format!("{stubs}{}", within(folder, &complete()));
        let status = Command::new("sh").args(["-c", &text]).env("REPORT", report).status().unwrap();
        assert!(status.success());
        Path::new(&within(folder, PREPARED)).exists()
    }

    /// A command that failed because AWS stopped the instance has prepared nothing.
    #[test]
    fn a_first_boot_during_which_the_instance_is_stopped_is_not_complete() {
        let folder = folder("stopped");
        // Queued, reached, and no response of systemd.
        for report in
            ["Job=812\nActiveState=inactive\n", "ActiveState=active\n", "Job=\nActiveState=active\n", ""]
        {
            assert!(!is_marked(&folder, report), "{report}");
        }
        assert!(is_marked(&folder, "ActiveState=inactive\n"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_mark_of_a_unit_is_that_of_the_scripts() {
        assert_eq!(unless_joined(), "ConditionPathExists=!/var/lib/cloud/instance/foo-node-joined\n");
        assert!(PREPARED.starts_with("/var/lib/cloud/instance/"));
    }
}
