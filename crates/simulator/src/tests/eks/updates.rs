//! Updates: one at a time, one type in a call, none that changes nothing; versions go up by one.

use super::scene::{world, world_with};
use crate::core::eks::cluster::InsightFact;
use crate::core::network::{PRIVATE_SUBNETS, PUBLIC_SUBNETS};
use crate::core::rules::eks::InsightsFilter;
use crate::tests::scene::refusal;
use crate::wire::eks::requests::Encrypt;
use foo_model::SubnetId;
use foo_model::eks::{AuthenticationMode, ClusterStatus, InsightStatus, SupportType, UpdateStatus};
use serde_json::{Value, json};
use std::time::Duration;

/// kubernetes-sigs/cluster-api-provider-aws waits for UPDATING; cloud-custodian/cloud-custodian#9250.
#[test]
fn one_update_at_a_time_and_the_status_shows_it_a_moment_later() {
    let world = world();
    world.active(json!({}));
    let logging = json!({ "logging": { "clusterLogging": [{ "types": ["api"], "enabled": true }] } });
    let update = world.configure(logging.clone()).expect("begun");
    assert_eq!(world.main().status, ClusterStatus::Active);
    assert_eq!(
        refusal(world.configure(logging.clone())),
        (
            "ResourceInUseException".into(),
            "Cannot LoggingUpdate because cluster main currently has update in progress".into()
        )
    );
    assert_eq!(refusal(world.upgrade(json!({ "version": "1.34" }))).0, "ResourceInUseException");
    world.wait(2);
    assert_eq!(world.main().status, ClusterStatus::Updating);
    assert_eq!(world.status_of(&update), UpdateStatus::InProgress);
    assert!(world.main().logs.is_empty());
    world.wait(178);
    assert_eq!(
        (world.main().status, world.status_of(&update)),
        (ClusterStatus::Active, UpdateStatus::Successful)
    );
    assert_eq!(world.main().logs.len(), 1);
    assert_eq!(
        refusal(world.configure(logging)),
        ("InvalidParameterException".into(), "No changes needed for the logging config provided".into())
    );
}

#[test]
fn a_token_belongs_to_the_request_and_not_to_what_it_changes_in_the_cluster() {
    let world = world();
    world.active(json!({}));
    let access = |changed: Value| json!({ "resourcesVpcConfig": changed, "clientRequestToken": "t" });
    let request = access(json!({ "endpointPrivateAccess": true }));
    let first = world.configure(request.clone()).expect("begun");
    world.wait(600);
    world.configure(json!({ "resourcesVpcConfig": { "endpointPublicAccess": false } })).expect("another");
    world.wait(600);
    assert_eq!(world.configure(request).expect("the same request").id, first.id);
    assert!(!world.main().endpoint.public, "it is not carried out again");
    let other = access(json!({ "endpointPrivateAccess": true, "endpointPublicAccess": true }));
    assert_eq!(refusal(world.configure(other)).0, "InvalidParameterException");
}

/// kubernetes-sigs/cluster-api-provider-aws#3553, boto/boto3#2592.
#[test]
fn one_type_of_update_in_a_call_and_none_that_changes_nothing() {
    let world = world();
    world.active(json!({}));
    let two = json!({ "deletionProtection": true, "zonalShiftConfig": { "enabled": true } });
    assert_eq!(refusal(world.configure(two)).1, "Only one type of update can be allowed.");
    let both =
        json!({ "resourcesVpcConfig": { "subnetIds": PRIVATE_SUBNETS, "endpointPrivateAccess": true } });
    assert_eq!(refusal(world.configure(both)).1, "Only one type of update can be allowed.");
    assert_eq!(refusal(world.configure(json!({}))).1, "Invalid type for cluster update.");
    for same in [
        json!({ "resourcesVpcConfig": { "endpointPublicAccess": true } }),
        json!({ "resourcesVpcConfig": { "subnetIds": PRIVATE_SUBNETS } }),
        json!({ "accessConfig": { "authenticationMode": "API" } }),
        json!({ "upgradePolicy": { "supportType": "EXTENDED" } }),
        json!({ "zonalShiftConfig": { "enabled": false } }),
        json!({ "deletionProtection": false }),
    ] {
        let (code, message) = refusal(world.configure(same));
        assert_eq!(code, "InvalidParameterException");
        assert!(message.starts_with("Cluster is already at the desired configuration with "), "{message}");
    }
}

