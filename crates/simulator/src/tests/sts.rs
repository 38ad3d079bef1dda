//! Sessions of roles (AWS STS API Reference). Their signatures and their expiry are judged through boto3.

use super::scene::REGION;
use crate::iam::roles::{Role, WebIdentityTrust};
use crate::wire::sigv4::SignedRequest;
use crate::wire::{WireRequest, WireResponse, respond, respond_to_verified};
use crate::{AccessKey, Policy, Simulator, SimulatorConfig};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_model::Timestamp;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::json;

const ROLE: &str = "arn:aws:iam::123456789012:role/pools";

fn role(trusts: &[&str]) -> Role {
    let text = json!({ "name": "pools", "trusts": trusts });
    serde_json::from_value(text).expect("a role")
}

/// A simulator that asks who may do what.
fn strict() -> Simulator {
    let sim = Simulator::new(SimulatorConfig::stepped());
    sim.put_key(AccessKey { id: "AKIDMANAGER".into(), secret: "s".into(), policy: None });
    sim
}

async fn ask(sim: &Simulator, caller: Option<&str>, form: &str) -> (u16, String) {
    let authorization = caller
        .map(|caller| format!("AWS4-HMAC-SHA256 Credential={caller}/20260101/{REGION}/sts/aws4_request"));
    let request = WireRequest {
        authorization: authorization.as_deref(),
        query: "",
        body: form.as_bytes(),
        received: Timestamp(1_767_225_600_000),
    };
    match respond(&sim.world, request).await {
        WireResponse::Xml { status, body, .. } => (status, body),
        other => panic!("{other:?}"),
    }
}

/// The same with its signature judged; it is never a good one.
async fn verified(sim: &Simulator, caller: Option<&str>, form: &str) -> (u16, String) {
    let mut headers = HeaderMap::new();
    if let Some(caller) = caller {
        let scope = format!("Credential={caller}/20260101/{REGION}/sts/aws4_request");
        let text = format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0");
        headers.insert("authorization", HeaderValue::from_str(&text).expect("a header"));
    }
    let request = SignedRequest {
        method: &Method::POST,
        path: "/",
        query: "",
        headers: &headers,
        body: form.as_bytes(),
        received: Timestamp(1_767_225_600_000),
    };
    match respond_to_verified(&sim.world, request).await {
        WireResponse::Xml { status, body, .. } => (status, body),
        other => panic!("{other:?}"),
    }
}

fn part<'a>(body: &'a str, name: &str) -> &'a str {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    body.split(&open).nth(1).and_then(|rest| rest.split(&close).next()).unwrap_or("none")
}

fn assume(more: &str) -> String {
    format!("Action=AssumeRole&Version=2011-06-15&RoleArn={ROLE}&RoleSessionName=foo{more}")
}

