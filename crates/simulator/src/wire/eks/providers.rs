//! Identity provider configurations.

use super::requests::{AssociateProvider, DescribeProvider, DisassociateProvider};
use super::{page, render};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::call::Call;
use serde_json::{Value, json};

pub(super) fn associate(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let request: AssociateProvider = call.body()?;
    let token = request.client_request_token.clone();
    let new = request.provider()?;
    let update = region.associate_identity_provider(call.path("name"), &new, token.as_deref())?;
    let mut response = render::update(&update);
    if let Some(response) = response.as_object_mut() {
        response.insert("tags".to_owned(), json!(new.tags));
    }
    Ok(response)
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let found = region.cluster_seen(call.path("name"))?.identity_provider.iter();
    page::of(
        call,
        "identityProviderConfigs",
        found,
        |it| it.config.name.clone(),
        |it| json!({ "type": "oidc", "name": it.config.name }),
    )
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let name = call.body::<DescribeProvider>()?.identity_provider_config.oidc()?;
    let found = region.identity_provider_seen(cluster, &name)?;
    Ok(json!({ "identityProviderConfig": { "oidc": render::identity_provider(cluster, found) } }))
}

pub(super) fn disassociate(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let DisassociateProvider { identity_provider_config, client_request_token } = call.body()?;
    let name = identity_provider_config.oidc()?;
    region
        .disassociate_identity_provider(call.path("name"), &name, client_request_token.as_deref())
        .map(|update| render::update(&update))
}
