//! Foreign resources in a VPC that block the deletion of the network's.

use super::links;
use crate::desired::{DesiredVpc, Leftovers};
use crate::draft::Draft;
use crate::guardduty;
use crate::memory::Failure;
use crate::report::ForeignResource;
use crate::situation::Situation;
use crate::timing::{WAITING, WAITING_LONG};
use foo_model::network::{
    EndpointKind, EndpointState, Interface, Kind, LoadBalancer, NatState, RouteTable, Scope, Tags,
};
use foo_model::{Reason, SubnetId, Timestamp, VpcId};

/// The kinds that may stand in the way. In the user's VPC parts of others keep the network's from being deleted by the interfaces that they have
/// in our subnets, or by using our groups and tables.
fn kinds(situation: &Situation<'_>) -> Vec<Kind> {
    let mut kinds = vec![
        Kind::Interface,
        Kind::LoadBalancer,
        Kind::SecurityGroup,
        Kind::Subnet,
        Kind::NatGateway,
        Kind::Endpoint,
    ];
    if is_managed(situation) {
        kinds.extend([Kind::RouteTable, Kind::InternetGateway]);
        if situation.desired.leftovers == Leftovers::Delete {
            kinds.push(Kind::TargetGroup);
        }
    }
    kinds
}

fn is_managed(situation: &Situation<'_>) -> bool {
    match &situation.desired.vpc {
        DesiredVpc::Managed { .. } => true,
        DesiredVpc::Existing(_) => false,
    }
}

/// Requests reads of what is in a VPC. Whether reads of all of it began at that moment or later.
pub(crate) fn request_reads(
    situation: &Situation<'_>,
    draft: &mut Draft,
    vpc: &VpcId,
    since: Timestamp,
) -> bool {
    let read = situation.observed.in_vpc.get(vpc);
    let refused = refused_first(situation);
    let is_blocked = !all(situation, vpc).is_empty() || is_refused(situation);
    let mut complete = true;
    for kind in kinds(situation) {
        let begun = read.and_then(|read| read.begun.get(&kind)).copied().filter(|begun| *begun >= since);
        complete &= begun.is_some();
        let is_urgent =
            kind == Kind::Interface || (kind == Kind::Endpoint && deletes_endpoint(situation, vpc));
        let again = if is_urgent { WAITING } else { WAITING_LONG };
        match begun {
            None => draft.request_read_in(kind, Scope::Vpc(vpc.clone()), since),
            Some(begun) if is_blocked => {
                let unseen = refused.filter(|refused| *refused > begun);
                draft.request_read_in(
                    kind,
                    Scope::Vpc(vpc.clone()),
                    unseen.unwrap_or_else(|| begun.plus(again)),
                );
            }
            Some(_) => {}
        }
    }
    complete
}

/// Whether AWS deletes an endpoint that is not the network's.
fn deletes_endpoint(situation: &Situation<'_>, vpc: &VpcId) -> bool {
    let mut endpoints = situation.others.endpoints.values();
    endpoints.any(|it| it.vpc == *vpc && it.state == EndpointState::Deleting)
}

/// When AWS last said for the first time of something that it is in use. What uses it may be newer than the reads.
fn refused_first(situation: &Situation<'_>) -> Option<Timestamp> {
    in_use(situation).filter(|it| it.times == 1).map(|it| it.at).max()
}

/// Whether AWS says of something that it is in use.
fn is_refused(situation: &Situation<'_>) -> bool {
    in_use(situation).next().is_some()
}

fn in_use<'a>(situation: &'a Situation<'_>) -> impl Iterator<Item = &'a Failure> {
    situation.memory.calls.failures.iter().filter(|it| it.refusal.reason == Reason::ResourceInUse)
}

/// Everything in a VPC that is not the network's and stands in the way of what is. In a VPC of the network that is all of it.
pub(crate) fn all(situation: &Situation<'_>, vpc: &VpcId) -> Vec<ForeignResource> {
    let mut found = users(situation, vpc);
    found.extend(gateways(situation, vpc));
    if is_managed(situation) {
        let parts = &situation.others;
        for it in parts.route_tables.values().filter(|it| it.vpc == *vpc && !it.main) {
            found.push(foreign_resource(Kind::RouteTable, &it.id, with_service("", &it.tags)));
        }
        for it in parts.internet_gateways.values().filter(|it| it.vpc.as_ref() == Some(vpc)) {
            found.push(foreign_resource(Kind::InternetGateway, &it.id, with_service("", &it.tags)));
        }
    }
    found.sort();
    found
}

