//! What groups report to SNS topics.

use super::fields::group_name;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use std::collections::BTreeSet;

/// Pairs of topic and type (API Reference, DescribeNotificationConfigurations).
const CONFIGURATIONS: Paging = Paging { limit: "MaxRecords", default: 50, min: 1, max: 100 };

pub(super) fn put(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let types = params.texts("NotificationTypes").into_iter().collect();
    region.put_notifications(&group_name(params)?, params.required("TopicARN")?, types)
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.delete_notifications(&group_name(params)?, params.required("TopicARN")?)
}

/// Of groups that are named, or of all. One that does not exist has none **(A)**.
pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &CONFIGURATIONS)?;
    let named: BTreeSet<String> = params.texts("AutoScalingGroupNames").into_iter().collect();
    let is_meant = |name: &str| named.is_empty() || named.contains(name);
    let mut entries: Vec<(String, String, String)> = Vec::new();
    for group in region.groups_seen(None).filter(|group| is_meant(group.name.as_str())) {
        for (topic, types) in &group.notifications {
            entries.extend(types.iter().map(|it| (group.name.to_string(), topic.clone(), it.clone())));
        }
    }
    let key = |(group, topic, kind): &(String, String, String)| format!("{group} {topic} {kind}");
    entries.sort_by_key(key);
    let behind =
        |entry: &(String, String, String)| page.after.as_ref().is_none_or(|after| key(entry) > *after);
    let (found, token) = page.take(entries.into_iter().filter(behind), key);
    xml.list("NotificationConfigurations", "member", found, |xml, (group, topic, kind)| {
        xml.text("AutoScalingGroupName", &group);
        xml.text("TopicARN", &topic);
        xml.text("NotificationType", &kind);
    });
    xml.optional("NextToken", token);
    Ok(())
}
