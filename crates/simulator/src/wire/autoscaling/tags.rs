//! Tags of groups.

use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, GroupTag};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_model::GroupName;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A tag in a request, with its group.
pub(super) struct TagParam {
    pub(super) group: Option<String>,
    pub(super) key: String,
    pub(super) tag: GroupTag,
}

/// The Tags parameter.
pub(super) fn parse(params: &Params) -> AwsResult<Vec<TagParam>> {
    params
        .list("Tags")
        .into_iter()
        .map(|item| {
            if let Some(kind) = item.text("ResourceType")
                && kind != "auto-scaling-group"
            {
                return Err(AwsError::validation(format!("Invalid resource type {kind}.")));
            }
            Ok(TagParam {
                group: item.text("ResourceId").map(str::to_owned),
                key: item.required("Key")?.to_owned(),
                tag: GroupTag {
                    value: item.text("Value").unwrap_or_default().to_owned(),
                    propagate: item.flag("PropagateAtLaunch")?.unwrap_or(false),
                },
            })
        })
        .collect()
}

fn by_group(params: &Params) -> AwsResult<BTreeMap<GroupName, BTreeMap<String, GroupTag>>> {
    let mut groups: BTreeMap<GroupName, BTreeMap<String, GroupTag>> = BTreeMap::new();
    for tag in parse(params)? {
        let group = tag.group.ok_or_else(|| AwsError::missing("ResourceId"))?;
        groups.entry(GroupName::new(group)).or_default().insert(tag.key, tag.tag);
    }
    if groups.is_empty() {
        return Err(AwsError::missing("Tags"));
    }
    Ok(groups)
}

pub(super) fn create_or_update(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    _: &mut Xml,
) -> AwsResult<()> {
    for (group, tags) in by_group(params)? {
        region.tag_group(&group, tags)?;
    }
    Ok(())
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    for (group, tags) in by_group(params)? {
        region.untag_group(&group, tags.keys().map(String::as_str))?;
    }
    Ok(())
}

const PAGING: Paging = Paging { limit: "MaxRecords", default: 50, min: 1, max: 100 };

pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let filters =
        Filters::autoscaling(params)?.only(&["auto-scaling-group", "key", "value", "propagate-at-launch"])?;
    let none = BTreeMap::new();
    let groups: Vec<Cow<'_, Group>> = region.groups_seen(None).collect();
    let entries = groups
        .iter()
        .flat_map(|group| group.tags.iter().map(move |(key, tag)| (group, key, tag)))
        .filter(|(group, key, tag)| {
            filters.match_with(&none, |name| {
                vec![match name {
                    "auto-scaling-group" => group.name.as_str(),
                    "key" => key.as_str(),
                    "value" => tag.value.as_str(),
                    _ => flag_text(tag.propagate),
                }]
            })
        })
        .map(|(group, key, tag)| (format!("{}\n{key}", group.name), group, key, tag))
        .filter(|(place, ..)| page.after.as_ref().is_none_or(|after| place > after));
    let (entries, token) = page.take(entries, |(place, ..)| place.clone());
    xml.list("Tags", "member", entries, |xml, (_, group, key, tag)| write_tag(xml, group, key, tag));
    xml.optional("NextToken", token);
    Ok(())
}

fn flag_text(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}

/// One tag, as DescribeTags and DescribeAutoScalingGroups show it.
pub(super) fn write_tag(xml: &mut Xml, group: &Group, key: &str, tag: &GroupTag) {
    xml.text("ResourceId", group.name.as_str());
    xml.text("ResourceType", "auto-scaling-group");
    xml.text("Key", key);
    xml.text("Value", &tag.value);
    xml.text("PropagateAtLaunch", flag_text(tag.propagate));
}
