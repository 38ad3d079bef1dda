//! The nouns of a VPC: what its parts look like as EC2 describes them, what is asked for, and every change that can be
//! sent.
//!
//! The network planner decides in these types, the trait `Networks` of the `cloud` crate speaks in them, and the
//! simulator responds with them.

pub mod change;
pub mod parts;
pub mod rules;

pub use change::{Change, DnsAttribute, Effect, EndpointChange, Facts, SubnetAttribute, Target};
pub use parts::{
    Address, CidrAssociation, CidrState, EgressOnlyGateway, Endpoint, EndpointKind, EndpointState, Interface,
    InternetGateway, Kind, LoadBalancer, LoadBalancerKind, NatGateway, NatState, Parts, Quotas, RouteTable,
    Scope, SecurityGroup, Subnet, TableAssociation, Tags, TargetGroup, Vpc, ZoneInfo,
};
pub use rules::{Destination, Peer, Protocol, Route, RouteTarget, Rule};
