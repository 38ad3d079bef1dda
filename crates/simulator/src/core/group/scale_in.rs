//! Whom scale-in picks (Auto Scaling User Guide, "Configure termination policies").

use super::model::{Group, Member};
use crate::core::region::{ActivityEntry, Region};
use crate::core::time::iso_seconds;
use foo_cloud::model::{ActivityStatus, GroupName, InstanceId, Protection, Zone};
use std::collections::BTreeMap;

/// AWS's words when scale-in finds nobody it may pick.
pub(crate) const ALL_PROTECTED: &str =
    "Could not scale to desired capacity because all remaining instances are protected from scale-in.";

impl Region {
    /// Ends `excess` members that are not protected. If there are not enough of them desired capacity stays as low as
    /// it is, and an activity says why the group cannot get there.
    pub(crate) fn scale_in(&mut self, name: &GroupName, excess: u32) {
        let Some(group) = self.groups.get(name) else { return };
        let (mut capacity, desired) = (group.capacity(), group.target());
        let (change, start) = (group.change.clone(), capacity);
        let at = iso_seconds(self.now);
        for _ in 0..excess {
            let Some(victim) = self.groups.get(name).and_then(pick) else { break };
            let cause = format!(
                "{change}  At {at} an instance was taken out of service in response to a difference between desired \
                 and actual capacity, shrinking the capacity from {start} to {desired}.  At {at} instance {victim} \
                 was selected for termination."
            );
            self.begin_leaving(name, &victim, &cause);
            capacity -= 1;
        }
        let Some(group) = self.groups.get_mut(name) else { return };
        if capacity <= desired {
            group.complained = None;
        } else if group.complained != Some(desired) {
            group.complained = Some(desired);
            let entry = ActivityEntry {
                description: ALL_PROTECTED.to_owned(),
                cause: format!(
                    "{change}  At {at} group reached equilibrium with all remaining instances protected from scale-in."
                ),
                // (A): users report this text with Cancelled and with Failed; AWS documents the text only.
                status: ActivityStatus::Cancelled,
                message: Some(ALL_PROTECTED.to_owned()),
                details: String::new(),
            };
            self.begin_activity(name, entry);
        }
    }
}

/// The next victim: in the zone with most members among those that hold an unprotected one, by termination policy.
fn pick(group: &Group) -> Option<InstanceId> {
    let mut zones: BTreeMap<&Zone, u32> = BTreeMap::new();
    for member in group.members.values().filter(|member| member.lifecycle.is_capacity()) {
        *zones.entry(&member.zone).or_default() += 1;
    }
    let candidates = || group.members.values().filter(|member| is_candidate(member));
    let size = |zone: &Zone| zones.get(zone).copied().unwrap_or(0);
    let fullest = candidates().map(|member| size(&member.zone)).max()?;
    // Of zones of one size the first by name: AWS picks any.
    let zone =
        candidates().filter(|member| size(&member.zone) == fullest).map(|member| &member.zone).min()?;
    let policy = group.settings.termination_policies.first().map(String::as_str);
    let oldest_first = |member: &&Member| (member.launched, member.id.clone());
    let in_zone = candidates().filter(|member| &member.zone == zone);
    let victim = match policy {
        Some("NewestInstance") => in_zone.max_by_key(oldest_first),
        Some("OldestInstance") => in_zone.min_by_key(oldest_first),
        // Default: the oldest launch template version, then the one closest to the next billing hour, which with
        // billing by the second nobody can tell from any other: the oldest.
        _ => in_zone.min_by_key(|member| {
            (member.template.as_ref().map(|(_, _, version)| *version), member.launched, member.id.clone())
        }),
    };
    victim.map(|member| member.id.clone())
}

fn is_candidate(member: &Member) -> bool {
    member.protection == Protection::Unprotected && member.lifecycle.is_capacity()
}
