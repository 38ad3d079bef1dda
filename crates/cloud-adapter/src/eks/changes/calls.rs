//! What all changes share: tags, and reading responses.

use crate::eks::shapes;
use crate::error::{self, Gap};
use aws_sdk_eks::types as aws;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use foo_model::eks::Changed;
use foo_model::network::Tags;
use std::collections::HashMap;
use std::error::Error;

/// EKS's response, or its error.
pub(super) fn received<T, E>(
    operation: Operation,
    response: Result<T, SdkError<E, HttpResponse>>,
) -> Result<T>
where
    E: ProvideErrorMetadata + Error + 'static,
{
    response.map_err(|failed| error::of(operation, &failed))
}

/// A change of which nothing is worth knowing.
pub(super) fn done<T, E>(
    operation: Operation,
    response: Result<T, SdkError<E, HttpResponse>>,
) -> Result<Changed>
where
    E: ProvideErrorMetadata + Error + 'static,
{
    received(operation, response).map(|_| Changed::default())
}

/// A change that began an update.
pub(super) fn began(operation: Operation, update: Option<&aws::Update>) -> Result<Changed> {
    let update = update.ok_or(Gap("update")).and_then(shapes::update);
    let update = update.map_err(|gap| gap.during(operation))?;
    Ok(Changed { update: Some(update), ..Changed::default() })
}

/// A change that shows the cluster.
pub(super) fn shown(operation: Operation, cluster: Option<&aws::Cluster>) -> Result<Changed> {
    let cluster = cluster.ok_or(Gap("cluster")).and_then(shapes::cluster);
    let cluster = cluster.map_err(|gap| gap.during(operation))?;
    Ok(Changed { cluster: Some(Box::new(cluster)), ..Changed::default() })
}

/// Tags of a new resource.
pub(super) fn tagged(tags: &Tags) -> Option<HashMap<String, String>> {
    let tags: HashMap<_, _> = tags.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    (!tags.is_empty()).then_some(tags)
}

/// The error of a request that the SDK does not accept.
pub(in crate::eks) fn incomplete(operation: Operation, why: &impl ToString) -> CloudError {
    CloudError::new(operation, ErrorKind::Invalid, None, &why.to_string())
}
