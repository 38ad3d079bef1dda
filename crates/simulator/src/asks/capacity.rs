//! Which permissions calls and launches need on placement groups, Capacity Reservations and snapshots (Service Authorization
//! Reference, "Amazon EC2").

use crate::core::Region;
use crate::core::ec2::launch_data::LaunchData;
use crate::iam::ask::{arn, ask};
use crate::iam::policy::Ask;
use crate::request::params::{Params, tags_of};
use crate::service::Service;
use std::collections::BTreeMap;

/// Calls that create a resource: the action, the type of the resource, and the parameter with its tags.
const CREATIONS: [(&str, &str, &str); 3] = [
    ("CreatePlacementGroup", "placement-group", "TagSpecification"),
    ("CreateCapacityReservation", "capacity-reservation", "TagSpecifications"),
    ("CreateSnapshot", "snapshot", "TagSpecification"),
];

/// The permissions for a call; `None` for calls that are about something else.
pub(super) fn of_ec2(region: &Region, action: &str, params: &Params) -> Option<Vec<Ask>> {
    let full = format!("ec2:{action}");
    if let Some((_, kind, specifications)) = CREATIONS.iter().find(|(name, ..)| *name == action) {
        return Some(of_new(region, action, kind, &params.list(specifications)));
    }
    let id = match action {
        "DeletePlacementGroup" => {
            let name = params.text("GroupName").unwrap_or("*");
            let group = region.capacity.placement_groups.get(name);
            let asked = ask(full, arn(region, "placement-group", name));
            return Some(vec![with_tags(asked, group.map(|it| &it.tags))]);
        }
        "CancelCapacityReservation" => params.text("CapacityReservationId"),
        "DeleteSnapshot" => params.text("SnapshotId"),
        _ => return None,
    };
    let asked = id.and_then(|id| on(region, &full, id));
    Some(vec![asked.unwrap_or_else(|| ask(full, "*"))])
}

/// The action on the new resource, and on the volume of a snapshot; CreateTags if it gets tags.
fn of_new(region: &Region, action: &str, kind: &str, specifications: &[&Params]) -> Vec<Ask> {
    let specifications = specifications.iter().filter(|spec| spec.text("ResourceType") == Some(kind));
    let tags: BTreeMap<String, String> = specifications.flat_map(|spec| tags_of(spec.list("Tag"))).collect();
    let on = |action: &str, kind: &str| ask(format!("ec2:{action}"), arn(region, kind, "*"));
    let mut asks = vec![on(action, kind).with_tags("aws:RequestTag", &tags)];
    if kind == "snapshot" {
        asks.push(on(action, "volume"));
    }
    if !tags.is_empty() {
        let tagging = on("CreateTags", kind).with("ec2:CreateAction", action);
        asks.push(tagging.with_tags("aws:RequestTag", &tags));
    }
    asks
}

/// An action on a resource, whose kind the prefix of the id shows. `None` for an unknown prefix.
pub(super) fn on(region: &Region, action: &str, id: &str) -> Option<Ask> {
    let capacity = &region.capacity;
    let (kind, name, tags) = match id.split('-').next().unwrap_or_default() {
        "pg" => {
            let found = capacity.placement_groups.iter().find(|(_, group)| group.id == id);
            let name = found.map_or("*", |(name, _)| name.as_str());
            ("placement-group", name, found.map(|(_, group)| &group.tags))
        }
        "cr" => ("capacity-reservation", id, capacity.reservations.get(id).map(|it| &it.tags)),
        "snap" => ("snapshot", id, capacity.snapshots.get(id).map(|it| &it.tags)),
        _ => return None,
    };
    Some(with_tags(ask(action.to_owned(), arn(region, kind, name)), tags))
}

fn with_tags(asked: Ask, tags: Option<&BTreeMap<String, String>>) -> Ask {
    tags.into_iter().fold(asked, |asked, tags| asked.on_resource(Service::Ec2, tags))
}

/// Placement group, reservation, snapshots and secondary subnets of a launch, by kind and name; resources of other services by ARN.
pub(super) fn of_launch(region: &Region, data: &LaunchData) -> Vec<(Option<&'static str>, String)> {
    let text = |path: &[&str]| data.document.get_text(path).map(str::to_owned);
    let id = text(&["placement", "groupId"]);
    let mut groups = region.capacity.placement_groups.iter();
    let by_id = id.and_then(|id| groups.find(|(_, group)| group.id == id)).map(|(name, _)| name.clone());
    let group = text(&["placement", "groupName"]).or(by_id);
    let target = |field| text(&["capacityReservationSpecification", "capacityReservationTarget", field]);
    let volumes = data.document.get_list(&["blockDeviceMappingSet"]).iter();
    let snapshots = volumes.filter_map(|it| it.get_text(&["ebs", "snapshotId"])).map(str::to_owned);
    let licenses = data.document.get_list(&["licenseSet"]).iter();
    let licenses = licenses.filter_map(|it| it.get_text(&["licenseConfigurationArn"])).map(str::to_owned);
    let mut all: Vec<_> = group.map(|name| (Some("placement-group"), name)).into_iter().collect();
    all.extend(target("capacityReservationId").map(|id| (Some("capacity-reservation"), id)));
    all.extend(snapshots.map(|id| (Some("snapshot"), id)));
    let interfaces = data.document.get_list(&["secondaryInterfaceSet"]).iter();
    let subnets = interfaces.filter_map(|it| it.get_text(&["secondarySubnetId"])).map(str::to_owned);
    all.extend(subnets.map(|id| (Some("secondary-subnet"), id)));
    let hosts = text(&["placement", "hostResourceGroupArn"]);
    let arns = hosts.into_iter().chain(target("capacityReservationResourceGroupArn")).chain(licenses);
    all.extend(arns.map(|arn| (None, arn)));
    all
}
