//! What IAM keeps of roles beside what they allow: unique ids, instance profiles, and OpenID Connect providers (IAM API
//! Reference). IAM has no client tokens.

use crate::core::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use foo_model::network::Tags;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most OpenID Connect providers of an account (IAM User Guide, "IAM and AWS STS quotas").
const PROVIDERS: usize = 100;

/// An instance profile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceProfile {
    /// Its name.
    pub name: String,
    /// Name of its role; `null` if it has none.
    pub role: Option<String>,
}

/// An OpenID Connect provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provider {
    /// Its URL without `https://`.
    pub url: String,
    /// Its audiences.
    pub clients: BTreeSet<String>,
    /// Thumbprints of its certificates.
    pub thumbprints: Vec<String>,
    /// When it was created.
    pub created: Timestamp,
    /// Its tags.
    pub tags: Tags,
}

/// What IAM keeps.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// When each role was created that a caller created.
    created: BTreeMap<String, Timestamp>,
    /// How often each role was removed.
    removed: BTreeMap<String, u32>,
    pub(crate) profiles: BTreeMap<String, InstanceProfile>,
    /// By ARN.
    pub providers: BTreeMap<String, Provider>,
}

/// The refusal of what is not there.
pub fn no_entity(message: String) -> AwsError {
    AwsError::new("NoSuchEntity", message).status(404)
}

fn invalid(message: &str) -> AwsError {
    AwsError::new("InvalidInput", message)
}

fn no_provider(arn: &str) -> AwsError {
    no_entity(format!("OpenIDConnect Provider not found for arn {arn}"))
}

impl Directory {
    pub(super) fn role_created(&mut self, name: &str, now: Timestamp) {
        self.created.insert(name.to_owned(), now);
    }

    pub(super) fn role_removed(&mut self, name: &str) {
        self.created.remove(name);
        *self.removed.entry(name.to_owned()).or_default() += 1;
    }

    /// When a role was created.
    pub fn created(&self, role: &str) -> Option<Timestamp> {
        self.created.get(role).copied()
    }

    /// Names of roles that were ever removed.
    pub(super) fn removed(&self) -> impl Iterator<Item = &String> {
        self.removed.keys()
    }

    /// The unique id of a role: the same for the same name until the role is removed.
    pub fn unique_id(&self, role: &str) -> String {
        match self.removed.get(role) {
            None => role_id(role),
            Some(times) => role_id(&format!("{role} after {times}")),
        }
    }

    /// CreateOpenIDConnectProvider; its ARN.
    pub fn create_provider(&mut self, account: &str, url: &str, provider: Provider) -> AwsResult<String> {
        let Some(path) = url.strip_prefix("https://").filter(|path| !path.is_empty() && !path.contains('?'))
        else {
            return Err(invalid("Invalid Open ID Connect Provider URL"));
        };
        let arn = format!("arn:aws:iam::{account}:oidc-provider/{path}");
        if self.providers.contains_key(&arn) {
            return Err(AwsError::new(
                "EntityAlreadyExists",
                format!("Provider with url {url} already exists."),
            )
            .status(409));
        }
        if self.providers.len() >= PROVIDERS {
            let text = format!("Cannot exceed quota for OpenIdConnectProvidersPerAccount: {PROVIDERS}");
            return Err(AwsError::new("LimitExceeded", text).status(409));
        }
        self.providers.insert(arn.clone(), Provider { url: path.to_owned(), ..provider });
        Ok(arn)
    }

    /// A provider.
    pub fn provider(&mut self, arn: &str) -> AwsResult<&mut Provider> {
        self.providers.get_mut(arn).ok_or_else(|| no_provider(arn))
    }

    /// DeleteOpenIDConnectProvider: one that does not exist is no error (IAM API Reference).
    pub fn delete_provider(&mut self, arn: &str) {
        self.providers.remove(arn);
    }
}

/// The unique id of a role: the same for the same name.
pub fn role_id(role: &str) -> String {
    let mut chance = crate::core::chance::Chance::new(0, role);
    format!("AROA{:016X}", chance.bits())
}
