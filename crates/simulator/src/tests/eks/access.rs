//! Access entries, policies, pod identities and tags.

use super::scene::{CALLER, NODES, World, request, request_of, world, world_with};
use crate::Role;
use crate::core::eks::identities::{AccessEntry, PodIdentity};
use crate::core::error::AwsResult;
use crate::tests::scene::refusal;
use crate::wire::eks::requests::{Associate, CreatePodIdentity, UpdateEntry, UpdatePodIdentity};
use foo_model::eks::{AccessPolicy, AccessScope};
use serde_json::{Value, json};
use std::time::Duration;

impl World {
    fn entry(&self, body: Value) -> AwsResult<AccessEntry> {
        self.try_entry(body)
    }

    fn pod(&self, body: Value) -> AwsResult<PodIdentity> {
        let (request, principals) = (request::<CreatePodIdentity>(body), self.principals());
        let (new, session) = request.parts();
        self.with(|region| region.create_pod_identity("main", &new, &session, None, &principals))
    }
}

/// EKS API Reference, CreateAccessEntry, `username`.
#[test]
fn names_and_groups_are_generated_by_type() {
    let world = world();
    world.active(json!({}));
    let of_nodes = world.entry(json!({ "principalArn": NODES, "type": "EC2_LINUX" })).expect("made");
    assert_eq!(of_nodes.username, "system:node:{{EC2PrivateDNSName}}");
    assert_eq!(of_nodes.groups, ["system:nodes"]);
    let role = "arn:aws:iam::123456789012:role/people/ops";
    world
        .0
        .sim
        .put_role(serde_json::from_value(json!({ "name": "ops", "path": "/people/" })).expect("a role"));
    let plain = world.entry(json!({ "principalArn": role, "username": "" })).expect("made");
    assert_eq!(plain.username, "arn:aws:sts::123456789012:assumed-role/ops/{{SessionName}}");
    assert_eq!(
        refusal(world.entry(json!({ "principalArn": role }))),
        (
            "ResourceInUseException".into(),
            "The specified access entry resource is already in use on this cluster.".into()
        )
    );
    let update = |body| {
        let UpdateEntry { username, kubernetes_groups: groups, .. } = request(body);
        world.with(|region| region.update_access_entry("main", role, username.as_deref(), groups.as_ref()))
    };
    assert_eq!(
        update(json!({ "username": "ops", "kubernetesGroups": ["a"] })).expect("changed").username,
        "ops"
    );
    assert!(update(json!({ "username": "" })).expect("changed").username.contains("{{SessionName}}"));
    assert_eq!(
        refusal(update(json!({ "username": "system:x" }))).1,
        "The username must not begin with system:"
    );
    assert_eq!(
        refusal(update(json!({ "kubernetesGroups": ["system:masters"] }))).1,
        "The kubernetes group name system:masters is invalid, it cannot start with system:"
    );
}

#[test]
fn who_cannot_have_an_entry_is_refused() {
    let world = world();
    world.active(json!({}));
    let linked = "arn:aws:iam::123456789012:role/aws-service-role/x.amazonaws.com/AWSServiceRoleForX";
    assert!(refusal(world.entry(json!({ "principalArn": linked }))).1.contains("Service Linked Role"));
    let foreign = json!({ "principalArn": "arn:aws:iam::999999999999:role/x" });
    assert_eq!(refusal(world.entry(foreign)).1, "The specified principalArn is invalid: invalid principal.");
    let grouped = json!({ "principalArn": NODES, "type": "EC2_LINUX", "kubernetesGroups": ["x"] });
    assert_eq!(refusal(world.entry(grouped)).0, "InvalidParameterException");
    assert_eq!(
        refusal(world.with(|region| region.delete_access_entry("main", NODES))).0,
        "ResourceNotFoundException"
    );
}

