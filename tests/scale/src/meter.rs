//! Counters of the manager and of the simulated AWS, read twice and subtracted.

use crate::record::{Fleet, Measure, Recorder};
use anyhow::{Context as _, Result};
use foo_cloud::Groups;
use foo_model::GroupChange;
use foo_testbed::World;
use foo_testbed::world::REGION;
use std::collections::BTreeMap;
use std::fmt;

/// Calls that AWS got, by action.
type Calls = BTreeMap<String, u64>;

/// The label of the series about pools.
const OF_POOLS: &str = r#"controller="pool""#;
/// The label of passes that did nothing, because the pool waits for the rate limit of its account.
const SKIPPED: &str = r#"result="skipped""#;

/// Counters at a moment.
pub(crate) struct Meter {
    /// Which process counts.
    pid: Option<u32>,
    aws: Calls,
    writes: f64,
    live_reads: f64,
    cpu: f64,
    pass_seconds: Vec<Bucket>,
}

/// What happened in between.
pub(crate) struct Reading {
    aws: Calls,
    writes: f64,
    live_reads: f64,
    cpu: f64,
    pass_seconds: Vec<Bucket>,
    counted: Counted,
}

/// Whether one process counted all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    Whole,
    /// The manager was started again meanwhile: its counters began at 0.
    InPart,
}

impl Meter {
    /// The counters now.
    pub(crate) async fn start(world: &World) -> Result<Self> {
        let metrics = world.manager().metrics().await?;
        Ok(Self {
            pid: world.manager().pid(),
            aws: aws_calls(world),
            writes: counter(&metrics, "foo_kube_writes_total")?,
            live_reads: counter(&metrics, "foo_kube_live_reads_total")?,
            cpu: cpu_seconds(world)?,
            pass_seconds: buckets(&metrics, "foo_reconcile_seconds", OF_POOLS),
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
            pass_seconds: without(now.pass_seconds, &self.pass_seconds),
            counted: if now.pid == self.pid { Counted::Whole } else { Counted::InPart },
        })
    }
}

impl Reading {
    /// Everything that the present manager process did; AWS calls beyond `aws_before`.
    pub(crate) async fn since_start(world: &World, aws_before: &Calls) -> Result<Self> {
        let now = Meter::start(world).await?;
        let Meter { pid: _, aws, writes, live_reads, cpu, pass_seconds } = now;
        let counted = Counted::Whole;
        Ok(Self { aws: beyond(aws, aws_before), writes, live_reads, cpu, pass_seconds, counted })
    }

    pub(crate) fn aws_per(&self, minutes: f64) -> f64 {
        whole(self.aws_calls()) / minutes
    }

    fn aws_calls(&self) -> u64 {
        self.aws.values().sum()
    }

    /// The upper bound of the bucket with the 99th percentile of the passes of pools, in milliseconds. None without a
    /// pass, or if it is beyond the last bound.
    fn p99(&self) -> Option<f64> {
        let all = self.pass_seconds.last().map(|bucket| bucket.count).filter(|all| *all > 0.0)?;
        let bucket = self.pass_seconds.iter().find(|bucket| bucket.count >= 0.99 * all)?;
        bucket.bound.is_finite().then_some(bucket.bound * 1000.0)
    }

    /// Records calls and writes, divided by this number (of minutes or instances). Nothing if the manager was started
    /// again meanwhile.
    pub(crate) fn record(
        &self,
        recorder: &Recorder,
        fleet: Fleet,
        [calls, writes]: [Measure; 2],
        parts: f64,
    ) {
        if self.counted == Counted::InPart {
            let (calls, writes) = (calls.name(), writes.name());
            recorder.note(&format!("{fleet}: a manager ended meanwhile, not recorded: {calls}; {writes}"));
            return;
        }
        recorder.figure(calls, fleet, self.aws_per(parts));
        recorder.figure(writes, fleet, self.writes_per(parts));
    }