#[test]
fn each_type_of_update_does_what_it_says() {
    let world = world();
    world.active(json!({ "accessConfig": { "authenticationMode": "CONFIG_MAP" } }));
    let done = |body| {
        let update = world.configure(body).expect("begun");
        world.wait(180);
        assert_eq!(world.status_of(&update), UpdateStatus::Successful);
        let name: &str = update.kind.into();
        name
    };
    let private =
        json!({ "resourcesVpcConfig": { "endpointPublicAccess": false, "endpointPrivateAccess": true } });
    assert_eq!(done(private), "EndpointAccessUpdate");
    assert_eq!(done(json!({ "zonalShiftConfig": { "enabled": true } })), "ZonalShiftConfigUpdate");
    assert_eq!(done(json!({ "deletionProtection": true })), "DeletionProtectionUpdate");
    assert_eq!(done(json!({ "upgradePolicy": { "supportType": "STANDARD" } })), "UpgradePolicyUpdate");
    let both = json!({ "accessConfig": { "authenticationMode": "API_AND_CONFIG_MAP" } });
    let skipping = json!({ "accessConfig": { "authenticationMode": "API" } });
    assert!(refusal(world.configure(skipping.clone())).1.contains("from CONFIG_MAP to API"));
    assert_eq!(done(both.clone()), "AccessConfigUpdate");
    assert_eq!(done(skipping), "AccessConfigUpdate");
    assert!(refusal(world.configure(both)).1.contains("from API to API_AND_CONFIG_MAP"));
    let main = world.main();
    assert!(!main.endpoint.public && main.endpoint.private && main.zonal_shift && main.deletion_protection);
    assert_eq!((main.support, main.authentication), (SupportType::Standard, AuthenticationMode::Api));
    // The hidden right of the creator has become an entry.
    assert!(main.entries.contains_key(super::scene::CALLER));
}

#[test]
fn encryption_is_associated_once() {
    let world = world();
    world.active(json!({}));
    let body = json!({ "encryptionConfig": [
        { "resources": ["secrets"], "provider": { "keyArn": "arn:aws:kms:eu-central-1:123456789012:key/1" } },
    ]});
    let associate = || {
        let key = super::scene::request::<Encrypt>(body.clone()).key()?;
        world.with(|region| region.associate_encryption("main", &key, None))
    };
    let update = associate().expect("begun");
    world.wait(180);
    assert_eq!(world.status_of(&update), UpdateStatus::Successful);
    assert!(world.main().key.is_some());
    assert_eq!(refusal(associate()).0, "InvalidParameterException");
}

/// EKS User Guide, "Change the subnets of a cluster": the same VPC and the same zones.
#[test]
fn subnets_move_within_their_zones_and_need_addresses() {
    let world = world();
    world.active(json!({}));
    let moved = |ids: &[&str]| json!({ "resourcesVpcConfig": { "subnetIds": ids } });
    assert!(refusal(world.configure(moved(&PUBLIC_SUBNETS[..2]))).1.contains("same set of AZs"));
    let full = SubnetId::new(PUBLIC_SUBNETS[2]);
    world.with(|region| region.fill_subnet(&full));
    let update = world.configure(moved(&PUBLIC_SUBNETS)).expect("begun");
    world.wait(180);
    assert_eq!(world.status_of(&update), UpdateStatus::Failed);
    let main = world.main();
    assert_eq!(main.updates[0].errors[0].code, "IpNotAvailable");
    assert_eq!(main.placement.subnets.first().map(SubnetId::as_str), Some(PRIVATE_SUBNETS[0]));
    assert_eq!(main.status, ClusterStatus::Active);
    let mixed = [PUBLIC_SUBNETS[0], PUBLIC_SUBNETS[1], PRIVATE_SUBNETS[2]];
    let update = world.configure(moved(&mixed)).expect("begun");
    world.wait(180);
    assert_eq!(world.status_of(&update), UpdateStatus::Successful);
    let all = world.with(|region| region.network_now()).interfaces;
    let own = all.values().filter(|it| it.description == "Amazon EKS main");
    let mut subnets: Vec<&str> = own.map(|it| it.subnet.as_str()).collect();
    subnets.sort_unstable();
    assert_eq!(subnets, [PRIVATE_SUBNETS[2], PUBLIC_SUBNETS[0], PUBLIC_SUBNETS[1]]);
}

/// EKS User Guide, "Update existing cluster to new Kubernetes version"; terraform-aws-modules/terraform-aws-eks#2607.
#[test]
fn a_version_goes_up_by_one_and_back_within_days() {
    let world = world();
    world.active(json!({}));
    for (wanted, words) in [
        ("1.35", "Unsupported Kubernetes minor version update from 1.33 to 1.35"),
        ("1.33", "Unsupported Kubernetes minor version update from 1.33 to 1.33"),
        ("1.32", "Unsupported Kubernetes minor version update from 1.33 to 1.32"),
        ("1.99", "unsupported Kubernetes version"),
    ] {
        let refused = refusal(world.upgrade(json!({ "version": wanted })));
        assert_eq!(refused, ("InvalidParameterException".into(), words.into()));
    }
    let update = world.upgrade(json!({ "version": "1.34" })).expect("begun");
    world.wait(719);
    assert_eq!(world.main().version.to_string(), "1.33");
    world.wait(1);
    assert_eq!(world.main().version.to_string(), "1.34");
    assert_eq!(world.status_of(&update), UpdateStatus::Successful);
    let back = world.upgrade(json!({ "version": "1.33" })).expect("begun");
    let kind: &str = back.kind.into();
    assert_eq!(kind, "VersionRollback");
    world.wait(720);
    assert_eq!(world.main().version.to_string(), "1.33");
    assert_eq!(refusal(world.upgrade(json!({ "version": "1.32" }))).0, "InvalidParameterException");
    world.upgrade(json!({ "version": "1.34" })).expect("begun");
    world.wait(720 + 8 * 24 * 3600);
    assert_eq!(refusal(world.upgrade(json!({ "version": "1.33" }))).0, "InvalidParameterException");
}

