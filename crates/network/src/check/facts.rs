//! What the check knows: everything that any read or response shows, without conclusions of the planner.

use crate::desired::{DesiredSubnet, NatMode, Tier};
use crate::recorded::{Deletion, RecordedPart};
use crate::role::Role;
use crate::situation::{Tagged, tagged};
use crate::{Desired, Memory, Observed, Recorded};
use foo_model::network::{
    Endpoint, LoadBalancer, NatGateway, NatState, Parts, Peer, Protocol, RouteTarget, Rule, Tags,
};
use foo_model::{
    AllocationId, AssociationId, EgressOnlyGatewayId, EndpointId, NatGatewayId, SecurityGroupId, VpcId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The id, and the Cluster; of what is being deleted the Cluster's namespace.
fn has_our_tags(desired: &Desired, tags: &Tags) -> bool {
    let namespace = desired.cluster.split('/').next().unwrap_or_default();
    let in_namespace = |it: &String| it.strip_prefix(namespace).is_some_and(|rest| rest.starts_with('/'));
    let cluster = tags.get("infrastructure.foo.com/cluster");
    let cluster = cluster.filter(|it| **it == desired.cluster || (desired.being_deleted && in_namespace(it)));
    tags.get("infrastructure.foo.com/network") == Some(&desired.network_id) && cluster.is_some()
}

pub(super) struct Facts<'a> {
    pub(super) desired: &'a Desired,
    pub(super) observed: &'a Observed,
    pub(super) memory: &'a Memory,
    /// What the status says, or what was written there last.
    pub(super) record: &'a Recorded,
    /// What carries the network's tag in any read or response, with its tags.
    own: BTreeMap<String, Tags>,
    /// Ids that our own calls deleted.
    deleted: BTreeSet<String>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        desired: &'a Desired,
        observed: &'a Observed,
        recorded: &'a Recorded,
        memory: &'a Memory,
    ) -> Self {
        let mut own = BTreeMap::new();
        let mut add = |it: Tagged| {
            if has_our_tags(desired, &it.tags) {
                own.insert(it.id, it.tags);
            }
        };
        reads(observed).for_each(|parts| tagged(parts).into_iter().for_each(&mut add));
        for effect in &memory.calls.effects {
            let tags = effect.action.change.tags();
            for it in tagged(&effect.response) {
                own.entry(it.id).or_insert_with(|| tags.cloned().unwrap_or_default());
            }
        }
        let deleted = memory.calls.effects.iter().filter_map(|it| it.action.change.deleted_at_once());
        let deleted = deleted.map(str::to_owned).collect();
        let record = memory.calls.record.as_ref().unwrap_or(recorded);
        Self { desired, observed, memory, record, own, deleted }
    }

    pub(super) fn is_own(&self, id: &str) -> bool {
        self.own.contains_key(id)
    }

    /// The other management clusters that parts name, unless the VPC names this one. What any read or call says to be this one's is.
    pub(super) fn other_installations(&self) -> BTreeSet<String> {
        const TAG: &str = "infrastructure.foo.com/installation";
        let here = &self.desired.installation;
        let shown: Vec<Tagged> = reads(self.observed).flat_map(tagged).collect();
        let own = shown.iter().filter(|it| has_our_tags(self.desired, &it.tags));
        let (mut owners, mut here_too) = (BTreeMap::new(), BTreeSet::new());
        for it in own {
            match it.tags.get(TAG) {
                Some(owner) if owner == here => drop(here_too.insert(it.id.clone())),
                Some(owner) => drop(owners.insert(it.id.clone(), owner.clone())),
                None => {}
            }
        }
        for effect in &self.memory.calls.effects {
            if let foo_model::network::Change::CreateTags { ids, tags } = &effect.action.change
                && tags.get(TAG) == Some(here)
            {
                here_too.extend(ids.iter().cloned());
            }
        }
        let is_vpc = |id: &String| self.own.get(id).and_then(|tags| tags.get("infrastructure.foo.com/role"));
        if here_too.iter().any(|id| is_vpc(id).is_some_and(|role| role == "vpc")) {
            return BTreeSet::new();
        }
        owners.into_iter().filter(|(id, _)| !here_too.contains(id)).map(|(_, owner)| owner).collect()
    }

    /// Whether nothing of the network exists, and parts of another one of the same Cluster and management cluster do.
    pub(super) fn begins_beside_another(&self) -> bool {
        let desired = self.desired;
        let is = |it: &Tagged, tag: &str, value: &str| {
            it.tags.get(&format!("infrastructure.foo.com/{tag}")).is_some_and(|it| it == value)
        };
        let mut shown = reads(self.observed).flat_map(tagged);
        self.own.is_empty()
            && shown.any(|it| {
                is(&it, "cluster", &desired.cluster)
                    && is(&it, "installation", &desired.installation)
                    && !is(&it, "network", &desired.network_id)
                    && !self.is_over(&it.id)
            })
    }

    pub(super) fn is_own_association(&self, association: &AssociationId) -> bool {
        let returned = self.memory.calls.effects.iter().map(|it| &it.response);
        let mut tables = reads(self.observed).chain(returned).flat_map(|parts| parts.route_tables.values());
        tables.any(|table| {
            self.is_own(table.id.as_str()) && table.associations.iter().any(|it| it.id == *association)
        })
    }

    pub(super) fn is_range_of_our_vpc(&self, association: &AssociationId) -> bool {
        let mut vpcs = reads(self.observed).flat_map(|parts| parts.vpcs.values());
        vpcs.any(|vpc| self.is_own(vpc.id.as_str()) && vpc.cidrs.iter().any(|it| it.id == *association))
    }

    /// Whether a part with the role is shown that nothing says is gone.
    pub(super) fn shows_role(&self, role: &Role) -> bool {
        let text = role.to_string();
        self.own.iter().any(|(id, tags)| {
            tags.get("infrastructure.foo.com/role") == Some(&text)
                && !self.deleted.contains(id)
                && !self.is_over(id)
                && !self.was_asked_in_vain(id)
        })
    }

    /// Whether a recorded part is gone: deleted by us, or not found when it was asked for, or no longer shown after its deletion
    /// was sent.
    pub(super) fn is_gone(&self, part: &RecordedPart) -> bool {
        let sent = part.deletion == Deletion::Sent && part.seen;
        let shown = || reads(self.observed).any(|it| tagged(it).iter().any(|it| it.id == part.id));
        self.deleted.contains(&part.id)
            || self.is_over(&part.id)
            || self.was_asked_in_vain(&part.id)
            || (sent && !shown())
    }

    /// Whether a read shows it as deleted.
    fn is_over(&self, id: &str) -> bool {
        use foo_model::network::EndpointState;
        reads(self.observed).any(|parts| {
            let nat = parts.nat_gateways.get(&id.into()).is_some_and(|it| it.state == NatState::Deleted);
            let endpoint = parts.endpoints.get(&id.into());
            nat || endpoint.is_some_and(|it| it.state == EndpointState::Deleted)
        })
    }

    fn was_asked_in_vain(&self, id: &str) -> bool {
        let asked = self.observed.by_id.begun.values().any(|ids| ids.contains_key(id));
        asked && !tagged(&self.observed.by_id.parts).iter().any(|it| it.id == id)
    }

    pub(super) fn nat(&self, id: &NatGatewayId) -> Option<&NatGateway> {
        reads(self.observed).find_map(|parts| parts.nat_gateways.get(id))
    }

    pub(super) fn endpoint(&self, id: &EndpointId) -> Option<&Endpoint> {
        reads(self.observed).find_map(|parts| parts.endpoints.get(id))
    }

    /// Whether a table of the network has a route to the NAT gateway, after our own changes.
    pub(super) fn is_routed_to(&self, gateway: &NatGatewayId) -> bool {
        self.leads_to(&RouteTarget::NatGateway(gateway.clone()))
    }

    /// Whether a table of the network has a route to the egress-only internet gateway, after our own changes.
    pub(super) fn is_routed_out_by(&self, gateway: &EgressOnlyGatewayId) -> bool {
        self.leads_to(&RouteTarget::EgressOnlyGateway(gateway.clone()))
    }

    /// Whether private subnets have a way out over IPv6.
    pub(super) fn wants_ipv6_out(&self) -> bool {
        let private = |it: &DesiredSubnet| it.tier == Tier::Private && it.ipv6_index.is_some();
        self.desired.ipv6 && self.desired.nat != NatMode::None && self.desired.subnets.iter().any(private)
    }

    fn leads_to(&self, to: &RouteTarget) -> bool {
        use foo_model::network::Change;
        let mut routes = BTreeMap::new();
        for table in self.observed.tagged.parts.route_tables.values() {
            for route in table.routes.iter().filter(|_| self.is_own(table.id.as_str())) {
                routes.insert((table.id.clone(), route.destination.clone()), route.target.clone());
            }
        }
        for effect in &self.memory.calls.effects {
            match &effect.action.change {
                Change::CreateRoute { table, destination, target }
                | Change::ReplaceRoute { table, destination, target } => {
                    routes.insert((table.clone(), destination.clone()), target.clone());
                }
                Change::DeleteRoute { table, destination } => {
                    routes.remove(&(table.clone(), destination.clone()));
                }
                Change::DeleteRouteTable { table } => routes.retain(|(of, _), _| of != table),
                _ => {}
            }
        }
        routes.values().any(|target| target == to)
    }

    pub(super) fn is_address_in_use(&self, address: &AllocationId) -> bool {
        let mut nats = self.observed.tagged.parts.nat_gateways.values();
        nats.any(|it| it.state != NatState::Deleted && it.allocations.contains(address))
    }

    /// Whether the desired NAT mode needs the zone's address.
    pub(super) fn wants_address(&self, role: &Role) -> bool {
        let Role::Address(zone) = role else { return true };
        let (private, public): (Vec<_>, Vec<_>) =
            self.desired.subnets.iter().partition(|it| it.tier.is_routed_privately());
        if public.is_empty() || private.is_empty() {
            return false;
        }
        let is_in = |subnets: &[&DesiredSubnet]| subnets.iter().any(|it| it.zone == *zone);
        let addresses = self.observed.tagged.parts.addresses.keys();
        let several = addresses.filter(|id| self.is_own(id.as_str())).count() > 1;
        match self.desired.nat {
            NatMode::None => false,
            NatMode::Single => !several,
            NatMode::PerZone => is_in(&public) && (is_in(&private) || !several),
        }
    }

    /// Whether the spec asks for the endpoint or group.
    pub(super) fn wants(&self, id: &str) -> bool {
        let role = self.own.get(id).and_then(|tags| tags.get("infrastructure.foo.com/role"));
        match role.and_then(|text| Role::parse(text)) {
            Some(Role::Endpoint(name)) => self.desired.endpoints.iter().any(|it| it.name == name),
            Some(Role::SecurityGroup(name)) => self.desired.security_groups.iter().any(|it| it.name == name),
            Some(_) | None => true,
        }
    }

    /// Whether another part of the network has the same role.
    pub(super) fn has_another_with_its_role(&self, id: &str) -> bool {
        let role = self.own.get(id).and_then(|tags| tags.get("infrastructure.foo.com/role"));
        role.is_some_and(|role| {
            let mut others = self.own.iter().filter(|(other, _)| *other != id);
            others.any(|(other, tags)| {
                tags.get("infrastructure.foo.com/role") == Some(role) && !self.deleted.contains(other)
            })
        })
    }

    /// Whether each of the rules allows all traffic of the network's group for nodes, with the description of those that the provider adds to
    /// cluster security groups of EKS.
    pub(super) fn are_of_the_connection(&self, rules: &BTreeSet<Rule>) -> bool {
        rules.iter().all(|rule| {
            rule.protocol == Protocol::All
                && rule.description == "nodes to cluster security group of EKS"
                && matches!(&rule.peer, Peer::Group(id) if self.is_group_for_nodes(id.as_str()))
        })
    }

    /// Whether it is the network's group for nodes, by its tag or by the record. While the network is being deleted, every group of the
    /// network may be: what is requested can be invalid then.
    fn is_group_for_nodes(&self, id: &str) -> bool {
        let tagged = self.own.get(id).and_then(|tags| tags.get("infrastructure.foo.com/role"));
        let is = |role: &Role| {
            let recorded = self.record.parts.get(role).is_some_and(|part| part.id == id);
            recorded || tagged == Some(&role.to_string())
        };
        let mut groups = self.desired.security_groups.iter().filter(|it| it.is_for_nodes);
        self.is_own(id)
            && (self.desired.being_deleted || groups.any(|it| is(&Role::SecurityGroup(it.name.clone()))))
    }

    /// Whether nodes were connected with this cluster security group of EKS, by the record or by a rule of the network that names it.
    pub(super) fn was_connected(&self, group: &SecurityGroupId) -> bool {
        let groups = || reads(self.observed).flat_map(|parts| parts.security_groups.values());
        let own = groups().filter(|it| self.is_own(it.id.as_str()));
        let named = own.flat_map(|it| &it.ingress).any(|rule| {
            rule.description == "cluster security group of EKS to nodes"
                && matches!(&rule.peer, Peer::Group(id) if id == group)
        });
        let is_of_eks = groups().any(|it| it.id == *group && it.name.starts_with("eks-cluster-sg-"));
        is_of_eks && (named || self.record.cluster_groups.contains(group))
    }

    pub(super) fn is_our_vpc(&self, vpc: &VpcId) -> bool {
        match &self.desired.vpc {
            crate::desired::DesiredVpc::Existing(id) => id == vpc,
            crate::desired::DesiredVpc::Managed { .. } => {
                let recorded = self.record.parts.get(&Role::Vpc);
                recorded.is_some_and(|part| part.id == vpc.as_str())
            }
        }
    }

    /// Whether all that can be in a VPC was read since the deletion began, and nothing but the network's was found.
    pub(super) fn is_empty_except_own(&self, vpc: &VpcId) -> bool {
        use foo_model::network::Kind;
        let since =
            if self.desired.being_deleted { self.memory.deleting_since } else { self.memory.calls.started };
        let (Some(read), Some(since)) = (self.observed.in_vpc.get(vpc), since) else { return false };
        let kinds = [
            Kind::Interface,
            Kind::LoadBalancer,
            Kind::SecurityGroup,
            Kind::Subnet,
            Kind::RouteTable,
            Kind::InternetGateway,
            Kind::NatGateway,
            Kind::Endpoint,
        ];
        let began = kinds.iter().all(|kind| read.begun.get(kind).is_some_and(|begun| *begun >= since));
        began && self.foreign(&read.parts).is_empty()
    }

    fn foreign(&self, parts: &Parts) -> Vec<String> {
        let mut ids: Vec<String> = parts.load_balancers.values().map(|it| key(it).to_owned()).collect();
        let of_aws = |kind: &str| kind == "nat_gateway" || kind == "vpc_endpoint";
        let interfaces = parts.interfaces.values();
        let interfaces = interfaces.filter(|it| !(it.requester_managed && of_aws(&it.interface_type)));
        ids.extend(interfaces.map(|it| it.id.to_string()));
        let groups = parts.security_groups.values().filter(|it| it.name != "default");
        ids.extend(groups.map(|it| it.id.to_string()));
        ids.extend(parts.subnets.keys().map(ToString::to_string));
        let tables = parts.route_tables.values().filter(|it| !it.main);
        ids.extend(tables.map(|it| it.id.to_string()));
        ids.extend(parts.internet_gateways.keys().map(ToString::to_string));
        let nats = parts.nat_gateways.values().filter(|it| it.state != NatState::Deleted);
        ids.extend(nats.map(|it| it.id.to_string()));
        ids.retain(|id| !self.is_own(id) && !self.deleted.contains(id));
        ids
    }
}

/// The parts of every read.
pub(super) fn reads(observed: &Observed) -> impl Iterator<Item = &Parts> {
    let by_vpc = observed.in_vpc.values().map(|read| &read.parts);
    [&observed.tagged.parts, &observed.by_id.parts].into_iter().chain(by_vpc)
}

/// The ARN of a load balancer; of a classic one the name.
pub(super) fn key(balancer: &LoadBalancer) -> &str {
    balancer.arn.as_deref().unwrap_or(&balancer.name)
}