    /// Records how long passes took.
    pub(crate) fn record_passes(&self, recorder: &Recorder, fleet: Fleet) {
        if let (Counted::Whole, Some(p99)) = (self.counted, self.p99()) {
            recorder.figure(Measure::PassP99Milliseconds, fleet, p99);
        }
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

    /// Finished passes of pools.
    pub(crate) fn passes(&self) -> f64 {
        self.pass_seconds.last().map_or(0.0, |bucket| bucket.count)
    }

    /// Processor time of the manager, divided by this number, in milliseconds. None if the manager was started again
    /// meanwhile.
    pub(crate) fn milliseconds_per(&self, parts: f64) -> Option<f64> {
        (self.counted == Counted::Whole).then(|| self.cpu * 1000.0 / parts)
    }

    /// Use of a processor core over this many minutes, in thousandths, as Kubernetes counts.
    pub(crate) fn millicores(&self, minutes: f64) -> f64 {
        self.cpu / (minutes * 60.0) * 1000.0
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { aws: _, writes, live_reads, cpu, pass_seconds: _, counted: _ } = self;
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

/// The sum of the series of a metric whose labels are wanted.
fn sum(metrics: &str, name: &str, wanted: impl Fn(&str) -> bool) -> f64 {
    series(metrics, name).filter(|(labels, _)| wanted(labels)).map(|(_, value)| value).sum()
}

/// The series of a metric: labels and value.
fn series<'a>(metrics: &'a str, name: &'a str) -> impl Iterator<Item = (&'a str, f64)> {
    metrics.lines().filter_map(move |line| {
        let (labels, value) = line.strip_prefix(name)?.strip_prefix('{')?.rsplit_once("} ")?;
        Some((labels, value.parse().ok()?))
    })
}

/// A bucket of a histogram: how many values were at most this.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    bound: f64,
    count: f64,
}

/// The buckets of the one series of a histogram with this label, in the order of their bounds.
fn buckets(metrics: &str, name: &str, label: &str) -> Vec<Bucket> {
    let name = format!("{name}_bucket");
    let all = series(metrics, &name).filter(|(labels, _)| labels.contains(label));
    let bucket = |(labels, count): (&str, f64)| {
        let (_, bound) = labels.split_once("le=\"")?;
        let (bound, _) = bound.split_once('"')?;
        Some(Bucket { bound: bound.parse().ok()?, count })
    };
    all.filter_map(bucket).collect()
}

/// What buckets counted since they were like that.
fn without(mut now: Vec<Bucket>, before: &[Bucket]) -> Vec<Bucket> {
    for (bucket, before) in now.iter_mut().zip(before) {
        bucket.count -= before.count;
    }
    now
}

/// The passes of a manager since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passes {
    /// Of pools, finished.
    pub(crate) of_pools: u32,
    /// Objects of all kinds that wait for a pass or have one now.
    pub(crate) waiting: u32,
}

impl Passes {
    /// What a manager's metrics show.
    pub(crate) fn of(metrics: &str) -> Self {
        let all = |_: &str| true;
        let finished = |labels: &str| labels.contains(OF_POOLS) && !labels.contains(SKIPPED);
        let waiting = ["foo_reconcile_queue_depth", "foo_reconciles_in_flight"];
        let waiting: f64 = waiting.iter().map(|name| sum(metrics, name, all)).sum();
        Self { of_pools: number(sum(metrics, "foo_reconciles_total", finished)), waiting: number(waiting) }
    }
}

/// A counter's value without its type: it is a whole number that is not less than 0.
fn number(value: f64) -> u32 {
    format!("{value:.0}").parse().unwrap_or(u32::MAX)
}

/// Whether a manager is the leader, by its metrics.
pub(crate) fn leads(metrics: &str) -> bool {
    sum(metrics, "foo_leader", |_| true) > 0.0
}

/// Resident memory, in MB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Now.
    pub(crate) now: u32,
    /// At its highest since the process began.
    pub(crate) highest: u32,
}

/// Resident memory of the manager, from the kernel.
pub(crate) fn resident_megabytes(world: &World) -> Result<Memory> {
    let status = process_file(world, "status")?;
    let field = |name: &str| -> Result<u32> {
        let line =
            status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        let kilobytes: u32 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes / 1024)
    };
    Ok(Memory { now: field("VmRSS:")?, highest: field("VmHWM:")? })
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

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = r#"
# TYPE foo_leader gauge
foo_leader{lease="controller-leader-election-foo"} 1
foo_reconciles_total{controller="pool",result="settled"} 7
foo_reconciles_total{controller="pool",result="skipped"} 100
foo_reconciles_total{controller="cluster",result="settled"} 1
foo_reconcile_queue_depth{controller="pool"} 2
foo_reconcile_queue_depth{controller="cluster"} 1
foo_reconciles_in_flight{controller="pool"} 1
foo_reconcile_seconds_sum{controller="pool"} 5.0
foo_reconcile_seconds_bucket{le="0.001",controller="pool"} 10
foo_reconcile_seconds_bucket{le="0.002",controller="pool"} 199
foo_reconcile_seconds_bucket{le="+Inf",controller="pool"} 200
foo_reconcile_seconds_bucket{le="0.001",controller="cluster"} 1
"#;

    #[test]
    fn passes_that_were_skipped_do_not_count_and_objects_in_a_pass_are_waited_for() {
        assert_eq!(Passes::of(METRICS), Passes { of_pools: 7, waiting: 4 });
        assert!(leads(METRICS) && !leads(&METRICS.replace("foo\"} 1", "foo\"} 0")));
    }

    fn reading(pass_seconds: Vec<Bucket>) -> Reading {
        let counted = Counted::Whole;
        Reading { aws: Calls::new(), writes: 0.0, live_reads: 0.0, cpu: 0.0, pass_seconds, counted }
    }

    #[test]
    fn the_99th_percentile_is_the_bound_of_its_bucket() {
        let now = buckets(METRICS, "foo_reconcile_seconds", OF_POOLS);
        assert_eq!(now.len(), 3);
        assert_eq!(reading(now.clone()).p99(), Some(2.0));
        let before = vec![Bucket { bound: 0.001, count: 0.0 }, Bucket { bound: 0.002, count: 190.0 }];
        assert_eq!(reading(without(now.clone(), &before)).p99(), None, "it is beyond the last bound");
        assert_eq!(reading(without(now.clone(), &now)).p99(), None, "there was no pass");
    }
}
