//! EC2 networking and the load balancers that live in it, as EC2 and Elastic Load Balancing have them.
//!
//! The nouns are those of [`foo_model::network`]. [`Region::change_network`](super::Region::change_network) carries out one
//! change and refuses what AWS refuses; [`reads`] has what Describe calls see. One file per kind of part.

mod change;
mod defaults;
mod given;
pub(crate) mod part;
mod pool;
mod quotas;
pub(crate) mod reads;
mod state;
mod tokens;

pub use defaults::{INTERNET_GATEWAY, PRIVATE_SUBNETS, PUBLIC_SUBNETS, SECURITY_GROUP, VPC};
pub use given::{SecurityGroupSpec, SubnetSpec, VpcSpec};
pub use quotas::NetworkQuotas;
pub use state::Network;
