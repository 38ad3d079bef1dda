//! Counters of the manager and of the simulated AWS, read twice and subtracted.

use anyhow::{Context as _, Result};
use foo_cloud::Groups;
use foo_model::GroupChange;
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
    cpu: f64,
}

/// What happened in between.
pub(crate) struct Reading {
    aws: Calls,
    writes: f64,
    live_reads: f64,
    cpu: f64,
}

impl Meter {
    /// The counters now.
    pub(crate) async fn start(world: &World) -> Result<Self> {
        let metrics = world.manager().metrics().await?;
        Ok(Self {
            aws: aws_calls(world),
            writes: counter(&metrics, "foo_kube_writes_total")?,
            live_reads: counter(&metrics, "foo_kube_live_reads_total")?,
            cpu: cpu_seconds(world)?,
        })
    }

    /// What happened since.
    pub(crate) async fn read(&self, world: &World) -> Result<Reading> {
        let now = Self::start(world).await?;
        Ok(Reading {
            aws: beyond(now.aws, &self.aws),
            writes: now.writes - self.writes,
            live_reads: now.live_reads - self.live_reads,
            cpu: now.cpu - self.cpu,
        })
    }
}

impl Reading {
    /// Everything that the present manager process did; AWS calls beyond `aws_before`.
    pub(crate) async fn since_start(world: &World, aws_before: &Calls) -> Result<Self> {
        let now = Meter::start(world).await?;
        let Meter { aws, writes, live_reads, cpu } = now;
        Ok(Self { aws: beyond(aws, aws_before), writes, live_reads, cpu })
    }

    pub(crate) fn aws_per(&self, minutes: f64) -> f64 {
        whole(self.aws_calls()) / minutes
    }

    fn aws_calls(&self) -> u64 {
        self.aws.values().sum()
    }

    /// AWS calls by action, as text.
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

    /// Use of a processor core over this many minutes, in thousandths, as Kubernetes counts.
    pub(crate) fn millicores(&self, minutes: f64) -> f64 {
        self.cpu / (minutes * 60.0) * 1000.0
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { writes, live_reads, cpu, .. } = self;
        let aws = self.aws_calls();
        write!(f, "{aws} AWS calls, {writes} Kubernetes writes, {live_reads} live reads, {cpu:.1} s of CPU")
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

/// Resident memory of the manager, now and at its highest, from the kernel.
pub(crate) fn resident_megabytes(world: &World) -> Result<(u64, u64)> {
    let status = process_file(world, "status")?;
    let field = |name: &str| -> Result<u64> {
        let line =
            status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes / 1024)
    };
    Ok((field("VmRSS:")?, field("VmHWM:")?))
}

/// Time the manager had of all processors since it was started, from the kernel (proc(5): fields 14 and 15 of `stat`,
/// in ticks of a hundredth of a second on Linux).
fn cpu_seconds(world: &World) -> Result<f64> {
    let stat = process_file(world, "stat")?;
    // The second field is the program's name in parentheses, and may contain anything.
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let ticks: Vec<&str> = fields.split_whitespace().skip(11).take(2).collect();
    let ticks: u32 = ticks.iter().map(|ticks| ticks.parse::<u32>()).sum::<Result<u32, _>>()?;
    Ok(f64::from(ticks) / 100.0)
}

fn process_file(world: &World, name: &str) -> Result<String> {
    let pid = world.manager().pid().context("the manager does not run")?;
    std::fs::read_to_string(format!("/proc/{pid}/{name}")).with_context(|| format!("reading {name} of {pid}"))
}

/// Raises desired capacity and maximum as a user in AWS's console would.
pub(crate) async fn raise_desired(world: &World, group: &str, desired: u32) -> Result<()> {
    let console = world.aws().simulator().cloud(REGION, "console");
    let change = GroupChange { max: Some(desired), desired: Some(desired), ..GroupChange::default() };
    Ok(console.update_group(&group.into(), &change).await?)
}
