//! What differs between objects and what AWS has, out of the manager's plans ([`crate::plan`] asks for them): `text` prints
//! it. It does not compare anything itself.
//!
//! An object counts as equal only if its plan has nothing at all: no changed setting, nothing to do, no condition that is not
//! as it should be, no note. A plan without anything to do may be one of an object that is paused, or of which something
//! cannot be read.

mod text;

pub use text::text;

use crate::plan::{Plan, Plans};
use foo_api::plan::{
    CallsPlan, Outcome, PlannedAction, PlannedCall, PlannedChange, PlannedDeletion, PoolPlan,
    RemainingCondition, SettingInAws,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// The action of a plan about which it also has reasons, Machine by Machine.
const DELETION: &str = "DeleteMachine";

/// All comparisons of one command.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diffs {
    /// Networks, then control planes, then pools; each by namespace and name.
    pub objects: Vec<Diff>,
    /// What could not be compared beside those, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
}

/// What differs in one object.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// Its kind.
    pub kind: &'static str,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whether it differs.
    pub result: Comparison,
    /// Settings in which the desired spec differs from the present one, in AWS's terms; of many, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlannedChange>,
    /// Settings that have another value in AWS than is desired; of many, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingInAws>,
    /// What the manager would do about what differs in AWS; of many, the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// Number of calls beside those that `actions` names.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_actions: i64,
    /// Conditions that are not as they should be, also when all of that is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remaining: Vec<RemainingCondition>,
    /// What else is not known, or has to be known to read this.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Whether an object differs from what AWS has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Comparison {
    /// Nothing differs.
    Equal,
    /// Something differs.
    Different,
    /// The plan has no difference, and does not show that all is as desired.
    Unknown,
}

/// What the manager would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Action {
    /// Its name; of a control plane or network, AWS's name of the operation.
    pub name: String,
    /// How often.
    pub times: i64,
    /// What differs, if the plan has that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl Diffs {
    /// What differs by these plans. `unread`: what could not be read for them.
    pub fn of(plans: &Plans, unread: &[String]) -> Self {
        let calls = plans.calls().map(|(kind, it)| of_calls(kind, it));
        Self {
            objects: calls.chain(plans.plans.iter().map(of_pool)).collect(),
            not_compared: plans.failures.iter().chain(unread).cloned().collect(),
        }
    }

    /// Whether something differs.
    pub fn differ(&self) -> bool {
        self.having(Comparison::Different).next().is_some()
    }

    /// What is not known to be equal, although no difference is known; nothing if all is known.
    pub fn unknown(&self) -> Vec<String> {
        let named =
            |it: &Diff| format!("{} {}/{} is not known to be as desired", it.kind, it.namespace, it.name);
        self.not_compared.iter().cloned().chain(self.having(Comparison::Unknown).map(named)).collect()
    }

    fn having(&self, result: Comparison) -> impl Iterator<Item = &Diff> {
        self.objects.iter().filter(move |it| it.result == result)
    }
}

fn of_pool(Plan { namespace, plan }: &Plan<PoolPlan>) -> Diff {
    let PoolPlan { name, changes, settings, deletions, actions, outcome, remaining, notes, .. } = plan;
    let action = |action: &PlannedAction| Action {
        name: action.name.clone(),
        times: action.times,
        why: if action.name == DELETION { reasons(deletions) } else { String::new() },
    };
    let actions: Vec<Action> = actions.iter().map(action).collect();
    let differs = !changes.is_empty() || !settings.is_empty() || !actions.is_empty();
    Diff {
        kind: "FooMachinePool",
        namespace: namespace.clone(),
        name: name.clone(),
        result: result(differs, *outcome, remaining, notes),
        changes: changes.clone(),
        settings: settings.clone(),
        actions,
        more_actions: 0,
        remaining: remaining.clone(),
        notes: notes.clone(),
    }
}

fn of_calls(kind: &'static str, Plan { namespace, plan }: &Plan<CallsPlan>) -> Diff {
    let CallsPlan { name, changes, settings, calls, aws_calls, seconds: _, outcome, remaining, notes } = plan;
    let action =
        |call: &PlannedCall| Action { name: call.operation.clone(), times: 1, why: call.why.clone() };
    let named = i64::try_from(calls.len()).unwrap_or(i64::MAX);
    let differs = !changes.is_empty() || !settings.is_empty() || !calls.is_empty();
    Diff {
        kind,
        namespace: namespace.clone(),
        name: name.clone(),
        result: result(differs, *outcome, remaining, notes),
        changes: changes.clone(),
        settings: settings.clone(),
        actions: calls.iter().map(action).collect(),
        more_actions: aws_calls.saturating_sub(named).max(0),
        remaining: remaining.clone(),
        notes: notes.clone(),
    }
}

fn result(differs: bool, outcome: Outcome, remaining: &[RemainingCondition], notes: &[String]) -> Comparison {
    if differs {
        return Comparison::Different;
    }
    // Notes without any difference are about what is not known, for example that the object is paused.
    let is_known = outcome == Outcome::Settled && remaining.is_empty() && notes.is_empty();
    if is_known { Comparison::Equal } else { Comparison::Unknown }
}

/// Why Machines are deleted, each reason once.
fn reasons(deletions: &[PlannedDeletion]) -> String {
    let reasons: BTreeSet<&str> = deletions.iter().map(|deletion| deletion.why.as_str()).collect();
    reasons.into_iter().collect::<Vec<_>>().join("; ")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(value: &i64) -> bool {
    *value == 0
}
