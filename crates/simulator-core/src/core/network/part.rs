//! What all kinds of parts have in common: an id, tags, a map in the state, and EC2's refusals of unknown ids (EC2
//! API Reference, "Error codes").

use super::state::Network;
use crate::core::error::AwsError;
use crate::core::versioned::Versioned;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, Kind, LoadBalancer, NatGateway, Parts,
    RouteTable, SecurityGroup, Subnet, Tags, TargetGroup, Vpc,
};
use foo_model::{
    AllocationId, EgressOnlyGatewayId, EndpointId, InterfaceId, InternetGatewayId, NatGatewayId,
    RouteTableId, SecurityGroupId, SubnetId,
};
use foo_model::{Timestamp, VpcId};
use std::fmt::Display;

/// EC2's prefix, error codes and messages for the ids of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Prefix of its ids.
    pub(crate) prefix: &'static str,
    /// The code for a malformed id.
    pub(crate) malformed: &'static str,
    /// The code for an unknown id.
    pub(crate) unknown: &'static str,
    /// The message for an unknown id: the text before and after the id.
    pub(crate) message: (&'static str, &'static str),
    /// The kind in ARNs and in the filter `resource-type`.
    pub resource: &'static str,
}

impl Words {
    /// The refusal of an unknown id.
    pub(crate) fn not_found(self, id: impl Display) -> AwsError {
        AwsError::new(self.unknown, format!("{}{id}{}", self.message.0, self.message.1))
    }

    /// The refusal of an unknown or malformed id.
    pub(crate) fn refused(self, id: &str) -> AwsError {
        if id.starts_with(self.prefix) {
            self.not_found(id)
        } else {
            AwsError::new(self.malformed, format!("Invalid id: \"{id}\""))
        }
    }
}

/// A part of a network.
pub trait Part: Clone + 'static {
    /// Its id.
    type Id: Ord + Clone + Display + From<String> + 'static;
    /// Its kind.
    const KIND: Kind;
    /// EC2's words for its ids.
    const WORDS: Words;
    /// Its id.
    fn id(&self) -> Self::Id;
    /// The VPC that it is in, if it is in one.
    fn vpc(&self) -> Option<&VpcId>;
    /// Its tags.
    fn tags(&self) -> &Tags;
    /// Its tags, to be changed.
    fn tags_mut(&mut self) -> &mut Tags;
    /// All of its kind.
    fn of(network: &Network) -> &Versioned<Self::Id, Self>;
    /// All of its kind, to be changed.
    fn of_mut(network: &mut Network) -> &mut Versioned<Self::Id, Self>;
    /// Adds it to a response.
    fn add_to(self, response: &mut Parts);

    /// A response that contains only this part.
    fn alone(self) -> Parts {
        let mut response = Parts::default();
        self.add_to(&mut response);
        response
    }
}

impl Network {
    /// A part, as it is now.
    pub fn get<T: Part>(&self, id: &T::Id) -> Option<&T> {
        T::of(self).get(id)
    }

    /// A part, to be changed.
    pub(crate) fn get_mut<T: Part>(&mut self, id: &T::Id) -> Option<&mut T> {
        T::of_mut(self).get_mut(id)
    }

    /// When a part was created; `None` for parts of the initial network.
    pub fn made_at(&self, id: &str) -> Option<Timestamp> {
        self.made.get(id).copied()
    }

    /// All parts of a kind, as they are now.
    pub fn all<T: Part>(&self) -> impl Iterator<Item = &T> {
        T::of(self).iter().map(|(_, part)| part)
    }

    /// All parts of a kind in a VPC, as they are now.
    pub(crate) fn of_vpc<'a, T: Part>(&'a self, vpc: &'a VpcId) -> impl Iterator<Item = &'a T> {
        self.all::<T>().filter(move |part| part.vpc() == Some(vpc))
    }

    /// Adds a part or replaces it.
    pub(crate) fn put<T: Part>(&mut self, part: T) {
        T::of_mut(self).insert(part.id(), part);
    }

    /// Adds a part that is created at this time.
    pub(super) fn put_new<T: Part>(&mut self, part: T, now: Timestamp) {
        self.made.insert(part.id().to_string(), now);
        self.put(part);
    }

    /// Removes a part.
    pub(crate) fn remove<T: Part>(&mut self, id: &T::Id) -> Option<T> {
        self.made.remove(&id.to_string());
        T::of_mut(self).remove(id).map(|part| part.as_ref().clone())
    }
}

macro_rules! part {
    ($part:ident, $id:ty, $key:expr, $field:ident, $vpc:expr, $words:expr) => {
        impl Part for $part {
            type Id = $id;
            const KIND: Kind = Kind::$part;
            const WORDS: Words = $words;
            fn id(&self) -> Self::Id {
                let key: fn(&Self) -> Self::Id = $key;
                key(self)
            }
            fn vpc(&self) -> Option<&VpcId> {
                let vpc: fn(&Self) -> Option<&VpcId> = $vpc;
                vpc(self)
            }
            fn tags(&self) -> &Tags {
                &self.tags
            }
            fn tags_mut(&mut self) -> &mut Tags {
                &mut self.tags
            }
            fn of(network: &Network) -> &Versioned<Self::Id, Self> {
                &network.$field
            }
            fn of_mut(network: &mut Network) -> &mut Versioned<Self::Id, Self> {
                &mut network.$field
            }
            fn add_to(self, response: &mut Parts) {
                response.$field.insert(self.id(), self);
            }
        }
    };
}

