//! EC2 networking, and the load balancers in VPCs.
//!
//! The nouns are those of [`foo_model::network`]. [`Region::change_network`](super::Region::change_network) carries
//! out one change and refuses what AWS refuses; [`reads`] has what Describe calls see. There is one file per kind of
//! part; `pins` knows what prevents the deletion of a part, `step` carries out scheduled changes, `strangers` changes
//! a network as other users would, `edits` without AWS's rules.

mod addresses;
mod balancers;
mod change;
mod control_planes;
mod defaults;
mod edits;
mod endpoints;
mod gateways;
mod given;
mod groups;
mod guardduty;
mod interfaces;
mod nat;
pub(crate) mod part;
mod pins;
mod pool;
mod quotas;
mod ranges;
pub(crate) mod reads;
mod routes;
pub(crate) mod services;
mod state;
mod step;
mod strangers;
mod subnets;
mod tables;
mod tokens;
mod vpcs;

pub use defaults::{INTERNET_GATEWAY, PRIVATE_SUBNETS, PUBLIC_SUBNETS, SECURITY_GROUP, VPC};
pub use endpoints::EndpointMishap;
pub use given::{SecurityGroupSpec, SubnetSpec, VpcSpec};
pub use nat::NatMishap;
pub use quotas::NetworkQuotas;
pub use state::Network;
pub(crate) use step::Step;
pub use strangers::{NewInterface, NewLoadBalancer};
