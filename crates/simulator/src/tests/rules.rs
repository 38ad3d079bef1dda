//! The documents of the simulator say what is so: rules have the tests they name, settings and actions are all listed.

use crate::core::Settings;
use crate::wire::all_actions;
use std::path::{Path, PathBuf};

/// Where a rule's tests can be.
const PLACES: [&str; 4] = [
    "crates/simulator-core/src/tests",
    "crates/simulator-core/src",
    "crates/simulator/src/tests",
    "crates/simulator/src",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names in backquotes of a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_rule_has_the_tests_it_names() {
    let rules = read("docs/simulator-rules.md");
    let scenarios = read("tests/conformance/python/scenarios.py");
    let round_trip = read("tests/conformance/python/round_trip.py");
    let (mut rows, mut missing) = (0, Vec::new());
    for row in rules.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Rule")) {
        rows += 1;
        let tests: Vec<&str> = row.rsplit('|').nth(1).map(quoted).into_iter().flatten().collect();
        assert!(!tests.is_empty(), "nothing checks: {row}");
        for test in tests {
            let (place, name) = test.split_once("::").unwrap_or_else(|| panic!("{test} names no place"));
            let there = match place {
                "judge" => scenarios.contains(&format!("def {name}(account):")),
                "boto3" => round_trip.contains(&format!("def {name}():")),
                file => {
                    let files = PLACES.map(|folder| root().join(format!("{folder}/{file}.rs")));
                    let texts = files.iter().filter_map(|path| std::fs::read_to_string(path).ok());
                    texts.into_iter().any(|text| text.contains(&format!("fn {name}(")))
                }
            };
            if !there {
                missing.push(test.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "there are no tests {missing:?}");
    assert!(rows >= 60, "{rows} rules only");
}

#[test]
fn every_setting_and_every_action_is_documented() {
    let document = read("docs/simulator.md");
    let settings = serde_json::to_value(Settings::default()).expect("JSON");
    for name in settings.as_object().expect("a structure").keys() {
        assert!(document.contains(&format!("`{name}`")), "setting {name}");
    }
    for (service, action) in all_actions() {
        let listed = |line: &str| line.starts_with("| ") && line.contains(&format!(" {action}"));
        assert!(document.lines().any(listed), "{} {action}", service.name());
    }
}
