//! References in specs: how they are asked for, how they read, and what a failed look-up means.

use foo_api::shared::NetworkReference;
use foo_cloud::{CloudError, ErrorKind, NetworkQuery};
use foo_planner::desired::Blocked;

/// How a reference is asked for; tags are searched in the VPC, if there is one.
pub fn query(reference: &NetworkReference, vpc: Option<&str>) -> NetworkQuery {
    match (&reference.id, &reference.tags) {
        (Some(id), _) => NetworkQuery::Ids(vec![id.clone()]),
        (None, tags) => {
            NetworkQuery::Tags { vpc: vpc.map(str::to_owned), tags: tags.clone().unwrap_or_default() }
        }
    }
}

/// A reference in words.
pub fn describe(what: &str, reference: &NetworkReference) -> String {
    match (&reference.id, &reference.tags) {
        (Some(id), _) => format!("{what} {id}"),
        (None, tags) => {
            let tags: Vec<String> =
                tags.iter().flatten().map(|(key, value)| format!("{key}={value}")).collect();
            format!("{what} with tags {}", tags.join(", "))
        }
    }
}

/// A failed look-up: missing things get the reason of their kind, everything else that of the error.
pub fn failed(not_found: &str, what: &str, error: &CloudError) -> Blocked {
    match error.kind {
        ErrorKind::NotFound | ErrorKind::Invalid => {
            Blocked::new(not_found, format!("{what} does not exist: {error}"))
        }
        kind => {
            let reason: &'static str = kind.into();
            Blocked::new(reason, format!("{what} cannot be looked up: {error}"))
        }
    }
}
