//! The control API: reads and changes of the simulated world for tests and users, as JSON over HTTP under `/_sim/`.
//!
//! | method and path | what |
//! |---|---|
//! | GET `/_sim/health` | responds while the simulator runs |
//! | GET `/_sim/state` | everything |
//! | GET, POST `/_sim/clock` | `{"now","pace"}`; `{"step_seconds":n}`, `{"factor":x}` or `{"stepped":true}` |
//! | GET, POST, DELETE `/_sim/faults` | the rules; add one ([`FaultRule`]); remove all |
//! | DELETE `/_sim/faults/<n>` | remove one |
//! | GET, DELETE `/_sim/calls` | counts by action and by caller, total, the latest calls; reset |
//! | GET, PUT `/_sim/throttling` | [`Throttling`] |
//! | GET `/_sim/actions` | all actions that are not refused with `InvalidAction` |
//! | GET `/_sim/page`, `/_sim/page/<r>`, `/_sim/page/<r>/<group>` | what the page at `/` shows: all groups; the networks of a region; one group |
//! | GET, PUT `/_sim/keys`; DELETE `/_sim/keys/<id>` | access keys ([`AccessKey`]), without secrets; add or replace one; remove |
//! | GET, PUT `/_sim/roles`; DELETE `/_sim/roles/<name>` | roles ([`Role`](crate::iam::roles::Role)); add or replace one; remove |
//! | GET, PUT `/_sim/instance-profiles`; DELETE `/_sim/instance-profiles/<name>` | instance profiles ([`InstanceProfile`](crate::InstanceProfile)); add or replace one; remove |
//! | DELETE `/_sim/sessions` | end all sessions of roles at once |
//! | GET `/_sim/snapshots` | names of the snapshots there are |
//! | POST, DELETE `/_sim/snapshots/<name>` | keep a copy of everything; forget it |
//! | POST `/_sim/snapshots/<name>/restore` | put everything back |
//! | GET `/_sim/regions` | names of the regions there are |
//! | GET `/_sim/regions/<r>/state` | everything in a region |
//! | GET `/_sim/regions/<r>/groups`, `/groups/<name>`, `/activities/<group>` | groups; the activities of one |
//! | GET `/_sim/regions/<r>/instances`, `/nodes` | all instances; those that run, as kubelets |
//! | GET, PUT `/_sim/regions/<r>/event-rules` | which events reach which queue ([`EventRule`](crate::core::sqs::delivery::EventRule)s) |
//! | GET `/_sim/regions/<r>/events`, `/events/<n>` | the latest events; those after number n |
//! | POST `/_sim/regions/<r>/events` | `{"source","detail_type","resources","detail"}`: publish one that the simulator does not cause |
//! | POST `/_sim/regions/<r>/instances/<id>/kill` | terminate it in EC2, without a call to Auto Scaling |
//! | POST `/_sim/regions/<r>/instances/<id>/recommend-rebalance`, `/interrupt` | what EC2 does to a spot instance |
//! | POST `/_sim/regions/<r>/instances/<id>/schedule-event` | `{"code":"instance-retirement","in_seconds":n}` |
//! | PUT `/_sim/regions/<r>/instances/<id>/console` | `{"output"}`: what it wrote to its console |
//! | PUT `/_sim/regions/<r>/instances/<id>/target-health` | `{"state":"Unhealthy"}` ([`TargetState`]) in all its target groups, or null |
//! | PUT `/_sim/regions/<r>/instances/<id>/root-volume` | `{"state":"Replacing"}` ([`RootVolume`]) or null |
//! | PUT `/_sim/regions/<r>/capacity` | `{"zone","instance_type","limit":n or null}` |
//! | PUT `/_sim/regions/<r>/parameters` | `{"name","value"}`: AWS publishes a parameter |
//! | PUT `/_sim/regions/<r>/zones/<zone>` | `{"state":"Impaired"}` ([`ZoneState`]); `{"left_out_seconds":n}` |
//! | GET, PUT `/_sim/regions/<r>/launch-faults` | which future launches fail ([`LaunchMishap`](crate::core::mishaps::LaunchMishap)s) |
//! | GET, PUT `/_sim/regions/<r>/vcpu-quotas` | `{"class","vcpus":n or null}` ([`QuotaClass`]) |
//! | PATCH `/_sim/regions/<r>/images/<id>` | `{"boots":"Fails","available":false}` |
//! | POST `/_sim/regions/<r>/network-interfaces`, `/load-balancers` | create one as another user ([`NewInterface`](crate::core::network::NewInterface), [`NewLoadBalancer`](crate::core::network::NewLoadBalancer)); its id |
//! | POST `/_sim/regions/<r>/lattice-target-groups` | create a target group of VPC Lattice as another user; its ARN as id |
//! | POST `/_sim/regions/<r>/volumes`; DELETE `/_sim/regions/<r>/volumes/<id>` | create a volume as a driver in a workload cluster: `{"size_gib","instance","delete_on_termination","tags"}`, its id; delete it |
//! | DELETE `/_sim/regions/<r>/network/<id>` | delete a part of a network as another user |
//! | DELETE `/_sim/regions/<r>/network` | remove everything except zones: an empty region |
//! | GET `/_sim/regions/<r>/network` | everything in the region's networks |
//! | GET, PUT `/_sim/regions/<r>/nat-faults` | which future NAT gateways fail ([`NatMishap`](crate::core::network::NatMishap)s) |
//! | GET `/_sim/regions/<r>/clusters`, `/clusters/<name>` | all clusters of EKS; one, with everything that belongs to it |
//! | PUT `/_sim/regions/<r>/clusters/<name>/health`, `/addons/<addon>/health` | what is wrong with it ([`Issue`](foo_model::eks::Issue)s) |
//! | PUT `/_sim/regions/<r>/clusters/<name>/insights` | its insights ([`InsightFact`](crate::core::eks::cluster::InsightFact)s) beside those that EKS works out |
//! | PUT `/_sim/regions/<r>/clusters/<name>/server` | the API server that runs for it ([`ApiServer`](crate::core::eks::cluster::ApiServer)), or null |
//! | POST `/_sim/regions/<r>/clusters/<name>/upgrade` | AWS updates it to the next version |
//! | GET, PUT `/_sim/regions/<r>/eks-faults` | what goes wrong with coming creations and updates ([`EksMishap`](crate::core::eks::EksMishap)s) |
//! | PUT `/_sim/regions/<r>/images`, `/types`, `/vpcs`, `/subnets`, `/security-groups` | add or replace one |
//! | GET, PATCH `/_sim/regions/<r>/settings` | [`Settings`](crate::core::Settings) |

