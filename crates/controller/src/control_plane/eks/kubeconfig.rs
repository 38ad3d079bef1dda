//! The two kubeconfig Secrets of an EKS cluster.
//!
//! * `<cluster>-kubeconfig` is Cluster API's: it refuses exec plugins, so a token is embedded, which lives for 15
//!   minutes at most. It is renewed while more than five minutes are left, so that it outlives a manager that is
//!   restarted; and not more often, because Cluster API connects again with each.
//! * `<cluster>-user-kubeconfig` is for users: `aws eks get-token` gets them a token of their own identity.
//!
//! Both are repaired whenever type, label, owner or content are not as they must be. What another owner has is not
//! touched.

use super::control_planes::EksControlPlanes;
use super::state::EksState;
use crate::apply;
use crate::clock::shown;
use crate::clouds::CloudRegion;
use crate::control_plane::secret::{has_other_owner, is_labelled, wrong_type};
use crate::kubeconfig::{self, Usable};
use crate::owners::{has_current_owner, is_owned_by};
use foo_api::FooControlPlane;
use foo_api::names::{self, managers};
use foo_api::shared::ApiEndpoint;
use foo_model::eks::Cluster;
use foo_model::names::TOKEN_EXPIRES_ANNOTATION;
use foo_model::{Aws, AwsTime, Difference, Reason, Timestamp};
use foo_model::{Blocked, hash};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Resource, ResourceExt};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// A token with less left than this is renewed: at about eight of its 15 minutes. A manager may stop just before that,
/// and be back after five minutes.
const RENEWED_WITH: Duration = Duration::from_mins(7);
/// The longest life of a token; an annotation that promises more is not believed.
const LIFE: Duration = Duration::from_mins(16);

/// How to reach the API server of an EKS cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// Name of the EKS cluster.
    pub(super) name: String,
    /// Its region.
    pub(super) region: String,
    /// Its endpoint.
    pub(super) endpoint: ApiEndpoint,
    /// The certificate authorities to trust: base64 of PEM.
    pub(super) certificate_authority: String,
}

impl Server {
    /// That of a cluster; `None` until EKS has made it.
    pub(super) fn of(cluster: &Cluster, region: &str) -> Option<Self> {
        Some(Self {
            name: cluster.name.clone(),
            region: region.to_owned(),
            endpoint: kubeconfig::endpoint(cluster.endpoint.as_deref()?)?,
            certificate_authority: cluster.certificate_authority.clone()?,
        })
    }

    /// That which the status and the Secret of an earlier manager show, for as long as EKS is not asked or does not
    /// respond. If the Secret was deleted, or is unreadable, the endpoint is the one that was copied into the spec. The
    /// token is for `name`, which was checked; a status that shows another name is of another cluster.
    fn as_before(
        control_plane: &FooControlPlane,
        (name, region): (&str, &str),
        there: Option<&Secret>,
    ) -> Option<Self> {
        if there.is_some_and(|there| !is_owned_by(there, control_plane)) {
            return None;
        }
        let eks = control_plane.status.as_ref()?.eks.as_ref()?;
        let read = there.and_then(|there| kubeconfig::read(&there.name_any(), there).ok());
        Some(Self {
            name: eks.name.clone().filter(|shown| shown == name)?,
            region: region.to_owned(),
            endpoint: read
                .map(|it| it.endpoint)
                .or_else(|| control_plane.spec.control_plane_endpoint.clone())?,
            certificate_authority: eks.certificate_authority.clone()?,
        })
    }
}

/// What became of the Secrets.
#[derive(Default)]
pub(super) struct Kept {
    /// What Cluster API reads, if that can be used.
    pub(super) usable: Option<Usable>,
    /// What is wrong with one of them.
    pub(super) wrong: Option<Blocked>,
    /// Whether anything was written.
    pub(super) worked: bool,
}

/// A token, and when it ends by the manager's clock. Its text is a credential.
#[derive(Clone)]
struct Token {
    token: String,
    expires: Timestamp,
}

/// What one Secret is to be.
struct Wanted<'a> {
    name: String,
    cluster: &'a str,
    text: String,
    /// When the token in it ends, by AWS's clock, which judges it: the next manager may have another one.
    expires: Option<AwsTime>,
}

