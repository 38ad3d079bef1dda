use super::super::NodeSpec;
use super::super::model::{PodDeath, PodEnd};
use super::*;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use std::time::Duration;

/// A small world that carries out the actions on plain objects.
#[derive(Default)]
struct World {
    memory: Memory,
    options: KubeletOptions,
    running: Vec<NodeSpec>,
    nodes: BTreeMap<String, Value>,
    pods: BTreeMap<String, Value>,
    deaths: Vec<PodDeath>,
    elapsed: Duration,
    start: Option<Instant>,
}

impl World {
    fn with_nodes(names: &[&str]) -> Self {
        let running = names.iter().map(|name| NodeSpec::new(*name, format!("aws:///a/i-{name}"))).collect();
        let mut world = Self { running, ..Self::default() };
        world.settle();
        world
    }

    fn pod(&mut self, name: &str) -> &mut Value {
        self.pods.entry(name.to_owned()).or_insert_with(|| {
            json!({
                "metadata": {"name": name, "namespace": "default", "uid": name},
                "spec": {"containers": [{"name": "main", "image": "none"}]},
                "status": {"phase": "Pending"},
            })
        })
    }

    fn evict(&mut self, name: &str) {
        let pod = self.pod(name);
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let conditions = pod["status"]["conditions"].as_array_mut().unwrap();
        conditions.push(json!({"type": "DisruptionTarget", "status": "True"}));
    }

    fn terminate(&mut self, node: &str) {
        self.running.retain(|spec| spec.name != node);
    }

    /// Decides and acts until nothing is left to do at this time.
    fn settle(&mut self) {
        for _ in 0..20 {
            if !self.round() {
                return;
            }
        }
        panic!("never settles");
    }

    fn round(&mut self) -> bool {
        let parse = |values: &BTreeMap<String, Value>| values.values().cloned().collect::<Vec<_>>();
        let nodes: Vec<Arc<Node>> = serde_json::from_value(json!(parse(&self.nodes))).map(arcs).unwrap();
        let pods: Vec<Arc<Pod>> = serde_json::from_value(json!(parse(&self.pods))).map(arcs).unwrap();
        let view = View { running: &self.running, nodes: &nodes, pods: &pods };
        let start = *self.start.get_or_insert_with(Instant::now);
        let now = Now { steady: start + self.elapsed, wall: Timestamp::UNIX_EPOCH };
        let decided = decide(&mut self.memory, &view, &self.options, now);
        self.deaths.extend(decided.deaths);
        let acted = !decided.actions.is_empty();
        for action in decided.actions {
            self.act(action);
        }
        acted
    }

    fn act(&mut self, action: Action) {
        use super::super::objects;
        match action {
            Action::CreateNode(spec) => {
                let mut node = objects::node(&spec);
                node["spec"]["taints"] = json!([{"key": objects::NOT_READY, "effect": "NoSchedule"}]);
                self.nodes.insert(spec.name, node);
            }
            Action::SetNodeReady { spec, version, pods } => {
                let status = objects::ready_status(&spec, &version, pods, "2026-01-01T00:00:00Z");
                self.nodes.get_mut(&spec.name).unwrap()["status"] = status["status"].clone();
            }
            Action::SetNodeUnknown(name) => {
                let status = objects::unknown_status("2026-01-01T00:00:00Z");
                self.nodes.get_mut(&name).unwrap()["status"] = status["status"].clone();
            }
            Action::SetTaints { node, taints } => {
                self.nodes.get_mut(&node.name_any()).unwrap()["spec"]["taints"] = json!(taints);
            }
            Action::DeleteNode(name) => drop(self.nodes.remove(&name).unwrap()),
            Action::Bind { pod, node } => self.pod(&pod.name_any())["spec"]["nodeName"] = json!(node),
            Action::SetPodRunning(pod) => {
                let status = objects::running_status(&pod, "2026-01-01T00:00:00Z");
                self.pod(&pod.name_any())["status"] = status["status"].clone();
            }
            Action::SetPodUnready(pod) => {
                let status = objects::unready_status("2026-01-01T00:00:00Z");
                self.pod(&pod.name_any())["status"]["conditions"] = status["status"]["conditions"].clone();
            }
            Action::RemovePod(pod) => drop(self.pods.remove(&pod.name_any()).unwrap()),
        }
    }

    fn node_of(&self, pod: &str) -> Option<&str> {
        self.pods[pod]["spec"]["nodeName"].as_str()
    }

    fn ready(&self, node: &str) -> &str {
        let conditions = self.nodes[node]["status"]["conditions"].as_array().unwrap();
        conditions.iter().find(|it| it["type"] == "Ready").unwrap()["status"].as_str().unwrap()
    }

    fn ends(&self) -> Vec<(&str, PodEnd)> {
        self.deaths.iter().map(|death| (death.name.as_str(), death.end)).collect()
    }

    fn later(&mut self, seconds: u64) {
        self.elapsed += Duration::from_secs(seconds);
        self.settle();
    }
}

fn arcs<T>(items: Vec<T>) -> Vec<Arc<T>> {
    items.into_iter().map(Arc::new).collect()
}

#[test]
fn a_new_instance_gets_a_ready_node_without_taints() {
    let world = World::with_nodes(&["a"]);
    assert_eq!(world.ready("a"), "True");
    assert_eq!(world.nodes["a"]["spec"], json!({"providerID": "aws:///a/i-a", "taints": []}));
}