mod clusters;
mod networks;
mod result;

use crate::Pace;
use crate::core::catalogue::{Boot, TypeInfo};
use crate::core::group::model::RootVolume;
use crate::core::mishaps::{QuotaClass, ZoneState};
use crate::faults::FaultRule;
use crate::iam::AccessKey;
use crate::page;
use crate::simulator::{RegionHandle, Simulator};
use crate::throttle::Throttling;
use crate::wire;
use foo_model::{InstanceId, TargetState};
use http::{Method, StatusCode};
use result::{ControlError, ControlResult, done, parse, removed, value_of};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Prefix of the paths of the control API.
pub(crate) const PREFIX: &str = "/_sim/";

/// A response of the control API.
pub(crate) struct ControlResponse {
    pub(crate) status: StatusCode,
    pub(crate) body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockChange {
    step_seconds: Option<f64>,
    factor: Option<f64>,
    stepped: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapacityChange {
    zone: String,
    instance_type: String,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewEvent {
    source: String,
    detail_type: String,
    #[serde(default)]
    resources: Vec<String>,
    #[serde(default)]
    detail: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewScheduledEvent {
    code: String,
    in_seconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConsoleChange {
    output: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RootVolumeChange {
    state: Option<RootVolume>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetChange {
    state: Option<TargetState>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BucketChange {
    reader_tag: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterChange {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ZoneChange {
    state: Option<ZoneState>,
    left_out_seconds: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuotaChange {
    class: QuotaClass,
    vcpus: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ImageChange {
    boots: Option<Boot>,
    available: Option<bool>,
}

/// Responds to a control request.
pub(crate) fn respond(simulator: &Simulator, method: &Method, path: &str, body: &[u8]) -> ControlResponse {
    let decoded = url_decode(path.strip_prefix(PREFIX).unwrap_or_default());
    let segments: Vec<&str> = decoded.iter().map(String::as_str).collect();
    let outcome = match segments.as_slice() {
        ["regions", region, rest @ ..] => of_region(&simulator.region(region), method, rest, body),
        rest => of_all(simulator, method, rest, body),
    };
    match outcome {
        Ok(value) => ControlResponse { status: StatusCode::OK, body: value.to_string() },
        Err(ControlError::NotFound) => ControlResponse {
            status: StatusCode::NOT_FOUND,
            body: json!({ "error": format!("there is no {method} {path}") }).to_string(),
        },
        Err(ControlError::Bad(message)) => {
            ControlResponse { status: StatusCode::BAD_REQUEST, body: json!({ "error": message }).to_string() }
        }
    }
}

/// The segments of a path, percent-decoded.
fn url_decode(path: &str) -> Vec<String> {
    path.split('/')
        .map(|segment| {
            // A form parser decodes percent signs. It would decode plus signs as spaces, so they are encoded first.
            let protected = segment.replace('+', "%2B").replace(['&', '='], "");
            url::form_urlencoded::parse(protected.as_bytes())
                .next()
                .map(|(name, _)| name.into_owned())
                .unwrap_or_default()
        })
        .collect()
}

fn of_all(simulator: &Simulator, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["health"]) => Ok(json!({ "ok": true })),
        ("GET", ["state"]) => Ok(simulator.state()),
        ("GET", ["clock"]) => Ok(clock(simulator)),
        ("POST", ["clock"]) => change_clock(simulator, body),
        (_, ["faults", ..]) => of_faults(simulator, method, path, body),
        (_, ["keys" | "roles" | "sessions" | "instance-profiles", ..]) => {
            of_access(simulator, method, path, body)
        }
        (_, ["snapshots", ..]) => of_snapshots(simulator, method, path),
        ("GET", ["calls"]) => Ok(calls(simulator)),
        ("DELETE", ["calls"]) => {
            simulator.reset_calls();
            Ok(json!({}))
        }
        ("GET", ["throttling"]) => value_of(simulator.throttling()),
        ("PUT", ["throttling"]) => {
            let throttling: Throttling = parse(body)?;
            simulator.set_throttling(throttling);
            value_of(throttling)
        }
        ("GET", ["page"]) => Ok(page::overview(simulator)),
        ("GET", ["page", region]) => Ok(page::networks(&simulator.region(region))),
        ("GET", ["page", region, group]) => {
            page::group(&simulator.region(region), group).ok_or(ControlError::NotFound)
        }
        ("GET", ["actions"]) => Ok(wire::all_actions()
            .into_iter()
            .map(|(service, action)| Value::String(format!("{}:{action}", service.name())))
            .collect()),
        ("GET", ["regions"]) => value_of(simulator.region_names()),
        _ => Err(ControlError::NotFound),
    }
}

fn change_clock(simulator: &Simulator, body: &[u8]) -> ControlResult {
    let change: ClockChange = parse(body)?;
    if let Some(factor) = change.factor {
        simulator.set_pace(Pace::Scaled { factor });
    }
    if change.stepped == Some(true) {
        simulator.set_pace(Pace::Stepped);
    }
    if let Some(seconds) = change.step_seconds {
        let by =
            Duration::try_from_secs_f64(seconds).map_err(|error| ControlError::Bad(error.to_string()))?;
        simulator.step(by);
    }
    Ok(clock(simulator))
}

/// Fault rules for calls.
fn of_faults(simulator: &Simulator, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["faults"]) => Ok(simulator
            .faults()
            .into_iter()
            .map(|(number, rule)| json!({ "number": number, "rule": rule }))
            .collect()),
        ("POST", ["faults"]) => {
            let rule: FaultRule = parse(body)?;
            Ok(json!({ "number": simulator.add_fault(rule) }))
        }
        ("DELETE", ["faults"]) => {
            simulator.clear_faults();
            Ok(json!({}))
        }
        ("DELETE", ["faults", number]) => {
            let number = number.parse().map_err(|_| ControlError::NotFound)?;
            removed(simulator.remove_fault(number))
        }
        _ => Err(ControlError::NotFound),
    }
}

/// Access keys, roles and their sessions.
fn of_access(simulator: &Simulator, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["keys"]) => value_of(simulator.keys()),
        ("PUT", ["keys"]) => {
            let key: AccessKey = parse(body)?;
            simulator.put_key(key);
            Ok(json!({}))
        }
        ("DELETE", ["keys", id]) => removed(simulator.remove_key(id)),
        ("GET", ["roles"]) => value_of(simulator.roles()),
        ("PUT", ["roles"]) => {
            simulator.put_role(parse(body)?);
            Ok(json!({}))
        }
        ("DELETE", ["roles", name]) => removed(simulator.remove_role(name)),
        ("GET", ["instance-profiles"]) => value_of(simulator.instance_profiles()),
        ("PUT", ["instance-profiles"]) => {
            simulator.put_instance_profile(parse(body)?);
            Ok(json!({}))
        }
        ("DELETE", ["instance-profiles", name]) => removed(simulator.remove_instance_profile(name)),
        ("DELETE", ["sessions"]) => Ok(json!({ "ended": simulator.expire_sessions() })),
        _ => Err(ControlError::NotFound),
    }
}

fn of_snapshots(simulator: &Simulator, method: &Method, path: &[&str]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["snapshots"]) => value_of(simulator.snapshot_names()),
        ("POST", ["snapshots", name]) => {
            simulator.take_snapshot(name).map_err(|error| ControlError::Bad(error.to_string()))?;
            Ok(json!({}))
        }
        ("POST", ["snapshots", name, "restore"]) => {
            simulator.restore_snapshot(name).map_err(|_| ControlError::NotFound)?;
            Ok(json!({}))
        }
        ("DELETE", ["snapshots", name]) => removed(simulator.drop_snapshot(name)),
        _ => Err(ControlError::NotFound),
    }
}

fn of_region(region: &RegionHandle, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["state"]) => Ok(region.state()),
        ("GET", ["groups"]) => value_of(region.groups()),
        ("GET", ["groups", name]) => region.group(name).map_or(Err(ControlError::NotFound), value_of),
        ("GET", ["activities", group]) => value_of(region.activities(group)),
        ("GET", ["instances"]) => value_of(region.instances()),
        (_, ["instances", _, _]) => of_instance(region, method, path, body),
        ("GET", ["nodes"]) => value_of(region.in_service_instances()),
        (_, ["event-rules" | "events", ..]) => of_events(region, method, path, body),
        ("PATCH", ["images", id]) => change_image(region, id, body),
        ("PATCH", ["settings"]) => change_settings(region, body),
        ("PUT", ["capacity"]) => {
            let change: CapacityChange = parse(body)?;
            done(region.set_capacity_limit(&change.zone, &change.instance_type, change.limit))
        }
        ("PUT", ["parameters"]) => {
            let change: ParameterChange = parse(body)?;
            done(region.publish_parameter(&change.name, &change.value))
        }
        ("PUT", ["zones", zone]) => {
            let change: ZoneChange = parse(body)?;
            if let Some(seconds) = change.left_out_seconds {
                done(region.leave_out_zone(zone, Duration::from_secs(seconds.into())))?;
            }
            change.state.map_or_else(|| Ok(json!({})), |state| done(region.set_zone_state(zone, state)))
        }
        ("GET", ["launch-faults"]) => value_of(region.launch_mishaps()),
        ("PUT", ["launch-faults"]) => done(region.set_launch_mishaps(parse(body)?)),
        ("GET", ["vcpu-quotas"]) => value_of(region.vcpu_quotas()),
        ("PUT", ["vcpu-quotas"]) => {
            let change: QuotaChange = parse(body)?;
            done(region.set_vcpu_quota(change.class, change.vcpus))
        }
        ("PUT", ["buckets", name]) => {
            let change: BucketChange = parse(body)?;
            done(region.with(|region| region.create_bucket(name).reader_tag = change.reader_tag))
        }
        ("PUT", ["images"]) => done(region.put_image(parse(body)?)),
        ("PUT", ["types"]) => done(region.put_instance_type(type_of(body)?)),
        ("PUT", ["vpcs"]) => done(region.put_vpc(parse(body)?)),
        ("PUT", ["subnets"]) => done(region.put_subnet(parse(body)?)),
        ("PUT", ["security-groups"]) => done(region.put_security_group(parse(body)?)),
        ("GET", ["settings"]) => value_of(region.settings()),
        _ => networks::of_region(region, method, path, body),
    }
}

/// Changes of one instance.
fn of_instance(region: &RegionHandle, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("POST", ["instances", id, "kill"]) => done(region.kill_instance(&InstanceId::from(*id))),
        ("POST", ["instances", id, "recommend-rebalance"]) => {
            done(region.recommend_rebalance(&InstanceId::from(*id)))
        }
        ("POST", ["instances", id, "interrupt"]) => done(region.interrupt(&InstanceId::from(*id))),
        ("POST", ["instances", id, "schedule-event"]) => {
            let event: NewScheduledEvent = parse(body)?;
            let ahead = Duration::from_secs(event.in_seconds);
            done(region.schedule_event(&InstanceId::from(*id), &event.code, ahead))
        }
        ("PUT", ["instances", id, "console"]) => {
            let written: ConsoleChange = parse(body)?;
            done(region.write_console(&InstanceId::from(*id), &written.output))
        }
        ("PUT", ["instances", id, "target-health"]) => {
            let change: TargetChange = parse(body)?;
            done(region.set_target_state(&InstanceId::from(*id), change.state))
        }
        ("PUT", ["instances", id, "root-volume"]) => {
            let change: RootVolumeChange = parse(body)?;
            done(region.set_root_volume(&InstanceId::from(*id), change.state))
        }
        _ => Err(ControlError::NotFound),
    }
}

/// Merges a change into a value: members that it does not contain stay, at every depth.
fn merge(value: &mut Value, change: Value) {
    match (value, change) {
        (Value::Object(members), Value::Object(changes)) => {
            for (name, change) in changes {
                merge(members.entry(name).or_insert(Value::Null), change);
            }
        }
        (value, change) => *value = change,
    }
}

/// EventBridge: rules, and the events of the region.
fn of_events(region: &RegionHandle, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["event-rules"]) => value_of(region.event_rules()),
        ("PUT", ["event-rules"]) => done(region.set_event_rules(parse(body)?)),
        ("POST", ["events"]) => {
            let event: NewEvent = parse(body)?;
            done(region.publish(&event.source, &event.detail_type, event.resources, event.detail))
        }
        ("GET", ["events"]) => value_of(region.events_after(0)),
        ("GET", ["events", after]) => {
            value_of(region.events_after(after.parse().map_err(|_| ControlError::NotFound)?))
        }
        _ => Err(ControlError::NotFound),
    }
}