impl EksControlPlanes {
    /// Creates, renews or repairs both Secrets. `server` is what EKS shows; `None` while it does not respond.
    pub(super) async fn keep_kubeconfigs(
        &self,
        control_plane: &FooControlPlane,
        server: Option<Server>,
        region: &CloudRegion,
        state: &mut EksState,
    ) -> Result<Kept, apply::Error> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &namespace);
        let cluster = self.name_of_cluster(control_plane);
        let name = kubeconfig::secret_name(&cluster);
        let there = secrets.get_opt(&name).await?;
        let as_before = || {
            let checked = self.name_in_eks(control_plane)?;
            Server::as_before(control_plane, (&checked, &region.key.region), there.as_ref())
        };
        let Some(server) = server.or_else(as_before) else { return Ok(Kept::default()) };
        if let Some(wrong) = there.as_ref().and_then(|there| unusable(there, control_plane, &server)) {
            return Ok(Kept { wrong: Some(wrong), ..Kept::default() });
        }
        let clock = region.clock().difference;
        let written = state.token_hash.as_deref();
        let (token, failure) = self.token(clock, there.as_ref(), written, &server, region).await;
        let mut kept = Kept { wrong: failure, ..Kept::default() };
        state.token_ends = token.as_ref().map(|token| token.expires);
        if let Some(Token { token, expires }) = token {
            let text = with_token(&server, &cluster, &token);
            let wanted = Wanted { name, cluster: &cluster, text, expires: Some(clock.remote(expires)) };
            kept.worked |= keep(&secrets, control_plane, there.as_ref(), &wanted).await?;
            if kept.wrong.is_none() {
                state.token_hash = Some(hash::content(&token));
            }
            match kubeconfig::parse(&wanted.name, wanted.text) {
                Ok(usable) => kept.usable = Some(usable),
                Err(blocked) => kept.wrong = Some(blocked),
            }
        }
        let name = user_secret_name(&cluster);
        let there = secrets.get_opt(&name).await?;
        if let Some(wrong) = there.as_ref().and_then(|there| unusable(there, control_plane, &server)) {
            kept.wrong = kept.wrong.or(Some(wrong));
        } else {
            let text = with_plugin(&server, &cluster);
            let wanted = Wanted { name, cluster: &cluster, text, expires: None };
            kept.worked |= keep(&secrets, control_plane, there.as_ref(), &wanted).await?;
        }
        Ok(kept)
    }

    /// What Cluster API reads at present, for as long as nothing can be renewed.
    pub(super) async fn present_kubeconfig(
        &self,
        control_plane: &FooControlPlane,
    ) -> Result<Option<Usable>, apply::Error> {
        let namespace = control_plane.namespace().unwrap_or_default();
        let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &namespace);
        let name = kubeconfig::secret_name(&self.name_of_cluster(control_plane));
        let there = secrets.get_opt(&name).await?.filter(|there| is_owned_by(there, control_plane));
        Ok(there.and_then(|there| kubeconfig::read(&name, &there).ok()))
    }

    /// The token that is to be in the Secret: the one that is there while it is fresh and the one that was `written`;
    /// otherwise a new one; if that cannot be created, the one that is there until its end, and why.
    async fn token(
        &self,
        clock: Difference<Aws>,
        there: Option<&Secret>,
        written: Option<&str>,
        server: &Server,
        region: &CloudRegion,
    ) -> (Option<Token>, Option<Blocked>) {
        let now = self.context.clock.now();
        let there = there.and_then(|there| token_in(there, clock)).filter(|it| it.expires <= now.plus(LIFE));
        let is_ours = |it: &&Token| written.is_none_or(|hash| hash::content(&it.token) == hash);
        let fresh = there.as_ref().filter(|it| it.expires > now.plus(RENEWED_WITH));
        if let Some(fresh) = fresh.filter(is_ours) {
            return (Some(fresh.clone()), None);
        }
        match region.cloud.cluster_token(&server.name).await {
            Ok(made) => {
                let expires = now.plus(made.lives);
                (Some(Token { token: made.token, expires }), None)
            }
            Err(error) => {
                let message = format!("no token for the API server could be created: {error}");
                let blocked = Blocked::new(error.kind.into(), message);
                (there.filter(|it| it.expires > now), Some(blocked))
            }
        }
    }
}

