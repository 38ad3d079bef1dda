//! The situation itself, and simple questions about it.

use super::shown::Tagged;
use super::wanted::Wanted;
use crate::desired::{Desired, DesiredVpc, Tier};
use crate::memory::Memory;
use crate::observed::Observed;
use crate::recorded::Recorded;
use crate::role::Role;
use foo_model::network::{
    CidrState, InternetGateway, Kind, NatGateway, NatState, Parts, RouteTable, SecurityGroup, Subnet, Vpc,
};
use foo_model::{SubnetId, Timestamp, VpcId, Zone};
use std::collections::BTreeMap;

/// What is the case.
pub(crate) struct Situation<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) observed: &'a Observed,
    pub(crate) now: Timestamp,
    /// What carries the network's tag, after the effects of our calls.
    pub(crate) own: Parts,
    /// What does not.
    pub(crate) others: Parts,
    /// The part of each role.
    pub(crate) held: BTreeMap<Role, Held>,
    /// Parts of the network besides those: duplicates, and those without a role that this version knows.
    pub(crate) extra: Vec<Tagged>,
    pub(crate) wanted: Wanted,
    /// The record, brought up to date.
    pub(crate) record: Recorded,
    /// The memory, brought up to date.
    pub(crate) memory: Memory,
}

/// A part that has a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) standing: Standing,
}

/// How well a part is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Its content is known.
    Shown,
    /// No read shows it: it was created lately, or the planner requested a read by id.
    Hidden,
    /// It exists without our tag: a person or another program removed that.
    Disowned,
}

impl Situation<'_> {
    /// The id of a role's part, whether it is shown or not. `None` if our tag was removed from it.
    pub(crate) fn id(&self, role: &Role) -> Option<&str> {
        let held = self.held.get(role)?;
        (held.standing != Standing::Disowned).then_some(held.id.as_str())
    }

    /// Whether the kind was read, so that what is not shown may be missing.
    pub(crate) fn was_read(&self, kind: Kind) -> bool {
        self.observed.tagged.begun.contains_key(&kind)
    }

    /// The VPC, the network's or the user's.
    pub(crate) fn vpc_id(&self) -> Option<VpcId> {
        match &self.desired.vpc {
            DesiredVpc::Existing(id) => Some(id.clone()),
            DesiredVpc::Managed { .. } => self.id(&Role::Vpc).map(VpcId::from),
        }
    }

    /// The VPC's content, the network's or the user's.
    pub(crate) fn vpc(&self) -> Option<&Vpc> {
        let id = self.vpc_id()?;
        self.own.vpcs.get(&id).or_else(|| self.others.vpcs.get(&id))
    }

    /// The content of a subnet of the network.
    pub(crate) fn subnet(&self, key: &str) -> Option<&Subnet> {
        self.id(&Role::Subnet(key.to_owned())).and_then(|id| self.own.subnets.get(&id.into()))
    }

    /// The id of a subnet of the network.
    pub(crate) fn subnet_id(&self, key: &str) -> Option<SubnetId> {
        self.id(&Role::Subnet(key.to_owned())).map(SubnetId::from)
    }

    /// The content of a route table of the network.
    pub(crate) fn table(&self, role: &Role) -> Option<&RouteTable> {
        self.id(role).and_then(|id| self.own.route_tables.get(&id.into()))
    }

    /// The content of a security group of the network.
    pub(crate) fn group(&self, name: &str) -> Option<&SecurityGroup> {
        let id = self.id(&Role::SecurityGroup(name.to_owned()))?;
        self.own.security_groups.get(&id.into())
    }

    /// The content of a zone's NAT gateway.
    pub(crate) fn nat(&self, zone: &Zone) -> Option<&NatGateway> {
        self.id(&Role::Nat(zone.clone())).and_then(|id| self.own.nat_gateways.get(&id.into()))
    }

    /// The internet gateway that the network uses: the network's, or in the user's VPC the one that is attached there.
    pub(crate) fn internet_gateway(&self) -> Option<&InternetGateway> {
        let own = self.id(&Role::InternetGateway).and_then(|id| self.own.internet_gateways.get(&id.into()));
        own.or_else(|| self.users_internet_gateway())
    }

    /// The internet gateway of the user's VPC.
    pub(crate) fn users_internet_gateway(&self) -> Option<&InternetGateway> {
        let DesiredVpc::Existing(vpc) = &self.desired.vpc else { return None };
        self.others.internet_gateways.values().find(|it| it.vpc.as_ref() == Some(vpc))
    }

    /// Whether the internet gateway is attached.
    pub(crate) fn attached_gateway(&self) -> Option<&InternetGateway> {
        let vpc = self.vpc_id()?;
        self.internet_gateway().filter(|it| it.vpc.as_ref() == Some(&vpc))
    }

    /// The VPC's IPv6 range, once it may be used.
    pub(crate) fn ipv6_range(&self) -> Option<ipnet::Ipv6Net> {
        let ranges = &self.vpc()?.ipv6;
        ranges.iter().find(|it| it.state == CidrState::Associated).map(|it| it.range)
    }

    /// The first public subnet of a zone: where its NAT gateway is.
    pub(crate) fn nat_subnet(&self, zone: &Zone) -> Option<&str> {
        let mut public = self.desired.subnets.iter().filter(|it| it.tier == Tier::Public);
        public.find(|it| it.zone == *zone).map(|it| it.key.as_str())
    }

    /// NAT gateways of the network that exist, in every role and state.
    pub(crate) fn living_nats(&self) -> impl Iterator<Item = &NatGateway> {
        self.own.nat_gateways.values().filter(|it| it.state != NatState::Deleted)
    }

    /// Whether parts of the network besides the VPC itself are in it. The main route table goes with it.
    pub(crate) fn has_parts_in(&self, vpc: &VpcId) -> bool {
        let parts = &self.own;
        parts.subnets.values().any(|it| it.vpc == *vpc)
            || parts.internet_gateways.values().any(|it| it.vpc.as_ref() == Some(vpc))
            || parts.egress_only_gateways.values().any(|it| it.vpc == *vpc)
            || self.living_nats().any(|it| it.vpc == *vpc)
            || parts.route_tables.values().any(|it| it.vpc == *vpc && !it.main)
            || parts.security_groups.values().any(|it| it.vpc == *vpc)
            || parts.endpoints.values().any(|it| it.vpc == *vpc)
    }
}
