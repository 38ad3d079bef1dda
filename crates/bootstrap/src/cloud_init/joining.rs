//! The unit with which a Node joins once its instance is in service.

use crate::input::{FileInput, NodeInput};
use crate::shell;
use crate::syntax;
use crate::waiting;
use serde_json::Value;

/// The unit. cloud-init's last stage comes after `multi-user.target` on Ubuntu, so the unit cannot be part of that one
/// (cloud-init, `cloud-final.service`).
const UNIT: &str = "/etc/systemd/system/foo-node-join.service";
/// What it runs.
const SCRIPT: &str = "/etc/foo-node/join.sh";

/// The last entries of `runcmd` instead of the command that joins.
pub(super) fn commands() -> impl Iterator<Item = Value> {
    waiting::end(UNIT.rsplit('/').next().unwrap_or(UNIT)).into_iter()
}

/// The provider's files: the command that joins is these words.
pub(super) fn files(join: &[String], node: &NodeInput) -> [FileInput; 3] {
    let words: Vec<String> = join.iter().map(|word| syntax::shell_word(word)).collect();
    let script = format!("#!/bin/sh\n{}\n{}", words.join(" "), shell::post_commands(node));
    [waiting::script(), shell::fixed(SCRIPT, "0755", script), unit()]
}

/// Its errors, and what it waits for, are on the console, as those of cloud-init are.
fn unit() -> FileInput {
    let text = format!(
        "[Unit]\nDescription=Joins the cluster once the instance is in service\nAfter=cloud-final.service\n{}\
         [Service]\nType=oneshot\n{}ExecStart=/bin/sh {SCRIPT}\nStandardError=journal+console\n\
         [Install]\nWantedBy=cloud-init.target\n",
        waiting::unless_joined(),
        waiting::exec_start_pre()
    );
    shell::fixed(UNIT, "0644", text)
}

/// The words of the command that joins, if such files are among those that were read.
pub(super) fn read(files: &[FileInput]) -> Option<Vec<String>> {
    let script = files.iter().find(|file| file.path == SCRIPT)?;
    let waits = [waiting::script(), unit()].iter().all(|file| shell::has(files, file));
    let text = std::str::from_utf8(&script.content).ok().filter(|_| waits)?;
    text.lines().nth(1).map(syntax::words)
}
