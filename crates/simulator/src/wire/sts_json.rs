//! STS in JSON: its responses to requests with `Accept: application/json`, among them those of aws-iam-authenticator
//! (`pkg/token`).
//!
//! The response is the one in XML with an object for each element. It has no lists. An error has no element around it.

use super::response::WireResponse;
use super::sigv4::SignedRequest;
use super::{signature, sts};
use http::header::{ACCEPT, AUTHORIZATION};
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";

/// Whether a request is for STS and asks for JSON.
pub(super) fn is_requested(request: &SignedRequest<'_>) -> bool {
    let header = |name| request.headers.get(name).and_then(|value| value.to_str().ok());
    let accepts = |value: &str| value.split([',', ';']).any(|kind| kind.trim() == JSON);
    if !header(ACCEPT).is_some_and(accepts) {
        return false;
    }
    let scope = signature::scope(header(AUTHORIZATION), request.query);
    scope.is_ok_and(|scope| scope.service == "sts") || sts::is_unsigned(request.body)
}

/// The same response in JSON.
pub(super) fn of(response: WireResponse) -> WireResponse {
    let WireResponse::Xml { status, body, request_id } = response else { return response };
    let whole = elements(&body);
    let inside = whole.get("ErrorResponse").cloned();
    let body = inside.unwrap_or(Value::Object(whole)).to_string();
    let (query_error, error_type) = (None, None);
    WireResponse::Json { status, body, request_id, content_type: JSON, query_error, error_type }
}

/// Elements that follow each other, as the simulator writes them.
fn elements(mut text: &str) -> Map<String, Value> {
    let mut found = Map::new();
    while let Some((_, rest)) = text.split_once('<') {
        let Some((head, rest)) = rest.split_once('>') else { break };
        let name = head.split(' ').next().unwrap_or_default();
        if name.starts_with('?') {
            text = rest;
            continue;
        }
        let Some((inside, rest)) = rest.split_once(&format!("</{name}>")) else { break };
        found.insert(name.to_owned(), value(name, inside));
        text = rest;
    }
    found
}

fn value(name: &str, inside: &str) -> Value {
    if inside.contains('<') {
        return Value::Object(elements(inside));
    }
    match name {
        "PackedPolicySize" => inside.parse::<u64>().map_or(Value::Null, Value::from),
        // Seconds since 1970.
        "Expiration" => inside.parse::<jiff::Timestamp>().map_or(Value::Null, |at| json!(at.as_second())),
        _ => Value::from(plain(inside)),
    }
}

/// A text without the escapes of XML.
fn plain(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#13;", "\r")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_in_xml_is_the_same_in_json() {
        let xml = "<?xml version=\"1.0\"?><AResponse xmlns=\"https://x/\"><AResult><Arn>a&lt;&amp;lt;b</Arn><C><Expiration>\
                   1970-01-01T00:01:00Z</Expiration></C><PackedPolicySize>1</PackedPolicySize><Empty></Empty></AResult>\
                   <ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AResponse>";
        let result =
            json!({ "Arn": "a<&lt;b", "C": { "Expiration": 60 }, "PackedPolicySize": 1, "Empty": "" });
        let expected =
            json!({ "AResponse": { "AResult": result, "ResponseMetadata": { "RequestId": "r" } } });
        assert_eq!(Value::Object(elements(xml)), expected);
        assert_eq!(elements("no element <"), Map::new());
    }
}
