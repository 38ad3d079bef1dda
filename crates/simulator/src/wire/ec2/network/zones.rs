//! DescribeAvailabilityZones.

use super::parse::fields::only;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use std::collections::BTreeMap;

pub(in crate::wire::ec2) fn describe(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["ZoneName", "ZoneId", "AllAvailabilityZones", "Filter"])?;
    let (names, ids) = (params.texts("ZoneName"), params.texts("ZoneId"));
    let filters = Filters::ec2(params)?.only(&[
        "opt-in-status",
        "region-name",
        "state",
        "zone-id",
        "zone-name",
        "zone-type",
    ])?;
    let none = BTreeMap::new();
    let all = &region.network.zones;
    if let Some(unknown) = names.iter().find(|name| !all.contains_key(&name.as_str().into())) {
        return Err(AwsError::invalid_value(format!("Invalid availability zone: [{unknown}]")));
    }
    let found = all
        .iter()
        .filter(|(zone, _)| names.is_empty() || names.iter().any(|name| name == zone.as_str()))
        .filter(|(_, id)| ids.is_empty() || ids.contains(id))
        .filter(|(zone, id)| {
            filters.match_with(&none, |name| {
                vec![match name {
                    "opt-in-status" => "opt-in-not-required",
                    "region-name" => region.name.as_str(),
                    "state" => region.zone_state(zone).name(),
                    "zone-id" => id.as_str(),
                    "zone-name" => zone.as_str(),
                    _ => "availability-zone",
                }]
            })
        });
    xml.list("availabilityZoneInfo", "item", found, |xml, (zone, id)| {
        xml.text("zoneName", zone.as_str());
        xml.text("zoneId", id);
        xml.text("zoneState", region.zone_state(zone).name());
        xml.text("regionName", &region.name);
        xml.text("zoneType", "availability-zone");
        xml.text("optInStatus", "opt-in-not-required");
        xml.text("groupName", &region.name);
    });
    Ok(())
}
