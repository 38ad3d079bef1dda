//! `foo-demo`: runs a story on real components and a simulated AWS, and stays up for experiments.

use anyhow::{Context as _, Result};
use clap::Parser;
use foo_testbed::World;
use foo_testbed::story::{
    Reporter, Scenario, Story, Summary, Verbose, bring_secrets, exports, manifest_path, template_arguments,
};
use foo_testbed::world::{Restarts, WorldOptions};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Runs the main job of cluster-api-provider-foo on this machine: a real Kubernetes API server and Cluster
/// API, a simulated AWS. Everything listens on free ports of the loopback interface and stops with this
/// program.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Verify every step, print one line per step, and exit: with status 0 only if every step succeeded.
    #[arg(long)]
    once: bool,
    /// Run the life cycle of a whole cluster on EKS, instead of that of a pool.
    #[arg(long)]
    eks: bool,
    /// Run nothing, and stay up for docs/tutorial.md.
    #[arg(long, conflicts_with_all = ["once", "eks"])]
    tutorial: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(
            EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn,kube_client=off")),
        )
        .with_writer(std::io::stderr)
        .init();
    match run(Args::parse()).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("\nfailed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<ExitCode> {
    let mut interrupted = std::pin::pin!(interrupted()?);
    if args.tutorial {
        return tutorial(interrupted).await;
    }
    let reporter: &'static dyn Reporter = if args.once { &Summary } else { &Verbose };
    let scenario = if args.eks { Scenario::Eks } else { Scenario::Pools };
    let mut story = Story::new(scenario, reporter);
    tokio::select! {
        outcome = story.run() => outcome?,
        () = &mut interrupted => return Ok(ExitCode::from(INTERRUPTED)),
    }
    if args.once {
        return Ok(ExitCode::SUCCESS);
    }
    print_usage(scenario, story.world().context("a story without a world")?)?;
    interrupted.await;
    println!("\nstopping everything");
    Ok(ExitCode::SUCCESS)
}

/// A world with the providers, in which a user does the rest.
async fn tutorial(mut interrupted: std::pin::Pin<&mut impl Future<Output = ()>>) -> Result<ExitCode> {
    println!("starting a management cluster, Cluster API, the provider and a simulated AWS …");
    let restarts = Some(Restarts::reported_to(|text| println!("{text}")));
    let starting = async {
        let world = World::start(WorldOptions { restarts, ..WorldOptions::default() }).await?;
        bring_secrets(&world).await?;
        anyhow::Ok(world)
    };
    let world = tokio::select! {
        world = starting => world?,
        () = &mut interrupted => return Ok(ExitCode::from(INTERRUPTED)),
    };
    println!("\nEverything is up until Ctrl-C. Continue with docs/tutorial.md in another terminal, after\n");
    print_exports(&world)?;
    interrupted.await;
    println!("\nstopping everything");
    Ok(ExitCode::SUCCESS)
}

/// What a shell reports of a program that was interrupted.
const INTERRUPTED: u8 = 130;

/// Ctrl-C or SIGTERM. The programs we started do not see them: dropping the world ends those in order.
fn interrupted() -> Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

fn print_exports(world: &World) -> Result<()> {
    for line in exports(world)? {
        println!("  {line}");
    }
    Ok(())
}

fn print_usage(scenario: Scenario, world: &World) -> Result<()> {
    println!("\nEverything is up until Ctrl-C. In another terminal:\n");
    print_exports(world)?;
    println!("\nA new {}, and the simulated AWS behind it:\n", what_can_be_created(scenario));
    println!("  {}", command(scenario, world));
    println!("  kubectl get foomachinepools,foomachines,machines -A; kubectl get nodes");
    println!("  kubectl foo explain -A");
    println!("  curl $AWS_ENDPOINT_URL/_sim/state");
    println!("\nLogs of the manager: {}", world.manager().log().display());
    Ok(())
}

fn what_can_be_created(scenario: Scenario) -> &'static str {
    match scenario {
        Scenario::Pools => "pool in the cluster",
        Scenario::Eks => "cluster on EKS, as before",
    }
}

fn command(scenario: Scenario, world: &World) -> String {
    match scenario {
        Scenario::Pools => format!(
            "clusterctl --config $CLUSTERCTL_CONFIG {} | kubectl apply -f -",
            template_arguments().join(" ")
        ),
        Scenario::Eks => format!("kubectl apply -f {}", manifest_path(world).display()),
    }
}
