//! EC2 networking, and the load balancers in VPCs.
//!
//! The nouns are those of [`foo_model::network`]. [`Networking::change`] carries
//! out one change and refuses what AWS refuses; [`reads`] has what Describe calls see. There is one file per kind of
//! part; `pins` knows what prevents the deletion of a part, `step` has the scheduled changes, `life` what they have in
//! common, `foreign` changes a network as other users would, `edits` without AWS's rules.

mod addresses;
mod balancers;
mod change;
mod control_planes;
mod defaults;
mod edits;
mod endpoints;
mod foreign;
mod gateways;
mod given;
mod groups;
mod guardduty;
mod interfaces;
mod life;
mod mishaps;
mod nat;
pub mod part;
mod pins;
mod pool;
mod quotas;
mod ranges;
pub(crate) mod reads;
mod routes;
pub mod services;
mod state;
mod step;
mod subnets;
mod tables;
mod tags;
mod tokens;
mod view;
mod vpcs;

pub use crate::core::settings::NetworkQuotas;
pub use defaults::{INTERNET_GATEWAY, PRIVATE_SUBNETS, PUBLIC_SUBNETS, SECURITY_GROUP, VPC};
pub use foreign::{NewInterface, NewLoadBalancer};
pub use given::{SecurityGroupSpec, SubnetSpec, VpcSpec};
pub use mishaps::{EndpointMishap, NatMishap};
pub(crate) use reads::NetworkReads;
pub use state::Network;
pub(crate) use step::Step;
pub(crate) use view::Networking;
