//! The Kubernetes events about the objects of a cluster, oldest first. Pure functions; `read` lists.

use crate::access::{Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use crate::capi::Cluster;
use crate::terminal::Width;
use crate::text::{is_in, last_seen, one_line, table};
use anyhow::Result;
use foo_api::capi::{Machine, MachinePool};
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooControlPlane, FooMachine, FooMachinePool, FooNodeConfig};
use foo_model::InstanceId;
use foo_model::names::machine_name;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, ObjectReference};
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use std::collections::BTreeSet;

/// API groups of the objects whose events are shown; a group below one of them counts as well.
const GROUPS: [&str; 2] = ["foo.com", "cluster.x-k8s.io"];
/// An instance id of today's length, to know the names of Machines by.
const SOME_INSTANCE: &str = "i-0123456789abcdef0";

/// Events in the order of time.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// Oldest first, by the time at which each was last seen.
    pub events: Vec<Moment>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// When it happened, the last time if it was repeated.
    pub at: Timestamp,
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub severity: String,
    /// Kind of the object it is about.
    pub kind: String,
    /// Namespace of that object.
    pub namespace: String,
    /// Name of that object.
    pub name: String,
    /// Reason.
    pub reason: String,
    /// How often it was seen.
    pub count: i32,
    /// When it happened first, if the event has that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_at: Option<Timestamp>,
    /// The controller that reported it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Message.
    pub message: String,
}

/// What belongs to some clusters, by kind, namespace and name.
#[derive(Clone, Debug, Default)]
struct Members {
    named: BTreeSet<(String, String, String)>,
    /// How names of Machines of a pool begin, with their namespace, and whether the pool belongs to the clusters. Events
    /// outlive their Machines.
    prefixes: Vec<(String, String, bool)>,
}

/// The events about objects of these Clusters; about all of the provider and of Cluster API if none is named.
///
/// # Errors
/// A Cluster does not exist, or a right is missing.
pub async fn read(reads: &Reads<'_>, asked: &[Asked]) -> Result<Timeline> {
    let names = of_kind(asked, Kind::Cluster).unwrap_or_default();
    if names.is_empty() {
        return Ok(timeline(&reads.list(None).await?, |_| true));
    }
    let selector = format!("{CLUSTER_NAME_LABEL} in ({})", names.join(","));
    let selector = Some(selector.as_str());
    let (events, clusters, pools, control_planes, node_configs, machine_pools, machines) = tokio::try_join!(
        reads.list::<Event>(None),
        reads.list::<Cluster>(None),
        reads.list::<FooMachinePool>(None),
        reads.list::<FooControlPlane>(selector),
        reads.list::<FooNodeConfig>(selector),
        reads.list::<MachinePool>(selector),
        reads.list::<Machine>(selector),
    )?;
    let mut members = Members::default();
    for cluster in meant(clusters, reads.namespace, &names)? {
        members.add(&cluster);
        let references = [&cluster.spec.infrastructure_ref, &cluster.spec.control_plane_ref];
        for reference in references.into_iter().flatten() {
            let namespace = cluster.namespace().unwrap_or_default();
            members.named.insert((reference.kind.clone(), namespace, reference.name.clone()));
        }
    }
    for pool in &pools {
        members.add_pool(pool, &names);
    }
    for control_plane in &control_planes {
        members.add(control_plane);
    }
    for node_config in &node_configs {
        members.add(node_config);
    }
    for machine_pool in &machine_pools {
        members.add(machine_pool);
    }
    for machine in &machines {
        members.add(machine);
        members.add_named::<FooMachine>(machine);
    }
    Ok(timeline(&events, |about| members.has(about)))
}

impl Members {
    fn add<K: Resource<DynamicType = ()>>(&mut self, object: &K) {
        self.add_named::<K>(object);
    }

