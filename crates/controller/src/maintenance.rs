//! Maintenance windows of an object: from its spec and its annotation to the planners' value.

use crate::clock::shown;
use foo_api::maintenance::{MaintenanceWindow, Opening, opening};
use foo_model::names::ROLLOUT_NOW_ANNOTATION;
use foo_model::{Blocked, Maintenance, Reason, Timestamp};
use std::collections::BTreeMap;

/// The maintenance windows of an object, and how messages about them name what waits.
pub(crate) struct Windows<'a> {
    /// Those of its spec.
    pub(crate) all: &'a [MaintenanceWindow],
    /// The annotations of the object.
    pub(crate) annotations: &'a BTreeMap<String, String>,
    /// The field of the windows.
    pub(crate) field: &'static str,
    /// What the provider does not do while no window can be used.
    pub(crate) unless: &'static str,
    /// What the provider does only while a window is open.
    pub(crate) only: &'static str,
}

impl Windows<'_> {
    /// When the provider may begin what waits for windows, by the manager's clock.
    pub(crate) fn maintenance(&self, now: Timestamp) -> Maintenance {
        if self.are_ignored() {
            return Maintenance::Always;
        }
        match opening(self.all, shown(now)) {
            Ok(None) => Maintenance::Always,
            Ok(Some(Opening { opens, closes })) => {
                let moment = |moment: jiff::Timestamp| Timestamp(moment.as_millisecond());
                Maintenance::Window { opens: moment(opens), closes: moment(closes) }
            }
            Err(why) => {
                let message = format!("{}: {why}; {}", self.field, self.unless);
                Maintenance::Unusable(Blocked::new(Reason::MaintenanceWindowsUnusable, message))
            }
        }
    }

    /// That the windows cannot be used, also while nothing waits for one; or that they are open until a user removes an annotation.
    pub(crate) fn warning(&self, maintenance: &Maintenance) -> Option<Blocked> {
        if let Maintenance::Unusable(blocked) = maintenance {
            return Some(blocked.clone());
        }
        let ignored = !self.all.is_empty() && self.are_ignored();
        ignored.then(|| {
            let message = format!(
                "{} outside of {}, too, until the annotation {ROLLOUT_NOW_ANNOTATION} is removed",
                self.only, self.field
            );
            Blocked::new(Reason::MaintenanceWindowsIgnored, message)
        })
    }

    fn are_ignored(&self) -> bool {
        self.annotations.contains_key(ROLLOUT_NOW_ANNOTATION)
    }
}
