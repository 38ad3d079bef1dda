//! EKS and IAM over the wire: paths, errors, pages, faults, rights, the control API and the page.

use super::scene::{NODES, ROLE, new_cluster};
use crate::tests::scene::{REGION, Scene, scene};
use crate::wire::sigv4::SignedRequest;
use crate::wire::{WireResponse, respond_to_verified, rest};
use crate::{AccessKey, Fault, FaultRule, Policy, Throttling};
use foo_model::Timestamp;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};

/// A call that `caller` signs; its signature is not verified, because no key is known.
async fn ask(scene: &Scene, method: Method, path: &str, body: Value) -> (u16, Option<String>, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    ask_with(scene, method, path, body.as_bytes()).await
}

/// [`ask`] with any bytes as its body: status, the kind of an error, and the response.
pub(super) async fn ask_with(
    scene: &Scene,
    method: Method,
    path: &str,
    body: &[u8],
) -> (u16, Option<String>, Value) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut headers = HeaderMap::new();
    let scope = format!("Credential=manager/20260101/{REGION}/eks/aws4_request");
    let text = format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0");
    headers.insert("authorization", HeaderValue::from_str(&text).expect("a header"));
    let request = SignedRequest {
        method: &method,
        path,
        query,
        headers: &headers,
        body,
        received: Timestamp(1_767_225_600_000),
    };
    assert!(rest::is_rest(&request));
    match rest::respond(&scene.sim.world, request).await {
        WireResponse::Json { status, body, error_type, .. } => {
            (status, error_type, serde_json::from_str(&body).expect("JSON"))
        }
        other => panic!("{other:?}"),
    }
}

async fn get(scene: &Scene, path: &str) -> Value {
    let (status, _, body) = ask(scene, Method::GET, path, Value::Null).await;
    assert_eq!(status, 200, "{path}: {body}");
    body
}

