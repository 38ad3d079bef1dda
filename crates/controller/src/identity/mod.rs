//! The task that keeps identities resolved.
//!
//! It watches FooClusterIdentities, the FooClusters that use them, the metadata of namespaces, and the
//! metadata of Secrets in the manager's own namespace. It reads only Secrets that an identity names, once per
//! version; the watch reports a new version, so a rotated key is in use a moment later, without a restart.
//! While nothing changes it reads and writes nothing.
//!
//! A Secret gets its identities as owners, so `clusterctl move` moves it along and deletes it at the source.
//! An identity that FooClusters use has a finalizer: without credentials their groups could not be removed.

mod users;

use crate::Context;
use crate::apply::{self, StatusWriter};
use crate::clock::kube_time;
use crate::credentials::Keys;
use crate::debug;
use crate::harness::{ForAll, ReconcileAll};
use crate::identities::allowed::{self, Allowed, Namespaces};
use crate::identities::{Lists, ResolvedIdentities, ResolvedIdentity, chain};
use crate::labels::{Controller, PassResult, Task, Watched};
use crate::passes::PassId;
use crate::watch::{ChangeFilter, Filled, Unreadable, Watch};
use foo_api::conditions::{self, NewCondition};
use foo_api::identity::secret_keys;
use foo_api::names::{IDENTITY_FINALIZER, INFRASTRUCTURE_GROUP, KEEP_KEYS_LABEL, WATCH_LABEL, managers};
use foo_api::{FooClusterIdentity, FooClusterIdentitySpec, FooClusterIdentityStatus};
use foo_model::{Blocked, Reason};
use k8s_openapi::api::core::v1::{Namespace, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{Patch, PatchParams};
use kube::core::PartialObjectMeta;
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use users::{ClusterOfIdentity, Users};

/// How soon a failed request to the API server is repeated, if nothing changes before.
const TRY_AGAIN: Duration = Duration::from_secs(10);

/// Keeps identities resolved until `shutdown` resolves.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send) {
    let client = &context.client;
    // If an unreadable identity `default` were ignored, every namespace could use the manager's credentials;
    // so it is kept.
    let identities = Watch::<FooClusterIdentity>::strict_over(
        &context,
        Watched::FooClusterIdentity,
        Api::all(client.clone()),
        ChangeFilter::AllButStatus,
    );
    let namespaces = Watch::<PartialObjectMeta<Namespace>>::strict_over(
        &context,
        Watched::Namespace,
        Api::all(client.clone()),
        ChangeFilter::AllButStatus,
    );
    let secrets = Watch::<PartialObjectMeta<Secret>>::strict_over(
        &context,
        Watched::Secret,
        Api::namespaced(client.clone(), &context.settings.identity_namespace),
        ChangeFilter::EveryVersion,
    );
    // All FooClusters, whether or not this manager reconciles them and whatever else they contain: an ignored
    // one would not protect its identity.
    let clusters = Watch::<ClusterOfIdentity>::strict_over(
        &context,
        Watched::FooCluster,
        Api::all(client.clone()),
        ChangeFilter::AllButStatus,
    );
    context.metrics.census().adds(
        identities.kind,
        context.kubernetes_clock.clone(),
        identities.store.clone(),
        |identity: &FooClusterIdentity| {
            Some(identity.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default())
        },
    );
    let cache = IdentityCache {
        identities: identities.store.clone(),
        namespaces: namespaces.store.clone(),
        secrets: secrets.store.clone(),
        unreadable: identities.unreadable.clone(),
        unreadable_clusters: clusters.unreadable.clone(),
        clusters: clusters.store.clone(),
        all_clusters: clusters.filled.clone(),
        read: BTreeMap::new(),
        status: StatusWriter::new(managers::IDENTITY_STATUS),
        context: context.clone(),
    };
    ForAll::new(&context, Controller::Identity, Task::Identities)
        .needs(identities)
        .needs(namespaces)
        .needs(secrets)
        .watches(clusters)
        .run(cache, shutdown)
        .await;
}

