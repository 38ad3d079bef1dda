//! The web page at `/`: a region's groups and networks as diagrams that update once a second. It changes nothing.
//!
//! Three files without a build step or external resources, and the summaries that they request as JSON: all groups,
//! one group with its instances and activities, and the networks of a region.

mod clusters;
mod networks;

pub(crate) use networks::networks;

use crate::core::group::activity::{Activity, status_name};
use crate::core::group::model::{Group, Member};
use crate::core::mishaps::ZoneState;
use crate::core::rules::group::refresh::Refresh;
use crate::simulator::{RegionHandle, Simulator};
use foo_cloud::InstanceState;
use foo_model::{GroupName, Health, Protection, Timestamp, Zone};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Activities that are shown.
const ACTIVITIES: usize = 30;

/// A file of the page.
pub(crate) struct Asset {
    pub(crate) content_type: &'static str,
    pub(crate) text: &'static str,
}

/// The file at a path, if the page has one there.
pub(crate) fn asset(path: &str) -> Option<Asset> {
    let (content_type, text) = match path {
        "/" => ("text/html; charset=utf-8", include_str!("index.html")),
        "/_sim/page/app.js" => ("text/javascript; charset=utf-8", include_str!("app.js")),
        "/_sim/page/style.css" => ("text/css; charset=utf-8", include_str!("style.css")),
        _ => return None,
    };
    Some(Asset { content_type, text })
}

/// All groups of all regions, and the calls so far.
pub(crate) fn overview(simulator: &Simulator) -> Value {
    let regions: BTreeMap<String, Vec<Value>> = simulator
        .region_names()
        .into_iter()
        .map(|name| {
            let region = simulator.region(&name);
            let groups = region.with(|region| region.groups().map(row).collect()).unwrap_or_default();
            (name, groups)
        })
        .collect();
    let calls: BTreeMap<String, u64> = simulator
        .call_counts()
        .into_iter()
        .map(|((service, action), count)| (format!("{} {action}", service.name()), count.calls))
        .collect();
    json!({ "now": simulator.now(), "pace": simulator.pace(), "regions": regions, "calls": calls })
}

/// One group: its instances by zone, and its activities.
pub(crate) fn group(region: &RegionHandle, name: &str) -> Option<Value> {
    let name = GroupName::new(name);
    region
        .with(|region| {
            let group = region.group(&name)?;
            let all = group.members.values().chain(group.warm.values());
            let members: Vec<Value> = all
                .map(|member| {
                    let state = region.instance(&member.id).map(|instance| instance.state);
                    square(group, member, state)
                })
                .collect();
            let troubled: BTreeMap<&Zone, &str> = group
                .zones
                .iter()
                .map(|zone| (zone, region.zone_state(zone)))
                .filter(|(_, state)| *state != ZoneState::Available)
                .map(|(zone, state)| (zone, state.name()))
                .collect();
            let log = region.activity_log(&name);
            let activities: Vec<Value> = log
                .into_iter()
                .flat_map(|log| log.newest_first().take(ACTIVITIES).map(|(_, one)| line(one)))
                .collect();
            let mut summary = row(group);
            if let Some(summary) = summary.as_object_mut() {
                summary.insert("zones".to_owned(), json!(group.zones));
                summary.insert("troubled".to_owned(), json!(troubled));
                summary.insert("refresh".to_owned(), json!(group.refreshes.last().map(refresh)));
                summary.insert("suspended".to_owned(), json!(group.suspended));
                summary.insert("members".to_owned(), json!(members));
                summary.insert("activities".to_owned(), json!(activities));
            }
            Some(summary)
        })
        .ok()
        .flatten()
}

fn row(group: &Group) -> Value {
    let mut states: BTreeMap<String, u32> = BTreeMap::new();
    for member in group.members.values().chain(group.warm.values()) {
        *states.entry(group.state_name(member)).or_default() += 1;
    }
    json!({
        "name": group.name,
        "min": group.sizes.min,
        "max": group.sizes.max,
        "desired": group.sizes.desired,
        "states": states,
        "deleting": group.is_deleting(),
    })
}

/// The progress of an instance refresh.
fn refresh(refresh: &Refresh) -> Value {
    let status: &'static str = refresh.status.into();
    json!({
        "status": status,
        "reason": refresh.reason,
        "percentage": refresh.percentage(),
        "left": refresh.to_update(),
    })
}

fn square(group: &Group, member: &Member, state: Option<InstanceState>) -> Value {
    json!({
        "id": member.id,
        "zone": member.zone,
        "state": group.state_name(member),
        "ec2": state.map(|state| format!("{state:?}")),
        "healthy": member.health == Health::Healthy,
        "protected": member.protection == Protection::Protected,
        "type": member.instance_type,
        "market": format!("{:?}", member.market),
        "version": member.template.as_ref().map(|(_, _, version)| version.0),
    })
}

fn line(activity: &Activity) -> Value {
    let ended: Option<Timestamp> = activity.ended;
    json!({
        "status": status_name(activity.status),
        "description": activity.description,
        "message": activity.status_message,
        "started": activity.started,
        "ended": ended,
    })
}
