//! Version skew: Nodes must not be newer than their control plane (Kubernetes, "Version Skew Policy"), so no
//! template version for a newer Kubernetes version is created before the control plane runs it.
//!
//! The control plane is read live, and only if no launch template version has the desired content: never by a
//! idle pool, nor after a restart of the manager.

use crate::pool::gather::Gathered;
use crate::pool::reads::Read;
use foo_api::FooControlPlane;
use foo_api::names::CONTROL_PLANE_GROUP;
use foo_model::{Blocked, LaunchTemplate, Reason};
use foo_planner::desired::{Desired, Wanted};
use kube::core::{ApiResource, DynamicObject};
use kube::{Api, Client, Resource};
use std::time::Duration;

/// How soon a control plane that is behind is read again.
const TRY_AGAIN: Duration = Duration::from_secs(30);

/// What a pass knows of the control plane's version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::pool) enum ControlPlane {
    /// Nothing: there was no reason to read it.
    #[default]
    NotRead,
    /// It is not older than the desired content, as far as known.
    NotBehind,
    /// It is older, or could not be read.
    Behind,
}

/// Blocks new content while the control plane is older.
pub(in crate::pool) async fn hold_back(
    client: &Client,
    gathered: &Gathered,
    desired: &mut Desired,
    template: Option<&Read<Option<LaunchTemplate>>>,
    control_plane: &mut ControlPlane,
) {
    if *control_plane != ControlPlane::NotRead {
        return;
    }
    let Wanted::Ready(wanted) = &desired.template else { return };
    // Not read yet: nothing is created before it is.
    let Some(template) = template else { return };
    let known = |template: &LaunchTemplate| {
        template.versions.iter().any(|record| record.spec_hash.as_ref() == Some(&wanted.spec_hash))
    };
    if template.value.as_ref().is_some_and(known) {
        return;
    }
    *control_plane = ControlPlane::NotBehind;
    if let Some(blocked) = behind(client, gathered).await {
        *control_plane = ControlPlane::Behind;
        desired.template = Wanted::Blocked(blocked);
    }
}

/// When to read a control plane that is behind again.
pub(in crate::pool) fn next_try(control_plane: ControlPlane) -> Option<Duration> {
    (control_plane == ControlPlane::Behind).then_some(TRY_AGAIN)
}

async fn behind(client: &Client, gathered: &Gathered) -> Option<Blocked> {
    let wanted = gathered.machine_pool.as_ref()?.spec.template.spec.version.clone()?;
    let runs = match control_plane_version(client, gathered).await {
        Ok(runs) => runs?,
        // A kind of control plane that the manager may not read must not block a pool.
        Err(kube::Error::Api(status)) if [403, 404].contains(&status.code) => {
            tracing::warn!(%status, "could not read the version of the control plane");
            return None;
        }
        Err(error) => {
            tracing::warn!(%error, "could not read the version of the control plane");
            let message = "the version of the control plane could not be read; the manager tries again";
            return Some(Blocked::new(Reason::WaitingForControlPlane, message));
        }
    };
    Version::parse(&runs)?.is_older_than(Version::parse(&wanted)?).then(|| {
        Blocked::new(
            Reason::WaitingForControlPlane,
            format!(
                "the control plane is at {runs}; waiting for it to reach {wanted} before launching {wanted} nodes: \
                 upgrade it, or lower MachinePool.spec.template.spec.version"
            ),
        )
    })
}

/// `status.version` of the object that Cluster.spec.controlPlaneRef names (Cluster API, contract of control
/// plane providers).
async fn control_plane_version(client: &Client, gathered: &Gathered) -> kube::Result<Option<String>> {
    let Some(reference) =
        gathered.cluster.as_ref().and_then(|cluster| cluster.spec.control_plane_ref.clone())
    else {
        return Ok(None);
    };
    let resource = if reference.api_group == CONTROL_PLANE_GROUP {
        ApiResource::from_gvk(&kube::core::GroupVersionKind {
            group: FooControlPlane::group(&()).into_owned(),
            version: FooControlPlane::version(&()).into_owned(),
            kind: FooControlPlane::kind(&()).into_owned(),
        })
    } else {
        let group = kube::discovery::oneshot::group(client, &reference.api_group).await?;
        let Some((resource, _)) = group.recommended_kind(&reference.kind) else { return Ok(None) };
        resource
    };
    let objects: Api<DynamicObject> = Api::namespaced_with(client.clone(), &gathered.namespace(), &resource);
    let object = objects.get_opt(&reference.name).await?;
    let version =
        object.and_then(|object| Some(object.data.pointer("/status/version")?.as_str()?.to_owned()));
    Ok(version.filter(|version| !version.is_empty()))
}

/// Major, minor and, if known, patch; ignores what follows a `-` or `+`. EKS reports no patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version((u32, u32), Option<u32>);

impl Version {
    fn parse(text: &str) -> Option<Self> {
        let plain = text.trim_start_matches('v').split(['-', '+']).next()?;
        let mut numbers = plain.split('.').map(str::parse::<u32>);
        let minor = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        match numbers.next() {
            None => Some(Self(minor, None)),
            Some(patch) => Some(Self(minor, Some(patch.ok()?))),
        }
    }

    fn is_older_than(self, other: Self) -> bool {
        match (self.0.cmp(&other.0), self.1, other.1) {
            (std::cmp::Ordering::Equal, Some(patch), Some(wanted)) => patch < wanted,
            (minor, _, _) => minor == std::cmp::Ordering::Less,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers_and_patches_only_where_both_have_one() {
        let older = |a, b| Version::parse(a).unwrap().is_older_than(Version::parse(b).unwrap());
        assert!(older("v1.9.10", "v1.36.3") && older("v1.36.3", "1.36.10") && older("1.31", "v1.32.4"));
        assert!(!older("1.31", "v1.31.7") && !older("v1.36.3-eks-a5565ad", "v1.36.3+k3s1"));
        assert!(!older("v1.37.0", "v1.36.9"));
        assert_eq!(Version::parse("latest"), None);
    }
}
