//! What is known of the cluster that Nodes join. A fact that is missing is named; nothing is guessed.

use super::belonging::{Belonging, ControlPlane};
use crate::{apply, kubeconfig};
use foo_api::capi::Cluster;
use foo_api::shared::ApiEndpoint;
use foo_api::{FooControlPlane, FooNodeConfig};
use foo_bootstrap::ClusterInput;
use foo_model::{Blocked, Reason};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, ResourceExt};

/// What a pass found out, for the status.
#[derive(Default)]
pub(super) struct Facts {
    /// Whether the object is paused.
    pub(super) paused: bool,
    /// What its deletion waits for, if it is being deleted.
    pub(super) deleting: Option<Blocked>,
    /// Size of the user data in bytes, or why there is none; `None` when it was not read.
    pub(super) made: Option<Result<usize, Blocked>>,
}

/// The facts of the cluster, or which of them is missing.
pub(super) async fn of_cluster(
    secrets: &Api<Secret>,
    config: &FooNodeConfig,
    belonging: &Belonging,
) -> Result<Result<ClusterInput, Blocked>, apply::Error> {
    let facts = match &belonging.control_plane {
        ControlPlane::Eks(control_plane) => of_eks(config, control_plane),
        ControlPlane::Other => {
            let name = kubeconfig::secret_name(&belonging.cluster.name_any());
            let secret = secrets.get_opt(&name).await?;
            of_kubeconfig(config, &belonging.cluster, &name, secret.as_ref())
        }
    };
    Ok(facts)
}

fn of_eks(config: &FooNodeConfig, control_plane: &FooControlPlane) -> Result<ClusterInput, Blocked> {
    let owner = control_plane.name_any();
    let eks = control_plane.status.as_ref().and_then(|status| status.eks.clone()).unwrap_or_default();
    let reported = |fact: &str, value: Option<String>| {
        value.filter(|value| !value.is_empty()).ok_or_else(|| {
            let message = format!("FooControlPlane {owner} does not report {fact} yet");
            Blocked::new(Reason::WaitingForClusterFacts, message)
        })
    };
    let name = reported("status.eks.name", eks.name)?;
    let endpoint = control_plane.spec.control_plane_endpoint.as_ref().filter(|it| !it.host.is_empty());
    let input = ClusterInput {
        endpoint: reported("spec.controlPlaneEndpoint", endpoint.map(url))?,
        certificate_authority: reported("status.eks.certificateAuthority", eks.certificate_authority)?,
        service_range: reported("status.eks.serviceCIDR", eks.service_cidr)?,
        dns: dns(config),
        name,
    };
    match given_name(config) {
        Some(given) if given != input.name => {
            let message = format!(
                "spec.cluster.name is {given}, but FooControlPlane {owner} reports that the EKS cluster is named {}",
                input.name
            );
            Err(Blocked::new(Reason::NodeConfigInvalid, message))
        }
        Some(_) | None => Ok(input),
    }
}

/// The kubeconfig has endpoint and certificate authority; the user sets all else.
fn of_kubeconfig(
    config: &FooNodeConfig,
    cluster: &Cluster,
    secret_name: &str,
    secret: Option<&Secret>,
) -> Result<ClusterInput, Blocked> {
    let missing = |message: String| Blocked::new(Reason::ClusterFactMissing, message);
    let Some(secret) = secret else {
        let message = format!("Secret {secret_name} with the kubeconfig does not exist yet");
        return Err(Blocked::new(Reason::WaitingForClusterFacts, message));
    };
    let usable = kubeconfig::read(secret_name, secret).map_err(|blocked| missing(blocked.message))?;
    let authority = usable.certificate_authority().ok_or_else(|| {
        missing(format!(
            "Secret {secret_name}: the kubeconfig has no certificate-authority-data, without which Nodes do not trust the \
             API server"
        ))
    })?;
    let ranges = cluster.spec.cluster_network.as_ref().and_then(|network| network.services.as_ref());
    let range = ranges.and_then(|ranges| ranges.cidr_blocks.first()).ok_or_else(|| {
        missing(format!(
            "the range of Services is not known: set spec.clusterNetwork.services.cidrBlocks of Cluster {}",
            cluster.name_any()
        ))
    })?;
    let name = given_name(config).ok_or_else(|| {
        let message = "the name of the EKS cluster is not known, since its control plane does not report it: set \
                       spec.cluster.name";
        missing(message.to_owned())
    })?;
    Ok(ClusterInput {
        name: name.to_owned(),
        endpoint: url(&usable.endpoint),
        certificate_authority: authority,
        service_range: range.clone(),
        dns: dns(config),
    })
}

fn given_name(config: &FooNodeConfig) -> Option<&str> {
    config.spec.cluster.as_ref()?.name.as_deref()
}

fn dns(config: &FooNodeConfig) -> Option<String> {
    config.spec.cluster.as_ref()?.dns.clone()
}

/// The URL of an API server, without the port if it is that of https, as EKS writes it.
fn url(endpoint: &ApiEndpoint) -> String {
    let host = &endpoint.host;
    let host = if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.clone() };
    match endpoint.port {
        443 => format!("https://{host}"),
        port => format!("https://{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_an_api_server_has_its_port_if_it_is_unusual() {
        let of = |host: &str, port| url(&ApiEndpoint { host: host.to_owned(), port });
        assert_eq!(
            of("ABC.gr7.eu-central-1.eks.amazonaws.com", 443),
            "https://ABC.gr7.eu-central-1.eks.amazonaws.com"
        );
        assert_eq!(of("10.0.0.1", 6443), "https://10.0.0.1:6443");
        assert_eq!(of("fd00::1", 443), "https://[fd00::1]");
        assert_eq!(of("[fd00::1]", 6443), "https://[fd00::1]:6443");
    }
}
