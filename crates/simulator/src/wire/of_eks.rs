//! AWS as EKS itself calls it: the authenticators of clusters (kubernetes-sigs/aws-iam-authenticator) send STS the presigned
//! request that a token is, and ask EC2 what an instance is called.
//!
//! These calls are EKS's: no limit, fault or count of the account applies to them. A token is judged as STS judges every presigned
//! request; EKS's own signatures are not verified.

use super::authentication::authenticate;
use super::operation::Caller;
use super::sigv4::SignedRequest;
use super::xml::Xml;
use super::{Subject, WireResponse, find, in_words_of, refuse, signature, sts_json, success};
use crate::core::error::{AwsError, AwsResult};
use crate::service::Service;
use crate::signing::Scope;
use crate::world::World;
use http::header::{AUTHORIZATION, HOST};

/// The region that signs for STS's global host (AWS STS API Reference, "Endpoints").
const GLOBAL_REGION: &str = "us-east-1";

/// Responds to a request of an authenticator, in JSON if it is for STS and asks for that.
pub(crate) fn respond(world: &World, request: &SignedRequest<'_>) -> WireResponse {
    let response = in_xml(world, request);
    if sts_json::is_requested(request) { sts_json::of(response) } else { response }
}

fn in_xml(world: &World, request: &SignedRequest<'_>) -> WireResponse {
    let request_id = world.request_id();
    let authorization = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let scope = signature::scope(authorization, request.query);
    let known = scope.and_then(|scope| signature::service_of(&scope).map(|service| (scope, service)));
    let (scope, service) = match known {
        Ok(known) => known,
        Err(error) => return refuse(Service::Sts, &error, request_id),
    };
    match carry_out(world, request, &scope, service, &request_id) {
        Ok(body) => WireResponse::Xml { status: 200, body, request_id },
        Err(error) => refuse(service, &in_words_of(service, error), request_id),
    }
}

/// The response's body.
fn carry_out(
    world: &World,
    request: &SignedRequest<'_>,
    scope: &Scope,
    service: Service,
    request_id: &str,
) -> AwsResult<String> {
    if service == Service::Sts {
        is_for_the_host(request, scope)?;
        authenticate(world, request, scope, service)?;
    }
    let form = if request.body.is_empty() { request.query.as_bytes() } else { request.body };
    let (params, action, subject) = find(service, form)?;
    if !matches!(
        (service, action.as_str()),
        (Service::Sts, "GetCallerIdentity") | (Service::Ec2, "DescribeInstances")
    ) {
        return Err(AwsError::new("AccessDenied", "EKS does not call this action.").status(403));
    }
    let caller = Caller {
        arn: world.arn_of(&scope.caller),
        name: &scope.caller,
        account: &world.config.account,
        received: request.received,
    };
    let mut xml = Xml::default();
    let mut inner = world.lock();
    match subject {
        Subject::Region(operation) => {
            operation(inner.region(&world.config, &scope.region)?, &params, &caller, &mut xml)?;
        }
        Subject::Account(operation) => operation(&mut inner, &params, &caller, &mut xml)?,
    }
    Ok(success(service, &action, params.text("Version"), &xml.into_text(), request_id))
}

/// Refuses a request that is signed for another region than that of the host it was sent to, as STS does.
fn is_for_the_host(request: &SignedRequest<'_>, scope: &Scope) -> AwsResult<()> {
    let host = request.headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if region_of(host) == Some(scope.region.as_str()) {
        return Ok(());
    }
    let text = "Credential should be scoped to a valid region. ";
    Err(AwsError::new("SignatureDoesNotMatch", text).status(403))
}

/// The region of one of STS's hosts, FIPS and dual stack included.
fn region_of(host: &str) -> Option<&str> {
    if host == "sts.amazonaws.com" {
        return Some(GLOBAL_REGION);
    }
    let (service, rest) = host.split_once('.')?;
    let (region, _domain) = rest.split_once('.')?;
    ["sts", "sts-fips"].contains(&service).then_some(region)
}
