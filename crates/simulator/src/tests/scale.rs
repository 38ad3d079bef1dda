//! Size: a thousand groups with ten thousand instances.

use super::scene::{REGION, Scene, source};
use crate::core::network::PRIVATE_SUBNETS;
use crate::core::rules::group::operations::{NewGroup, SettingsChange};
use crate::wire::{WireRequest, WireResponse, respond};
use crate::{Simulator, SimulatorConfig};
use foo_model::{Protection, SubnetId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A page of 100 groups with ten instances each. The limit is generous: this is a debug build on a busy machine.
const PAGE_LIMIT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn a_thousand_groups_are_quick_to_read() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    let scene = Scene { sim: sim.clone(), region: sim.region(REGION) };
    let template = scene.template("all", "m7i.large");
    let start = Instant::now();
    for n in 0..1_000 {
        let new = NewGroup {
            name: format!("pool-{n:04}").into(),
            min: 0,
            max: 10,
            desired: Some(10),
            source: Some(source(&template, Some("1"))),
            subnets: PRIVATE_SUBNETS.map(SubnetId::from).to_vec(),
            new_instances: Protection::Protected,
            tags: BTreeMap::new(),
            settings: SettingsChange::default(),
            traffic_sources: [].into(),
            hooks: Vec::new(),
        };
        scene.create(new).expect("a group");
    }
    scene.wait(30);
    println!("1,000 groups with 10,000 instances: {:?}", start.elapsed());
    assert_eq!(scene.region.in_service_instances().len(), 10_000);

    let authorization =
        "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-central-1/autoscaling/aws4_request, Signature=0";
    let start = Instant::now();
    let request = WireRequest {
        authorization: Some(authorization),
        query: "",
        body: b"Action=DescribeAutoScalingGroups&Version=2011-01-01&MaxRecords=100",
        received: foo_model::Timestamp(0),
    };
    let WireResponse::Xml { status: 200, body, .. } = respond(&sim.world, request).await else {
        panic!("a response")
    };
    println!("a page of 100 groups, {} kB: {:?}", body.len() / 1000, start.elapsed());
    assert!(start.elapsed() < PAGE_LIMIT);
    assert_eq!(body.matches("<InstanceId>").count(), 1_000);
    assert!(body.contains("<NextToken>"));
}
