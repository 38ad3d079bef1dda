//! AWS's wire protocols: from an HTTP request to an operation of the core and back.
//!
//! One endpoint for all services. The credential scope of the signature names service and region; the response is in
//! that service's XML. The response to any request is one that AWS could give.

pub(crate) mod authentication;
mod autoscaling;
mod ec2;
pub(crate) mod eks;
mod elb;
pub(crate) mod filters;
mod gate;
mod iam;
pub(crate) mod json;
mod json_fields;
pub(crate) mod of_eks;
mod operation;
mod paging;
mod quotas;
mod response;
pub(crate) mod rest;
pub(crate) mod s3;
pub(crate) mod signature;
pub(crate) mod sigv4;
mod sqs;
mod ssm;
mod sts;
mod sts_json;
mod xml;

pub(crate) use response::{WireResponse, XML};

use crate::asks::{self, account, launches};
use crate::core::error::{AwsError, AwsResult};
use crate::faults::CallHead;
use crate::iam::refusals;
use crate::request::params::Params;
use crate::service::Service;
use crate::signing::Scope;
use crate::world::{Ending, World};
use foo_model::Timestamp;
use gate::GateRefusal;
use http::header::AUTHORIZATION;
use operation::{Caller, Operation, named};

use xml::Xml;

/// The parts of an HTTP request that AWS's query protocols use.
pub(crate) struct WireRequest<'a> {
    pub(crate) authorization: Option<&'a str>,
    pub(crate) query: &'a str,
    pub(crate) body: &'a [u8],
    /// When it arrived, in real time.
    pub(crate) received: Timestamp,
}

impl<'a> WireRequest<'a> {
    fn form(&self) -> &'a [u8] {
        if self.body.is_empty() { self.query.as_bytes() } else { self.body }
    }
}

/// The operation of an action, by what it works on.
enum Subject {
    Region(Operation),
    Account(sts::Operation),
}

/// Verifies the signature of a request if there are known keys, and responds, in JSON if it is for STS and asks for that.
pub(crate) async fn respond_to_verified(world: &World, request: sigv4::SignedRequest<'_>) -> WireResponse {
    if sts_json::is_requested(&request) {
        return sts_json::of(judged(world, request).await);
    }
    judged(world, request).await
}

async fn judged(world: &World, request: sigv4::SignedRequest<'_>) -> WireResponse {
    let authorization = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let plain =
        WireRequest { authorization, query: request.query, body: request.body, received: request.received };
    // Requests without a scope, or with that of an unknown service, get the same refusal with and without keys.
    let scope = signature::scope(authorization, request.query);
    let Ok((scope, service)) =
        scope.and_then(|scope| signature::service_of(&scope).map(|service| (scope, service)))
    else {
        return respond(world, plain).await;
    };
    if let Err(error) = authentication::authenticate(world, &request, &scope, service) {
        let action =
            Params::parse(plain.form()).ok().and_then(|params| params.text("Action").map(str::to_owned));
        let action: String = action.unwrap_or_default().chars().take(64).collect();
        let call = CallHead {
            caller: &scope.caller,
            region: &scope.region,
            service,
            action: &action,
            parameters: "",
        };
        world.record_refusal(&call, &error);
        return refuse(service, &error, world.request_id());
    }
    respond(world, plain).await
}

/// Responds to a request whose signature was verified or need not be.
pub(crate) async fn respond(world: &World, request: WireRequest<'_>) -> WireResponse {
    let request_id = world.request_id();
    let form = request.form();
    let (scope, service) = match scope_and_service(world, &request, &request_id) {
        Ok(found) => found,
        Err(refusal) => return refusal,
    };
    let (params, action, subject) = match find(service, form) {
        Ok(found) => found,
        Err(error) => return refuse(service, &error, request_id),
    };
    let parameters = lines(form);
    let call = CallHead {
        caller: &scope.caller,
        region: &scope.region,
        service,
        action: &action,
        parameters: &parameters,
    };
    let ending = match gate::pass(world, &call).await {
        Ok(ending) => ending,
        Err(GateRefusal::Response(error)) => return refuse(service, &error, request_id),
        Err(GateRefusal::Dropped) => return WireResponse::Dropped,
    };
    let result = carry_out(world, &call, ending, (&params, subject), request.received);
    if ending == Ending::Never {
        return std::future::pending().await;
    }
    let response = match result.map_err(|error| in_words_of(service, error)) {
        Ok(inside) => {
            let body = success(service, &action, params.text("Version"), &inside, &request_id);
            WireResponse::Xml { status: 200, body, request_id }
        }
        Err(error) => refuse(service, &error, request_id),
    };
    match (ending, response) {
        (Ending::Lost, _) => WireResponse::Dropped,
        (Ending::Truncated, WireResponse::Xml { status, body, .. }) => {
            WireResponse::Truncated { status, body, content_type: XML }
        }
        (_, response) => response,
    }
}

