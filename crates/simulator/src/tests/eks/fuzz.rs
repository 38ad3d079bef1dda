//! Bad requests of EKS never panic and never get a status in the 500s: every action with paths, queries and bodies that come close to
//! good ones, with good bodies of which one field is another, and with bytes that are no JSON.

use super::scene::{NODES, ROLE, new_cluster};
use super::wire::ask_with;
use crate::core::network::PUBLIC_SUBNETS;
use crate::tests::fuzz::{block_on, damage, damaged};
use crate::tests::scene::{Scene, scene};
use crate::wire::eks::ROUTES;
use http::Method;
use proptest::prelude::*;
use serde_json::{Value, json};

const CLUSTER_ADMIN: &str = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";

/// Names of parameters in queries.
const QUERIES: [&str; 8] = [
    "maxResults",
    "nextToken",
    "tagKeys",
    "addonName",
    "kubernetesVersion",
    "versionStatus",
    "defaultOnly",
    "preserve",
];

/// Names of members of bodies.
const FIELDS: [&str; 16] = [
    "name",
    "version",
    "roleArn",
    "resourcesVpcConfig",
    "accessConfig",
    "logging",
    "tags",
    "clientRequestToken",
    "principalArn",
    "type",
    "policyArn",
    "accessScope",
    "addonName",
    "configurationValues",
    "podIdentityAssociations",
    "encryptionConfig",
];

/// Good bodies, each with its action.
fn good() -> Vec<(&'static str, Value)> {
    vec![
        (
            "CreateCluster",
            new_cluster(json!({ "name": "other", "tags": { "k": "v" }, "clientRequestToken": "t" })),
        ),
        (
            "UpdateClusterConfig",
            json!({ "logging": { "clusterLogging": [{ "types": ["api"], "enabled": true }] } }),
        ),
        ("UpdateClusterConfig", json!({ "resourcesVpcConfig": { "subnetIds": PUBLIC_SUBNETS } })),
        ("UpdateClusterConfig", json!({ "resourcesVpcConfig": { "publicAccessCidrs": ["203.0.113.0/24"] } })),
        ("UpdateClusterConfig", json!({ "deletionProtection": true })),
        ("UpdateClusterVersion", json!({ "version": "1.34", "force": true })),
        (
            "AssociateEncryptionConfig",
            json!({ "encryptionConfig": [{
                "resources": ["secrets"],
                "provider": { "keyArn": "arn:aws:kms:eu-central-1:123456789012:key/k" },
            }] }),
        ),
        (
            "AssociateIdentityProviderConfig",
            json!({ "oidc": {
                "identityProviderConfigName": "p", "issuerUrl": "https://id.example.com", "clientId": "c",
                "requiredClaims": { "a": "b" },
            } }),
        ),
        (
            "DescribeIdentityProviderConfig",
            json!({ "identityProviderConfig": { "type": "oidc", "name": "p" } }),
        ),
        (
            "DisassociateIdentityProviderConfig",
            json!({ "identityProviderConfig": { "type": "oidc", "name": "p" } }),
        ),
        ("UpdateClusterConfig", json!({ "controlPlaneScalingConfig": { "tier": "tier-xl" } })),
        ("CreateAccessEntry", json!({ "principalArn": NODES, "type": "EC2_LINUX" })),
        (
            "AssociateAccessPolicy",
            json!({ "policyArn": CLUSTER_ADMIN, "accessScope": { "type": "namespace", "namespaces": ["a-*"] } }),
        ),
        ("UpdateAccessEntry", json!({ "kubernetesGroups": ["g"], "username": "u:{{SessionName}}" })),
        (
            "CreateAddon",
            json!({ "addonName": "vpc-cni", "configurationValues": "{\"env\": {\"A\": \"1\"}}" }),
        ),
        ("UpdateAddon", json!({ "addonVersion": "v1.12.4-eksbuild.1", "resolveConflicts": "OVERWRITE" })),
        (
            "CreatePodIdentityAssociation",
            json!({ "namespace": "a", "serviceAccount": "b", "roleArn": ROLE, "targetRoleArn": NODES }),
        ),
        ("TagResource", json!({ "tags": { "k": "v" } })),
        ("ListInsights", json!({ "filter": { "statuses": ["ERROR"], "kubernetesVersions": ["1.34"] } })),
    ]
}

/// A region with the cluster `main` of version 1.33, an access entry and an add-on.
async fn stage() -> Scene {
    let scene = scene();
    let posts = [
        ("/clusters", new_cluster(json!({})), 600),
        ("/clusters/main/access-entries", json!({ "principalArn": ROLE }), 0),
        ("/clusters/main/addons", json!({ "addonName": "coredns" }), 60),
    ];
    for (path, body, wait) in posts {
        let (status, _, response) = ask_with(&scene, Method::POST, path, body.to_string().as_bytes()).await;
        assert_eq!(status, 200, "{path}: {response}");
        scene.wait(wait);
    }
    scene
}

