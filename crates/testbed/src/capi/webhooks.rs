//! Points webhooks and CRD conversions, which name services that do not exist here, at a process on loopback.

use crate::ApiServer;
use anyhow::{Context as _, Result};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ServiceReference, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use serde_json::json;
use std::ops::BitOr;

/// Points every webhook and conversion whose service is in `namespace` at `https://127.0.0.1:<port><path>`, and
/// makes the API server trust certificates of its own [`Pki`](crate::Pki) there.
///
/// [`Capi`](crate::Capi) does this for its managers. It is here for a test that runs the manager of another provider.
pub async fn point_webhooks_at(api: &ApiServer, namespace: &str, port: u16) -> Result<()> {
    rewrite_all(api, port, |config| {
        let service = config.service.as_ref().filter(|service| service.namespace == namespace)?;
        Some(service.path.clone().unwrap_or_else(|| "/".to_owned()))
    })
    .await
}

/// Points what was pointed at one port on loopback at another.
pub(super) async fn move_webhooks(api: &ApiServer, from: u16, to: u16) -> Result<()> {
    let origin = loopback(from, "");
    rewrite_all(api, to, |config| {
        let path = config.url.as_ref()?.strip_prefix(&origin)?;
        path.starts_with('/').then(|| path.to_owned())
    })
    .await
}

/// Rewrites those for which `path_of` has a path.
async fn rewrite_all(
    api: &ApiServer,
    port: u16,
    path_of: impl Fn(&WebhookClientConfig) -> Option<String>,
) -> Result<()> {
    let ca = ByteString(api.pki().ca_pem().as_bytes().to_vec());
    let rewrite = |config: &mut WebhookClientConfig| {
        let Some(path) = path_of(config) else { return false };
        config.service = None;
        config.url = Some(loopback(port, &path));
        config.ca_bundle = Some(ca.clone());
        true
    };
    let everything = ListParams::default();
    let params = PatchParams::default();

    let mutating: Api<MutatingWebhookConfiguration> = Api::all(api.client());
    for mut item in mutating.list(&everything).await.context("listing webhooks")? {
        let mut hooks = item.webhooks.take().unwrap_or_default();
        if hooks.iter_mut().map(|hook| rewrite(&mut hook.client_config)).fold(false, BitOr::bitor) {
            let patch = Patch::Merge(json!({"webhooks": hooks}));
            mutating.patch(&item.name_any(), &params, &patch).await?;
        }
    }
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(api.client());
    for mut item in validating.list(&everything).await.context("listing webhooks")? {
        let mut hooks = item.webhooks.take().unwrap_or_default();
        if hooks.iter_mut().map(|hook| rewrite(&mut hook.client_config)).fold(false, BitOr::bitor) {
            let patch = Patch::Merge(json!({"webhooks": hooks}));
            validating.patch(&item.name_any(), &params, &patch).await?;
        }
    }
    let crds: Api<CustomResourceDefinition> = Api::all(api.client());
    for item in crds.list(&everything).await.context("listing CRDs")? {
        let webhook = item.spec.conversion.as_ref().and_then(|conversion| conversion.webhook.as_ref());
        let Some(config) = webhook.and_then(|webhook| webhook.client_config.as_ref()) else { continue };
        let same = WebhookClientConfig {
            url: config.url.clone(),
            service: config.service.as_ref().map(|service| ServiceReference {
                namespace: service.namespace.clone(),
                path: service.path.clone(),
                ..ServiceReference::default()
            }),
            ..WebhookClientConfig::default()
        };
        let Some(path) = path_of(&same) else { continue };
        let client_config = json!({"service": null, "url": loopback(port, &path), "caBundle": ca});
        let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": client_config}}}});
        crds.patch(&item.name_any(), &params, &Patch::Merge(patch)).await?;
    }
    Ok(())
}

fn loopback(port: u16, path: &str) -> String {
    format!("https://127.0.0.1:{port}{path}")
}
