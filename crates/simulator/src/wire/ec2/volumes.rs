//! DescribeVolumes (EC2 API Reference): the volumes that workloads made.

use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;

const PAGING: Paging = Paging { limit: "MaxResults", default: 1_000, min: 5, max: 1_000 };

/// DescribeVolumes.
pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let filters = Filters::ec2(params)?.only(&["volume-id"])?;
    let all = region
        .volumes
        .iter()
        .filter(|(id, volume)| filters.match_with(&volume.tags, |_| vec![id.as_str()]))
        .filter(|(id, _)| page.after.as_ref().is_none_or(|after| *id > after));
    let (found, next) = page.take(all, |(id, _)| (*id).clone());
    xml.list("volumeSet", "item", found, |xml, (id, volume)| write(xml, id, volume));
    xml.optional("nextToken", next);
    Ok(())
}

fn write(xml: &mut Xml, id: &str, volume: &WorkloadVolume) {
    xml.text("volumeId", id);
    xml.value("size", volume.size_gib);
    xml.text("volumeType", "gp3");
    xml.text("status", if volume.attached.is_some() { "in-use" } else { "available" });
    xml.list("attachmentSet", "item", &volume.attached, |xml, (instance, goes_with_it)| {
        xml.text("volumeId", id);
        xml.text("instanceId", instance);
        xml.text("status", "attached");
        xml.value("deleteOnTermination", goes_with_it);
    });
    super::tags::write(xml, &volume.tags);
}