fn token(claims: &serde_json::Value) -> String {
    format!("e30.{}.x", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

#[tokio::test]
async fn a_trusted_caller_gets_a_session_with_an_identity_of_its_own() {
    let sim = strict();
    sim.put_role(role(&["AKIDMANAGER"]));
    let (status, body) = ask(&sim, Some("AKIDMANAGER"), &assume("")).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(part(&body, "Expiration"), "2026-01-01T01:00:00Z", "an hour");
    let id = part(&body, "AccessKeyId").to_owned();
    assert!(id.starts_with("ASIA"));
    let (_, body) = ask(&sim, Some(&id), "Action=GetCallerIdentity").await;
    assert_eq!(part(&body, "Arn"), "arn:aws:sts::123456789012:assumed-role/pools/foo");
}

#[tokio::test]
async fn a_role_that_is_unknown_or_does_not_trust_the_caller_is_denied() {
    let sim = strict();
    let refused = async || {
        let (status, body) = ask(&sim, Some("AKIDMANAGER"), &assume("")).await;
        (status, part(&body, "Code").to_owned(), part(&body, "Message").to_owned())
    };
    let (status, code, message) = refused().await;
    assert_eq!((status, code.as_str()), (403, "AccessDenied"));
    assert!(message.ends_with(&format!("is not authorized to perform: sts:AssumeRole on resource: {ROLE}")));
    sim.put_role(role(&["AKIDOTHER"]));
    assert_eq!(refused().await.1, "AccessDenied");
    sim.put_role(Role { external_id: Some("secret".into()), ..role(&["*"]) });
    assert_eq!(refused().await.1, "AccessDenied");
    assert_eq!(ask(&sim, Some("AKIDMANAGER"), &assume("&ExternalId=secret")).await.0, 200);
}

#[tokio::test]
async fn sessions_last_within_the_limits_of_the_role_and_of_chaining() {
    let sim = strict();
    sim.put_role(Role { max_session_seconds: 7_200, ..role(&["*"]) });
    let lasts = async |caller: &str, seconds: u32| {
        let (status, body) = ask(&sim, Some(caller), &assume(&format!("&DurationSeconds={seconds}"))).await;
        (status, part(&body, "Expiration").to_owned(), part(&body, "AccessKeyId").to_owned())
    };
    assert_eq!(lasts("AKIDMANAGER", 899).await.0, 400);
    assert_eq!(lasts("AKIDMANAGER", 7_201).await.0, 400);
    let (_, until, id) = lasts("AKIDMANAGER", 7_200).await;
    assert_eq!(until, "2026-01-01T02:00:00Z");
    assert_eq!(lasts(&id, 3_601).await.0, 400, "a session of a session lasts an hour at most");
    assert_eq!(lasts(&id, 3_600).await.0, 200);
}

#[tokio::test]
async fn a_session_may_do_what_its_role_and_its_own_policy_both_allow() {
    let sim = strict();
    let only = |action: &str| -> Policy {
        serde_json::from_value(
            json!({ "Statement": { "Effect": "Allow", "Action": action, "Resource": "*" } }),
        )
        .expect("a policy")
    };
    sim.put_role(Role { policy: Some(only("ec2:Describe*")), ..role(&["*"]) });
    let narrower = r#"{"Statement":{"Effect":"Allow","Action":"ec2:DescribeVpcs","Resource":"*"}}"#;
    let narrower: String = url::form_urlencoded::byte_serialize(narrower.as_bytes()).collect();
    for (more, allowed, denied) in [
        ("", "DescribeImages", "CreateTags"),
        (&*format!("&Policy={narrower}"), "DescribeVpcs", "DescribeImages"),
    ] {
        let (_, body) = ask(&sim, Some("AKIDMANAGER"), &assume(more)).await;
        let id = part(&body, "AccessKeyId").to_owned();
        let may = async |action: &str| {
            let authorization =
                format!("AWS4-HMAC-SHA256 Credential={id}/20260101/{REGION}/ec2/aws4_request");
            let more = match action {
                "CreateTags" => "&ResourceId.1=vpc-0a000000000000001&Tag.1.Key=k",
                _ => "",
            };
            let form = format!("Action={action}{more}");
            let request = WireRequest {
                authorization: Some(&authorization),
                query: "",
                body: form.as_bytes(),
                received: Timestamp(0),
            };
            let WireResponse::Xml { status, .. } = respond(&sim.world, request).await else {
                panic!("a response")
            };
            status
        };
        assert_eq!((may(allowed).await, may(denied).await), (200, 403), "{more}");
    }
}

#[tokio::test]
async fn a_web_identity_token_is_enough_if_its_claims_are_trusted() {
    let sim = strict();
    let trust = WebIdentityTrust {
        issuer: "https://oidc.example".into(),
        audience: "sts.amazonaws.com".into(),
        subject: "system:serviceaccount:foo-system:*".into(),
    };
    sim.put_role(Role { web_identity: Some(trust), ..role(&[]) });
    let claims = |subject: &str, expires: i64| json!({ "iss": "https://oidc.example", "sub": subject, "aud": ["sts.amazonaws.com"], "exp": expires });
    let assume = async |token: &str| {
        let form = format!(
            "Action=AssumeRoleWithWebIdentity&RoleArn={ROLE}&RoleSessionName=foo&WebIdentityToken={token}"
        );
        let (status, body) = ask(&sim, None, &form).await;
        (status, part(&body, "Code").to_owned(), body)
    };
    let good = "system:serviceaccount:foo-system:manager";
    let (status, _, body) = assume(&token(&claims(good, 1_800_000_000))).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(part(&body, "SubjectFromWebIdentityToken"), good);
    assert_eq!(
        assume(&token(&claims("system:serviceaccount:other:x", 1_800_000_000))).await.1,
        "AccessDenied"
    );
    assert_eq!(assume(&token(&claims(good, 1_000_000_000))).await.1, "ExpiredTokenException");
    assert_eq!(assume("not-a-token").await.1, "InvalidIdentityToken");
}

/// As long as no key is known, nothing is verified: any role can be assumed, with any token.
#[tokio::test]
async fn without_keys_there_is_any_role() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    assert_eq!(ask(&sim, Some("any"), &assume("")).await.0, 200);
    let form = format!(
        "Action=AssumeRoleWithWebIdentity&RoleArn={ROLE}&RoleSessionName=foo&WebIdentityToken={}",
        token(&json!({ "iss": "a", "sub": "b", "aud": "c" }))
    );
    assert_eq!(ask(&sim, None, &form).await.0, 200);
}

/// The action that needs no signature is the one that is done, also when a form names two.
#[tokio::test]
async fn naming_an_unsigned_action_beside_another_signs_nothing() {
    let sim = strict();
    sim.put_role(role(&["*"]));
    let forms = [
        "Action=AssumeRoleWithWebIdentity&Action=GetCallerIdentity".to_owned(),
        format!("Action=AssumeRoleWithWebIdentity&{}", assume("")),
        format!("{}&Action=AssumeRoleWithWebIdentity", assume("")),
    ];
    for form in forms {
        let response = verified(&sim, None, &form).await;
        assert_ne!(response.0, 200, "{form}: {}", response.1);
    }
}

/// Ids of temporary credentials are the simulator's own: an unknown one is refused, even where no key is known.
#[tokio::test]
async fn an_unknown_session_is_refused_even_without_known_keys() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    assert_eq!(verified(&sim, Some("AKIDANY"), "Action=GetCallerIdentity").await.0, 200);
    assert_eq!(verified(&sim, Some("ASIAFORGOTTEN"), "Action=GetCallerIdentity").await.0, 403);
}