/// The condition while a deletion waits.
const DELETING: &str = "Deleting";

/// The users of an identity.
#[derive(Clone, Copy)]
enum Use<'u> {
    /// Not all FooClusters have been seen.
    Unknown,
    /// No FooCluster uses it.
    None,
    /// These FooClusters use it.
    By(&'u BTreeSet<String>),
}

struct IdentityCache {
    context: Context,
    identities: Store<FooClusterIdentity>,
    namespaces: Store<PartialObjectMeta<Namespace>>,
    secrets: Store<PartialObjectMeta<Secret>>,
    clusters: Store<ClusterOfIdentity>,
    /// FooClusterIdentities that cannot be read: they provide no credentials.
    unreadable: Unreadable,
    /// FooClusters that cannot be read: their identity is unknown.
    unreadable_clusters: Unreadable,
    /// Whether all FooClusters have been seen.
    all_clusters: Filled,
    /// Secrets that identities name, as last read.
    read: BTreeMap<String, Read>,
    status: StatusWriter,
}

/// A Secret, as last read.
struct Read {
    /// Its version; `None` if it did not exist or could not be read.
    version: Option<String>,
    keys: Result<Keys, Blocked>,
}

impl ReconcileAll for IdentityCache {
    async fn reconcile_all(&mut self, pass: PassId) -> Option<Duration> {
        let identities = self.identities.state();
        let named: BTreeSet<String> = identities.iter().filter_map(|it| secret_of(it)).collect();
        self.read.retain(|name, _| named.contains(name));
        self.context.debug.keep_only(Controller::Identity, &identities);
        let mut all_went_well = true;
        for name in &named {
            all_went_well &= self.read_secret(name).await;
        }
        let outcomes = self.outcomes(&identities);
        // First: passes wait for credentials.
        self.context.identities.publish(outcomes.clone());
        all_went_well &= self.own_secrets(&identities).await;
        let users = self.users(&identities, &outcomes);
        for identity in &identities {
            let name = identity.name_any();
            let use_of_it = match &users {
                None => Use::Unknown,
                Some(users) => users.get(&name).map_or(Use::None, Use::By),
            };
            // First: after a status write the known resourceVersion would be outdated.
            let (well, is_gone) = self.write_finalizer(identity, use_of_it).await;
            all_went_well &= well;
            if let Some(outcome) = outcomes.get(&name).filter(|_| !is_gone && self.is_owned(identity)) {
                let well = self.write_status(identity, outcome, use_of_it).await;
                self.record(pass, identity, outcome, well);
                all_went_well &= well;
            }
        }
        (!all_went_well).then_some(TRY_AGAIN)
    }
}

impl IdentityCache {
    /// For `/debug`: what it was resolved to. Names of credentials contain digests of keys, no keys.
    fn record(&self, pass: PassId, identity: &FooClusterIdentity, outcome: &ResolvedIdentity, well: bool) {
        let (debug, at) = (&self.context.debug, self.context.clock.now());
        let key = debug::Key::of(Controller::Identity, identity);
        let (result, next) =
            if well { (PassResult::Settled, None) } else { (PassResult::Failed, Some(TRY_AGAIN)) };
        let resolved = match &outcome.credentials {
            Ok(credentials) => json!({"credentials": credentials.name()}),
            Err(blocked) => json!({"reason": blocked.reason.as_str(), "message": blocked.message}),
        };
        debug.planned(key.clone(), at, Arc::new(resolved), None);
        debug.passed(key, debug::Pass { id: pass, at, result, error: None, next });
    }