/// The scope of a request and the service that it names; otherwise the response that refuses it.
fn scope_and_service(
    world: &World,
    request: &WireRequest<'_>,
    request_id: &str,
) -> Result<(Scope, Service), WireResponse> {
    let form = request.form();
    let scope = match signature::scope(request.authorization, request.query) {
        Ok(scope) => scope,
        // "Calling AssumeRoleWithWebIdentity does not require the use of AWS security credentials" (API Reference).
        Err(_) if sts::is_unsigned(form) => signature::scope_of_anonymous(&world.config),
        Err(error) => return Err(refuse(guess_service(form), &error, request_id.to_owned())),
    };
    match signature::service_of(&scope) {
        Ok(service) => Ok((scope, service)),
        Err(error) if signature::speaks_rest_json(&scope.service) => {
            Err(json::refuse_rest("UnknownOperationException", &error, request_id.to_owned()))
        }
        Err(error) => Err(refuse(guess_service(form), &error, request_id.to_owned())),
    }
}

/// The parameters of a form as lines `name=value`, in which fault rules search.
fn lines(form: &[u8]) -> String {
    let text = String::from_utf8_lossy(form);
    let pairs = url::form_urlencoded::parse(text.as_bytes());
    pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n")
}

/// Checks the permissions of the caller and runs the operation. Returns the inside of the response.
///
/// # Errors
/// The operation's refusal, or that of IAM.
fn carry_out(
    world: &World,
    call: &CallHead<'_>,
    ending: Ending,
    (params, subject): (&Params, Subject),
    received: Timestamp,
) -> AwsResult<String> {
    let caller = Caller {
        arn: world.arn_of(call.caller),
        name: call.caller,
        account: &world.config.account,
        received,
    };
    let key = world.lock().keys.get(call.caller);
    let mut xml = Xml::default();
    world.carry_out_anywhere(call, ending, |inner| {
        let provider = account::tags_of_provider(&inner.keys.directory, params);
        let region = inner.region(&world.config, call.region)?;
        region.begin_reads();
        if let Some(key) = &key {
            let mut asks = asks::of_call(region, call.service, call.action, params);
            if let Some(tags) = &provider {
                asks = account::on_provider(asks, tags);
            }
            refusals::check(key, &asks, call.service, &caller.arn)?;
            launches::check(key, region, call.action, params)?;
        }
        // EC2 API Reference, "DryRun": the permissions are checked, nothing else is.
        if call.service == Service::Ec2 && params.flag("DryRun")? == Some(true) {
            let text = "Request would have succeeded, but DryRun flag is set.";
            return Err(AwsError::new("DryRunOperation", text).status(412));
        }
        match subject {
            Subject::Region(operation) => operation(region, params, &caller, &mut xml),
            Subject::Account(operation) => operation(inner, params, &caller, &mut xml),
        }
    })?;
    Ok(xml.into_text())
}

/// Parses a form, and finds the operation that it names.
fn find(service: Service, form: &[u8]) -> AwsResult<(Params, String, Subject)> {
    let params = Params::parse(form)?;
    let action = params
        .text("Action")
        .filter(|action| !action.is_empty())
        .ok_or_else(|| {
            AwsError::new("MissingAction", "The request is missing an action or a required parameter.")
        })?
        .to_owned();
    let operation = match service {
        Service::AutoScaling => named(&autoscaling::ACTIONS, &action).map(Subject::Region),
        Service::Ec2 => named(&ec2::ACTIONS, &action)
            .or_else(|| named(&ec2::NETWORK_ACTIONS, &action))
            .map(Subject::Region),
        Service::Sts => named(&sts::ACTIONS, &action).map(Subject::Account),
        Service::Iam => named(&iam::ACTIONS, &action).map(Subject::Account),
        Service::ElasticLoadBalancing => named(&elb::ACTIONS, &action).map(Subject::Region),
        // These services have protocols of their own.
        Service::Sqs | Service::Ssm | Service::ServiceQuotas | Service::Eks | Service::S3 => None,
    };
    let shown: String = action.chars().take(64).collect();
    let operation = operation.ok_or_else(|| {
        AwsError::new("InvalidAction", format!("The action {shown} is not valid for this web service."))
    })?;
    Ok((params, action, operation))
}

