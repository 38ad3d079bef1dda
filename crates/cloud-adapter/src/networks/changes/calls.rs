//! What all changes share: tags, and reading responses.

use crate::error::{self, Gap};
use aws_sdk_ec2::types as aws;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use foo_model::network::{Parts, Tags};
use std::error::Error;

/// EC2's response, or its error.
pub(super) fn received<T, E>(
    operation: Operation,
    response: Result<T, SdkError<E, HttpResponse>>,
) -> Result<T>
where
    E: ProvideErrorMetadata + Error + 'static,
{
    response.map_err(|failed| error::of(operation, &failed))
}

/// A change that creates nothing.
pub(super) fn done<T, E>(
    operation: Operation,
    response: Result<T, SdkError<E, HttpResponse>>,
) -> Result<Parts>
where
    E: ProvideErrorMetadata + Error + 'static,
{
    received(operation, response).map(|_| Parts::default())
}

/// The part that a response must have.
pub(super) fn part<A, P>(
    operation: Operation,
    response: Option<&A>,
    name: &'static str,
    read: impl FnOnce(&A) -> Result<P, Gap>,
) -> Result<P> {
    response.ok_or(Gap(name)).and_then(read).map_err(|gap| gap.during(operation))
}

/// A field that a response must have.
pub(super) fn field<T>(operation: Operation, value: Option<T>, name: &'static str) -> Result<T> {
    value.ok_or_else(|| Gap(name).during(operation))
}

/// The error for a change that the provider never requests and for which there is no request.
pub(super) fn never(operation: Operation, what: &str) -> CloudError {
    CloudError::new(operation, ErrorKind::Invalid, None, what)
}

/// The tags of a new resource; none instead of an empty list, which EC2 refuses.
pub(super) fn tagged(kind: aws::ResourceType, tags: &Tags) -> Option<Vec<aws::TagSpecification>> {
    if tags.is_empty() {
        return None;
    }
    let tags = tags.iter().map(|(key, value)| aws::Tag::builder().key(key).value(value).build()).collect();
    Some(vec![aws::TagSpecification::builder().resource_type(kind).set_tags(Some(tags)).build()])
}
