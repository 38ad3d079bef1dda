//! The script with which Nodes wait until their instance is in service, run by a shell before scripted instance metadata.

use crate::sample::{cluster, waiting};
use foo_bootstrap::{Family, read, render};
use std::process::Command;

/// In place of the programs: curl takes its exit status and its output from the first line of a file; the time passes at
/// once, and ends with the last line.
const STUBS: &str = r#"
curl() {
  line=$(head -n 1 "$PLAN")
  tail -n +2 "$PLAN" > "$PLAN.rest" && mv "$PLAN.rest" "$PLAN"
  printf %s "${line#* }"
  return "${line%% *}"
}
sleep() { [ -s "$PLAN" ] || exit 9; }
"#;

/// The exit status if the Node joins.
const JOINS: Option<i32> = Some(0);
/// The exit status if it still waits after the last response.
const WAITS: Option<i32> = Some(9);

/// The script's exit status with these responses, each the exit status of curl and its output. All of them are used.
fn outcome(name: &str, responses: &[String]) -> Option<i32> {
    let seen = read(Family::AL2023, &render(&cluster(), &waiting(Family::AL2023)).unwrap()).unwrap();
    let script = seen.files.iter().find(|file| file.path.ends_with("wait.sh")).unwrap();
    let script = format!("{STUBS}{}", String::from_utf8(script.content.clone()).unwrap());
    let plan = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&plan, format!("{}\n", responses.join("\n"))).unwrap();
    let output = Command::new("sh").args(["-c", &script]).env("PLAN", &plan).output().unwrap();
    assert_eq!(std::fs::read_to_string(&plan).unwrap(), "", "not used: {output:?}");
    output.status.code()
}

/// A token, and what the script takes for the state: its text, a slash and the HTTP status.
fn polled(state: &str) -> [String; 2] {
    ["0 token".to_owned(), format!("0 {state}")]
}

fn check(name: &str, states: &[&str], expected: Option<i32>) {
    let responses: Vec<String> = states.iter().flat_map(|state| polled(state)).collect();
    assert_eq!(outcome(name, &responses), expected, "{states:?}");
}

#[test]
fn an_instance_in_service_joins_at_once() {
    check("in-service", &["InService/200"], JOINS);
}

#[test]
fn an_instance_waits_as_long_as_its_target_is_the_warm_pool() {
    for state in ["Warmed:Stopped", "Warmed:Running", "Warmed:Hibernated", "Warmed:Terminated"] {
        let warmed = format!("{state}/200");
        check("warmed", &[&warmed, &warmed, &warmed], WAITS);
        check("entering", &[&warmed, &warmed, "InService/200"], JOINS);
    }
}

/// A Node that reboots while it is drained, or in standby, has Pods.
#[test]
fn a_node_that_reboots_outside_of_the_warm_pool_joins() {
    for state in ["Terminated", "Standby", "Detached"] {
        check("rebooted", &[&format!("{state}/200")], JOINS);
    }
}

#[test]
fn an_instance_waits_while_instance_metadata_cannot_be_read() {
    for broken in ["/200", "Too many requests/429", "unavailable/503", "no/401", "Unknown/200"] {
        check("broken", &[broken, broken, "Warmed:Stopped/200"], WAITS);
        check("repaired", &[broken, "InService/200"], JOINS);
    }
    // No token over IPv4, nor over IPv6; then a token, and no state within the time.
    let refused = ["7 ", "7 ", "0 token", "28 /000", "22 "].map(str::to_owned);
    assert_eq!(outcome("refused", &refused), WAITS);
}

/// curl prints the status also if it then fails: what a failed read printed is no state, and no part of one.
#[test]
fn a_read_that_fails_half_way_is_no_state() {
    let check = |name: &str, responses: &[&str], expected: Option<i32>| {
        let responses: Vec<String> = responses.iter().map(|response| (*response).to_owned()).collect();
        assert_eq!(outcome(name, &responses), expected, "{responses:?}");
    };
    check("other-waits", &["0 token", "28 /000", "0 token", "0 Warmed:Stopped/200"], WAITS);
    check("other-joins", &["0 token", "28 /000", "0 token", "0 InService/200"], JOINS);
    check("short", &["0 token", "18 Warm/200", "7 "], WAITS);
    check("short-joins", &["0 token", "18 InService/200", "7 "], WAITS);
    check("both", &["0 token", "28 InService/000", "0 token", "28 /200"], WAITS);
}

#[test]
fn instance_metadata_is_read_over_ipv6_where_there_is_no_ipv4() {
    let responses = ["7 ", "0 token", "0 InService/200"].map(str::to_owned);
    assert_eq!(outcome("ipv6", &responses), JOINS);
}

#[test]
fn an_instance_in_no_group_joins_when_that_was_so_for_two_minutes() {
    let missing = "<title>404 - Not Found</title>/404";
    check("missing", &[missing; 59], WAITS);
    check("absent", &[missing; 60], JOINS);
    let mut late = vec![missing; 59];
    late.extend(["Warmed:Stopped/200", missing]);
    check("late", &late, WAITS);
    late.extend([missing; 59]);
    check("left", &late, JOINS);
}
