//! Presigning: the URL of GetCallerIdentity, with the cluster's name among what is signed.

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SignatureLocation, SigningSettings, sign};
use aws_sigv4::sign::v4;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::error::Error;
use std::time::{Duration, SystemTime};

/// How a token begins.
const PREFIX: &str = "k8s-aws-v1.";
/// The header that names the cluster. It is signed but not in the URL: the authenticator adds it with its own cluster's name.
const CLUSTER: &str = "x-k8s-aws-id";
/// X-Amz-Expires. Authenticators ignore it, but it must be there.
const EXPIRES: Duration = Duration::from_mins(1);

/// A token for a cluster, signed at that time for STS of a region: `(region, https://host)`.
pub(super) fn token(
    keys: &Credentials,
    (region, sts): (&str, &str),
    cluster: &str,
    at: SystemTime,
) -> Result<String, String> {
    let url = presigned(keys, (region, sts), cluster, at).map_err(|error| error.to_string())?;
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(url)))
}

fn presigned(
    keys: &Credentials,
    (region, sts): (&str, &str),
    cluster: &str,
    at: SystemTime,
) -> Result<String, Box<dyn Error>> {
    let url = format!("{sts}/?Action=GetCallerIdentity&Version=2011-06-15");
    let mut settings = SigningSettings::default();
    settings.signature_location = SignatureLocation::QueryParams;
    settings.expires_in = Some(EXPIRES);
    let identity = keys.clone().into();
    let params = v4::SigningParams::builder().identity(&identity).region(region).name("sts");
    let params = params.time(at).settings(settings).build()?.into();
    let body = SignableBody::Bytes(&[]);
    let signable = SignableRequest::new("GET", &url, [(CLUSTER, cluster)].into_iter(), body)?;
    let (instructions, _signature) = sign(signable, &params)?.into_parts();
    let mut request = http::Request::builder().uri(&url).body(())?;
    instructions.apply_to_request_http1x(&mut request);
    Ok(request.uri().to_string())
}
