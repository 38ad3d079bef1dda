//! S3's REST with XML: the path names bucket and object, the query the action (Amazon S3 API Reference). Only path-style addresses:
//! the simulator's host names no bucket.

use super::authentication;
use super::gate::{self, GateRefusal};
use super::response::WireResponse;
use super::signature;
use super::sigv4::SignedRequest;
use super::xml::Xml;
use crate::core::error::{AwsError, AwsResult};
use crate::core::objects::Overwrite;
use crate::core::region::Region;
use crate::faults::CallHead;
use crate::iam::policy::Ask;
use crate::iam::refusals;
use crate::service::Service;
use crate::signing::decode;
use crate::world::{Ending, Inner, World};
use foo_model::Timestamp;
use http::Method;
use std::collections::BTreeMap;

/// Its actions.
pub(crate) const ACTIONS: [&str; 4] = ["PutObject", "GetObject", "DeleteObject", "ListObjectsV2"];
pub(super) const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

/// Objects of one page of a list.
const PAGE: usize = 1_000;

/// Whether a request is signed for S3.
pub(crate) fn is_s3(request: &SignedRequest<'_>) -> bool {
    let authorization = request.headers.get("authorization").and_then(|value| value.to_str().ok());
    signature::scope(authorization, request.query).is_ok_and(|scope| scope.service == Service::S3.name())
}

/// The response of an action.
enum Body {
    Nothing,
    Xml(String),
    Content(Vec<u8>),
}

/// An action with what it is about.
struct Call<'a> {
    action: &'static str,
    bucket: String,
    key: String,
    query: BTreeMap<String, String>,
    request: &'a SignedRequest<'a>,
}

/// Responds to a request to S3.
pub(crate) async fn respond(world: &World, request: SignedRequest<'_>) -> WireResponse {
    let request_id = world.request_id();
    let (ending, outcome) = match carry_out(world, &request).await {
        Ok(done) => done,
        Err(GateRefusal::Dropped) => return WireResponse::Dropped,
        Err(GateRefusal::Response(error)) => (Ending::Complete, Err(error)),
    };
    let (status, body) = match outcome {
        Ok(Body::Nothing) if request.method == Method::DELETE => (204, Vec::new()),
        Ok(Body::Nothing) => (200, Vec::new()),
        Ok(Body::Xml(text)) => (200, text.into_bytes()),
        Ok(Body::Content(bytes)) => (200, bytes),
        Err(error) => (error.status, refusal(&error, &request_id).into_bytes()),
    };
    match ending {
        Ending::Complete => WireResponse::Object { status, body, request_id },
        Ending::Truncated => {
            let body = String::from_utf8_lossy(&body).into_owned();
            WireResponse::Truncated { status, body, content_type: super::XML }
        }
        Ending::Lost => WireResponse::Dropped,
        Ending::Never => std::future::pending().await,
    }
}

async fn carry_out(
    world: &World,
    request: &SignedRequest<'_>,
) -> Result<(Ending, AwsResult<Body>), GateRefusal> {
    let service = Service::S3;
    let authorization = request.headers.get("authorization").and_then(|value| value.to_str().ok());
    let scope = signature::scope(authorization, request.query)?;
    let call = call_of(request)?;
    let parameters = format!("{}/{}", call.bucket, call.key);
    let (caller, region) = (scope.caller.as_str(), scope.region.as_str());
    let head = CallHead { caller, region, service, action: call.action, parameters: &parameters };
    authentication::authenticate(world, request, &scope, service)
        .inspect_err(|error| world.record_refusal(&head, error))?;
    let ending = gate::pass(world, &head).await?;
    let arn = world.arn_of(&scope.caller);
    let outcome = world.carry_out_anywhere(&head, ending, |inner| {
        let key = inner.keys.get(&scope.caller);
        let role = role_of(inner, &world.config.account, &scope.caller);
        let region = inner.region(&world.config, head.region)?;
        if let Some(key) = key {
            refusals::check(&key, &asks(&call), service, &arn)?;
        }
        run(region, &call, role.as_deref())
    });
    Ok((ending, outcome))
}

/// ARN of the role of which the caller is a session.
fn role_of(inner: &Inner, account: &str, caller: &str) -> Option<String> {
    let key = inner.keys.get(caller)?;
    let name = &key.session.as_ref()?.role;
    inner.keys.role(name).map(|role| role.arn(account))
}

