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

use crate::{Context, installation};
use futures::channel::mpsc::unbounded;
use futures::future::{pending, select};
use futures::{FutureExt, StreamExt, stream};
use reconcile::Pools;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use watches::{Watches, pools_with_identity};

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
    let of_identity = caches.clone();
    let identified =
        identities.flat_map(move |names| stream::iter(pools_with_identity(&of_identity, &names)));
    let (suspects, suspected) = unbounded();
    let strangers = strangers::run(context.clone(), caches.clone(), suspected);
    let passes = watches
        .harness(&context, &caches, suspects)
        .debounce(DEBOUNCE)
        .needs_identities()
        .reconciles_on(woken)
        .reconciles_on(identified)
        .run(pools, shutdown);
    // Strangers are looked at for as long as there are passes.
    let strangers = strangers.then(|()| pending::<()>());
    select(pin!(passes), pin!(strangers)).await;
}
