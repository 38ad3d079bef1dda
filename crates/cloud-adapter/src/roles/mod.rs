//! Roles, instance profiles and issuers of OpenID Connect tokens (IAM API Reference).
//!
//! IAM's endpoint and signing region follow from the partition of the region: `iam.amazonaws.com` and `us-east-1` for all
//! commercial regions (AWS General Reference, "AWS Identity and Access Management endpoints and quotas"). The SDK knows them; a
//! given endpoint replaces that of IAM, too.

use crate::AwsCloud;
use crate::error::{self, Gap};
use async_trait::async_trait;
use aws_sdk_iam::types as aws;
use foo_cloud::{CloudError, ErrorKind, Operation, Result, Roles};
use foo_model::AwsTime;
use foo_model::eks::{InstanceProfile, NewOidcProvider, OidcProvider, Role};

#[async_trait]
impl Roles for AwsCloud {
    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>> {
        const OPERATION: Operation = Operation::GetInstanceProfile;
        let call = self.iam.repeating.get_instance_profile().instance_profile_name(name);
        let response = there(call.send().await.map_err(|failed| error::of(OPERATION, &failed)))?;
        let Some(response) = response else { return Ok(None) };
        let profile = response.instance_profile.ok_or_else(|| Gap("InstanceProfile").during(OPERATION))?;
        let role = profile.roles.into_iter().next().map(|role| shown(OPERATION, role)).transpose()?;
        Ok(Some(InstanceProfile { arn: profile.arn, role }))
    }

    async fn role(&self, name: &str) -> Result<Option<Role>> {
        const OPERATION: Operation = Operation::GetRole;
        let call = self.iam.repeating.get_role().role_name(name);
        let response = there(call.send().await.map_err(|failed| error::of(OPERATION, &failed)))?;
        let Some(response) = response else { return Ok(None) };
        let role = response.role.ok_or_else(|| Gap("Role").during(OPERATION))?;
        shown(OPERATION, role).map(Some)
    }

    async fn oidc_provider(&self, arn: &str) -> Result<Option<OidcProvider>> {
        const OPERATION: Operation = Operation::GetOpenIDConnectProvider;
        let call = self.iam.repeating.get_open_id_connect_provider().open_id_connect_provider_arn(arn);
        let response = there(call.send().await.map_err(|failed| error::of(OPERATION, &failed)))?;
        let Some(response) = response else { return Ok(None) };
        Ok(Some(OidcProvider {
            arn: arn.to_owned(),
            url: response.url.ok_or_else(|| Gap("Url").during(OPERATION))?,
            client_ids: response.client_id_list.unwrap_or_default().into_iter().collect(),
            tags: response.tags.unwrap_or_default().into_iter().map(|tag| (tag.key, tag.value)).collect(),
        }))
    }

    async fn create_oidc_provider(&self, provider: &NewOidcProvider) -> Result<String> {
        const OPERATION: Operation = Operation::CreateOpenIDConnectProvider;
        let tag = |(key, value): (&String, &String)| aws::Tag::builder().key(key).value(value).build();
        let tags: Vec<aws::Tag> = provider
            .tags
            .iter()
            .map(tag)
            .collect::<Result<_, _>>()
            .map_err(|_| Gap("tag").during(OPERATION))?;
        let call = self.iam.once.create_open_id_connect_provider().url(&provider.url);
        let call = call.set_client_id_list(Some(provider.client_ids.iter().cloned().collect()));
        let response = call.set_tags(Some(tags)).send().await;
        let response = response.map_err(|failed| error::of(OPERATION, &failed))?;
        response.open_id_connect_provider_arn.ok_or_else(|| Gap("OpenIDConnectProviderArn").during(OPERATION))
    }

    async fn delete_oidc_provider(&self, arn: &str) -> Result<()> {
        let call = self.iam.once.delete_open_id_connect_provider().open_id_connect_provider_arn(arn);
        match call.send().await.map_err(|failed| error::of(Operation::DeleteOpenIDConnectProvider, &failed)) {
            // IAM documents both: that the call is idempotent, and this error (IAM API Reference,
            // DeleteOpenIDConnectProvider).
            Err(CloudError { kind: ErrorKind::NotFound, .. }) => Ok(()),
            response => response.map(drop),
        }
    }
}

/// A missing role is a result, not an error.
fn there<T>(response: Result<T>) -> Result<Option<T>> {
    match response {
        Err(CloudError { kind: ErrorKind::NotFound, .. }) => Ok(None),
        response => response.map(Some),
    }
}

fn shown(operation: Operation, role: aws::Role) -> Result<Role> {
    let policy = role.assume_role_policy_document.as_deref();
    let trusted_services =
        policy.and_then(foo_cloud::trust::services).ok_or_else(|| Gap("trust policy").during(operation))?;
    let created = role.create_date.to_millis().map_err(|_| Gap("CreateDate").during(operation))?;
    Ok(Role {
        arn: role.arn,
        unique_id: role.role_id,
        created: AwsTime::from_millis(created),
        trusted_services,
    })
}
