//! What all kinds of parts have in common.

use foo_model::VpcId;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, Kind, LoadBalancer, NatGateway, Parts,
    RouteTable, SecurityGroup, Subnet, Tags, TargetGroup, Vpc,
};
use foo_model::{
    AllocationId, EgressOnlyGatewayId, EndpointId, InterfaceId, InternetGatewayId, NatGatewayId,
    RouteTableId, SecurityGroupId, SubnetId,
};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A part of some kind.
pub(crate) trait Part: Clone {
    /// Its key in [`Parts`].
    type Id: Ord + Clone + Display + From<String>;
    /// Its kind.
    const KIND: Kind;
    /// The parts of the kind.
    fn map(parts: &Parts) -> &BTreeMap<Self::Id, Self>;
    /// The same, to change.
    fn map_mut(parts: &mut Parts) -> &mut BTreeMap<Self::Id, Self>;
    /// Its tags.
    fn tags(&self) -> &Tags;
    /// Its tags, to change.
    fn tags_mut(&mut self) -> &mut Tags;
    /// The VPC that it is in, if any.
    fn vpc(&self) -> Option<&VpcId>;
}

macro_rules! parts {
    ($($part:ident $id:ident $map:ident $kind:ident |$it:ident| $vpc:expr;)*) => {
        $(impl Part for $part {
            type Id = $id;
            const KIND: Kind = Kind::$kind;
            fn map(parts: &Parts) -> &BTreeMap<$id, Self> {
                &parts.$map
            }
            fn map_mut(parts: &mut Parts) -> &mut BTreeMap<$id, Self> {
                &mut parts.$map
            }
            fn tags(&self) -> &Tags {
                &self.tags
            }
            fn tags_mut(&mut self) -> &mut Tags {
                &mut self.tags
            }
            fn vpc(&self) -> Option<&VpcId> {
                let $it = self;
                $vpc
            }
        })*
    };
}

parts! {
    Vpc VpcId vpcs Vpc |it| Some(&it.id);
    Subnet SubnetId subnets Subnet |it| Some(&it.vpc);
    InternetGateway InternetGatewayId internet_gateways InternetGateway |it| it.vpc.as_ref();
    EgressOnlyGateway EgressOnlyGatewayId egress_only_gateways EgressOnlyGateway |it| Some(&it.vpc);
    Address AllocationId addresses Address |_it| None;
    NatGateway NatGatewayId nat_gateways NatGateway |it| Some(&it.vpc);
    RouteTable RouteTableId route_tables RouteTable |it| Some(&it.vpc);
    SecurityGroup SecurityGroupId security_groups SecurityGroup |it| Some(&it.vpc);
    Endpoint EndpointId endpoints Endpoint |it| Some(&it.vpc);
    Interface InterfaceId interfaces Interface |it| Some(&it.vpc);
    LoadBalancer String load_balancers LoadBalancer |it| Some(&it.vpc);
    TargetGroup String target_groups TargetGroup |it| Some(&it.vpc);
}

/// Calls a function for each kind of part that can be the network's.
macro_rules! for_each_kind {
    ($call:ident($($argument:expr),*)) => {
        $call::<foo_model::network::Vpc>($($argument),*);
        $call::<foo_model::network::Subnet>($($argument),*);
        $call::<foo_model::network::InternetGateway>($($argument),*);
        $call::<foo_model::network::EgressOnlyGateway>($($argument),*);
        $call::<foo_model::network::Address>($($argument),*);
        $call::<foo_model::network::NatGateway>($($argument),*);
        $call::<foo_model::network::RouteTable>($($argument),*);
        $call::<foo_model::network::SecurityGroup>($($argument),*);
        $call::<foo_model::network::Endpoint>($($argument),*);
    };
}
pub(crate) use for_each_kind;
