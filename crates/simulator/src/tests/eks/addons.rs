//! Add-ons.

use super::scene::{NODES, World, request, world, world_with};
use crate::core::eks::Nodes;
use crate::core::eks::cluster::{ClusterAddon, Update};
use crate::core::error::AwsResult;
use crate::tests::scene::refusal;
use crate::wire::eks::addons::AddonRequest;
use foo_model::eks::{AddonStatus, UpdateStatus};
use serde_json::{Value, json};

impl World {
    fn addon(&self, body: Value) -> AwsResult<ClusterAddon> {
        let (request, principals) = (request::<AddonRequest>(body), self.principals());
        let (name, new, tags) = request.creation();
        self.with(|region| region.create_addon("main", &name, &new, &tags, None, &principals))
    }

    fn change_addon(&self, name: &str, body: Value) -> AwsResult<Update> {
        let (request, principals) = (request::<AddonRequest>(body), self.principals());
        let new = request.update()?;
        self.with(|region| region.update_addon("main", name, &new, None, &principals))
    }

    fn addon_state(&self, name: &str) -> (AddonStatus, Vec<String>) {
        self.with(|region| {
            let (_, status, issues) = region.addon_seen("main", name).expect("it is there");
            (status, issues.into_iter().map(|it| it.code).collect())
        })
    }
}

#[test]
fn an_add_on_is_created_in_its_default_version_and_updated() {
    let world = world();
    world.active(json!({ "bootstrapSelfManagedAddons": false }));
    let made = world.addon(json!({ "addonName": "vpc-cni" })).expect("made");
    assert_eq!(made.spec.version, "v1.20.4-eksbuild.2");
    assert_eq!(world.addon_state("vpc-cni").0, AddonStatus::Creating);
    let newer = json!({ "addonVersion": "v1.21.1-eksbuild.1", "configurationValues": "env:\n  A: b\n" });
    let (code, message) = refusal(world.change_addon("vpc-cni", newer.clone()));
    assert_eq!(code, "ResourceInUseException");
    assert!(message.contains("as it is currently in CREATING state"), "{message}");
    world.wait(60);
    assert_eq!(world.addon_state("vpc-cni"), (AddonStatus::Active, vec![]));
    let update = world.change_addon("vpc-cni", newer).expect("begun");
    assert_eq!(world.addon_state("vpc-cni").0, AddonStatus::Updating);
    // The cluster's own updates are others.
    world.configure(json!({ "deletionProtection": true })).expect("begun");
    world.wait(60);
    assert_eq!(world.status_of(&update), UpdateStatus::Successful);
    assert_eq!(world.main().addons["vpc-cni"].spec.version, "v1.21.1-eksbuild.1");
    assert_eq!(world.main().addons["vpc-cni"].spec.settings.configuration.as_deref(), Some("env:\n  A: b\n"));
    assert_eq!(refusal(world.addon(json!({ "addonName": "vpc-cni" }))).1, "Addon already exists.");
}

/// aws/containers-roadmap#1411, eksctl-io/eksctl#5880.
#[test]
fn creation_over_an_unmanaged_copy_fails_unless_it_overwrites() {
    let world = world();
    world.active(json!({}));
    let preserve = json!({ "addonName": "vpc-cni", "resolveConflicts": "PRESERVE" });
    assert_eq!(
        refusal(world.addon(preserve)).1,
        "Resolve conflicts option preserve is not supported for operation CreateAddon"
    );
    world.addon(json!({ "addonName": "vpc-cni" })).expect("begun");
    world.wait(60);
    assert_eq!(
        world.addon_state("vpc-cni"),
        (AddonStatus::CreateFailed, vec!["ConfigurationConflict".to_owned()])
    );
    world.with(|region| region.delete_addon("main", "vpc-cni", false)).expect("deleted");
    assert_eq!(world.addon_state("vpc-cni").0, AddonStatus::Deleting);
    world.wait(60);
    let overwrite = json!({ "addonName": "vpc-cni", "resolveConflicts": "OVERWRITE" });
    world.addon(overwrite).expect("made");
    world.wait(60);
    assert_eq!(world.addon_state("vpc-cni").0, AddonStatus::Active);
    // What stays in the cluster after a deletion is a copy again.
    world.with(|region| region.delete_addon("main", "vpc-cni", true)).expect("deleted");
    world.wait(60);
    world.addon(json!({ "addonName": "vpc-cni" })).expect("begun");
    world.wait(60);
    assert_eq!(world.addon_state("vpc-cni").0, AddonStatus::CreateFailed);
}

/// kubernetes-sigs/cluster-api-provider-aws#5269.
#[test]
fn coredns_is_active_where_nodes_are_assumed() {
    let world = world_with(|settings| settings.eks.nodes = Nodes::Assumed);
    world.active(json!({}));
    world.addon(json!({ "addonName": "coredns", "resolveConflicts": "OVERWRITE" })).expect("made");
    world.wait(60);
    assert_eq!(world.addon_state("coredns"), (AddonStatus::Active, vec![]));
}

