//! Reads tokens: which requests the authenticator is willing to send to STS (kubernetes-sigs/aws-iam-authenticator, `Verify`).

use super::refusal::TokenRefusal;
use crate::wire::signature::{self, Scope};
use crate::wire::sigv4::time_of;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_model::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// The header that names the cluster that a token is for.
pub(super) const CLUSTER: &str = "x-k8s-aws-id";
/// How a token begins.
pub(super) const PREFIX: &str = "k8s-aws-v1.";
/// Longest token, in bytes.
const LONGEST: usize = 4 * 1024;
/// How long a token is valid after it was signed, whatever X-Amz-Expires says.
const VALID: Duration = Duration::from_mins(15);
/// Largest X-Amz-Expires, in seconds.
const EXPIRES: u32 = 900;
/// The parameters that a request may have, in lower case.
const PARAMETERS: [&str; 9] = [
    "action",
    "version",
    "x-amz-algorithm",
    "x-amz-credential",
    "x-amz-date",
    "x-amz-expires",
    "x-amz-security-token",
    "x-amz-signature",
    "x-amz-signedheaders",
];

/// A request that was presigned for STS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Presigned {
    pub(super) scheme: String,
    /// With its port, if it has another than the scheme's.
    pub(super) host: String,
    pub(super) query: String,
    pub(super) scope: Scope,
}

fn format(message: impl Into<String>) -> TokenRefusal {
    TokenRefusal::Format(message.into())
}

/// The request that a token is. Which host it is for is not judged here.
pub(super) fn parse(token: &str, now: Timestamp) -> Result<Presigned, TokenRefusal> {
    if token.len() > LONGEST {
        return Err(format("token is too large"));
    }
    let encoded = token
        .strip_prefix(PREFIX)
        .ok_or_else(|| format("token is missing expected \"k8s-aws-v1.\" prefix"))?;
    let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|error| format(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| format(error.to_string()))?;
    let url = Url::parse(&text).map_err(|error| format(error.to_string()))?;
    if url.path() != "/" {
        return Err(format("unexpected path in pre-signed URL"));
    }
    let query = url.query().unwrap_or_default();
    let parameters = parameters(query)?;
    check(&parameters, now)?;
    let scope = signature::scope(None, query).map_err(TokenRefusal::Sts)?;
    let host = url.host_str().unwrap_or_default();
    Ok(Presigned {
        scheme: url.scheme().to_owned(),
        host: url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        query: query.to_owned(),
        scope,
    })
}

/// The parameters of a query by their names in lower case, each once.
fn parameters(query: &str) -> Result<BTreeMap<String, String>, TokenRefusal> {
    let mut found = BTreeMap::new();
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let lower = name.to_ascii_lowercase();
        if !PARAMETERS.contains(&lower.as_str()) {
            return Err(format(format!("non-whitelisted query parameter \"{name}\"")));
        }
        if found.insert(lower, value.into_owned()).is_some() {
            return Err(format(format!("duplicate query parameter found: \"{name}\"")));
        }
    }
    Ok(found)
}

fn check(parameters: &BTreeMap<String, String>, now: Timestamp) -> Result<(), TokenRefusal> {
    let text = |name: &str| parameters.get(name).map(String::as_str).unwrap_or_default();
    if text("action") != "GetCallerIdentity" {
        return Err(format("unexpected action parameter in pre-signed URL"));
    }
    if !text("x-amz-signedheaders").split(';').any(|name| name.eq_ignore_ascii_case(CLUSTER)) {
        return Err(format(format!("client did not sign the {CLUSTER} header in the pre-signed URL")));
    }
    let expires = text("x-amz-expires");
    if !expires.parse::<u32>().is_ok_and(|seconds| seconds <= EXPIRES) {
        return Err(format(format!("invalid X-Amz-Expires parameter in pre-signed URL: {expires}")));
    }
    let date = text("x-amz-date");
    let signed = time_of(date).ok_or_else(|| format(format!("error parsing X-Amz-Date parameter {date}")))?;
    if now > signed.plus(VALID) {
        return Err(format(format!("X-Amz-Date parameter is expired (15 minute expiration) {date}")));
    }
    Ok(())
}
