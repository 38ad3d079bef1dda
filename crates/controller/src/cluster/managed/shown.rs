//! What a plan shows of its network: the part of the FooCluster's status that pools and Cluster API read, and the
//! conditions.

#[cfg(test)]
mod tests;

use crate::cluster::network_state::record;
use crate::cluster::status::Shown;
use foo_api::cluster::{FailureDomain, NetworkStatus, SubnetStatus};
use foo_api::conditions::NewCondition;
use foo_calls::report::Status;
use foo_cloud::CloudError;
use foo_model::network::{CidrState, ZoneInfo};
use foo_model::{Blocked, Difference, Kubernetes, Reason, SubnetId, Zone};
use foo_network::desired::{DesiredSubnet, Tier};
use foo_network::report::{ConditionKind, Resource, State};
use foo_network::{Desired, Observed, Plan, Role};
use std::collections::{BTreeMap, BTreeSet};

/// What there is to be shown.
pub(super) struct View<'a> {
    pub(super) desired: &'a Desired,
    pub(super) observed: &'a Observed,
    pub(super) plan: &'a Plan,
    pub(super) zones: &'a BTreeMap<Zone, ZoneInfo>,
    /// The status before the plan.
    pub(super) before: Option<NetworkStatus>,
    /// How far the manager's clock is from the API server's.
    pub(super) clock: Difference<Kubernetes>,
}

/// What a plan shows.
pub(super) fn shown(view: &View<'_>, failure: Option<CloudError>) -> Shown {
    let View { desired, plan, .. } = *view;
    let (pod_subnets, subnets): (Vec<_>, Vec<_>) =
        subnets(view).into_iter().partition(|it| it.desired.tier == Tier::Pods);
    let failure_domains = failure_domains(&subnets, view.zones);
    let statuses = |subnets: Vec<Usable<'_>>| subnets.into_iter().map(|subnet| subnet.status).collect();
    let network = NetworkStatus {
        vpc_id: plan.report.vpc.as_ref().map(|vpc| vpc.as_str().to_owned()).unwrap_or_default(),
        cidrs: cidrs(view),
        subnets: statuses(subnets),
        pod_subnets: statuses(pod_subnets),
        security_groups: node_groups(view),
        id: Some(desired.network_id.clone()),
        resources: record::resources(&plan.record, &plan.report.resources, view.clock),
        intents: record::intents(&plan.record, view.clock),
        tag_keys: plan.record.tag_keys.iter().cloned().collect(),
        kubernetes_cluster: desired.kubernetes_cluster.clone(),
        cluster_security_groups: record::cluster_groups(&plan.record),
    };
    let of = |kind: ConditionKind| plan.report.conditions.iter().find(move |it| it.kind == kind);
    let mut ready = of(ConditionKind::NetworkReady).map_or_else(not_yet, condition);
    if let Some(error) = failure.as_ref().filter(|_| ready.status != "True") {
        // What was planned depends on reads that failed.
        ready = NewCondition {
            kind: ready.kind,
            status: "False",
            reason: Reason::from(error.kind).as_str().to_owned(),
            message: error.to_string(),
        };
    }
    let areas = plan.report.conditions.iter().filter(|it| is_area(it.kind)).map(condition).collect();
    Shown { network, failure_domains, ready, areas, failure }
}

/// What the deletion waits for.
pub(super) fn deleting(plan: &Plan, failure: Option<&CloudError>) -> Blocked {
    if let Some(error) = failure {
        return Blocked::new(error.kind.into(), error.to_string());
    }
    let condition = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::Deleting);
    condition.map_or_else(
        || Blocked::new(Reason::Deleting, "the network is being deleted"),
        |condition| Blocked::new(condition.reason, condition.message.as_str()),
    )
}

fn not_yet() -> NewCondition {
    let kind: &'static str = ConditionKind::NetworkReady.into();
    NewCondition {
        kind: kind.to_owned(),
        status: "Unknown",
        reason: Reason::NotYetVerified.as_str().to_owned(),
        message: "AWS has not been asked yet".to_owned(),
    }
}

fn is_area(kind: ConditionKind) -> bool {
    match kind {
        ConditionKind::VpcReady
        | ConditionKind::SubnetsReady
        | ConditionKind::RoutesReady
        | ConditionKind::NatReady
        | ConditionKind::SecurityGroupsReady
        | ConditionKind::EndpointsReady => true,
        ConditionKind::NetworkReady | ConditionKind::Deleting => false,
    }
}

fn condition(published: &foo_network::report::Condition) -> NewCondition {
    let kind: &'static str = published.kind.into();
    let status = match published.status {
        Status::True => "True",
        Status::False => "False",
        Status::Unknown => "Unknown",
    };
    NewCondition {
        kind: kind.to_owned(),
        status,
        reason: published.reason.as_str().to_owned(),
        message: published.message.clone(),
    }
}

/// A subnet that instances can be launched into, or one for Pods.
struct Usable<'a> {
    desired: &'a DesiredSubnet,
    status: SubnetStatus,
}

