//! A run: checks one belief after the other, and deletes what it created, also when it is interrupted.

use crate::belief::{Belief, Check, Seen, Step};
use crate::clean::{Cleaned, Runs, clean};
use crate::delays::Distribution;
use crate::plan::Plan;
use crate::scene::Scene;
use std::pin::pin;
use std::time::Duration;

/// How often a check is tried whose result says nothing: AWS throttles, and connections break.
const ATTEMPTS: u32 = 3;
/// The pause before another attempt, in times between two reads.
const PAUSE: u32 = 5;

/// What a run found about a belief.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Id of the belief.
    pub id: &'static str,
    /// The rule.
    pub rule: &'static str,
    /// What was seen.
    pub seen: Seen,
}

/// Everything that a run found, and what its clean-up did.
pub struct Outcome {
    /// One for each belief of the plan.
    pub findings: Vec<Finding>,
    /// What the clean-up found and left. Nothing, if nothing was created.
    pub cleaned: Cleaned,
}

impl Outcome {
    /// Whether everything is as believed, and nothing is left.
    pub fn is_as_believed(&self) -> bool {
        self.cleaned.left.is_empty()
            && self.findings.iter().all(|finding| matches!(finding.seen, Seen::AsBelieved(_)))
    }
}

/// Checks the beliefs of a plan until `stop`.
pub async fn run(scene: &Scene, plan: &Plan, stop: impl Future<Output = ()>) -> Outcome {
    let findings = check_all(scene, plan, stop).await;
    let cleaned = if plan.creates() {
        scene.journal.begin("clean");
        clean(scene.cloud.as_ref(), &Runs::Only(scene.run.clone()), scene.pace.round).await
    } else {
        Cleaned::default()
    };
    Outcome { findings, cleaned }
}

async fn check_all(scene: &Scene, plan: &Plan, stop: impl Future<Output = ()>) -> Vec<Finding> {
    let mut stop = pin!(stop);
    let mut run = Run { scene, repetitions: plan.repetitions, prepared: None };
    let mut findings = Vec::new();
    let mut stopped = false;
    for belief in &plan.beliefs {
        let interrupted = || Seen::Unknown("the run was interrupted".to_owned());
        let seen = if stopped {
            interrupted()
        } else {
            tokio::select! {
                biased;
                () = &mut stop => {
                    stopped = true;
                    interrupted()
                }
                seen = run.check(belief) => seen,
            }
        };
        findings.push(Finding { id: belief.id, rule: belief.rule, seen });
    }
    findings
}

struct Run<'a> {
    scene: &'a Scene,
    repetitions: u32,
    /// Whether the second stage could be prepared, and why not. `None` before that.
    prepared: Option<Result<(), String>>,
}

impl Run<'_> {
    async fn check(&mut self, belief: &Belief) -> Seen {
        if belief.stage.creates()
            && let Err(why) = self.prepare().await
        {
            return Seen::Unknown(format!("not checked: {why}"));
        }
        let mut seen = self.once(belief).await;
        for _ in 1..ATTEMPTS {
            if !matches!(seen, Seen::Unknown(_)) {
                break;
            }
            tokio::time::sleep(self.scene.pace.poll * PAUSE).await;
            seen = self.once(belief).await;
        }
        seen
    }

    /// A second attempt would find the names of the first one in use.
    async fn prepare(&mut self) -> Result<(), String> {
        if self.prepared.is_none() {
            self.prepared = Some(self.scene.prepare().await.map_err(|error| error.to_string()));
        }
        self.prepared.clone().unwrap_or(Ok(()))
    }

    async fn once(&self, belief: &Belief) -> Seen {
        self.scene.journal.begin(belief.id);
        match belief.check {
            Check::Refused { code, call } => {
                let last = belief.calls.last().map(|(operation, _)| *operation);
                Seen::refusal(code, last, call(self.scene).await)
            }
            Check::Holds(step) => step(self.scene).await.unwrap_or_else(|error| Seen::unexpected(&error)),
            Check::Shows { within, round } => self.shows(within, round).await,
        }
    }

    async fn shows(&self, within: Duration, round: Step<Option<Duration>>) -> Seen {
        let mut times = Vec::new();
        for _ in 0..self.repetitions.max(1) {
            match round(self.scene).await {
                Ok(Some(time)) => times.push(time),
                Ok(None) => {
                    let patience = self.scene.pace.patience.as_secs();
                    return Seen::Otherwise(format!("not within {patience} s"));
                }
                Err(error) => return Seen::unexpected(&error),
            }
        }
        let Some(distribution) = Distribution::of(times) else {
            return Seen::Unknown("not measured".to_owned());
        };
        Seen::that(distribution.longest() <= within, distribution.to_string())
    }
}
