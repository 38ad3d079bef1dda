//! Groups as a whole: create, update, delete, size, processes.

use super::fields::group_name;
use super::traffic;
use crate::core::document::Document;
use crate::core::ec2::templates::TemplateKey;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::rules::group::operations::{Cooldown, Deletion, GroupUpdate, NewGroup, SettingsChange};
use crate::core::rules::group::processes::parse_processes;
use crate::core::rules::group::source::{OverrideSpec, SourceSpec, TemplateSpec};
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::{LaunchTemplateId, Protection, SubnetId};
use std::collections::BTreeMap;
use std::time::Duration;

/// Settings that are stored and returned; some of them are policies that the group acts on
/// ([`Policies`](crate::core::group::policies::Policies)).
const STORED: [&str; 14] = [
    "AvailabilityZoneDistribution",
    "AvailabilityZoneImpairmentPolicy",
    "CapacityRebalance",
    "CapacityReservationSpecification",
    "Context",
    "DefaultInstanceWarmup",
    "DesiredCapacityType",
    "InstanceLifecyclePolicy",
    "InstanceMaintenancePolicy",
    "MaxInstanceLifetime",
    "Operator",
    "PlacementGroup",
    "ServiceLinkedRoleARN",
    "SkipZonalShiftValidation",
];

pub(super) fn create(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    for absent in ["LaunchConfigurationName", "InstanceId"] {
        if params.node(absent).is_some_and(|node| !node.document().get_text(&[]).unwrap_or("x").is_empty()) {
            return Err(AwsError::validation(format!("{absent} is not simulated.")));
        }
    }
    let new = NewGroup {
        name: group_name(params)?,
        min: params.count("MinSize")?.ok_or_else(|| AwsError::missing("MinSize"))?,
        max: params.count("MaxSize")?.ok_or_else(|| AwsError::missing("MaxSize"))?,
        desired: params.count("DesiredCapacity")?,
        source: source(params)?,
        subnets: subnets(params).unwrap_or_default(),
        new_instances: protection(params)?.unwrap_or(Protection::Unprotected),
        tags: super::tags::parse(params)?.into_iter().map(|tag| (tag.key, tag.tag)).collect(),
        traffic_sources: traffic::named(params)?,
        settings: settings(params)?,
        hooks: super::hooks::specifications(params)?,
    };
    region.create_group(new)
}

pub(super) fn update(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let update = GroupUpdate {
        min: params.count("MinSize")?,
        max: params.count("MaxSize")?,
        desired: params.count("DesiredCapacity")?,
        source: source(params)?,
        subnets: subnets(params),
        new_instances: protection(params)?,
        settings: settings(params)?,
    };
    region.update_group(&group_name(params)?, update)
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let how = if params.flag("ForceDelete")? == Some(true) { Deletion::Forced } else { Deletion::IfEmpty };
    region.delete_group(&group_name(params)?, how)
}

pub(super) fn set_desired_capacity(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    _: &mut Xml,
) -> AwsResult<()> {
    let desired = params.count("DesiredCapacity")?.ok_or_else(|| AwsError::missing("DesiredCapacity"))?;
    let cooldown = match params.flag("HonorCooldown")? {
        Some(true) => Cooldown::Honored,
        Some(false) | None => Cooldown::Ignored,
    };
    region.set_desired_capacity(&group_name(params)?, desired, cooldown)
}

pub(super) fn suspend_processes(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    _: &mut Xml,
) -> AwsResult<()> {
    region.suspend_processes(&group_name(params)?, &parse_processes(&params.texts("ScalingProcesses"))?)
}

pub(super) fn resume_processes(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    _: &mut Xml,
) -> AwsResult<()> {
    region.resume_processes(&group_name(params)?, &parse_processes(&params.texts("ScalingProcesses"))?)
}

fn protection(params: &Params) -> AwsResult<Option<Protection>> {
    Ok(params
        .flag("NewInstancesProtectedFromScaleIn")?
        .map(|protect| if protect { Protection::Protected } else { Protection::Unprotected }))
}

fn subnets(params: &Params) -> Option<Vec<SubnetId>> {
    let list = params.text("VPCZoneIdentifier")?;
    Some(list.split(',').map(str::trim).filter(|id| !id.is_empty()).map(SubnetId::from).collect())
}

pub(super) fn source(params: &Params) -> AwsResult<Option<SourceSpec>> {
    match (params.node("LaunchTemplate"), params.node("MixedInstancesPolicy")) {
        (Some(_), Some(_)) => Err(AwsError::validation(
            "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or \
             MixedInstancesPolicy parameter.",
        )),
        (Some(template), None) => Ok(Some(SourceSpec::Template(template_spec(template)?))),
        (None, Some(policy)) => mixed(policy).map(Some),
        (None, None) => Ok(None),
    }
}

fn template_spec(params: &Params) -> AwsResult<TemplateSpec> {
    let key = match (params.text("LaunchTemplateId"), params.text("LaunchTemplateName")) {
        (Some(id), None) => TemplateKey::Id(LaunchTemplateId::new(id)),
        (None, Some(name)) => TemplateKey::Name(name.to_owned()),
        _ => {
            return Err(AwsError::validation(
                "Valid requests must contain either launchTemplateId or LaunchTemplateName",
            ));
        }
    };
    Ok(TemplateSpec { key, version: params.text("Version").map(str::to_owned) })
}

fn mixed(policy: &Params) -> AwsResult<SourceSpec> {
    let template = policy.node("LaunchTemplate");
    let overrides = template
        .filter(|template| template.node("Overrides").is_some())
        .map(|template| {
            template
                .list("Overrides")
                .into_iter()
                .map(|item| {
                    let template = item.node("LaunchTemplateSpecification").map(template_spec).transpose()?;
                    Ok(OverrideSpec { template, document: item.document() })
                })
                .collect::<AwsResult<Vec<_>>>()
        })
        .transpose()?;
    Ok(SourceSpec::Mixed {
        template: template
            .and_then(|template| template.node("LaunchTemplateSpecification"))
            .map(template_spec)
            .transpose()?,
        overrides,
        distribution: policy.node("InstancesDistribution").map(Params::document),
    })
}

fn settings(params: &Params) -> AwsResult<SettingsChange> {
    let seconds =
        |name| Ok::<_, AwsError>(params.count(name)?.map(|count| Duration::from_secs(count.into())));
    let stored: BTreeMap<String, Document> = STORED
        .iter()
        .filter_map(|name| params.node(name).map(|node| ((*name).to_owned(), node.document())))
        .collect();
    Ok(SettingsChange {
        cooldown: seconds("DefaultCooldown")?,
        grace: seconds("HealthCheckGracePeriod")?,
        health_check_type: params.text("HealthCheckType").map(str::to_owned),
        termination_policies: params.given_texts("TerminationPolicies"),
        deletion_protection: params.text("DeletionProtection").map(str::to_owned),
        stored,
    })
}