#[test]
fn an_instance_joins_at_the_time_in_the_options() {
    let mut world = World::default();
    world.options.join = Arc::new(|spec| match spec.name.as_str() {
        "late" => Join::After(Duration::from_secs(30)),
        "broken" => Join::Never,
        _ => Join::After(Duration::ZERO),
    });
    world.running = ["late", "broken", "prompt"].map(|name| NodeSpec::new(name, name)).to_vec();
    world.settle();
    assert_eq!(world.nodes.keys().collect::<Vec<_>>(), ["prompt"]);
    world.later(30);
    assert_eq!(world.nodes.keys().collect::<Vec<_>>(), ["late", "prompt"]);
    world.later(3600);
    assert_eq!(world.nodes.len(), 2);
}

#[test]
fn a_deleted_node_of_a_running_instance_stays_deleted() {
    let mut world = World::with_nodes(&["a"]);
    world.nodes.clear();
    world.later(60);
    assert!(world.nodes.is_empty());
}

#[test]
fn pods_are_spread_and_avoid_cordoned_and_full_nodes() {
    let mut world = World::with_nodes(&["a", "b", "c"]);
    world.options.pods_per_node = 2;
    world.nodes.get_mut("c").unwrap()["spec"]["unschedulable"] = json!(true);
    for pod in ["p1", "p2", "p3", "p4", "p5"] {
        world.pod(pod);
    }
    world.settle();
    let nodes = ["p1", "p2", "p3", "p4", "p5"].map(|pod| world.node_of(pod));
    assert_eq!(nodes, [Some("a"), Some("b"), Some("a"), Some("b"), None]);
    world.nodes.get_mut("c").unwrap()["spec"]["unschedulable"] = json!(false);
    world.settle();
    assert_eq!(world.node_of("p5"), Some("c"));
}

#[test]
fn a_pod_goes_only_where_its_node_selector_and_tolerations_allow() {
    let mut world = World::with_nodes(&["a", "b"]);
    world.nodes.get_mut("a").unwrap()["spec"]["taints"] =
        json!([{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]);
    world.pod("plain");
    world.pod("plain2");
    world.pod("gpu")["spec"]["tolerations"] = json!([{"key": "gpu", "operator": "Exists"}]);
    world.pod("pinned")["spec"]["nodeSelector"] = json!({"kubernetes.io/hostname": "z"});
    world.settle();
    let nodes = ["plain", "plain2", "gpu", "pinned"].map(|pod| world.node_of(pod));
    assert_eq!(nodes, [Some("b"), Some("b"), Some("a"), None]);
}

#[test]
fn an_evicted_pod_terminates_in_time_on_a_running_instance() {
    let mut world = World::with_nodes(&["a"]);
    world.options.pod_shutdown = Duration::from_secs(20);
    world.pod("p");
    world.settle();
    world.evict("p");
    world.later(19);
    assert!(world.pods.contains_key("p"));
    world.later(20);
    assert!(world.pods.is_empty());
    assert_eq!(world.ends(), [("p", PodEnd::Evicted)]);
    assert!(!world.deaths[0].is_undrained());
}

#[test]
fn pods_on_a_terminating_instance_are_lost_or_cut_short() {
    let mut world = World::with_nodes(&["a"]);
    world.options.pod_shutdown = Duration::from_secs(20);
    world.pod("running");
    world.pod("leaving");
    world.settle();
    world.evict("leaving");
    world.settle();
    world.terminate("a");
    world.settle();
    assert_eq!(world.ends(), [("leaving", PodEnd::CutShort), ("running", PodEnd::Lost)]);
    assert_eq!(world.deaths[0].provider_id.as_deref(), Some("aws:///a/i-a"));
    // The objects stay for a while, as they do in a real cluster.
    assert_eq!((world.ready("a"), world.pods.len()), ("Unknown", 2));
    world.later(10);
    assert!(world.nodes.is_empty() && world.pods.is_empty());
    assert_eq!(world.deaths.len(), 2);
}

#[test]
fn pods_of_daemonsets_and_finished_pods_are_not_missed() {
    let mut world = World::with_nodes(&["a"]);
    world.pod("agent")["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d", "controller": true}]);
    world.pod("done");
    world.settle();
    world.pod("done")["status"]["phase"] = json!("Succeeded");
    world.terminate("a");
    world.settle();
    assert_eq!(world.ends(), [("agent", PodEnd::Lost)]);
    assert!(!world.deaths[0].is_undrained());
}

#[test]
fn a_node_whose_instance_is_seen_again_becomes_ready_again() {
    let mut world = World::with_nodes(&["a"]);
    let running = world.running.clone();
    world.terminate("a");
    world.settle();
    assert_eq!(world.ready("a"), "Unknown");
    world.running = running;
    world.settle();
    assert_eq!(world.ready("a"), "True");
    assert_eq!(world.nodes["a"]["spec"]["taints"], json!([]));
}

#[test]
fn when_core_deletes_the_node_first_its_pods_are_deleted_too() {
    let mut world = World::with_nodes(&["a"]);
    world.options.node_lingers = None;
    world.pod("p");
    world.settle();
    world.terminate("a");
    world.later(3600);
    assert_eq!((world.nodes.len(), world.pods.len()), (1, 1));
    world.nodes.clear();
    world.settle();
    assert!(world.pods.is_empty());
    assert_eq!(world.ends(), [("p", PodEnd::Lost)]);
}

#[test]
fn nodes_without_an_instance_are_not_changed() {
    let mut world = World::default();
    let spec = NodeSpec::new("by-hand", "aws:///a/i-0");
    world.nodes.insert("by-hand".to_owned(), super::super::objects::node(&spec));
    world.pod("p")["spec"]["nodeName"] = json!("by-hand");
    world.settle();
    assert_eq!((world.nodes.len(), world.pods.len(), world.deaths.len()), (1, 1, 0));
}
