//! Deletes what Services and Nodes of the workload cluster left in the VPC, if the spec asks for that, and what Amazon GuardDuty
//! created there for its agent on the Nodes. Interfaces that the VPC CNI left idle in a VPC of the network alone are deleted in any case: an
//! instance that terminates while an interface is being attached leaves it behind, and nothing else ever deletes it
//! (amazon-vpc-cni-k8s#608, #1223). So are cluster security groups of EKS that nodes were connected with: EKS cannot delete one that a rule of
//! the network names.
//!
//! Controllers tag what they create with the name of the cluster, which another cluster in the same VPC may have as well. So in a
//! VPC that others use too, tags are not enough: the planner deletes only what has to do with subnets or security groups of the network.
//!
//! That name is the one at EKS, if there is an EKS cluster. In our own VPC the name of the Cluster counts as well: former versions of
//! the provider tagged parts of the network with it, and controllers may have been given it.

use super::{connection, links};
use crate::desired::{Desired, DesiredVpc, Leftovers};
use crate::draft::Draft;
use crate::guardduty;
use crate::role::Role;
use crate::situation::Situation;
use crate::tags::kubernetes_tag;
use foo_model::names::TAG_NETWORK;
use foo_model::network::{
    Change, Endpoint, EndpointState, Interface, LoadBalancer, Peer, Rule, SecurityGroup, Tags, TargetGroup,
};
use foo_model::{EndpointId, SecurityGroupId, VpcId};
use std::collections::BTreeSet;

/// Prefix of the tags that EKS gives. Only AWS can set tags that begin with `aws:`.
const EKS: &str = "aws:eks:";

/// Which of them has the name of the control plane.
const TAG_EKS_CLUSTER: &str = "aws:eks:cluster-name";

/// Why a left-over is deleted.
const WHY: &str = "the workload cluster left it behind";

/// Why an idle interface is deleted.
const WHY_IDLE: &str = "the VPC CNI of a Node that is gone left it behind";

/// Description of interfaces of the VPC CNI; the id of the instance follows.
const CNI: &str = "aws-K8S-i-";

/// Why what GuardDuty created is deleted.
const WHY_GUARDDUTY: &str = "GuardDuty created it for Nodes that are gone";

pub(crate) fn delete(situation: &Situation<'_>, draft: &mut Draft, vpc: &VpcId) {
    let takes = Takes::new(situation, vpc);
    let parts = &situation.others;
    for it in parts.interfaces.values().filter(|it| takes.idle_of_cni(it)) {
        let change = Change::DeleteNetworkInterface { interface: it.id.clone() };
        draft.send(situation, &Role::Vpc, change, WHY_IDLE);
    }
    for it in parts.security_groups.values().filter(|it| takes.connected(it)) {
        // Once the rule that names it is revoked, nothing else says so.
        draft.record.cluster_groups.insert(it.id.clone());
        group(&takes, draft, it);
    }
    if situation.desired.leftovers != Leftovers::Delete {
        return;
    }
    draft.memory.linked.extend(takes.linked.iter().cloned());
    let balancers: Vec<_> = parts.load_balancers.values().filter(|it| takes.load_balancer(it)).collect();
    for it in &balancers {
        let change = Change::DeleteLoadBalancer { kind: it.kind, name: it.name.clone(), arn: it.arn.clone() };
        draft.send(situation, &Role::Vpc, change, WHY);
    }
    let targets = parts.target_groups.values().filter(|it| takes.target_group(it));
    // The listeners of a load balancer use them until it is gone.
    for it in targets.filter(|_| balancers.is_empty()) {
        draft.send(situation, &Role::Vpc, Change::DeleteTargetGroup { arn: it.arn.clone() }, WHY);
    }
    for it in parts.interfaces.values().filter(|it| takes.interface(it) && !takes.idle_of_cni(it)) {
        let change = Change::DeleteNetworkInterface { interface: it.id.clone() };
        draft.send(situation, &Role::Vpc, change, WHY);
    }
    let endpoints: BTreeSet<EndpointId> =
        parts.endpoints.values().filter(|it| takes.endpoint(it)).map(|it| it.id.clone()).collect();
    if !endpoints.is_empty() {
        draft.send(situation, &Role::Vpc, Change::DeleteVpcEndpoints { endpoints }, WHY_GUARDDUTY);
    }
    for it in parts.security_groups.values().filter(|it| takes.group(it)) {
        group(&takes, draft, it);
    }
}