    /// Reads a Secret unless this version is known. Returns whether that succeeded.
    async fn read_secret(&mut self, name: &str) -> bool {
        let namespace = self.context.settings.identity_namespace.clone();
        let watched = self.secrets.get(&ObjectRef::new(name).within(&namespace));
        let Some(version) = watched.map(|secret| secret.resource_version()) else {
            let message = format!("Secret {namespace}/{name} does not exist");
            let keys = Err(Blocked::new(Reason::IdentitySecretNotFound, message));
            self.read.insert(name.to_owned(), Read { version: None, keys });
            return true;
        };
        if self.read.get(name).is_some_and(|read| read.version.is_some() && read.version == version) {
            return true;
        }
        let secrets: Api<Secret> = Api::namespaced(self.context.client.clone(), &namespace);
        match secrets.get(name).await {
            Ok(secret) => {
                let read = Read { version: secret.resource_version(), keys: keys(&namespace, name, &secret) };
                self.read.insert(name.to_owned(), read);
                true
            }
            Err(error) => {
                tracing::warn!(%error, namespace, name, "could not read the Secret of a FooClusterIdentity");
                // Keys from an earlier read may still be valid; without one there are none.
                let message = format!("Secret {namespace}/{name} cannot be read");
                self.read.entry(name.to_owned()).or_insert_with(|| Read {
                    version: None,
                    keys: Err(Blocked::new(Reason::IdentitySecretUnreadable, message)),
                });
                false
            }
        }
    }

    fn outcomes(&self, identities: &[Arc<FooClusterIdentity>]) -> ResolvedIdentities {
        let specs = specs(identities);
        let secrets: chain::Secrets =
            self.read.iter().map(|(name, read)| (name.clone(), read.keys.clone())).collect();
        let labels = |namespace: &Arc<PartialObjectMeta<Namespace>>| {
            (namespace.name_any(), namespace.labels().clone())
        };
        let namespaces: Namespaces = self.namespaces.state().iter().map(labels).collect();
        let readable = specs
            .iter()
            .map(|(name, spec)| (name.clone(), outcome(name, spec, &specs, &secrets, &namespaces)));
        // It allows no namespace, and shows why.
        let unreadable = self.unreadable.all_in("").into_iter().map(|(name, error)| {
            let message = format!("FooClusterIdentity {name} cannot be read: {error}");
            let credentials = Err(Blocked::new(Reason::IdentityInvalid, message));
            (name, ResolvedIdentity { credentials, allowed: Allowed::All, lists: Arc::default() })
        });
        readable.chain(unreadable).collect()
    }

