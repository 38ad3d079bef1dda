//! Counters of the manager and of the simulated AWS, read twice and subtracted.

use anyhow::{Context as _, Result};
use foo_cloud::{GroupChange, Groups};
use foo_testbed::World;
use foo_testbed::world::REGION;
use std::collections::BTreeMap;
use std::fmt;

/// Calls that AWS got, by action.
type Calls = BTreeMap<String, u64>;

/// Counters at a moment.
pub(crate) struct Meter {
    aws: Calls,
    writes: f64,
    live_reads: f64,
}

/// What happened in between.
pub(crate) struct Reading {
    aws: Calls,
    writes: f64,
    live_reads: f64,
}

impl Meter {
    /// The counters now.
    pub(crate) async fn start(world: &World) -> Result<Self> {
        let metrics = world.manager().metrics().await?;
        Ok(Self {
            aws: aws_calls(world),
            writes: counter(&metrics, "foo_kube_writes_total")?,
            live_reads: counter(&metrics, "foo_kube_live_reads_total")?,
        })
    }

    /// What happened since.
    pub(crate) async fn read(&self, world: &World) -> Result<Reading> {
        let now = Self::start(world).await?;
        Ok(Reading {
            aws: beyond(now.aws, &self.aws),
            writes: now.writes - self.writes,
            live_reads: now.live_reads - self.live_reads,
        })
    }
}

impl Reading {
    /// Everything that the present manager process did; AWS calls beyond `aws_before`.
    pub(crate) async fn since_start(world: &World, aws_before: &Calls) -> Result<Self> {
        let now = Meter::start(world).await?;
        Ok(Self { aws: beyond(now.aws, aws_before), writes: now.writes, live_reads: now.live_reads })
    }

    pub(crate) fn aws_per(&self, minutes: f64) -> f64 {
        whole(self.aws_calls()) / minutes
    }

    fn aws_calls(&self) -> u64 {
        self.aws.values().sum()
    }

    /// AWS calls by action, in words.
    pub(crate) fn by_action(&self) -> String {
        let parts: Vec<String> = self.aws.iter().map(|(action, count)| format!("{count} {action}")).collect();
        parts.join(", ")
    }

    pub(crate) fn writes_per(&self, minutes: f64) -> f64 {
        self.writes / minutes
    }

    pub(crate) fn live_reads_per(&self, minutes: f64) -> f64 {
        self.live_reads / minutes
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { writes, live_reads, .. } = self;
        write!(f, "{} AWS calls, {writes} Kubernetes writes, {live_reads} live reads", self.aws_calls())
    }
}

/// Counts below 2^32 are exact as a float; no bench gets further.
fn whole(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// All calls that the simulated AWS got.
pub(crate) fn aws_calls(world: &World) -> Calls {
    let counts = world.aws().simulator().call_counts();
    counts.into_iter().map(|((_, action), count)| (action, count.calls)).collect()
}

fn beyond(mut now: Calls, before: &Calls) -> Calls {
    for (action, count) in &mut now {
        *count -= before.get(action).copied().unwrap_or_default();
    }
    now.retain(|_, count| *count > 0);
    now
}

fn counter(metrics: &str, name: &str) -> Result<f64> {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    Ok(line.with_context(|| format!("no metric {name}"))?.trim().parse()?)
}

/// Resident memory of the manager, from the kernel.
pub(crate) fn resident_megabytes(world: &World) -> Result<u64> {
    let pid = world.manager().pid().context("the manager does not run")?;
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes / 1024)
}

/// Raises desired capacity and maximum as a person in AWS's console would.
pub(crate) async fn raise_desired(world: &World, group: &str, desired: u32) -> Result<()> {
    let console = world.aws().simulator().cloud(REGION, "console");
    let change = GroupChange { max: Some(desired), desired: Some(desired), ..GroupChange::default() };
    Ok(console.update_group(&group.into(), &change).await?)
}
