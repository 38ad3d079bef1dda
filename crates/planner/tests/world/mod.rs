//! A small model of everything around the planner: an Auto Scaling group with protection and delayed reads, a
//! Cluster API that makes Machines, drains and deletes FooMachines, an autoscaler, people, and a manager that runs
//! the planner, loses responses and crashes.
//!
//! The model is written from the AWS and Cluster API references, not from the planner. What it is to watch, it
//! watches in the *truth*, which the planner only sees late.

mod cloud;
mod kube;
mod manager;
mod people;
mod pool;
mod truth;

pub(crate) use cloud::{Cloud, JOINING, Launches, NAME, foreign_group, unowned_group};
pub(crate) use kube::Kube;
pub(crate) use manager::{Fault, Manager, short};
pub(crate) use pool::{
    Pool, block_until, both_architectures, content, in_block, joining, pool, sets_of_both_architectures,
    warm_pool, window,
};

use foo_model::{Aws, Comparison, InstanceId, MachineName, Timestamp, machine_name};
use foo_planner::{Desired, Plan, Report};
use std::time::Duration;

/// How long a manager that just started waits: longer than any lag the model shows.
pub(crate) const SETTLE: Duration = Duration::from_secs(15);

/// How old a response of AWS is at most.
pub(crate) const OLDEST_RESPONSE: Duration = Duration::from_secs(7);

/// Everything.
pub(crate) struct World {
    pub(crate) now: Timestamp,
    pub(crate) cloud: Cloud,
    pub(crate) kube: Kube,
    /// AWS's clock, as the managers compare it with their own.
    pub(crate) aws_clock: Comparison<Aws>,
    /// What is desired; the planner's input, read afresh at each pass.
    pub(crate) desired: Desired,
    /// The manager in the lead, and any that believe they are.
    pub(crate) managers: Vec<Manager>,
    /// The smallest and the largest target there ever was.
    pub(crate) targets: (u32, u32),
    pub(crate) log: Vec<String>,
}

impl World {
    /// Lets time go by.
    pub(crate) fn wait(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    /// The observer reads the group; the response is this many seconds old.
    pub(crate) fn observe_with_lag(&mut self, lag: u64) {
        for index in 0..self.managers.len() {
            self.observe_group_of(index, lag);
        }
    }

    /// The observer reads the group.
    pub(crate) fn read_group(&mut self) {
        self.observe_with_lag(0);
    }

    /// One pass of the leader: plan and carry out.
    pub(crate) fn pass(&mut self) -> Plan {
        self.pass_of(0, &mut |_, _| Fault::None)
    }

    /// A read and a pass a second later, with no changes around.
    pub(crate) fn observe_and_plan(&mut self) -> Plan {
        self.wait(1);
        self.read_group();
        self.pass()
    }

    /// Five seconds in which all do their work once.
    pub(crate) fn step(&mut self) -> Plan {
        self.wait(5);
        self.cloud.work(self.now);
        self.kube.work(self.now, &self.cloud);
        self.read_group();
        self.pass()
    }

    /// Rounds until nothing is left to do and nothing moves any more; panics when that takes too long.
    pub(crate) fn settle(&mut self) -> Plan {
        let mut last: Option<Report> = None;
        for _ in 0..120 {
            let plan = self.step();
            let mut report = plan.report.clone();
            // What comes later than this loop ends is not waited for: an instance that reaches its lifetime.
            report.next.after = report.next.after.filter(|after| *after <= Duration::from_hours(1));
            let still = last.as_ref().is_some_and(|last| *last == report);
            // The health of targets is read again and again, and so is a Capacity Block.
            let reads_again = self.desired.asks_for_target_health() || self.desired.capacity_block.is_some();
            let waits = report.next.after.is_some() && !reads_again;
            if still && plan.actions.is_empty() && !waits && !self.moves() {
                return plan;
            }
            last = Some(report);
        }
        panic!("the world does not come to rest:\n{}\n{last:#?}", self.story());
    }

    /// A second manager takes the lead; the first still believes that it leads.
    pub(crate) fn hand_over(&mut self) {
        self.record("another manager takes the lead");
        self.managers.truncate(1);
        self.managers.insert(0, Manager::new(self.now));
    }

    fn moves(&self) -> bool {
        self.cloud.moves() || self.kube.moves(&self.cloud)
    }

    /// The last part of what happened.
    pub(crate) fn story(&self) -> String {
        let skipped = self.log.len().saturating_sub(80);
        self.log.iter().skip(skipped).cloned().collect::<Vec<_>>().join("\n")
    }

    pub(crate) fn record(&mut self, what: impl std::fmt::Display) {
        let at = (self.now.0 - pool::START.0) / 1000;
        self.log.push(format!("{at:>5}s {what}"));
    }

    /// The name of an instance's Machine.
    pub(crate) fn name_of(&self, id: &InstanceId) -> MachineName {
        machine_name(&self.desired.identity.pool, id)
    }

    /// The instances that live, by id.
    pub(crate) fn instances(&self) -> Vec<InstanceId> {
        self.cloud.alive().into_iter().collect()
    }
}