    /// Sets identities as owners of the Secrets they name, and of no others. Returns whether that succeeded.
    ///
    /// Kubernetes deletes a Secret with its last owner, so a Secret without keys is left alone: its name may
    /// be a mistake.
    async fn own_secrets(&self, identities: &[Arc<FooClusterIdentity>]) -> bool {
        let mut all_went_well = true;
        for secret in self.secrets.state() {
            let name = secret.name_any();
            let naming = identities.iter().filter(|identity| {
                secret_of(identity).as_ref() == Some(&name)
                    && !identity.labels().contains_key(KEEP_KEYS_LABEL)
            });
            let naming: Vec<Naming> = naming.filter_map(|identity| Naming::of(identity)).collect();
            let has_keys = self.read.get(&name).is_some_and(|read| read.keys.is_ok());
            let is_alive = |uid: &str| identities.iter().any(|it| it.metadata.uid.as_deref() == Some(uid));
            let Some(owners) = owners(secret.owner_references(), &naming, has_keys, is_alive) else {
                continue;
            };
            let secrets: Api<Secret> =
                Api::namespaced(self.context.client.clone(), &self.context.settings.identity_namespace);
            // Not by server-side apply: the tool that moved or restored the Secret also owns these entries.
            let fields = json!({ "metadata": {
                "uid": secret.uid(), "resourceVersion": secret.resource_version(), "ownerReferences": owners,
            } });
            let by_us = PatchParams {
                field_manager: Some(managers::IDENTITY_SECRET.to_owned()),
                ..PatchParams::default()
            };
            match secrets.patch(&name, &by_us, &Patch::Merge(&fields)).await {
                Ok(_) => {}
                // It changed; the watch reports that.
                Err(error) if apply::is_conflict(&error) || apply::is_not_found(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, name, "could not set the owner reference of the Secret of a FooClusterIdentity");
                    all_went_well = false;
                }
            }
        }
        all_went_well
    }

    /// Whether this manager writes its status. With `--watch-filter` another manager handles the other
    /// identities, with Secrets in another namespace.
    fn is_owned(&self, identity: &FooClusterIdentity) -> bool {
        let filter = self.context.settings.watch_filter.as_ref();
        filter.is_none_or(|filter| identity.labels().get(WATCH_LABEL) == Some(filter))
    }

    /// The users of each identity; `None` until all FooClusters have been read.
    fn users(&self, identities: &[Arc<FooClusterIdentity>], outcomes: &ResolvedIdentities) -> Option<Users> {
        if !self.all_clusters.now() || self.unreadable_clusters.any() {
            return None;
        }
        let may_use = |identity: &str, namespace: &str| {
            outcomes.get(identity).is_some_and(|outcome| outcome.allowed.has(namespace))
        };
        Some(users::users(&self.clusters.state(), &specs(identities), may_use))
    }

    /// Adds the finalizer to an identity in use and removes it from others; all managers see the same
    /// FooClusters. Returns whether that succeeded, and whether the identity is deleted now.
    async fn write_finalizer(&self, identity: &FooClusterIdentity, use_of_it: Use<'_>) -> (bool, bool) {
        let is_held = identity.finalizers().iter().any(|finalizer| finalizer == IDENTITY_FINALIZER);
        let is_deleting = identity.metadata.deletion_timestamp.is_some();
        let api = Api::all(self.context.client.clone());
        let written = match use_of_it {
            // Kubernetes rejects new finalizers on an object that is being deleted.
            Use::By(_) if !is_held && !is_deleting => {
                apply::add_finalizer(&api, identity, IDENTITY_FINALIZER).await.map(drop)
            }
            Use::None if is_held => apply::remove_finalizer(&api, identity, IDENTITY_FINALIZER).await,
            Use::By(_) | Use::None | Use::Unknown => return (true, false),
        };
        match written {
            Ok(()) => (true, is_deleting),
            Err(error) if apply::is_not_found(&error) => (true, true),
            // Perhaps only its status changed, which the watch does not report.
            Err(error) if apply::is_conflict(&error) => (false, false),
            Err(error) => {
                tracing::warn!(%error, identity = identity.name_any(), "could not write the finalizer of a FooClusterIdentity");
                (false, false)
            }
        }
    }

    /// Writes an identity's status. Returns whether that succeeded.
    async fn write_status(
        &self,
        identity: &FooClusterIdentity,
        outcome: &ResolvedIdentity,
        use_of_it: Use<'_>,
    ) -> bool {
        let (status, reason, message) = match &outcome.credentials {
            Ok(_) if outcome.allowed == Allowed::Denied => (
                "True",
                Reason::Complete,
                "no namespace may use it: spec.allowedNamespaces is not set".to_owned(),
            ),
            Ok(_) => ("True", Reason::Complete, String::new()),
            Err(blocked) => ("False", blocked.reason, blocked.message.clone()),
        };
        let ready = NewCondition { kind: "Ready".to_owned(), status, reason: reason.into(), message };
        let old = identity.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
        let in_use = |message: String| NewCondition {
            kind: DELETING.to_owned(),
            status: "True",
            reason: Reason::InUse.into(),
            message,
        };
        let deleting = match use_of_it {
            _ if identity.metadata.deletion_timestamp.is_none() => None,
            Use::By(users) => Some(in_use(users::in_words(users))),
            Use::None => None,
            Use::Unknown => {
                let before = conditions::find(old, DELETING);
                before.map(|condition| in_use(condition.message.clone()))
            }
        };
        let wanted: Vec<NewCondition> = [Some(ready), deleting].into_iter().flatten().collect();
        let now = kube_time(&self.context.kubernetes_clock);
        let status = FooClusterIdentityStatus {
            conditions: conditions::merge(old, &wanted, identity.metadata.generation, now),
        };
        let api = Api::all(self.context.client.clone());
        let written = self.status.apply_if_changed(&api, identity, identity.status.as_ref(), &status).await;
        match written {
            Ok(_) => true,
            // It was deleted or recreated; the watch reports either.
            Err(apply::Error::Kube(error)) if apply::is_not_found(&error) || apply::is_conflict(&error) => {
                true
            }
            Err(error) => {
                tracing::warn!(%error, identity = identity.name_any(), "could not write the status of a FooClusterIdentity");
                false
            }
        }
    }
}

