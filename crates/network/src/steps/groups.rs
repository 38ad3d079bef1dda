//! Security groups and their rules.

use super::{connection, vpc};
use crate::desired::{Desired, DesiredGroup, GroupPeer, GroupRule};
use crate::draft::{Draft, Weight};
use crate::hash;
use crate::role::Role;
use crate::situation::Situation;
use crate::tags;
use foo_model::network::{Change, Peer, Rule, SecurityGroup};
use foo_model::{Reason, SecurityGroupId};
use std::collections::BTreeSet;

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    for group in &situation.desired.security_groups {
        let role = Role::SecurityGroup(group.name.clone());
        create(situation, draft, group, &role);
        if let Some(there) = situation.group(&group.name) {
            draft.content(&role, &(&group.ingress, &group.egress));
            rules(situation, draft, group, there, &role);
        }
    }
}

fn create(situation: &Situation<'_>, draft: &mut Draft, group: &DesiredGroup, role: &Role) {
    if draft.holds(situation, role) {
        return;
    }
    let Some(vpc) = vpc::may_be_used(situation) else {
        return draft.note(role, Weight::Pending, Reason::CreatingNetwork, "waits for the VPC");
    };
    let desired = situation.desired;
    let name = limited(&name(desired, group));
    let description = limited(&format!("{} of cluster {}", group.name, desired.cluster));
    let tags = tags::of(desired, role);
    draft.create(situation, role, |_| Change::CreateSecurityGroup { vpc, name, description, tags });
}

/// EC2 does not distinguish names by case; they must be unique in a VPC, and cannot begin with `sg-` (EC2 API Reference,
/// CreateSecurityGroup). The digits are of network and group: `a-b/c` is not `a/b-c`, and `node` not `Node`.
fn name(desired: &Desired, group: &DesiredGroup) -> String {
    let digits = hash::content(&format!("{}|{}", desired.network_id, group.name));
    let digits: String = digits.chars().take(8).collect();
    format!("foo-{digits}-{}-{}", desired.cluster.replace('/', "-"), group.name)
}

/// At most 255 characters of those that EC2 takes (EC2 API Reference, CreateSecurityGroup).
fn limited(text: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(c);
    text.chars().map(|c| if allowed(c) { c } else { '-' }).take(255).collect()
}

fn rules(
    situation: &Situation<'_>,
    draft: &mut Draft,
    group: &DesiredGroup,
    there: &SecurityGroup,
    role: &Role,
) {
    let id = || there.id.clone();
    let (ingress, ingress_waits) = resolve(situation, &group.ingress);
    let (egress, egress_waits) = resolve(situation, &group.egress);
    if ingress_waits || egress_waits {
        draft.incomplete(role, "waits for the groups that its rules name");
    }
    let requested = Rules { ingress, egress };
    let all = own_rules(situation, draft, group, there, &requested);
    let own: BTreeSet<&SecurityGroupId> = situation.own.security_groups.keys().collect();
    let stays = |rule: &Rule| is_of_controllers(group, rule, &own) || is_of_the_connection(group, rule);
    let lacking = missing(&requested.ingress, &there.ingress);
    if !lacking.is_empty() {
        let change = Change::AuthorizeSecurityGroupIngress { group: id(), rules: lacking };
        draft.fix(role, change, format!("ingress rules of {} are missing", id()));
    }
    let of_ours = there.ingress.iter().filter(|rule| !is_described_by_controllers(group, rule));
    let described = described(&all.ingress, of_ours);
    if !described.is_empty() {
        let change = Change::UpdateSecurityGroupRuleDescriptionsIngress { group: id(), rules: described };
        draft.fix(role, change, format!("descriptions of ingress rules of {} differ", id()));
    }
    let unwanted: BTreeSet<Rule> =
        extra(&all.ingress, &there.ingress).into_iter().filter(|rule| !stays(rule)).collect();
    if !unwanted.is_empty() && !ingress_waits {
        let change = Change::RevokeSecurityGroupIngress { group: id(), rules: unwanted };
        draft.fix(role, change, format!("{} has ingress rules that are not requested", id()));
    }
    let lacking = missing(&requested.egress, &there.egress);
    if !lacking.is_empty() {
        let change = Change::AuthorizeSecurityGroupEgress { group: id(), rules: lacking };
        draft.fix(role, change, format!("egress rules of {} are missing", id()));
    }
    let unwanted = extra(&all.egress, &there.egress);
    if !unwanted.is_empty() && !egress_waits {
        let change = Change::RevokeSecurityGroupEgress { group: id(), rules: unwanted };
        draft.fix(role, change, format!("{} has egress rules that are not requested", id()));
    }
}

/// Rules of a group.
struct Rules {
    ingress: BTreeSet<Rule>,
    egress: BTreeSet<Rule>,
}

