//! Scenarios as text: `tests/scenarios/*.txt`. A line is a command; after `plan` and `report` stand the lines they
//! print, each behind a `|`. `UPDATE_GOLDEN=1 cargo test -p foo-planner scenarios` writes them anew.
//!
//! | command | what happens |
//! |---|---|
//! | `pool replicas=3 ceiling=5 drains=2 surge=1 stabilization=60 rebalance=replace policy=newest external=1..5` | the pool; all optional |
//! | `new` / `running` | the world begins empty, or at rest |
//! | `wait 10` | seconds go by |
//! | `aws` / `core` | AWS, or Cluster API and kubelets, do one step of all their work |
//! | `round 5` | that many rounds of five seconds in which everybody works |
//! | `rest` | rounds until nothing moves |
//! | `look` / `look lag=7` | the observer looks; the answer may be old |
//! | `plan` / `plan fault=AnswerLost` | a second, a look, a pass; printed |
//! | `pass` | a pass without a look; printed |
//! | `report` | all conditions, counts and ids of a plan that is not carried out |
//! | `scale 2`, `mark 1`, `unmark 1`, `delete-machine 1`, `delete-foo-machine 1`, `hold-drain 1`, `release-drains` | people; Machines by number, by name |
//! | `kill 1`, `unprotect 1`, `unhealthy 1`, `detach 1`, `leaving 1`, `take 1`, `strike 1` | instances by number, by id |
//! | `interrupt 1`, `retire 1`, `advise 1` | what AWS announces about them |
//! | `desired 9`, `min 3`, `delete-group`, `untag-group`, `installation elsewhere`, `deny`, `capacity fails`, `capacity works` | AWS and people at the group |
//! | `content v2 d1`, `block AmiNotFound …`, `missing BootstrapDataMissing …`, `present`, `pause`, `unpause` | the wish |
//! | `managed 1 5`, `unmanaged`, `delete-pool`, `move-away`, `adopt-from elsewhere` | the pool |
//! | `restart`, `somebody-elses-group` | |

mod run;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[test]
fn scenarios_print_what_they_printed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "scenarios are missing");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut differing = Vec::new();
    for file in files {
        let before = std::fs::read_to_string(&file).unwrap();
        let after = play(&before);
        if before != after {
            if update {
                std::fs::write(&file, &after).unwrap();
            } else {
                differing.push(format!("{}:\n{after}", file.display()));
            }
        }
    }
    assert!(differing.is_empty(), "UPDATE_GOLDEN=1 accepts these:\n{}", differing.join("\n"));
}

/// The script with what its commands print now.
fn play(script: &str) -> String {
    let mut stage = run::Stage::new();
    let mut output = String::new();
    for line in script.lines().filter(|line| !line.starts_with('|')) {
        writeln!(output, "{line}").unwrap();
        let command = line.split('#').next().unwrap_or_default().trim();
        if !command.is_empty() {
            for printed in stage.run(command) {
                writeln!(output, "| {printed}").unwrap();
            }
        }
    }
    output
}
