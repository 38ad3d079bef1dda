//! A check of each plan: the invariants of the design that one plan can violate, verified from the plan's
//! input and output. It shares no decision with the planner, so that one mistake is not made twice.
//!
//! The controller runs it on every plan and executes no plan that violates an invariant.

mod facts;
mod leftovers;

use crate::desired::{Connection, DeletionPolicy, DesiredVpc, Leftovers};
use crate::recorded::Origin;
use crate::role::Role;
use crate::{Action, Desired, Memory, Observed, Plan, Recorded};
use facts::Facts;
use foo_calls::Violation;
use foo_model::network::{Change, Effect, EndpointState, NatState, Tags, Target};
use foo_model::{Reason, VpcId};
use std::collections::BTreeSet;
use std::time::Duration;

/// For how long a creation whose response was lost may still show up.
const PATIENCE: Duration = Duration::from_mins(1);

/// The rules that a plan breaks; empty for every plan that may be carried out. `recorded` and `memory` are what went into the plan.
pub fn violations(
    desired: &Desired,
    observed: &Observed,
    recorded: &Recorded,
    memory: &Memory,
    plan: &Plan,
) -> Vec<Violation> {
    let facts = Facts::new(desired, observed, recorded, memory);
    let mut found = Vec::new();
    let mut check = |holds: bool, rule: &str, action: &Action| {
        if !holds {
            let operation = action.change.operation();
            found.push(Violation(format!("{rule}: {operation} of {}: {:?}", action.role, action.change)));
        }
    };
    let mut created: BTreeSet<&Role> = BTreeSet::new();
    for action in &plan.actions {
        check(!hands_off(desired), "acts while paused or retained", action);
        check(touches_only_own(&facts, action), "changes foreign resources", action);
        check(is_of_this_installation(&facts, action), "acts on another management cluster's", action);
        if let Some(tags) = action.change.tags() {
            check(is_tagged(desired, action, tags), "creates without our tags", action);
            check(created.insert(&action.role), "creates twice in one plan", action);
            check(!desired.being_deleted, "creates while deleting", action);
            check(plan.record.intents.contains_key(&action.role), "creates without an intent", action);
            check(may_create(&facts, action), "creates what may exist", action);
            check(!facts.begins_beside_another(), "creates a second network of the Cluster", action);
        }
        check(deletes_with_cause(&facts, action), "deletes without cause", action);
        if let Change::DeleteVpc { vpc } = &action.change {
            check(may_delete_vpc(&facts, vpc), "deletes a VPC that is foreign or not empty", action);
        }
    }
    found
}

fn hands_off(desired: &Desired) -> bool {
    desired.paused || (desired.being_deleted && desired.deletion == DeletionPolicy::Retain)
}

fn is_tagged(desired: &Desired, action: &Action, tags: &Tags) -> bool {
    let is = |key: &str, value: &str| tags.get(key).is_some_and(|it| it == value);
    is("infrastructure.foo.com/network", &desired.network_id)
        && is("infrastructure.foo.com/cluster", &desired.cluster)
        && is("infrastructure.foo.com/installation", &desired.installation)
        && is("infrastructure.foo.com/role", &action.role.to_string())
}

/// Everything that a call changes or deletes carries our tag; routes, rules and associations count by their table or group. Left-overs
/// of the workload cluster count by the tags that its controllers give, what belongs to the connection with EKS by the provider's rule.
fn touches_only_own(facts: &Facts<'_>, action: &Action) -> bool {
    let leftovers = facts.desired.being_deleted && facts.desired.leftovers == Leftovers::Delete;
    let targets = match action.change.facts().effect {
        Effect::Creates { .. } => Vec::new(),
        Effect::Deletes(target) => vec![target],
        Effect::Changes(targets) | Effect::BeginsToDelete(targets) => targets,
    };
    targets.into_iter().all(|target| match target {
        Target::Part(id) => {
            facts.is_own(id)
                || is_of_the_connection(facts, &action.change)
                || (leftovers && is_rule_or_group(&action.change) && facts.is_leftover(id))
                || (leftovers && is_of_an_endpoint(&action.change) && facts.is_of_guardduty(id))
        }
        Target::Association(id) => facts.is_own_association(id),
        Target::Range(id) => facts.is_range_of_our_vpc(id),
        Target::Leftover(id) => {
            (leftovers && facts.is_leftover(id)) || (facts.desired.being_deleted && facts.is_idle_of_cni(id))
        }
    })
}

