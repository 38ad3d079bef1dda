//! The pool controller: one FooMachinePool is one Auto Scaling group, and only this controller changes it.
//!
//! A pass visits the folders in this order:
//!
//! * [`gather`]: what Kubernetes knows of the pool; [`inputs`]: everything else that a plan needs, as the planner's two
//!   inputs;
//! * `foo_planner::plan`: every decision;
//! * [`check`]: a second opinion; a plan that breaks an invariant is not carried out;
//! * [`act`]: carries out the plan, action by action;
//! * [`output`]: status, provider ids, events.
//!
//! [`reconcile`] is a pass from end to end; [`plan_loop`] is its middle: plan, check, act, again while an action
//! provides what the next plan needs; [`pass`] is its result. [`pools`] is what a pass works with, [`state`]
//! (with [`reads`], [`recently_created`], [`repeats`] and [`terminated_alone`]) what is remembered of a pool between
//! passes. [`watched_group`] keeps a pool's group under observation, [`tenure`] decides which of several pools a group
//! belongs to, [`watches`] maps changes to pools, [`idle_check`] notices a pool that is never idle,
//! [`milestones`] measures launches, drains and roll-outs, [`unmanaged_groups`] finds groups whose pool does not exist, [`plans`] responds to what users ask would follow from a
//! change. This folder makes no decision about instances or Machines.
//!
//! # Each phase hands the next one a value of its own type
//!
//! | File | What it does | Hands on |
//! |---|---|---|
//! | `reconcile` | a pass from end to end: back-off, room in its lane (`crate::lanes`), the phases, when to come back | |
//! | `gather` | what belongs to the pool, from the informer caches; which group it is (`identity`) | `Gathered` |
//! | `inputs/aws` | may AWS be called for it: the region is known, its identity may be used, the group is its own (`tenure`) | `Aws` |
//! | `inputs` | every other read of the pass, once; user input is read and judged here and nowhere else | `Inputs` |
//! | `plan_loop` | plan, check, act; again, with another observation, while an action provides what the next plan needs | `Plan` |
//! | `check` | a plan that breaks an invariant is replaced by one that does nothing and shows why | `CheckedPlan` |
//! | `act` | which actions may begin; sends them; records outcomes. `execute` has no `if` on domain values. `cordon` is the only write to a workload cluster | `Pass` |
//! | `output` | `publish` (status, ids), `capacity`, `instance_details` (from EC2) | |
//! | `failure_report` | what a failure adds to the report | |
//!
//! # When a pass runs
//!
//! When one of the pool's objects changed, when the observer or an event of AWS names its group, when its credentials
//! change, when a timer of the last plan expires, or after the sync period. It may plan up to five times, since some
//! actions provide what the next plan needs (a template that was read, a new version). After a failure the pool waits
//! for 1 s, doubling to 5 min; only a change of `InputFingerprint` in `pools` ends that earlier.
//!
//! # A change of replicas, step by step
//!
//! `MachinePool.spec.replicas` is changed from 3 to 5.
//!
//! 1. The watch of MachinePools (`Changes` in `watch/changes.rs`) finds the change relevant; `pool_of_machine_pool` in
//!    `watches` names the FooMachinePool of its infrastructureRef.
//! 2. The harness starts a pass: `Pools::gather` in `reconcile` takes what belongs to the pool from the caches
//!    (`Caches::gather` in `gather.rs`); `Pools::pass_over` takes its memory (`States::of` in `state`).
//! 3. `Pools::aws` (`inputs/aws.rs`) decides that AWS may be called for it, and `Pools::inputs` (`inputs/mod.rs`) reads
//!    what a plan needs: `size` in `inputs/desired.rs` turns the field into `Size::Replicas { wanted: 5, .. }`, `group`
//!    in `inputs/observe.rs` shows a group of 3.
//! 4. `Pools::plan_and_act` (`plan_loop`) asks for a plan.
//! 5. `plan` (`planner/src/plan.rs`) calls its steps in order; `adjust` in `planner/src/steps/size.rs` raises desired
//!    capacity to 5 (`Draft::change`); `Draft::into_actions` makes one `GroupAction::UpdateGroup` of all changes except
//!    that of the template, and an event that is published when it has succeeded.
//! 6. `CheckedPlan::of` (`check`) has the plan checked by `violations` in `planner/src/check.rs`.
//! 7. `Pools::act` (`act/mod.rs`) finds no reason to skip the action and sends it: `Pools::send`, which calls
//!    `Executor::carry_out` (`act/execute.rs`) and records before and after the call which effects the planner is to
//!    expect.
//! 8. The call passes the limits of `cloud/src/metered/` and reaches `update_group` in `cloud-adapter/src/groups/`.
//! 9. `Pools::settle` (`act/mod.rs`) records the outcome: it is counted, what depends on a failed action is skipped,
//!    the observer describes the group again soon.
//! 10. `Pools::publish` (`output/mod.rs`) writes the status and publishes the event. When the observer's sweep
//!     (`cloud/src/observer/`) sees the new instances, a `GroupChanged` (`clouds.rs`) brings the pool back to step 2,
//!     and `reconcile_machines` in `planner/src/steps/machines.rs` requests their FooMachines.

mod act;
mod check;
mod failure_report;
mod foo_machine_metadata;
mod gather;
mod identity;
mod idle_check;
mod inputs;
mod milestones;
mod names;
mod output;
mod pass;
mod plan_loop;
mod plans;
mod pools;
mod reads;
mod recently_created;
mod reconcile;
mod repeats;
mod state;
mod tenure;
mod terminated_alone;
mod unmanaged_groups;
mod unowned_foo_machines;
mod watched_group;
mod watches;

use crate::responders::Subject;
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
        .wait_for("observations of Auto Scaling groups: none for two periods, and no error", move || {
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
    let unowned = unowned_foo_machines::run(context.clone(), caches.clone(), suspected);
    let unmanaged = unmanaged_groups::run(context.clone(), caches.clone());
    let passes = watches
        .harness(&context, &caches, suspects)
        .foresees(Subject::Pool, &pools)
        .debounce(DEBOUNCE)
        .needs_identities()
        .reconciles_on(woken)
        .reconciles_on(identified)
        .run(pools, shutdown);
    // They run as long as there are passes.
    let beside = join(unowned, unmanaged).then(|_ended| pending::<()>());
    select(pin!(passes), pin!(beside)).await;
}