/// The subnets that can be used, by id. One that could be used once stays, whatever a user did to its routes since: pools would
/// move otherwise.
fn subnets<'a>(view: &View<'a>) -> Vec<Usable<'a>> {
    let View { desired, observed, plan, ref before, .. } = *view;
    let resources: BTreeMap<&Role, &Resource> =
        plan.report.resources.iter().map(|it| (&it.role, it)).collect();
    let was: BTreeSet<&str> =
        before.iter().flat_map(NetworkStatus::all_subnets).map(|subnet| subnet.id.as_str()).collect();
    let is_ready = |role: &Role| resources.get(role).is_some_and(|it| it.state == State::Ready);
    let mut all: Vec<Usable<'_>> = desired
        .subnets
        .iter()
        .filter_map(|subnet| {
            let role = Role::Subnet(subnet.key.clone());
            let resource = resources.get(&role).filter(|it| it.state != State::Deleting)?;
            let id = resource.id.clone()?;
            let routes = match subnet.tier {
                Tier::Public => Role::PublicRoutes,
                Tier::Private | Tier::Pods => Role::PrivateRoutes(subnet.zone.clone()),
            };
            let usable = was.contains(id.as_str()) || is_ready(&role) && is_ready(&routes);
            usable.then(|| Usable { desired: subnet, status: status(subnet, id, observed) })
        })
        .collect();
    all.sort_by(|one, other| one.status.id.cmp(&other.status.id));
    all
}

fn status(subnet: &DesiredSubnet, id: String, observed: &Observed) -> SubnetStatus {
    let seen = observed.tagged.parts.subnets.get(&SubnetId::new(id.as_str()));
    let ipv6 = seen.iter().flat_map(|seen| &seen.ipv6).find(|it| it.state == CidrState::Associated);
    SubnetStatus {
        id,
        zone: subnet.zone.as_str().to_owned(),
        public: subnet.tier == Tier::Public,
        name: Some(subnet.key.clone()),
        cidr: Some(subnet.cidr.to_string()),
        ipv6_cidr: ipv6.map(|it| it.range.to_string()),
    }
}

/// The security groups that every node gets. While one of them is missing, those that were shown before: without it
/// every node would be replaced.
fn node_groups(view: &View<'_>) -> Vec<String> {
    let of_nodes = view.desired.security_groups.iter().filter(|group| group.is_for_nodes);
    let id_of = |name: &str| {
        let role = Role::SecurityGroup(name.to_owned());
        view.plan.report.resources.iter().find(|it| it.role == role)?.id.clone()
    };
    let ids: Option<BTreeSet<String>> = of_nodes.map(|group| id_of(&group.name)).collect();
    match (ids, &view.before) {
        (Some(ids), _) => ids.into_iter().collect(),
        (None, before) => before.as_ref().map(|it| it.security_groups.clone()).unwrap_or_default(),
    }
}

/// The ranges that the VPC has or is about to have, the first one first; those that were shown before until a read
/// shows the VPC.
fn cidrs(view: &View<'_>) -> Vec<String> {
    let id = view.plan.report.vpc.as_ref();
    let parts = [&view.observed.tagged.parts, &view.observed.by_id.parts];
    let Some(vpc) = id.and_then(|id| parts.iter().find_map(|parts| parts.vpcs.get(id))) else {
        let before = view.before.as_ref().filter(|it| id.is_some_and(|id| it.vpc_id == id.as_str()));
        return before.map(|it| it.cidrs.clone()).unwrap_or_default();
    };
    let further = vpc.cidrs.iter().filter(|it| it.range != vpc.cidr && has_it(it.state)).map(|it| it.range);
    std::iter::once(vpc.cidr).chain(further).map(|range| range.to_string()).collect()
}

fn has_it(state: CidrState) -> bool {
    match state {
        CidrState::Associating | CidrState::Associated | CidrState::Disassociating => true,
        CidrState::Disassociated | CidrState::Failing | CidrState::Failed => false,
    }
}

/// One for each zone with a subnet for instances, sorted. Machines of a control plane can run where there is a private one.
fn failure_domains(subnets: &[Usable<'_>], zones: &BTreeMap<Zone, ZoneInfo>) -> Vec<FailureDomain> {
    let names: BTreeSet<&Zone> = subnets.iter().map(|subnet| &subnet.desired.zone).collect();
    let domain = |zone: &Zone| {
        let of = |tier: Tier| {
            let there = subnets.iter().filter(|it| it.desired.zone == *zone && it.desired.tier == tier);
            there.map(|it| it.status.id.as_str()).collect::<Vec<_>>().join(",")
        };
        let (private, public) = (of(Tier::Private), of(Tier::Public));
        let known = [
            ("zoneID", zones.get(zone).map(|info| info.id.clone()).unwrap_or_default()),
            ("privateSubnets", private.clone()),
            ("publicSubnets", public),
        ];
        let known = known.into_iter().filter(|(_, value)| !value.is_empty());
        FailureDomain {
            name: zone.as_str().to_owned(),
            control_plane: !private.is_empty(),
            attributes: Some(known.map(|(key, value)| (key.to_owned(), value)).collect()),
        }
    };
    names.into_iter().map(domain).collect()
}
