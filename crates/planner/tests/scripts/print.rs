//! What plans and reports look like in scenarios.

use crate::world::{pool, short};
use foo_planner::Plan;
use foo_planner::report::{Condition, ConditionKind, Pace, Report};
use std::sync::LazyLock;

/// The conditions of a pool in which everything is as it should be.
static HEALTHY: LazyLock<Vec<Condition>> = LazyLock::new(|| pool().running().plan_of(0).report.conditions);

/// What people would want to know of a plan.
pub(super) fn plan(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<String> = plan.actions.iter().map(short).collect();
    if lines.is_empty() {
        lines.push("nothing to do".to_owned());
    }
    lines.extend(
        plan.report.events.iter().map(|event| format!("  event {}: {}", event.reason, event.message)),
    );
    let ready = &plan.report.conditions[0];
    lines.push(format!("  ready {:?} {}: {}", ready.status, ready.reason, ready.message));
    let pace = match plan.report.next.pace {
        Pace::Active => "active",
        Pace::Patient => "patient",
        Pace::Quiet => "quiet",
    };
    let after =
        plan.report.next.after.map_or_else(String::new, |after| format!(", again in {} s", after.as_secs()));
    lines.push(format!("  next {pace}{after}"));
    lines
}

/// Every condition.
pub(super) fn conditions(report: &Report) -> Vec<String> {
    report.conditions.iter().map(condition).collect()
}

/// `Ready`, and what is not as in a healthy pool.
pub(super) fn report(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report.conditions.iter().filter(|it| deviates(it)).map(condition).collect();
    let kinds: Vec<ConditionKind> = report.conditions.iter().map(|it| it.kind).collect();
    let absent = HEALTHY.iter().filter(|it| !kinds.contains(&it.kind));
    lines.extend(absent.map(|it| format!("{:?} is absent", it.kind)));
    match &report.counts {
        Some(it) => lines.push(format!(
            "replicas {} of {}, ready {}, up to date {}; group {} in {}..{}; provisioned {}",
            it.replicas,
            it.desired,
            it.ready,
            it.up_to_date,
            it.group_desired,
            it.group_min,
            it.group_max,
            report.provisioned
        )),
        None => lines.push("counts unknown".to_owned()),
    }
    lines.extend(report.provider_ids.iter().flatten().cloned());
    if let Some(template) = &report.template {
        lines.push(format!(
            "template {} version {} spec {}",
            template.id, template.version, template.spec_hash
        ));
    }
    lines
}

fn deviates(condition: &Condition) -> bool {
    condition.kind == ConditionKind::Ready || !HEALTHY.contains(condition)
}

fn condition(it: &Condition) -> String {
    let line = format!("{:?} {:?} {}: {}", it.kind, it.status, it.reason, it.message);
    line.trim_end_matches([' ', ':']).to_owned()
}