fn change_image(region: &RegionHandle, id: &str, body: &[u8]) -> ControlResult {
    let change: ImageChange = parse(body)?;
    if let Some(boots) = change.boots {
        done(region.set_image_boot(id, boots))?;
    }
    if let Some(available) = change.available {
        done(region.set_image_available(id, available))?;
    }
    Ok(json!({}))
}

/// Changes settings; those that the request does not contain stay.
fn change_settings(region: &RegionHandle, body: &[u8]) -> ControlResult {
    let change: serde_json::Map<String, Value> = parse(body)?;
    let mut merged = value_of(region.settings())?;
    merge(&mut merged, Value::Object(change));
    let settings = serde_json::from_value(merged).map_err(|error| ControlError::Bad(error.to_string()))?;
    done(region.change_settings(|current| *current = settings))
}

/// The instance type of a request; the name is enough if the rest can be derived from it.
fn type_of(body: &[u8]) -> Result<TypeInfo, ControlError> {
    let spec: Value = parse(body)?;
    let only_name = spec.as_object().is_some_and(|fields| fields.len() == 1);
    match spec.get("name").and_then(Value::as_str).filter(|_| only_name) {
        Some(name) => TypeInfo::named(name).ok_or_else(|| {
            ControlError::Bad(format!(
                "{name}: only of plain types of the families c, m, r and t the name is enough"
            ))
        }),
        None => serde_json::from_value(spec).map_err(|error| ControlError::Bad(error.to_string())),
    }
}

fn clock(simulator: &Simulator) -> Value {
    json!({ "now": simulator.now(), "pace": simulator.pace(), "next_due": simulator.next_due() })
}

fn calls(simulator: &Simulator) -> Value {
    let counts: serde_json::Map<String, Value> = simulator
        .call_counts()
        .into_iter()
        .map(|((service, action), count)| (format!("{}:{action}", service.name()), json!(count)))
        .collect();
    let mut callers: BTreeMap<String, serde_json::Map<String, Value>> = BTreeMap::new();
    for ((caller, service, action), count) in simulator.call_counts_by_caller() {
        callers.entry(caller).or_default().insert(format!("{}:{action}", service.name()), json!(count));
    }
    json!({
        "total": simulator.total_calls(),
        "counts": counts,
        "callers": callers,
        "recent": simulator.recent_calls(),
    })
}
