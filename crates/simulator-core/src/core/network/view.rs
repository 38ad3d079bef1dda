//! What an operation on networks sees of its region.

use super::part::Part;
use super::reads::NetworkReads;
use super::state::Network;
use super::step::Step;
use crate::core::chance::Chance;
use crate::core::error::AwsResult;
use crate::core::mishaps::ZoneState;
use crate::core::schedule::Schedule;
use crate::core::settings::Settings;
use foo_model::{Timestamp, Zone};
use std::collections::BTreeMap;
use std::time::Duration;

/// The networks of a region, to be changed, with what that needs of the region. Nothing here knows instances, groups or clusters.
pub(crate) struct Networking<'a> {
    /// The region.
    pub(in crate::core) name: &'a str,
    /// The account.
    pub(in crate::core) account: &'a str,
    pub(in crate::core) network: &'a mut Network,
    pub(in crate::core) settings: &'a Settings,
    /// States of zones; one without an entry is available.
    pub(in crate::core) zone_states: &'a BTreeMap<Zone, ZoneState>,
    /// Where ids come from.
    pub(in crate::core) chance: &'a mut Chance,
    pub(in crate::core) due: &'a mut dyn Schedule<Step>,
    pub(in crate::core) now: Timestamp,
}

impl Networking<'_> {
    /// A new id with this prefix.
    pub(super) fn new_id<Id: From<String>>(&mut self, prefix: &str) -> Id {
        Id::from(self.chance.id(prefix))
    }

    /// Schedules a step after this time.
    pub(super) fn later(&mut self, wait: Duration, step: Step) {
        self.due.at(self.now.plus(wait), step);
    }

    /// A part that a change names, as it is now.
    ///
    /// # Errors
    /// EC2's code for an id that it does not know, or not yet.
    pub(super) fn part<T: Part>(&self, id: &T::Id) -> AwsResult<&T> {
        self.reads().part(id)
    }

    /// The same for a shorter time.
    pub(super) fn again(&mut self) -> Networking<'_> {
        Networking {
            name: self.name,
            account: self.account,
            network: self.network,
            settings: self.settings,
            zone_states: self.zone_states,
            chance: self.chance,
            due: self.due,
            now: self.now,
        }
    }

    pub(super) fn reads(&self) -> NetworkReads<'_> {
        let Self { network, settings, zone_states, now, .. } = self;
        NetworkReads { network, settings, zone_states, now: *now }
    }
}