async fn iam(scene: &Scene, form: &str) -> (u16, String) {
    let mut headers = HeaderMap::new();
    let text = "AWS4-HMAC-SHA256 Credential=manager/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0";
    headers.insert("authorization", HeaderValue::from_static(text));
    let request = SignedRequest {
        method: &Method::POST,
        path: "/",
        query: "",
        headers: &headers,
        body: form.as_bytes(),
        received: Timestamp(1_767_225_600_000),
    };
    match respond_to_verified(&scene.sim.world, request).await {
        WireResponse::Xml { status, body, .. } => (status, body),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_cluster_over_the_wire() {
    let scene = scene();
    let (status, _, made) = ask(&scene, Method::POST, "/clusters", new_cluster(json!({}))).await;
    assert_eq!((status, &made["cluster"]["status"]), (200, &json!("CREATING")));
    assert_eq!(made["cluster"]["certificateAuthority"], json!({}));
    assert_eq!(made["cluster"].get("endpoint"), None);
    assert_eq!(made["cluster"]["createdAt"], json!(1_767_225_600));
    scene.wait(600);
    let seen = get(&scene, "/clusters/main").await;
    assert_eq!(seen["cluster"]["status"], json!("ACTIVE"));
    assert!(seen["cluster"]["endpoint"].as_str().is_some_and(|it| it.starts_with("https://")));
    let (status, kind, refused) = ask(&scene, Method::GET, "/clusters/missing", Value::Null).await;
    assert_eq!((status, kind.as_deref()), (404, Some("ResourceNotFoundException")));
    assert_eq!(
        refused,
        json!({ "clusterName": "missing", "message": "No cluster found for name: missing." })
    );
    let (status, _, update) =
        ask(&scene, Method::POST, "/clusters/main/updates", json!({ "version": "1.34" })).await;
    assert_eq!(status, 200, "{update}");
    let id = update["update"]["id"].as_str().expect("an id");
    let seen = get(&scene, &format!("/clusters/main/updates/{id}")).await;
    assert_eq!(seen["update"]["type"], json!("VersionUpdate"));
    let (_, kind, _) = ask(&scene, Method::DELETE, "/clusters/main", Value::Null).await;
    assert_eq!(kind.as_deref(), Some("ResourceInUseException"));
}

#[tokio::test]
async fn what_is_not_simulated_is_refused_and_not_ignored() {
    let scene = scene();
    let auto = new_cluster(json!({ "computeConfig": { "enabled": true } }));
    let (status, kind, body) = ask(&scene, Method::POST, "/clusters", auto).await;
    assert_eq!((status, kind.as_deref()), (400, Some("InvalidParameterException")));
    assert!(body["message"].as_str().is_some_and(|text| text.contains("computeConfig")), "{body}");
    let (status, kind, _) = ask(&scene, Method::POST, "/clusters/main/node-groups", json!({})).await;
    assert_eq!((status, kind.as_deref()), (404, Some("UnknownOperationException")));
}

#[tokio::test]
async fn pages_of_names_and_paths_with_arns() {
    let scene = scene();
    for name in ["a", "b", "c"] {
        ask(&scene, Method::POST, "/clusters", new_cluster(json!({ "name": name }))).await;
    }
    let first = get(&scene, "/clusters?maxResults=2").await;
    assert_eq!(first["clusters"], json!(["a", "b"]));
    let token = first["nextToken"].as_str().expect("a token");
    let second = get(&scene, &format!("/clusters?maxResults=2&nextToken={token}")).await;
    assert_eq!(second, json!({ "clusters": ["c"] }));
    let (status, _, _) = ask(&scene, Method::GET, "/clusters?maxResults=101", Value::Null).await;
    assert_eq!(status, 400);
    let (status, _, _) = ask(&scene, Method::GET, "/clusters?nextToken=x", Value::Null).await;
    assert_eq!(status, 400);
    scene.wait(600);
    let entry = json!({ "principalArn": NODES, "type": "EC2_LINUX" });
    ask(&scene, Method::POST, "/clusters/a/access-entries", entry).await;
    let escaped: String = url::form_urlencoded::byte_serialize(NODES.as_bytes()).collect();
    let seen = get(&scene, &format!("/clusters/a/access-entries/{escaped}")).await;
    assert_eq!(seen["accessEntry"]["principalArn"], json!(NODES));
}

#[tokio::test]
async fn versions_add_ons_and_insights_can_be_looked_up() {
    let scene = scene();
    ask(&scene, Method::POST, "/clusters", new_cluster(json!({}))).await;
    scene.wait(600);
    let versions = get(&scene, "/cluster-versions?defaultOnly=true").await;
    assert_eq!(versions["clusterVersions"][0]["clusterVersion"], json!("1.36"));
    let extended = get(&scene, "/cluster-versions?versionStatus=EXTENDED_SUPPORT").await;
    assert_eq!(extended["clusterVersions"].as_array().map(Vec::len), Some(2));
    let addons = get(&scene, "/addons/supported-versions?addonName=coredns&kubernetesVersion=1.33").await;
    let default = |it: &&Value| it["compatibilities"][0]["defaultVersion"] == json!(true);
    let releases = addons["addons"][0]["addonVersions"].as_array().expect("versions");
    assert_eq!(releases.iter().filter(default).count(), 1);
    let path = "/addons/configuration-schemas?addonName=vpc-cni&addonVersion=v1.20.4-eksbuild.2";
    assert!(get(&scene, path).await["configurationSchema"].is_string());
    let (_, _, insights) = ask(&scene, Method::POST, "/clusters/main/insights", json!({})).await;
    let id = insights["insights"][0]["id"].as_str().expect("an insight");
    let one = get(&scene, &format!("/clusters/main/insights/{id}")).await;
    assert_eq!(one["insight"]["insightStatus"]["status"], json!("PASSING"));
    ask(&scene, Method::POST, "/clusters/main/insights-refresh", Value::Null).await;
    assert_eq!(get(&scene, "/clusters/main/insights-refresh").await["status"], json!("IN_PROGRESS"));
    scene.wait(60);
    assert_eq!(get(&scene, "/clusters/main/insights-refresh").await["status"], json!("COMPLETED"));
}

#[tokio::test]
async fn faults_and_throttling_hit_eks() {
    let scene = scene();
    scene.sim.add_fault(FaultRule::on("ListClusters", Fault::Throttled).times(1));
    let (status, kind, _) = ask(&scene, Method::GET, "/clusters", Value::Null).await;
    assert_eq!((status, kind.as_deref()), (429, Some("ThrottlingException")));
    scene.sim.add_fault(FaultRule::on("DescribeCluster", Fault::Denied).containing("main").times(1));
    let (status, kind, _) = ask(&scene, Method::GET, "/clusters/main", Value::Null).await;
    assert_eq!((status, kind.as_deref()), (403, Some("AccessDeniedException")));
    scene.sim.set_throttling(Throttling::default());
    let calls = (0..60).map(|_| ask(&scene, Method::GET, "/clusters", Value::Null));
    let mut refused = 0;
    for call in calls {
        refused += usize::from(call.await.0 == 429);
    }
    assert_eq!(refused, 20, "a bucket of 40");
    assert_eq!(scene.sim.calls("ListClusters"), 61);
}

/// Service Authorization Reference, "Amazon Elastic Kubernetes Service".
#[tokio::test]
async fn rights_are_asked_for_by_resource_and_roles_are_passed() {
    let scene = scene();
    ask(&scene, Method::POST, "/clusters", new_cluster(json!({ "tags": { "team": "a" } }))).await;
    scene.wait(600);
    let judged = |method: Method, path: &'static str, body: Value| {
        let scene = &scene;
        async move {
            let asks = rest::asks_of(&scene.sim.world, REGION, &method, path, body).expect("an action");
            asks.into_iter().map(|it| (it.action, it.resource, it.context)).collect::<Vec<_>>()
        }
    };
    let created =
        judged(Method::POST, "/clusters", new_cluster(json!({ "name": "x", "tags": { "k": "v" } }))).await;
    assert_eq!(created[0].1, "arn:aws:eks:eu-central-1:123456789012:cluster/x");
    assert_eq!(created[0].2["aws:RequestTag/k"], "v");
    assert_eq!((created[1].0.as_str(), created[1].1.as_str()), ("eks:TagResource", created[0].1.as_str()));
    assert_eq!(created[1].2["aws:RequestTag/k"], "v");
    assert_eq!((created[2].0.as_str(), created[2].1.as_str()), ("iam:PassRole", ROLE));
    assert_eq!(created[2].2["iam:PassedToService"], "eks.amazonaws.com");
    scene.region.change_settings(|it| it.eks.keys_need_rights = true).expect("set");
    let key = "arn:aws:kms:eu-central-1:123456789012:key/k";
    let encryption = json!([{ "resources": ["secrets"], "provider": { "keyArn": key } }]);
    let body = new_cluster(json!({ "name": "x", "encryptionConfig": encryption }));
    let encrypted = judged(Method::POST, "/clusters", body).await;
    let of_key: Vec<&str> = encrypted.iter().filter(|it| it.1 == key).map(|it| it.0.as_str()).collect();
    assert_eq!(of_key, ["kms:DescribeKey", "kms:CreateGrant"]);
    let untagged = judged(Method::POST, "/clusters", new_cluster(json!({ "name": "x" }))).await;
    assert!(untagged.iter().all(|it| it.0 != "eks:TagResource"), "{untagged:?}");
    let described = judged(Method::GET, "/clusters/main", json!({})).await;
    assert_eq!(described[0].2["aws:ResourceTag/team"], "a");
    let listed = judged(Method::GET, "/clusters", json!({})).await;
    assert_eq!(listed[0].1, "*");
    let entry = json!({ "principalArn": NODES, "type": "EC2_LINUX" });
    let entered = judged(Method::POST, "/clusters/main/access-entries", entry).await;
    assert_eq!(
        (entered[0].1.as_str(), entered[1].1.as_str()),
        ("arn:aws:eks:eu-central-1:123456789012:cluster/main", NODES)
    );
    let auto = json!({ "principalArn": NODES, "type": "EC2" });
    let entered = judged(Method::POST, "/clusters/main/access-entries", auto).await;
    assert_eq!(entered.len(), 1, "{entered:?}");
    let pods = json!({ "addonName": "vpc-cni", "podIdentityAssociations": [{ "serviceAccount": "aws-node", "roleArn": NODES }] });
    let with_pods = judged(Method::POST, "/clusters/main/addons", pods).await;
    let of_addon: Vec<_> =
        with_pods.iter().filter(|it| it.0 == "eks:CreateAddon").map(|it| it.1.as_str()).collect();
    let arn = |rest: &str| format!("arn:aws:eks:eu-central-1:123456789012:{rest}");
    assert_eq!(of_addon, [arn("cluster/main"), arn("podidentityassociation/main/*")]);
    let oidc =
        json!({ "identityProviderConfigName": "p", "issuerUrl": "https://id.example.com", "clientId": "c" });
    let provider = json!({ "oidc": oidc, "tags": { "team": "a" } });
    let associated =
        judged(Method::POST, "/clusters/main/identity-provider-configs/associate", provider).await;
    let asked: Vec<_> = associated.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
    let (action, providers) = ("eks:AssociateIdentityProviderConfig", arn("identityproviderconfig/main/*"));
    assert_eq!(asked, [(action, arn("cluster/main")), ("eks:TagResource", providers.clone())]);
    let named = json!({ "identityProviderConfig": { "type": "oidc", "name": "p" } });
    let described = judged(Method::POST, "/clusters/main/identity-provider-configs/describe", named).await;
    assert_eq!(described[0].1, providers);
    let absent = judged(Method::GET, "/clusters/main/addons/coredns", json!({})).await;
    assert_eq!(absent[0].1, "arn:aws:eks:eu-central-1:123456789012:addon/main/*");
}

#[tokio::test]
async fn a_known_key_must_sign_and_must_be_allowed() {
    let scene = scene();
    let policy: Policy = serde_json::from_value(json!({
        "Version": "2012-10-17", "Statement": [{ "Effect": "Allow", "Action": "eks:ListClusters", "Resource": "*" }],
    }))
    .expect("a policy");
    scene.sim.put_key(AccessKey { id: "manager".into(), secret: "s".into(), policy: Some(policy) });
    let (status, kind, _) = ask(&scene, Method::GET, "/clusters", Value::Null).await;
    assert_eq!((status, kind.as_deref()), (400, Some("IncompleteSignature")));
}

#[tokio::test]
async fn iam_shows_roles_profiles_and_providers() {
    let scene = scene();
    scene.sim.put_role(serde_json::from_value(json!({ "name": "nodes", "path": "/x/" })).expect("a role"));
    let (status, body) = iam(&scene, "Action=GetRole&Version=2010-05-08&RoleName=nodes").await;
    assert!(status == 200 && body.contains("<Arn>arn:aws:iam::123456789012:role/x/nodes</Arn>"), "{body}");
    let id = scene.sim.role_unique_id("nodes").expect("there");
    assert!(body.contains(&format!("<RoleId>{id}</RoleId>")), "{body}");
    scene.sim.remove_role("nodes");
    let (status, body) = iam(&scene, "Action=GetRole&Version=2010-05-08&RoleName=nodes").await;
    assert!(status == 404 && body.contains("<Code>NoSuchEntity</Code>"), "{body}");
    scene.sim.put_instance_profile(
        serde_json::from_value(json!({ "name": "pool", "role": "other" })).expect("a profile"),
    );
    let (_, body) =
        iam(&scene, "Action=GetInstanceProfile&Version=2010-05-08&InstanceProfileName=pool").await;
    assert!(body.contains("<RoleName>other</RoleName>"), "{body}");
    let url = "https%3A%2F%2Foidc.eks.eu-central-1.amazonaws.com%2Fid%2F1";
    let create = format!(
        "Action=CreateOpenIDConnectProvider&Version=2010-05-08&Url={url}&ClientIDList.member.1=sts.amazonaws.com"
    );
    let (status, body) = iam(&scene, &create).await;
    let arn = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/1";
    assert!(status == 200 && body.contains(arn), "{body}");
    let (status, body) = iam(&scene, &create).await;
    assert!(status == 409 && body.contains("EntityAlreadyExists"), "{body}");
    let get = format!("Action=GetOpenIDConnectProvider&Version=2010-05-08&OpenIDConnectProviderArn={arn}");
    let (_, body) = iam(&scene, &get).await;
    assert!(body.contains("<Url>oidc.eks.eu-central-1.amazonaws.com/id/1</Url>"), "{body}");
    let delete = get.replace("Get", "Delete");
    assert_eq!((iam(&scene, &delete).await.0, iam(&scene, &get).await.0), (200, 404));
}
