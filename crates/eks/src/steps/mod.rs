//! One file per query, each decides on one thing.

pub(crate) mod addon;
pub(crate) mod addons;
pub(crate) mod begin;
pub(crate) mod config;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod entries;
pub(crate) mod entry;
pub(crate) mod identities;
pub(crate) mod identity_provider;
pub(crate) mod oidc;
pub(crate) mod placement;
pub(crate) mod principals;
pub(crate) mod reads;
pub(crate) mod releases;
pub(crate) mod rollback;
pub(crate) mod tags;
pub(crate) mod updates;
pub(crate) mod version;
pub(crate) mod wait;
pub(crate) mod windows;