fn outcome(
    name: &str,
    spec: &FooClusterIdentitySpec,
    specs: &BTreeMap<String, &FooClusterIdentitySpec>,
    secrets: &chain::Secrets,
    namespaces: &Namespaces,
) -> ResolvedIdentity {
    let (allowed, wrong) = allowed::allowed(spec.allowed_namespaces.as_ref(), namespaces);
    let credentials = match wrong {
        Some(wrong) => Err(Blocked::new(
            Reason::IdentityInvalid,
            format!("the selector of FooClusterIdentity {name} cannot be used: {wrong}"),
        )),
        None => chain::credentials(name, specs, secrets).map(Arc::new),
    };
    ResolvedIdentity { credentials, allowed, lists: Arc::new(Lists::of(name, spec)) }
}

/// An identity that names a Secret.
#[derive(Clone)]
struct Naming {
    owner: OwnerReference,
    /// It does not become an owner any more: a user who deletes it with `--cascade=orphan` keeps the
    /// Secret.
    is_deleting: bool,
}

impl Naming {
    fn of(identity: &FooClusterIdentity) -> Option<Self> {
        let is_deleting = identity.metadata.deletion_timestamp.is_some();
        Some(Self { owner: identity.owner_ref(&())?, is_deleting })
    }
}

/// The owners that a Secret needs, if they differ from the present ones. Deleted identities are left to
/// the garbage collector, which would race with a removal here.
fn owners(
    there: &[OwnerReference],
    naming: &[Naming],
    has_keys: bool,
    is_alive: impl Fn(&str) -> bool,
) -> Option<Vec<OwnerReference>> {
    let of_identity = |owner: &OwnerReference| {
        owner.kind == FooClusterIdentity::kind(&())
            && crate::owners::group(&owner.api_version) == INFRASTRUCTURE_GROUP
    };
    let same = |owner: &OwnerReference, it: &Naming| it.owner.uid == owner.uid && of_identity(owner);
    let stays = |owner: &&OwnerReference| {
        !of_identity(owner) || naming.iter().any(|it| same(owner, it)) || !is_alive(&owner.uid)
    };
    let mut wanted: Vec<OwnerReference> = there.iter().filter(stays).cloned().collect();
    for reference in &mut wanted {
        if let Some(it) = naming.iter().find(|it| same(reference, it)) {
            // Kubernetes does not find an owner in a version that is not served.
            reference.api_version.clone_from(&it.owner.api_version);
        }
    }
    if has_keys {
        let is_new = |new: &&Naming| !new.is_deleting && !there.iter().any(|it| same(it, new));
        for new in naming.iter().filter(is_new) {
            // A uid is that of one object: a reference with it to another kind is wrong, and the list has one entry per
            // uid.
            wanted.retain(|it| it.uid != new.owner.uid);
            wanted.push(new.owner.clone());
        }
    }
    (wanted != there).then_some(wanted)
}

fn specs(identities: &[Arc<FooClusterIdentity>]) -> BTreeMap<String, &FooClusterIdentitySpec> {
    identities.iter().map(|identity| (identity.name_any(), &identity.spec)).collect()
}

