//! Describe calls for groups, members and activities.

use super::tags::write_tag;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::activity::{Activity, ActivityLog, status_name};
use crate::core::group::model::{Group, LaunchSource, Member, MixedPolicy, TemplateRef};
use crate::core::region::Region;
use crate::core::rules::group::warm_pool::WarmPool;
use crate::core::settings::ActivityPages;
use crate::core::time::iso_millis;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_model::{GroupName, Health, InstanceId, Protection};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Names of one DescribeAutoScalingGroups, and its largest page.
const GROUPS: Paging = Paging { limit: "MaxRecords", default: 50, min: 1, max: 100 };
const INSTANCES: Paging = Paging { limit: "MaxRecords", default: 50, min: 1, max: 50 };
const ACTIVITIES: Paging = Paging { limit: "MaxRecords", default: 100, min: 1, max: 100 };

pub(super) fn groups(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &GROUPS)?;
    let names = params.texts("AutoScalingGroupNames");
    if names.len() > 100 {
        return Err(AwsError::validation(
            "1 validation error detected: Value at 'autoScalingGroupNames' failed to satisfy constraint: Member must \
             have length less than or equal to 100",
        ));
    }
    let filters = Filters::autoscaling(params)?.only(&[])?;
    let after = page.after.as_deref().map(GroupName::from);
    let fits = |group: &Cow<'_, Group>| {
        filters.is_empty() || {
            let tags: BTreeMap<String, String> =
                group.tags.iter().map(|(key, tag)| (key.clone(), tag.value.clone())).collect();
            filters.match_with(&tags, |_| Vec::<&str>::new())
        }
    };
    let (found, token) = if names.is_empty() {
        page.take(region.groups_seen(after.as_ref()).filter(fits), |group| group.name.to_string())
    } else {
        let wanted: std::collections::BTreeSet<GroupName> = names.into_iter().map(GroupName::from).collect();
        let entries = wanted
            .iter()
            .filter(|name| after.as_ref().is_none_or(|after| *name > after))
            .filter_map(|name| region.group_seen(name))
            .filter(fits);
        page.take(entries, |group| group.name.to_string())
    };
    let with_instances = params.flag("IncludeInstances")?.unwrap_or(true);
    xml.list("AutoScalingGroups", "member", found, |xml, group| write_group(xml, &group, with_instances));
    xml.optional("NextToken", token);
    Ok(())
}

pub(super) fn instances(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &INSTANCES)?;
    let wanted = params.texts("InstanceIds");
    if wanted.len() > 50 {
        return Err(AwsError::validation("You can specify up to 50 instance IDs."));
    }
    let member_of = |id: &InstanceId| {
        // Auto Scaling's own view of its members, not EC2's.
        let group = region.group_seen(region.instances.seen(id)?.group.as_ref()?)?;
        let member = group.member(id)?.clone();
        Some((group, member))
    };
    let behind = |id: &&InstanceId| page.after.as_deref().is_none_or(|after| id.as_str() > after);
    let (found, token) = if wanted.is_empty() {
        let after = page.after.as_deref().map(InstanceId::from);
        let entries = region.instances.seen_after(after.as_ref()).filter_map(|(id, _)| member_of(id));
        page.take(entries, |(_, member)| member.id.to_string())
    } else {
        let wanted: std::collections::BTreeSet<InstanceId> =
            wanted.into_iter().map(InstanceId::from).collect();
        let entries = wanted.iter().filter(behind).filter_map(member_of);
        page.take(entries, |(_, member)| member.id.to_string())
    };
    xml.list("AutoScalingInstances", "member", found, |xml, (group, member)| {
        xml.text("AutoScalingGroupName", group.name.as_str());
        // Unlike DescribeAutoScalingGroups, this call returns the health in capitals (example in its API reference).
        write_member_with(xml, &group, &member, ["HEALTHY", "UNHEALTHY"]);
    });
    xml.optional("NextToken", token);
    Ok(())
}

