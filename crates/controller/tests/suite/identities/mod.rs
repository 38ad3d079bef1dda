//! Which credentials AWS is called with: what identities allow, what their Secrets contain, and what becomes of pools
//! meanwhile.

mod allowed;
mod cost;
mod keys;
mod used;

use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_api::{FooCluster, FooClusterIdentity};
use foo_simulator_core::{Fault, FaultRule};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

const KEY: &str = "AKIAFIRST";
const OTHER_KEY: &str = "AKIASECOND";
const BAD_KEY: &str = "AKIABAD";
/// From a change in Kubernetes to what follows from it.
const AT_ONCE: Duration = Duration::from_secs(10);

/// An identity for all namespaces, with the keys of a Secret of the same name.
fn with_keys(name: &str) -> FooClusterIdentity {
    objects::identity(name, json!({"allowedNamespaces": {}, "secret": {"name": name}}))
}

fn only(caller: &str) -> BTreeSet<String> {
    [caller.to_owned()].into()
}

impl World {
    /// A cluster that names the identity `prod`, nothing else but our manager.
    fn with_identity() -> Self {
        let world = Self::empty();
        world.has(&objects::cluster());
        let mut cluster = objects::foo_cluster();
        cluster.spec.identity_ref = Some(objects::identity_reference("prod"));
        world.has(&cluster);
        world
    }

    /// The same with the identity and its Secret, idle.
    async fn with_keys() -> Self {
        let world = Self::with_identity();
        world.has(&objects::keys("prod", KEY));
        world.has(&with_keys("prod"));
        world.settles().await;
        world
    }

    fn foo_cluster(&self) -> FooCluster {
        self.server.get(NS, CLUSTER).expect("the FooCluster does not exist")
    }

    fn cluster_condition(&self, kind: &str) -> Condition {
        let conditions = self.foo_cluster().status.unwrap_or_default().conditions;
        conditions.into_iter().find(|condition| condition.type_ == kind).expect("no such condition")
    }

    fn identity(&self, name: &str) -> FooClusterIdentity {
        self.server.get("", name).expect("the identity does not exist")
    }

    fn edits_identity(&self, name: &str, change: impl FnOnce(&mut FooClusterIdentity)) {
        self.server.edit("", name, change).unwrap();
    }

    /// A user rotates the key in a Secret.
    fn rotates(&self, name: &str, id: &str) {
        let fresh = objects::keys(name, id);
        self.server.edit(NS, name, |secret: &mut Secret| secret.data = fresh.data).unwrap();
    }

    fn refuses(&self, caller: &str) {
        let refusal = Fault::Error {
            code: "InvalidClientTokenId".to_owned(),
            status: 403,
            message: "The security token included in the request is invalid.".to_owned(),
        };
        self.aws.add_fault(FaultRule::on_everything(refusal).for_caller(caller));
    }

    /// Waits until this is so, which must not take long.
    async fn soon(&self, what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        self.until(what, is_so).await;
        assert!(began.elapsed() <= AT_ONCE, "{what}: {:?}\n{}", began.elapsed(), self.summary());
    }

    /// The FooCluster and the pool report this of their credentials, AWS has not been called, and nothing is written
    /// while nothing changes.
    async fn is_without_credentials(&self, pool: &Pool<'_>, reason: &str, words: &str) {
        self.settles().await;
        let version = self.server.resource_version();
        self.forgets();
        self.waits(Duration::from_mins(20)).await;
        assert_eq!(self.callers(), BTreeSet::new());
        assert_eq!(self.server.resource_version(), version, "status churn");
        let reported = [self.cluster_condition("CredentialsReady"), pool.condition("CredentialsReady")];
        for condition in reported {
            assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", reason));
            assert!(condition.message.contains(words), "{}", condition.message);
        }
        assert_eq!(self.cluster_condition("Ready").reason, reason);
        assert_eq!(pool.condition("LaunchTemplateReady").reason, reason, "no second cause is invented");
    }
}
