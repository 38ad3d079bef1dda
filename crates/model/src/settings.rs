//! The settings of an Auto Scaling group that AWS changes one by one: the same struct in what is desired, in a group
//! that was read, and in one to create. A change is the difference between two of them.
//!
//! A new setting is a field of both structs. All code that sends, reads or compares settings names each field, so the
//! compiler leads to the places that the new one needs. The planner repairs what differs, whatever it is; only for a group
//! that is being adopted it chooses which settings come first.
//!
//! Not here: the sizes, which depend on the replicas, and the launch template with the mix of types, which AWS takes
//! together and a rollback leaves unchanged.

use crate::{Seconds, SubnetId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Protection from scale-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Protection {
    /// Scale-in never picks it.
    Protected,
    /// Scale-in may pick it.
    Unprotected,
}

/// Settings of a group. In what is desired, `Subnets` can be a value that is not known yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSettings<Subnets = BTreeSet<SubnetId>> {
    /// Subnets new instances are spread over; at least one.
    pub subnets: Subnets,
    /// Whether new instances are protected from scale-in when they launch.
    pub new_instances: Protection,
    /// DefaultInstanceWarmup: for how long the metrics of a new instance do not count in scaling policies. In what is desired, an absent
    /// one leaves that of the group as it is.
    pub default_warmup: Option<Seconds>,
}

/// Settings to change; `None` leaves a setting as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSettingsChange {
    /// Subnets.
    pub subnets: Option<BTreeSet<SubnetId>>,
    /// Protection of new instances.
    pub new_instances: Option<Protection>,
    /// DefaultInstanceWarmup.
    pub default_warmup: Option<Seconds>,
}

impl<Subnets> GroupSettings<Subnets> {
    /// Protection of new instances, and what AWS does by default.
    pub fn in_subnets(subnets: Subnets) -> Self {
        Self { subnets, new_instances: Protection::Protected, default_warmup: None }
    }

    /// The same settings in other subnets.
    pub fn with_subnets<Others>(&self, subnets: Others) -> GroupSettings<Others> {
        let Self { subnets: _, new_instances, default_warmup } = self;
        GroupSettings { subnets, new_instances: *new_instances, default_warmup: *default_warmup }
    }
}

impl GroupSettings {
    /// What has to be changed in a group with the settings `actual` so that it has these.
    pub fn changes_from(&self, actual: &Self) -> GroupSettingsChange {
        let Self { subnets, new_instances, default_warmup } = self;
        GroupSettingsChange {
            subnets: unless_same(subnets, &actual.subnets),
            new_instances: unless_same(new_instances, &actual.new_instances),
            default_warmup: default_warmup.filter(|_| *default_warmup != actual.default_warmup),
        }
    }
}

impl GroupSettingsChange {
    /// Makes the change.
    pub fn apply_to(&self, settings: &mut GroupSettings) {
        let Self { subnets, new_instances, default_warmup } = self.clone();
        replace(&mut settings.subnets, subnets);
        replace(&mut settings.new_instances, new_instances);
        settings.default_warmup = default_warmup.or(settings.default_warmup);
    }

    /// The names of the settings that it changes, as messages have them.
    pub fn names(&self) -> Vec<&'static str> {
        let Self { subnets, new_instances, default_warmup } = self;
        let all = [
            (subnets.is_some(), "subnets"),
            (new_instances.is_some(), "protection of new instances"),
            (default_warmup.is_some(), "default instance warmup"),
        ];
        all.into_iter().filter_map(|(changes, name)| changes.then_some(name)).collect()
    }
}

fn unless_same<T: Clone + PartialEq>(desired: &T, actual: &T) -> Option<T> {
    (desired != actual).then(|| desired.clone())
}

fn replace<T>(setting: &mut T, change: Option<T>) {
    if let Some(value) = change {
        *setting = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_what_differs_and_nothing_else() {
        let before = GroupSettings::in_subnets(BTreeSet::from(["subnet-a".into()]));
        let after = GroupSettings {
            subnets: BTreeSet::from(["subnet-b".into()]),
            new_instances: Protection::Unprotected,
            default_warmup: Some(Seconds(60)),
        };
        assert_eq!(before.changes_from(&before), GroupSettingsChange::default());
        let change = after.changes_from(&before);
        assert_eq!(change.names(), ["subnets", "protection of new instances", "default instance warmup"]);
        let mut changed = before.clone();
        change.apply_to(&mut changed);
        assert_eq!(changed, after);
        let one = before.with_subnets(after.subnets.clone());
        assert_eq!(one.changes_from(&before).names(), ["subnets"]);
        let kept = GroupSettings { default_warmup: None, ..after.clone() };
        assert_eq!(
            kept.changes_from(&after),
            GroupSettingsChange::default(),
            "the spec has none, and AWS's stays"
        );
    }
}
