//! Tokens of clusters: who can sign a call of STS with an AWS identity can show it to a cluster as its token (kubernetes-sigs/
//! aws-iam-authenticator, "API Authorization from Outside a Cluster").
//!
//! A token is valid for 15 minutes from the time it is signed at, and no longer than the credentials that signed it. So credentials
//! that end sooner are renewed first, if AWS gives others. A token that is signed ahead of AWS's time is refused by STS, one that is
//! signed behind it ends sooner: the time of a signature is that of AWS's responses ([`Skew`]). STS's host is always the
//! region's own, whatever endpoint the calls of this process have: the cluster sends the request.

mod presign;
mod skew;

pub(crate) use skew::Skew;

use crate::error;
use crate::sessions::Sessions;
use aws_config::SdkConfig;
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials as _, SharedCredentialsProvider};
use aws_sdk_sts::config::endpoint::{DefaultResolver, Params, ResolveEndpoint as _};
use foo_cloud::{CloudError, ClusterToken, ErrorKind, Operation, Result};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long a token is valid after it was signed (kubernetes-sigs/aws-iam-authenticator, `presignedURLExpiration`).
const VALID: Duration = Duration::from_mins(15);
/// Credentials that end sooner sign nothing: the token would end before it is used.
const SHORTEST: Duration = Duration::from_mins(1);
/// The authenticator refuses longer tokens (`maxTokenLenBytes`).
const LONGEST_TOKEN: usize = 4096;
/// Deadline of credentials: a role, its web identity, and the instance's metadata are asked one after the other.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The call that is signed.
const OPERATION: Operation = Operation::GetCallerIdentity;

/// Signs tokens with the credentials of a cloud. Clones share them.
#[derive(Clone)]
pub(crate) struct Signer(Arc<Inner>);

struct Inner {
    provider: Option<SharedCredentialsProvider>,
    region: String,
    /// `https://sts.<region>.amazonaws.com`; `None` if the region has no STS.
    sts: Option<String>,
    sessions: Sessions,
    skew: Skew,
    held: Mutex<Option<Held>>,
}

/// Credentials that were got.
struct Held {
    keys: Credentials,
    /// Those of an earlier age may have been revoked.
    age: u64,
}

impl Signer {
    /// Makes no call yet.
    pub(crate) async fn new(config: &SdkConfig, region: &str, sessions: Sessions, skew: Skew) -> Self {
        Self(Arc::new(Inner {
            provider: config.credentials_provider(),
            region: region.to_owned(),
            sts: sts(config, region).await,
            sessions,
            skew,
            held: Mutex::default(),
        }))
    }

    /// A token for this cluster.
    pub(crate) async fn token(&self, cluster: &str) -> Result<ClusterToken> {
        let Inner { region, sts, skew, .. } = &*self.0;
        let sts =
            sts.as_deref().ok_or_else(|| refusal(&format!("region {region} has no endpoint of STS")))?;
        let keys = self.keys().await?;
        let awss = skew.now();
        let left = left(&keys, awss);
        if left < SHORTEST {
            let text = "no usable credentials: they expire within a minute";
            return Err(CloudError::new(OPERATION, ErrorKind::Credentials, None, text));
        }
        let token = presign::token(&keys, (region, sts), cluster, awss).map_err(|error| refusal(&error))?;
        if token.len() > LONGEST_TOKEN {
            let text = format!(
                "a token of {} bytes is longer than clusters accept: the session token is too long",
                token.len()
            );
            return Err(refusal(&text));
        }
        Ok(ClusterToken { token, lives: left.min(VALID) })
    }

    /// Credentials that outlive a token, or the last ones if AWS has no others.
    async fn keys(&self) -> Result<Credentials> {
        let Inner { provider, sessions, skew, held, .. } = &*self.0;
        let mut held = held.lock().await;
        let (age, now) = (sessions.age(), skew.now());
        let usable = |held: &&Held, least: Duration| held.age == age && left(&held.keys, now) >= least;
        if let Some(held) = held.as_ref().filter(|held| usable(held, VALID)) {
            return Ok(held.keys.clone());
        }
        match ask(provider.as_ref()).await {
            Ok(keys) => {
                *held = Some(Held { keys: keys.clone(), age });
                Ok(keys)
            }
            Err(error) => {
                let last = held.as_ref().filter(|held| usable(held, SHORTEST));
                last.map(|held| held.keys.clone()).ok_or(error)
            }
        }
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("region", &self.0.region).finish_non_exhaustive()
    }
}

/// Asks past the SDK's cache, which holds credentials until shortly before they expire.
async fn ask(provider: Option<&SharedCredentialsProvider>) -> Result<Credentials> {
    let none = || CredentialsError::not_loaded("there is no provider of credentials");
    let asked = async { provider.ok_or_else(none)?.provide_credentials().await };
    match timeout(LONGEST_WAIT, asked).await {
        Ok(keys) => keys.map_err(|error| error::unsigned(OPERATION, &error)),
        Err(_elapsed) => Err(CloudError::no_response(OPERATION, LONGEST_WAIT)),
    }
}

/// How long credentials live.
fn left(keys: &Credentials, now: SystemTime) -> Duration {
    keys.expiry().map_or(Duration::MAX, |ends| ends.duration_since(now).unwrap_or_default())
}

fn refusal(why: &str) -> CloudError {
    CloudError::new(OPERATION, ErrorKind::Invalid, None, why)
}

/// STS's own host in the region, whatever its partition.
async fn sts(config: &SdkConfig, region: &str) -> Option<String> {
    let params = Params::builder()
        .region(region)
        .use_global_endpoint(false)
        .use_fips(config.use_fips().unwrap_or_default())
        .use_dual_stack(config.use_dual_stack().unwrap_or_default())
        .build()
        .ok()?;
    let endpoint = DefaultResolver::new().resolve_endpoint(&params).await.ok()?;
    Some(endpoint.url().trim_end_matches('/').to_owned())
}

/// Milliseconds since 1970.
fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