pub(super) fn activities(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let mut page = Page::of(params, &ACTIVITIES)?;
    let ids = params.texts("ActivityIds");
    let deleted_too = params.flag("IncludeDeletedGroups")? == Some(true);
    let name = params.text("AutoScalingGroupName").filter(|name| !name.is_empty()).map(GroupName::from);
    if let Some(name) = &name
        && region.group_seen(name).is_none()
        && !(deleted_too && region.activity_log(name).is_some())
    {
        return Err(AwsError::no_group(name));
    }
    // Serial numbers ascend over all groups: they give the order, newest first, and the token.
    let mut entries: Vec<(u64, &Activity)> = match &name {
        Some(name) => region.activity_log(name).into_iter().flat_map(ActivityLog::newest_first).collect(),
        None => region
            .activities
            .iter()
            .filter(|(group, _)| deleted_too || region.group_seen(group).is_some())
            .flat_map(|(_, log)| log.newest_first())
            .collect(),
    };
    entries.sort_by_key(|(serial, _)| std::cmp::Reverse(*serial));
    if region.settings.activity_pages == ActivityPages::Short {
        if page.after.is_none() && !entries.is_empty() {
            // An empty page with a token for the position before the newest activity.
            xml.texts("Activities", "member", [""; 0]);
            xml.text("NextToken", Page::token(&u64::MAX.to_string()));
            return Ok(());
        }
        page.limit = page.limit.div_ceil(2);
    }
    let after = page
        .after
        .as_deref()
        .map(|after| after.parse::<u64>().map_err(|_| AwsError::bad_token()))
        .transpose()?;
    let entries = entries
        .into_iter()
        .filter(|(serial, _)| after.is_none_or(|after| *serial < after))
        .filter(|(_, activity)| ids.is_empty() || ids.contains(&activity.id));
    let (found, token) = page.take(entries, |(serial, _)| serial.to_string());
    xml.list("Activities", "member", found, |xml, (_, activity)| write_activity(xml, activity));
    xml.optional("NextToken", token);
    Ok(())
}

/// One activity.
pub(super) fn write_activity(xml: &mut Xml, activity: &Activity) {
    xml.text("ActivityId", &activity.id);
    xml.text("AutoScalingGroupName", activity.group.as_str());
    xml.text("AutoScalingGroupARN", &activity.group_arn);
    xml.text("Description", &activity.description);
    xml.text("Cause", &activity.cause);
    xml.text("StartTime", iso_millis(activity.started));
    xml.optional("EndTime", activity.ended.map(iso_millis));
    xml.text("StatusCode", status_name(activity.status));
    xml.optional("StatusMessage", activity.status_message.as_ref());
    xml.value("Progress", activity.progress);
    xml.text("Details", &activity.details);
}

fn write_group(xml: &mut Xml, group: &Group, with_instances: bool) {
    xml.text("AutoScalingGroupName", group.name.as_str());
    xml.text("AutoScalingGroupARN", &group.arn);
    match &group.source {
        LaunchSource::Template(template) => xml.within("LaunchTemplate", |xml| write_template(xml, template)),
        LaunchSource::Mixed(policy) => xml.within("MixedInstancesPolicy", |xml| write_policy(xml, policy)),
    }
    xml.value("MinSize", group.sizes.min);
    xml.value("MaxSize", group.sizes.max);
    xml.value("DesiredCapacity", group.sizes.desired);
    xml.value("DefaultCooldown", group.settings.cooldown.as_secs());
    xml.texts("AvailabilityZones", "member", group.zones.iter().map(foo_model::Zone::as_str));
    xml.text("HealthCheckType", &group.settings.health_check_type);
    xml.value("HealthCheckGracePeriod", group.settings.grace.as_secs());
    if with_instances {
        xml.list("Instances", "member", group.members.values(), |xml, member| {
            write_member(xml, group, member);
        });
    }
    xml.text("CreatedTime", iso_millis(group.created));
    xml.list("SuspendedProcesses", "member", &group.suspended, |xml, (process, reason)| {
        xml.text("ProcessName", process.name());
        xml.text("SuspensionReason", reason);
    });
    xml.text("VPCZoneIdentifier", group.subnet_list());
    xml.texts("EnabledMetrics", "member", [""; 0]);
    if group.is_deleting() {
        xml.text("Status", "Delete in progress");
    }
    xml.list("Tags", "member", &group.tags, |xml, (key, tag)| write_tag(xml, group, key, tag));
    xml.texts("TerminationPolicies", "member", &group.settings.termination_policies);
    xml.value("NewInstancesProtectedFromScaleIn", group.new_instances == Protection::Protected);
    xml.text("DeletionProtection", &group.settings.deletion_protection);
    let is_default_role = !group.settings.stored.contains_key("ServiceLinkedRoleARN");
    let arn = is_default_role.then(|| {
        let account = group.arn.split(':').nth(4).unwrap_or_default();
        format!(
            "arn:aws:iam::{account}:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
        )
    });
    xml.optional("ServiceLinkedRoleARN", arn);
    if let Some(pool) = &group.warm_pool {
        xml.within("WarmPoolConfiguration", |xml| write_pool(xml, pool));
        xml.value("WarmPoolSize", group.warm_count());
    }
    super::traffic::write_of_group(xml, group);
    for (name, document) in &group.settings.stored {
        xml.document(name, document, "member");
    }
}