/// How soon the token is to be renewed.
pub(super) fn renewal(token_ends: Option<Timestamp>, now: Timestamp) -> Option<Duration> {
    token_ends.map(|ends| now.until(ends.minus(RENEWED_WITH)))
}

/// Name of the Secret with the kubeconfig for users.
pub(in crate::control_plane) fn user_secret_name(cluster: &str) -> String {
    format!("{cluster}-user-kubeconfig")
}

/// Why the provider cannot take over a Secret of that name.
fn unusable(there: &Secret, control_plane: &FooControlPlane, server: &Server) -> Option<Blocked> {
    if !is_owned_by(there, control_plane) {
        // One without any owner, as after a restore from a backup, is the provider's if it is for this API server.
        let is_ours = !has_other_owner(there) && is_for(there, server);
        if !is_ours {
            let message = format!(
                "Secret {} holds another kubeconfig or has another owner, and is not changed: delete it",
                there.name_any()
            );
            return Some(Blocked::new(Reason::KubeconfigSecretNotOwned, message));
        }
    }
    wrong_type(there)
}

/// Whether a Secret contains a kubeconfig for this API server.
fn is_for(secret: &Secret, server: &Server) -> bool {
    let bytes = secret.data.as_ref().and_then(|data| data.get(names::SECRET_VALUE_KEY));
    let text = bytes.and_then(|bytes| std::str::from_utf8(&bytes.0).ok()).unwrap_or_default();
    text.contains(&quoted(&url(server)))
}

/// Writes the Secret if anything of it is not as it must be; whether it did.
async fn keep(
    secrets: &Api<Secret>,
    control_plane: &FooControlPlane,
    there: Option<&Secret>,
    wanted: &Wanted<'_>,
) -> Result<bool, apply::Error> {
    let annotations: Map<String, Value> = wanted
        .expires
        .map(|expires| (TOKEN_EXPIRES_ANNOTATION.to_owned(), json!(in_words(expires))))
        .into_iter()
        .collect();
    let is_right = there.is_some_and(|there| {
        kubeconfig::contains(there, &wanted.text)
            && is_labelled(there, wanted.cluster)
            && has_current_owner(there, control_plane)
            && annotations
                .iter()
                .all(|(key, value)| there.annotations().get(key).map(String::as_str) == value.as_str())
    });
    if is_right {
        return Ok(false);
    }
    let owner = control_plane.owner_ref(&());
    let secret = json!({
        "metadata": {
            "labels": {names::CLUSTER_NAME_LABEL: wanted.cluster},
            "annotations": annotations,
            "ownerReferences": owner.into_iter().collect::<Vec<_>>(),
        },
        "type": names::CLUSTER_SECRET_TYPE,
        "data": {names::SECRET_VALUE_KEY: ByteString(wanted.text.clone().into_bytes())},
    });
    apply::apply(secrets, &wanted.name, managers::KUBECONFIG, secret).await?;
    Ok(true)
}

/// The token in a Secret that we wrote, and its end.
fn token_in(secret: &Secret, clock: Difference<Aws>) -> Option<Token> {
    let expires: jiff::Timestamp = secret.annotations().get(TOKEN_EXPIRES_ANNOTATION)?.parse().ok()?;
    let bytes = secret.data.as_ref()?.get(names::SECRET_VALUE_KEY)?;
    let text = std::str::from_utf8(&bytes.0).ok()?;
    let quoted = text.lines().find_map(|line| line.trim().strip_prefix(TOKEN))?;
    let expires = clock.local(AwsTime::from_millis(expires.as_millisecond()));
    Some(Token { token: serde_json::from_str(quoted).ok()?, expires })
}

/// With whole seconds, and never later than it is.
fn in_words(expires: AwsTime) -> String {
    shown(Timestamp(expires.millis().div_euclid(1000).saturating_mul(1000))).to_string()
}

const TOKEN: &str = "token: ";

/// The kubeconfig that Cluster API reads.
fn with_token(server: &Server, cluster: &str, token: &str) -> String {
    kubeconfig_of(server, cluster, &format!("    {TOKEN}{}\n", quoted(token)))
}

