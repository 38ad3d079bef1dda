//! Every kind of mistake in a script is found, and says where.

use super::stage::play;

/// What is wrong with the script.
#[track_caller]
fn wrong(script: &str) -> String {
    match play("scenario.txt", script) {
        Ok(output) => panic!("played without complaint:\n{output}"),
        Err(mistakes) => mistakes,
    }
}

/// What is wrong with one command in a running pool of two.
#[track_caller]
fn wrong_command(command: &str) -> String {
    wrong(&format!("# A pool.\npool replicas=2\nrunning\n{command}\n"))
}

/// What is wrong with the options of a pool.
#[track_caller]
fn wrong_pool(options: &str) -> String {
    wrong(&format!("# A pool.\npool {options}\nrunning\n"))
}

#[test]
fn an_option_takes_only_its_own_values() {
    assert_eq!(
        wrong_pool("rebalance=ignor"),
        "scenario.txt:2: pool: rebalance: expected replace|cordon|ignore, found \"ignor\""
    );
    assert_eq!(
        wrong_pool("on-failure=Rollback"),
        "scenario.txt:2: pool: on-failure: expected halt|rollback, found \"Rollback\""
    );
    assert_eq!(
        wrong_pool("strategy=never"),
        "scenario.txt:2: pool: strategy: expected rolling-update|on-delete, found \"never\""
    );
    assert_eq!(
        wrong_pool("policy=any"),
        "scenario.txt:2: pool: policy: expected oldest|newest, found \"any\""
    );
    assert_eq!(
        wrong_pool("stabilization=soon"),
        "scenario.txt:2: pool: stabilization: expected the value as a number, found \"soon\""
    );
    for range in ["3", "a..b", "5..1", "1..", "-1..2"] {
        assert_eq!(
            wrong_pool(&format!("external={range}")),
            format!("scenario.txt:2: pool: external: expected MIN..MAX, found {range:?}")
        );
    }
}

#[test]
fn an_option_that_does_not_exist_is_not_passed_over() {
    assert_eq!(
        wrong_pool("replicas=2 celing=3"),
        "scenario.txt:2: pool: there is no option \"celing\"; README.md lists them"
    );
    assert_eq!(wrong_pool("replicas"), "scenario.txt:2: pool: expected OPTION=VALUE, found \"replicas\"");
    assert_eq!(wrong_pool("replicas=2 replicas=3"), "scenario.txt:2: pool: replicas stands there twice");
}

#[test]
fn a_command_that_does_not_exist_is_an_error() {
    assert_eq!(
        wrong_command("strike 1"),
        "scenario.txt:4: strike: there is no such command; README.md lists them"
    );
}

#[test]
fn an_argument_that_is_missing_is_named() {
    for (command, missing) in [
        ("wait", "SECONDS"),
        ("scale", "REPLICAS"),
        ("mark", "MACHINE"),
        ("kill", "INSTANCE"),
        ("ec2-not-found 1", "SECONDS"),
        ("request-remediation 1", "REASON"),
        ("template v2", "DATA_HASH"),
        ("block-template ImageNotFound", "MESSAGE"),
        ("adopt-from", "INSTALLATION"),
        ("capacity", "available|unavailable"),
    ] {
        let name = command.split(' ').next().unwrap();
        assert_eq!(wrong_command(command), format!("scenario.txt:4: {name}: {missing} is missing"));
    }
}

#[test]
fn an_argument_of_another_kind_is_an_error() {
    assert_eq!(
        wrong_command("input-missing Nothing at all"),
        "scenario.txt:4: input-missing: expected a reason of a condition, found \"Nothing\""
    );
    assert_eq!(
        wrong_command("wait long"),
        "scenario.txt:4: wait: expected SECONDS as a number, found \"long\""
    );
    assert_eq!(
        wrong_command("scale -1"),
        "scenario.txt:4: scale: expected REPLICAS as a number, found \"-1\""
    );
    assert_eq!(
        wrong_command("kill i-00000001"),
        "scenario.txt:4: kill: expected INSTANCE as a number, found \"i-00000001\""
    );
    assert_eq!(
        wrong_command("capacity fails"),
        "scenario.txt:4: capacity: expected available|unavailable, found \"fails\""
    );
    assert_eq!(
        wrong_command("plan fault=Refused"),
        "scenario.txt:4: plan: expected response-lost|request-lost|refused, found \"Refused\""
    );
    assert_eq!(wrong_command("plan refused"), "scenario.txt:4: plan: expected fault=…, found \"refused\"");
    assert_eq!(wrong_command("observe late=7"), "scenario.txt:4: observe: expected lag=…, found \"late=7\"");
    assert_eq!(
        wrong_command("observe lag=x"),
        "scenario.txt:4: observe: expected lag as a number, found \"x\""
    );
}

#[test]
fn an_argument_too_many_is_an_error() {
    assert_eq!(
        wrong_command("delete-group now"),
        "scenario.txt:4: delete-group: \"now\" is one argument too many"
    );
    assert_eq!(wrong_command("scale 2 3"), "scenario.txt:4: scale: \"3\" is one argument too many");
    assert_eq!(
        wrong_command("plan # and look"),
        "scenario.txt:4: plan: expected fault=…, found \"#\"",
        "a comment has its own line"
    );
    assert_eq!(
        wrong("# A pool.\npool\nrunning again\n"),
        "scenario.txt:3: running: \"again\" is one argument too many"
    );
}

#[test]
fn what_is_not_in_the_world_cannot_be_named() {
    assert_eq!(wrong_command("mark 3"), "scenario.txt:4: mark: there is no Machine 3, they are 1 to 2");
    assert_eq!(wrong_command("kill 0"), "scenario.txt:4: kill: there is no instance 0, they are 1 to 2");
}

#[test]
fn commands_come_in_their_order() {
    assert_eq!(wrong("# A.\nnew\n"), "scenario.txt:2: new: `pool` comes first");
    assert_eq!(wrong("# A.\npool\nscale 2\n"), "scenario.txt:3: scale: `new` or `running` comes first");
    assert_eq!(wrong("# A.\npool\nnew\nrunning\n"), "scenario.txt:4: running: the world has begun already");
    assert_eq!(
        wrong("# A.\npool\npool\n"),
        "scenario.txt:3: pool: the pool is described once, before everything else"
    );
}

#[test]
fn a_step_without_a_comment_is_an_error() {
    let silent = "a comment before it has to say what this step proves";
    assert_eq!(wrong("pool\n"), format!("scenario.txt:1: pool: {silent}"));
    assert_eq!(wrong_command("plan\nreport\nplan"), format!("scenario.txt:6: plan: {silent}"));
    assert_eq!(wrong_command("\nscale 3"), format!("scenario.txt:5: scale: {silent}"));
    assert_eq!(wrong_command("plan\nscale 3"), format!("scenario.txt:5: scale: {silent}"));
}

#[test]
fn a_printed_line_behind_a_command_that_prints_nothing_is_an_error() {
    assert_eq!(
        wrong_command("scale 3\n| nothing to do"),
        "scenario.txt:5: a printed line must follow a command that prints"
    );
}

#[test]
fn all_mistakes_are_reported_at_once() {
    assert_eq!(
        wrong("# A.\npool replica=2\nrunning\nscale\nplan now\n"),
        "scenario.txt:2: pool: there is no option \"replica\"; README.md lists them\n\
         scenario.txt:4: scale: REPLICAS is missing\n\
         scenario.txt:5: plan: expected fault=…, found \"now\""
    );
}
