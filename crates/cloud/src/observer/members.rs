//! Which watched group an instance belongs to. Plain data; time is a parameter.
//!
//! Announcements of AWS may arrive after an instance left its group, so it stays known for a while.

use foo_model::{GroupName, InstanceId};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// How long an instance stays known after it left: longer than EC2 shows a terminated instance.
const REMEMBERED: Duration = Duration::from_hours(1);

/// All instances of the watched groups.
#[derive(Debug, Default)]
pub(super) struct Members {
    groups: HashMap<InstanceId, GroupName>,
    present: HashMap<GroupName, HashSet<InstanceId>>,
    left: HashMap<GroupName, HashMap<InstanceId, Instant>>,
}

impl Members {
    pub(super) fn group_of(&self, id: &InstanceId) -> Option<GroupName> {
        self.groups.get(id).cloned()
    }

    /// Sets the present members of a group.
    pub(super) fn seen(&mut self, group: &GroupName, ids: HashSet<InstanceId>, now: Instant) {
        for id in &ids {
            self.groups.insert(id.clone(), group.clone());
        }
        let left = self.left.entry(group.clone()).or_default();
        left.retain(|id, _| !ids.contains(id));
        let before = self.present.insert(group.clone(), ids).unwrap_or_default();
        let ids = self.present.get(group);
        let gone = before.into_iter().filter(|id| ids.is_none_or(|ids| !ids.contains(id)));
        left.extend(gone.map(|id| (id, now)));
        let groups = &mut self.groups;
        left.retain(|id, since| {
            let known = now.saturating_duration_since(*since) < REMEMBERED;
            if !known && groups.get(id) == Some(group) {
                groups.remove(id);
            }
            known
        });
    }

    pub(super) fn forget(&mut self, group: &GroupName) {
        self.present.remove(group);
        self.left.remove(group);
        self.groups.retain(|_, of| of != group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(ids: &[&str]) -> HashSet<InstanceId> {
        ids.iter().map(|id| InstanceId::new(*id)).collect()
    }

    #[test]
    fn members_that_left_a_group_are_remembered_for_an_hour() {
        let (group, start) = (GroupName::new("g"), Instant::now());
        let mut members = Members::default();
        members.seen(&group, view(&["i-1", "i-2"]), start);
        members.seen(&group, view(&["i-2"]), start);
        let known = |members: &Members, id: &str| members.group_of(&InstanceId::new(id)).is_some();
        assert!(known(&members, "i-1") && known(&members, "i-2") && !known(&members, "i-3"));
        members.seen(&group, view(&["i-2", "i-3"]), start + REMEMBERED);
        assert!(!known(&members, "i-1") && known(&members, "i-2") && known(&members, "i-3"));
        members.forget(&group);
        assert!(!known(&members, "i-2"));
    }
}
