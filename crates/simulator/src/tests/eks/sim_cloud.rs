//! Clusters behind the trait: faults, lost responses and counts apply to their calls as to all others.

use super::scene::{ROLE, World, world, world_with};
use super::tokens::sts_at;
use crate::core::network::PRIVATE_SUBNETS;
use crate::tests::scene::REGION;
use crate::{AccessKey, Fault, FaultRule, SimCloud};
use foo_cloud::{Clusters as _, ErrorKind};
use foo_model::eks::{
    AccessPolicy, AccessScope, AuthenticationMode, Change, ClusterChange, ClusterStatus, EndpointAccess,
    EntryChange, EntryKind, IpFamily, LogType, Minor, NewCluster, NewEntry, Placement, Query, QueryResult,
    SupportType,
};
use foo_model::network::Tags;
use serde_json::json;
use std::collections::BTreeSet;

const ALICE: &str = "arn:aws:iam::123456789012:user/alice";

fn cloud(world: &World) -> SimCloud {
    world.0.sim.cloud(REGION, "manager")
}

fn new_cluster() -> NewCluster {
    NewCluster {
        version: Some(Minor(33)),
        role_arn: ROLE.to_owned(),
        placement: Placement {
            subnets: PRIVATE_SUBNETS.iter().map(|id| (*id).into()).collect(),
            security_groups: BTreeSet::new(),
        },
        access: EndpointAccess {
            public: true,
            private: true,
            public_cidrs: BTreeSet::from(["203.0.113.0/24".to_owned()]),
        },
        service_ipv4: Some("10.200.0.0/16".to_owned()),
        ip_family: IpFamily::Ipv4,
        authentication_mode: AuthenticationMode::Api,
        creator_is_admin: false,
        self_managed_addons: false,
        logging: BTreeSet::from([LogType::Audit]),
        encryption_key: Some("arn:aws:kms:eu-central-1:123456789012:key/k".to_owned()),
        upgrade_policy: Some(SupportType::Standard),
        zonal_shift: Some(true),
        deletion_protection: true,
        scaling_tier: None,
        tags: Tags::from([("k".to_owned(), "v".to_owned())]),
    }
}

fn of_cluster(change: ClusterChange) -> Change {
    Change::Cluster { cluster: "main".to_owned(), change }
}

fn create() -> Change {
    of_cluster(ClusterChange::Create(Box::new(new_cluster())))
}

fn of_entry(principal: String, change: EntryChange) -> Change {
    Change::Entry { cluster: "main".to_owned(), principal, change }
}

