//! The rounds of a pass: observe, plan and act, again as long as an action brought about what the next plan needs.
//!
//! Nothing is published here; a [`Pass`] is what the rounds came to. How a plan is carried out is in `act.rs`.

use super::execute::Failure;
use super::gather::Gathered;
use super::pass::{Pass, Sight, is_clear, pace, refusal_stands, refused};
use super::reconcile::Pools;
use super::state::{PoolState, Tenure};
use super::{causes, look, names, overlay, rest, secret, shortage, skew, tenure, wish};
use crate::announcements::Place;
use crate::apply;
use crate::backoff::jittered;
use crate::clouds::{CloudKey, CloudRegion};
use foo_api::FooMachinePool;
use foo_cloud::lookups::Asking;
use foo_cloud::model::GroupName;
use foo_cloud::model::Reason;
use foo_cloud::observer::Seen;
use foo_planner::desired::{Blocked, Desired, Goal, GroupWish, ScaleIn, Size, VictimPolicy, Wanted};
use foo_planner::model::{DeletionTimeouts, Seconds};
use foo_planner::observed::{Finalizer, Look, Moves};
use foo_planner::{Action, Observed};
use kube::Api;
use kube::ResourceExt;
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;

/// Plans in one pass: finalizer and template, a look at the template, the group, and one to spare. Each is a plan of
/// its own because the next one needs what the one before brought about.
const ROUNDS: usize = 5;

impl Pools {
    /// Plans and acts, again as long as an action brought about what the next plan needs.
    pub(super) async fn rounds(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &Gathered,
        region: &Arc<CloudRegion>,
        types: &Result<Vec<foo_cloud::InstanceTypeInfo>, Blocked>,
        state: &mut PoolState,
    ) -> Pass {
        let Some(identified) = wish::identify(gathered) else {
            return self.without_cloud(gathered, Look::Unknown, None, state).await;
        };
        let now = self.context.clock.now();
        let data = match identified.goal {
            Goal::Run => {
                let period = jittered(self.context.settings.sync_period, key);
                secret::bootstrap_data(
                    &self.context.client,
                    &self.caches.secrets,
                    gathered,
                    state,
                    now,
                    period,
                )
                .await
            }
            Goal::Remove | Goal::LetGo => wish::BootstrapData::Missing(Blocked::new(Reason::Deleting, "")),
        };
        let asking = asking(state, gathered);
        let limits = self.context.identities.limits(gathered.identity());
        let mut desired =
            wish::desired(identified, gathered, data, types, &limits, &region.lookups, asking).await;
        overlay::place(&mut desired, &region.key.region);
        // As soon as anything of it can exist.
        let exists = look::finalizer(gathered) == Finalizer::Present
            || desired.missing.is_empty()
            || gathered.pool.spec.provider_id.is_some()
            || !gathered.foo_machines.is_empty();
        if exists {
            self.watch_group(key, &desired.identity.group, region, state);
        }
        let stranger = stranger(gathered, region, &desired.identity.group).await;
        let shortage = shortage::words(region, &desired.identity.group, state, now).await;
        let causes = causes::of_ends(region, &desired.identity.group, gathered, state).await;
        if state.began.is_none() {
            state.began = Some(now);
            state.memory.trial = super::replacing::resumed(gathered, now);
        }
        let mut acted = false;
        let mut events = Vec::new();
        let mut round = 0;
        state.behind = false;
        loop {
            round += 1;
            skew::hold_back(&self.context.client, gathered, &mut desired, state).await;
            let observed = self.observed(&desired, gathered, region, stranger.as_ref(), state);
            let observed = Observed { shortage: shortage.clone(), causes: causes.clone(), ..observed };
            if round == 1 {
                let view = rest::digest(&desired, &observed, &state.memory);
                state.rest.begins(view, observed.now);
                state.repeats.sees(view);
            }
            let mut plan = foo_planner::plan(&desired, &observed, &state.memory);
            state.rest.comes_back(observed.now, plan.report.next.after);
            // What is read of a template is not believed before the account is known, however often it is read.
            let believed = !matches!(observed.template, Look::Failed { .. });
            if !believed {
                plan.actions.retain(|action| !matches!(action, Action::LookAtTemplate));
            }
            let fresh = observed.group.seen_at() > state.memory.ledger.changed_at;
            let mut pass = self.act(&desired, &observed, plan, gathered, region, state).await;
            acted |= pass.acted;
            let went_on = believed
                && pass.failure.is_none()
                && !pass.raced
                && pass.again.is_none()
                && pass.plan.actions.iter().any(brings_news);
            if !went_on || round >= ROUNDS {
                pass.sight = match observed.group {
                    Look::Unknown if state.watched.is_some() => Sight::Awaited,
                    Look::At { .. }
                        if !(fresh && is_clear(&pass))
                            && refusal_stands(&mut pass, state, &region.key.region) =>
                    {
                        Sight::Voided
                    }
                    Look::Unknown | Look::Failed { .. } | Look::At { .. } => Sight::Had,
                };
                state.refused =
                    refused(&pass).or_else(|| state.refused.take().filter(|_| pass.sight == Sight::Voided));
                if let Some(error) = look::denied_details(&region.observer, &pass.plan.report) {
                    overlay::blind(&mut pass.plan.report, &error);
                }
                tenure::log_owner(state, key, tenure::owner_by_tags(&desired.identity, &observed));
                if state.tenure == Tenure::Own {
                    let place = Place::of(&region.key, &desired.identity.group);
                    let heeds = &pass.plan.report.heeds;
                    self.context.announcements.passed(&place, observed.group.seen_at(), heeds);
                    let elsewhere =
                        stranger.as_ref().is_some_and(|doubt| doubt.reason == Reason::WrongAccount);
                    let pace = if elsewhere { foo_cloud::observer::Pace::Quiet } else { pace(&pass) };
                    region.observer.pace(&desired.identity.group, pace);
                }
                return pass.after(events, acted);
            }
            events.append(&mut pass.plan.report.events);
        }
    }

