//! Asks the simulator and moto the same, and lets only known differences pass.

use crate::TARGET;
use anyhow::{Context as _, Result};
use foo_conformance::python::{self, run};
use foo_simulator::{Handle, SimulatorConfig};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moto_differs_only_where_it_deviates_from_aws() -> Result<()> {
    let aws = Handle::start(SimulatorConfig::stepped()).await?;
    let mut command = python::script(TARGET.as_ref(), "judge.py").await?;
    run(command.arg(aws.endpoint())).await.context("the simulator and moto disagree")
}
