//! Hooks at points of a Cluster's life. Each does something only if the settings switch it on.

use crate::checks::{self, DEADLINE};
use crate::clouds::Clouds;
use crate::leftovers::{self, Leftovers};
use crate::seen::Template;
use crate::settings::Settings;
use crate::topology;
use foo_api::names::{PAUSE_WORKERS_ANNOTATION, WAIT_FOR_LEFTOVERS_ANNOTATION};
use foo_cloud::ErrorKind;
use foo_preflight::topology::{LookedUp, Topology};
use foo_runtime_sdk::hooks::{
    AfterControlPlaneUpgradeRequest, BeforeClusterCreateRequest, BeforeClusterDeleteRequest,
    BeforeWorkersUpgradeRequest,
};
use foo_runtime_sdk::{Decision, Failure, Object};
use std::time::Duration;

/// How long core waits before it asks again about what AWS has or has not.
const AWS_CHANGES: Duration = Duration::from_mins(1);
/// The same about an annotation.
const ANNOTATION_CHANGES: Duration = Duration::from_secs(15);

/// Before anything of a Cluster exists: AWS accepts the credentials, and has what the Cluster's variables name:
/// network, images, instance profiles, and the role of a control plane on EKS.
pub(crate) async fn before_cluster_create(
    clouds: &Clouds,
    request: &BeforeClusterCreateRequest,
) -> Result<Decision, Failure> {
    let settings = Settings::of(&request.settings)?;
    if !settings.preflight {
        return Ok(Decision::Proceed);
    }
    let Some(topology) = topology::of_cluster(&request.cluster, version(&request.cluster))? else {
        return Ok(Decision::Proceed);
    };
    if let Some(problem) = credentials_problem(clouds, &settings, &topology).await {
        return Ok(Decision::retry_in(AWS_CHANGES, format!("identity {}: {problem}", topology.identity)));
    }
    let report = checks::check(clouds, &settings, &topology).await;
    if let Some(unanswered) = report.unanswered() {
        tracing::warn!(cluster = topology.cluster, %unanswered, "the Cluster was not checked completely against AWS");
    }
    Ok(report.refusal().map_or(Decision::Proceed, |refusal| Decision::retry_in(AWS_CHANGES, refusal)))
}

/// Why AWS does not accept the credentials; `None` if it does, or does not respond.
async fn credentials_problem(clouds: &Clouds, settings: &Settings, topology: &Topology) -> Option<String> {
    let aws = checks::connection(clouds, settings, topology).await.ok()?;
    let response = tokio::time::timeout(DEADLINE, aws.cloud.account()).await.ok()?;
    let error = response.err()?;
    matches!(error.kind, ErrorKind::Denied | ErrorKind::Credentials).then(|| error.to_string())
}

/// Before the workers take a version: its images exist, those that variables name and those that pools look up.
pub(crate) async fn before_workers_upgrade(
    clouds: &Clouds,
    request: &BeforeWorkersUpgradeRequest,
) -> Result<Decision, Failure> {
    let settings = Settings::of(&request.settings)?;
    if !settings.wait_for_images {
        return Ok(Decision::Proceed);
    }
    let mut topology = match topology::of_cluster(&request.cluster, &request.to_kubernetes_version) {
        Ok(Some(topology)) => topology,
        Ok(None) => return Ok(Decision::Proceed),
        Err(missing) => return Ok(Decision::retry_in(AWS_CHANGES, missing.message())),
    };
    // Nothing but images is waited for.
    topology.subnets.clear();
    topology.managed = None;
    topology.eks = None;
    let mut unseen = Vec::new();
    for pool in &mut topology.pools {
        (pool.replicas, pool.most) = (0, 0);
        pool.subnets.clear();
        pool.profile = None;
        if pool.images.is_empty() {
            match clouds.seen.template(&topology.cluster, &pool.name) {
                Some(Template { ami, types, described }) => {
                    let next = Some(request.to_kubernetes_version.clone());
                    (pool.types, pool.described) = (types, described);
                    pool.looked_up = Some(LookedUp { ami, now: None, next });
                }
                None => unseen.push(pool.name.as_str()),
            }
        }
    }
    if !unseen.is_empty() {
        let pools = unseen.join(", ");
        tracing::warn!(cluster = topology.cluster, pools, "which images pools boot from is not known");
    }
    let report = checks::check(clouds, &settings, &topology).await;
    if let Some(unanswered) = report.unanswered() {
        tracing::warn!(cluster = topology.cluster, %unanswered, "whether images exist is not known");
    }
    Ok(report.refusal().map_or(Decision::Proceed, |refusal| Decision::retry_in(AWS_CHANGES, refusal)))
}

/// Between control plane and workers: as long as the Cluster is annotated.
pub(crate) fn after_control_plane_upgrade(
    request: &AfterControlPlaneUpgradeRequest,
) -> Result<Decision, Failure> {
    let settings = Settings::of(&request.settings)?;
    let paused = settings.pause_workers && request.cluster.annotation(PAUSE_WORKERS_ANNOTATION).is_some();
    Ok(if paused {
        Decision::retry_in(
            ANNOTATION_CHANGES,
            format!("the annotation {PAUSE_WORKERS_ANNOTATION} of the Cluster blocks the workers"),
        )
    } else {
        Decision::Proceed
    })
}

/// Before a Cluster is deleted: what its workloads leave in AWS is logged, and waited for if the Cluster is annotated.
pub(crate) async fn before_cluster_delete(
    clouds: &Clouds,
    request: &BeforeClusterDeleteRequest,
) -> Result<Decision, Failure> {
    let settings = Settings::of(&request.settings)?;
    if !settings.leftovers {
        return Ok(Decision::Proceed);
    }
    let cluster = request.cluster.name();
    // Whether there is an image for the version no longer matters.
    let found = match topology::of_cluster(&without_pools(&request.cluster), "") {
        Ok(Some(topology)) => leftovers::find(clouds, &settings, &topology, &request.cluster).await,
        Ok(None) => return Ok(Decision::Proceed),
        // A Cluster can always be deleted.
        Err(unreadable) => {
            Leftovers { unanswered: vec![unreadable.message().to_owned()], ..Leftovers::default() }
        }
    };
    if !found.unanswered.is_empty() {
        let why = found.unanswered.join("; ");
        tracing::warn!(cluster, why, "whether workloads leave anything in AWS is not known");
    }
    let waits = request.cluster.annotation(WAIT_FOR_LEFTOVERS_ANNOTATION).is_some();
    match found.left {
        Some(left) if waits => return Ok(Decision::retry_in(AWS_CHANGES, left)),
        Some(left) => {
            tracing::warn!(cluster, left, "workloads of a Cluster that is deleted leave something in AWS");
        }
        None => {}
    }
    Ok(Decision::Proceed)
}

/// The Cluster without its pools, for what does not depend on them.
pub(crate) fn without_pools(cluster: &Object) -> Object {
    let mut cluster = cluster.clone();
    let topology = cluster.0.pointer_mut("/spec/topology").and_then(|topology| topology.as_object_mut());
    if let Some(topology) = topology {
        topology.remove("workers");
    }
    cluster
}

fn version(cluster: &Object) -> &str {
    cluster.at("/spec/topology/version").and_then(|version| version.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
