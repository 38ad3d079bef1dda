//! Prints plans.

use super::{Plan, Plans};
use crate::text::{line, one_line, section, span, table};
use foo_api::plan::{Outcome, PlannedChange, PlannedDeletion, PoolPlan};

/// Values longer than this many characters are shortened; `-o json` has all of them.
const LONGEST: usize = 60;

/// The plans as text. Ends with a new line.
pub fn text(all: &Plans) -> String {
    if all.plans.is_empty() && !all.failures.is_empty() {
        return String::new();
    }
    if all.plans.is_empty() {
        return "there is no FooMachinePool\n".to_owned();
    }
    all.plans.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(Plan { namespace, plan }: &Plan) -> String {
    let mut text = String::new();
    line(&mut text, &format!("FooMachinePool {namespace}/{}", plan.name));
    section(&mut text, "Changes", &changes(&plan.changes));
    if plan.actions.is_empty() {
        line(&mut text, "The manager has nothing to do");
    } else {
        section(&mut text, "What follows", &consequences(plan));
        section(&mut text, "Machines that are deleted, in order", &deletions(plan));
    }
    section(&mut text, remaining_title(plan.outcome), &remaining(plan));
    section(&mut text, "Notes", &plan.notes.iter().map(|note| one_line(note)).collect::<Vec<_>>());
    text
}

fn changes(changes: &[PlannedChange]) -> Vec<String> {
    let row = |change: &PlannedChange| {
        [
            change.field.clone(),
            value(change.from.as_deref()),
            value(change.to.as_deref()),
            if change.replaces { "replaces instances".to_owned() } else { String::new() },
        ]
    };
    table(["FIELD", "NOW", "PLANNED", ""], changes.iter().map(row).collect())
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
    let mut lines = table(["AFTER", "NAME", "INSTANCE", "WHY"], plan.deletions.iter().map(row).collect());
    let named = i64::try_from(plan.deletions.len()).unwrap_or(i64::MAX);
    if named < plan.deletion_count {
        lines.push(format!("and {} more", plan.deletion_count - named));
    }
    lines
}

fn remaining_title(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Settled | Outcome::Waiting => "Then it waits",
        Outcome::Unfinished => "Too many steps to foresee all; at the last one",
    }
}

fn remaining(plan: &PoolPlan) -> Vec<String> {
    let reported = plan.remaining.iter().map(|condition| {
        let message = one_line(&condition.message);
        let separator = if message.is_empty() { "" } else { ": " };
        format!("{}: {}{separator}{message}", condition.kind, condition.reason)
    });
    reported.collect()
}

fn counted(count: i64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