/// All services with their actions.
pub(crate) fn all_actions() -> Vec<(Service, &'static str)> {
    fn names<T>(service: Service, actions: &'static [(&'static str, T)]) -> Vec<(Service, &'static str)> {
        actions.iter().map(|(name, _)| (service, *name)).collect()
    }
    [
        names(Service::AutoScaling, &autoscaling::ACTIONS),
        names(Service::Ec2, &ec2::ACTIONS),
        names(Service::Ec2, &ec2::NETWORK_ACTIONS),
        names(Service::ElasticLoadBalancing, &elb::ACTIONS),
        names(Service::ServiceQuotas, &quotas::ACTIONS),
        names(Service::Sts, &sts::ACTIONS),
        names(Service::Iam, &iam::ACTIONS),
        eks::ROUTES.iter().map(|(name, ..)| (Service::Eks, *name)).collect(),
        s3::ACTIONS.iter().map(|name| (Service::S3, *name)).collect(),
        names(Service::Sqs, &sqs::ACTIONS),
        names(Service::Ssm, &ssm::ACTIONS),
    ]
    .concat()
}

/// An error with the code that its service uses: the core and the parsing of parameters use the codes of both
/// families.
fn in_words_of(service: Service, mut error: AwsError) -> AwsError {
    match (service, error.code.as_str()) {
        (Service::Ec2, "ValidationError") => "InvalidParameterValue".clone_into(&mut error.code),
        (
            Service::AutoScaling
            | Service::Sts
            | Service::Sqs
            | Service::Ssm
            | Service::ElasticLoadBalancing
            | Service::ServiceQuotas
            | Service::Iam,
            "MissingParameter" | "InvalidParameterValue",
        ) => {
            "ValidationError".clone_into(&mut error.code);
        }
        _ => {}
    }
    error
}

/// The service for the response's XML if the signature does not name it: derived from the API version.
fn guess_service(form: &[u8]) -> Service {
    let is_ec2 = form.windows(18).any(|window| window == b"Version=2016-11-15");
    if is_ec2 { Service::Ec2 } else { Service::AutoScaling }
}

/// Namespace of a service's XML. The version in the request distinguishes the two APIs of Elastic Load Balancing.
fn namespace(service: Service, version: Option<&str>) -> &'static str {
    match service {
        Service::AutoScaling => "http://autoscaling.amazonaws.com/doc/2011-01-01/",
        Service::Ec2 => "http://ec2.amazonaws.com/doc/2016-11-15/",
        Service::Sts => "https://sts.amazonaws.com/doc/2011-06-15/",
        Service::Sqs => "http://queue.amazonaws.com/doc/2012-11-05/",
        Service::Ssm => "http://ssm.amazonaws.com/doc/2014-11-06/",
        Service::ElasticLoadBalancing if version == Some(elb::CLASSIC) => {
            "http://elasticloadbalancing.amazonaws.com/doc/2012-06-01/"
        }
        Service::ElasticLoadBalancing => "http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/",
        Service::ServiceQuotas => "http://servicequotas.amazonaws.com/doc/2019-06-24/",
        Service::Eks => "http://eks.amazonaws.com/doc/2017-11-01/",
        Service::Iam => "https://iam.amazonaws.com/doc/2010-05-08/",
        Service::S3 => s3::NAMESPACE,
    }
}

fn success(service: Service, action: &str, version: Option<&str>, inside: &str, request_id: &str) -> String {
    let inside = match service {
        Service::Ec2 => format!("<requestId>{request_id}</requestId>{inside}"),
        Service::AutoScaling
        | Service::Sts
        | Service::Sqs
        | Service::Ssm
        | Service::ElasticLoadBalancing
        | Service::ServiceQuotas
        | Service::Eks
        | Service::Iam
        | Service::S3 => format!(
            "<{action}Result>{inside}</{action}Result><ResponseMetadata><RequestId>{request_id}</RequestId>\
             </ResponseMetadata>"
        ),
    };
    xml::root(&format!("{action}Response"), namespace(service, version), &inside)
}

fn refuse(service: Service, error: &AwsError, request_id: String) -> WireResponse {
    let mut xml = Xml::default();
    let body = match service {
        Service::Ec2 => {
            xml.within("Errors", |xml| {
                xml.within("Error", |xml| {
                    xml.text("Code", &error.code);
                    xml.text("Message", &error.message);
                });
            });
            xml.text("RequestID", &request_id);
            format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response>{}</Response>", xml.into_text())
        }
        Service::AutoScaling
        | Service::Sts
        | Service::Sqs
        | Service::Ssm
        | Service::ElasticLoadBalancing
        | Service::ServiceQuotas
        | Service::Eks
        | Service::Iam
        | Service::S3 => {
            xml.within("Error", |xml| {
                xml.text("Type", if error.status < 500 { "Sender" } else { "Receiver" });
                xml.text("Code", &error.code);
                xml.text("Message", &error.message);
            });
            xml.text("RequestId", &request_id);
            xml::root("ErrorResponse", namespace(service, None), &xml.into_text())
        }
    };
    WireResponse::Xml { status: error.status, body, request_id }
}