#[tokio::test]
async fn a_session_name_can_hold_a_plus() {
    let sim = strict();
    sim.put_role(role(&["*"]));
    let form = assume("").replace("SessionName=foo", "SessionName=foo%2Bbar");
    let (status, body) = ask(&sim, Some("AKIDMANAGER"), &form).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("assumed-role/pools/foo+bar"));
}

/// As the real STS does, and as aws-iam-authenticator asks for.
#[tokio::test]
async fn callers_that_accept_json_get_json() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    let ask = async |accept: &'static str, action: &str| {
        let scope = format!("Credential=alice/20260101/{REGION}/sts/aws4_request");
        let text = format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0");
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_str(&text).expect("a header"));
        headers.insert("accept", HeaderValue::from_static(accept));
        let query = format!("Action={action}&Version=2011-06-15");
        let request = SignedRequest {
            method: &Method::GET,
            path: "/",
            query: &query,
            headers: &headers,
            body: b"",
            received: Timestamp(1_767_225_600_000),
        };
        respond_to_verified(&sim.world, request).await
    };
    let WireResponse::Json { status: 200, body, content_type: "application/json", request_id, .. } =
        ask("application/json", "GetCallerIdentity").await
    else {
        panic!("no JSON")
    };
    let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    let arn = "arn:aws:iam::123456789012:user/alice";
    let result = &body["GetCallerIdentityResponse"]["GetCallerIdentityResult"];
    assert_eq!((&result["Arn"], &result["Account"]), (&json!(arn), &json!("123456789012")), "{body}");
    assert!(result["UserId"].is_string());
    let metadata = json!({ "RequestId": request_id });
    assert_eq!(body["GetCallerIdentityResponse"]["ResponseMetadata"], metadata);
    let WireResponse::Json { status: 400, body, .. } = ask("application/json", "Nothing").await else {
        panic!("no JSON")
    };
    let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((&body["Error"]["Code"], &body["Error"]["Type"]), (&json!("InvalidAction"), &json!("Sender")));
    assert!(body["RequestId"].is_string(), "{body}");
    for accept in ["*/*", "text/xml"] {
        assert!(matches!(ask(accept, "GetCallerIdentity").await, WireResponse::Xml { .. }), "{accept}");
    }
}