/// What stands in a path, in a query or in a field.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "main", "coredns", "vpc-cni", ROLE, NODES, CLUSTER_ADMIN, "arn:aws:eks:eu-central-1:123456789012:cluster/main",
            "1.34", "API", "true", "subnet-0a00000000000000a", "10.0.0.0/8", "{\"a\": 1}", "-1", "", "t",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(|members| json!(members)),
        ]
    })
}

/// The path of an action, with these texts for its variables.
fn path_of(form: &str, texts: &[String]) -> String {
    let mut texts = texts.iter().cycle();
    let part = |part: &str| match part.strip_prefix('{') {
        Some(_) => {
            let text = texts.next().map_or("main", String::as_str);
            url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
        }
        None => part.to_owned(),
    };
    form.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// What the variables in the path of an action stand for in the region of [`stage`].
fn stands_for(action: &str) -> Vec<String> {
    let texts: &[&str] = match action {
        "AssociateAccessPolicy" | "UpdateAccessEntry" => &["main", ROLE],
        "UpdateAddon" => &["main", "coredns"],
        "TagResource" => &["arn:aws:eks:eu-central-1:123456789012:cluster/main"],
        _ => &["main"],
    };
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// How many values a body has, itself included.
fn size(body: &Value) -> usize {
    1 + match body {
        Value::Object(members) => members.values().map(size).sum(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Replaces one value of a body, counted from itself.
fn replace(body: &mut Value, place: usize, by: Value) {
    let Some(mut place) = place.checked_sub(1) else {
        *body = by;
        return;
    };
    let inside: Vec<&mut Value> = match body {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    for value in inside {
        let size = size(value);
        if place < size {
            return replace(value, place, by);
        }
        place -= size;
    }
}

/// A response that EKS could have given: not in the 500s, and the kind of an error, with words, exactly when it is a refusal.
fn check((status, kind, body): (u16, Option<String>, Value)) -> Result<(), TestCaseError> {
    prop_assert!(status < 500, "{}", body);
    prop_assert_eq!(status == 200, kind.is_none(), "{}", body);
    prop_assert!(status == 200 || body["message"].is_string(), "{}", body);
    Ok(())
}

fn route_of(action: &str) -> (Method, &'static str) {
    let (_, method, form, _) = ROUTES.iter().find(|(name, ..)| *name == action).expect("an action");
    (method.parse().expect("a method"), form)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every action with any texts in its path and query, and any members in its body.
    #[test]
    fn no_path_and_no_members_break_it(
        requests in prop::collection::vec(
            (
                any::<prop::sample::Index>(),
                prop::collection::vec(text(), 1..4),
                prop::collection::vec((prop::sample::select(QUERIES.to_vec()), text()), 0..3),
                prop::collection::btree_map(prop::sample::select(FIELDS.to_vec()), any_value(), 0..5),
            ),
            1..8,
        ),
    ) {
        block_on(async {
            let scene = stage().await;
            for (action, texts, queries, members) in requests {
                let (_, method, form, _) = ROUTES[action.index(ROUTES.len())];
                let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(queries).finish();
                let path = format!("{}?{query}", path_of(form, &texts));
                let method = method.parse().expect("a method");
                check(ask_with(&scene, method, &path, json!(members).to_string().as_bytes()).await)?;
                scene.wait(7);
            }
            Ok::<_, TestCaseError>(())
        })?;
    }

    /// Good bodies in which one value is another, and whose bytes are damaged.
    #[test]
    fn no_damage_to_a_good_body_breaks_it(
        requests in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any_value(), prop::option::of(damage())), 1..8,
        ),
    ) {
        let all = good();
        block_on(async {
            let scene = stage().await;
            for (which, place, by, to_bytes) in requests {
                let (action, mut body) = all[which.index(all.len())].clone();
                let place = place.index(size(&body));
                replace(&mut body, place, by);
                let (method, form) = route_of(action);
                let bytes = body.to_string().into_bytes();
                let bytes = to_bytes.map_or_else(|| bytes.clone(), |damage| damaged(&bytes, damage));
                check(ask_with(&scene, method, &path_of(form, &stands_for(action)), &bytes).await)?;
                scene.wait(200);
            }
            Ok::<_, TestCaseError>(())
        })?;
    }
}

#[test]
fn the_good_bodies_are_good() {
    let send = async |scene: &Scene, (action, body): &(&str, Value)| {
        let (method, form) = route_of(action);
        let path = path_of(form, &stands_for(action));
        ask_with(scene, method, &path, body.to_string().as_bytes()).await
    };
    let all = good();
    let associate = all.iter().find(|(action, _)| *action == "AssociateIdentityProviderConfig").expect("it");
    for request in &all {
        let (status, _, response) = block_on(async {
            let scene = stage().await;
            if ["DescribeIdentityProviderConfig", "DisassociateIdentityProviderConfig"].contains(&request.0) {
                send(&scene, associate).await;
                scene.wait(1000);
            }
            send(&scene, request).await
        });
        assert_eq!(status, 200, "{}: {response}", request.0);
    }
}