    /// A pass for a pool whose group is another pool's: nothing but a report. The group is watched for it all the same, since
    /// its tags tell whose it is; that costs no call.
    pub(super) async fn refused(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &Gathered,
        region: &Arc<CloudRegion>,
        taken: &Blocked,
        state: &mut PoolState,
    ) -> Pass {
        if let Some(wish) = wish::identify(gathered) {
            self.watch_group(key, &wish.identity.group, region, state);
        }
        self.without_cloud(gathered, look::doubted(taken), Some(taken), state).await
    }

    /// Starts watching the group. Also one that should be watched: an observer that lost it would never say so.
    fn watch_group(
        &self,
        key: &ObjectRef<FooMachinePool>,
        group: &GroupName,
        region: &Arc<CloudRegion>,
        state: &mut PoolState,
    ) {
        if state.watches(region, group) {
            return;
        }
        // With other credentials everything is looked at anew. What AWS announced stays true.
        if let Some((cloud, watched)) = self.stop_watching(key, state).or_else(|| state.left.take())
            && state.tenure == Tenure::Own
        {
            self.context.announcements.moves(&Place::of(&cloud, &watched), &Place::of(&region.key, group));
        }
        self.states.watch(key, region, group);
        state.watched = Some((Arc::clone(region), group.clone()));
    }

    /// The pool's group is not looked at for it any more; where it was watched. Without others who use it, its cloud is gone.
    pub(super) fn stop_watching(
        &self,
        key: &ObjectRef<FooMachinePool>,
        state: &mut PoolState,
    ) -> Option<(CloudKey, GroupName)> {
        let (region, group) = state.watched.take()?;
        self.states.lets_go(key, &region, &group);
        state.forget_what_was_seen();
        Some((region.key.clone(), group))
    }

