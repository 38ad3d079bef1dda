//! ValidateTopology: whether AWS would refuse what the patched templates ask of it.

use crate::checks;
use crate::clouds::Clouds;
use crate::patches::{POOLS, pool_name};
use crate::settings::{Checks, Settings};
use crate::topology;
use crate::variables::images;
use foo_runtime_sdk::Failure;
use foo_runtime_sdk::hooks::ValidateTopologyRequest;
use foo_runtime_sdk::variables::Variables;

/// Accepts a topology, or shows what is wrong with it.
///
/// # Errors
///
/// What AWS would refuse; a missing response is logged and no error.
pub(crate) async fn validate(clouds: &Clouds, request: &ValidateTopologyRequest) -> Result<(), Failure> {
    let settings = Settings::of(&request.settings)?;
    let Some(mut topology) = topology::of_templates(request)? else { return Ok(()) };
    clouds.seen.note(&topology);
    if settings.wait_for_images {
        // BeforeWorkersUpgrade waits for those of the next version.
        topology.pools.iter_mut().filter_map(|pool| pool.looked_up.as_mut()).for_each(|it| it.next = None);
    } else {
        versions_have_images(request)?;
    }
    if settings.checks == Checks::Off {
        return Ok(());
    }
    let report = checks::check(clouds, &settings, &topology).await;
    let cluster = topology.cluster.as_str();
    if let Some(unanswered) = report.unanswered() {
        tracing::warn!(cluster, %unanswered, "the topology was not checked completely against AWS");
    }
    match (report.refusal(), settings.checks) {
        (Some(refusal), Checks::Enforce) => Err(Failure::new(refusal)),
        (Some(refusal), Checks::Warn | Checks::Off) => {
            tracing::warn!(cluster, %refusal, "AWS would refuse this topology");
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// Each pool finds an image for the version that the Cluster is to reach, not only for the one that it has.
fn versions_have_images(request: &ValidateTopologyRequest) -> Result<(), Failure> {
    for item in request.items.iter().flatten().filter(|item| POOLS.matches(&item.object)) {
        let variables = Variables::new(&item.variables, &request.variables);
        let version: Option<String> = variables.find("builtin.cluster.topology.version")?;
        images::image(variables, &version.unwrap_or_default()).map_err(|failure| {
            Failure::new(format!("pool {}: {}", pool_name(variables), failure.message()))
        })?;
    }
    Ok(())
}
