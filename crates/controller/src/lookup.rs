//! References in specs: how they become queries, how messages show them, and what a failed lookup means.

use foo_api::shared::NetworkReference;
use foo_api::texts::cut;
use foo_cloud::{CloudError, ErrorKind, NetworkQuery};
use foo_model::{Blocked, Reason};

pub use foo_api::texts::shown;

/// The query for a reference; tags are searched in the VPC, if there is one.
pub fn query(reference: &NetworkReference, vpc: Option<&str>) -> NetworkQuery {
    match (&reference.id, &reference.tags) {
        (Some(id), _) => NetworkQuery::Ids(vec![id.clone()]),
        (None, tags) => {
            NetworkQuery::Tags { vpc: vpc.map(str::to_owned), tags: tags.clone().unwrap_or_default() }
        }
    }
}

/// A reference as text. User input is quoted, so that blanks and control characters are visible.
pub fn describe(what: &str, reference: &NetworkReference) -> String {
    match (&reference.id, &reference.tags) {
        (Some(id), _) => format!("{what} {}", shown(id)),
        (None, tags) => {
            let tags: Vec<String> = tags
                .iter()
                .flatten()
                .map(|(key, value)| format!("{}={}", shown(key), shown(value)))
                .collect();
            format!("{what} with tags {}", cut(&tags.join(", ")))
        }
    }
}

/// The problem of a failed lookup: a missing thing gets the reason of its kind, any other failure that of
/// the error.
pub fn failed(not_found: Reason, what: &str, error: &CloudError) -> Blocked {
    match error.kind {
        ErrorKind::NotFound | ErrorKind::Invalid => {
            Blocked::new(not_found, format!("{what} does not exist: {error}"))
        }
        kind => Blocked::new(kind.into(), format!("{what} cannot be looked up: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn by_tags<const N: usize>(tags: [(&str, &str); N]) -> NetworkReference {
        let tags: BTreeMap<String, String> =
            tags.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        NetworkReference { tags: Some(tags), ..NetworkReference::default() }
    }

    #[test]
    fn user_input_is_quoted_where_it_is_not_plain() {
        assert_eq!(describe("subnet", &by_tags([("tier", "private")])), "subnet with tags tier=private");
        assert_eq!(
            describe("subnet", &by_tags([("a key", ""), ("b", "\u{202e}x\n")])),
            r#"subnet with tags "a key"="", b="\u{202e}x\n""#
        );
    }

    #[test]
    fn a_selector_with_hundreds_of_tags_stays_readable() {
        let tags = (0..300).map(|number| (format!("key-{number}"), "x".repeat(250))).collect();
        let reference = NetworkReference { tags: Some(tags), ..NetworkReference::default() };
        assert!(describe("subnet", &reference).chars().count() < 250);
    }
}
