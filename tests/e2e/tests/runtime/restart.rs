//! What an extension that is away does to a core that starts.

use crate::served::{Served, register};
use crate::stage;
use crate::topology;
use crate::trouble::{is_created, ready};
use foo_testbed::world::SOON;
use foo_testbed::{Probe, wait_until};

/// Before core reconciles anything it asks every registered extension, and gives up after 60 s. Its own stage: core ends.
#[test]
fn core_exits_if_a_registered_extension_is_unavailable_when_it_starts() {
    const NAME: &str = "restart";
    foo_e2e::alone(async || {
        let stage = Box::pin(stage::start()).await?;
        let (capi, api) = (stage.rig().capi()?, stage.rig().api());
        let served = Served::start(&stage, ready("create")?).await?;
        let port = served.port;
        register(&stage, NAME, port).await?;
        served.stop().await?;
        capi.restart(api).await?;
        let log = stage.rig().folder().join("capi/core.log");
        wait_until("core to give up", SOON, async || {
            let log = std::fs::read_to_string(&log)?;
            let last = log.lines().next_back().unwrap_or_default().to_owned();
            Ok(Probe::when(log.contains("ExtensionConfig registry warmup timed out"), || last))
        })
        .await?;
        wait_until("its webhooks to be away", SOON, async || {
            let refused = topology::class(&stage, NAME, |_class| {}).await.err();
            let refused = refused.map_or_else(|| "no refusal".to_owned(), |error| format!("{error:#}"));
            Ok(Probe::when(refused.contains("connection refused"), || refused))
        })
        .await?;
        let _served = Served::start_at(port, api.pki(), ready("create")?).await?;
        capi.restart(api).await?;
        topology::class(&stage, NAME, |_class| {}).await?;
        topology::cluster(&stage, NAME, NAME, |_cluster| {}).await?;
        is_created(&stage, NAME, NAME).await
    });
}
