//! The connection of nodes with the cluster security group of EKS, which managed node groups, Fargate Pods and Nodes of EKS Auto Mode have:
//! each of the two groups has a rule that allows all traffic of the other (Amazon EKS User Guide, "View Amazon EKS security group requirements
//! for clusters").
//!
//! EKS created that group and deletes it with the cluster, unless a rule of another group names it. So the planner changes nothing of it but
//! the one rule that it adds, and revokes both rules while EKS deletes the cluster. The drift policy is about what is requested for a group,
//! and not about these rules: they follow the connection.

use crate::desired::{Connection, DesiredGroup};
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::Situation;
use crate::timing::{CONFIRM, USERS};
use foo_model::network::{Change, Kind, Peer, Protocol, Rule, Scope, SecurityGroup};
use foo_model::{Reason, SecurityGroupId};
use std::collections::BTreeSet;

/// Description of the rule of the group for nodes, by which it is found again.
const TO_NODES: &str = "cluster security group of EKS to nodes";

/// Description of the rule of the cluster security group, by which it is found again.
const FROM_NODES: &str = "nodes to cluster security group of EKS";

/// What is said while no group is known.
const AWAITED: &str =
    "nodes are connected with the cluster security group of EKS when the FooControlPlane shows it";

/// What is said where there is none.
const WITHOUT_EKS: &str =
    "clusterSecurityGroup: Connected has no effect without a FooControlPlane with spec.eks";

fn all_of(peer: &SecurityGroupId, description: &str) -> Rule {
    let peer = Peer::Group(peer.clone());
    Rule { protocol: Protocol::All, peer, description: description.to_owned() }
}

/// The rule that the group for nodes is to have. None names a group that no read shows: AWS does not accept it.
pub(crate) fn of_nodes(situation: &Situation<'_>, group: &DesiredGroup) -> Option<Rule> {
    match &situation.desired.connection {
        Connection::With(of_eks) if group.is_for_nodes && is_shown(situation, of_eks) => {
            Some(all_of(of_eks, TO_NODES))
        }
        Connection::With(_)
        | Connection::Separate
        | Connection::WithoutEks
        | Connection::Ended
        | Connection::Awaited => None,
    }
}

/// The cluster security group that a rule of the group for nodes names, if it is the provider's rule.
pub(crate) fn connected_with(rule: &Rule) -> Option<&SecurityGroupId> {
    let is_own = rule.protocol == Protocol::All && rule.description == TO_NODES;
    match &rule.peer {
        Peer::Group(id) if is_own => Some(id),
        Peer::Group(_) | Peer::V4(_) | Peer::V6(_) | Peer::Prefixes(_) => None,
    }
}

/// Whether the provider's rules in the group for nodes stay: until it is known which cluster security group there is, and until reads show
/// that one. The FooControlPlane of a restored management cluster may name a group that EKS deleted since.
pub(crate) fn stays(situation: &Situation<'_>) -> bool {
    match &situation.desired.connection {
        Connection::Awaited => true,
        Connection::With(id) => !is_shown(situation, id),
        Connection::Separate | Connection::WithoutEks | Connection::Ended => false,
    }
}

fn is_shown(situation: &Situation<'_>, id: &SecurityGroupId) -> bool {
    situation.others.security_groups.contains_key(id)
}

/// The provider's rule in a group of another owner that names this group of the network.
fn own_rule<'a>(group: &'a SecurityGroup, named: &SecurityGroupId) -> Option<&'a Rule> {
    group.ingress.iter().find(|rule| allows(rule, named) && rule.description == FROM_NODES)
}

fn allows(rule: &Rule, from: &SecurityGroupId) -> bool {
    rule.protocol == Protocol::All && matches!(&rule.peer, Peer::Group(id) if id == from)
}

/// The rule of the cluster security group.
pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    let desired = situation.desired;
    let Some(group) = desired.security_groups.iter().find(|it| it.is_for_nodes) else { return };
    let role = Role::SecurityGroup(group.name.clone());
    match &desired.connection {
        Connection::Awaited => draft.note(&role, Weight::Noted, Reason::NetworkAsRequested, AWAITED),
        Connection::WithoutEks => {
            draft.note(&role, Weight::Noted, Reason::NetworkAsRequested, WITHOUT_EKS);
        }
        Connection::With(_) | Connection::Separate | Connection::Ended => {}
    }
    let Some(there) = situation.group(&group.name) else { return };
    // A move loses the record, but not the rule.
    draft.record.cluster_groups.extend(there.ingress.iter().filter_map(connected_with).cloned());
    let nodes = Nodes { role, there };
    let known = draft.record.cluster_groups.clone();
    match &desired.connection {
        Connection::Awaited => known.iter().for_each(|id| forget_absent(situation, draft, id)),
        Connection::With(id) => connect(situation, draft, &nodes, id, &known),
        Connection::Ended => known.iter().for_each(|id| disconnect(situation, draft, &nodes, id)),
        Connection::Separate | Connection::WithoutEks => {
            for id in &known {
                disconnect(situation, draft, &nodes, id);
                forget_separated(situation, draft, &nodes, id);
            }
        }
    }
}

