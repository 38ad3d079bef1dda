//! The order of the questions.

use crate::draft::Draft;
use crate::report::Report;
use crate::situation::{Situation, situation};
use crate::steps::{
    begin, connection, delete, endpoints, foreign, gateways, groups, nat, reads, routes, subnets, tags,
    unwanted, vpc,
};
use crate::summary;
use crate::{Desired, Memory, Observed, Plan, Recorded};
use foo_calls::report::Deletion;

/// Decides what to do next about one network.
///
/// Total and deterministic: the same values give the same plan, and every combination of values gives one.
pub fn plan(desired: &Desired, observed: &Observed, recorded: &Recorded, memory: &Memory) -> Plan {
    let situation = situation(desired, observed, recorded, memory);
    let mut draft = Draft::new(&situation);
    let deletion = decide(&situation, &mut draft);
    finish(&situation, draft, deletion)
}

fn decide(situation: &Situation<'_>, draft: &mut Draft) -> Deletion {
    let desired = situation.desired;
    if desired.paused {
        return if desired.being_deleted { Deletion::Pending } else { Deletion::NotAsked };
    }
    if desired.being_deleted {
        let deletion = delete::delete(situation, draft);
        if deletion == Deletion::Pending {
            reads::request(situation, draft);
        }
        return deletion;
    }
    reads::request(situation, draft);
    if begin::may_act(situation, draft) {
        vpc::ensure(situation, draft);
        gateways::ensure(situation, draft);
        subnets::ensure(situation, draft);
        nat::ensure(situation, draft);
        routes::ensure(situation, draft);
        groups::ensure(situation, draft);
        connection::ensure(situation, draft);
        endpoints::ensure(situation, draft);
        tags::ensure(situation, draft);
        unwanted::remove(situation, draft);
        draft.settle_fixes(situation);
    }
    Deletion::NotAsked
}

fn finish(situation: &Situation<'_>, mut draft: Draft, deletion: Deletion) -> Plan {
    let vpc = situation.vpc_id();
    let deletes = situation.desired.being_deleted && deletion == Deletion::Pending;
    let foreign = match &vpc {
        Some(vpc) if deletes => foreign::all(situation, vpc),
        Some(_) | None => Vec::new(),
    };
    let (reads, again_at) = draft.next(situation.now);
    let report = Report {
        conditions: summary::conditions(situation, &draft, deletion, &foreign),
        resources: summary::resources(situation, &draft),
        vpc,
        foreign,
        namesake: begin::has_namesake(situation),
        reads,
        wants_quotas: draft.wants_quotas,
        again_at,
        settled: draft.actions.is_empty() && !draft.unsettled && deletion == Deletion::NotAsked,
        deletion,
    };
    draft.memory.calls.record = Some(draft.record.clone());
    Plan { actions: draft.actions, report, record: draft.record, memory: draft.memory }
}
