//! What each step decides, question by question.

mod adopt;
mod capacity_blocks;
mod expire;
mod group;
mod hooks;
mod interrupt;
mod machines;
mod memory;
mod objects;
mod own;
mod remove;
mod report;
mod size;
mod targets;
mod template;
mod victims;
mod warm_pools;
mod windows;

use crate::world::{World, short};
use foo_model::LifecycleState;

impl World {
    /// A second later, a read and a plan that is not carried out: its actions in few words.
    pub(crate) fn wants(&mut self) -> Vec<String> {
        self.wait(1);
        self.read_group();
        self.plan_of(0).actions.iter().map(short).collect()
    }

    /// The same, without the actions that only read.
    pub(crate) fn writes(&mut self) -> Vec<String> {
        let mut wants = self.wants();
        wants.retain(|word| !word.starts_with("describe "));
        wants
    }

    /// Puts the n-th instance into a state.
    pub(crate) fn put(&mut self, index: usize, lifecycle: LifecycleState) {
        let id = self.instances()[index].clone();
        self.cloud.instance_mut(&id).unwrap().lifecycle = lifecycle;
        self.cloud.record(self.now);
    }
}

/// Nothing to do.
const NOTHING: Vec<String> = Vec::new();
