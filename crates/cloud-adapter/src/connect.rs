//! Credentials, HTTP, timeouts and retries: all settings that are fixed before the first call.

use crate::clients::{AwsCloud, Clients};
use crate::objects;
use crate::recorder::{Recorder, Recording};
use crate::sessions::{AssumedRole, Sessions, with_roles};
use crate::token::{Signer, Skew};
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_http_client::{Builder, Connector};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use foo_cloud::AwsClock;
use foo_cloud::queue::LONGEST_WAIT;
use std::fmt;
use std::time::Duration;

/// The endpoint and credentials of AWS.
#[derive(Clone, Debug)]
pub struct AwsSettings {
    /// The region's name (`eu-central-1`).
    pub region: String,
    /// Replaces the endpoints of all services: a simulator, or a VPC endpoint. Without it, the region's own, or what
    /// `AWS_ENDPOINT_URL` says.
    pub endpoint_url: Option<String>,
    /// The credentials that start the chain.
    pub identity: Identity,
    /// Roles to assume one after the other.
    pub roles: Vec<AssumedRole>,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// Whether calls go through a proxy.
    pub proxy: Proxy,
    /// Records the date of each response of AWS.
    pub clock: Option<AwsClock>,
    /// Records requests and responses.
    pub recorder: Option<Recorder>,
}

