//! What calls and time do to a region: AWS's rules, as methods of [`Region`]. State is in the modules beside this one, none
//! of which refers to this one. Networks have their rules with their state, in [`network`](crate::core::network).

mod activities;
pub mod capacity;
mod edits;
pub mod eks;
mod events;
pub mod group;
mod instances;
mod lookup;
mod mishaps;
mod networks;
mod objects;
mod queues;
mod reads;
mod tags;
mod templates;
mod volumes;

use crate::core::due::Event;
use crate::core::region::Region;
use foo_model::Timestamp;

impl Region {
    /// When the next scheduled event is due.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due.next()
    }

    /// Carries out everything that is due until `now`, in order, each at its own time. Time never goes backwards.
    pub fn advance(&mut self, now: Timestamp) {
        let target = self.now.max(now);
        self.route_events();
        while let Some((when, event)) = self.due.take(target) {
            self.set_now(self.now.max(when));
            self.happen(event);
            self.route_events();
        }
        self.set_now(target);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Running(id) => self.start_running(&id),
            Event::Launched(id, activity) => self.finish_launch(&id, activity),
            Event::Ended(id) => self.end_instance(&id),
            Event::Left(id) => self.finish_termination(&id),
            Event::Forgotten(id) => self.forget_instance(&id),
            Event::HealthCheck(id) => self.check_health(&id),
            Event::Broke(id) => self.break_launch(&id),
            Event::Stopped(id) => self.stop_instance(&id),
            Event::Interrupted(id) => self.finish_interruption(&id),
            Event::BlockEnds(id) => self.end_block(&id),
            Event::HookExpired(id, token) => self.expire_wait(&id, &token),
            Event::Deregistered(id) => self.finish_deregistration(&id),
            Event::StoodBy(id) => self.finish_standby(&id),
            Event::Detached(id) => self.finish_detach(&id),
            Event::Delivered(queue, body) => self.deliver(&queue, body),
            Event::Evaluate(name) => self.evaluate(&name),
            Event::Network(step) => self.networking().complete_step(step),
            Event::Eks(step) => self.take_eks_step(step),
            Event::GroupGone(name, serial) => self.remove_group(&name, serial),
        }
    }
}
