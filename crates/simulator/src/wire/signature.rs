//! The scope of a Signature Version 4: caller, region and service. A request without a signature is refused;
//! [`authentication`](super::authentication) verifies signatures.

use crate::config::{DEFAULT_REGION, SimulatorConfig};
use crate::core::error::AwsError;
use crate::service::Service;
use crate::signing::Scope;

/// The scope of an unsigned request.
pub(crate) fn scope_of_anonymous(config: &SimulatorConfig) -> Scope {
    let region = config.regions.first().map_or(DEFAULT_REGION, String::as_str);
    Scope { caller: "web identity".to_owned(), region: region.to_owned(), service: "sts".to_owned() }
}

/// Reads the scope from an Authorization header or from a presigned query string.
pub(crate) fn scope(authorization: Option<&str>, query: &str) -> Result<Scope, AwsError> {
    if let Some(header) = authorization {
        let credential = header
            .strip_prefix("AWS4-HMAC-SHA256")
            .and_then(|rest| rest.split([',', ' ']).find_map(|part| part.trim().strip_prefix("Credential=")));
        return credential.and_then(parse).ok_or_else(|| {
            AwsError::new(
                "IncompleteSignature",
                "Authorization header requires 'Credential' parameter with a scope of date/region/service/aws4_request.",
            )
        });
    }
    url::form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "X-Amz-Credential")
        .and_then(|(_, credential)| parse(&credential))
        .ok_or_else(|| {
            AwsError::new("MissingAuthenticationToken", "Request is missing Authentication Token").status(403)
        })
}

/// `AKID/20260101/eu-central-1/autoscaling/aws4_request`
fn parse(credential: &str) -> Option<Scope> {
    let mut parts = credential.rsplitn(5, '/');
    if parts.next() != Some("aws4_request") {
        return None;
    }
    let (service, region, date, caller) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let fits = date.len() == 8 && !caller.is_empty() && caller.len() <= 128;
    fits.then(|| Scope { caller: caller.to_owned(), region: region.to_owned(), service: service.to_owned() })
}

/// Whether a service that is not simulated speaks REST with JSON: its SDKs cannot read XML.
pub(crate) fn speaks_rest_json(service: &str) -> bool {
    const KNOWN: [&str; 5] = ["batch", "elasticfilesystem", "execute-api", "lambda", "xray"];
    KNOWN.contains(&service)
}

/// The service of a scope, if it is simulated.
pub(crate) fn service_of(scope: &Scope) -> Result<Service, AwsError> {
    Service::from_name(&scope.service).ok_or_else(|| {
        AwsError::new("InvalidAction", format!("The service {} is not simulated.", scope.service))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scope_says_who_where_and_what() {
        let header = "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-central-1/ec2/aws4_request, \
                      SignedHeaders=host, Signature=0";
        let expected = Scope { caller: "AKID".into(), region: "eu-central-1".into(), service: "ec2".into() };
        assert_eq!(scope(Some(header), ""), Ok(expected.clone()));
        let query = "Action=X&X-Amz-Credential=AKID%2F20260101%2Feu-central-1%2Fec2%2Faws4_request";
        assert_eq!(scope(None, query), Ok(expected));
    }

    #[test]
    fn unsigned_and_half_signed_requests_are_refused() {
        let code = |header, query| scope(header, query).expect_err("refused").code;
        assert_eq!(code(None, "Action=X"), "MissingAuthenticationToken");
        assert_eq!(code(Some("Basic abc"), ""), "IncompleteSignature");
        assert_eq!(code(Some("AWS4-HMAC-SHA256 Credential=AKID/eu/ec2"), ""), "IncompleteSignature");
    }
}
