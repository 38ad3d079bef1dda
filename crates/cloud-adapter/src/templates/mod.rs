//! EC2 calls about launch templates.

mod overlay;
mod shapes;

use crate::error::{self, Gap};
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types::{
    DeleteLaunchTemplateVersionsResponseErrorItem, Filter, LaunchTemplateErrorCode, LaunchTemplateVersion,
    RequestLaunchTemplateData, ResourceType, TagSpecification, ValidationError, ValidationWarning,
};
use foo_cloud::error::stable_text;
use foo_cloud::{CloudError, ErrorKind, Made, Operation, Result, TemplateSummary, VersionCopy};
use foo_model::{LaunchTemplate, LaunchTemplateId, TemplateContent, TemplateRecord, TemplateVersion};
use std::collections::{BTreeMap, BTreeSet};

/// Templates and versions per page (DescribeLaunchTemplates, DescribeLaunchTemplateVersions: MaxResults).
const PAGE: i32 = 200;
/// Versions per DeleteLaunchTemplateVersions call.
const DELETED_AT_ONCE: usize = 200;

pub(crate) async fn create(
    client: &Client,
    name: &str,
    content: &TemplateContent,
    description: &str,
    tags: &BTreeMap<String, String>,
    token: &str,
) -> Result<Made<(LaunchTemplateId, TemplateVersion)>> {
    const OPERATION: Operation = Operation::CreateLaunchTemplate;
    let mut call = client
        .create_launch_template()
        .launch_template_name(name)
        .launch_template_data(shapes::data(content))
        .version_description(description)
        .client_token(token);
    if !tags.is_empty() {
        let tags = TagSpecification::builder()
            .resource_type(ResourceType::LaunchTemplate)
            .set_tags(Some(shapes::tags(tags)))
            .build();
        call = call.tag_specifications(tags);
    }
    let response = call.send().await.map_err(|failed| error::of(OPERATION, &failed))?;
    let warning = response.warning().and_then(words);
    let made = response.launch_template().ok_or_else(|| Gap("LaunchTemplate").during(OPERATION))?;
    let made = shapes::summary(made).map_err(|gap| gap.during(OPERATION))?;
    Ok(Made { made: (made.id, made.latest), warning })
}

pub(crate) async fn create_version(
    client: &Client,
    id: &LaunchTemplateId,
    content: &TemplateContent,
    description: &str,
    token: &str,
) -> Result<Made<TemplateVersion>> {
    add_version(client, id, shapes::data(content), None, description, token).await
}

pub(crate) async fn copy_version(
    client: &Client,
    id: &LaunchTemplateId,
    copy: VersionCopy<'_>,
    description: &str,
    token: &str,
) -> Result<Made<TemplateVersion>> {
    let of_interfaces = interface_tags(client, id, copy.from).await?;
    add_version(client, id, shapes::replaced(&copy, &of_interfaces), Some(copy.from), description, token)
        .await
}

/// The tags of network interfaces of a version: a copy replaces all tags or none. While EC2 does not show the version yet, there is no
/// copy, which would lack them.
async fn interface_tags(
    client: &Client,
    id: &LaunchTemplateId,
    version: TemplateVersion,
) -> Result<BTreeMap<String, String>> {
    const OPERATION: Operation = Operation::DescribeLaunchTemplateVersions;
    let call = client
        .describe_launch_template_versions()
        .launch_template_id(id.as_str())
        .versions(version.to_string());
    let found = call.send().await.map_err(|failed| error::of(OPERATION, &failed))?;
    let version = found.launch_template_versions().first();
    version.map(shapes::interface_tags).ok_or_else(|| Gap("LaunchTemplateVersions").during(OPERATION))
}

async fn add_version(
    client: &Client,
    id: &LaunchTemplateId,
    data: RequestLaunchTemplateData,
    source: Option<TemplateVersion>,
    description: &str,
    token: &str,
) -> Result<Made<TemplateVersion>> {
    const OPERATION: Operation = Operation::CreateLaunchTemplateVersion;
    let call = client
        .create_launch_template_version()
        .launch_template_id(id.as_str())
        .launch_template_data(data)
        .set_source_version(source.map(|source| source.to_string()))
        .version_description(description)
        .client_token(token);
    let response = call.send().await.map_err(|failed| error::of(OPERATION, &failed))?;
    let warning = response.warning().and_then(words);
    let number = response.launch_template_version().and_then(LaunchTemplateVersion::version_number);
    let made = number.map(TemplateVersion).ok_or_else(|| Gap("VersionNumber").during(OPERATION))?;
    Ok(Made { made, warning })
}

