//! A checked plan is carried out: all of its actions at the same time, what each came to noted as soon as it is known.

use super::control_planes::EksControlPlanes;
use super::looks::refusal;
use super::state::EksState;
use crate::clouds::CloudRegion;
use crate::labels::ActionOutcome;
use foo_api::FooControlPlane;
use foo_calls::{Domain as _, Outcome};
use foo_cloud::CloudError;
use foo_eks::{Action, Eks};
use foo_model::eks::{Change, Changed};
use foo_model::{EventReason, some_names};
use futures::{StreamExt, stream};
use kube::Resource;
use std::sync::Arc;
use std::time::Duration;

/// Calls at a time: EKS's limits are of the whole account.
const AT_ONCE: usize = 4;
/// A failure that stays the same is told again after this long.
const TOLD_AGAIN: Duration = Duration::from_hours(1);

/// What became of one action.
pub(super) struct Done {
    action: Action,
    result: Result<Changed, CloudError>,
}

impl EksControlPlanes {
    /// Carries the actions out, none of which waits for another one.
    pub(super) async fn act(
        &self,
        actions: &[Action],
        region: &CloudRegion,
        state: &mut EksState,
    ) -> Vec<Done> {
        // Whoever drops this pass in the middle of a call leaves behind that it may have happened.
        for action in actions {
            Eks::calls(&mut state.memory).sent(action, self.context.clock.now());
        }
        let calls = stream::iter(actions.to_vec()).map(|action| {
            let cloud = Arc::clone(&region.cloud);
            async move { Done { result: cloud.change_eks(&action.change).await, action } }
        });
        let mut calls = calls.buffer_unordered(AT_ONCE);
        let mut all = Vec::with_capacity(actions.len());
        while let Some(done) = calls.next().await {
            let outcome = if done.result.is_ok() { ActionOutcome::Done } else { ActionOutcome::Failed };
            self.context.metrics.aws_change((&done.action.change).into(), outcome);
            if let Err(error) = &done.result {
                tracing::warn!(why = done.action.why, %error, "AWS did not change an EKS cluster as requested");
            }
            Eks::calls(&mut state.memory).ended(
                &done.action,
                self.context.clock.now(),
                outcome_of(&done.result),
            );
            all.push(done);
        }
        all
    }

    /// Events: of what was done, one for each kind of deed; of each failure, when it is a new one.
    pub(super) async fn tell(&self, control_plane: &FooControlPlane, done: &[Done], state: &mut EksState) {
        let object = control_plane.object_ref(&());
        for reason in [
            EventReason::EksClusterCreated,
            EventReason::EksUpgradeStarted,
            EventReason::EksClusterChanged,
            EventReason::EksClusterDeleted,
        ] {
            let of = done.iter().filter(|done| done.result.is_ok() && told_as(&done.action.change) == reason);
            let mut what: Vec<String> = of.map(|done| in_words(&done.action)).collect();
            what.sort();
            if !what.is_empty() {
                let note = some_names(what.iter().map(String::as_str));
                self.context.events.publish(&object, reason, &note).await;
            }
        }
        for Done { action, result } in done {
            let Err(error) = result else { continue };
            let note = format!("{}: {error}", in_words(action));
            self.warn(control_plane, EventReason::ActionFailed, &note, state).await;
        }
    }

    /// An event about what is wrong, unless there was the same one not long ago.
    pub(super) async fn warn(
        &self,
        control_plane: &FooControlPlane,
        reason: impl Into<EventReason>,
        note: &str,
        state: &mut EksState,
    ) {
        let now = self.context.clock.now();
        state.told.retain(|_, since| since.until(now) < TOLD_AGAIN);
        if state.told.insert(note.to_owned(), now).is_none() {
            self.context.events.publish(&control_plane.object_ref(&()), reason, note).await;
        }
    }
}

fn outcome_of(result: &Result<Changed, CloudError>) -> Outcome<Changed> {
    match result {
        Ok(changed) => Outcome::Done(changed.clone()),
        Err(error) if error.may_have_happened() => Outcome::Lost(refusal(error)),
        Err(error) => Outcome::Refused(refusal(error)),
    }
}

fn in_words(action: &Action) -> String {
    let operation: &'static str = (&action.change).into();
    format!("{operation} ({})", action.why)
}

fn told_as(change: &Change) -> EventReason {
    match change {
        Change::CreateCluster { .. } => EventReason::EksClusterCreated,
        Change::UpdateClusterVersion { .. } => EventReason::EksUpgradeStarted,
        Change::DeleteCluster { .. } => EventReason::EksClusterDeleted,
        Change::UpdateClusterConfig { .. }
        | Change::AssociateEncryptionConfig { .. }
        | Change::StartInsightsRefresh { .. }
        | Change::CreateAddon { .. }
        | Change::UpdateAddon { .. }
        | Change::DeleteAddon { .. }
        | Change::CreateAccessEntry { .. }
        | Change::UpdateAccessEntry { .. }
        | Change::DeleteAccessEntry { .. }
        | Change::AssociateAccessPolicy { .. }
        | Change::DisassociateAccessPolicy { .. }
        | Change::CreatePodIdentityAssociation { .. }
        | Change::UpdatePodIdentityAssociation { .. }
        | Change::DeletePodIdentityAssociation { .. }
        | Change::TagResource { .. }
        | Change::UntagResource { .. }
        | Change::CreateOpenIDConnectProvider { .. }
        | Change::DeleteOpenIDConnectProvider { .. } => EventReason::EksClusterChanged,
    }
}