/// Decides which load balancers, target groups, interfaces and groups of a VPC are deleted.
struct Takes<'a> {
    situation: &'a Situation<'a>,
    vpc: &'a VpcId,
    /// Ids of what has, or had since the deletion began, to do with our subnets and groups.
    linked: BTreeSet<String>,
    /// Whether the tags are not enough, because others use the VPC as well.
    is_shared: bool,
    /// The names that count as the cluster's.
    names: BTreeSet<&'a str>,
}

impl<'a> Takes<'a> {
    fn new(situation: &'a Situation<'a>, vpc: &'a VpcId) -> Self {
        let mut linked = links::linked(situation);
        linked.extend(situation.memory.linked.iter().cloned());
        let is_shared = is_shared(situation, vpc);
        Self { situation, vpc, linked, is_shared, names: names(situation.desired, is_shared) }
    }

    /// Without the cluster's name nothing distinguishes what the cluster left from what others have.
    fn may_be(&self, vpc: &VpcId, tags: &Tags, id: &str) -> bool {
        if self.situation.desired.kubernetes_cluster.is_none() {
            return false;
        }
        let linked = !self.is_shared || self.linked.contains(id);
        vpc == self.vpc && linked && self.names_the_cluster(tags)
    }

    /// Whether controllers of a cluster with the name of the network created it, rather than this provider, for another network, or EKS.
    fn names_the_cluster(&self, tags: &Tags) -> bool {
        if tags.contains_key(TAG_NETWORK) || tags.keys().any(|key| key.starts_with(EKS)) {
            return false;
        }
        // The tag of a stack does not say of which cluster; in our own VPC it can be of no other.
        let stack = is_managed(self.situation.desired) && tags.contains_key("service.k8s.aws/stack");
        let is = |key: &str, value: &str| tags.get(key).is_some_and(|it| it == value);
        stack
            || self.names.iter().any(|name| {
                is(&kubernetes_tag(name), "owned")
                    || is("elbv2.k8s.aws/cluster", name)
                    || is("cluster.k8s.amazonaws.com/name", name)
            })
    }

    fn load_balancer(&self, it: &LoadBalancer) -> bool {
        self.may_be(&it.vpc, &it.tags, links::key(it))
    }

    /// Target groups have neither interfaces nor security groups, so that their owner is unknown in a VPC that others use too.
    /// They keep nothing from being deleted.
    fn target_group(&self, it: &TargetGroup) -> bool {
        !self.is_shared && self.may_be(&it.vpc, &it.tags, &it.arn)
    }

    fn interface(&self, it: &Interface) -> bool {
        !it.in_use && !it.requester_managed && self.may_be(&it.vpc, &it.tags, it.id.as_str())
    }

    /// Whether the VPC CNI created it in a subnet of the network, and no instance has it.
    fn idle_of_cni(&self, it: &Interface) -> bool {
        let in_ours = it.vpc == *self.vpc && self.situation.own.subnets.contains_key(&it.subnet);
        let idle = !it.in_use && !it.requester_managed && it.description.starts_with(CNI);
        is_managed(self.situation.desired) && !self.is_shared && in_ours && idle
    }

    fn group(&self, it: &SecurityGroup) -> bool {
        let left = self.may_be(&it.vpc, &it.tags, it.id.as_str()) || self.of_control_plane(it);
        let guardduty = it.name.starts_with(guardduty::GROUP) && self.is_guardduty(&it.vpc, &it.tags);
        it.name != "default" && (left || guardduty)
    }

    /// Whether EKS could not delete it with the cluster because the provider's rule in the group for nodes named it then. A move loses the
    /// record, but not that rule.
    fn connected(&self, it: &SecurityGroup) -> bool {
        let Situation { record, own, .. } = self.situation;
        let mut rules = own.security_groups.values().flat_map(|it| &it.ingress);
        let known = record.cluster_groups.contains(&it.id)
            || rules.any(|rule| connection::connected_with(rule) == Some(&it.id));
        it.vpc == *self.vpc && known && it.name.starts_with("eks-cluster-sg-")
    }

