//! AWS identities: which credentials the manager uses for a cluster. FooClusterIdentities and their Secrets
//! are resolved ahead of every pass, by [`crate::identity`].
//!
//! * [`chain`]: from an identity, through its sources, to credentials;
//! * [`allowed`]: which namespaces may use it;
//! * [`limits`]: what it may be used for;
//! * this file: the interface for controllers.
//!
//! An identity is resolved when something about it changes, not when it is used: a pass only reads memory.
//! Keys exist only in this process's memory; names, logs and conditions show a digest of them.
//!
//! A namespace gets credentials only from an identity that allows it, with one exception for installations
//! with a single account: if no identity is named `default`, every namespace may use the manager's own
//! credentials, unless the flag `--require-identity` is set.
//!
//! A change of which credentials are used begins in [`chain`]. Credentials that differ must differ in their name
//! (`credentials.rs`); then `aws.rs`, `cloud-adapter/src/sessions.rs`, docs/operations/identities.md.

pub(crate) mod allowed;
pub(crate) mod chain;
mod limits;
mod neighbours;

pub use limits::Limits;
pub(crate) use limits::Lists;
use limits::Trust;
use neighbours::ControlPlanes;
pub(crate) use neighbours::Neighbours;

use crate::credentials::Credentials;
use crate::watch::Filled;
use allowed::Allowed;
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::{FooCluster, FooControlPlane};
use foo_model::{Blocked, Reason};
use futures::{Stream, stream};
use kube_runtime::reflector::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// A resolved identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResolvedIdentity {
    pub(crate) credentials: Result<Arc<Credentials>, Blocked>,
    pub(crate) allowed: Allowed,
    pub(crate) lists: Arc<Lists>,
}

pub(crate) type ResolvedIdentities = BTreeMap<String, ResolvedIdentity>;

/// The message if a required identity is missing.
const NEEDS_ONE: &str = "the FooCluster references no FooClusterIdentity, there is none named \"default\", and the \
                         manager runs with --require-identity: set FooCluster.spec.identityRef";

/// How long a manager that just started may take to read them.
const PATIENCE: Duration = Duration::from_mins(1);

/// Rules for all clusters, from the manager's flags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether a FooCluster needs an identity (`--require-identity`).
    pub identity_required: bool,
    /// The only regions in which the manager calls AWS (`--regions`); all if empty.
    pub regions: BTreeSet<String>,
}

/// All identities, as last resolved. Empty before the task has read them.
#[derive(Clone)]
pub struct Identities {
    known: Arc<watch::Sender<Option<Arc<ResolvedIdentities>>>>,
    control_planes: Arc<watch::Sender<ControlPlanes>>,
    rules: Arc<Rules>,
}

impl Identities {
    /// With these rules and no identities yet.
    pub fn new(rules: Rules) -> Self {
        let control_planes = Arc::new(watch::Sender::new(ControlPlanes::default()));
        Self { known: Arc::new(watch::Sender::new(None)), control_planes, rules: Arc::new(rules) }
    }

    /// Waits until all identities have been read once, at most [`PATIENCE`]; after that, a pass that needs
    /// credentials gets an error. Waits as long for the FooControlPlanes, if a controller of this process reads them.
    pub async fn wait_until_known(&self) {
        // An error would mean that every sender was dropped, but `self` is one.
        drop(timeout(PATIENCE, self.known.subscribe().wait_for(Option::is_some)).await);
        drop(timeout(PATIENCE, self.control_planes_are_read()).await);
    }

    async fn control_planes_are_read(&self) {
        let mut known = self.control_planes.subscribe();
        let found = known.wait_for(|it| !matches!(it, ControlPlanes::Expected)).await.map(|it| it.clone());
        if let Ok(ControlPlanes::Read(_, filled)) = found {
            // Only the shutdown ends a watch.
            let _ended = filled.wait().await;
        }
    }

    /// A controller of this process will read FooControlPlanes.
    pub fn expects_control_planes(&self) {
        self.control_planes.send_replace(ControlPlanes::Expected);
    }

    /// FooControlPlanes are not installed.
    pub(crate) fn have_no_control_planes(&self) {
        self.control_planes.send_replace(ControlPlanes::Unread);
    }

    /// The cache of FooControlPlanes.
    pub(crate) fn have_control_planes(&self, store: Store<FooControlPlane>, filled: Filled) {
        self.control_planes.send_replace(ControlPlanes::Read(store, filled));
    }

