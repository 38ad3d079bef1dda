//! The calls that start, cancel and roll back instance refreshes.

use super::{KEPT, Preferences, PreferencesSpec, Refresh, RefreshStatus, count, uses_moving_version};
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, Member};
use crate::core::region::Region;
use crate::core::rules::group::source::SourceSpec;
use foo_model::{GroupName, InstanceId};
use std::collections::BTreeSet;

impl Region {
    /// StartInstanceRefresh with the strategy `Rolling`. Returns its id.
    ///
    /// # Errors
    /// `InstanceRefreshInProgress`, `ValidationError`.
    pub fn start_refresh(
        &mut self,
        name: &GroupName,
        desired: Option<SourceSpec>,
        spec: PreferencesSpec,
    ) -> AwsResult<String> {
        let group = self.living_group(name)?;
        if group.refresh().is_some() {
            return Err(AwsError::new(
                "InstanceRefreshInProgress",
                "An Instance Refresh is already in progress and blocks the execution of this Instance Refresh.",
            ));
        }
        let preferences = Preferences::of(spec, group)?;
        let current = group.source.clone();
        let desired = match desired {
            Some(desired) => Some(self.resolve_source(desired, Some(&current))?),
            None => None,
        };
        if preferences.auto_rollback && desired.as_ref().is_none_or(uses_moving_version) {
            return Err(AwsError::validation(
                "AutoRollback needs a DesiredConfiguration whose launch template version is a number.",
            ));
        }
        let wanted = desired.as_ref().unwrap_or(&current);
        let group = self.living_group(name)?;
        let stays = |member: &&Member| !member.lifecycle.is_leaving();
        let counts = |member: &&Member| !preferences.skip_matching || !self.matches(member, wanted);
        let remaining: BTreeSet<InstanceId> =
            group.members.values().filter(stays).filter(counts).map(|it| it.id.clone()).collect();
        let warm_remaining: BTreeSet<InstanceId> =
            group.warm.values().filter(stays).filter(counts).map(|it| it.id.clone()).collect();
        let id = self.chance.uuid();
        let refresh = Refresh {
            id: id.clone(),
            status: RefreshStatus::Pending,
            reason: None,
            started: None,
            ended: None,
            preferences,
            desired,
            total: count(remaining.len()),
            remaining,
            warm_total: count(warm_remaining.len()),
            warm_remaining,
            rollback: None,
            updated: 0,
            checkpoints: 0,
            waits_until: None,
            progressed: self.now,
        };
        if let Some(group) = self.groups.get_mut(name) {
            if group.refreshes.len() >= KEPT {
                group.refreshes.remove(0);
            }
            group.refreshes.push(refresh);
        }
        self.wake_soon(name);
        Ok(id)
    }

    /// CancelInstanceRefresh. Replacements in progress are completed, unless the caller asks not to wait for them.
    ///
    /// # Errors
    /// `ActiveInstanceRefreshNotFound`.
    pub fn cancel_refresh(&mut self, name: &GroupName, waits: bool) -> AwsResult<String> {
        self.living_group(name)?;
        let refresh = self.groups.get_mut(name).and_then(Group::refresh_mut).ok_or_else(not_found)?;
        refresh.status = RefreshStatus::Cancelling;
        refresh.waits_until = None;
        refresh.reason = Some("Cancelled due to user request.".to_owned());
        let id = refresh.id.clone();
        if !waits {
            self.end_refresh(name, RefreshStatus::Cancelled);
        }
        self.wake_soon(name);
        Ok(id)
    }

    /// RollbackInstanceRefresh: replaces the replaced members again, with what the group launched before.
    ///
    /// # Errors
    /// `ActiveInstanceRefreshNotFound`; `IrreversibleInstanceRefresh` without a desired configuration, or if one of
    /// the two templates has no fixed version.
    pub fn rollback_refresh(&mut self, name: &GroupName) -> AwsResult<String> {
        let group = self.living_group(name)?;
        let refresh = group.refresh().ok_or_else(not_found)?;
        let turning = refresh.status == RefreshStatus::RollbackInProgress;
        if turning
            || refresh.desired.as_ref().is_none_or(uses_moving_version)
            || uses_moving_version(&group.source)
        {
            return Err(AwsError::new(
                "IrreversibleInstanceRefresh",
                "The instance refresh cannot be rolled back: it has no desired configuration, or a launch template \
                 version is not a number.",
            ));
        }
        let id = refresh.id.clone();
        self.roll_back(name, "Rollback due to user request.");
        self.wake_soon(name);
        Ok(id)
    }
}

fn not_found() -> AwsError {
    AwsError::new(
        "ActiveInstanceRefreshNotFound",
        "No in progress or pending Instance Refresh found for the group.",
    )
}