    fn endpoint(&self, it: &Endpoint) -> bool {
        let lives = !matches!(it.state, EndpointState::Deleting | EndpointState::Deleted);
        lives && guardduty::is_service(&it.service) && self.is_guardduty(&it.vpc, &it.tags)
    }

    /// Whether GuardDuty created it in a VPC that no other owner uses. It deletes that itself only when Runtime Monitoring is disabled
    /// (Amazon GuardDuty User Guide, "Using infrastructure as code with GuardDuty automated security agents").
    fn is_guardduty(&self, vpc: &VpcId, tags: &Tags) -> bool {
        is_managed(self.situation.desired)
            && !self.is_shared
            && vpc == self.vpc
            && tags.contains_key(guardduty::TAG)
    }

    /// The group of the interfaces of our EKS control plane. EKS deletes it with the control plane, unless something uses it then
    /// (Amazon EKS User Guide, "View Amazon EKS security group requirements for clusters"). In a VPC of the user's it may be that of
    /// another control plane, and keeps nothing of the network from being deleted.
    fn of_control_plane(&self, it: &SecurityGroup) -> bool {
        let desired = self.situation.desired;
        // That tag is EKS's own: it has no other name than the cluster's at EKS.
        let own =
            it.tags.get(TAG_EKS_CLUSTER).is_some_and(|of| desired.kubernetes_cluster.as_ref() == Some(of));
        let alone = is_managed(desired) && !self.is_shared && it.vpc == *self.vpc;
        alone && own && it.name.starts_with("eks-cluster-sg-") && !it.tags.contains_key(TAG_NETWORK)
    }
}

/// The names that count as the cluster's. In a VPC that others use too it is only the one that its controllers use.
fn names(desired: &Desired, is_shared: bool) -> BTreeSet<&str> {
    let of_cluster = (!is_shared).then(|| desired.cluster_name());
    desired.kubernetes_cluster.as_deref().into_iter().chain(of_cluster).collect()
}

fn is_managed(desired: &Desired) -> bool {
    match &desired.vpc {
        DesiredVpc::Managed { .. } => true,
        DesiredVpc::Existing(_) => false,
    }
}

/// Whether other clusters may have something in the VPC: it is the user's, or another network of this provider is in it as well.
fn is_shared(situation: &Situation<'_>, vpc: &VpcId) -> bool {
    let parts = &situation.others;
    let subnets = parts.subnets.values().map(|it| (&it.vpc, &it.tags));
    let groups = parts.security_groups.values().map(|it| (&it.vpc, &it.tags));
    let mut parts = subnets.chain(groups);
    !is_managed(situation.desired) || parts.any(|(of, tags)| of == vpc && tags.contains_key(TAG_NETWORK))
}

/// Deletes a group once no rule names it and no interface has it.
fn group(takes: &Takes<'_>, draft: &mut Draft, group: &SecurityGroup) {
    let situation = takes.situation;
    let named = revoke(takes, draft, &group.id);
    let used = situation.others.interfaces.values().any(|it| it.groups.contains(&group.id));
    if !named && !used {
        let change = Change::DeleteSecurityGroup { group: group.id.clone() };
        draft.send(situation, &Role::Vpc, change, WHY);
    }
}

/// Revokes rules of our groups and of other left-overs that name a group. Whether any group has such rules.
fn revoke(takes: &Takes<'_>, draft: &mut Draft, named: &SecurityGroupId) -> bool {
    let situation = takes.situation;
    let all = situation.own.security_groups.values().chain(situation.others.security_groups.values());
    let mut found = false;
    for other in all.filter(|it| it.id != *named) {
        let naming = |rules: &BTreeSet<Rule>| -> BTreeSet<Rule> {
            let rules = rules.iter().filter(|it| matches!(&it.peer, Peer::Group(id) if id == named));
            rules.cloned().collect()
        };
        let (ingress, egress) = (naming(&other.ingress), naming(&other.egress));
        found |= !ingress.is_empty() || !egress.is_empty();
        let own = situation.own.security_groups.contains_key(&other.id);
        if !own && !takes.group(other) {
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
