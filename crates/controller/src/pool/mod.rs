//! The pool controller: one FooMachinePool is one Auto Scaling group, and this is the only place that changes it.
//!
//! A pass goes through the files in this order:
//!
//! * [`gather`]: what Kubernetes knows, from the informer caches ([`secret`]: the one live read);
//! * [`wish`] (with [`content`], [`names`]): user input, read once and judged;
//! * [`look`] (with [`shortage`] and [`causes`]): the newest shared look at AWS, and our objects, as the planner's nouns;
//! * `foo_planner::plan`: every decision;
//! * [`execute`]: the actions, one by one; [`overlay`]: what a refusal adds to the report;
//! * [`publish`] (with [`capacity`]): status, ids, events; [`upkeep`]: the metadata of FooMachines.
//!
//! [`watches`] says what wakes a pool, [`reconcile`] (with [`rounds`]) ties them together, [`tenure`] says which of several pools a group belongs to, [`state`] is what is remembered between passes, [`rest`] watches that nothing
//! is done for ever. There is no decision about
//! instances or Machines in this folder.

mod act;
mod capacity;
mod causes;
mod content;
mod cordon;
mod details;
mod execute;
mod gather;
mod holdup;
mod look;
mod made;
mod names;
mod overlay;
mod pass;
mod publish;
mod reconcile;
mod repeats;
mod replacing;
mod rest;
mod rounds;
mod secret;
mod shortage;
mod skew;
mod state;
mod strangers;
mod tenure;
mod together;
mod twins;
mod upkeep;
mod watches;
mod wish;

use crate::Context;
use crate::harness::Harness;
use crate::installation;
use crate::metrics::Controller;
use foo_api::FooMachine;
use futures::channel::mpsc::unbounded;
use futures::future::{pending, select};
use futures::{FutureExt, StreamExt, stream};
use kube_runtime::reflector::ObjectRef;
use reconcile::Pools;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use watches::{Watches, pool_of_foo_machine, pool_of_machine, pool_of_machine_pool, pools_with_identity};
use watches::{pools_of_cluster, pools_of_foo_cluster, pools_with_secret};

/// Passes over the same pool are at least this far apart: the many changes of one scale-up are worked on together, and
/// an API server under load is left alone. Short against everything AWS does.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Runs the pool controller until `shutdown` resolves; passes under way are finished.
pub async fn run(context: Context, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let mut shutdown = Box::pin(shutdown);
    let installation = tokio::select! {
        id = installation::id(&context.client, &context.readiness) => id,
        () = &mut shutdown => return,
    };
    let observers = context.metrics.observers();
    context
        .readiness
        .wait_for("looks at Auto Scaling groups: none for two periods, and no error", move || {
            observers.unseen().unexplained == 0
        });
    let watches = Watches::of(&context);
    let caches = watches.caches(installation);
    let (wakes, identities) = (context.clouds.wakes(), context.identities.changes());
    let pools = Arc::new(Pools::new(context.clone(), caches.clone()));
    let woken = {
        let pools = Arc::clone(&pools);
        wakes.flat_map(move |wake| stream::iter(pools.states.pools_of(&wake.cloud, &wake.group)))
    };
    // Each of the closures below has its own.
    let [by_identity, by_cluster, by_foo_cluster, by_secret, by_machine, by_foo_machine] =
        std::array::from_fn(|_| caches.clone());
    let identified =
        identities.flat_map(move |names| stream::iter(pools_with_identity(&by_identity, &names)));
    let (suspects, suspected) = unbounded();
    let strangers = strangers::run(context.clone(), caches, suspected);
    let passes = Harness::new(&context, Controller::Pool, watches.pools)
        .debounce(DEBOUNCE)
        .needs_identities()
        .watches(watches.foo_machines, move |machine: FooMachine| {
            if !strangers::is_known(&by_foo_machine, &machine) {
                // Nobody listens any more when the manager ends.
                let _ended = suspects.unbounded_send(ObjectRef::from_obj(&machine));
            }
            pool_of_foo_machine(&by_foo_machine, &machine)
        })
        .watches(watches.machines, move |machine| pool_of_machine(&by_machine, &machine))
        .watches(watches.machine_pools, |pool| pool_of_machine_pool(&pool))
        .watches(watches.clusters, move |cluster| pools_of_cluster(&by_cluster, &cluster))
        .watches(watches.foo_clusters, move |cluster| pools_of_foo_cluster(&by_foo_cluster, &cluster))
        .watches(watches.secrets, move |secret| pools_with_secret(&by_secret, &secret))
        .reconciles_on(woken)
        .reconciles_on(identified)
        .run(pools, shutdown);
    // Strangers are looked at for as long as there are passes.
    let strangers = strangers.then(|()| pending::<()>());
    select(pin!(passes), pin!(strangers)).await;
}