/// The group for nodes.
struct Nodes<'a> {
    role: Role,
    there: &'a SecurityGroup,
}

fn connect(
    situation: &Situation<'_>,
    draft: &mut Draft,
    nodes: &Nodes<'_>,
    id: &SecurityGroupId,
    known: &BTreeSet<SecurityGroupId>,
) {
    let waits = |draft: &mut Draft, message: String| {
        draft.note(&nodes.role, Weight::Pending, Reason::CreatingNetwork, message);
    };
    let group = match found(situation, draft, id) {
        // It was connected before this process began.
        Found::Unread if known.contains(id) => {
            draft.unsettled = true;
            return;
        }
        Found::Unread => {
            return waits(draft, format!("waiting for a read of the cluster security group {id}"));
        }
        Found::Absent => {
            forget(situation, draft, id);
            return waits(draft, format!("AWS does not show the cluster security group {id}"));
        }
        Found::There(group) => group,
    };
    draft.record.cluster_groups.insert(id.clone());
    if !group.ingress.iter().any(|rule| allows(rule, &nodes.there.id)) {
        let rules = BTreeSet::from([all_of(&nodes.there.id, FROM_NODES)]);
        let change = Change::AuthorizeSecurityGroupIngress { group: id.clone(), rules };
        draft.send(situation, &nodes.role, change, format!("{id} has no rule for traffic of the nodes"));
    }
    for former in known.iter().filter(|it| *it != id) {
        disconnect(situation, draft, nodes, former);
    }
}

fn disconnect(situation: &Situation<'_>, draft: &mut Draft, nodes: &Nodes<'_>, id: &SecurityGroupId) {
    match found(situation, draft, id) {
        Found::Unread => draft.unsettled = true,
        Found::Absent => forget(situation, draft, id),
        Found::There(group) => {
            let why = format!("{id} is no longer connected with the nodes");
            revoke(situation, draft, &nodes.role, group, &nodes.there.id, &why);
        }
    }
}

/// Revokes the provider's rule in a group of another owner that names this group of the network, if there is one.
pub(crate) fn revoke(
    situation: &Situation<'_>,
    draft: &mut Draft,
    role: &Role,
    group: &SecurityGroup,
    named: &SecurityGroupId,
    why: &str,
) {
    if let Some(rule) = own_rule(group, named) {
        let rules = BTreeSet::from([rule.clone()]);
        let change = Change::RevokeSecurityGroupIngress { group: group.id.clone(), rules };
        draft.send(situation, role, change, why);
    }
}

fn forget_absent(situation: &Situation<'_>, draft: &mut Draft, id: &SecurityGroupId) {
    match found(situation, draft, id) {
        Found::Absent => forget(situation, draft, id),
        Found::Unread | Found::There(_) => {}
    }
}

/// Drops the group from the record, because the newest read by its id shows that nothing of the connection is left there. The next one is
/// requested already.
fn forget(situation: &Situation<'_>, draft: &mut Draft, id: &SecurityGroupId) {
    let read = situation.observed.foreign_group_read(id);
    situation.memory.calls.forget(read, &mut draft.record.cluster_groups, |it: &SecurityGroupId| it == id);
}

/// Forgets a group of a cluster that lives, once reads show that neither group has the provider's rule: from then on it is like any other of
/// its owner's.
fn forget_separated(situation: &Situation<'_>, draft: &mut Draft, nodes: &Nodes<'_>, id: &SecurityGroupId) {
    let Some(group) = situation.others.security_groups.get(id) else { return };
    let names_it = nodes.there.ingress.iter().any(|rule| connected_with(rule) == Some(id));
    if !names_it && own_rule(group, &nodes.there.id).is_none() && !is_changing(situation, nodes, id) {
        forget(situation, draft, id);
    }
}

/// Whether reads may not show yet what this process changed of the rules of either group.
fn is_changing(situation: &Situation<'_>, nodes: &Nodes<'_>, id: &SecurityGroupId) -> bool {
    let is_about = |change: &Change| match change {
        Change::AuthorizeSecurityGroupIngress { group, .. }
        | Change::RevokeSecurityGroupIngress { group, .. } => group == id || *group == nodes.there.id,
        _ => false,
    };
    situation.memory.calls.effects.iter().any(|effect| is_about(&effect.action.change))
}

/// What reads show of a group of another owner.
enum Found<'a> {
    Unread,
    Absent,
    There(&'a SecurityGroup),
}

/// Requests the next read of it, too: no shared read shows it.
fn found<'a>(situation: &'a Situation<'_>, draft: &mut Draft, id: &SecurityGroupId) -> Found<'a> {
    let read = situation.observed.foreign_group_read(id);
    let there = situation.others.security_groups.get(id);
    let again = if there.is_some() { USERS } else { CONFIRM };
    let from = read.map_or(situation.now, |read| read.plus(again));
    draft.request_read_in(Kind::SecurityGroup, Scope::Ids(BTreeSet::from([id.to_string()])), from);
    match (there, read) {
        (Some(there), _) => Found::There(there),
        (None, Some(_)) => Found::Absent,
        (None, None) => Found::Unread,
    }
}
