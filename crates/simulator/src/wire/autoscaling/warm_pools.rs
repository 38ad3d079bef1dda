//! Warm pools.

use super::describe::{write_member, write_pool};
use super::fields::group_name;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::rules::group::warm_pool::{PoolState, WarmPoolChange};
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;

const PAGING: Paging = Paging { limit: "MaxRecords", default: 50, min: 1, max: 50 };

pub(super) fn put(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let state = params.text("PoolState").map(|text| {
        text.parse::<PoolState>().map_err(|_| {
            AwsError::validation(format!("PoolState {text} is not Stopped, Running or Hibernated."))
        })
    });
    let max_prepared = match params.text("MaxGroupPreparedCapacity") {
        Some("-1") => Some(None),
        _ => params.count("MaxGroupPreparedCapacity")?.map(Some),
    };
    let reuse = params.node("InstanceReusePolicy").map(|it| it.flag("ReuseOnScaleIn")).transpose()?.flatten();
    let change =
        WarmPoolChange { state: state.transpose()?, min_size: params.count("MinSize")?, max_prepared, reuse };
    region.put_warm_pool(&group_name(params)?, change)
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let forced = params.flag("ForceDelete")? == Some(true);
    region.delete_warm_pool(&group_name(params)?, forced)
}

pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let name = group_name(params)?;
    let page = Page::of(params, &PAGING)?;
    let group = region.group_seen(&name).ok_or_else(|| AwsError::no_group(&name))?;
    if let Some(pool) = &group.warm_pool {
        xml.within("WarmPoolConfiguration", |xml| write_pool(xml, pool));
    }
    let behind = |id: &str| page.after.as_deref().is_none_or(|after| id > after);
    let members = group.warm.values().filter(|member| behind(member.id.as_str()));
    let (found, token) = page.take(members, |member| member.id.to_string());
    xml.list("Instances", "member", found, |xml, member| write_member(xml, &group, member));
    xml.optional("NextToken", token);
    Ok(())
}
