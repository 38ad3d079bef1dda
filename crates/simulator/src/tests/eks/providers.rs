//! Identity providers and scaling tiers.

use super::scene::{World, request, world, world_with};
use crate::core::eks::cluster::Update;
use crate::core::eks::versions::Offer;
use crate::core::error::AwsResult;
use crate::tests::scene::refusal;
use crate::wire::eks::requests::AssociateProvider;
use foo_model::eks::{ClusterStatus, IdentityProviderStatus, Minor, ScalingTier, UpdateStatus, UpdateType};
use serde_json::{Value, json};

fn body(other: Value) -> Value {
    let mut oidc = json!({ "identityProviderConfigName": "people", "issuerUrl": "https://id.example.com", "clientId": "k8s" });
    let Value::Object(other) = other else { panic!("not fields: {other}") };
    oidc.as_object_mut().expect("an object").extend(other);
    json!({ "oidc": oidc })
}

fn associate(world: &World, body: Value) -> AwsResult<Update> {
    let request = request::<AssociateProvider>(body);
    let token = request.client_request_token.clone();
    let new = request.provider()?;
    world.with(|region| region.associate_identity_provider("main", &new, token.as_deref()))
}

fn disassociate(world: &World, name: &str) -> AwsResult<Update> {
    world.with(|region| region.disassociate_identity_provider("main", name, None))
}

fn status(world: &World) -> Option<IdentityProviderStatus> {
    world.main().identity_provider.map(|it| it.config.status)
}

/// EKS User Guide, "Grant users access to Kubernetes with an external OIDC provider"; elastic/cloudbeat#3093.
#[test]
fn an_identity_provider_comes_and_goes_by_updates_of_the_cluster() {
    let world = world();
    world.active(json!({}));
    let begun = associate(&world, body(json!({}))).expect("begun");
    assert_eq!(begun.kind, UpdateType::AssociateIdentityProviderConfig);
    assert_eq!(status(&world), Some(IdentityProviderStatus::Creating));
    let busy = refusal(disassociate(&world, "people"));
    assert_eq!(
        busy,
        (
            "ResourceInUseException".into(),
            "Cannot DisassociateIdentityProviderConfig because cluster main currently has update in progress"
                .into()
        )
    );
    world.wait(2);
    assert_eq!(world.main().status, ClusterStatus::Updating);
    world.wait(600);
    assert_eq!(status(&world), Some(IdentityProviderStatus::Active));
    assert_eq!(
        (world.main().status, world.status_of(&begun)),
        (ClusterStatus::Active, UpdateStatus::Successful)
    );
    let begun = disassociate(&world, "people").expect("begun");
    assert_eq!(status(&world), Some(IdentityProviderStatus::Deleting));
    world.wait(600);
    assert_eq!((status(&world), world.status_of(&begun)), (None, UpdateStatus::Successful));
}

/// terraform-aws-modules/terraform-aws-eks#3328; hashicorp/terraform-provider-aws, `resourceIdentityProviderConfigDelete`.
#[test]
fn a_cluster_has_one_identity_provider_and_not_its_own_issuer() {
    let world = world();
    world.active(json!({}));
    assert_eq!(
        refusal(disassociate(&world, "people")),
        (
            "InvalidRequestException".into(),
            "Identity provider config is not associated with cluster main".into()
        )
    );
    let own = world.main().issuer("eu-central-1");
    let (code, words) = refusal(associate(&world, body(json!({ "issuerUrl": own }))));
    assert_eq!(code, "InvalidParameterException");
    assert!(words.contains("cannot be same as OpenID Connect (OIDC) issuer URL"), "{words}");
    for wrong in [
        json!({ "issuerUrl": "http://id.example.com" }),
        json!({ "issuerUrl": "https://id.example.com?tenant=a" }),
        json!({ "clientId": "" }),
        json!({ "identityProviderConfigName": "" }),
        json!({ "usernamePrefix": "system:" }),
        json!({ "groupsClaim": "groups", "groupsPrefix": "a-system:" }),
        json!({ "requiredClaims": { "": "a" } }),
        json!({ "requiredClaims": { "a": "" } }),
    ] {
        assert_eq!(refusal(associate(&world, body(wrong.clone()))).0, "InvalidParameterException", "{wrong}");
    }
    associate(&world, body(json!({}))).expect("begun");
    world.wait(600);
    let second = body(json!({ "identityProviderConfigName": "second" }));
    assert_eq!(refusal(associate(&world, second)).0, "InvalidRequestException");
    assert_eq!(refusal(disassociate(&world, "second")).0, "InvalidRequestException");
}

#[test]
fn an_update_of_the_identity_provider_that_fails_leaves_what_was_before() {
    let world = world();
    world.active(json!({}));
    let fails = |world: &World| {
        let rule = json!([{ "what": "Update", "issue": { "code": "Unknown", "message": "no" } }]);
        world.0.region.set_eks_mishaps(serde_json::from_value(rule).expect("rules")).expect("set");
    };
    fails(&world);
    let begun = associate(&world, body(json!({}))).expect("begun");
    world.wait(600);
    assert_eq!((status(&world), world.status_of(&begun)), (None, UpdateStatus::Failed));
    associate(&world, body(json!({}))).expect("begun");
    world.wait(600);
    fails(&world);
    disassociate(&world, "people").expect("begun");
    world.wait(600);
    assert_eq!(status(&world), Some(IdentityProviderStatus::Active));
}

#[test]
fn the_same_token_associates_once() {
    let world = world();
    world.active(json!({}));
    let mut request = body(json!({}));
    request["clientRequestToken"] = json!("t");
    let first = associate(&world, request.clone()).expect("begun");
    world.wait(600);
    assert_eq!(associate(&world, request).expect("the same request").id, first.id);
}

/// EKS User Guide, "Amazon EKS Provisioned Control Plane".
#[test]
fn tiers_are_for_kubernetes_1_28_and_later_and_change_by_an_update() {
    let world = world_with(|settings| {
        let old = |minor| Offer { version: Minor(minor), ..settings.eks.versions[0].clone() };
        let old = [old(27), old(28)].map(|offer| Offer {
            extended_until: jiff::civil::date(2099, 1, 1),
            default: false,
            ..offer
        });
        settings.eks.versions.extend(old);
    });
    let tier = |tier: &str| json!({ "controlPlaneScalingConfig": { "tier": tier } });
    let created = json!({ "version": "1.27", "controlPlaneScalingConfig": { "tier": "tier-xl" } });
    assert_eq!(refusal(world.try_create(created)).0, "InvalidParameterException");
    world.active(json!({ "version": "1.27" }));
    assert_eq!(world.main().scaling_tier, ScalingTier::Standard);
    assert_eq!(refusal(world.configure(tier("tier-xl"))).0, "InvalidParameterException");
    world.upgrade(json!({ "version": "1.28", "force": true })).expect("begun");
    world.wait(720);
    for (name, wanted) in [("tier-8xl", ScalingTier::EightXl), ("standard", ScalingTier::Standard)] {
        let begun = world.configure(tier(name)).expect("begun");
        assert_eq!(begun.kind, UpdateType::ControlPlaneScalingConfigUpdate);
        world.wait(180);
        assert_eq!((world.main().scaling_tier, world.status_of(&begun)), (wanted, UpdateStatus::Successful));
    }
    let (code, words) = refusal(world.configure(tier("standard")));
    assert_eq!(code, "InvalidParameterException");
    assert!(words.contains("already at the desired configuration"), "{words}");
}