    fn observed(
        &self,
        desired: &Desired,
        gathered: &Gathered,
        region: &CloudRegion,
        stranger: Option<&Blocked>,
        state: &mut PoolState,
    ) -> Observed {
        let now = self.context.clock.now();
        // Until the cache shows the finalizer, adding it again would only be a conflict.
        let finalizer = match look::finalizer(gathered) {
            Finalizer::Absent if state.held => Finalizer::Present,
            shown => {
                state.held = false;
                shown
            }
        };
        let moves = match look::moves(gathered) {
            Moves::Free if state.move_blocked => Moves::Blocked,
            shown => {
                state.move_blocked = false;
                shown
            }
        };
        let group = match stranger {
            Some(doubt) => look::doubted(doubt),
            None => look::group(&region.observer, &region.key.region, &desired.identity.group),
        };
        let foo_machines = look::foo_machines(gathered);
        // What is looked at with a stranger's eyes is not ours: neither believed nor added to. Until the group of a pool
        // that was made before was looked at, nobody can tell whose eyes these are.
        let is_made = gathered.pool.spec.provider_id.is_some();
        let template = match stranger {
            Some(doubt) => look::doubted(doubt),
            None if matches!(group, Look::Unknown) && state.watched.is_some() && is_made => look::doubted(
                &Blocked::new(Reason::NotYetObserved, "the Auto Scaling group has not been read yet"),
            ),
            None => look::template(&region.observer, &desired.identity, state.template.as_ref()),
        };
        if let Look::At { seen: None, at } = group {
            // What is known of the hook was of a group that is gone. One that was made since has its own.
            state.hook = state.hook.filter(|(known, _)| *known > at);
        }
        let hook = match (stranger, &state.hook) {
            (Some(doubt), _) => look::doubted(doubt),
            (None, Some((at, terms))) => Look::At { at: *at, seen: *terms },
            (None, None) => Look::Unknown,
        };
        Observed {
            now,
            hook,
            template,
            strays: look::strays(&region.observer, &group, &foo_machines),
            signals: match state.tenure {
                Tenure::Own => {
                    self.context.announcements.signals(&Place::of(&region.key, &desired.identity.group))
                }
                Tenure::Anothers => std::collections::BTreeMap::new(),
            },
            machines: look::machines(gathered),
            finalizer,
            moves,
            quarantine: look::quarantine(gathered),
            recorded_arn: gathered.pool.spec.provider_id.clone(),
            settled_from: self.settled_from,
            shortage: None,
            causes: std::collections::BTreeMap::new(),
            foo_machines,
            group,
        }
    }

    /// A pass for a pool whose cloud is not known, or is no use to it for this reason: nothing but a report, and the end of a
    /// pool that never began.
    pub(super) async fn without_cloud(
        &self,
        gathered: &Gathered,
        group: Look<Option<foo_cloud::model::Group>>,
        because: Option<&Blocked>,
        state: &mut PoolState,
    ) -> Pass {
        let desired = wishless(gathered, because);
        let now = self.context.clock.now();
        let never_began = gathered.pool.spec.provider_id.is_none() && gathered.foo_cluster.is_none();
        let group = match (desired.goal, group) {
            // Without a FooCluster no group was ever made: a FooCluster waits for its pools before it goes.
            (Goal::Remove, Look::Unknown) if never_began => Look::At { at: now, seen: None },
            (_, group) => group,
        };
        let template = match (&group, desired.goal) {
            (Look::At { seen: None, .. }, Goal::Remove) => Look::At { at: now, seen: None },
            _ => Look::Unknown,
        };
        let observed = Observed {
            now,
            hook: Look::Unknown,
            group,
            template,
            strays: std::collections::BTreeMap::new(),
            signals: std::collections::BTreeMap::new(),
            foo_machines: look::foo_machines(gathered),
            machines: look::machines(gathered),
            finalizer: look::finalizer(gathered),
            moves: look::moves(gathered),
            quarantine: look::quarantine(gathered),
            recorded_arn: gathered.pool.spec.provider_id.clone(),
            settled_from: self.settled_from,
            shortage: None,
            causes: std::collections::BTreeMap::new(),
        };
        let mut plan = foo_planner::plan(&desired, &observed, &state.memory);
        state.memory = plan.memory.clone();
        let end = plan.actions.contains(&Action::RemoveFinalizer) && plan.actions.len() == 1;
        if !end {
            plan.actions.clear();
            return Pass { plan, failure: None, raced: false, acted: false, sight: Sight::Had, again: None };
        }
        let pools: Api<FooMachinePool> = Api::namespaced(self.context.client.clone(), &gathered.namespace());
        let removed =
            apply::remove_finalizer(&pools, gathered.pool.as_ref(), foo_api::names::POOL_FINALIZER).await;
        let failure = removed.err().map(|error| (Action::RemoveFinalizer, Failure::from(error)));
        Pass { plan, failure, raced: false, acted: true, sight: Sight::Had, again: None }
    }
}

