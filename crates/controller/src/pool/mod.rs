//! The pool controller: one FooMachinePool is one Auto Scaling group, and only this controller changes it.
//!
//! A pass goes through the folders in this order:
//!
//! * [`inputs`]: what Kubernetes knows of the pool, then everything else that a plan needs, as the planner's
//!   two inputs;
//! * `foo_planner::plan`: every decision;
//! * [`check`]: a second opinion; a plan that breaks an invariant is not carried out;
//! * [`act`]: carries out the plan, action by action;
//! * [`output`]: status, provider ids, events.
//!
//! [`reconcile`] is a pass from end to end; [`plan_loop`] is its middle: plan, check, act, again while an
//! action provides what the next plan needs; [`pass`] is its result. [`pools`] is what a pass works with,
//! [`state`] (with [`reads`]) what is remembered of a pool between passes. [`watched_group`] keeps a pool's
//! group under observation, [`tenure`] decides which of several pools a group belongs to, [`watches`] maps
//! changes to pools, [`idle_check`] notices a pool that never comes to rest, [`unmanaged_groups`] finds groups whose pool does not exist. This folder makes no decision
//! about instances or Machines.

mod act;
mod check;
mod foo_machine_metadata;
mod idle_check;
mod inputs;
mod names;
mod output;
mod pass;
mod plan_loop;
mod pools;
mod reads;
mod reconcile;
mod state;
mod tenure;
mod unmanaged_groups;
mod unowned_foo_machines;
mod watched_group;
mod watches;

use crate::{Context, installation};
use futures::channel::mpsc::unbounded;
use futures::future::{join, pending, select};
use futures::{FutureExt, StreamExt, stream};
use pools::Pools;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use watches::{Watches, pools_with_identity};

/// Minimum time between passes over the same pool: one pass handles the many changes of a scale-up together,
/// and spares an API server under load. Short compared to everything AWS does.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Runs the pool controller until `shutdown` resolves; passes in progress complete.
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
    let of_identity = caches.clone();
    let identified =
        identities.flat_map(move |names| stream::iter(pools_with_identity(&of_identity, &names)));
    let (suspects, suspected) = unbounded();
    let strangers = unowned_foo_machines::run(context.clone(), caches.clone(), suspected);
    let unmanaged = unmanaged_groups::run(context.clone(), caches.clone());
    let passes = watches
        .harness(&context, &caches, suspects)
        .debounce(DEBOUNCE)
        .needs_identities()
        .reconciles_on(woken)
        .reconciles_on(identified)
        .run(pools, shutdown);
    // They run as long as there are passes.
    let beside = join(strangers, unmanaged).then(|_ended| pending::<()>());
    select(pin!(passes), pin!(beside)).await;
}
