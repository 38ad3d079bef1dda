//! `foo-demo`: plays the main job on real components and a simulated AWS, and stays up to be played with.

use anyhow::{Context as _, Result};
use clap::Parser;
use foo_testbed::World;
use foo_testbed::story::{Narrator, Story, Summary, Voice, template_arguments};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// Plays the main job of cluster-api-provider-foo on this machine: a real Kubernetes API server and Cluster
/// API, a simulated AWS. Everything listens on free ports of the loopback interface and stops with this
/// program.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Verify every step, print one line per step, and exit: with status 0 only if every step succeeded.
    #[arg(long)]
    once: bool,
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
    let voice: &'static dyn Voice = if args.once { &Summary } else { &Narrator };
    let mut story = Story::new(voice);
    tokio::select! {
        played = story.play() => played?,
        () = &mut interrupted => return Ok(ExitCode::from(INTERRUPTED)),
    }
    if args.once {
        return Ok(ExitCode::SUCCESS);
    }
    how_to_play(story.world().context("a story without a world")?)?;
    interrupted.await;
    println!("\nending everything");
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

fn how_to_play(world: &World) -> Result<()> {
    let api = world.api();
    let tools = api.tools().program("kubectl");
    let tools = tools.parent().context("kubectl without folder")?;
    let config = world.rig().capi()?.clusterctl_config();
    println!("\nEverything is up until Ctrl-C. In another terminal:\n");
    println!("  export KUBECONFIG={}", api.kubeconfig_path().display());
    println!("  export PATH={}:$PATH", tools.display());
    println!(
        "  export CLUSTERCTL_CONFIG={} CLUSTERCTL_DISABLE_VERSIONCHECK=true GOPROXY=off",
        config.display()
    );
    println!("  export AWS_ENDPOINT_URL={}", world.aws().endpoint());
    println!("\nA new pool in the cluster, and the simulated AWS behind it:\n");
    println!(
        "  clusterctl --config $CLUSTERCTL_CONFIG {} | kubectl apply -f -",
        template_arguments().join(" ")
    );
    println!("  kubectl get foomachinepools,foomachines,machines -A; kubectl get nodes");
    println!("  curl $AWS_ENDPOINT_URL/_sim/state");
    println!("\nLogs of the manager: {}", world.manager().log().display());
    Ok(())
}