async fn main(cloud: &SimCloud) -> Option<foo_model::eks::Cluster> {
    match cloud.describe_eks(&Query::Cluster("main".to_owned())).await.expect("a response") {
        QueryResult::Cluster(found) => found.map(|found| *found),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_cluster_is_created_as_asked_once_per_token() {
    let world = world();
    let cloud = cloud(&world);
    assert_eq!(main(&cloud).await, None, "a missing cluster is an empty result");
    let made = cloud.change_eks(&create(), Some("t")).await.expect("created").cluster.expect("shown");
    let again = cloud.change_eks(&create(), Some("t")).await.expect("the same").cluster.expect("shown");
    assert_eq!((made.status, &made.endpoint), (ClusterStatus::Creating, &None));
    assert_eq!(made, again);
    world.wait(600);
    let shown = main(&cloud).await.expect("there");
    let asked = new_cluster();
    assert_eq!(shown.status, ClusterStatus::Active);
    assert!(shown.endpoint.is_some() && shown.certificate_authority.is_some() && shown.oidc_issuer.is_some());
    assert_eq!((&shown.placement, &shown.access), (&asked.placement, &asked.access));
    assert_eq!((&shown.logging, &shown.encryption_key), (&asked.logging, &asked.encryption_key));
    assert_eq!((shown.upgrade_policy, shown.zonal_shift), (SupportType::Standard, true));
    assert_eq!((shown.deletion_protection, &shown.tags), (true, &asked.tags));
    assert_eq!(shown.service_ipv4, asked.service_ipv4);
    let other = cloud.change_eks(&create(), Some("other")).await;
    assert_eq!(other.expect_err("taken").kind, ErrorKind::AlreadyExists);
    let protected = cloud.change_eks(&of_cluster(ClusterChange::Delete), None).await;
    assert_eq!(protected.expect_err("protected").kind, ErrorKind::Invalid);
}

#[tokio::test]
async fn a_lost_response_leaves_what_was_created_and_pages_cost_calls() {
    let world = world();
    let cloud = cloud(&world);
    world.0.sim.add_fault(FaultRule::on("CreateCluster", Fault::DroppedAfter).times(1));
    assert_eq!(
        cloud.change_eks(&create(), Some("t")).await.expect_err("no response").kind,
        ErrorKind::LostResponse
    );
    assert!(main(&cloud).await.is_some());
    world.wait(600);
    for n in 0..150 {
        let principal = format!("arn:aws:iam::123456789012:role/r{n}");
        let new = NewEntry {
            kind: EntryKind::Standard,
            username: None,
            groups: BTreeSet::new(),
            tags: Tags::new(),
        };
        let entry = of_entry(principal, EntryChange::Create(new));
        cloud.change_eks(&entry, Some(&format!("t{n}"))).await.expect("an entry");
    }
    let entries = cloud.describe_eks(&Query::AccessEntries("main".to_owned())).await.expect("listed");
    assert!(matches!(entries, QueryResult::Names(names) if names.len() == 150));
    assert_eq!(world.0.sim.calls("ListAccessEntries"), 2);
}

#[tokio::test]
async fn a_cloud_of_the_present_sees_what_others_do_not_see_yet() {
    let world = world_with(|settings| settings.read_lag = std::time::Duration::from_secs(10));
    let cloud = cloud(&world);
    cloud.change_eks(&create(), Some("t")).await.expect("created");
    let present = cloud.clone().of_the_present();
    assert!(main(&cloud).await.is_none() && main(&present).await.is_some());
    assert!(main(&cloud).await.is_none(), "others still do not see it");
    world.wait(10);
    assert!(main(&cloud).await.is_some());
}

#[tokio::test]
async fn what_is_not_offered_is_an_empty_response() {
    let world = world();
    let cloud = cloud(&world);
    for question in [
        Query::AddonReleases { addon: "nothing".to_owned(), kubernetes: Minor(33) },
        Query::AddonReleases { addon: "coredns".to_owned(), kubernetes: Minor(7) },
        Query::AddonSchema { addon: "coredns".to_owned(), version: "v0".to_owned() },
        Query::OidcProvider("arn:aws:iam::123456789012:oidc-provider/x".to_owned()),
        Query::Addons("main".to_owned()),
        Query::PodIdentity { cluster: "main".to_owned(), id: "a-1".to_owned() },
    ] {
        assert_eq!(cloud.describe_eks(&question).await.expect("a response"), question.nothing());
    }
}

#[tokio::test]
async fn the_token_of_a_known_key_is_signed_and_its_entry_is_mapped() {
    let world = world();
    let cloud = world.0.sim.cloud(REGION, "alice");
    let unsigned = cloud.cluster_token("main").await.expect("a token");
    world.active(json!({}));
    let secret = "secret".to_owned();
    world.0.sim.put_key(AccessKey { id: "alice".to_owned(), secret, policy: None });
    let policy = AccessPolicy {
        arn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy".to_owned(),
        scope: AccessScope::Namespaces(BTreeSet::from(["kube-*".to_owned()])),
    };
    let (cluster, principal) = ("main".to_owned(), ALICE.to_owned());
    let entry = EntryChange::Create(NewEntry {
        kind: EntryKind::Standard,
        username: Some("boss".to_owned()),
        groups: BTreeSet::from(["bosses".to_owned()]),
        tags: Tags::new(),
    });
    cloud.change_eks(&of_entry(principal.clone(), entry), Some("t")).await.expect("an entry");
    let associate = of_entry(principal.clone(), EntryChange::Associate(policy.clone()));
    cloud.change_eks(&associate, None).await.expect("associated");
    let policies = cloud.describe_eks(&Query::AccessPolicies { cluster, principal }).await.expect("listed");
    assert_eq!(policies, QueryResult::AccessPolicies(BTreeSet::from([policy])));

    let now = world.0.sim.now();
    let token = cloud.cluster_token("main").await.expect("a token");
    assert_eq!(token.lives, std::time::Duration::from_mins(15));
    let status = |token: &str| sts_at(&world.0.sim, "main", token, now).0;
    assert_eq!(status(&token.token), 200);
    let mappings = world.0.sim.access_mappings(REGION, "main");
    let alice = mappings.into_iter().find(|it| it.principal == ALICE).expect("has access");
    assert_eq!((alice.username.as_str(), alice.groups), ("boss", vec!["bosses".to_owned()]));
    assert_ne!(unsigned.token, token.token);
    let other = cloud.cluster_token("other").await.expect("a token");
    assert_eq!(status(&other.token), 403, "of another cluster");
}
