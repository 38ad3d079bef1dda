//! What Services and Nodes of the workload cluster left in the VPC: deleted if that is requested.

use crate::desired::{Desired, DesiredVpc, Leftovers};
use crate::draft::Draft;
use crate::role::Role;
use crate::situation::Situation;
use crate::tags::kubernetes_tag;
use foo_model::network::{Change, Peer, Rule, SecurityGroup, Tags};
use foo_model::{SecurityGroupId, VpcId};
use std::collections::BTreeSet;

/// Whether the tags are those that controllers of the workload cluster give.
pub(crate) fn is_leftover(desired: &Desired, tags: &Tags) -> bool {
    let is = |key: &str, value: &str| tags.get(key).is_some_and(|it| it == value);
    // EKS deletes the group of its control plane itself.
    let of_eks = tags.contains_key("aws:eks:cluster-name");
    let name = &desired.kubernetes_cluster;
    // The tag of a stack does not say of which cluster; in our own VPC it can be of no other.
    let in_our_vpc = matches!(desired.vpc, DesiredVpc::Managed { .. });
    let stack = in_our_vpc && tags.contains_key("service.k8s.aws/stack");
    let owned = is(&kubernetes_tag(desired), "owned");
    !of_eks
        && (owned || is("elbv2.k8s.aws/cluster", name) || is("cluster.k8s.amazonaws.com/name", name) || stack)
}

pub(crate) fn delete(situation: &Situation<'_>, draft: &mut Draft, vpc: &VpcId) {
    let desired = situation.desired;
    if desired.leftovers != Leftovers::Delete {
        return;
    }
    let why = "the workload cluster left it behind";
    let parts = &situation.others;
    let mut balancers = false;
    for it in parts.load_balancers.values().filter(|it| it.vpc == *vpc && is_leftover(desired, &it.tags)) {
        balancers = true;
        let change = Change::DeleteLoadBalancer { kind: it.kind, name: it.name.clone(), arn: it.arn.clone() };
        draft.send(situation, &Role::Vpc, change, why);
    }
    let targets = parts.target_groups.values().filter(|it| it.vpc == *vpc && is_leftover(desired, &it.tags));
    // The listeners of a load balancer use them until it is gone.
    for it in targets.filter(|_| !balancers) {
        draft.send(situation, &Role::Vpc, Change::DeleteTargetGroup { arn: it.arn.clone() }, why);
    }
    for it in parts.interfaces.values().filter(|it| it.vpc == *vpc && is_leftover(desired, &it.tags)) {
        if !it.in_use && !it.requester_managed {
            let change = Change::DeleteNetworkInterface { interface: it.id.clone() };
            draft.send(situation, &Role::Vpc, change, why);
        }
    }
    for it in parts.security_groups.values().filter(|it| it.vpc == *vpc && is_leftover(desired, &it.tags)) {
        if it.name != "default" {
            group(situation, draft, it, why);
        }
    }
}

/// A group goes after the rules that name it and the interfaces that have it.
fn group(situation: &Situation<'_>, draft: &mut Draft, group: &SecurityGroup, why: &str) {
    let named = revoke(situation, draft, &group.id);
    let used = situation.others.interfaces.values().any(|it| it.groups.contains(&group.id));
    if !named && !used {
        let change = Change::DeleteSecurityGroup { group: group.id.clone() };
        draft.send(situation, &Role::Vpc, change, why);
    }
}

/// Revokes rules of our groups and of other left-overs that name a group. Whether any group has such rules.
fn revoke(situation: &Situation<'_>, draft: &mut Draft, named: &SecurityGroupId) -> bool {
    let all = situation.ours.security_groups.values().chain(situation.others.security_groups.values());
    let mut found = false;
    for other in all.filter(|it| it.id != *named) {
        let naming = |rules: &BTreeSet<Rule>| -> BTreeSet<Rule> {
            let rules = rules.iter().filter(|it| matches!(&it.peer, Peer::Group(id) if id == named));
            rules.cloned().collect()
        };
        let (ingress, egress) = (naming(&other.ingress), naming(&other.egress));
        found |= !ingress.is_empty() || !egress.is_empty();
        let ours = situation.ours.security_groups.contains_key(&other.id);
        if !ours && !is_leftover(situation.desired, &other.tags) {
            continue;
        }
        let why = format!("they name {named}, which is being deleted");
        if !ingress.is_empty() {
            let change = Change::RevokeSecurityGroupIngress { group: other.id.clone(), rules: ingress };
            draft.send(situation, &Role::Vpc, change, why.clone());
        }
        if !egress.is_empty() {
            let change = Change::RevokeSecurityGroupEgress { group: other.id.clone(), rules: egress };
            draft.send(situation, &Role::Vpc, change, why);
        }
    }
    found
}
