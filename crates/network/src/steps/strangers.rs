//! What is in a VPC and is not ours.

use super::links;
use crate::desired::{DesiredVpc, Leftovers};
use crate::draft::Draft;
use crate::memory::Failure;
use crate::report::Stranger;
use crate::situation::Situation;
use crate::timing::{WAITING, WAITING_LONG};
use foo_model::network::{Interface, Kind, LoadBalancer, RouteTable, Scope, Tags};
use foo_model::{Reason, Timestamp, VpcId};

/// The kinds that may stand in the way.
fn kinds(situation: &Situation<'_>) -> Vec<Kind> {
    let mut kinds = vec![Kind::Interface, Kind::LoadBalancer, Kind::SecurityGroup];
    if matches!(situation.desired.vpc, DesiredVpc::Managed { .. }) {
        kinds.extend([
            Kind::Subnet,
            Kind::RouteTable,
            Kind::InternetGateway,
            Kind::NatGateway,
            Kind::Endpoint,
        ]);
    }
    if situation.desired.leftovers == Leftovers::Delete {
        kinds.push(Kind::TargetGroup);
    }
    kinds
}

/// Requests looks at what is in a VPC. Whether all of it was looked at since that moment.
pub(crate) fn look(situation: &Situation<'_>, draft: &mut Draft, vpc: &VpcId, since: Timestamp) -> bool {
    let look = situation.observed.in_vpc.get(vpc);
    let refused = refused_first(situation);
    let is_blocked = !all(situation, vpc).is_empty() || is_refused(situation);
    let mut complete = true;
    for kind in kinds(situation) {
        let begun = look.and_then(|look| look.begun.get(&kind)).copied().filter(|begun| *begun >= since);
        complete &= begun.is_some();
        let again = if kind == Kind::Interface { WAITING } else { WAITING_LONG };
        match begun {
            None => draft.look_in(kind, Scope::Vpc(vpc.clone()), since),
            Some(begun) if is_blocked => {
                let unseen = refused.filter(|refused| *refused > begun);
                draft.look_in(kind, Scope::Vpc(vpc.clone()), unseen.unwrap_or_else(|| begun.plus(again)));
            }
            Some(_) => {}
        }
    }
    complete
}

/// When AWS last said for the first time of something that it is in use. What uses it may be newer than the looks.
fn refused_first(situation: &Situation<'_>) -> Option<Timestamp> {
    in_use(situation).filter(|it| it.times == 1).map(|it| it.at).max()
}

/// Whether AWS says of something that it is in use.
fn is_refused(situation: &Situation<'_>) -> bool {
    in_use(situation).next().is_some()
}

fn in_use<'a>(situation: &'a Situation<'_>) -> impl Iterator<Item = &'a Failure> {
    situation.memory.failures.iter().filter(|it| it.refusal.reason == Reason::ResourceInUse)
}

/// Everything in a VPC that is not ours and stands in the way of what is.
pub(crate) fn all(situation: &Situation<'_>, vpc: &VpcId) -> Vec<Stranger> {
    let managed = matches!(situation.desired.vpc, DesiredVpc::Managed { .. });
    let mut found = Vec::new();
    let parts = &situation.others;
    let mut add = |kind, id: &str, description: String| {
        found.push(Stranger { kind, id: id.to_owned(), description });
    };
    for it in parts.load_balancers.values().filter(|it| it.vpc == *vpc) {
        if managed || links::load_balancer(situation, it) {
            add(Kind::LoadBalancer, &it.name, load_balancer(it));
        }
    }
    for it in parts.interfaces.values().filter(|it| it.vpc == *vpc) {
        if holds(situation, it) && !is_of_a_known_part(situation, it) {
            add(Kind::Interface, it.id.as_str(), interface(it));
        }
    }
    for it in parts.security_groups.values().filter(|it| it.vpc == *vpc && it.name != "default") {
        if managed || links::names_ours(situation, it) {
            add(Kind::SecurityGroup, it.id.as_str(), with_service(&it.name, &it.tags));
        }
    }
    if managed {
        for it in parts.subnets.values().filter(|it| it.vpc == *vpc) {
            add(Kind::Subnet, it.id.as_str(), with_service(&it.cidr.to_string(), &it.tags));
        }
        for it in parts.route_tables.values().filter(|it| it.vpc == *vpc && !it.main) {
            add(Kind::RouteTable, it.id.as_str(), with_service("", &it.tags));
        }
        for it in parts.internet_gateways.values().filter(|it| it.vpc.as_ref() == Some(vpc)) {
            add(Kind::InternetGateway, it.id.as_str(), with_service("", &it.tags));
        }
        for it in situation.others.nat_gateways.values().filter(|it| it.vpc == *vpc) {
            if it.state != foo_model::network::NatState::Deleted {
                add(Kind::NatGateway, it.id.as_str(), with_service("", &it.tags));
            }
        }
        for it in parts.endpoints.values().filter(|it| it.vpc == *vpc) {
            if it.state != foo_model::network::EndpointState::Deleted {
                add(Kind::Endpoint, it.id.as_str(), with_service(&it.service, &it.tags));
            }
        }
    }
    found.sort();
    found
}

/// Whether an interface is in a subnet of ours or has a group of ours. In a VPC of ours every one counts.
fn holds(situation: &Situation<'_>, interface: &Interface) -> bool {
    matches!(situation.desired.vpc, DesiredVpc::Managed { .. }) || links::interface(situation, interface)
}

/// Interfaces of our own NAT gateways and endpoints go with them, and those of a load balancer with it: AWS names the owner
/// in the description.
pub(crate) fn is_of_a_known_part(situation: &Situation<'_>, interface: &Interface) -> bool {
    let description = &interface.description;
    let nat = interface.interface_type == "nat_gateway" || description.contains("NAT Gateway");
    let endpoint = interface.interface_type == "vpc_endpoint" || description.contains("VPC Endpoint");
    let known = |id: &str| description.contains(id);
    let of_strangers = situation.others.nat_gateways.keys().any(|it| known(it.as_str()))
        || situation.others.endpoints.keys().any(|it| known(it.as_str()));
    let mut balancers = situation.others.load_balancers.values();
    let of_balancer = balancers.any(|it| links::is_interface_of(interface, it));
    ((nat || endpoint) && interface.requester_managed && !of_strangers) || of_balancer
}

/// Whether a table of ours is used by subnets that are not.
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
    let of = match (service, ingress, name) {
        (Some(service), _, _) => format!("of Service {service}"),
        (None, Some(ingress), _) => format!("of Ingress {ingress}"),
        (None, None, Some(name)) => format!("named {name}"),
        (None, None, None) => String::new(),
    };
    format!("{text} {of}").trim().to_owned()
}