fn secret_of(identity: &FooClusterIdentity) -> Option<String> {
    identity.spec.secret.as_ref().map(|secret| secret.name.clone())
}

/// The keys in a Secret, without surrounding white space, which text editors add.
fn keys(namespace: &str, name: &str, secret: &Secret) -> Result<Keys, Blocked> {
    let text = |key: &str| {
        let bytes = secret.data.as_ref().and_then(|data| data.get(key))?;
        let text = std::str::from_utf8(&bytes.0).ok()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let needed = |key: &str| {
        let lacking = || {
            Blocked::new(
                Reason::IdentitySecretInvalid,
                format!("Secret {namespace}/{name} has no text under the key {key}"),
            )
        };
        text(key).ok_or_else(lacking)
    };
    Ok(Keys {
        access_key_id: needed(secret_keys::ACCESS_KEY_ID)?,
        secret_access_key: needed(secret_keys::SECRET_ACCESS_KEY)?,
        session_token: text(secret_keys::SESSION_TOKEN),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(kind: &str, uid: &str) -> OwnerReference {
        let api_version = if kind == "FooClusterIdentity" { "infrastructure.foo.com/v1alpha1" } else { "v1" };
        OwnerReference {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            name: uid.to_owned(),
            uid: uid.to_owned(),
            ..OwnerReference::default()
        }
    }

    #[test]
    fn a_secret_is_owned_by_the_identities_that_name_it_whoever_wrote_the_owners() {
        let identity = |uid: &str| owner("FooClusterIdentity", uid);
        let alive = |uid: &str| uid != "gone";
        let (a, b, gone) = (&identity("a"), &identity("b"), &identity("gone"));
        let foreign = &owner("ConfigMap", "x");
        let all =
            |owners: &[&OwnerReference]| owners.iter().map(|owner| (*owner).clone()).collect::<Vec<_>>();
        let naming = |owners: &[&OwnerReference], is_deleting| {
            all(owners).into_iter().map(|owner| Naming { owner, is_deleting }).collect::<Vec<_>>()
        };
        let from = |there: &[&OwnerReference], by: &[&OwnerReference], with_keys| {
            owners(&all(there), &naming(by, false), with_keys, alive)
        };
        assert_eq!(from(&[], &[a], true), Some(all(&[a])));
        assert_eq!(from(&[a], &[a], true), None, "nothing to write");
        assert_eq!(from(&[a, foreign], &[b], true), Some(all(&[foreign, b])));
        let old = &OwnerReference { api_version: "infrastructure.foo.com/v1alpha0".to_owned(), ..a.clone() };
        assert_eq!(from(&[old], &[a], true), Some(all(&[a])), "another version is not served");
        let another_kind = &OwnerReference { uid: a.uid.clone(), ..foreign.clone() };
        let another_group = &OwnerReference { api_version: "example.com/v1alpha1".to_owned(), ..a.clone() };
        for wrong in [another_kind, another_group] {
            assert_eq!(
                from(&[wrong, foreign], &[a], true),
                Some(all(&[foreign, a])),
                "the uid alone is not enough"
            );
            assert_eq!(from(&[wrong], &[a], false), None, "it has no keys of the identity");
        }
        assert_eq!(from(&[foreign], &[a], false), None, "it has no keys of the identity");
        assert_eq!(from(&[a], &[a], false), None, "keys that are spoilt for a moment");
        assert_eq!(from(&[gone], &[], true), None, "the garbage collector's");
        assert_eq!(from(&[gone], &[a], true), Some(all(&[gone, a])));
        let going = |there: &[&OwnerReference]| owners(&all(there), &naming(&[a], true), true, alive);
        assert_eq!(going(&[a]), None, "it stays an owner");
        assert_eq!(going(&[]), None, "and becomes none: it was orphaned");
    }
}
