//! Parameter Store (Systems Manager API Reference).

use super::scene::{REGION, Scene, scene};
use crate::core::catalogue::{IMAGE_ARM64_NEWER, IMAGE_X86_64};
use crate::wire::sigv4::SignedRequest;
use crate::wire::{WireResponse, json};
use foo_model::Timestamp;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};

impl Scene {
    async fn ssm(&self, action: &str, body: Value) -> (u16, Value) {
        let mut headers = HeaderMap::new();
        let authorization = format!("AWS4-HMAC-SHA256 Credential=AKID/20260101/{REGION}/ssm/aws4_request");
        headers.insert("authorization", HeaderValue::from_str(&authorization).expect("a header"));
        let body = body.to_string();
        let request = SignedRequest {
            method: &Method::POST,
            path: "/",
            query: "",
            headers: &headers,
            body: body.as_bytes(),
            received: Timestamp(0),
        };
        match json::respond(&self.sim.world, request, &format!("AmazonSSM.{action}")).await {
            WireResponse::Json { status, body, content_type, .. } => {
                assert_eq!(content_type, "application/x-amz-json-1.1");
                (status, serde_json::from_str(&body).expect("JSON"))
            }
            other => panic!("{other:?}"),
        }
    }

    async fn refused(&self, action: &str, body: Value) -> String {
        let (status, response) = self.ssm(action, body).await;
        assert_eq!(status, 400, "{response}");
        response["__type"].as_str().expect("a code").to_owned()
    }

    async fn value(&self, name: &str) -> Value {
        let (status, response) = self.ssm("GetParameter", json!({ "Name": name })).await;
        assert_eq!(status, 200, "{response}");
        response["Parameter"]["Value"].clone()
    }
}

/// "SSM parameters with EKS-optimized AMI paths per Kubernetes version."
#[tokio::test]
async fn images_are_published_per_kubernetes_version_and_architecture() {
    let scene = scene();
    let eks = "/aws/service/eks/optimized-ami";
    assert_eq!(
        scene.value(&format!("{eks}/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id")).await,
        IMAGE_X86_64
    );
    assert_eq!(
        scene.value("/aws/service/bottlerocket/aws-k8s-1.34/arm64/latest/image_id").await,
        IMAGE_ARM64_NEWER
    );
    let recommended = format!("{eks}/1.33/amazon-linux-2023/x86_64/standard/recommended");
    let summary = scene.value(&recommended).await;
    assert!(summary.as_str().is_some_and(|text| text.contains(IMAGE_X86_64)), "{summary}");
    let unknown =
        json!({ "Name": format!("{eks}/1.99/amazon-linux-2023/x86_64/standard/recommended/image_id") });
    assert_eq!(scene.refused("GetParameter", unknown).await, "ParameterNotFound");
    let (_, below) = scene.ssm("GetParametersByPath", json!({ "Path": recommended })).await;
    assert_eq!(below["Parameters"].as_array().map(Vec::len), Some(3));
    scene.region.publish_parameter(&format!("{recommended}/image_id"), "ami-new").expect("published");
    assert_eq!(scene.value(&format!("{recommended}/image_id")).await, "ami-new");
}

#[tokio::test]
async fn own_parameters_have_versions() {
    let scene = scene();
    let put = |value: &str, overwrite: bool| json!({ "Name": "/own/a", "Value": value, "Type": "String", "Overwrite": overwrite });
    assert_eq!(scene.ssm("PutParameter", put("one", false)).await.1["Version"], 1);
    assert_eq!(scene.refused("PutParameter", put("two", false)).await, "ParameterAlreadyExists");
    assert_eq!(scene.ssm("PutParameter", put("two", true)).await.1["Version"], 2);
    assert_eq!(scene.value("/own/a").await, "two");
    assert_eq!(scene.value("/own/a:1").await, "one");
    assert_eq!(scene.value("arn:aws:ssm:eu-central-1:123456789012:parameter/own/a").await, "two");
    assert_eq!(
        scene.refused("GetParameter", json!({ "Name": "/own/a:7" })).await,
        "ParameterVersionNotFound"
    );
    let (_, many) = scene.ssm("GetParameters", json!({ "Names": ["/own/a", "/own/b"] })).await;
    assert_eq!(
        (many["Parameters"][0]["Value"].clone(), many["InvalidParameters"][0].clone()),
        (json!("two"), json!("/own/b"))
    );
    assert_eq!(scene.ssm("DeleteParameter", json!({ "Name": "/own/a" })).await.0, 200);
    assert_eq!(scene.refused("GetParameter", json!({ "Name": "/own/a" })).await, "ParameterNotFound");
}

#[tokio::test]
async fn awss_names_are_reserved_and_names_have_a_form() {
    let scene = scene();
    let put = |name: &str, kind: &str| json!({ "Name": name, "Value": "v", "Type": kind });
    assert_eq!(scene.refused("PutParameter", put("/aws/service/x", "String")).await, "AccessDeniedException");
    assert_eq!(scene.refused("PutParameter", put("with space", "String")).await, "ValidationException");
    assert_eq!(scene.refused("PutParameter", put("/a", "Number")).await, "UnsupportedParameterType");
    assert_eq!(scene.refused("DescribeParameters", json!({})).await, "UnknownOperationException");
}

#[tokio::test]
async fn paths_are_paged() {
    let scene = scene();
    let ask = |token: Option<String>| {
        let mut body = json!({ "Path": "/aws/service", "Recursive": true, "MaxResults": 10 });
        if let (Some(token), Some(body)) = (token, body.as_object_mut()) {
            body.insert("NextToken".to_owned(), json!(token));
        }
        body
    };
    let (mut names, mut token) = (std::collections::BTreeSet::new(), None);
    loop {
        let (_, page) = scene.ssm("GetParametersByPath", ask(token)).await;
        for parameter in page["Parameters"].as_array().expect("a page") {
            assert!(names.insert(parameter["Name"].as_str().expect("a name").to_owned()));
        }
        token = page["NextToken"].as_str().map(str::to_owned);
        if token.is_none() {
            break;
        }
    }
    assert_eq!(
        names.len(),
        8 * 2 * 7 + 2 + 1,
        "eight versions, two architectures, seven each, AL2023, the region"
    );
}

/// "ARN": the name of a parameter without a path has no slash of its own.
#[tokio::test]
async fn an_arn_names_a_parameter_without_a_path() {
    let scene = scene();
    let put = json!({ "Name": "own", "Value": "v", "Type": "String" });
    assert_eq!(scene.ssm("PutParameter", put).await.0, 200);
    assert_eq!(scene.value(&format!("arn:aws:ssm:{REGION}:123456789012:parameter/own")).await, "v");
}