pub(super) fn write_template(xml: &mut Xml, template: &TemplateRef) {
    xml.text("LaunchTemplateId", template.id.as_str());
    xml.text("LaunchTemplateName", &template.name);
    xml.text("Version", &template.version);
}

pub(super) fn write_policy(xml: &mut Xml, policy: &MixedPolicy) {
    xml.within("LaunchTemplate", |xml| {
        xml.within("LaunchTemplateSpecification", |xml| write_template(xml, &policy.template));
        xml.list("Overrides", "member", &policy.overrides, |xml, choice| {
            if let crate::core::document::Document::Map(entries) = &choice.document {
                for (name, entry) in entries {
                    match (&choice.template, name.as_str()) {
                        (Some(template), "LaunchTemplateSpecification") => {
                            xml.within(name, |xml| write_template(xml, template));
                        }
                        _ => xml.document(name, entry, "member"),
                    }
                }
            }
        });
    });
    xml.document("InstancesDistribution", &policy.distribution, "member");
}

/// A member, as groups and warm pools show it.
pub(super) fn write_member(xml: &mut Xml, group: &Group, member: &Member) {
    write_member_with(xml, group, member, ["Healthy", "Unhealthy"]);
}

fn write_member_with(xml: &mut Xml, group: &Group, member: &Member, [healthy, unhealthy]: [&str; 2]) {
    xml.text("InstanceId", member.id.as_str());
    xml.text("InstanceType", member.instance_type.as_str());
    xml.text("AvailabilityZone", member.zone.as_str());
    xml.text("LifecycleState", group.state_name(member));
    xml.text("HealthStatus", if member.health == Health::Healthy { healthy } else { unhealthy });
    if let Some((id, name, version)) = &member.template {
        xml.within("LaunchTemplate", |xml| {
            xml.text("LaunchTemplateId", id.as_str());
            xml.text("LaunchTemplateName", name);
            xml.value("Version", version);
        });
    }
    xml.value("ProtectedFromScaleIn", member.protection == Protection::Protected);
    if is_weighted(group) {
        xml.value("WeightedCapacity", member.weight);
    }
}

pub(super) fn write_pool(xml: &mut Xml, pool: &WarmPool) {
    let state: &'static str = pool.state.into();
    xml.optional("MaxGroupPreparedCapacity", pool.max_prepared);
    xml.value("MinSize", pool.min_size);
    xml.text("PoolState", state);
    if pool.deleting {
        xml.text("Status", "PendingDelete");
    }
    if pool.reuse {
        xml.within("InstanceReusePolicy", |xml| xml.value("ReuseOnScaleIn", pool.reuse));
    }
}

fn is_weighted(group: &Group) -> bool {
    match &group.source {
        LaunchSource::Mixed(policy) => {
            policy.overrides.iter().any(|it| it.document.get(&["WeightedCapacity"]).is_some())
        }
        LaunchSource::Template(_) => false,
    }
}