fn foreign_resource(kind: Kind, id: &impl ToString, description: String) -> ForeignResource {
    ForeignResource { kind, id: id.to_string(), description }
}

/// Load balancers, interfaces, groups and subnets.
fn users(situation: &Situation<'_>, vpc: &VpcId) -> Vec<ForeignResource> {
    let (parts, managed) = (&situation.others, is_managed(situation));
    let mut found = Vec::new();
    for it in parts.load_balancers.values().filter(|it| it.vpc == *vpc) {
        let holds = holds_by(situation, |of| links::is_interface_of(of, it));
        if managed || holds || links::has_own(situation, &it.groups) {
            found.push(foreign_resource(Kind::LoadBalancer, &it.name, load_balancer(it)));
        }
    }
    for it in parts.interfaces.values().filter(|it| it.vpc == *vpc) {
        let named = is_of_a_known_part(situation, it) || is_foreign(situation, it);
        if holds(situation, it) && !named {
            found.push(foreign_resource(Kind::Interface, &it.id, interface(it)));
        }
    }
    for it in parts.security_groups.values().filter(|it| it.vpc == *vpc && it.name != "default") {
        if managed || links::names_own(situation, it) {
            found.push(foreign_resource(Kind::SecurityGroup, &it.id, with_service(&it.name, &it.tags)));
        }
    }
    for it in parts.subnets.values().filter(|it| it.vpc == *vpc) {
        if managed || uses_own_table(situation, &it.id) {
            found.push(foreign_resource(Kind::Subnet, &it.id, with_service(&it.cidr.to_string(), &it.tags)));
        }
    }
    found
}

/// NAT gateways and endpoints. A gateway endpoint in a route table of the network is none: the table can be deleted all the same.
fn gateways(situation: &Situation<'_>, vpc: &VpcId) -> Vec<ForeignResource> {
    let (parts, managed) = (&situation.others, is_managed(situation));
    let mut found = Vec::new();
    for it in parts.nat_gateways.values().filter(|it| it.vpc == *vpc && it.state != NatState::Deleted) {
        let public = !it.allocations.is_empty() && has_our_internet_gateway(situation, vpc);
        let in_ours = situation.own.subnets.contains_key(&it.subnet);
        let with_ours = it.allocations.iter().any(|id| situation.own.addresses.contains_key(id));
        if managed
            || public
            || in_ours
            || with_ours
            || holds_by(situation, |of| is_created_for(of, it.id.as_str()))
        {
            found.push(foreign_resource(Kind::NatGateway, &it.id, with_service("", &it.tags)));
        }
    }
    for it in parts.endpoints.values().filter(|it| it.vpc == *vpc && it.state != EndpointState::Deleted) {
        let linked = match &it.kind {
            EndpointKind::Interface { subnets, groups, .. } => {
                let mut subnets = subnets.iter();
                subnets.any(|subnet| situation.own.subnets.contains_key(subnet))
                    || links::has_own(situation, groups)
            }
            EndpointKind::Gateway { .. } | EndpointKind::Other(_) => false,
        };
        if managed || linked || holds_by(situation, |of| is_created_for(of, it.id.as_str())) {
            found.push(foreign_resource(Kind::Endpoint, &it.id, with_service(&it.service, &it.tags)));
        }
    }
    found
}

/// Whether one of the interfaces of a load balancer, NAT gateway or endpoint of others holds what is the network's: such an interface is not named
/// itself, so whose it is must be.
fn holds_by(situation: &Situation<'_>, is_of_it: impl Fn(&Interface) -> bool) -> bool {
    situation.others.interfaces.values().any(|it| is_of_it(it) && holds(situation, it))
}

