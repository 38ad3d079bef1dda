//! AWS's wire protocols: from an HTTP request to an operation of the core and back.
//!
//! One endpoint for all services. The credential scope of the signature says which service and region are meant; the
//! answer is in that service's XML. Whatever comes in, the answer is one that AWS could have given.

mod answer;
mod authentication;
mod autoscaling;
pub(crate) mod call;
mod ec2;
mod eks;
mod elb;
mod filters;
mod iam;
pub(crate) mod json;
mod operation;
mod paging;
pub(crate) mod params;
mod quotas;
pub(crate) mod rest;
pub(crate) mod signature;
pub(crate) mod sigv4;
mod sqs;
mod ssm;
mod sts;
mod xml;

pub(crate) use answer::{WireAnswer, XML};

use crate::core::error::{AwsError, AwsResult};
use crate::faults::CallHead;
use crate::iam::{asks, launches, refusals};
use crate::service::Service;
use crate::world::{Ending, Gate, World};
use foo_model::Timestamp;
use http::header::AUTHORIZATION;
use operation::{Caller, Operation, named};
use params::Params;
use signature::Scope;
use std::time::Duration;
use xml::Xml;

/// An HTTP request, as far as AWS's query protocols look at it.
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

/// What an action works on.
enum Subject {
    Region(Operation),
    Account(sts::Operation),
}

/// Verifies the signature of a request if there are known keys, and answers it.
pub(crate) async fn answer_verified(world: &World, request: sigv4::SignedRequest<'_>) -> WireAnswer {
    let authorization = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let plain =
        WireRequest { authorization, query: request.query, body: request.body, received: request.received };
    // What has no scope, or one of a service that is not there, is refused in the same way with and without keys.
    let scope = signature::scope(authorization, request.query);
    let Ok((scope, service)) =
        scope.and_then(|scope| signature::service_of(&scope).map(|service| (scope, service)))
    else {
        return answer(world, plain).await;
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
    answer(world, plain).await
}

/// Answers a request whose signature is not in question.
pub(crate) async fn answer(world: &World, request: WireRequest<'_>) -> WireAnswer {
    let request_id = world.request_id();
    let form = request.form();
    let scope = match signature::scope(request.authorization, request.query) {
        Ok(scope) => scope,
        // "Calling AssumeRoleWithWebIdentity does not require the use of AWS security credentials" (API Reference).
        Err(_) if sts::is_unsigned(form) => Scope::of_nobody(&world.config),
        Err(error) => return refuse(guess_service(form), &error, request_id),
    };
    let service = match signature::service_of(&scope) {
        Ok(service) => service,
        Err(error) if signature::speaks_rest_json(&scope.service) => {
            return json::refuse_rest("UnknownOperationException", &error, request_id);
        }
        Err(error) => return refuse(guess_service(form), &error, request_id),
    };
    let (params, action, subject) = match find(service, form) {
        Ok(found) => found,
        Err(error) => return refuse(service, &error, request_id),
    };
    let parameters = String::from_utf8_lossy(form);
    let parameters: Vec<String> = url::form_urlencoded::parse(parameters.as_bytes())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let parameters = parameters.join("\n");
    let call = CallHead {
        caller: &scope.caller,
        region: &scope.region,
        service,
        action: &action,
        parameters: &parameters,
    };
    let (wait, ending) = match world.gate(&call) {
        Gate::Open(wait) => (wait, Ending::Whole),
        Gate::AnswerLost => (Duration::ZERO, Ending::Lost),
        Gate::Truncated => (Duration::ZERO, Ending::Truncated),
        Gate::Silence => (Duration::ZERO, Ending::Never),
        Gate::Hangs => std::future::pending().await,
        Gate::Refused(error) => return refuse(service, &error, request_id),
        Gate::Dropped | Gate::Unreachable => return WireAnswer::Dropped,
    };
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    let caller = Caller {
        arn: world.arn_of(&scope.caller),
        name: &scope.caller,
        account: &world.config.account,
        received: request.received,
    };
    let key = world.lock().keys.get(&scope.caller);
    let mut xml = Xml::default();
    let result = world
        .carry_out_anywhere(&call, ending, |inner| {
            let region = inner.region(&world.config, call.region)?;
            region.begin_reads();
            if let Some(key) = &key {
                let asks = asks::of_call(region, service, &action, &params);
                refusals::check(key, &asks, service, &caller.arn)?;
                launches::check(key, region, &action, &params)?;
            }
            // EC2 API Reference, "DryRun": the permissions are checked, nothing else is.
            if service == Service::Ec2 && params.flag("DryRun")? == Some(true) {
                let text = "Request would have succeeded, but DryRun flag is set.";
                return Err(AwsError::new("DryRunOperation", text).status(412));
            }
            match subject {
                Subject::Region(operation) => operation(region, &params, &caller, &mut xml),
                Subject::Account(operation) => operation(inner, &params, &caller, &mut xml),
            }
        })
        .map_err(|error| in_words_of(service, error));
    if ending == Ending::Never {
        return std::future::pending().await;
    }
    let whole = match result {
        Ok(()) => {
            let body = success(service, &action, params.text("Version"), &xml.into_text(), &request_id);
            WireAnswer::Xml { status: 200, body, request_id }
        }
        Err(error) => refuse(service, &error, request_id),
    };
    match (ending, whole) {
        (Ending::Lost, _) => WireAnswer::Dropped,
        (Ending::Truncated, WireAnswer::Xml { status, body, .. }) => {
            WireAnswer::Truncated { status, body, content_type: XML }
        }
        (_, whole) => whole,
    }
}

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
        // Only their JSON protocol is spoken.
        Service::Sqs | Service::Ssm | Service::ServiceQuotas | Service::Eks => None,
    };
    let shown: String = action.chars().take(64).collect();
    let operation = operation.ok_or_else(|| {
        AwsError::new("InvalidAction", format!("The action {shown} is not valid for this web service."))
    })?;
    Ok((params, action, operation))
}

/// All services and the actions that they know.
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
        names(Service::Sqs, &sqs::ACTIONS),
        names(Service::Ssm, &ssm::ACTIONS),
    ]
    .concat()
}

/// The core speaks both dialects; parameters are read with one vocabulary for all services.
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

/// Whose XML an answer is in when the signature does not say: the API version does.
fn guess_service(form: &[u8]) -> Service {
    let is_ec2 = form.windows(18).any(|window| window == b"Version=2016-11-15");
    if is_ec2 { Service::Ec2 } else { Service::AutoScaling }
}

/// Namespace of a service's XML. Of the two APIs of Elastic Load Balancing only the one of classic load balancers has a version
/// of its own in requests.
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
        | Service::Iam => format!(
            "<{action}Result>{inside}</{action}Result><ResponseMetadata><RequestId>{request_id}</RequestId>\
             </ResponseMetadata>"
        ),
    };
    xml::root(&format!("{action}Response"), namespace(service, version), &inside)
}

fn refuse(service: Service, error: &AwsError, request_id: String) -> WireAnswer {
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
        | Service::Iam => {
            xml.within("Error", |xml| {
                xml.text("Type", if error.status < 500 { "Sender" } else { "Receiver" });
                xml.text("Code", &error.code);
                xml.text("Message", &error.message);
            });
            xml.text("RequestId", &request_id);
            xml::root("ErrorResponse", namespace(service, None), &xml.into_text())
        }
    };
    WireAnswer::Xml { status: error.status, body, request_id }
}
