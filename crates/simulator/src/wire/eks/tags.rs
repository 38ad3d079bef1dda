//! Tags, by ARN.

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::call::Call;
use foo_model::network::Tags;
use serde_json::{Value, json};

pub(super) fn tag(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let tags: Tags = call
        .field("tags")
        .and_then(|tags| serde_json::from_value(tags.clone()).ok())
        .ok_or_else(|| AwsError::new("BadRequestException", "tags must be a map of texts."))?;
    region.tag_eks_resource(call.path("resourceArn"), &tags)?;
    Ok(json!({}))
}

pub(super) fn untag(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.untag_eks_resource(call.path("resourceArn"), &call.queries("tagKeys"))?;
    Ok(json!({}))
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.tags_of_eks_resource(call.path("resourceArn")).map(|tags| json!({ "tags": tags }))
}