/// Whether an interface is in a subnet of the network, has a group of the network or an address of the network, or has a public address, which keeps an
/// internet gateway of the network attached. In a VPC of the network every one counts.
fn holds(situation: &Situation<'_>, interface: &Interface) -> bool {
    let public = interface.public_ip.is_some() && has_our_internet_gateway(situation, &interface.vpc);
    is_managed(situation)
        || public
        || has_our_address(situation, interface)
        || links::interface(situation, interface)
}

/// Whether another user associated an Elastic IP address of the network with it.
fn has_our_address(situation: &Situation<'_>, interface: &Interface) -> bool {
    situation.own.addresses.values().any(|it| it.interface.as_ref() == Some(&interface.id))
}

fn has_our_internet_gateway(situation: &Situation<'_>, vpc: &VpcId) -> bool {
    situation.own.internet_gateways.values().any(|it| it.vpc.as_ref() == Some(vpc))
}

fn uses_own_table(situation: &Situation<'_>, subnet: &SubnetId) -> bool {
    let mut tables = situation.own.route_tables.values();
    tables.any(|table| table.associations.iter().any(|it| it.subnet == *subnet))
}

/// Interfaces of our own NAT gateways and endpoints go with them, and those of a load balancer with it: AWS names the owner
/// in the description.
pub(crate) fn is_of_a_known_part(situation: &Situation<'_>, interface: &Interface) -> bool {
    let mut balancers = situation.others.load_balancers.values();
    let of_balancer = balancers.any(|it| links::is_interface_of(interface, it));
    let of_gateway = interface.requester_managed && is_of_a_gateway(interface);
    (of_gateway && !is_foreign(situation, interface)) || of_balancer
}

/// Whether AWS made it for a NAT gateway or an endpoint.
fn is_of_a_gateway(interface: &Interface) -> bool {
    let has =
        |kind: &str, words: &str| interface.interface_type == kind || interface.description.contains(words);
    has("nat_gateway", "NAT Gateway") || has("vpc_endpoint", "VPC Endpoint")
}

/// Whether it belongs to a NAT gateway or an endpoint of others: AWS names that in the description.
fn is_foreign(situation: &Situation<'_>, interface: &Interface) -> bool {
    let parts = &situation.others;
    let named = |id: &str| is_created_for(interface, id);
    let mut nats = parts.nat_gateways.values().filter(|it| it.state != NatState::Deleted);
    let mut endpoints = parts.endpoints.values().filter(|it| it.state != EndpointState::Deleted);
    nats.any(|it| named(it.id.as_str())) || endpoints.any(|it| named(it.id.as_str()))
}

/// Whether AWS made it for the NAT gateway or endpoint with this id.
fn is_created_for(interface: &Interface, id: &str) -> bool {
    is_of_a_gateway(interface) && interface.description.contains(id)
}

/// The subnets of others that use a table of the network.
pub(crate) fn foreign_associations(situation: &Situation<'_>, table: &RouteTable) -> Vec<String> {
    let foreign = table.associations.iter().filter(|it| situation.others.subnets.contains_key(&it.subnet));
    foreign.map(|it| it.subnet.to_string()).collect()
}

fn load_balancer(it: &LoadBalancer) -> String {
    let kind: &str = it.kind.into();
    with_service(&format!("{kind} load balancer"), &it.tags)
}

fn interface(it: &Interface) -> String {
    let instance = it.instance.as_ref().map(|id| format!(" of {id}")).unwrap_or_default();
    with_service(format!("{}{instance}", it.description).trim_start(), &it.tags)
}

/// A description, with the Service or Ingress that the tags name.
fn with_service(text: &str, tags: &Tags) -> String {
    let service =
        ["kubernetes.io/service-name", "service.k8s.aws/stack"].iter().find_map(|key| tags.get(*key));
    let ingress = tags.get("ingress.k8s.aws/stack");
    let name = tags.get("Name");
    if tags.contains_key(guardduty::TAG) {
        return format!("{text} of Amazon GuardDuty").trim().to_owned();
    }
    let of = match (service, ingress, name) {
        (Some(service), _, _) => format!("of Service {service}"),
        (None, Some(ingress), _) => format!("of Ingress {ingress}"),
        (None, None, Some(name)) => format!("named {name}"),
        (None, None, None) => String::new(),
    };
    format!("{text} {of}").trim().to_owned()
}