const fn words(
    prefix: &'static str,
    malformed: &'static str,
    unknown: &'static str,
    message: (&'static str, &'static str),
    resource: &'static str,
) -> Words {
    Words { prefix, malformed, unknown, message, resource }
}

const DOES_NOT_EXIST: &str = "' does not exist";

part!(
    Vpc,
    VpcId,
    |it| it.id.clone(),
    vpcs,
    |it| Some(&it.id),
    words("vpc-", "InvalidVpcID.Malformed", "InvalidVpcID.NotFound", ("The vpc ID '", DOES_NOT_EXIST), "vpc")
);
part!(
    Subnet,
    SubnetId,
    |it| it.id.clone(),
    subnets,
    |it| Some(&it.vpc),
    words(
        "subnet-",
        "InvalidSubnetID.Malformed",
        "InvalidSubnetID.NotFound",
        ("The subnet ID '", DOES_NOT_EXIST),
        "subnet"
    )
);
part!(
    InternetGateway,
    InternetGatewayId,
    |it| it.id.clone(),
    internet_gateways,
    |it| it.vpc.as_ref(),
    words(
        "igw-",
        "InvalidInternetGatewayId.Malformed",
        "InvalidInternetGatewayID.NotFound",
        ("The internetGateway ID '", DOES_NOT_EXIST),
        "internet-gateway"
    )
);
part!(
    EgressOnlyGateway,
    EgressOnlyGatewayId,
    |it| it.id.clone(),
    egress_only_gateways,
    |it| Some(&it.vpc),
    words(
        "eigw-",
        "InvalidEgressOnlyInternetGatewayId.Malformed",
        "InvalidGatewayID.NotFound",
        ("The eigw ID '", DOES_NOT_EXIST),
        "egress-only-internet-gateway"
    )
);
part!(
    Address,
    AllocationId,
    |it| it.id.clone(),
    addresses,
    |_| None,
    words(
        "eipalloc-",
        "InvalidAllocationID.Malformed",
        "InvalidAllocationID.NotFound",
        ("The allocation ID '", DOES_NOT_EXIST),
        "elastic-ip"
    )
);
part!(
    NatGateway,
    NatGatewayId,
    |it| it.id.clone(),
    nat_gateways,
    |it| Some(&it.vpc),
    words(
        "nat-",
        "NatGatewayMalformed",
        "NatGatewayNotFound",
        ("The Nat Gateway ", " was not found"),
        "natgateway"
    )
);
part!(
    RouteTable,
    RouteTableId,
    |it| it.id.clone(),
    route_tables,
    |it| Some(&it.vpc),
    words(
        "rtb-",
        "InvalidRouteTableId.Malformed",
        "InvalidRouteTableID.NotFound",
        ("The routeTable ID '", DOES_NOT_EXIST),
        "route-table"
    )
);
part!(
    SecurityGroup,
    SecurityGroupId,
    |it| it.id.clone(),
    security_groups,
    |it| Some(&it.vpc),
    words(
        "sg-",
        "InvalidGroupId.Malformed",
        "InvalidGroup.NotFound",
        ("The security group '", DOES_NOT_EXIST),
        "security-group"
    )
);
part!(
    Endpoint,
    EndpointId,
    |it| it.id.clone(),
    endpoints,
    |it| Some(&it.vpc),
    words(
        "vpce-",
        "InvalidVpcEndpointId.Malformed",
        "InvalidVpcEndpointId.NotFound",
        ("The Vpc Endpoint Id '", DOES_NOT_EXIST),
        "vpc-endpoint"
    )
);
part!(
    Interface,
    InterfaceId,
    |it| it.id.clone(),
    interfaces,
    |it| Some(&it.vpc),
    words(
        "eni-",
        "InvalidNetworkInterfaceId.Malformed",
        "InvalidNetworkInterfaceID.NotFound",
        ("The networkInterface ID '", DOES_NOT_EXIST),
        "network-interface"
    )
);
part!(
    LoadBalancer,
    String,
    |it| it.arn.clone().unwrap_or_else(|| it.name.clone()),
    load_balancers,
    |it| Some(&it.vpc),
    words(
        "",
        "ValidationError",
        "LoadBalancerNotFound",
        ("Load balancers '[", "]' not found"),
        "loadbalancer"
    )
);
part!(
    TargetGroup,
    String,
    |it| it.arn.clone(),
    target_groups,
    |it| Some(&it.vpc),
    words("", "ValidationError", "TargetGroupNotFound", ("Target groups '", "' not found"), "targetgroup")
);
