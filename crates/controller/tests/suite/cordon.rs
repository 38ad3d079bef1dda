//! Recommendations that cordon Nodes. That a Node is cordoned is a matter of real API servers (`tests/e2e`); what
//! becomes of a pool whose workload cluster cannot be reached is one of these.

use crate::support::{CLUSTER, World, objects};
use foo_api::pool::{RebalancePolicy, Spot};
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_node_that_cannot_be_cordoned_is_reported_and_delays_nothing() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(|spec| {
        spec.spot = Some(Spot::default());
        spec.interruption.rebalance = RebalancePolicy::Cordon;
    });
    let pool = pool.of(2).await;
    let instances = pool.instances();
    for id in &instances {
        world.region.recommend_rebalance(id).unwrap();
    }
    let secret = format!("{CLUSTER}-kubeconfig");
    world.until("it is reported", || world.events_on("p").contains(&"CordonFailed".to_owned())).await;
    assert!(
        world
            .notes("CordonFailed")
            .iter()
            .all(|note| note.ends_with(&format!("Secret {secret} does not exist")))
    );
    world.forgets();
    pool.scales_to(3);
    world.waits(Duration::from_mins(10)).await;
    pool.is_of(3);
    let reads = world.requests().which(|one| one.name == secret).count();
    assert!((9..=12).contains(&reads), "once a minute: {reads}");
    world.has(&objects::secret(&secret, b"no kubeconfig"));
    world
        .until("the present problem is reported", || {
            world.notes("CordonFailed").iter().any(|it| it.contains("kubeconfig"))
        })
        .await;
    world.waits(Duration::from_hours(1)).await;
    world.settles().await;
    assert_eq!(world.messages(), (0, 0), "too old to matter");
    assert!(instances.iter().all(|id| pool.instances().contains(id)), "nothing is replaced");
}
