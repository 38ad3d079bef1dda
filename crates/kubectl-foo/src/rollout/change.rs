//! The annotations of a FooMachinePool by which a user stops its roll-out, lets it continue, or has failed content
//! tried again. With the spec that `history` restores, the only writes of this plugin besides those of FooPlans.

use super::{Failed, FailedState, Rollout};
use crate::access::FIELD_MANAGER;
use crate::refused::{Request, refused, resource};
use anyhow::Result;
use foo_api::FooMachinePool;
use foo_model::names::{QUARANTINE_ANNOTATION, ROLLOUT_PAUSED_ANNOTATION};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};

/// What a user decides about a roll-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Stop it.
    Pause,
    /// Let it continue.
    Resume,
    /// Have failed content tried again.
    Retry,
}

impl Change {
    /// Annotation and value; none if the pool has it like this already.
    fn annotation(self, rollout: &Rollout) -> Option<(&'static str, Value)> {
        match self {
            Self::Pause => (!rollout.paused).then(|| (ROLLOUT_PAUSED_ANNOTATION, json!("true"))),
            Self::Resume => rollout.paused.then_some((ROLLOUT_PAUSED_ANNOTATION, Value::Null)),
            Self::Retry => (!rollout.failed.is_empty()).then_some((QUARANTINE_ANNOTATION, Value::Null)),
        }
    }

    fn done(self, rollout: &Rollout) -> &'static str {
        let is_old = |failed: &Failed| failed.state == FailedState::NoLongerRequested;
        match self {
            Self::Pause => "roll-out paused",
            Self::Resume => "roll-out resumed",
            Self::Retry if rollout.failed.iter().all(is_old) => {
                "requested content has not failed; older records removed"
            }
            Self::Retry => "failed content is tried again",
        }
    }

    fn idle(self) -> &'static str {
        match self {
            Self::Pause => "roll-out is paused already",
            Self::Resume => "roll-out is not paused",
            Self::Retry => "no content has failed",
        }
    }
}

/// Changes a pool, unless it is so already. What was done, in one line.
///
/// # Errors
/// The right to patch FooMachinePools is missing, or the pool does not exist any more.
pub async fn change(client: &Client, rollout: &Rollout, change: Change) -> Result<String> {
    let Rollout { namespace, pool, .. } = rollout;
    let Some((annotation, value)) = change.annotation(rollout) else {
        return Ok(said(pool, change.idle()) + "\n");
    };
    let patch = json!({"metadata": {"annotations": {annotation: value}}});
    patch_pool(client, namespace, pool, &patch, false).await?;
    Ok(said(pool, change.done(rollout)) + "\n")
}

/// A line about a pool, as kubectl begins it.
pub(super) fn said(pool: &str, what: &str) -> String {
    format!("foomachinepool.infrastructure.foo.com/{pool} {what}")
}

/// Patches a pool.
///
/// # Errors
/// The right to patch FooMachinePools is missing, the pool does not exist any more, or the API server refuses the result.
pub(super) async fn patch_pool(
    client: &Client,
    namespace: &str,
    pool: &str,
    patch: &Value,
    dry_run: bool,
) -> Result<()> {
    let resource = resource::<FooMachinePool>();
    let pools: Api<FooMachinePool> = Api::namespaced(client.clone(), namespace);
    let params =
        PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), dry_run, ..PatchParams::default() };
    let request = Request { verb: "patch", resource: &resource, namespace: Some(namespace) };
    let patched = pools.patch_metadata(pool, &params, &Patch::Merge(patch)).await;
    patched.map(drop).map_err(|error| refused(request, error))
}