/// The kubeconfig for users.
fn with_plugin(server: &Server, cluster: &str) -> String {
    let user = format!(
        "    exec:\n      \
         apiVersion: client.authentication.k8s.io/v1beta1\n      \
         command: aws\n      \
         args:\n      \
         - eks\n      \
         - get-token\n      \
         - --cluster-name\n      \
         - {}\n      \
         - --region\n      \
         - {}\n      \
         interactiveMode: IfAvailable\n      \
         installHint: Install the AWS CLI (https://aws.amazon.com/cli/)\n",
        quoted(&server.name),
        quoted(&server.region)
    );
    kubeconfig_of(server, cluster, &user)
}

fn kubeconfig_of(server: &Server, cluster: &str, user: &str) -> String {
    let cluster = quoted(cluster);
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: {cluster}\n  \
           cluster:\n    \
             server: {}\n    \
             certificate-authority-data: {}\n\
         users:\n\
         - name: {cluster}\n  \
           user:\n\
         {user}\
         contexts:\n\
         - name: {cluster}\n  \
           context:\n    \
             cluster: {cluster}\n    \
             user: {cluster}\n\
         current-context: {cluster}\n",
        quoted(&url(server)),
        quoted(&server.certificate_authority),
    )
}

fn url(server: &Server) -> String {
    let ApiEndpoint { host, port } = &server.endpoint;
    format!("https://{host}:{port}")
}

/// As a string of JSON, which is one of YAML, too.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::config::Kubeconfig;
    use std::collections::BTreeMap;

    fn server() -> Server {
        Server {
            name: "team-a_blue".to_owned(),
            region: "eu-central-1".to_owned(),
            endpoint: ApiEndpoint { host: "abc.gr7.eu-central-1.eks.amazonaws.com".to_owned(), port: 443 },
            certificate_authority: "Q0E=".to_owned(),
        }
    }

    fn secret(text: &str, expires: &str) -> Secret {
        let data =
            BTreeMap::from([(names::SECRET_VALUE_KEY.to_owned(), ByteString(text.as_bytes().to_vec()))]);
        let mut secret = Secret { data: Some(data), ..Secret::default() };
        secret.annotations_mut().insert(TOKEN_EXPIRES_ANNOTATION.to_owned(), expires.to_owned());
        secret
    }

    #[test]
    fn cluster_api_can_use_the_one_with_the_token_and_it_is_found_again() {
        let text = with_token(&server(), "blue", "k8s-aws-v1.abc");
        let usable = kubeconfig::parse("blue-kubeconfig", text.clone()).ok().unwrap();
        assert_eq!(usable.endpoint, server().endpoint);
        let clock = Difference::ahead_by(1_800_000);
        let found = token_in(&secret(&text, "2026-01-02T03:04:05Z"), clock).unwrap();
        assert_eq!(found.token, "k8s-aws-v1.abc");
        assert_eq!(in_words(clock.remote(found.expires)), "2026-01-02T03:04:05Z");
        assert!(token_in(&secret(&text, "soon"), clock).is_none());
        assert!(token_in(&secret("{}", "2026-01-02T03:04:05Z"), clock).is_none());
    }

    #[test]
    fn names_that_yaml_would_take_for_numbers_stay_texts() {
        let text = with_token(&server(), "123", "k8s-aws-v1.abc");
        let config = Kubeconfig::from_yaml(&text).unwrap();
        assert_eq!(config.current_context.as_deref(), Some("123"));
        assert_eq!(
            config.clusters[0].cluster.as_ref().unwrap().certificate_authority_data.as_deref(),
            Some("Q0E=")
        );
    }

    #[test]
    fn users_get_a_token_of_their_own() {
        let config = Kubeconfig::from_yaml(&with_plugin(&server(), "blue")).unwrap();
        let exec = config.auth_infos[0].auth_info.as_ref().unwrap().exec.as_ref().unwrap();
        assert_eq!(exec.command.as_deref(), Some("aws"));
        let args = exec.args.as_ref().unwrap();
        assert_eq!(args.join(" "), "eks get-token --cluster-name team-a_blue --region eu-central-1");
    }

    #[test]
    fn a_token_is_renewed_with_seven_of_its_minutes_left() {
        let minute = |minutes: i64| Timestamp(minutes * 60_000);
        assert_eq!(renewal(Some(minute(15)), minute(0)), Some(Duration::from_mins(8)));
        assert_eq!(renewal(Some(minute(15)), minute(10)), Some(Duration::ZERO));
        assert_eq!(renewal(None, minute(0)), None);
    }
}
