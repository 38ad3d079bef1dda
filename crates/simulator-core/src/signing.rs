//! Signatures of Version 4 (IAM User Guide, "Create a signed AWS API request"): how one is calculated. It knows no HTTP and verifies
//! nothing; `wire::sigv4` does.

use crate::service::Service;
use foo_model::Timestamp;
use hmac::{Hmac, Mac as _};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The credential scope of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Access key id.
    pub caller: String,
    /// Region.
    pub region: String,
    /// Service.
    pub service: String,
}

/// The parts of a request that are signed.
#[derive(Clone, Copy, Debug)]
pub struct Signed<'a> {
    /// Its method.
    pub method: &'a str,
    /// Its path, as it is sent.
    pub path: &'a str,
    /// Its query, as it is sent; without the signature.
    pub query: &'a str,
    /// The signed headers in the order of the signature, each with its value.
    pub headers: &'a [(&'a str, String)],
    /// Its body.
    pub body: &'a [u8],
}

/// The signature of a request, made at this time (`20260102T030405Z`).
pub fn signature(request: &Signed<'_>, scope: &Scope, secret: &str, signed_at: &str) -> String {
    let date = signed_at.get(..8).unwrap_or_default();
    let credential_scope = format!("{date}/{}/{}/aws4_request", scope.region, scope.service);
    // S3 alone takes the path as it was sent (IAM User Guide, "Create a signed AWS API request", canonical URI).
    let path = if scope.service == Service::S3.name() {
        request.path.to_owned()
    } else {
        encode(request.path, true)
    };
    let canonical = canonical_request(request, &path);
    let to_sign = format!(
        "AWS4-HMAC-SHA256\n{signed_at}\n{credential_scope}\n{}",
        hex(&Sha256::digest(canonical.as_bytes()))
    );
    let signing_key = [date, &scope.region, &scope.service, "aws4_request"]
        .iter()
        .fold(format!("AWS4{secret}").into_bytes(), |key, part| mac(&key, part.as_bytes()));
    hex(&mac(&signing_key, to_sign.as_bytes()))
}

fn canonical_request(request: &Signed<'_>, path: &str) -> String {
    let mut query: Vec<(String, String)> = request
        .query
        .split('&')
        .filter(|field| !field.is_empty())
        .map(|field| field.split_once('=').unwrap_or((field, "")))
        .filter(|(name, _)| *name != "X-Amz-Signature")
        .map(|(name, value)| (encode(&decode(name), false), encode(&decode(value), false)))
        .collect();
    query.sort();
    let query: Vec<String> = query.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut out = format!("{}\n{}\n{}\n", request.method, path, query.join("&"));
    for (name, value) in request.headers {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{name}:{value}");
    }
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| *name).collect();
    let _ = write!(out, "\n{}\n{}", names.join(";"), hex(&Sha256::digest(request.body)));
    out
}

/// Encodes everything except letters, digits, `-._~` (and `/` in paths) as `%XX`.
pub(crate) fn encode(text: &str, is_path: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (is_path && byte == b'/');
        if plain {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// Decodes `%XX`; a plus sign stays, because a space is `%20` in signed queries.
pub fn decode(text: &str) -> String {
    let protected = text.replace('+', "%2B").replace('=', "%3D");
    url::form_urlencoded::parse(protected.as_bytes())
        .next()
        .map(|(name, _)| name.into_owned())
        .unwrap_or_default()
}

fn mac(key: &[u8], data: &[u8]) -> Vec<u8> {
    // HMAC takes keys of any length; the error of the trait cannot occur.
    Hmac::<Sha256>::new_from_slice(key)
        .map(|hmac| hmac.chain_update(data).finalize().into_bytes().to_vec())
        .unwrap_or_default()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// The time of a signature: `20260101T000000Z`.
pub(crate) fn text_of(time: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(time.0).unwrap_or_default();
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}
