//! Sessions of roles: assumed at first need, cached until shortly before they expire, dropped when AWS
//! refuses them.
//!
//! The SDK caches credentials until they expire, even if AWS refuses them meanwhile. Credentials can end
//! sooner: an administrator revokes the sessions of a role, or deletes the access key at the start of the
//! chain. So a refused call drops the whole cache ([`Sessions`]), at most once in [`PATIENCE`].

use crate::error::{Refused, find};
use aws_config::SdkConfig;
use aws_config::identity::IdentityCache;
use aws_config::sts::AssumeRoleProvider;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use aws_sdk_sts::operation::assume_role::AssumeRoleError;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::identity::{
    IdentityFuture, ResolveCachedIdentity, SharedIdentityCache, SharedIdentityResolver,
};
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::FinalizerInterceptorContextRef;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_runtime_api::client::runtime_components::{RuntimeComponents, RuntimeComponentsBuilder};
use aws_smithy_types::config_bag::ConfigBag;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// If a right is missing, a new session is refused as well: this limits how often STS is called then.
const PATIENCE: Duration = Duration::from_mins(1);

/// One role of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedRole {
    /// The role's ARN.
    pub arn: String,
    /// The external id that its trust policy asks for.
    pub external_id: Option<String>,
    /// The session's name in CloudTrail.
    pub session_name: String,
}

/// The same configuration with the roles assumed one after the other. Makes no call yet.
pub(crate) async fn with_roles(mut config: SdkConfig, roles: &[AssumedRole]) -> SdkConfig {
    for role in roles {
        // Each provider requests credentials from the one before it again, so no role is assumed with an
        // expired session.
        let mut builder =
            AssumeRoleProvider::builder(&role.arn).session_name(&role.session_name).configure(&config);
        if let Some(id) = &role.external_id {
            builder = builder.external_id(id);
        }
        let provider = Assumed { role: role.arn.clone(), provider: builder.build().await };
        config = config.into_builder().credentials_provider(SharedCredentialsProvider::new(provider)).build();
    }
    config
}

/// A role, to be named if it cannot be assumed: AWS names it in some errors only.
#[derive(Debug)]
struct Assumed {
    role: String,
    provider: AssumeRoleProvider,
}

impl ProvideCredentials for Assumed {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(async {
            self.provider.provide_credentials().await.map_err(|error| self.named(error))
        })
    }
}

impl Assumed {
    fn named(&self, error: CredentialsError) -> CredentialsError {
        // A role before this one was refused and is named already.
        if find::<Refused>(&error).is_some() {
            return error;
        }
        match find::<SdkError<AssumeRoleError, HttpResponse>>(&error) {
            Some(SdkError::ServiceError(response)) => {
                let said = response.err().meta();
                CredentialsError::provider_error(Refused {
                    role: self.role.clone(),
                    code: said.code().unwrap_or("no code").to_owned(),
                    message: said.message().unwrap_or("no message").to_owned(),
                    status: response.raw().status().as_u16(),
                })
            }
            Some(_) | None => error,
        }
    }
}

/// The cached credentials that all clients of one cloud share.
#[derive(Clone, Debug)]
pub(crate) struct Sessions(Arc<Mutex<Remembered>>);

#[derive(Debug)]
struct Remembered {
    cache: SharedIdentityCache,
    forgotten: Option<Instant>,
    /// How often everything was forgotten.
    age: u64,
}

impl Sessions {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Remembered {
            cache: IdentityCache::lazy().build(),
            forgotten: None,
            age: 0,
        })))
    }

    fn cache(&self) -> SharedIdentityCache {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cache.clone()
    }

    /// Increases each time AWS refused a call: credentials of an earlier age may have ended.
    pub(crate) fn age(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).age
    }

    pub(crate) fn forget(&self) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if remembered.forgotten.is_none_or(|last| now.saturating_duration_since(last) >= PATIENCE) {
            let age = remembered.age.saturating_add(1);
            *remembered = Remembered { cache: IdentityCache::lazy().build(), forgotten: Some(now), age };
        }
    }
}

impl ResolveCachedIdentity for Sessions {
    fn resolve_cached_identity<'a>(
        &'a self,
        resolver: SharedIdentityResolver,
        components: &'a RuntimeComponents,
        config: &'a ConfigBag,
    ) -> IdentityFuture<'a> {
        let cache = self.cache();
        IdentityFuture::new(async move { cache.resolve_cached_identity(resolver, components, config).await })
    }

    fn validate_base_client_config(
        &self,
        components: &RuntimeComponentsBuilder,
        config: &ConfigBag,
    ) -> Result<(), BoxError> {
        ResolveCachedIdentity::validate_base_client_config(&self.cache(), components, config)
    }

    fn validate_final_config(
        &self,
        components: &RuntimeComponents,
        config: &ConfigBag,
    ) -> Result<(), BoxError> {
        ResolveCachedIdentity::validate_final_config(&self.cache(), components, config)
    }
}

impl Intercept for Sessions {
    fn name(&self) -> &'static str {
        "Sessions"
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if context.response().is_some_and(|response| matches!(response.status().as_u16(), 401 | 403)) {
            self.forget();
        }
        Ok(())
    }
}
