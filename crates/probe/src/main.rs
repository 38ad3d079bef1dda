//! `foo-probe`: checks in an account of the user what this project believes of AWS.

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Parser, Subcommand};
use foo_cloud::{Clock as _, Cloud, SystemClock};
use foo_cloud_adapter::{AwsCloud, AwsSettings};
use foo_probe::{Journal, Pace, Plan, Price, RunId, Runs, Scene, Stage, clean, read, replay, report, run};
use std::fs::File;
use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Checks in an account of your own what cluster-api-provider-foo believes of AWS.
///
/// Credentials come from where the AWS CLI takes them. Everything that a run creates has the tag
/// infrastructure.foo.com/probe, and is deleted at its end, also after Ctrl-C and SIGTERM; after anything worse, run
/// `foo-probe clean`.
#[derive(Debug, Parser)]
#[command(version)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print what a run would check, with its calls and its price. Sends nothing.
    Plan(Choice),
    /// Check, record, report and clean up. Prints the plan and asks before the first call that changes something.
    Run {
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        choice: Choice,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        /// Most dollars that the run may cost: one that may cost more is refused.
        #[arg(long, default_value = "0")]
        price_limit: Price,
        /// Folder for recording.jsonl and report.md. It is created, and must not have a recording yet.
        #[arg(long, default_value = "foo-probe")]
        out: PathBuf,
    },
    /// Delete what runs have left.
    Clean {
        #[command(flatten)]
        place: Place,
        /// Only what this run left. Its id is in its report and in the tag.
        #[arg(long)]
        run: Option<RunId>,
    },
    /// Send a recording to a simulated AWS and print how its responses differ.
    Replay {
        /// A recording.jsonl.
        recording: PathBuf,
        /// The simulated AWS, as http://host:port.
        #[arg(long, env = "AWS_ENDPOINT_URL")]
        endpoint_url: String,
    },
}

/// Where.
#[derive(Debug, Args)]
struct Place {
    /// The region.
    #[arg(long, env = "AWS_REGION")]
    region: String,
    /// Replaces the endpoints of all services: a simulated AWS.
    #[arg(long, env = "AWS_ENDPOINT_URL")]
    endpoint_url: Option<String>,
}

/// What.
#[derive(Debug, Args)]
struct Choice {
    /// The last stage: each includes those before it.
    #[arg(long, default_value = "read-only")]
    stage: Stage,
    /// Only beliefs whose id begins with this; can be repeated.
    #[arg(long)]
    only: Vec<String>,
    /// How often each delay is measured, 1 to 50.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
    repetitions: u32,
}

impl Choice {
    fn plan(&self) -> Result<Plan> {
        let plan = Plan::new(self.stage, &self.only, self.repetitions);
        ensure!(!plan.beliefs.is_empty(), "no belief of this stage begins with {:?}", self.only);
        Ok(plan)
    }
}

impl Place {
    async fn connect(&self, recorder: Option<foo_cloud_adapter::Recorder>) -> Result<Arc<dyn Cloud>> {
        let settings = AwsSettings {
            endpoint_url: self.endpoint_url.clone(),
            recorder,
            ..AwsSettings::new(self.region.as_str())
        };
        Ok(Arc::new(AwsCloud::connect(settings).await?))
    }
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let is_good = match Flags::parse().command {
        Command::Plan(choice) => {
            print!("{}", choice.plan()?);
            true
        }
        Command::Run { place, choice, yes, price_limit, out } => {
            let plan = choice.plan()?;
            print!("{plan}");
            let price = plan.price();
            ensure!(price <= price_limit, "the run may cost {price}, and the limit is {price_limit}");
            probe(&place, &plan, yes, &out).await?
        }
        Command::Clean { place, run } => {
            let runs = run.map_or(Runs::All, Runs::Only);
            clean_up(place.connect(None).await?.as_ref(), &runs).await
        }
        Command::Replay { recording, endpoint_url } => compare(&recording, &endpoint_url).await?,
    };
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

async fn probe(place: &Place, plan: &Plan, yes: bool, out: &Path) -> Result<bool> {
    // GetCallerIdentity, which needs no right and changes nothing. It is not recorded.
    let caller = place.connect(None).await?.caller().await.context("the credentials cannot be used")?;
    if !yes && !confirmed(&caller, &place.region)? {
        bail!("not confirmed: only GetCallerIdentity was sent");
    }
    let journal = Journal::to(new_recording(out)?);
    let cloud = place.connect(Some(journal.recorder())).await?;
    let id = RunId::at(SystemClock::start().now());
    let scene = Scene::new(cloud, id.clone(), Pace::default(), journal.clone());
    println!("run {id}; should it be killed: foo-probe clean --region {} --run {id}", place.region);
    let outcome = run(&scene, plan, stopped()).await;
    let page = report(&outcome, &id, &place.region);
    // First of all: what is left in AWS is shown even if the disk is full.
    print!("{page}");
    let path = out.join("report.md");
    std::fs::write(&path, &page).with_context(|| format!("writing {}", path.display()))?;
    journal.finish()?;
    Ok(outcome.is_as_believed())
}

/// The file for a recording. One of an earlier run is never replaced.
fn new_recording(out: &Path) -> Result<File> {
    std::fs::create_dir_all(out).with_context(|| format!("creating {}", out.display()))?;
    let path = out.join("recording.jsonl");
    File::create_new(&path)
        .with_context(|| format!("creating {} (--out names another folder)", path.display()))
}

fn confirmed(caller: &str, region: &str) -> Result<bool> {
    print!("Send these calls as {caller} in {region}? [yes/no] ");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim() == "yes")
}

async fn clean_up(cloud: &dyn Cloud, runs: &Runs) -> bool {
    let cleaned = clean(cloud, runs, Pace::default().round).await;
    for what in &cleaned.found {
        println!("found: {what}");
    }
    for what in &cleaned.left {
        println!("left: {what}");
    }
    cleaned.left.is_empty()
}

async fn compare(recording: &Path, endpoint_url: &str) -> Result<bool> {
    let entries = read(recording)?;
    let differences = replay(&entries, endpoint_url, Duration::from_secs(10)).await?;
    for difference in &differences {
        println!("{}: {}: {}", difference.belief, difference.operation, difference.what);
    }
    println!("{} exchanges, {} differences", entries.len(), differences.len());
    Ok(differences.is_empty())
}

/// Ctrl-C or SIGTERM.
async fn stopped() {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
