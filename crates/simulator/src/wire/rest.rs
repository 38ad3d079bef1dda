//! REST with JSON: the method and the path say the action, their variables and the query its parameters (Smithy, "AWS restJson1
//! protocol"). Only EKS speaks it.

use super::gate::{self, GateRefusal};
use super::response::WireResponse;
use super::sigv4::SignedRequest;
use super::{authentication, eks, signature};
use crate::core::error::{AwsError, AwsResult};
use crate::faults::CallHead;
use crate::iam::refusals;
use crate::request::call::{Call, Route};
use crate::service::Service;
use crate::signing::decode;
use crate::world::{Ending, World};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const JSON: &str = "application/json";

/// Whether a request is signed for a service that speaks REST.
pub(crate) fn is_rest(request: &SignedRequest<'_>) -> bool {
    let authorization = request.headers.get("authorization").and_then(|value| value.to_str().ok());
    signature::scope(authorization, request.query).is_ok_and(|scope| scope.service == Service::Eks.name())
}

/// Responds to a request of such a service.
pub(crate) async fn respond(world: &World, request: SignedRequest<'_>) -> WireResponse {
    let request_id = world.request_id();
    let found = route(&request);
    let mut about = Map::new();
    if let Some((_, path)) = &found {
        for (variable, field) in [("name", "clusterName"), ("addonName", "addonName")] {
            about.extend(path.get(variable).map(|value| (field.to_owned(), json!(value))));
        }
    }
    let zones = |world: &World, region: &str| {
        world.in_region(region, |region| region.valid_zones()).unwrap_or_default()
    };
    let (ending, outcome) = match carry_out(world, &request, found).await {
        Ok(done) => done,
        Err(GateRefusal::Dropped) => return WireResponse::Dropped,
        Err(GateRefusal::Response(error)) => (Ending::Complete, Err(error)),
    };
    let (status, body, error_type) = match outcome {
        Ok(value) => (200, value.to_string(), None),
        Err(error) => {
            if error.code == "UnsupportedAvailabilityZoneException" {
                let scope = signature::scope(
                    request.headers.get("authorization").and_then(|value| value.to_str().ok()),
                    request.query,
                );
                let region = scope.map(|scope| scope.region).unwrap_or_default();
                about.insert("validZones".to_owned(), json!(zones(world, &region)));
            }
            about.insert("message".to_owned(), json!(error.message));
            (error.status, Value::Object(about).to_string(), Some(error.code))
        }
    };
    match ending {
        Ending::Complete => {
            WireResponse::Json { status, body, request_id, content_type: JSON, query_error: None, error_type }
        }
        Ending::Truncated => WireResponse::Truncated { status, body, content_type: JSON },
        Ending::Lost => WireResponse::Dropped,
        Ending::Never => std::future::pending().await,
    }
}

async fn carry_out(
    world: &World,
    request: &SignedRequest<'_>,
    found: Option<(Route, BTreeMap<&'static str, String>)>,
) -> Result<(Ending, AwsResult<Value>), GateRefusal> {
    let service = Service::Eks;
    let authorization = request.headers.get("authorization").and_then(|value| value.to_str().ok());
    let scope = signature::scope(authorization, request.query)?;
    let ((action, _, _, operation), path) = found.ok_or_else(|| {
        AwsError::new("UnknownOperationException", "The operation is not known.").status(404)
    })?;
    let parameters =
        format!("{}\n{}\n{}", request.path, request.query, String::from_utf8_lossy(request.body));
    let call =
        CallHead { caller: &scope.caller, region: &scope.region, service, action, parameters: &parameters };
    authentication::authenticate(world, request, &scope, service)
        .inspect_err(|error| world.record_refusal(&call, error))?;
    let body = body_of(request.body)?;
    let ending = gate::pass(world, &call).await?;
    let arn = world.arn_of(&scope.caller);
    let query = url::form_urlencoded::parse(request.query.as_bytes()).into_owned().collect();
    let outcome = world.carry_out_anywhere(&call, ending, |inner| {
        let key = inner.keys.get(&scope.caller);
        let principals = inner.keys.principals(&world.config.account);
        let asked = Call { path, query, body, principals, caller: &arn };
        let region = inner.region(&world.config, call.region)?;
        region.begin_reads();
        if let Some(key) = &key {
            let asks = crate::asks::eks::of_call(region, action, &asked);
            refusals::check(key, &asks, service, &arn)?;
        }
        operation(region, &asked)
    });
    Ok((ending, outcome))
}

fn body_of(bytes: &[u8]) -> AwsResult<Value> {
    let wrong = || AwsError::new("SerializationException", "The request is not a JSON object.");
    if bytes.is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_slice(bytes).ok().filter(Value::is_object).ok_or_else(wrong)
}

/// The action of a request, and the variables in its path.
fn route(request: &SignedRequest<'_>) -> Option<(Route, BTreeMap<&'static str, String>)> {
    let segments: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    let fits = |route: &&Route| route.1 == request.method.as_str();
    eks::ROUTES
        .iter()
        .filter(fits)
        .find_map(|route| variables(route.2, &segments).map(|found| (*route, found)))
}

/// What the variables of a path stand for, if the path has its form.
fn variables(form: &'static str, segments: &[&str]) -> Option<BTreeMap<&'static str, String>> {
    let parts: Vec<&'static str> = form.trim_start_matches('/').split('/').collect();
    if parts.len() != segments.len() {
        return None;
    }
    let mut found = BTreeMap::new();
    for (part, segment) in parts.into_iter().zip(segments) {
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(variable) if !segment.is_empty() => {
                found.insert(variable, decode(segment));
            }
            None if part == *segment => {}
            Some(_) | None => return None,
        }
    }
    Some(found)
}

/// What a call would ask for, without being carried out.
#[cfg(test)]
pub(crate) fn asks_of(
    world: &World,
    region: &str,
    method: &http::Method,
    path: &str,
    body: Value,
) -> AwsResult<Vec<crate::iam::policy::Ask>> {
    let headers = http::HeaderMap::new();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let received = foo_model::Timestamp(0);
    let request = SignedRequest { method, path, query, headers: &headers, body: &[], received };
    let ((action, ..), path) =
        route(&request).ok_or_else(|| AwsError::new("UnknownOperationException", "not a path of EKS"))?;
    let query = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let call = Call { path, query, body, principals: crate::core::eks::Principals::default(), caller: "" };
    world.in_region(region, |region| crate::asks::eks::of_call(region, action, &call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_its_variables_are() {
        let form = "/clusters/{name}/access-entries/{principalArn}";
        let path = ["clusters", "main", "access-entries", "arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fpath%2Fa%2Bb"];
        let found = variables(form, &path).expect("it fits");
        assert_eq!(found["name"], "main");
        assert_eq!(found["principalArn"], "arn:aws:iam::1:role/path/a+b");
        assert_eq!(variables(form, &["clusters", "", "access-entries", "x"]), None);
        assert_eq!(variables(form, &["clusters", "main", "access-entries"]), None);
    }

    #[test]
    fn no_two_actions_have_the_same_method_and_form() {
        let plain = |form: &'static str| {
            let parts = form.split('/').map(|part| if part.starts_with('{') { "{}" } else { part });
            parts.collect::<Vec<_>>().join("/")
        };
        let all: std::collections::BTreeSet<_> =
            eks::ROUTES.iter().map(|(_, method, form, _)| (method, plain(form))).collect();
        assert_eq!(all.len(), eks::ROUTES.len());
    }
}