    /// The objects of all namespaces that own something in AWS, with these FooClusters.
    pub(crate) fn neighbours<'a>(&self, clusters: &'a Store<FooCluster>) -> Neighbours<'a> {
        Neighbours::of(clusters, &self.control_planes.borrow())
    }

    /// The credentials for a cluster in this namespace and region that names this identity, or names none.
    pub fn credentials(
        &self,
        name: Option<&str>,
        namespace: &str,
        region: &str,
    ) -> Result<Arc<Credentials>, Blocked> {
        let known = self.known.borrow();
        let asked = name.unwrap_or(DEFAULT_IDENTITY);
        let Some(known) = known.as_ref() else {
            let message = "FooClusterIdentities, the labels of namespaces and the Secrets of the manager's namespace have not been \
                           read yet; the manager needs the rights to list and watch them";
            return Err(Blocked::new(Reason::IdentityNotYetKnown, message));
        };
        let Some(outcome) = known.get(asked) else {
            return match name {
                Some(name) => Err(chain::missing(name)),
                None if self.rules.identity_required => {
                    Err(Blocked::new(Reason::IdentityRequired, NEEDS_ONE))
                }
                None => self.in_region(region).map(|()| Arc::default()),
            };
        };
        // First: users who may not use an identity must not learn what is wrong with it.
        if !outcome.allowed.has(namespace) {
            let by_default = if name.is_none() {
                ", which is the default of FooClusters without identityRef,"
            } else {
                ""
            };
            return Err(Blocked::new(
                Reason::IdentityNotAllowed,
                format!(
                    "FooClusterIdentity {asked}{by_default} does not allow use from namespace {namespace}"
                ),
            ));
        }
        self.limits_with(Arc::clone(&outcome.lists), namespace).region(region)?;
        self.in_region(region)?;
        outcome.credentials.clone()
    }

    /// The limits of this identity, or of the default one, for objects of this namespace.
    pub fn limits(&self, name: Option<&str>, namespace: &str) -> Limits {
        let known = self.known.borrow();
        let outcome = known.as_ref().and_then(|known| known.get(name.unwrap_or(DEFAULT_IDENTITY)));
        self.limits_with(outcome.map(|outcome| Arc::clone(&outcome.lists)).unwrap_or_default(), namespace)
    }

    fn limits_with(&self, lists: Arc<Lists>, namespace: &str) -> Limits {
        let trust = if self.rules.identity_required { Trust::None } else { Trust::Each };
        Limits::new(lists, namespace, trust)
    }

    fn in_region(&self, region: &str) -> Result<(), Blocked> {
        if self.rules.regions.is_empty() || self.rules.regions.contains(region) {
            return Ok(());
        }
        let message = format!(
            "the manager does not call AWS in region {region:?}: its flag --regions does not list it"
        );
        Err(Blocked::new(Reason::IdentityNotAllowed, message))
    }

    /// Names of identities that changed, after each change. A stream that is created before the first read
    /// misses no change.
    pub fn changes(&self) -> impl Stream<Item = BTreeSet<String>> + Send + use<> {
        let mut known = self.known.subscribe();
        let seen = known.borrow_and_update().clone();
        stream::unfold((known, seen), |(mut known, seen)| async move {
            known.changed().await.ok()?;
            let now = known.borrow_and_update().clone();
            let changed = differences(seen.as_deref(), now.as_deref());
            Some((changed, (known, now)))
        })
    }

    pub(crate) fn publish(&self, outcomes: ResolvedIdentities) {
        self.known.send_if_modified(|known| {
            let news = known.as_deref() != Some(&outcomes);
            if news {
                *known = Some(Arc::new(outcomes));
            }
            news
        });
    }
}

/// The identity whose credentials a cluster uses, whether it names one or not.
pub fn identity_of(cluster: &FooCluster) -> &str {
    cluster.spec.identity_ref.as_ref().map_or(DEFAULT_IDENTITY, |reference| reference.name.as_str())
}

fn differences(before: Option<&ResolvedIdentities>, now: Option<&ResolvedIdentities>) -> BTreeSet<String> {
    let names = before.into_iter().chain(now).flat_map(BTreeMap::keys);
    let differs = |name: &&String| before.and_then(|it| it.get(*name)) != now.and_then(|it| it.get(*name));
    let mut differing: BTreeSet<String> = names.filter(differs).cloned().collect();
    if before.is_none() && now.is_some() {
        // Clusters that name no identity have waited, too.
        differing.insert(DEFAULT_IDENTITY.to_owned());
    }
    differing
}