/// Adds and revokes the rules that the provider needs of its own accord, whatever the drift policy is: they are no content that a person or
/// another program changes, and must not take fixes of that content with them. All rules that the group is to have.
fn own_rules(
    situation: &Situation<'_>,
    draft: &mut Draft,
    group: &DesiredGroup,
    there: &SecurityGroup,
    requested: &Rules,
) -> Rules {
    let (role, id) = (Role::SecurityGroup(group.name.clone()), || there.id.clone());
    let ingress: BTreeSet<Rule> = connection::of_nodes(situation, group).into_iter().collect();
    // It names the group itself; one that does not exist yet comes with a later plan.
    let (egress, _) = resolve(situation, &group.own_egress);
    let lacking = missing(&ingress, &(&there.ingress | &requested.ingress));
    if !lacking.is_empty() {
        let change = Change::AuthorizeSecurityGroupIngress { group: id(), rules: lacking };
        draft.send(situation, &role, change, format!("{} has no rule for the connection with EKS", id()));
    }
    let lacking = missing(&egress, &(&there.egress | &requested.egress));
    if !lacking.is_empty() {
        let change = Change::AuthorizeSecurityGroupEgress { group: id(), rules: lacking };
        draft.send(situation, &role, change, format!("{} has no egress rule to itself", id()));
    }
    let all = Rules { ingress: &requested.ingress | &ingress, egress: &requested.egress | &egress };
    let over = extra(&all.ingress, &there.ingress).into_iter().filter(|it| is_of_the_connection(group, it));
    let over: BTreeSet<Rule> = over.collect();
    if !over.is_empty() && !connection::stays(situation) {
        let change = Change::RevokeSecurityGroupIngress { group: id(), rules: over };
        draft.send(situation, &role, change, format!("{} is no longer connected with EKS", id()));
    }
    all
}

/// Whether it is the provider's rule for the connection with EKS.
fn is_of_the_connection(group: &DesiredGroup, rule: &Rule) -> bool {
    group.is_for_nodes && connection::connected_with(rule).is_some()
}

/// The rules with the ids of groups, and whether some could not be resolved.
fn resolve(situation: &Situation<'_>, rules: &[GroupRule]) -> (BTreeSet<Rule>, bool) {
    let peer = |peer: &GroupPeer| match peer {
        GroupPeer::V4(range) => Some(Peer::V4(range.trunc())),
        GroupPeer::V6(range) => Some(Peer::V6(range.trunc())),
        GroupPeer::GroupId(id) => Some(Peer::Group(id.clone())),
        GroupPeer::Prefixes(list) => Some(Peer::Prefixes(list.clone())),
        GroupPeer::Group(name) => {
            situation.id(&Role::SecurityGroup(name.clone())).map(|id| Peer::Group(id.into()))
        }
    };
    let resolved: Vec<Option<Rule>> = rules
        .iter()
        .map(|rule| {
            let (protocol, description) = (rule.protocol, rule.description.clone());
            peer(&rule.peer).map(|peer| Rule { protocol, peer, description })
        })
        .collect();
    let waits = resolved.iter().any(Option::is_none);
    (resolved.into_iter().flatten().collect(), waits)
}

/// To AWS rules that differ only in their description are one.
fn same(a: &Rule, b: &Rule) -> bool {
    a.protocol == b.protocol && a.peer == b.peer
}

/// The rules that are there with another description than is requested, as they are requested. Of two requested rules that are one to
/// AWS either description is right.
fn described<'a>(wanted: &BTreeSet<Rule>, there: impl Iterator<Item = &'a Rule>) -> BTreeSet<Rule> {
    let differing = there.filter(|rule| !wanted.contains(*rule));
    differing.filter_map(|rule| wanted.iter().find(|it| same(it, rule))).cloned().collect()
}

/// What is missing, each once.
fn missing(wanted: &BTreeSet<Rule>, there: &BTreeSet<Rule>) -> BTreeSet<Rule> {
    let mut missing: BTreeSet<Rule> = BTreeSet::new();
    for rule in wanted {
        if !there.iter().chain(&missing).any(|it| same(it, rule)) {
            missing.insert(rule.clone());
        }
    }
    missing
}

/// What is too much.
fn extra(wanted: &BTreeSet<Rule>, there: &BTreeSet<Rule>) -> BTreeSet<Rule> {
    there.iter().filter(|rule| !wanted.iter().any(|it| same(it, rule))).cloned().collect()
}

/// The controllers of load balancers add rules to the group of the nodes: the AWS Load Balancer Controller and the network load
/// balancers of the cloud controller with descriptions of their own, classic load balancers by a group of foreign and without a
/// description, which our rules and those of the spec always have.
fn is_of_controllers(group: &DesiredGroup, rule: &Rule, own: &BTreeSet<&SecurityGroupId>) -> bool {
    let of_another_group = matches!(&rule.peer, Peer::Group(id) if !own.contains(id));
    is_described_by_controllers(group, rule)
        || (group.is_for_nodes && of_another_group && rule.description.is_empty())
}

/// Whether a rule has a description by which a controller of load balancers finds the rules that it added again.
fn is_described_by_controllers(group: &DesiredGroup, rule: &Rule) -> bool {
    let prefixes = ["elbv2.k8s.aws/", "kubernetes.io/rule/nlb/"];
    group.is_for_nodes && prefixes.iter().any(|prefix| rule.description.starts_with(prefix))
}
