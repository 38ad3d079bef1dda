//! The provider's own runtime extension, binary `foo-extension`: variables and patches of topologies, what AWS would
//! refuse of them, upgrade plans, and waits on the way.
//!
//! * `extension.rs`: the handlers, each with its name;
//! * [`settings`]: what an ExtensionConfig or a ClusterClass may set;
//! * [`variables`]: variables of topologies, whose schemas are cut from our CRDs; `patches` writes their values;
//! * `topology`: what a topology asks of AWS; `checks` asks AWS, through [`clouds`] and its `cached`, and `validation`
//!   and `hooks` show what follows;
//! * `upgrade`: upgrade plans; `leftovers`: what workloads leave in AWS.
//!
//! There is no Kubernetes client here: requests carry all that is known of a Cluster. Nothing is written anywhere.
//!
//! It changes nothing in AWS, and refuses nothing because AWS does not respond
//! (docs/decisions/0017-extension-and-aws.md). `aws.rs` is the only file that names `cloud-adapter`. `tests/classes.rs`
//! compares the ClusterClasses of each pair. For users: docs/extensions/foo.md.

pub mod args;
#[cfg(feature = "aws")]
pub mod aws;
mod cached;
mod checks;
pub mod clouds;
mod extension;
mod hooks;
mod leftovers;
mod patches;
#[cfg(test)]
mod rights;
mod seen;
pub mod settings;
#[cfg(test)]
mod testing;
mod topology;
mod upgrade;
mod validation;
mod variables;
mod versions;

pub use extension::extension;
