//! The handlers, each with its name.

use crate::clouds::Clouds;
use crate::settings::Settings;
use crate::variables::{Class, definitions};
use crate::{hooks, patches, upgrade, validation};
use foo_runtime_sdk::hooks::{
    AfterControlPlaneUpgrade, BeforeClusterCreate, BeforeClusterDelete, BeforeWorkersUpgrade,
    DiscoverVariables, DiscoverVariablesRequest, FailurePolicy, GeneratePatches, GenerateUpgradePlan, Hook,
    ValidateTopology,
};
use foo_runtime_sdk::{Extension, Failure, Handler};
use std::future::ready;
use std::sync::Arc;

/// The extension. Handlers whose setting is off let everything pass, so settings change without another discovery.
///
/// Without a response core stops (`Fail`) where it would otherwise write what no user requested: templates without
/// values, an upgrade without its plan, workers that are to wait. It continues (`Ignore`) without what only reports
/// early what would be found out later; those hooks are called for every Cluster, those of other classes included.
///
/// The hooks of in-place updates are not served: core updates Machines of MachineDeployments only, and all of this
/// provider's are of MachinePools (docs/decisions/0017-extension-and-aws.md).
///
/// # Errors
///
/// Never in a program that was tested: when a variable has no schema.
pub fn extension(clouds: Clouds) -> anyhow::Result<Extension> {
    let clouds = Arc::new(clouds);
    Ok(Extension::new([
        discovering("variables", Class::External)?,
        discovering("eks-variables", Class::Eks)?,
        Handler::new(GeneratePatches, "patches", |request| ready(patches::generate(&request))),
        asking(&clouds, ValidateTopology, "validation", |clouds, request| async move {
            validation::validate(&clouds, &request).await
        })
        .failure_policy(FailurePolicy::Ignore),
        asking(&clouds, GenerateUpgradePlan, "upgrade-plan", |clouds, request| async move {
            upgrade::plan(&clouds, &request).await
        }),
        asking(&clouds, BeforeClusterCreate, "preflight", |clouds, request| async move {
            hooks::before_cluster_create(&clouds, &request).await
        })
        // AWS is asked twice, one after the other.
        .timeout_seconds(15)
        .failure_policy(FailurePolicy::Ignore),
        asking(&clouds, BeforeWorkersUpgrade, "images", |clouds, request| async move {
            hooks::before_workers_upgrade(&clouds, &request).await
        })
        .failure_policy(FailurePolicy::Ignore),
        Handler::new(AfterControlPlaneUpgrade, "pause", |request| {
            ready(hooks::after_control_plane_upgrade(&request))
        }),
        asking(&clouds, BeforeClusterDelete, "leftovers", |clouds, request| async move {
            hooks::before_cluster_delete(&clouds, &request).await
        })
        .failure_policy(FailurePolicy::Ignore),
    ])?)
}

/// A handler that returns the variables of a class. The request does not show which class it is about.
fn discovering(name: &str, class: Class) -> anyhow::Result<Handler> {
    let definitions = definitions(class)?;
    Ok(Handler::new(DiscoverVariables, name, move |request: DiscoverVariablesRequest| {
        ready(Settings::of(&request.settings).map(|_known| definitions.clone()))
    }))
}

/// A handler that asks AWS.
fn asking<H, F, R>(clouds: &Arc<Clouds>, hook: H, name: &str, function: F) -> Handler
where
    H: Hook,
    F: Fn(Arc<Clouds>, H::Request) -> R + Send + Sync + 'static,
    R: Future<Output = Result<H::Output, Failure>> + Send + 'static,
{
    let clouds = Arc::clone(clouds);
    Handler::new(hook, name, move |request| function(Arc::clone(&clouds), request))
}