#[test]
fn coredns_without_nodes_stays_creating_and_then_is_degraded() {
    let world = world();
    world.active(json!({}));
    world.addon(json!({ "addonName": "coredns", "resolveConflicts": "OVERWRITE" })).expect("made");
    world.wait(60);
    let waiting = vec!["InsufficientNumberOfReplicas".to_owned()];
    assert_eq!(world.addon_state("coredns"), (AddonStatus::Creating, waiting.clone()));
    world.wait(1_200);
    assert_eq!(world.addon_state("coredns"), (AddonStatus::Degraded, waiting));
    world.0.settled_pool((1, 1, 1));
    let id = world.0.in_service().remove(0);
    world.with(|region| region.tag_instance(&id, "kubernetes.io/cluster/main", "owned"));
    assert_eq!(world.addon_state("coredns"), (AddonStatus::Active, vec![]));
    let bad = json!([{ "code": "ClusterUnreachable", "message": "no" }]);
    let bad = serde_json::from_value(bad).expect("issues");
    world.0.region.set_addon_health("main", "coredns", bad).expect("set");
    assert_eq!(world.addon_state("coredns").0, AddonStatus::Degraded);
}

#[test]
fn what_does_not_fit_is_refused_in_eks_words() {
    let world = world();
    world.active(json!({}));
    for (body, words) in [
        (json!({ "addonName": "nothing" }), "Addon specified is not supported"),
        (
            json!({ "addonName": "kube-proxy", "addonVersion": "v1.31.10-eksbuild.12" }),
            "Addon version specified is not supported",
        ),
        (
            json!({ "addonName": "coredns", "configurationValues": "{\"replicaCount\":\"3\"}" }),
            "ConfigurationValue provided in request is not supported: Json schema validation failed with error: \
             [$.replicaCount: string found, integer expected]",
        ),
        (
            json!({ "addonName": "vpc-cni", "serviceAccountRoleArn": "arn:aws:iam::1:role/x" }),
            "The role arn:aws:iam::1:role/x does not exist.",
        ),
    ] {
        assert_eq!(refusal(world.addon(body)), ("InvalidParameterException".into(), words.into()));
    }
    assert!(world.main().addons.is_empty());
}

#[test]
fn pod_identities_of_an_add_on_are_left_replaced_or_deleted() {
    let world = world();
    world.active(json!({}));
    let pods = json!([{ "serviceAccount": "aws-node", "roleArn": NODES }]);
    let body =
        json!({ "addonName": "vpc-cni", "resolveConflicts": "OVERWRITE", "podIdentityAssociations": pods });
    let made = world.addon(body).expect("made");
    assert_eq!(made.spec.pod_identities.len(), 1);
    world.wait(60);
    world.change_addon("vpc-cni", json!({})).expect("begun");
    world.wait(60);
    assert_eq!(world.main().pod_identities.len(), 1);
    world.change_addon("vpc-cni", json!({ "podIdentityAssociations": [] })).expect("begun");
    world.wait(60);
    assert!(world.main().pod_identities.is_empty());
    assert!(world.main().addons["vpc-cni"].spec.pod_identities.is_empty());
    world.change_addon("vpc-cni", json!({ "podIdentityAssociations": pods })).expect("begun");
    world.wait(60);
    world.with(|region| region.delete_addon("main", "vpc-cni", false)).expect("deleted");
    world.wait(60);
    assert!(world.main().pod_identities.is_empty() && world.main().addons.is_empty());
}

#[test]
fn an_update_without_a_role_takes_the_role_of_an_add_on_away() {
    let world = world();
    world.active(json!({}));
    let body =
        json!({ "addonName": "vpc-cni", "resolveConflicts": "OVERWRITE", "serviceAccountRoleArn": NODES });
    world.addon(body).expect("made");
    world.wait(60);
    world.change_addon("vpc-cni", json!({ "serviceAccountRoleArn": NODES })).expect("begun");
    world.wait(60);
    assert_eq!(world.main().addons["vpc-cni"].spec.settings.service_account_role.as_deref(), Some(NODES));
    world.change_addon("vpc-cni", json!({})).expect("begun");
    world.wait(60);
    assert_eq!(world.main().addons["vpc-cni"].spec.settings.service_account_role, None);
}

#[test]
fn creations_and_updates_fail_when_configured() {
    let world = world();
    world.active(json!({ "bootstrapSelfManagedAddons": false }));
    let issue = json!({ "code": "AdmissionRequestDenied", "message": "no" });
    let rules = json!([
        { "what": "AddonCreation", "addon": "kube-proxy", "issue": issue },
        { "what": "AddonUpdate", "cluster": "main", "issue": issue },
    ]);
    world.0.region.set_eks_mishaps(serde_json::from_value(rules).expect("rules")).expect("set");
    world.addon(json!({ "addonName": "vpc-cni" })).expect("made");
    world.addon(json!({ "addonName": "kube-proxy" })).expect("begun");
    world.wait(60);
    assert_eq!(world.addon_state("vpc-cni").0, AddonStatus::Active);
    let denied = vec!["AdmissionRequestDenied".to_owned()];
    assert_eq!(world.addon_state("kube-proxy"), (AddonStatus::CreateFailed, denied.clone()));
    let update = world.change_addon("vpc-cni", json!({})).expect("begun");
    world.wait(60);
    assert_eq!(world.status_of(&update), UpdateStatus::Failed);
    assert_eq!(world.addon_state("vpc-cni"), (AddonStatus::UpdateFailed, denied));
}
