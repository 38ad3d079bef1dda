//! The simulated IAM behind the trait of roles. As long as no key is known, every role exists that was not removed, and every
//! instance profile, with the role of its name.

use super::SimCloud;
use crate::core::error::AwsResult;
use crate::iam::directory::{InstanceProfile as Profile, Provider, no_entity};
use crate::world::Inner;
use async_trait::async_trait;
use foo_cloud::{ErrorKind, Operation, Result, Roles};
use foo_model::eks::{InstanceProfile, NewOidcProvider, OidcProvider, Role};
use foo_model::{AwsTime, Timestamp};

#[async_trait]
impl Roles for SimCloud {
    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>> {
        let account = self.account_id();
        let found = self
            .call_of_account(Operation::GetInstanceProfile, name, |inner| {
                let profile = profile(inner, name)?;
                let role = profile.role.as_deref().and_then(|name| role(inner, &account, name).ok());
                let arn = format!("arn:aws:iam::{account}:instance-profile/{name}");
                Ok(InstanceProfile { arn, role })
            })
            .await;
        there(found)
    }

    async fn role(&self, name: &str) -> Result<Option<Role>> {
        let account = self.account_id();
        there(self.call_of_account(Operation::GetRole, name, |inner| role(inner, &account, name)).await)
    }

    async fn oidc_provider(&self, arn: &str) -> Result<Option<OidcProvider>> {
        let found = self
            .call_of_account(Operation::GetOpenIDConnectProvider, arn, |inner| {
                let found = inner.keys.directory.provider(arn)?.clone();
                let Provider { url, clients, tags, .. } = found;
                Ok(OidcProvider { arn: arn.to_owned(), url, client_ids: clients, tags })
            })
            .await;
        there(found)
    }

    async fn create_oidc_provider(&self, provider: &NewOidcProvider) -> Result<String> {
        let account = self.account_id();
        self.call_of_account(Operation::CreateOpenIDConnectProvider, &provider.url, |inner| {
            let new = Provider {
                url: String::new(),
                clients: provider.client_ids.clone(),
                thumbprints: Vec::new(),
                created: inner.clock.now(),
                tags: provider.tags.clone(),
            };
            inner.keys.directory.create_provider(&account, &provider.url, new)
        })
        .await
    }

    async fn delete_oidc_provider(&self, arn: &str) -> Result<()> {
        self.call_of_account(Operation::DeleteOpenIDConnectProvider, arn, |inner| {
            inner.keys.directory.delete_provider(arn);
            Ok(())
        })
        .await
    }
}

fn role(inner: &Inner, account: &str, name: &str) -> AwsResult<Role> {
    let absent = || no_entity(format!("The role with name {name} cannot be found."));
    let role = inner.keys.role(name).ok_or_else(absent)?;
    let principal = inner.keys.principals(account).role(&role.arn(account)).ok_or_else(absent)?;
    let created = inner.keys.directory.created(name).unwrap_or(Timestamp(0));
    Ok(Role {
        arn: principal.arn,
        unique_id: principal.unique_id,
        // As the wire has it: whole seconds.
        created: AwsTime::from_millis(created.0.div_euclid(1000).saturating_mul(1000)),
        trusted_services: role.services.into_iter().collect(),
    })
}

fn profile(inner: &Inner, name: &str) -> AwsResult<Profile> {
    let known = inner.keys.directory.profiles.get(name).cloned();
    let of_role = || Profile { name: name.to_owned(), role: Some(name.to_owned()) };
    let known = known.or_else(|| inner.keys.is_empty().then(of_role));
    known.ok_or_else(|| no_entity(format!("Instance Profile {name} cannot be found.")))
}

/// A missing role is a result, not an error.
fn there<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
