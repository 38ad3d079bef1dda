//! What a run will do, before it does anything.

use crate::belief::{Belief, Check, Price, Stage};
use crate::beliefs;
use crate::clean::QUIET;
use std::fmt;

/// Calls that prepare the second stage.
const PREPARATION: u32 = 11;
/// Reads of one round of the clean-up.
const ROUND: u32 = 5;
/// Calls around the beliefs, if anything is created: of the clean-up one round with deletions, and those that find nothing.
const AROUND: u32 = PREPARATION + ROUND * (1 + QUIET);

/// The beliefs of a run.
pub struct Plan {
    /// In the order in which they are checked.
    pub beliefs: Vec<Belief>,
    /// How often each delay is measured.
    pub repetitions: u32,
}

impl Plan {
    /// The beliefs of the stages up to `stage`; of these only those whose id begins with one of `only`, if there are some.
    pub fn new(stage: Stage, only: &[String], repetitions: u32) -> Self {
        let is_chosen = |belief: &Belief| only.is_empty() || only.iter().any(|it| belief.id.starts_with(it));
        let mut beliefs = beliefs::all();
        beliefs.retain(|belief| belief.stage <= stage && is_chosen(belief));
        Self { beliefs, repetitions }
    }

    /// What AWS charges at most.
    pub fn price(&self) -> Price {
        let cents = self.beliefs.iter().map(|belief| belief.price.0.saturating_mul(self.times(belief)));
        Price(cents.fold(0, u32::saturating_add))
    }

    /// Whether anything is created.
    pub fn creates(&self) -> bool {
        self.beliefs.iter().any(|belief| belief.stage.creates())
    }

    fn times(&self, belief: &Belief) -> u32 {
        match belief.check {
            Check::Refused { .. } | Check::Holds(_) => 1,
            Check::Shows { .. } => self.repetitions,
        }
    }

    fn calls(&self, belief: &Belief) -> u32 {
        let calls: u32 = belief.calls.iter().map(|(_, count)| count).sum();
        calls.saturating_mul(self.times(belief))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for belief in &self.beliefs {
            let (calls, price) = (self.calls(belief), belief.price);
            let operations: Vec<&str> = belief.calls.iter().map(|(operation, _)| operation.name()).collect();
            writeln!(f, "{:14} {price} {calls:3} calls  {}", belief.stage.to_string(), belief.id)?;
            writeln!(f, "{:25} {}: {}", "", operations.join(", "), belief.rule)?;
        }
        let around = if self.creates() { AROUND } else { 0 };
        let calls: u32 = self.beliefs.iter().map(|belief| self.calls(belief)).sum();
        let (count, price) = (self.beliefs.len(), self.price());
        writeln!(f, "\n{count} beliefs, about {} calls and the deletions, at most {price}", calls + around)?;
        if self.creates() {
            writeln!(
                f,
                "Creates and deletes a VPC with a subnet, security groups, launch templates, and Auto Scaling groups \
                 without instances. With the first Auto Scaling group of an account AWS creates the role \
                 AWSServiceRoleForAutoScaling, which stays."
            )?;
        }
        Ok(())
    }
}
