//! What an extension that is away does to a core that starts.

use super::failures::{is_created, ready};
use super::management;
use super::served::{Served, register};
use super::topology;
use foo_testbed::world::SOON;
use foo_testbed::{Probe, wait_until};

/// Before core reconciles anything it calls every registered extension, and exits after 60 s. Its own management
/// cluster: core exits.
#[test]
fn core_exits_if_a_registered_extension_is_unavailable_when_it_starts() {
    const NAME: &str = "restart";
    foo_e2e::alone(async || {
        let management = Box::pin(management::start()).await?;
        let (capi, api) = (management.rig().capi()?, management.rig().api());
        let served = Served::start(&management, ready("create")?).await?;
        let port = served.port;
        register(&management, NAME, port).await?;
        served.stop().await?;
        capi.restart(api).await?;
        let log = management.rig().folder().join("capi/core.log");
        wait_until("core to exit", SOON, async || {
            let log = std::fs::read_to_string(&log)?;
            let last = log.lines().next_back().unwrap_or_default().to_owned();
            Ok(Probe::when(log.contains("ExtensionConfig registry warmup timed out"), || last))
        })
        .await?;
        wait_until("its webhooks to be away", SOON, async || {
            let refused = topology::class(&management, NAME, |_class| {}).await.err();
            let refused = refused.map_or_else(|| "no refusal".to_owned(), |error| format!("{error:#}"));
            Ok(Probe::when(refused.contains("connection refused"), || refused))
        })
        .await?;
        let _served = Served::start_at(port, api.pki(), ready("create")?).await?;
        capi.restart(api).await?;
        topology::class(&management, NAME, |_class| {}).await?;
        topology::cluster(&management, NAME, NAME, |_cluster| {}).await?;
        is_created(&management, NAME, NAME).await
    });
}
