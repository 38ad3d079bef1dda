//! Files and commands of families that have a shell, as a cloud-config.

use crate::input::{FileInput, NodeInput};
use crate::refusal::Refusals;
use crate::syntax;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Where Cluster API finds the end of bootstrapping (its contract for bootstrap providers, "Sentinel File").
pub(crate) const SENTINEL: &str = "/run/cluster-api/bootstrap-success.complete";

/// Reports mistakes in files and commands. `own` are the paths that the provider writes itself.
pub(crate) fn check(node: &NodeInput, own: &[String], refusals: &mut Refusals) {
    let mut seen = BTreeSet::new();
    for (index, file) in node.files.iter().enumerate() {
        let field = format!("files[{index}]");
        if !syntax::is_file_path(&file.path) {
            refusals.invalid(format!("{field}.path"), "must be an absolute path, without . and ..");
        }
        if !seen.insert(&file.path) {
            refusals.set_twice(format!("{field}.path"), "another entry writes this file");
        }
        if own.contains(&file.path) {
            refusals.set_twice(format!("{field}.path"), "the provider writes this file");
        }
        if file.owner.as_deref().is_some_and(|owner| !syntax::is_owner(owner)) {
            refusals.invalid(format!("{field}.owner"), "must be a user and a group, for example root:root");
        }
        if file.permissions.as_deref().is_some_and(|it| !syntax::is_permissions(it)) {
            refusals.invalid(format!("{field}.permissions"), "must be octal digits, for example 0644");
        }
    }
    commands("preCommands", &node.pre_commands, refusals);
    commands("postCommands", &node.post_commands, refusals);
}

fn commands(field: &str, commands: &[String], refusals: &mut Refusals) {
    for (index, command) in commands.iter().enumerate() {
        if command.trim().is_empty() || command.contains('\0') {
            refusals
                .invalid(format!("{field}[{index}]"), "must be a command, without the character of code 0");
        }
    }
}

/// An entry of `write_files` (cloud-init, "Write Files").
pub(crate) fn file(file: &FileInput) -> Value {
    let owner = file.owner.as_deref().unwrap_or("root:root");
    let permissions = file.permissions.as_deref().unwrap_or("0644");
    if let Ok(text) = std::str::from_utf8(&file.content) {
        json!({"path": file.path, "owner": owner, "permissions": permissions, "content": text})
    } else {
        let content = BASE64.encode(&file.content);
        json!({"path": file.path, "owner": owner, "permissions": permissions, "encoding": "b64", "content": content})
    }
}

/// An entry of `runcmd` (cloud-init, "Runcmd") for a command of the user. It is a list, whose items cloud-init quotes:
/// a command that is a text would become lines of one script, in which an `exit` or a quote without its pair takes the
/// rest along.
pub(crate) fn command(command: &str) -> Value {
    json!(["/bin/sh", "-c", command])
}

/// An entry of `runcmd`: systemd reads units and drop-ins that cloud-init has written.
pub(crate) fn reload() -> Value {
    json!(["systemctl", "daemon-reload"])
}

/// The commands that run after the kubelet started, as lines of a script; each is a shell of its own.
pub(crate) fn post_commands(node: &NodeInput) -> String {
    let line = |command: &String| format!("/bin/sh -c {}\n", syntax::shell_word(command));
    node.post_commands.iter().map(line).collect()
}

/// A file of the provider.
pub(crate) fn fixed(path: &str, permissions: &str, text: String) -> FileInput {
    FileInput {
        path: path.into(),
        owner: None,
        permissions: Some(permissions.into()),
        content: text.into_bytes(),
    }
}

/// Whether a file of the provider is among those that were read.
pub(crate) fn has(files: &[FileInput], fixed: &FileInput) -> bool {
    files.iter().any(|file| file.path == fixed.path && file.content == fixed.content)
}