impl Default for Identities {
    fn default() -> Self {
        Self::new(Rules::default())
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identities").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{FutureExt, StreamExt};

    const REGION: &str = "eu-central-1";

    fn outcome(allowed: Allowed) -> ResolvedIdentity {
        ResolvedIdentity { credentials: Ok(Arc::default()), allowed, lists: Arc::default() }
    }

    #[test]
    fn without_an_identity_a_cluster_gets_the_default_or_the_managers_credentials() {
        let identities = Identities::default();
        identities.publish(ResolvedIdentities::new());
        assert_eq!(identities.credentials(None, "a", REGION), Ok(Arc::default()));
        let default = outcome(Allowed::These(["a".to_owned()].into()));
        identities.publish([(DEFAULT_IDENTITY.to_owned(), default)].into());
        assert_eq!(identities.credentials(None, "a", REGION), Ok(Arc::default()));
        let refused = identities.credentials(None, "b", REGION).unwrap_err();
        assert_eq!(refused.reason, Reason::IdentityNotAllowed);
        assert!(refused.message.contains("namespace b"), "{}", refused.message);
    }

    #[test]
    fn a_namespace_without_access_to_an_identity_does_not_see_its_problems() {
        let identities = Identities::default();
        let broken = Err(Blocked::new(Reason::IdentitySecretNotFound, "Secret keys does not exist"));
        let broken =
            ResolvedIdentity { credentials: broken, ..outcome(Allowed::These(["a".to_owned()].into())) };
        identities.publish([("prod".to_owned(), broken)].into());
        let reason = |namespace| identities.credentials(Some("prod"), namespace, REGION).unwrap_err().reason;
        assert_eq!(reason("a"), Reason::IdentitySecretNotFound);
        assert_eq!(reason("b"), Reason::IdentityNotAllowed);
        assert_eq!(
            identities.credentials(Some("other"), "a", REGION).unwrap_err().reason,
            Reason::IdentityNotFound
        );
    }

    #[test]
    fn a_required_identity_has_no_fallback() {
        let identities = Identities::new(Rules { identity_required: true, ..Rules::default() });
        identities.publish(ResolvedIdentities::new());
        let refused = |identities: &Identities| identities.credentials(None, "a", REGION).unwrap_err().reason;
        assert_eq!(refused(&identities), Reason::IdentityRequired);
        identities.publish([("prod".to_owned(), outcome(Allowed::All))].into());
        assert_eq!(refused(&identities), Reason::IdentityRequired);
        assert!(identities.credentials(Some("prod"), "a", REGION).is_ok());
    }

    #[test]
    fn aws_is_called_in_the_regions_of_the_flag_only() {
        let regions = ["eu-west-1".to_owned()].into();
        let identities = Identities::new(Rules { regions, ..Rules::default() });
        identities.publish([("prod".to_owned(), outcome(Allowed::All))].into());
        for name in [None, Some("prod")] {
            assert!(identities.credentials(name, "a", "eu-west-1").is_ok());
            let refused = identities.credentials(name, "a", REGION).unwrap_err();
            assert_eq!(refused.reason, Reason::IdentityNotAllowed);
            assert!(refused.message.contains("--regions"), "{}", refused.message);
        }
    }

    #[test]
    fn changes_name_what_differs_and_nothing_is_no_change() {
        let identities = Identities::default();
        let mut changes = std::pin::pin!(identities.changes());
        let named = |name: &str, allowed| (name.to_owned(), outcome(allowed));
        identities.publish([named("a", Allowed::All), named("b", Allowed::All)].into());
        assert_eq!(
            changes.next().now_or_never(),
            Some(Some(["a".to_owned(), "b".to_owned(), DEFAULT_IDENTITY.to_owned()].into()))
        );
        identities.publish([named("a", Allowed::All), named("b", Allowed::All)].into());
        assert_eq!(changes.next().now_or_never(), None);
        // Two changes between two polls count as one.
        identities.publish([named("a", Allowed::All)].into());
        identities.publish([named("a", Allowed::All), named("c", Allowed::Denied)].into());
        assert_eq!(changes.next().now_or_never(), Some(Some(["b".to_owned(), "c".to_owned()].into())));
    }
}
