//! Requests and responses as they are on the wire, for recordings of how AWS behaves.
//!
//! Credentials never get here: of all headers only those are kept that say what a body is, and a request without a
//! signature, which would exchange one identity for another, is not recorded. Roles are assumed by clients of the SDK's credential
//! providers, which have no recorder.

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, Metadata};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// One request with its response. Texts are as they were sent, with everything that AWS says about the account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The service as the credential scope has it (`autoscaling`).
    pub service: String,
    /// The region as the credential scope has it.
    pub region: String,
    /// AWS's name of the operation.
    pub operation: String,
    /// HTTP method.
    pub method: String,
    /// Path and query, without the host.
    pub path: String,
    /// The header `x-amz-target`, which names the operation in AWS's JSON protocols.
    pub target: Option<String>,
    /// The header `content-type` of the request.
    pub content_type: Option<String>,
    /// The body of the request; empty if it is not a text.
    pub request: String,
    /// HTTP status.
    pub status: u16,
    /// The body of the response; empty if it is not a text.
    pub response: String,
    /// From the request until the response was read.
    pub took: Duration,
}

/// Receives each exchange, repetitions included, after its response. Clones are the same receiver.
#[derive(Clone)]
pub struct Recorder(Arc<dyn Fn(Exchange) + Send + Sync>);

impl Recorder {
    /// A recorder that hands each exchange to `record`.
    pub fn new(record: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        Self(Arc::new(record))
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recorder")
    }
}

/// The interceptor of all clients; without a recorder it does nothing.
#[derive(Clone, Debug)]
pub(crate) struct Recording(pub(crate) Option<Recorder>);

/// A request that has no response yet.
#[derive(Debug)]
struct Sent(Exchange, Instant);

impl Storable for Sent {
    type Storer = StoreReplace<Self>;
}

impl Sent {
    /// `None` for a request that is not signed.
    fn of(request: &HttpRequest, operation: &str) -> Option<Self> {
        let header = |name: &str| request.headers().get(name).map(str::to_owned);
        let (region, service) = scope(request.headers().get("authorization")?)?;
        let exchange = Exchange {
            service: service.to_owned(),
            region: region.to_owned(),
            operation: operation.to_owned(),
            method: request.method().to_owned(),
            path: path(request.uri()).to_owned(),
            target: header("x-amz-target"),
            content_type: header("content-type"),
            request: text(request.body()),
            status: 0,
            response: String::new(),
            took: Duration::ZERO,
        };
        Some(Self(exchange, Instant::now()))
    }
}

impl Intercept for Recording {
    fn name(&self) -> &'static str {
        "Recording"
    }

    fn read_before_transmit(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let operation = config.load::<Metadata>().map(|it| it.name().to_owned()).unwrap_or_default();
        if self.0.is_some()
            && let Some(sent) = Sent::of(context.request(), &operation)
        {
            config.interceptor_state().store_put(sent);
        }
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        if let (Some(Recorder(record)), Some(Sent(sent, at)), Some(response)) =
            (&self.0, config.load::<Sent>(), context.response())
        {
            record(Exchange {
                status: response.status().as_u16(),
                response: text(response.body()),
                took: at.elapsed(),
                ..sent.clone()
            });
        }
        Ok(())
    }
}

/// Region and service of a signature: `Credential=<key>/<date>/<region>/<service>/aws4_request`.
fn scope(authorization: &str) -> Option<(&str, &str)> {
    let (_, credential) = authorization.split_once("Credential=")?;
    let mut parts = credential.split([',', ' ']).next()?.rsplit('/');
    let (_, service, region) = (parts.next()?, parts.next()?, parts.next()?);
    Some((region, service))
}

/// Path and query of a URI.
fn path(uri: &str) -> &str {
    let after_scheme = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    after_scheme.find('/').and_then(|at| after_scheme.get(at..)).unwrap_or("/")
}

fn text(body: &SdkBody) -> String {
    body.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scope_of_a_signature_names_region_and_service_and_the_path_has_no_host() {
        let header =
            "AWS4-HMAC-SHA256 Credential=AKIA1/20260101/eu-central-1/ec2/aws4_request, SignedHeaders=host";
        assert_eq!(scope(header), Some(("eu-central-1", "ec2")));
        assert_eq!(scope("Bearer x"), None);
        for (uri, expected) in [
            ("https://ec2.eu-central-1.amazonaws.com/", "/"),
            ("http://127.0.0.1:1/clusters/main?x=1", "/clusters/main?x=1"),
            ("http://127.0.0.1:1", "/"),
        ] {
            assert_eq!(path(uri), expected);
        }
    }
}