    /// An object of kind `K` with the name of this one.
    fn add_named<K: Resource<DynamicType = ()>>(&mut self, object: &impl Resource) {
        let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
        self.named.insert((K::kind(&()).into_owned(), namespace, name));
    }

    fn add_pool(&mut self, pool: &FooMachinePool, clusters: &[String]) {
        let belongs = pool.labels().get(CLUSTER_NAME_LABEL).is_some_and(|cluster| clusters.contains(cluster));
        if belongs {
            self.add(pool);
        }
        let some = machine_name(&pool.name_any(), &InstanceId::new(SOME_INSTANCE));
        let instance = SOME_INSTANCE.trim_start_matches("i-");
        if let Some(prefix) = some.as_str().strip_suffix(instance) {
            self.prefixes.push((pool.namespace().unwrap_or_default(), prefix.to_owned(), belongs));
        }
    }

    fn has(&self, about: &ObjectReference) -> bool {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (kind, namespace, name) = (text(&about.kind), text(&about.namespace), text(&about.name));
        if self.named.contains(&(kind.clone(), namespace.clone(), name.clone())) {
            return true;
        }
        if kind != Machine::kind(&()) && kind != FooMachine::kind(&()) {
            return false;
        }
        // `web` and `web-2` may both be pools: the longer one fits.
        let fitting = self.prefixes.iter().filter(|(of, prefix, _)| {
            *of == namespace && name.strip_prefix(prefix.as_str()).is_some_and(is_of_instance)
        });
        fitting.max_by_key(|(_, prefix, _)| prefix.len()).is_some_and(|(_, _, belongs)| *belongs)
    }
}

/// Whether the end of a Machine's name is the instance id that this provider ends it with: Machines of other pools may
/// begin alike.
fn is_of_instance(end: &str) -> bool {
    matches!(end.len(), 8 | 17) && end.chars().all(|digit| digit.is_ascii_hexdigit())
}

/// The events about objects of the provider and of Cluster API of which `is_asked` is true, oldest first.
fn timeline(events: &[Event], is_asked: impl Fn(&ObjectReference) -> bool) -> Timeline {
    let of_groups = events.iter().filter(|event| is_of_groups(&event.involved_object));
    let mut events: Vec<Moment> =
        of_groups.filter(|event| is_asked(&event.involved_object)).filter_map(moment).collect();
    events.sort_by(|one, other| {
        (one.at, &one.namespace, &one.kind, &one.name).cmp(&(
            other.at,
            &other.namespace,
            &other.kind,
            &other.name,
        ))
    });
    Timeline { events }
}

fn is_of_groups(about: &ObjectReference) -> bool {
    let group =
        about.api_version.as_deref().and_then(|version| version.split_once('/')).map(|(group, _)| group);
    group.is_some_and(|group| GROUPS.into_iter().any(|ours| is_in(group, ours)))
}

/// `None` for an event without any time.
fn moment(event: &Event) -> Option<Moment> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let about = &event.involved_object;
    let of_series = event.series.as_ref().and_then(|series| series.count);
    let first = event.first_timestamp.as_ref().map(|time| time.0);
    let component = event.source.as_ref().and_then(|source| source.component.clone());
    let reporting = event.reporting_component.clone().filter(|component| !component.is_empty());
    Some(Moment {
        first_at: first.or_else(|| event.event_time.as_ref().map(|time| time.0)),
        source: reporting.or(component).unwrap_or_default(),
        at: last_seen(event).or_else(|| event.metadata.creation_timestamp.as_ref().map(|time| time.0))?,
        severity: text(&event.type_),
        kind: text(&about.kind),
        namespace: text(&about.namespace),
        name: text(&about.name),
        reason: text(&event.reason),
        count: of_series.or(event.count).unwrap_or(1),
        message: text(&event.message),
    })
}