#[test]
fn without_the_mode_there_are_no_entries_but_the_creator_gets_in() {
    let world = world();
    world.active(json!({ "accessConfig": { "authenticationMode": "CONFIG_MAP" } }));
    let (code, message) = refusal(world.entry(json!({ "principalArn": NODES })));
    assert_eq!(code, "InvalidRequestException");
    assert!(message.contains("must be set to one of [API, API_AND_CONFIG_MAP]"), "{message}");
    let creator = world.0.region.kubernetes_identity("main", CALLER, None).expect("has access");
    assert_eq!(creator.groups, ["system:masters"]);
    assert_eq!(world.0.region.kubernetes_identity("main", NODES, None), None);
}

/// terraform-aws-modules/terraform-aws-eks#3329.
#[test]
fn an_entry_is_bound_to_the_unique_id_of_its_role() {
    let world = world();
    world.active(json!({}));
    let role = || serde_json::from_value::<Role>(json!({ "name": "nodes" })).expect("a role");
    world.0.sim.put_role(role());
    world.entry(json!({ "principalArn": NODES, "type": "EC2_LINUX" })).expect("made");
    let id = || world.0.sim.role_unique_id("nodes");
    let enters = || world.0.region.kubernetes_identity("main", NODES, id().as_deref()).is_some();
    let first = id();
    assert!(first.is_some() && enters());
    world.0.sim.remove_role("nodes");
    assert_eq!(id(), None);
    world.0.sim.put_role(role());
    assert!(id().is_some() && id() != first && !enters());
    world.with(|region| region.delete_access_entry("main", NODES)).expect("deleted");
    world.entry(json!({ "principalArn": NODES, "type": "EC2_LINUX" })).expect("made again");
    assert!(enters());
}

#[test]
fn policies_are_associated_with_a_scope_and_go_with_their_entry() {
    let world = world();
    world.active(json!({}));
    let admin = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";
    assert!(world.main().entries[CALLER].policies.contains_key(admin), "the creator's");
    let associate = |principal: &str, policy: &str, scope: Value| {
        let request = json!({ "policyArn": policy, "accessScope": scope });
        let policy = request_of::<Associate>(request)?.policy()?;
        world.with(|region| region.associate_access_policy("main", principal, &policy))
    };
    let view = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy";
    associate(CALLER, view, json!({ "type": "cluster" })).expect("associated");
    associate(CALLER, view, json!({ "type": "cluster", "namespaces": [] })).expect("the same");
    let narrow = json!({ "type": "namespace", "namespaces": ["a*"] });
    associate(CALLER, view, narrow).expect("another scope");
    let scope = AccessScope::Namespaces(["a*".to_owned()].into());
    assert_eq!(world.main().entries[CALLER].policies[view].scope, scope);
    for bad in [
        json!({ "type": "namespace" }),
        json!({ "type": "namespace", "namespaces": [] }),
        json!({ "type": "cluster", "namespaces": ["a"] }),
        json!({ "type": "region" }),
        json!({}),
    ] {
        assert_eq!(refusal(associate(CALLER, view, bad)).0, "InvalidParameterException");
    }
    assert_eq!(
        refusal(associate(CALLER, "arn:x", json!({ "type": "cluster" }))).0,
        "InvalidParameterException"
    );
    assert_eq!(refusal(associate(NODES, view, json!({ "type": "cluster" }))).0, "ResourceNotFoundException");
    world.entry(json!({ "principalArn": NODES, "type": "EC2_LINUX" })).expect("made");
    assert_eq!(refusal(associate(NODES, view, json!({ "type": "cluster" }))).0, "InvalidParameterException");
    let with = |region: &mut crate::core::Region| region.access_entries_seen("main", Some(view));
    assert_eq!(world.with(with).expect("listed"), [CALLER]);
    world.with(|region| region.disassociate_access_policy("main", CALLER, view)).expect("gone");
    assert_eq!(
        refusal(world.with(|region| region.disassociate_access_policy("main", CALLER, view))).0,
        "ResourceNotFoundException"
    );
}

