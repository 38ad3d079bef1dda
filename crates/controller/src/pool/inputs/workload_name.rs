//! The name that the workload cluster has in AWS, by which its cloud controllers find instances.

use crate::pool::gather::Gathered;
use crate::pool::reads::Reads;
use crate::workload_name::{self, control_plane_of};
use foo_model::{Blocked, Reason};
use kube::Client;

/// That name. As long as it cannot be read nothing is launched, because other tags on instances are another content of
/// the launch template.
///
/// # Errors
///
/// The FooControlPlane does not exist yet, or cannot be read.
pub(in crate::pool) async fn workload_name(
    client: &Client,
    gathered: &Gathered,
    cluster: &str,
    reads: &mut Reads,
) -> Result<String, Blocked> {
    let with_control_plane =
        gathered.cluster.as_deref().and_then(|it| Some((it, control_plane_of(it)?.name.as_str())));
    let Some((object, control_plane)) = with_control_plane else { return Ok(cluster.to_owned()) };
    if let Some(known) = &reads.workload_name {
        return Ok(known.clone());
    }
    let blocked = |why: &str| {
        let message = format!("FooControlPlane {control_plane} {why}");
        Blocked::new(Reason::WaitingForControlPlane, message)
    };
    let name =
        workload_name::workload_name(client, object, &gathered.installation).await.map_err(|error| {
            let namespace = gathered.namespace();
            tracing::warn!(%error, namespace, name = control_plane, "could not read the FooControlPlane");
            blocked("cannot be read")
        })?;
    let name = name.ok_or_else(|| blocked("does not exist yet"))?;
    reads.workload_name = Some(name.clone());
    Ok(name)
}
