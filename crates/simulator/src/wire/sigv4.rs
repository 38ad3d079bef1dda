//! Verification of Signature Version 4 (IAM User Guide, "Create a signed AWS API request"), in the Authorization
//! header or presigned. Only signatures of known keys can be verified.

use crate::core::error::{AwsError, AwsResult};
use crate::iam::refusals;
use crate::service::Service;
use crate::signing::{Scope, Signed, decode, signature};
use foo_model::Timestamp;
use http::{HeaderMap, Method};
use std::time::Duration;

/// Maximum difference between the time of a signature and the time of its arrival, in both directions.
const TOLERANCE: Duration = Duration::from_mins(15);
/// Longest life of a presigned request, in seconds: seven days.
const EXPIRES_MAX: u64 = 604_800;

/// The parts of an HTTP request that are signed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignedRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    /// Real time, because callers sign with their real time and not with virtual time.
    pub(crate) received: Timestamp,
}

/// The parts of a signature that are not in the credential scope.
struct Parts {
    signed_headers: String,
    signature: String,
    signed_at: String,
    valid: Duration,
}

/// Checks the signature of a request with the key's secret.
pub(crate) fn verify(
    request: &SignedRequest<'_>,
    scope: &Scope,
    secret: &str,
    service: Service,
) -> AwsResult<()> {
    let parts = parts(request).ok_or_else(|| {
        AwsError::new(
            "IncompleteSignature",
            "The request must have the parameters 'SignedHeaders' and 'Signature' and the header 'X-Amz-Date'.",
        )
    })?;
    let signed_at = time_of(&parts.signed_at).ok_or_else(|| refusals::expired(service, &parts.signed_at))?;
    // STS ignores X-Amz-Expires (kubernetes-sigs/aws-iam-authenticator, pkg/token).
    let valid = if service == Service::Sts { TOLERANCE } else { parts.valid };
    let (earliest, latest) =
        (signed_at.0.saturating_sub(millis(TOLERANCE)), signed_at.0.saturating_add(millis(valid)));
    if request.received.0 < earliest || request.received.0 > latest {
        return Err(refusals::expired(service, &parts.signed_at));
    }
    if expected(request, scope, secret, &parts.signed_headers, &parts.signed_at) == parts.signature {
        Ok(())
    } else {
        Err(refusals::wrong_signature(service))
    }
}

/// The signature that a request must have, made at this time over these headers (`host;x-amz-date`).
fn expected(
    request: &SignedRequest<'_>,
    scope: &Scope,
    secret: &str,
    signed_headers: &str,
    signed_at: &str,
) -> String {
    let headers: Vec<(&str, String)> =
        signed_headers.split(';').map(|name| (name, value_of(request.headers, name))).collect();
    let signed = Signed {
        method: request.method.as_str(),
        path: request.path,
        query: request.query,
        headers: &headers,
        body: request.body,
    };
    signature(&signed, scope, secret, signed_at)
}

/// All values of a header, as they are signed.
fn value_of(headers: &HeaderMap, name: &str) -> String {
    let values: Vec<String> = headers
        .get_all(name)
        .into_iter()
        .map(|value| {
            let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
            text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
        })
        .collect();
    values.join(",")
}

/// The session token of temporary credentials.
pub(crate) fn security_token(request: &SignedRequest<'_>) -> Option<String> {
    if let Some(token) = request.headers.get("x-amz-security-token") {
        return token.to_str().ok().map(str::to_owned);
    }
    let mut fields = request.query.split('&').filter_map(|field| field.split_once('='));
    fields.find(|(name, _)| *name == "X-Amz-Security-Token").map(|(_, value)| decode(value))
}

fn parts(request: &SignedRequest<'_>) -> Option<Parts> {
    let header =
        |name: &str| request.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    if let Some(authorization) = header("authorization") {
        let field = |name: &str| {
            authorization.split([',', ' ']).find_map(|part| part.trim().strip_prefix(name)).map(str::to_owned)
        };
        return Some(Parts {
            signed_headers: field("SignedHeaders=")?,
            signature: field("Signature=")?,
            signed_at: header("x-amz-date")?,
            valid: TOLERANCE,
        });
    }
    let field = |wanted: &str| {
        let mut fields = request.query.split('&').filter_map(|field| field.split_once('='));
        fields.find(|(name, _)| *name == wanted).map(|(_, value)| decode(value))
    };
    let expires: u64 = field("X-Amz-Expires")?.parse().ok().filter(|seconds| *seconds <= EXPIRES_MAX)?;
    Some(Parts {
        signed_headers: field("X-Amz-SignedHeaders")?,
        signature: field("X-Amz-Signature")?,
        signed_at: field("X-Amz-Date")?,
        valid: Duration::from_secs(expires),
    })
}

/// `20260101T000000Z`
fn time_of(text: &str) -> Option<Timestamp> {
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", text).ok()?;
    let zoned = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp(zoned.timestamp().as_millisecond()))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    const AT: &str = "20150830T123600Z";
    const QUERY: &str = "Action=ListUsers&Version=2010-05-08";

    fn check(secret: &str, query: &str, minutes_late: i64, signature: &str) -> AwsResult<()> {
        let mut headers = HeaderMap::new();
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, Signature={signature}"
        );
        let content_type = "application/x-www-form-urlencoded; charset=utf-8";
        headers.insert("content-type", HeaderValue::from_static(content_type));
        headers.insert("host", HeaderValue::from_static("iam.amazonaws.com"));
        headers.insert("x-amz-date", HeaderValue::from_static(AT));
        headers.insert("authorization", HeaderValue::from_str(&authorization).expect("a header"));
        let signed = time_of(AT).expect("a time");
        let received = Timestamp(signed.0 + minutes_late * 60_000);
        let request =
            SignedRequest { method: &Method::GET, path: "/", query, headers: &headers, body: b"", received };
        let scope = Scope { caller: "AKIDEXAMPLE".into(), region: "us-east-1".into(), service: "iam".into() };
        verify(&request, &scope, secret, Service::AutoScaling)
    }

    /// The example of the AWS General Reference, "Signature Version 4 signing process": ListUsers of IAM.
    #[test]
    fn awss_own_example_is_verified() {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        let signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";
        assert_eq!(check(secret, QUERY, 0, signature), Ok(()));
        assert_eq!(check(secret, "Version=2010-05-08&Action=ListUsers", 14, signature), Ok(()));
        let code = |result: AwsResult<()>| result.expect_err("refused").code;
        assert_eq!(code(check("another", QUERY, 0, signature)), "SignatureDoesNotMatch");
        assert_eq!(code(check(secret, "Action=ListRoles", 0, signature)), "SignatureDoesNotMatch");
        assert!(
            check(secret, QUERY, 16, signature).expect_err("late").message.starts_with("Signature expired")
        );
        assert!(check(secret, QUERY, -16, signature).is_err());
    }
}
