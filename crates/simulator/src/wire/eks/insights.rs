//! Insights.

use super::{page, render};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::rules::eks::{Insight, InsightsFilter};
use crate::request::call::Call;
use serde_json::{Map, Value, json};

fn short(it: &Insight) -> Value {
    json!({
        "id": it.id,
        "name": it.name,
        "category": it.category,
        "kubernetesVersion": it.version,
        "lastRefreshTime": render::time(it.refreshed),
        "lastTransitionTime": render::time(it.refreshed),
        "description": it.reason,
        "insightStatus": { "status": it.status, "reason": it.reason },
    })
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let filter: InsightsFilter = match call.field("filter") {
        None | Some(Value::Null) => InsightsFilter::default(),
        Some(filter) => serde_json::from_value(filter.clone())
            .map_err(|error| AwsError::new("InvalidParameterException", error.to_string()))?,
    };
    let found = region.insights_seen(call.path("name"), &filter)?;
    page::of(call, "insights", found, |it| it.id.clone(), short)
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let found = region.insight_seen(call.path("name"), call.path("id"))?;
    let addons: Vec<Value> = found
        .addons
        .iter()
        .map(|(name, versions)| json!({ "name": name, "compatibleVersions": versions }))
        .collect();
    let mut response: Map<String, Value> = short(&found).as_object().cloned().unwrap_or_default();
    response.insert("recommendation".to_owned(), json!(found.recommendation));
    response.insert("resources".to_owned(), json!([]));
    let summary = json!({ "deprecationDetails": [], "addonCompatibilityDetails": addons });
    response.insert("categorySpecificSummary".to_owned(), summary);
    Ok(json!({ "insight": response }))
}

pub(super) fn refresh(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.refresh_insights(call.path("name"))?;
    Ok(json!({ "message": "Insights refresh is in progress", "status": "IN_PROGRESS" }))
}

pub(super) fn describe_refresh(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (started, ends) = region.insights_refresh(call.path("name"))?;
    if region.now() < ends {
        return Ok(json!({
            "message": "Insights refresh is in progress",
            "status": "IN_PROGRESS",
            "startedAt": render::time(started),
        }));
    }
    Ok(json!({
        "message": "Insights refresh completed successfully",
        "status": "COMPLETED",
        "startedAt": render::time(started),
        "endedAt": render::time(ends),
    }))
}