/// Proxy settings.
#[derive(Clone, Debug, Default)]
pub enum Proxy {
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` of this process's environment apply, as in
    /// other programs.
    #[default]
    OfTheEnvironment,
    /// Calls to `https` endpoints go through this one.
    Https {
        /// Its URL.
        url: String,
        /// Hosts that are reached without it, in the syntax of `NO_PROXY`: hosts, domains, addresses and
        /// networks, separated by commas.
        except: String,
    },
}

impl Proxy {
    fn config(&self) -> Result<ProxyConfig, ConnectError> {
        match self {
            Self::OfTheEnvironment => Ok(ProxyConfig::from_env()),
            Self::Https { url, except } => {
                let proxy = ProxyConfig::https(url.as_str()).map_err(|_| ConnectError::BadProxy)?;
                Ok(proxy.no_proxy(except))
            }
        }
    }
}

/// Where credentials come from.
#[derive(Clone, Default)]
pub enum Identity {
    /// The SDK's default chain: environment, profile, web identity (IRSA), EKS pod identity, instance metadata.
    #[default]
    DefaultChain,
    /// These keys.
    Keys {
        /// Access key id.
        access_key_id: String,
        /// Secret access key.
        secret_access_key: String,
        /// Session token, for temporary keys.
        session_token: Option<String>,
    },
}

/// Timeouts of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For one attempt. AWS takes seconds for a page of 100 large groups.
    pub attempt: Duration,
    /// For a call with all its attempts and the pauses between them.
    pub operation: Duration,
}

/// Invalid settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// No region.
    #[error("no AWS region is given")]
    NoRegion,
    /// Not an HTTP URL.
    #[error("the AWS endpoint {0:?} is not a URL that begins with http:// or https://")]
    BadEndpoint(String),
    /// Not a proxy's URL. The error does not contain it: it may include a password.
    #[error("the proxy's URL cannot be read")]
    BadProxy,
}

/// Attempts of a call that may be repeated. Few: the observer and the controllers' back-off repeat as well,
/// at longer intervals.
const ATTEMPTS: u32 = 3;

impl AwsSettings {
    /// The default chain in this region.
    pub fn new(region: impl Into<String>) -> Self {
        Self {
            region: region.into(),
            endpoint_url: None,
            identity: Identity::default(),
            roles: Vec::new(),
            timeouts: Timeouts::default(),
            proxy: Proxy::default(),
            clock: None,
            recorder: None,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(3),
            attempt: Duration::from_secs(20),
            operation: Duration::from_mins(1),
        }
    }
}

impl Timeouts {
    fn config(self) -> TimeoutConfig {
        TimeoutConfig::builder()
            .connect_timeout(self.connect)
            .operation_attempt_timeout(self.attempt)
            .operation_timeout(self.operation)
            .build()
    }
}

impl fmt::Debug for Identity {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DefaultChain => f.write_str("DefaultChain"),
            Self::Keys { access_key_id, .. } => {
                f.debug_struct("Keys").field("access_key_id", access_key_id).finish_non_exhaustive()
            }
        }
    }
}

pub(crate) async fn connect(settings: AwsSettings) -> Result<AwsCloud, ConnectError> {
    let settings = checked(settings)?;
    let (sessions, skew) = (Sessions::new(), Skew::noted_in(settings.clock.clone()));
    let recording = Recording(settings.recorder.clone());
    let config = with_roles(base(&settings, &sessions).await?, &settings.roles).await;
    let signer = Signer::new(&config, &settings.region, sessions.clone(), skew.clone()).await;
    // Not the adaptive mode: after two throttled calls it delayed other calls for 38 s, across all clients.
    let repeating = || RetryConfig::standard().with_max_attempts(ATTEMPTS);
    macro_rules! client {
        ($service:ident, $retries:expr) => {{
            let config = $service::config::Builder::from(&config).interceptor(sessions.clone());
            let config =
                config.interceptor(skew.clone()).interceptor(recording.clone()).retry_config($retries);
            $service::Client::from_conf(config.build())
        }};
    }
    macro_rules! clients {
        ($service:ident) => {
            Clients {
                repeating: client!($service, repeating()),
                once: client!($service, RetryConfig::disabled()),
            }
        };
    }
    Ok(AwsCloud {
        autoscaling: clients!(aws_sdk_autoscaling),
        ec2: clients!(aws_sdk_ec2),
        classic: clients!(aws_sdk_elasticloadbalancing),
        balancers: clients!(aws_sdk_elasticloadbalancingv2),
        eks: clients!(aws_sdk_eks),
        iam: clients!(aws_sdk_iam),
        s3: objects::client(&config, |config| {
            let config = config.interceptor(sessions.clone()).interceptor(skew.clone());
            config.interceptor(recording.clone()).retry_config(repeating())
        }),
        quotas: client!(aws_sdk_servicequotas, repeating()),
        ssm: client!(aws_sdk_ssm, repeating()),
        sts: client!(aws_sdk_sts, repeating()),
        signer,
    })
}

/// Clients for one queue. Calls go to the host in its URL, which may be a VPC endpoint.
///
/// `once` is for receives: they wait for messages on AWS's side, and take longer than any other call.
pub(crate) async fn connect_queue(
    settings: AwsSettings,
    url: &str,
) -> Result<Clients<aws_sdk_sqs::Client>, ConnectError> {
    let endpoint = origin(url).ok_or_else(|| ConnectError::BadEndpoint(url.to_owned()))?;
    let settings = checked(settings)?;
    let Timeouts { connect, attempt, operation } = settings.timeouts;
    let patient = Timeouts { connect, attempt: attempt + LONGEST_WAIT, operation: operation + LONGEST_WAIT };
    let (sessions, skew) = (Sessions::new(), Skew::noted_in(settings.clock.clone()));
    let recording = Recording(settings.recorder.clone());
    let config = with_roles(base(&settings, &sessions).await?, &settings.roles).await;
    let client = |retries: RetryConfig, timeouts: Timeouts| {
        let config = aws_sdk_sqs::config::Builder::from(&config)
            .interceptor(sessions.clone())
            .interceptor(skew.clone())
            .interceptor(recording.clone())
            .endpoint_url(&endpoint)
            .retry_config(retries);
        aws_sdk_sqs::Client::from_conf(config.timeout_config(timeouts.config()).build())
    };
    Ok(Clients {
        repeating: client(RetryConfig::standard().with_max_attempts(ATTEMPTS), settings.timeouts),
        once: client(RetryConfig::disabled(), patient),
    })
}

/// Scheme and host of a URL.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next().filter(|host| !host.is_empty())?;
    Some(format!("{scheme}://{host}"))
}

fn checked(settings: AwsSettings) -> Result<AwsSettings, ConnectError> {
    if settings.region.is_empty() {
        return Err(ConnectError::NoRegion);
    }
    match &settings.endpoint_url {
        Some(url) if !is_http(url) => Err(ConnectError::BadEndpoint(url.clone())),
        _ => Ok(settings),
    }
}

fn is_http(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.strip_prefix(scheme).is_some_and(|host| !host.is_empty()))
}

/// The SDK's default client uses the environment's proxies; a client with an explicit TLS provider does so
/// only if it is configured.
fn https(proxy: ProxyConfig) -> SharedHttpClient {
    Builder::new().build_with_connector_fn(move |settings, components| {
        let mut connector = Connector::builder().proxy_config(proxy.clone());
        connector.set_connector_settings(settings.cloned());
        connector.set_sleep_impl(components.and_then(RuntimeComponents::sleep_impl));
        connector.tls_provider(Provider::Rustls(CryptoMode::AwsLc)).build()
    })
}

async fn base(settings: &AwsSettings, sessions: &Sessions) -> Result<SdkConfig, ConnectError> {
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new(settings.region.clone()))
        .http_client(https(settings.proxy.config()?))
        .identity_cache(sessions.clone())
        .timeout_config(settings.timeouts.config());
    if let Ok(name) = AppName::new("cluster-api-provider-foo") {
        loader = loader.app_name(name);
    }
    if let Some(url) = &settings.endpoint_url {
        loader = loader.endpoint_url(url);
    }
    if let Identity::Keys { access_key_id, secret_access_key, session_token } = &settings.identity {
        let keys = Credentials::new(access_key_id, secret_access_key, session_token.clone(), None, "foo");
        loader = loader.credentials_provider(keys);
    }
    Ok(loader.load().await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_settings_are_refused_and_secrets_are_not_shown() {
        assert_eq!(checked(AwsSettings::new("")).map(|_| ()), Err(ConnectError::NoRegion));
        for url in ["localhost:5000", "http://", "ftp://x", ""] {
            let settings = AwsSettings { endpoint_url: Some(url.into()), ..AwsSettings::new("r") };
            assert_eq!(checked(settings).map(|_| ()), Err(ConnectError::BadEndpoint(url.into())));
        }
        let identity = Identity::Keys {
            access_key_id: "AKIA1".into(),
            secret_access_key: "hush".into(),
            session_token: Some("hush".into()),
        };
        let shown = format!("{:?}", AwsSettings { identity, ..AwsSettings::new("r") });
        assert!(shown.contains("AKIA1") && !shown.contains("hush"), "{shown}");
    }
}
