//! Placement groups, Capacity Reservations and snapshots.

use super::network::{fixed, only, tags_in, unsupported};
use super::tags;
use crate::core::ec2::capacity::{CapacityReservation, MatchCriteria, PlacementGroup, Snapshot, Strategy};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::rules::capacity::NewReservation;
use crate::core::time::iso_millis;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_model::{InstanceType, Zone};

const PAGING: Paging = Paging { limit: "MaxResults", default: 1_000, min: 5, max: 1_000 };
/// Partitions of a group, at most (EC2 User Guide, "Placement strategies for your placement groups").
const MOST_PARTITIONS: u32 = 7;
/// Name of the tags of a reservation in its request, other than in most requests.
const TAGS: &str = "TagSpecifications";

/// CreatePlacementGroup.
pub(super) fn create_group(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["GroupName", "Strategy", "PartitionCount", "TagSpecification"])?;
    let name = params.required("GroupName")?;
    let count = params.count("PartitionCount")?;
    let strategy = match (params.text("Strategy").unwrap_or("cluster"), count) {
        ("cluster", None) => Strategy::Cluster,
        ("spread", None) => Strategy::Spread,
        ("partition", count) => Strategy::Partition(count.unwrap_or(2)),
        ("cluster" | "spread", Some(_)) => {
            let text = "PartitionCount is for the strategy partition";
            return Err(AwsError::new("InvalidParameterCombination", text));
        }
        (other, _) => {
            return Err(AwsError::invalid_value(format!(
                "Value ({other}) for parameter strategy is invalid."
            )));
        }
    };
    if count.is_some_and(|count| !(1..=MOST_PARTITIONS).contains(&count)) {
        let text = format!("PartitionCount is between 1 and {MOST_PARTITIONS}.");
        return Err(AwsError::invalid_value(text));
    }
    let tags = tags_in(params, "TagSpecification", "placement-group")?;
    let around = (region.name.clone(), region.account.clone());
    let group = region.create_placement_group(name, strategy, tags)?;
    xml.within("placementGroup", |xml| write_group(xml, &around, name, group));
    Ok(())
}

/// DescribePlacementGroups.
pub(super) fn groups(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    only(params, &["GroupName", "GroupId", "Filter"])?;
    let filters = Filters::ec2(params)?.only(&["group-name", "state", "strategy"])?;
    let (names, ids) = (params.texts("GroupName"), params.texts("GroupId"));
    let all = &region.capacity.placement_groups;
    let is_known = |wanted: &String| all.iter().any(|(name, group)| name == wanted || group.id == *wanted);
    if let Some(unknown) = names.iter().chain(&ids).find(|wanted| !is_known(wanted)) {
        let text = format!("The Placement Group '{unknown}' is unknown.");
        return Err(AwsError::new("InvalidPlacementGroup.Unknown", text));
    }
    let is_wanted = |name: &String, group: &PlacementGroup| {
        names.is_empty() && ids.is_empty() || names.contains(name) || ids.contains(&group.id)
    };
    let found = all.iter().filter(|(name, group)| {
        let attribute = |filter: &str| match filter {
            "group-name" => vec![name.as_str()],
            "strategy" => vec![group.strategy.name()],
            _ => vec!["available"],
        };
        is_wanted(name, group) && filters.match_with(&group.tags, attribute)
    });
    let around = (region.name.clone(), region.account.clone());
    xml.list("placementGroupSet", "item", found, |xml, (name, group)| write_group(xml, &around, name, group));
    Ok(())
}

fn write_group(xml: &mut Xml, (region, account): &(String, String), name: &str, group: &PlacementGroup) {
    xml.text("groupName", name);
    xml.text("groupId", &group.id);
    xml.text("groupArn", format!("arn:aws:ec2:{region}:{account}:placement-group/{name}"));
    xml.text("state", "available");
    xml.text("strategy", group.strategy.name());
    if let Strategy::Partition(count) = group.strategy {
        xml.value("partitionCount", count);
    }
    tags::write(xml, &group.tags);
}

/// DeletePlacementGroup.
pub(super) fn delete_group(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["GroupName"])?;
    region.delete_placement_group(params.required("GroupName")?)?;
    xml.text("return", "true");
    Ok(())
}

/// CreateCapacityReservation: of Linux instances with default tenancy, without an end.
pub(super) fn create_reservation(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(
        params,
        &[
            "InstanceType",
            "InstancePlatform",
            "AvailabilityZone",
            "InstanceCount",
            "InstanceMatchCriteria",
            "Tenancy",
            "EndDateType",
            TAGS,
        ],
    )?;
    params.required("InstancePlatform")?;
    fixed(params, "InstancePlatform", PLATFORM)?;
    fixed(params, "Tenancy", "default")?;
    fixed(params, "EndDateType", "unlimited")?;
    let criteria = match params.text("InstanceMatchCriteria").unwrap_or("open") {
        "open" => MatchCriteria::Open,
        "targeted" => MatchCriteria::Targeted,
        other => return Err(unsupported("InstanceMatchCriteria", other)),
    };
    let total = params.count("InstanceCount")?.filter(|count| *count > 0);
    let new = NewReservation {
        instance_type: InstanceType::new(params.required("InstanceType")?),
        zone: Zone::new(params.required("AvailabilityZone")?),
        total: total.ok_or_else(|| AwsError::missing("InstanceCount"))?,
        criteria,
        tags: tags_in(params, TAGS, "capacity-reservation")?,
    };
    let id = region.create_capacity_reservation(new)?;
    if let Some(reservation) = region.capacity.reservations.get(&id) {
        xml.within("capacityReservation", |xml| write_reservation(xml, region, caller, &id, reservation));
    }
    Ok(())
}

