//! `foo-bench`: the numbers that matter to users who pay for AWS calls. It prints them, keeps them as data, and writes
//! the page of figures from that. Nothing here fails for being slow.
//!
//! * [`measures`]: what is measured, each in a world of its own;
//! * [`wait`]: how it waits, with [`progress`];
//! * [`meter`], [`trace`]: where the numbers come from: counters of the simulator and of the manager, and reads of pools;
//! * [`record`]: the file of a run; [`goals`], [`page`]: what follows from it.
//!
//! Times depend on the machine, and the rest of the system shares its processors.

mod goals;
mod measures;
mod meter;
mod page;
mod progress;
mod record;
mod trace;
mod wait;

use anyhow::{Context as _, Result};
use clap::Parser;
use foo_testbed::world::manager_program;
use measures::scale_in::To;
use measures::{fail_over, many_pools, one_pool, roll_out, scale_in};
use record::Recorder;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Prints calls, writes, memory and latency of the whole system, and keeps them as data.
#[derive(Parser)]
struct Args {
    /// Sizes of single pools, in instances.
    #[arg(long, value_delimiter = ',', default_value = "10,100")]
    sizes: Vec<u32>,
    /// Also measure this many pools of ten instances at the same time; 0 skips that.
    #[arg(long, default_value_t = 20)]
    pools: u32,
    /// How long settled pools are measured, in seconds.
    #[arg(long, default_value_t = 120)]
    rest: u64,
    /// Measure only the roll-out of a pool of this many instances, with launches and drains about as long as
    /// in AWS.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    roll_out: Option<u32>,
    /// Measure only the scale-in of a pool of this many instances to a tenth, with drains.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    scale_in: Option<u32>,
    /// Measure only the scale-in of a pool of this many instances to 0, with drains.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    to_zero: Option<u32>,
    /// Measure only a fail-over: two replicas of the manager run, and the leader is killed. With a pool of this many
    /// instances.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    fail_over: Option<u32>,
    /// Measure all of it: pools of 10, 100 and 1,000 instances, 100 pools of ten, the roll-out of 100 instances,
    /// scale-ins of 100 and 1,000, and a fail-over; then write the page of figures into docs. Takes hours.
    #[arg(long)]
    full: bool,
    /// Folder for the file of this run. The page is written from all files in it.
    #[arg(long, default_value = "target/figures")]
    out: PathBuf,
    /// Measure nothing: only write the page of figures, with its plots, into this folder.
    #[arg(long)]
    page: Option<PathBuf>,
}

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    OnePool(u32),
    ManyPools(u32),
    RollOut(u32),
    ScaleIn(u32, To),
    FailOver(u32),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnePool(size) => write!(f, "one pool of {size}"),
            Self::ManyPools(pools) => write!(f, "{pools} pools of 10"),
            Self::RollOut(size) => write!(f, "a roll-out of {size} with pods that take their time"),
            Self::ScaleIn(size, to) => write!(f, "a scale-in from {size} to {} with drains", to.of(*size)),
            Self::FailOver(size) => write!(f, "a fail-over with a pool of {size}"),
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    if let Some(folder) = &args.page {
        return page::write(&args.out, folder);
    }
    let recorder = Recorder::begin(&manager_program()?);
    let measured = measure(&args, &recorder).await;
    if let Err(error) = &measured {
        recorder.note(&format!("the run ended early: {error:#}"));
    }
    // What was measured before an error is kept.
    println!("\nwrote {}", recorder.save(&args.out)?.display());
    measured?;
    if args.full {
        page::write(&args.out, &xtask::root().join("docs"))?;
    }
    Ok(())
}

async fn measure(args: &Args, recorder: &Recorder) -> Result<()> {
    let rest = Duration::from_secs(args.rest);
    for part in parts(args) {
        println!("\n== {part}");
        // Each is a whole system: a large future.
        let measured = match part {
            Part::OnePool(size) => Box::pin(one_pool::measure(size, rest, recorder)).await,
            Part::ManyPools(pools) => Box::pin(many_pools::measure(pools, rest, recorder)).await,
            Part::RollOut(size) => Box::pin(roll_out::against_its_limit(size, recorder)).await,
            Part::ScaleIn(size, to) => Box::pin(scale_in::measure(size, to, recorder)).await,
            Part::FailOver(size) => Box::pin(fail_over::measure(size, recorder)).await,
        };
        measured.with_context(|| part.to_string())?;
    }
    Ok(())
}

/// What is measured, in order.
fn parts(args: &Args) -> Vec<Part> {
    let Args { sizes, pools, rest: _, roll_out, scale_in, to_zero, fail_over, full, out: _, page: _ } = args;
    let alone = [
        roll_out.map(Part::RollOut),
        scale_in.map(|size| Part::ScaleIn(size, To::Tenth)),
        to_zero.map(|size| Part::ScaleIn(size, To::Zero)),
        fail_over.map(Part::FailOver),
    ];
    let alone: Vec<Part> = alone.into_iter().flatten().collect();
    if !alone.is_empty() {
        return alone;
    }
    if *full {
        return vec![
            Part::OnePool(10),
            Part::OnePool(100),
            Part::ManyPools(100),
            Part::RollOut(100),
            Part::ScaleIn(100, To::Tenth),
            Part::FailOver(100),
            Part::OnePool(1_000),
            Part::ScaleIn(1_000, To::Zero),
        ];
    }
    let sizes = sizes.iter().copied().map(Part::OnePool);
    sizes.chain(Some(*pools).filter(|pools| *pools > 0).map(Part::ManyPools)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(arguments: &[&str]) -> Vec<Part> {
        let arguments = ["foo-bench"].iter().chain(arguments);
        parts(&Args::try_parse_from(arguments).unwrap())
    }

    #[test]
    fn without_arguments_small_pools_are_measured() {
        assert_eq!(parts_of(&[]), [Part::OnePool(10), Part::OnePool(100), Part::ManyPools(20)]);
        assert_eq!(parts_of(&["--sizes", "5", "--pools", "0"]), [Part::OnePool(5)]);
    }

    #[test]
    fn measurements_that_are_named_are_the_only_ones() {
        let named = parts_of(&["--scale-in", "100", "--to-zero", "20", "--fail-over", "10"]);
        let expected = [Part::ScaleIn(100, To::Tenth), Part::ScaleIn(20, To::Zero), Part::FailOver(10)];
        assert_eq!(named, expected);
        assert_eq!(Part::ScaleIn(100, To::Tenth).to_string(), "a scale-in from 100 to 10 with drains");
    }

    #[test]
    fn the_full_run_measures_every_kind() {
        let full = parts_of(&["--full"]);
        assert!(
            full.contains(&Part::ScaleIn(1_000, To::Zero)) && full.contains(&Part::FailOver(100)),
            "{full:?}"
        );
    }
}
