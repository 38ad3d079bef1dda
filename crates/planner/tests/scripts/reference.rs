//! `tests/scenarios/README.md`: the commands, written from the table that reads them.

use super::commands::{GROUPS, POOL_OPTIONS};
use std::fmt::Write as _;

const OPENING: &str = "\
<!-- Written by `UPDATE_GOLDEN=1 cargo test -p foo-planner scenarios` from crates/planner/tests/scripts/commands.rs. -->

# Scenarios

A scenario is a text file in this folder and a test of its name: `cargo test -p foo-planner scenarios::rollout_fails`.
`UPDATE_GOLDEN=1 cargo test -p foo-planner scenarios` writes what the commands print (the lines that begin with a bar);
read the diff. A new file is added to the list in `../scripts/scenarios.rs`.

Each line is a command. Before each step stands a comment that says what the step proves; a step ends with what is
printed. Machines are counted from 1 in the order of their names, instances in the order of their ids.
";

/// The whole file.
pub(super) fn written() -> String {
    let mut text = OPENING.to_owned();
    for (title, commands) in GROUPS {
        write!(text, "\n## {title}\n\n| command | what happens |\n|---|---|\n").unwrap();
        for command in *commands {
            let usage = format!("{} {}", command.name, command.form.arguments());
            row(&mut text, usage.trim_end(), command.does);
        }
    }
    write!(text, "\n## Options of `pool`\n\n| option | what it means |\n|---|---|\n").unwrap();
    for option in POOL_OPTIONS {
        row(&mut text, &format!("{}={}", option.name, option.value.written()), option.means);
    }
    text
}

fn row(text: &mut String, code: &str, meaning: &str) {
    writeln!(text, "| `{}` | {meaning} |", code.replace('|', "\\|")).unwrap();
}