#[test]
fn an_insight_with_an_error_blocks_unless_forced() {
    let world = world();
    world.active(json!({}));
    let insight = |status: &str| {
        serde_json::from_value::<Vec<InsightFact>>(json!([
            { "name": "Deprecated APIs", "kubernetesVersion": "1.34", "status": status, "reason": "used" },
        ]))
    };
    assert!(insight("BAD").is_err());
    let of_nothing =
        json!([{ "name": "x", "category": "BAD", "kubernetesVersion": "1.34", "status": "ERROR" }]);
    let of_nothing = serde_json::from_value(of_nothing).expect("insights");
    assert!(world.0.region.set_cluster_insights("main", of_nothing).is_err());
    world.0.region.set_cluster_insights("main", insight("ERROR").expect("insights")).expect("set");
    let (code, message) = refusal(world.upgrade(json!({ "version": "1.34" })));
    assert_eq!(code, "InvalidStateException");
    assert!(message.contains("Deprecated APIs"), "{message}");
    world.upgrade(json!({ "version": "1.34", "force": true })).expect("forced");
}

/// EKS User Guide, "Understand the Kubernetes version lifecycle on EKS": 1.31 is in extended support until 2026-11-26.
#[test]
fn aws_updates_at_the_end_of_support_as_the_policy_says() {
    let world = world();
    world.active(json!({ "version": "1.32", "upgradePolicy": { "supportType": "STANDARD" } }));
    let days = |days: u64| days * 24 * 3600;
    // 2026-03-23 is day 81 after 2026-01-01.
    world.wait(days(81) + 720);
    assert_eq!(world.main().version.to_string(), "1.33");
    assert_eq!(refusal(world.upgrade(json!({ "version": "1.32" }))).0, "InvalidParameterException");
    let patient = super::scene::world();
    patient.active(json!({ "version": "1.32" }));
    patient.wait(days(200));
    assert_eq!(patient.main().version.to_string(), "1.32");
    patient.0.region.upgrade_by_aws("main").expect("begun");
    patient.wait(720);
    assert_eq!(patient.main().version.to_string(), "1.33");
}

#[test]
fn the_same_token_updates_once_and_an_update_fails_when_configured() {
    let world = world_with(|settings| settings.eks.config_update = Duration::from_secs(30));
    world.active(json!({}));
    let mishap = json!([{ "what": "Update", "issue": { "code": "OperationNotPermitted", "message": "no" } }]);
    world.0.region.set_eks_mishaps(serde_json::from_value(mishap).expect("rules")).expect("set");
    let body = json!({ "deletionProtection": true, "clientRequestToken": "t" });
    let first = world.configure(body.clone()).expect("begun");
    assert_eq!(world.configure(body).expect("the same").id, first.id);
    world.wait(30);
    assert_eq!(world.status_of(&first), UpdateStatus::Failed);
    assert!(!world.main().deletion_protection);
    assert_eq!(world.with(|region| region.updates_seen("main", None)).expect("known"), [first.id]);
}

#[test]
fn insights_are_refreshed_once_a_day_or_when_they_are_asked_to_be() {
    let world = world_with(|settings| settings.eks.insights_period = Duration::from_hours(24));
    world.active(json!({}));
    let set = |status: &str| {
        let fact = json!([{ "name": "apis", "category": "UPGRADE_READINESS", "kubernetesVersion": "1.34", "status": status, "reason": "r", "recommendation": "r" }]);
        let facts = serde_json::from_value(fact).expect("facts");
        world.with(|region| region.set_cluster_insights("main", facts)).expect("set");
    };
    let shown = || {
        let filter = InsightsFilter::default();
        let all = world.with(|region| region.insights_seen("main", &filter)).expect("insights");
        all.iter().find(|it| it.name == "apis").map(|it| it.status)
    };
    set("ERROR");
    assert_eq!(shown(), None);
    world.wait(24 * 3_600);
    assert_eq!(shown(), Some(InsightStatus::Error));
    set("PASSING");
    world.wait(3_600);
    assert_eq!(shown(), Some(InsightStatus::Error));
    world.with(|region| region.refresh_insights("main")).expect("begun");
    assert_eq!(shown(), Some(InsightStatus::Error));
    world.wait(60);
    assert_eq!(shown(), Some(InsightStatus::Passing));
}
