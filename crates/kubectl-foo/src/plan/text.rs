//! Prints plans.

use super::{Plan, Plans};
use crate::text::{line, one_line, section, span, table};
use foo_api::plan::{
    CallsPlan, Outcome, PlannedCall, PlannedChange, PlannedDeletion, PoolPlan, RemainingCondition,
    SettingInAws,
};

/// Values longer than this many characters are shortened; `-o json` has all of them.
const LONGEST: usize = 60;
const NOTHING: &str = "The manager has nothing to do";

/// The plans as text. Ends with a new line.
pub fn text(all: &Plans) -> String {
    let calls = all.calls().map(|(kind, it)| of_calls(kind, it));
    let texts: Vec<String> = calls.chain(all.plans.iter().map(of_pool)).collect();
    if texts.is_empty() && all.failures.is_empty() {
        return "there is nothing to plan\n".to_owned();
    }
    texts.join("\n")
}

fn of_pool(Plan { namespace, plan }: &Plan<PoolPlan>) -> String {
    let mut text = String::new();
    line(&mut text, &format!("FooMachinePool {namespace}/{}", plan.name));
    section(&mut text, "Changes", &changes(&plan.changes, "PLANNED"));
    section(&mut text, "Different in AWS", &settings(&plan.settings));
    if plan.actions.is_empty() {
        line(&mut text, NOTHING);
    } else {
        section(&mut text, "What follows", &consequences(plan));
        section(&mut text, "Machines that are deleted, in order", &deletions(plan));
    }
    end(&mut text, plan.outcome, &plan.remaining, &plan.notes);
    text
}

fn of_calls(kind: &str, Plan { namespace, plan }: &Plan<CallsPlan>) -> String {
    let mut text = String::new();
    line(&mut text, &format!("{kind} {namespace}/{}", plan.name));
    section(&mut text, "Changes", &changes(&plan.changes, "PLANNED"));
    section(&mut text, "Different in AWS", &settings(&plan.settings));
    if plan.calls.is_empty() {
        let is_changing = !plan.settings.is_empty();
        line(
            &mut text,
            if is_changing { "The manager sends nothing: AWS carries out a change" } else { NOTHING },
        );
    } else {
        let calls = counted(plan.aws_calls, "call", "calls");
        let follows = [format!("{calls} of AWS that change something, {}", about(plan.seconds))];
        section(&mut text, "What follows", &follows);
        section(&mut text, "Calls, in order", &calls_in_order(plan));
    }
    end(&mut text, plan.outcome, &plan.remaining, &plan.notes);
    text
}

fn end(text: &mut String, outcome: Outcome, remaining: &[RemainingCondition], notes: &[String]) {
    section(text, remaining_title(outcome), &conditions(remaining));
    section(text, "Notes", &notes.iter().map(|note| one_line(note)).collect::<Vec<_>>());
}

fn calls_in_order(plan: &CallsPlan) -> Vec<String> {
    let row = |call: &PlannedCall| {
        [format!("+{}", span(call.after_seconds)), call.operation.clone(), one_line(&call.why)]
    };
    let lines = table(["AFTER", "CALL", "WHY"], plan.calls.iter().map(row).collect());
    with_rest(lines, plan.calls.len(), plan.aws_calls)
}

/// Adds how many more there are than are named.
pub(crate) fn with_rest(mut lines: Vec<String>, named: usize, count: i64) -> Vec<String> {
    let more = count.saturating_sub(i64::try_from(named).unwrap_or(i64::MAX));
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// The fields that differ. `planned` is the header of the values that are to be.
pub(crate) fn changes(changes: &[PlannedChange], planned: &str) -> Vec<String> {
    let row = |change: &PlannedChange| {
        [
            change.field.clone(),
            value(change.from.as_deref()),
            value(change.to.as_deref()),
            if change.replaces { "replaces instances".to_owned() } else { String::new() },
        ]
    };
    table(["FIELD", "NOW", planned, ""], changes.iter().map(row).collect())
}

/// The settings with another value in AWS.
pub(crate) fn settings(settings: &[SettingInAws]) -> Vec<String> {
    let row = |it: &SettingInAws| {
        [it.resource.clone(), it.setting.clone(), value(it.desired.as_deref()), value(it.in_aws.as_deref())]
    };
    table(["RESOURCE", "SETTING", "DESIRED", "IN AWS"], settings.iter().map(row).collect())
}

/// JSON's texts without their quotes.
fn value(value: Option<&str>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    let bare: String = serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
    if bare.chars().count() <= LONGEST {
        return bare;
    }
    format!("{}...", bare.chars().take(LONGEST).collect::<String>())
}

fn consequences(plan: &PoolPlan) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.deletion_count > 0 || plan.launches > 0 {
        lines.push(format!(
            "{} deleted after their drain, {} launched",
            counted(plan.deletion_count, "Machine is", "Machines are"),
            counted(plan.launches, "instance is", "instances are"),
        ));
    }
    lines.push(format!("ready instances: {} now, never fewer than {}", plan.ready.now, plan.ready.extreme));
    lines.push(format!(
        "instances that launch or run: {} now, never more than {}",
        plan.instances.now, plan.instances.extreme
    ));
    lines.push(format!("{}, if {}", about(plan.seconds), assumed(plan)));
    let actions = plan.actions.iter().map(|action| format!("{} {}", action.times, action.name));
    lines.push(format!(
        "at most {} of AWS that change something; actions: {}",
        counted(plan.aws_calls, "call", "calls"),
        actions.collect::<Vec<_>>().join(", ")
    ));
    lines
}

fn about(seconds: i64) -> String {
    if seconds == 0 { "at once".to_owned() } else { format!("done after about {}", span(seconds)) }
}

fn assumed(plan: &PoolPlan) -> String {
    let durations = plan.durations;
    let source = match durations.measured_launches {
        0 => String::new(),
        1 => " (as of 1 Machine)".to_owned(),
        count => format!(" (median of {count} Machines)"),
    };
    format!(
        "a launch takes {}{source} and a drain {}, and all of them succeed",
        span(durations.launch_seconds),
        span(durations.drain_seconds)
    )
}

fn deletions(plan: &PoolPlan) -> Vec<String> {
    let row = |deletion: &PlannedDeletion| {
        [
            format!("+{}", span(deletion.after_seconds)),
            deletion.machine.clone(),
            deletion.instance_id.clone().unwrap_or_default(),
            one_line(&deletion.why),
        ]
    };
    let lines = table(["AFTER", "NAME", "INSTANCE", "WHY"], plan.deletions.iter().map(row).collect());
    with_rest(lines, plan.deletions.len(), plan.deletion_count)
}

fn remaining_title(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Settled => "What stays so",
        Outcome::Waiting => "Then it waits",
        Outcome::Unfinished => "Too many steps to foresee all; at the last one",
    }
}

/// Type, reason and message of each condition, in one line.
pub(crate) fn conditions(remaining: &[RemainingCondition]) -> Vec<String> {
    let reported = remaining.iter().map(|condition| {
        let message = one_line(&condition.message);
        let separator = if message.is_empty() { "" } else { ": " };
        format!("{}: {}{separator}{message}", condition.kind, condition.reason)
    });
    reported.collect()
}

fn counted(count: i64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
