//! Reads of EC2: from a [`Scope`] to ids or filters, with all pages, and again without the ids that EC2 does not
//! know.

use crate::error;
use crate::filters::filter;
use crate::ids::without_unknown;
use aws_sdk_ec2::types as aws;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{CloudError, ErrorKind, Operation, Result, literal};
use foo_model::network::Scope;
use std::error::Error;
use std::future::Future;

/// Ids per call.
const IDS: usize = 200;

/// How to read a kind of parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) operation: Operation,
    /// The filter for the parts of one VPC, if EC2 has one. Without it all parts are read, and the caller selects
    /// those of the VPC.
    pub(super) vpc_filter: Option<&'static str>,
    /// Parts per page (EC2 API Reference, MaxResults of the operation); none for operations without pages.
    pub(super) page: Option<i32>,
}

/// One read, with all its pages: by ids or by filters, never both.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Query {
    pub(super) ids: Option<Vec<String>>,
    pub(super) filters: Option<Vec<aws::Filter>>,
    /// Not together with ids: EC2 refuses that of some kinds (DescribeNetworkInterfaces, MaxResults).
    pub(super) page: Option<i32>,
}

/// Everything that EC2 has within the scope; an id that it does not know is left out.
///
/// EC2 refuses a whole call because of one unknown id. It usually names the unknown ids: the others are read again
/// without them. If it names none, they are read again in halves.
pub(super) async fn all<T, E, F>(how: How, scope: &Scope, ask: impl Fn(Query) -> F + Send) -> Result<Vec<T>>
where
    T: Send,
    E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    F: Future<Output = Result<Vec<T>, SdkError<E, HttpResponse>>> + Send,
{
    let mut queries = queries(how, scope);
    let mut found = Vec::new();
    while let Some(question) = queries.pop() {
        match ask(question.clone()).await {
            Ok(some) => found.extend(some),
            Err(failed) => match without(&question, failed.code(), failed.message()) {
                Some(others) => queries.extend(others),
                None => return Err(error::of(how.operation, &failed)),
            },
        }
    }
    Ok(found)
}

fn queries(how: How, scope: &Scope) -> Vec<Query> {
    let filtered = |filters: Option<Vec<aws::Filter>>| vec![Query { ids: None, filters, page: how.page }];
    match scope {
        Scope::TagKey(key) => filtered(Some(vec![filter("tag-key", key)])),
        Scope::Tag(key, value) => filtered(Some(vec![filter(&format!("tag:{key}"), &literal(value))])),
        Scope::Vpc(vpc) => filtered(how.vpc_filter.map(|name| vec![filter(name, vpc.as_str())])),
        // No call without ids: to EC2 that would mean everything.
        Scope::Ids(ids) => {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            ids.chunks(IDS).map(by_ids).collect()
        }
    }
}

fn by_ids(ids: &[&str]) -> Query {
    Query { ids: Some(ids.iter().map(|id| (*id).to_owned()).collect()), ..Query::default() }
}

/// The reads to try instead, if EC2 refused one because of its ids.
fn without(question: &Query, code: Option<&str>, message: Option<&str>) -> Option<Vec<Query>> {
    let about_ids = |code: &str| code.ends_with("NotFound") || code.ends_with("Malformed");
    let ids = question.ids.as_ref().filter(|_| code.is_some_and(about_ids))?;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let others = without_unknown(&ids, message.unwrap_or_default());
    Some(others.iter().map(|ids| by_ids(ids)).collect())
}

/// The error for a scope that is not supported for this kind.
pub(super) fn senseless(operation: Operation, why: &str) -> CloudError {
    CloudError::new(operation, ErrorKind::Invalid, None, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW: How =
        How { operation: Operation::DescribeSubnets, vpc_filter: Some("vpc-id"), page: Some(1000) };

    fn ids(question: &Query) -> Vec<&str> {
        question.ids.iter().flatten().map(String::as_str).collect()
    }

    #[test]
    fn no_ids_make_no_call() {
        assert_eq!(queries(HOW, &Scope::Ids([].into())), vec![]);
    }

    #[test]
    fn many_ids_are_asked_for_in_parts_and_without_a_page_size() {
        let many = (0..450).map(|n| format!("subnet-{n:03}")).collect();
        let queries = queries(HOW, &Scope::Ids(many));
        let sizes: Vec<usize> = queries.iter().map(|question| ids(question).len()).collect();
        assert_eq!(sizes, [200, 200, 50]);
        assert!(queries.iter().all(|question| question.page.is_none() && question.filters.is_none()));
    }

    #[test]
    fn scopes_become_filters_that_mean_what_they_say() {
        let filters = |scope| {
            let question = queries(HOW, &scope).remove(0);
            assert_eq!((question.page, question.ids), (Some(1000), None));
            question.filters
        };
        assert_eq!(filters(Scope::TagKey("k".into())), Some(vec![filter("tag-key", "k")]));
        assert_eq!(filters(Scope::Tag("k".into(), "a*".into())), Some(vec![filter("tag:k", "a\\*")]));
        assert_eq!(filters(Scope::Vpc("vpc-1".into())), Some(vec![filter("vpc-id", "vpc-1")]));
        let sifted = How { vpc_filter: None, ..HOW };
        assert_eq!(queries(sifted, &Scope::Vpc("vpc-1".into()))[0].filters, None);
    }

    #[test]
    fn only_what_is_about_ids_is_asked_again() {
        let question = by_ids(&["subnet-a", "subnet-b"]);
        let again = |code, message| without(&question, Some(code), Some(message));
        let rest = again("InvalidSubnetID.NotFound", "The subnet ID 'subnet-a' does not exist").unwrap();
        assert_eq!(rest.iter().map(ids).collect::<Vec<_>>(), [["subnet-b"]]);
        assert_eq!(again("NatGatewayMalformed", "no").unwrap().len(), 2, "halves");
        assert_eq!(again("RequestLimitExceeded", "subnet-a"), None);
        let filtered = Query::default();
        assert_eq!(without(&filtered, Some("InvalidVpcID.NotFound"), None), None);
    }
}