fn call_of<'a>(request: &'a SignedRequest<'a>) -> AwsResult<Call<'a>> {
    let path = request.path.trim_start_matches('/');
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    let query: BTreeMap<String, String> =
        url::form_urlencoded::parse(request.query.as_bytes()).into_owned().collect();
    let lists = key.is_empty() && query.get("list-type").is_some_and(|version| version == "2");
    let action = match request.method.as_str() {
        "PUT" if !key.is_empty() => "PutObject",
        "GET" if !key.is_empty() => "GetObject",
        "DELETE" if !key.is_empty() => "DeleteObject",
        "GET" if lists => "ListObjectsV2",
        _ => {
            let text = "A header you provided implies functionality that is not implemented";
            return Err(AwsError::new("NotImplemented", text).status(501));
        }
    };
    let (bucket, key) = (decode(bucket), decode(key));
    Ok(Call { action, bucket, key, query, request })
}

/// What has to be allowed (Service Authorization Reference, "Actions, resources, and condition keys for Amazon S3").
fn asks(call: &Call<'_>) -> Vec<Ask> {
    let object = format!("arn:aws:s3:::{}/{}", call.bucket, call.key);
    let ask = |action: &str, resource: String, context: BTreeMap<String, String>| Ask {
        action: format!("s3:{action}"),
        resource,
        context,
    };
    match call.action {
        "PutObject" => {
            let tags: BTreeMap<String, String> = tags_of(call)
                .into_iter()
                .map(|(key, value)| (format!("s3:RequestObjectTag/{key}"), value))
                .collect();
            let mut all = vec![ask("PutObject", object.clone(), tags.clone())];
            if !tags.is_empty() {
                all.push(ask("PutObjectTagging", object, tags));
            }
            all
        }
        "ListObjectsV2" => {
            let prefix = call.query.get("prefix").cloned().unwrap_or_default();
            let context = BTreeMap::from([("s3:prefix".to_owned(), prefix)]);
            vec![ask("ListBucket", format!("arn:aws:s3:::{}", call.bucket), context)]
        }
        other => vec![ask(other, object, BTreeMap::new())],
    }
}

fn header<'a>(call: &Call<'a>, name: &str) -> Option<&'a str> {
    call.request.headers.get(name).and_then(|value| value.to_str().ok())
}

fn tags_of(call: &Call<'_>) -> BTreeMap<String, String> {
    let text = header(call, "x-amz-tagging").unwrap_or_default();
    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

fn run(region: &mut Region, call: &Call<'_>, role: Option<&str>) -> AwsResult<Body> {
    let owner = header(call, "x-amz-expected-bucket-owner");
    match call.action {
        "PutObject" => {
            let overwrite = match header(call, "if-none-match") {
                Some("*") => Overwrite::Refused,
                Some(_) | None => Overwrite::Allowed,
            };
            let written = (call.request.body, &tags_of(call));
            region.put_object((&call.bucket, owner), &call.key, written, overwrite)?;
            Ok(Body::Nothing)
        }
        "DeleteObject" => region.delete_object(&call.bucket, owner, &call.key).map(|()| Body::Nothing),
        "ListObjectsV2" => list(region, call, owner).map(Body::Xml),
        _ => region.object_for(&call.bucket, &call.key, role).map(Body::Content),
    }
}

/// A page of a list. A continuation token is the last key of the page before.
fn list(region: &mut Region, call: &Call<'_>, owner: Option<&str>) -> AwsResult<String> {
    let prefix = call.query.get("prefix").map_or("", String::as_str);
    let after = call.query.get("continuation-token");
    let mut found = region.list_objects(&call.bucket, owner, prefix)?;
    found.retain(|(key, _)| after.is_none_or(|after| key > after));
    let truncated = found.len() > PAGE;
    found.truncate(PAGE);
    let mut xml = Xml::default();
    xml.text("Name", &call.bucket);
    xml.text("Prefix", prefix);
    xml.value("KeyCount", found.len());
    xml.value("MaxKeys", PAGE);
    xml.value("IsTruncated", truncated);
    if truncated {
        xml.optional("NextContinuationToken", found.last().map(|(key, _)| key));
    }
    for (key, object) in &found {
        xml.within("Contents", |xml| {
            xml.text("Key", key);
            xml.text("LastModified", time(object.modified));
            xml.value("Size", object.content.len());
            xml.text("StorageClass", "STANDARD");
        });
    }
    Ok(super::xml::root("ListBucketResult", NAMESPACE, &xml.into_text()))
}

fn time(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    at.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}

fn refusal(error: &AwsError, request_id: &str) -> String {
    let mut xml = Xml::default();
    xml.within("Error", |xml| {
        xml.text("Code", &error.code);
        xml.text("Message", &error.message);
        xml.text("RequestId", request_id);
    });
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", xml.into_text())
}
