//! One file per question, each decides on one thing.

pub(crate) mod begin;
pub(crate) mod connection;
pub(crate) mod delete;
pub(crate) mod endpoints;
pub(crate) mod failed;
pub(crate) mod foreign;
pub(crate) mod gateways;
pub(crate) mod groups;
pub(crate) mod leftovers;
pub(crate) mod links;
pub(crate) mod nat;
pub(crate) mod reads;
pub(crate) mod routes;
pub(crate) mod subnets;
pub(crate) mod tags;
pub(crate) mod unwanted;
pub(crate) mod vpc;
