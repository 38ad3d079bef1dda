//! When the steps of clusters are due, and what they do then.

use crate::core::due::Event;
use crate::core::eks::step::EksStep;
use crate::core::region::Region;
use std::time::Duration;

impl Region {
    /// Lets something happen to clusters after a while.
    pub(super) fn eks_later(&mut self, wait: Duration, step: EksStep) {
        self.due.at(self.now.plus(wait), Event::Eks(step));
    }

    /// Lets a step happen. A cluster that is gone meanwhile takes none.
    pub(crate) fn take_eks_step(&mut self, step: EksStep) {
        let of = step.cluster();
        if self.eks.cluster(&of.name).is_none_or(|cluster| cluster.id != of.id) {
            return;
        }
        match step {
            EksStep::Created(of) => self.cluster_created(&of.name),
            EksStep::UpdateShows(of, id) => self.update_shows(&of.name, &id),
            EksStep::UpdateOver(of, id) => self.update_over(&of.name, &id),
            EksStep::Deleted(of) => self.cluster_deleted(&of.name),
            EksStep::AddonDeleted(of, addon) => self.addon_deleted(&of.name, &addon),
            EksStep::SupportEnds(of, version) => self.support_ends(&of.name, version),
        }
    }
}
