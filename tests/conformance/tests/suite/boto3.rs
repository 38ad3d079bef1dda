//! Runs the Python round trip against a simulator in this process.

use crate::TARGET;
use anyhow::{Context as _, Result};
use foo_conformance::python::{self, run};
use foo_simulator::{Handle, SimulatorConfig};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boto3_finds_no_difference_to_aws() -> Result<()> {
    let aws = Handle::start(SimulatorConfig::stepped()).await?;
    let mut command = python::script(TARGET.as_ref(), "round_trip.py").await?;
    run(command.arg(aws.endpoint())).await.context("the round trip failed")?;
    println!("calls: {}", aws.total_calls());
    Ok(())
}