/// Why the account we look at is not the one the pool was made in, or cannot be told.
///
/// With other credentials the group and all its instances look gone, and every Machine would be deleted for it. A group
/// that is there says itself whose it is; AWS is asked only when it is not.
async fn stranger(gathered: &Gathered, region: &CloudRegion, group: &GroupName) -> Option<Blocked> {
    let recorded = gathered.pool.spec.provider_id.as_deref().and_then(names::account_of_arn);
    let begun_in = || gathered.pool.annotations().get(foo_api::names::ACCOUNT_ANNOTATION).map(String::as_str);
    let made_in = recorded.or_else(begun_in)?;
    let account = match region.observer.view(group).map(|view| view.seen) {
        Some(Seen::Present(group)) => Ok(names::account_of_arn(&group.arn).unwrap_or_default().to_owned()),
        // What exists is left alone until its group was looked at; what is only begun might be made anew before.
        None if recorded.is_some() => return None,
        Some(Seen::Absent) | None => region.account().await.map(str::to_owned),
    };
    match account {
        Ok(account) if account == made_in => None,
        Ok(account) => Some(Blocked::new(
            Reason::WrongAccount,
            format!("the credentials belong to account {account}, but the pool was created in {made_in}"),
        )),
        Err(error) => {
            let said = overlay::in_words(&error, &region.key.region);
            Some(Blocked::new(
                error.kind.into(),
                format!("the account of the credentials cannot be determined: {said}"),
            ))
        }
    }
}

/// A wish for a pool whose cloud is not known, or of no use for another reason.
fn wishless(gathered: &Gathered, because: Option<&Blocked>) -> Desired {
    let unknown = || {
        Blocked::new(
            Reason::WaitingForClusterInfrastructure,
            "the FooCluster and its region are not known yet",
        )
    };
    let identified = wish::identify(gathered).unwrap_or_else(|| wish::unidentified(gathered));
    let mut missing = wish::missing(gathered);
    // What is missing first is the cause of all else.
    let waiting = gathered.unreadable.as_ref().or(because).or_else(|| missing.first()).cloned();
    let waiting = waiting.unwrap_or_else(unknown);
    if missing.is_empty() || gathered.unreadable.is_some() {
        missing.insert(0, waiting.clone());
    }
    Desired {
        identity: identified.identity,
        goal: identified.goal,
        pause: identified.pause,
        missing,
        size: Size::Replicas { wanted: 0, ceiling: None },
        template: Wanted::Blocked(waiting.clone()),
        group: GroupWish {
            subnets: Wanted::Blocked(waiting),
            mix: None,
            tags: std::collections::BTreeMap::new(),
        },
        scale_in: ScaleIn {
            policy: VictimPolicy::Oldest,
            max_concurrent_drains: 1,
            stabilization: Seconds(0),
        },
        rollout: super::replacing::rollout(gathered),
        remediation: super::replacing::remediation(gathered),
        interruption: super::replacing::interruption(gathered),
        timeouts: DeletionTimeouts::default(),
        warnings: Vec::new(),
    }
}

/// A spec that changed asks AWS anew about what it names; otherwise what was found before will do.
pub(super) fn asking(state: &PoolState, gathered: &Gathered) -> Asking {
    if state.asked_for == gathered.pool.metadata.generation { Asking::Again } else { Asking::Anew }
}

/// Whether the action brought about something the next plan needs and no watch will announce.
fn brings_news(action: &Action) -> bool {
    matches!(action, Action::LookAtTemplate | Action::LookAtHook { .. }) || action.changes_template()
}