#[test]
fn a_service_account_has_one_role() {
    let world = world();
    world.active(json!({}));
    let body = json!({ "namespace": "apps", "serviceAccount": "web", "roleArn": NODES });
    let made = world.pod(body.clone()).expect("made");
    assert_eq!(refusal(world.pod(body)).0, "ResourceInUseException");
    let missing = json!({ "namespace": "apps", "serviceAccount": "x", "roleArn": "arn:aws:iam::1:role/x" });
    assert_eq!(refusal(world.pod(missing)).1, "Role provided in the request does not exist.");
    world.0.sim.put_role(
        serde_json::from_value(json!({ "name": "other", "services": ["ec2.amazonaws.com"] }))
            .expect("a role"),
    );
    let other = "arn:aws:iam::123456789012:role/other";
    let distrusted = json!({ "namespace": "apps", "serviceAccount": "x", "roleArn": other });
    assert!(refusal(world.pod(distrusted)).1.contains("Trust policy"));
    let (change, principals) = (json!({ "targetRoleArn": NODES }), world.principals());
    let session = request::<UpdatePodIdentity>(change).session();
    let changed =
        world.with(|region| region.update_pod_identity("main", &made.id, None, &session, &principals));
    assert_eq!(changed.expect("changed").target_role.as_deref(), Some(NODES));
    world.with(|region| region.delete_pod_identity("main", &made.id)).expect("deleted");
    assert!(world.main().pod_identities.is_empty());
}

#[test]
fn everything_with_an_arn_has_tags() {
    let world = world();
    world.active(json!({ "tags": { "a": "1" } }));
    let entry = world.entry(json!({ "principalArn": NODES, "type": "EC2_LINUX" })).expect("made");
    for arn in [world.main().arn, entry.arn] {
        let more = [("b".to_owned(), "2".to_owned())].into();
        world.with(|region| region.tag_eks_resource(&arn, &more)).expect("tagged");
        let tags = world.with(|region| region.tags_of_eks_resource(&arn)).expect("known");
        assert_eq!(tags["b"], "2");
        world.with(|region| region.untag_eks_resource(&arn, &["b".to_owned()])).expect("untagged");
        assert!(!world.with(|region| region.tags_of_eks_resource(&arn)).expect("known").contains_key("b"));
    }
    let missing = "arn:aws:eks:eu-central-1:123456789012:cluster/missing";
    let (code, _) = refusal(world.with(|region| region.tags_of_eks_resource(missing)));
    assert_eq!(code, "NotFoundException");
}

#[test]
fn a_policy_applies_later_than_its_association_is_listed() {
    let late = |settings: &mut crate::core::Settings| {
        settings.eks.policies_apply_after = Duration::from_secs(5);
        settings.eks.policies_apply_spread = Duration::from_secs(20);
    };
    let world = world_with(late);
    let access = json!({ "bootstrapClusterCreatorAdminPermissions": false, "authenticationMode": "API" });
    world.active(json!({ "accessConfig": access }));
    world.entry(json!({ "principalArn": CALLER })).expect("made");
    let policy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";
    let associate = AccessPolicy { arn: policy.to_owned(), scope: AccessScope::Cluster };
    world.with(|region| region.associate_access_policy("main", CALLER, &associate)).expect("associated");
    assert!(world.main().entries[CALLER].policies.contains_key(policy), "EKS lists it at once");
    let applies = || {
        let identity = world.0.region.kubernetes_identity("main", CALLER, None).expect("authenticated");
        identity.policies.contains_key(policy)
    };
    assert!(!applies(), "not before its time");
    world.wait(4);
    assert!(!applies(), "not before its time");
    // The same again neither speeds it up nor takes it away.
    world.with(|region| region.associate_access_policy("main", CALLER, &associate)).expect("associated");
    world.wait(21);
    assert!(applies());
    world.with(|region| region.associate_access_policy("main", CALLER, &associate)).expect("associated");
    assert!(applies());
}