/// EC2 accepts a template that it would not launch, and only adds a warning; the error comes when the group
/// is created.
fn words(warning: &ValidationWarning) -> Option<String> {
    let one = |error: &ValidationError| {
        let (code, message) = (error.code().unwrap_or_default(), error.message().unwrap_or_default());
        stable_text(&format!("{code}: {message}"))
    };
    let all: Vec<String> = warning.errors().iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

pub(crate) async fn describe(client: &Client, name: &str) -> Result<Option<LaunchTemplate>> {
    match with_versions(client, name).await {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        other => other,
    }
}

async fn with_versions(client: &Client, name: &str) -> Result<Option<LaunchTemplate>> {
    const TEMPLATE: Operation = Operation::DescribeLaunchTemplates;
    const VERSIONS: Operation = Operation::DescribeLaunchTemplateVersions;
    let response = client.describe_launch_templates().launch_template_names(name).send().await;
    let response = response.map_err(|failed| error::of(TEMPLATE, &failed))?;
    let Some(template) = response.launch_templates().first() else { return Ok(None) };
    let summary = shapes::summary(template).map_err(|gap| gap.during(TEMPLATE))?;

    let call =
        client.describe_launch_template_versions().launch_template_id(summary.id.as_str()).max_results(PAGE);
    let versions = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let versions = versions.map_err(|failed| error::of(VERSIONS, &failed))?;
    let records = versions.iter().filter_map(|version| record(version, summary.latest).transpose());
    let mut records = records.collect::<Result<Vec<_>, Gap>>().map_err(|gap| gap.during(VERSIONS))?;
    records.sort_by_key(|record| record.version);
    Ok(Some(LaunchTemplate { id: summary.id, name: summary.name, tags: summary.tags, versions: records }))
}

/// Skips an unreadable old version: nothing is launched from it again. The newest is not skipped: it would be
/// created again and again.
fn record(
    version: &LaunchTemplateVersion,
    latest: TemplateVersion,
) -> std::result::Result<Option<TemplateRecord>, Gap> {
    let number = version.version_number().map(TemplateVersion);
    match shapes::record(version) {
        Err(Gap(field)) if number.is_some_and(|number| number != latest) => {
            tracing::warn!(?number, field, "EC2 returned a launch template version without a required field");
            Ok(None)
        }
        other => other.map(Some),
    }
}

pub(crate) async fn describe_tagged(client: &Client, tag_key: &str) -> Result<Vec<TemplateSummary>> {
    const OPERATION: Operation = Operation::DescribeLaunchTemplates;
    let tagged = Filter::builder().name("tag-key").values(tag_key).build();
    let call = client.describe_launch_templates().filters(tagged).max_results(PAGE);
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
    // A template that is left out looks changed to its pool, which then reads it separately.
    Ok(found.iter().filter_map(readable).collect())
}

fn readable(template: &aws_sdk_ec2::types::LaunchTemplate) -> Option<TemplateSummary> {
    let read = shapes::summary(template);
    if let Err(Gap(field)) = &read {
        let id = template.launch_template_id().unwrap_or_default();
        tracing::warn!(template = id, field, "EC2 returned a launch template without a required field");
    }
    read.ok()
}

pub(crate) async fn describe_latest(
    client: &Client,
    ids: &BTreeSet<LaunchTemplateId>,
) -> Result<BTreeMap<LaunchTemplateId, TemplateRecord>> {
    const OPERATION: Operation = Operation::DescribeLaunchTemplateVersions;
    let mut found = BTreeMap::new();
    let call = client.describe_launch_template_versions().versions("$Latest").max_results(PAGE);
    let mut pages = call.into_paginator().send();
    for _ in 0..ids.len() {
        let Some(page) = pages.next().await else { break };
        let page = page.map_err(|failed| error::of(OPERATION, &failed))?;
        for version in page.launch_template_versions() {
            let id = version.launch_template_id().map(LaunchTemplateId::new);
            let Some(id) = id.filter(|id| ids.contains(id)) else { continue };
            // One that cannot be read is left out: its pool then reads it separately.
            if let Ok(record) = shapes::record(version) {
                found.insert(id, record);
            }
        }
        if found.len() == ids.len() {
            break;
        }
    }
    Ok(found)
}

pub(crate) async fn delete_versions(
    client: &Client,
    id: &LaunchTemplateId,
    versions: &[TemplateVersion],
) -> Result<()> {
    const OPERATION: Operation = Operation::DeleteLaunchTemplateVersions;
    for some in versions.chunks(DELETED_AT_ONCE) {
        let call = client.delete_launch_template_versions().launch_template_id(id.as_str());
        let call = call.set_versions(Some(some.iter().map(ToString::to_string).collect()));
        let response = call.send().await.map_err(|failed| error::of(OPERATION, &failed))?;
        // The call succeeds although versions could not be deleted.
        let refused = response.unsuccessfully_deleted_launch_template_versions();
        if let Some(error) = refused.iter().find_map(not_deleted) {
            return Err(error);
        }
    }
    Ok(())
}

/// Why a version was not deleted; none if it does not exist.
fn not_deleted(item: &DeleteLaunchTemplateVersionsResponseErrorItem) -> Option<CloudError> {
    let error = item.response_error();
    let code = error.and_then(|error| error.code());
    let kind = match code {
        Some(
            LaunchTemplateErrorCode::LaunchTemplateVersionDoesNotExist
            | LaunchTemplateErrorCode::LaunchTemplateIdDoesNotExist
            | LaunchTemplateErrorCode::LaunchTemplateNameDoesNotExist,
        ) => return None,
        Some(
            LaunchTemplateErrorCode::LaunchTemplateIdMalformed
            | LaunchTemplateErrorCode::LaunchTemplateNameMalformed,
        ) => ErrorKind::Invalid,
        _ => ErrorKind::Internal,
    };
    let version = item.version_number().unwrap_or_default();
    let reason = error.and_then(|error| error.message()).unwrap_or("no reason given");
    let code = code.map(|code| code.as_str().to_owned());
    let message = format!("version {version} was not deleted: {reason}");
    Some(CloudError::new(Operation::DeleteLaunchTemplateVersions, kind, code, &message))
}

pub(crate) async fn delete(client: &Client, id: &LaunchTemplateId) -> Result<()> {
    let call = client.delete_launch_template().launch_template_id(id.as_str());
    call.send().await.map_err(|failed| error::of(Operation::DeleteLaunchTemplate, &failed))?;
    Ok(())
}