/// The timeline as text. Ends with a new line.
pub fn text(timeline: &Timeline, width: Width) -> String {
    if timeline.events.is_empty() {
        return "no events found\n".to_owned();
    }
    let events = timeline.events.iter();
    let lines = match width {
        Width::Narrow => table(["TIME", "TYPE", "OBJECT", "REASON", "MESSAGE"], events.map(narrow).collect()),
        Width::Wide => table(
            ["TIME", "FIRST SEEN", "COUNT", "TYPE", "OBJECT", "REASON", "SOURCE", "MESSAGE"],
            events.map(wide).collect(),
        ),
    };
    lines.join("\n") + "\n"
}

fn narrow(moment: &Moment) -> [String; 5] {
    let times = if moment.count > 1 { format!(" ({} times)", moment.count) } else { String::new() };
    let message = one_line(&moment.message) + &times;
    [format!("{:.0}", moment.at), moment.severity.clone(), about(moment), moment.reason.clone(), message]
}

fn wide(moment: &Moment) -> [String; 8] {
    let first = moment.first_at.map(|first| format!("{first:.0}")).unwrap_or_default();
    [
        format!("{:.0}", moment.at),
        first,
        moment.count.to_string(),
        moment.severity.clone(),
        about(moment),
        moment.reason.clone(),
        moment.source.clone(),
        one_line(&moment.message),
    ]
}

fn about(moment: &Moment) -> String {
    format!("{} {}/{}", moment.kind, moment.namespace, moment.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(kind: &str, name: &str, at: &str) -> Event {
        let group = if kind == "Pod" { "v1" } else { "infrastructure.foo.com/v1alpha1" };
        serde_json::from_value(json!({
            "metadata": {"name": "e", "namespace": "team"},
            "involvedObject": {"apiVersion": group, "kind": kind, "namespace": "team", "name": name},
            "type": "Normal", "reason": "Changed", "message": "of\nit", "eventTime": at,
        }))
        .unwrap()
    }

    fn pool(name: &str, cluster: &str) -> FooMachinePool {
        let metadata = json!({"namespace": "team", "name": name, "labels": {CLUSTER_NAME_LABEL: cluster}});
        serde_json::from_value(json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool", "metadata": metadata,
            "spec": {"ami": {"id": "ami-1"}},
        }))
        .unwrap()
    }

    #[test]
    fn events_are_those_of_the_groups_oldest_first() {
        let events = [
            event("FooMachinePool", "late", "2026-11-21T12:00:00.000000Z"),
            event("Pod", "other", "2026-11-21T11:00:00.000000Z"),
            event("FooCluster", "early", "2026-11-21T11:00:00.000000Z"),
        ];
        let shown = timeline(&events, |_| true);
        let names: Vec<&str> = shown.events.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["early", "late"]);
        assert_eq!(
            text(&shown, Width::Narrow).lines().nth(1).unwrap(),
            "2026-11-21T11:00:00Z  Normal  FooCluster team/early     Changed  of it"
        );
    }

    #[test]
    fn machines_that_are_gone_belong_to_the_pool_with_the_longest_fitting_name() {
        let mut members = Members::default();
        let clusters = ["prod".to_owned()];
        members.add_pool(&pool("web", "prod"), &clusters);
        members.add_pool(&pool("web-2", "dev"), &clusters);
        let has = |kind: &str, name: &str| {
            members.has(&event(kind, name, "2026-11-21T11:00:00.000000Z").involved_object)
        };
        assert!(has("FooMachinePool", "web") && !has("FooMachinePool", "web-2"));
        assert!(has("Machine", "web-0aaaaaaaaaaaaaaa1") && has("FooMachine", "web-0aaaaaaaaaaaaaaa1"));
        assert!(!has("Machine", "web-2-0aaaaaaaaaaaaaaa1"));
        assert!(!has("FooNodeConfig", "web-0aaaaaaaaaaaaaaa1"));
        assert!(!has("Machine", "web-workers-x7k2p") && !has("Machine", "web-x7k2p"));
    }
}
