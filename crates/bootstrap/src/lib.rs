//! User data of nodes: [`render`] writes it from the facts of a cluster and a node's configuration, [`read`] reads it
//! as the node's operating system does.
//!
//! No clock, no I/O, no Kubernetes, no token: the same input is the same bytes, at any time and in any process, since a
//! change of user data replaces every node of a pool. What is wrong with the input is reported before anything is
//! launched, everything at once, with the path of the field.
//!
//! The layers, in reading order; each uses only those before it:
//!
//! * [`input`]: what is known and what the user wrote; [`refusal`]: what is wrong with it;
//! * `syntax`, `json`, `yaml`, `merge`, `mime`, `packed`: small texts, documents, and how they are packed;
//! * `kubelet`, `common`, `shell`, `waiting`: what families share;
//! * `stored`: what instances get whose user data is an object in S3;
//! * `al2023`, `bottlerocket`, `cloud_init`: one folder for each family, with the two directions side by side.
//!
//! `tests/golden` pins the bytes for each family.
//!
//! A new setting of nodes is a field in [`input`], rendered and read in `common` or `kubelet` if all families share it,
//! else in the folders of the families, with its goldens. The field of the CRD is in `api/src/node_config.rs`, with a
//! rule for a family that cannot have it; `controller/src/node_config/input.rs` fills it (the compiler finds that
//! place); cases in `tests/e2e/tests/admission/node_configs.rs`; `docs/nodes.md`. If the same input has other bytes
//! afterwards, an upgrade of the provider replaces every Node: the release notes must report it.

mod al2023;
mod bottlerocket;
mod cloud_init;
mod common;
pub mod input;
mod json;
mod kubelet;
mod merge;
mod mime;
mod packed;
pub mod refusal;
mod seen;
mod shell;
mod stored;
mod syntax;
mod waiting;
mod yaml;

pub use common::{Effect, Taint};
pub use input::{ClusterInput, Compression, Family, NodeInput};
pub use packed::{LIMIT, STORED_LIMIT};
pub use refusal::{InputRefusal, RefusalKind};
pub use seen::{Seen, Unreadable};
pub use stored::{NotStorable, Stored, fetched, store, stored};

use common::Common;
use refusal::Refusals;

/// The user data for nodes of this cluster, not in base64: at most [`LIMIT`] bytes for a family that fetches nothing,
/// as EC2 hands it out, otherwise at most [`STORED_LIMIT`]. Whether a pool keeps it where it may have so many is for
/// the pool to judge.
///
/// # Errors
/// Everything that is wrong with the input.
pub fn render(cluster: &ClusterInput, node: &NodeInput) -> Result<Vec<u8>, Vec<InputRefusal>> {
    let mut refusals = Refusals::default();
    let document = Common::parse(cluster, node, &mut refusals).and_then(|common| match node.family {
        Family::AL2023 => al2023::render(&common, node, &mut refusals),
        Family::Bottlerocket => bottlerocket::render(&common, node, &mut refusals),
        Family::CloudInit => cloud_init::render(&common, node, &mut refusals),
    });
    let document = refusals.or(document)?;
    packed::pack(&document, node.compression, node.family).map_err(|refusal| vec![refusal])
}

/// What an instance of this family takes from its user data.
///
/// # Errors
/// If the operating system or the kubelet would not start with it.
pub fn read(family: Family, user_data: &[u8]) -> Result<Seen, Unreadable> {
    match family {
        Family::AL2023 => al2023::read(user_data),
        Family::Bottlerocket => bottlerocket::read(user_data),
        Family::CloudInit => cloud_init::read(user_data),
    }
}
