//! What an EKS cluster costs in calls of AWS, in writes and in time, by the real controller. Time is virtual: what is measured is what our
//! own order of calls, looks and waits takes beyond what EKS takes.

use crate::support::World;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// What EKS takes in these worlds for a cluster and then an add-on.
const OF_EKS: Duration = Duration::from_mins(11);
/// What we may take beyond that: EKS is asked once in 30 seconds, for the cluster and then for the add-on.
const OWN: Duration = Duration::from_secs(75);

#[tokio::test(start_paused = true)]
async fn a_creation_takes_little_longer_than_eks() {
    let world = World::empty();
    world.forgets();
    let began = Instant::now();
    world.begins_eks("v1.34.0", json!({ "addons": [{ "name": "vpc-cni" }] }));
    world.eks_is_ready().await;
    let (took, calls) = (began.elapsed(), world.aws_calls());
    let own = took.saturating_sub(OF_EKS);
    let writes = world.requests().writes().count();
    println!(
        "EKS: a creation takes {own:?} beyond EKS's own time, {} calls of AWS and {writes} writes: {calls:?}",
        calls.values().sum::<u64>()
    );
    assert!(own <= OWN, "{own:?}");
    let waiting = took.as_secs() / 30;
    let all: u64 = calls.values().sum();
    assert!(all <= waiting + 60, "{all} calls in {took:?}: {calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_at_rest_costs_one_look_in_five_minutes() {
    let world = World::of_eks(json!({
        "addons": [{ "name": "vpc-cni" }, { "name": "kube-proxy" }],
        "oidcProvider": true,
    }))
    .await;
    world.waits_long(Duration::from_mins(15)).await;
    world.forgets();
    world.waits_long(Duration::from_hours(3)).await;
    let (calls, requests) = (world.aws_calls(), world.requests());
    let all: u64 = calls.values().sum();
    println!("EKS: {all} calls of AWS in three hours at rest: {calls:?}");
    println!("EKS: {} writes to Kubernetes in three hours at rest", requests.clone().writes().count());
    assert!(all <= 3 * 12 + 1, "{calls:?}");
    assert!(requests.writes().count() <= 3 * 8, "only tokens");
}
