//! Access entries and the policies that are associated with them.

use super::requests::{Associate, CreateEntry, UpdateEntry};
use super::{page, render};
use crate::core::eks::{ACCESS_POLICIES, policy_arn};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::call::Call;
use serde_json::{Value, json};

pub(super) fn create(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let request: CreateEntry = call.body()?;
    let (principal, token) = (request.principal_arn.clone(), request.client_request_token.clone());
    let entry = region.create_access_entry(
        cluster,
        &principal,
        &request.entry(),
        token.as_deref(),
        &call.principals,
    )?;
    Ok(render::entry(cluster, &entry))
}

pub(super) fn list(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let found = region.access_entries_seen(call.path("name"), call.query("associatedPolicyArn"))?;
    page::of_names(call, "accessEntries", found)
}

pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let entry = region.access_entry_seen(cluster, call.path("principalArn"))?;
    Ok(render::entry(cluster, entry))
}

pub(super) fn update(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let cluster = call.path("name");
    let UpdateEntry { kubernetes_groups: groups, username, client_request_token: _ } = call.body()?;
    let principal = call.path("principalArn");
    let entry = region.update_access_entry(cluster, principal, username.as_deref(), groups.as_ref())?;
    Ok(render::entry(cluster, &entry))
}

pub(super) fn delete(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    region.delete_access_entry(call.path("name"), call.path("principalArn"))?;
    Ok(json!({}))
}

pub(super) fn associate(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (cluster, principal) = (call.path("name"), call.path("principalArn"));
    let policy = call.body::<Associate>()?.policy()?;
    let made = region.associate_access_policy(cluster, principal, &policy)?;
    Ok(json!({
        "clusterName": cluster,
        "principalArn": principal,
        "associatedAccessPolicy": render::association(&policy.arn, &made),
    }))
}

pub(super) fn associated(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let (cluster, principal) = (call.path("name"), call.path("principalArn"));
    let entry = region.access_entry_seen(cluster, principal)?;
    let mut response = page::of(
        call,
        "associatedAccessPolicies",
        &entry.policies,
        |(policy, _)| (*policy).clone(),
        |(policy, association)| render::association(policy, association),
    )?;
    if let Some(response) = response.as_object_mut() {
        response.insert("clusterName".to_owned(), json!(cluster));
        response.insert("principalArn".to_owned(), json!(principal));
    }
    Ok(response)
}

pub(super) fn disassociate(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let policy = call.path("policyArn");
    region.disassociate_access_policy(call.path("name"), call.path("principalArn"), policy)?;
    Ok(json!({}))
}

pub(super) fn policies(_: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let show = |name: &&str| json!({ "name": name, "arn": policy_arn(name) });
    page::of(call, "accessPolicies", ACCESS_POLICIES, |name| (*name).to_owned(), show)
}
