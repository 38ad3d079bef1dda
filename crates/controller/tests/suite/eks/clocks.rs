//! A manager whose clock differs from that of AWS or of the API server: FooCluster and FooControlPlane name it.

use super::{CLUSTER, NS, World};
use foo_api::FooCluster;
use serde_json::json;
use std::time::Duration;

impl World {
    /// The messages of `Ready` of the FooCluster and of the FooControlPlane.
    fn messages_of_ready(&self) -> [String; 2] {
        let cluster = self.server.get::<FooCluster>(NS, CLUSTER).and_then(|it| it.status).unwrap_or_default();
        let ready = cluster.conditions.into_iter().find(|condition| condition.type_ == "Ready").unwrap();
        [ready.message, self.eks_condition(CLUSTER, "Ready").1]
    }

    async fn reports_clock_difference(&self, clock: &str) {
        self.waits_long(Duration::from_mins(15)).await;
        for message in self.messages_of_ready() {
            assert!(message.contains("the manager's clock is more than 20 minutes"), "{message}");
            assert!(message.contains(clock), "{message}");
        }
        assert!(self.eks_state("Ready").starts_with("True"), "{}", self.eks_summary());
        let notes = self.notes("ClocksDiffer");
        let of_this_clock = notes.iter().filter(|note| note.contains(clock)).count();
        assert_eq!(of_this_clock, 2, "once about each object: {notes:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_and_its_control_plane_name_awss_clock_for_as_long_as_it_differs() {
    let mut world = World::of_eks(json!({})).await;
    world.sets_the_clock_of_aws_ahead(-30);
    world.reports_clock_difference("AWS's in eu-central-1").await;
    world.sets_the_clock_of_aws_forward(30);
    world.waits_long(Duration::from_mins(75)).await;
    for message in world.messages_of_ready() {
        assert!(!message.contains("clock"), "{:#?}", world.messages_of_ready());
    }
}

#[tokio::test(start_paused = true)]
async fn a_cluster_and_its_control_plane_name_the_api_servers_clock() {
    let mut world = World::of_eks(json!({})).await;
    world.restarts_the_manager_with_clock_ahead(30);
    world.reports_clock_difference("the API server's").await;
}
