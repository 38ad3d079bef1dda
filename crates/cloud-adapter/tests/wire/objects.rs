//! S3 through the real SDK: against the simulator's wire, whose responses must equal what its own implementation of the trait says.

use crate::canned::settings;
use foo_cloud::{BucketOf, CloudError, ErrorKind, NewObject, Objects, Written};
use foo_cloud_adapter::AwsCloud;
use foo_simulator::{AccessKey, Handle, SimCloud, SimulatorConfig};
use std::collections::BTreeMap;

const REGION: &str = "eu-central-1";

struct World {
    server: Handle,
    wire: AwsCloud,
    direct: SimCloud,
    account: String,
}

impl World {
    async fn start() -> Self {
        let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
        let wire = AwsCloud::connect(settings(&server.endpoint())).await.unwrap();
        let simulator = server.simulator();
        simulator.put_key(AccessKey {
            id: "AKIAEXAMPLE".to_owned(),
            secret: "example".to_owned(),
            policy: None,
        });
        let region = simulator.region(REGION);
        let account = region.with(|region| {
            region.create_bucket("nodes");
            region.account.clone()
        });
        let account = account.unwrap();
        let direct = simulator.cloud(REGION, "AKIAEXAMPLE");
        Self { server, wire, direct, account }
    }

    fn bucket<'a>(&'a self, name: &'a str) -> BucketOf<'a> {
        BucketOf { name, owner: &self.account }
    }

    async fn put(&self, bucket: BucketOf<'_>, key: &str, content: &[u8]) -> Result<Written, CloudError> {
        let tags = BTreeMap::from([
            ("foo-node-role".to_owned(), "arn:aws:iam::1:role/path/a+b=c@d".to_owned()),
            ("infrastructure.foo.com/cluster".to_owned(), "ns/c".to_owned()),
        ]);
        self.wire.put_object(bucket, NewObject { key, content, tags: &tags }).await
    }
}

#[tokio::test]
async fn an_object_is_written_once_with_its_tags_and_deleted_as_often_as_one_likes() {
    let world = World::start().await;
    let nodes = world.bucket("nodes");
    let key = "a/foo-user-data/ns_c(1)_pool/0f";
    assert_eq!(world.put(nodes, key, b"one\xff").await.unwrap(), Written::New);
    assert_eq!(world.put(nodes, key, b"two").await.unwrap(), Written::Existed);
    let region = world.server.simulator().region(REGION);
    let object = region.with(|region| region.create_bucket("nodes").objects[key].clone()).unwrap();
    assert_eq!(object.content, b"one\xff");
    assert_eq!(object.tags["foo-node-role"], "arn:aws:iam::1:role/path/a+b=c@d");
    assert_eq!(object.tags["infrastructure.foo.com/cluster"], "ns/c");
    for _ in 0..2 {
        world.wire.delete_object(nodes, key).await.unwrap();
    }
    assert!(world.wire.list_objects(nodes, "").await.unwrap().is_empty());
}

#[tokio::test]
async fn lists_have_every_object_of_a_folder_and_no_other() {
    let world = World::start().await;
    let nodes = world.bucket("nodes");
    let region = world.server.simulator().region(REGION);
    region
        .with(|region| {
            let object = foo_simulator::core::objects::Object {
                content: Vec::new(),
                tags: BTreeMap::new(),
                modified: foo_model::Timestamp(1_767_225_600_000),
            };
            let objects = &mut region.create_bucket("nodes").objects;
            objects.extend((0..2_500).map(|number| (format!("g/{number:04}"), object.clone())));
            objects.insert("g-2/0".to_owned(), object);
        })
        .unwrap();
    let found = world.wire.list_objects(nodes, "g/").await.unwrap();
    assert_eq!(found.len(), 2_500);
    assert_eq!(found, world.direct.list_objects(nodes, "g/").await.unwrap());
}

#[tokio::test]
async fn refusals_have_their_kinds() {
    let world = World::start().await;
    let absent = world.bucket("absent");
    let theirs = BucketOf { name: "nodes", owner: "999999999999" };
    let kinds = |error: CloudError| error.kind;
    assert_eq!(world.put(absent, "k", b"").await.map_err(kinds), Err(ErrorKind::NotFound));
    assert_eq!(world.wire.list_objects(absent, "").await.map_err(kinds), Err(ErrorKind::NotFound));
    assert_eq!(world.wire.delete_object(absent, "k").await.map_err(kinds), Err(ErrorKind::NotFound));
    assert_eq!(world.put(theirs, "k", b"").await.map_err(kinds), Err(ErrorKind::Denied));
    assert_eq!(world.wire.list_objects(theirs, "").await.map_err(kinds), Err(ErrorKind::Denied));
    assert_eq!(world.wire.delete_object(theirs, "k").await.map_err(kinds), Err(ErrorKind::Denied));
}

/// With exactly the policy that users attach.
#[tokio::test]
async fn the_generated_policy_allows_the_own_folder_and_nothing_else() {
    let world = World::start().await;
    let policy = include_str!("../../../../docs/reference/iam-user-data-policy.json");
    world.server.simulator().put_key(AccessKey {
        id: "AKIAEXAMPLE".to_owned(),
        secret: "example".to_owned(),
        policy: Some(serde_json::from_str(policy).unwrap()),
    });
    let nodes = world.bucket("nodes");
    let kinds = |error: CloudError| error.kind;
    world.put(nodes, "a/foo-user-data/g/0f", b"").await.unwrap();
    assert_eq!(world.wire.list_objects(nodes, "a/foo-user-data/g/").await.unwrap().len(), 1);
    world.wire.delete_object(nodes, "a/foo-user-data/g/0f").await.unwrap();
    assert_eq!(world.put(nodes, "a/others/0f", b"").await.map_err(kinds), Err(ErrorKind::Denied));
    assert_eq!(world.wire.list_objects(nodes, "").await.map_err(kinds), Err(ErrorKind::Denied));
    assert_eq!(world.wire.delete_object(nodes, "a/others/0f").await.map_err(kinds), Err(ErrorKind::Denied));
}