/// Whether it adds the provider's rule to the cluster security group that nodes are to be connected with, revokes it from any other or while
/// the network is being deleted, or deletes such a group that EKS left.
fn is_of_the_connection(facts: &Facts<'_>, change: &Change) -> bool {
    match change {
        Change::AuthorizeSecurityGroupIngress { group, rules } => {
            facts.desired.connection == Connection::With(group.clone()) && facts.are_of_the_connection(rules)
        }
        Change::RevokeSecurityGroupIngress { group, rules } => {
            let is_over =
                facts.desired.being_deleted || facts.desired.connection != Connection::With(group.clone());
            is_over && facts.are_of_the_connection(rules)
        }
        Change::DeleteSecurityGroup { group } => facts.desired.being_deleted && facts.was_connected(group),
        _ => false,
    }
}

/// The plan creates and changes nothing in a network that carries another management cluster's tag, except that it may adopt it.
fn is_of_this_installation(facts: &Facts<'_>, action: &Action) -> bool {
    let owners = facts.other_installations();
    let adopted = facts.desired.adopt_from.as_ref().is_some_and(|from| owners.contains(from));
    let adopts = match &action.change {
        Change::CreateTags { tags, .. } => {
            tags.len() == 1
                && tags.get("infrastructure.foo.com/installation") == Some(&facts.desired.installation)
        }
        _ => false,
    };
    owners.is_empty() || (adopted && adopts)
}

fn is_rule_or_group(change: &Change) -> bool {
    matches!(
        change,
        Change::DeleteSecurityGroup { .. }
            | Change::RevokeSecurityGroupIngress { .. }
            | Change::RevokeSecurityGroupEgress { .. }
    )
}

/// Whether it deletes an endpoint or a group, or revokes rules.
fn is_of_an_endpoint(change: &Change) -> bool {
    matches!(change, Change::DeleteVpcEndpoints { .. }) || is_rule_or_group(change)
}

/// There is no part with the role, and no creation whose outcome is open; one with a token may be sent again.
fn may_create(facts: &Facts<'_>, action: &Action) -> bool {
    if facts.shows_role(&action.role) {
        return false;
    }
    let record = facts.record;
    let Some(intent) = record.intents.get(&action.role) else {
        return record.parts.get(&action.role).is_none_or(|part| facts.is_gone(part));
    };
    // The name of a security group is unique in its VPC.
    let is_unique = matches!(action.change, Change::CreateSecurityGroup { .. });
    let happens_once = is_unique || action.change.token().is_some();
    let refused = facts.memory.calls.failures.iter().any(|it| {
        it.action.role == action.role
            && !it.lost
            && it.at >= intent.since
            && it.refusal.reason != Reason::ResponseLost
    });
    let waited = intent.since.plus(PATIENCE) <= facts.observed.now;
    (happens_once && intent.origin == Origin::Decided) || refused || waited
}

/// While the network is not being deleted, the plan deletes only what is replaced, too many or no longer requested.
fn deletes_with_cause(facts: &Facts<'_>, action: &Action) -> bool {
    if facts.desired.being_deleted {
        return true;
    }
    let has_another = |id: &str| facts.has_another_with_its_role(id);
    match &action.change {
        Change::DeleteNatGateway { gateway } => {
            let failed = facts.nat(gateway).is_some_and(|it| it.state == NatState::Failed);
            failed || !facts.is_routed_to(gateway)
        }
        Change::ReleaseAddress { allocation } => {
            !facts.is_address_in_use(allocation)
                && (has_another(allocation.as_str()) || !facts.wants_address(&action.role))
        }
        Change::DeleteVpcEndpoints { endpoints } => {
            let failed = |id| facts.endpoint(id).is_some_and(|it| it.state == EndpointState::Failed);
            endpoints.iter().all(|id| failed(id) || has_another(id.as_str()) || !facts.wants(id.as_str()))
        }
        Change::DeleteSecurityGroup { group } => has_another(group.as_str()) || !facts.wants(group.as_str()),
        Change::DeleteVpc { vpc } => has_another(vpc.as_str()),
        Change::DeleteSubnet { subnet } => has_another(subnet.as_str()),
        Change::DeleteInternetGateway { gateway } => has_another(gateway.as_str()),
        Change::DeleteEgressOnlyInternetGateway { gateway } => {
            has_another(gateway.as_str()) || (!facts.wants_ipv6_out() && !facts.is_routed_out_by(gateway))
        }
        Change::DeleteRouteTable { table } => has_another(table.as_str()),
        Change::DetachInternetGateway { gateway, vpc } => {
            has_another(gateway.as_str()) || !facts.is_our_vpc(vpc)
        }
        Change::DisassociateVpcCidrBlock { .. } | Change::DisassociateRouteTable { .. } => false,
        // Any other deletion needs a cause.
        other => other.deleted().is_empty(),
    }
}

/// The network's own VPC, after reads since the deletion began found nothing of all that can be in it.
fn may_delete_vpc(facts: &Facts<'_>, vpc: &VpcId) -> bool {
    let brought = matches!(&facts.desired.vpc, DesiredVpc::Existing(id) if id == vpc);
    !brought && facts.is_own(vpc.as_str()) && facts.is_empty_except_own(vpc)
}
