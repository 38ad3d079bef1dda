//! The authenticator in front of each cluster of EKS: who the bearer of a token is in Kubernetes, by the rules of
//! kubernetes-sigs/aws-iam-authenticator (`pkg/token`, `pkg/server`) with access entries as its mapping.
//!
//! A token is a URL presigned for GetCallerIdentity of STS. The real authenticator sends it; here STS's answer is worked out
//! without a request: the signature is verified with the keys that the simulator knows, sessions of roles always, and others
//! once any key is known. [`token`] reads the URL, [`presign`] makes one. No throttling and no faults apply, and no call is counted.
//!
//! Time is the caller's, as for every signature: clients sign with their own clocks and not with virtual time.

mod hosts;
mod presign;
mod refusal;
mod token;

pub use hosts::StsHosts;
pub use presign::SigningKey;
pub use refusal::TokenRefusal;

use crate::core::eks::cluster::ClusterStatus;
use crate::core::error::AwsError;
use crate::service::Service;
use crate::wire::authentication::authenticate;
use crate::wire::sigv4::SignedRequest;
use crate::world::World;
use foo_model::{InstanceId, Timestamp};
use http::{HeaderMap, HeaderValue, Method};
use std::collections::BTreeMap;
use token::{CLUSTER, Presigned};

/// Who the bearer of a token is in Kubernetes (`UserInfo` of a TokenReview).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterUser {
    /// The name, without placeholders.
    pub username: String,
    /// `aws-iam-authenticator:<account>:<unique id>`.
    pub uid: String,
    /// The groups of the access entry.
    pub groups: Vec<String>,
    /// What the authenticator tells beside: `arn`, `canonicalArn`, `sessionName`, `accessKeyId`, `principalId`.
    pub extra: BTreeMap<String, String>,
    /// ARN of the user or role whose access entry it is.
    pub principal: String,
}

/// Who signed a token.
struct Caller {
    /// `arn:aws:sts::…:assumed-role/…` or a user.
    arn: String,
    /// Its role, with path, or the user.
    principal: String,
    /// Unique id of the role.
    unique_id: Option<String>,
    /// Name of its session; empty for users.
    session: String,
    /// UserId of GetCallerIdentity.
    user_id: String,
    access_key: String,
}

/// Who the bearer of a token is in a cluster, at this time of a real clock.
pub(crate) fn review(
    world: &World,
    region: &str,
    cluster: &str,
    token: &str,
    hosts: &StsHosts<'_>,
    now: Timestamp,
) -> Result<ClusterUser, TokenRefusal> {
    let presigned = token::parse(token, now)?;
    hosts.check(&presigned, region)?;
    let caller = call_sts(world, &presigned, cluster, now).map_err(TokenRefusal::Sts)?;
    map(world, region, cluster, caller)
}

/// What STS answers to the presigned request, sent with the header that names this cluster.
fn call_sts(world: &World, presigned: &Presigned, cluster: &str, now: Timestamp) -> Result<Caller, AwsError> {
    let header = |text: &str| {
        HeaderValue::from_str(text).map_err(|_| AwsError::validation(format!("{text} cannot be a header.")))
    };
    let mut headers = HeaderMap::new();
    headers.insert("host", header(&presigned.host)?);
    headers.insert(CLUSTER, header(cluster)?);
    let request = SignedRequest {
        method: &Method::GET,
        path: "/",
        query: &presigned.query,
        headers: &headers,
        body: b"",
        received: now,
    };
    authenticate(world, &request, &presigned.scope, Service::Sts)?;
    let inner = world.lock();
    let account = &world.config.account;
    let access_key = presigned.scope.caller.clone();
    let (arn, user_id) = inner.keys.identity(account, &access_key);
    let session = inner.keys.get(&access_key).and_then(|key| key.session.clone());
    let role = session.as_ref().and_then(|session| inner.keys.role(&session.role));
    let of_role = session.as_ref().map(|session| inner.keys.directory.unique_id(&session.role));
    let principal = match (role, &session) {
        (Some(role), _) => role.arn(account),
        (None, Some(session)) => format!("arn:aws:iam::{account}:role/{}", session.role),
        (None, None) => arn.clone(),
    };
    let session = session.map(|session| session.name).unwrap_or_default();
    Ok(Caller { arn, principal, unique_id: of_role, session, user_id, access_key })
}

/// The identity that the access entry of a caller gives it.
fn map(world: &World, region: &str, cluster: &str, caller: Caller) -> Result<ClusterUser, TokenRefusal> {
    let account = world.config.account.clone();
    let mapped = world.in_region(region, |region| {
        let runs = |status| status != ClusterStatus::Failed;
        if region.eks.cluster(cluster).is_none_or(|found| !runs(found.status)) {
            return Err(TokenRefusal::NoCluster(cluster.to_owned()));
        }
        let identity = region
            .kubernetes_identity(cluster, &caller.principal, caller.unique_id.as_deref())
            .ok_or_else(|| TokenRefusal::NotMapped(caller.arn.clone()))?;
        let dns = |id: &str| {
            let instance = region.instance(&InstanceId::from(id))?;
            instance.addresses.as_ref().map(|addresses| addresses.private_dns.clone())
        };
        let username = render(&identity.username, &caller, &account, dns)?;
        let groups = identity.groups.iter().map(|group| render(group, &caller, &account, dns));
        Ok((username, groups.collect::<Result<Vec<_>, _>>()?))
    });
    let (username, groups) = mapped.map_err(TokenRefusal::Sts)??;
    let extra = [
        ("arn", &caller.arn),
        ("canonicalArn", &caller.principal),
        ("sessionName", &caller.session),
        ("accessKeyId", &caller.access_key),
        ("principalId", &caller.user_id),
    ];
    Ok(ClusterUser {
        username,
        uid: format!("aws-iam-authenticator:{account}:{}", caller.user_id),
        groups,
        extra: extra.map(|(name, text)| (name.to_owned(), text.clone())).into(),
        principal: caller.principal,
    })
}

/// A name or group of an access entry with its placeholders filled in. The name of an instance is that of the session, which
/// EC2 names by the instance.
fn render(
    template: &str,
    caller: &Caller,
    account: &str,
    dns: impl Fn(&str) -> Option<String>,
) -> Result<String, TokenRefusal> {
    const DNS: &str = "{{EC2PrivateDNSName}}";
    let mut text = template.to_owned();
    if text.contains(DNS) {
        let name = dns(&caller.session).ok_or_else(|| TokenRefusal::NotMapped(caller.arn.clone()))?;
        text = text.replace(DNS, &name);
    }
    let sanitized = caller.session.replace('@', "-");
    Ok(text
        .replace("{{AccountID}}", account)
        .replace("{{SessionName}}", &sanitized)
        .replace("{{SessionNameRaw}}", &caller.session)
        .replace("{{AccessKeyID}}", &caller.access_key))
}