/// The only platform that is simulated.
const PLATFORM: &str = "Linux/UNIX";

/// DescribeCapacityReservations.
pub(super) fn reservations(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["CapacityReservationId", "Filter", "MaxResults", "NextToken"])?;
    let page = Page::of(params, &PAGING)?;
    let filters = Filters::ec2(params)?.only(&["instance-type", "state"])?;
    let ids = params.texts("CapacityReservationId");
    let now = region.now();
    let all = &region.capacity.reservations;
    if let Some(unknown) = ids.iter().find(|id| !all.contains_key(*id)) {
        let text = format!("The capacity reservation '{unknown}' does not exist");
        return Err(AwsError::new("InvalidCapacityReservationId.NotFound", text));
    }
    let found = all
        .iter()
        .filter(|(id, _)| ids.is_empty() || ids.contains(id))
        .filter(|(_, it)| {
            filters.match_with(&it.tags, |filter| {
                vec![if filter == "state" { it.state(now) } else { it.instance_type.as_str() }]
            })
        })
        .filter(|(id, _)| page.after.as_ref().is_none_or(|after| *id > after));
    let (found, next) = page.take(found, |(id, _)| (*id).clone());
    xml.list("capacityReservationSet", "item", found, |xml, (id, reservation)| {
        write_reservation(xml, region, caller, id, reservation);
    });
    xml.optional("nextToken", next);
    Ok(())
}

fn write_reservation(
    xml: &mut Xml,
    region: &Region,
    caller: &Caller<'_>,
    id: &str,
    reservation: &CapacityReservation,
) {
    let CapacityReservation { instance_type, zone, total, criteria, active: _, block, created, tags } =
        reservation;
    xml.text("capacityReservationId", id);
    let arn = format!("arn:aws:ec2:{}:{}:capacity-reservation/{id}", region.name, region.account);
    xml.text("capacityReservationArn", arn);
    xml.text("ownerId", caller.account);
    xml.text("instanceType", instance_type.as_str());
    xml.text("instancePlatform", PLATFORM);
    xml.text("availabilityZone", zone.as_str());
    xml.text("tenancy", "default");
    xml.value("totalInstanceCount", total);
    xml.value("availableInstanceCount", region.capacity_left(id));
    xml.text("state", reservation.state(region.now()));
    xml.text("createDate", iso_millis(*created));
    xml.text("startDate", iso_millis(block.map_or(*created, |it| it.starts)));
    xml.optional("endDate", block.map(|it| iso_millis(it.ends)));
    xml.text("endDateType", if block.is_some() { "limited" } else { "unlimited" });
    xml.text("reservationType", if block.is_some() { "capacity-block" } else { "default" });
    xml.text("instanceMatchCriteria", criteria.name());
    tags::write(xml, tags);
}

/// CancelCapacityReservation.
pub(super) fn cancel_reservation(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["CapacityReservationId"])?;
    region.cancel_capacity_reservation(params.required("CapacityReservationId")?)?;
    xml.text("return", "true");
    Ok(())
}

/// CreateSnapshot.
pub(super) fn create_snapshot(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["VolumeId", "Description", "TagSpecification"])?;
    let tags = tags_in(params, "TagSpecification", "snapshot")?;
    let description = params.text("Description").unwrap_or_default();
    let id = region.create_snapshot(params.required("VolumeId")?, description, tags)?;
    if let Some(snapshot) = region.capacity.snapshots.get(&id) {
        write_snapshot(xml, caller, &id, snapshot);
    }
    Ok(())
}

/// DescribeSnapshots: those of the account.
pub(super) fn snapshots(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["SnapshotId", "Owner", "Filter", "MaxResults", "NextToken"])?;
    let page = Page::of(params, &PAGING)?;
    let filters = Filters::ec2(params)?.only(&["volume-id", "status"])?;
    let (ids, owners) = (params.texts("SnapshotId"), params.texts("Owner"));
    let all = &region.capacity.snapshots;
    if let Some(unknown) = ids.iter().find(|id| !all.contains_key(*id)) {
        let text = format!("The snapshot '{unknown}' does not exist.");
        return Err(AwsError::new("InvalidSnapshot.NotFound", text));
    }
    let is_own = owners.is_empty() || owners.iter().any(|owner| owner == "self" || owner == caller.account);
    let found = all
        .iter()
        .filter(|(id, _)| is_own && (ids.is_empty() || ids.contains(id)))
        .filter(|(_, it)| {
            filters.match_with(&it.tags, |filter| {
                vec![if filter == "volume-id" { it.volume.as_str() } else { "completed" }]
            })
        })
        .filter(|(id, _)| page.after.as_ref().is_none_or(|after| *id > after));
    let (found, next) = page.take(found, |(id, _)| (*id).clone());
    xml.list("snapshotSet", "item", found, |xml, (id, snapshot)| write_snapshot(xml, caller, id, snapshot));
    xml.optional("nextToken", next);
    Ok(())
}

fn write_snapshot(xml: &mut Xml, caller: &Caller<'_>, id: &str, snapshot: &Snapshot) {
    let Snapshot { size_gib, volume, description, started, tags } = snapshot;
    xml.text("snapshotId", id);
    xml.text("volumeId", volume);
    xml.text("status", "completed");
    xml.text("progress", "100%");
    xml.text("startTime", iso_millis(*started));
    xml.text("ownerId", caller.account);
    xml.text("description", description);
    xml.value("volumeSize", size_gib);
    xml.value("encrypted", false);
    tags::write(xml, tags);
}

/// DeleteSnapshot.
pub(super) fn delete_snapshot(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["SnapshotId"])?;
    region.delete_snapshot(params.required("SnapshotId")?)?;
    xml.text("return", "true");
    Ok(())
}
