//! deploy/monitoring: alerts watch metrics that exist, and say where to read on.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;
use std::collections::BTreeSet;

fn read(path: &str) -> String {
    std::fs::read_to_string(xtask::root().join(path)).unwrap()
}

fn yaml(path: &str) -> Value {
    xtask::yaml::parse(&read(path)).unwrap().remove(0)
}

fn alerts() -> Vec<Value> {
    yaml("deploy/monitoring/prometheus_rule.yaml")["spec"]["groups"][0]["rules"].as_array().unwrap().clone()
}

/// The only object of this kind in a file.
fn object(path: &str, kind: &str) -> Value {
    let objects = xtask::yaml::parse(&read(path)).unwrap();
    let mut found = objects.into_iter().filter(|object| object["kind"] == kind);
    let object = found.next().unwrap();
    assert!(found.next().is_none());
    object
}

fn text<'a>(alert: &'a Value, pointer: &str) -> &'a str {
    alert.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Names of our metrics in an expression, without what the format and histograms add to them.
fn metrics(expression: &str) -> Vec<&str> {
    let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.starts_with("foo_"));
    ours.map(|word| {
        ["_total", "_bucket", "_count", "_sum"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word)
    })
    .collect()
}

/// Names in the tables of docs/operations/metrics.md, without what the format adds to them.
fn documented(page: &str) -> Vec<&str> {
    page.lines()
        .filter(|line| ["| gauge |", "| counter |", "| histogram |"].iter().any(|kind| line.contains(kind)))
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .map(|name| name.strip_suffix("_total").unwrap_or(name))
        .collect()
}

/// Those of AWS that appear with the first call. No alert uses them.
const AWS_LATER: [&str; 5] = [
    "foo_aws_request_seconds",
    "foo_aws_token_wait_seconds",
    "foo_aws_calls_waiting",
    "foo_aws_tokens_left",
    "foo_aws_rate_percent",
];

/// What is published is on the page, and what is on the page is published.
#[test]
fn the_page_has_every_metric_and_no_other() {
    let golden = read("crates/controller/tests/golden/metrics.txt");
    let page = read("docs/operations/metrics.md");
    let documented = documented(&page);
    let known: Vec<&str> = golden.lines().filter_map(|line| line.split(' ').next()).collect();
    for name in &known {
        let of_process = name.starts_with("process_") && page.contains(&format!("`{name}"));
        let info = format!("{name}_info");
        let there = documented.iter().any(|it| it == name || *it == info);
        assert!(there || of_process, "{name} is not documented");
    }
    for name in documented {
        let there = known.contains(&name.strip_suffix("_info").unwrap_or(name));
        assert!(there || AWS_LATER.contains(&name), "{name} does not exist");
    }
}

/// kube-state-metrics reads fields that exist: it logs an error for each object that has none.
#[test]
fn kube_state_metrics_reads_fields_of_every_kind_with_conditions() {
    let config = yaml("deploy/monitoring/kube_state_metrics.yaml");
    let resources = config["spec"]["resources"].as_array().unwrap();
    let crds = foo_api::crds();
    let mut with_conditions = BTreeSet::new();
    for crd in &crds {
        let schema = serde_json::to_value(&crd.spec.versions[0].schema).unwrap();
        if schema.pointer("/openAPIV3Schema/properties/status/properties/conditions").is_some() {
            with_conditions.insert(crd.spec.names.kind.as_str());
        }
    }
    // One for each instance: their pool's numbers say enough.
    with_conditions.remove("FooMachine");
    let kind = |resource: &Value| resource["groupVersionKind"]["kind"].as_str().unwrap().to_owned();
    let configured: BTreeSet<String> = resources.iter().map(kind).collect();
    assert_eq!(configured.iter().map(String::as_str).collect::<BTreeSet<_>>(), with_conditions);
    for resource in resources {
        let of_kind = |crd: &&CustomResourceDefinition| crd.spec.names.kind == kind(resource);
        let crd = crds.iter().find(of_kind).unwrap();
        assert_eq!(resource["groupVersionKind"]["group"], crd.spec.group);
        let schema = serde_json::to_value(&crd.spec.versions[0].schema).unwrap();
        for metric in resource["metrics"].as_array().unwrap() {
            let each = &metric["each"];
            let direct = ["stateSet", "gauge"].map(|kind| &each[kind]["path"]).into_iter();
            let labels =
                each["info"]["labelsFromPath"].as_object().into_iter().flatten().map(|(_, path)| path);
            for path in direct.chain(labels).filter_map(Value::as_array) {
                let words: Vec<&str> = path.iter().map(|word| word.as_str().unwrap()).collect();
                let pointer = format!("/openAPIV3Schema/properties/{}", words.join("/properties/"));
                assert!(words[0] == "metadata" || schema.pointer(&pointer).is_some(), "{words:?}");
            }
        }
    }
}

/// The golden lists are those of the manager and of its client of AWS.
#[test]
fn every_metric_of_an_alert_exists_and_is_documented() {
    let golden = read("crates/controller/tests/golden/metrics.txt");
    let page = read("docs/operations/metrics.md");
    let documented = documented(&page);
    let known: Vec<&str> = golden.lines().filter_map(|line| line.split(' ').next()).collect();
    for alert in alerts() {
        let used = metrics(text(&alert, "/expr"));
        assert!(!used.is_empty(), "{alert}");
        for name in used {
            assert!(known.contains(&name), "{name} of {} does not exist", alert["alert"]);
            assert!(documented.contains(&name), "{name} of {} is not documented", alert["alert"]);
        }
    }
}

#[test]
fn every_alert_has_a_severity_and_a_place_to_read_on() {
    let page = read("docs/operations/metrics.md");
    let alerts = alerts();
    assert_eq!(page.lines().filter(|line| line.starts_with("### Foo")).count(), alerts.len());
    for alert in alerts {
        let name = text(&alert, "/alert");
        assert!(["critical", "warning", "info"].contains(&text(&alert, "/labels/severity")), "{name}");
        assert!(!text(&alert, "/annotations/summary").is_empty(), "{name}");
        let place = format!("docs/operations/metrics.md#{}", name.to_lowercase());
        assert_eq!(text(&alert, "/annotations/runbook_url"), place);
        assert!(page.contains(&format!("\n### {name}\n")), "{name} has no heading in {place}");
    }
}

/// What is scraped is served over TLS and for tokens only: the PodMonitor sends that of a user with the right, and no other right.
#[test]
fn the_scrapers_token_has_the_right_to_get_metrics() {
    const SCRAPER: &str = "deploy/monitoring/scraper.yaml";
    let monitor = yaml("deploy/monitoring/pod_monitor.yaml");
    let endpoint = &monitor["spec"]["podMetricsEndpoints"][0];
    assert_eq!(endpoint["scheme"], "https");
    let credentials = &endpoint["authorization"]["credentials"];
    let secret = object(SCRAPER, "Secret");
    assert_eq!((&credentials["name"], &credentials["key"]), (&secret["metadata"]["name"], &"token".into()));
    assert_eq!(secret["metadata"]["namespace"], monitor["metadata"]["namespace"]);
    let account = object(SCRAPER, "ServiceAccount");
    let of_secret = &secret["metadata"]["annotations"]["kubernetes.io/service-account.name"];
    assert_eq!(*of_secret, account["metadata"]["name"]);
    let binding = object(SCRAPER, "ClusterRoleBinding");
    assert_eq!(binding["subjects"][0]["name"], account["metadata"]["name"]);
    let roles = xtask::yaml::parse(&read("deploy/rbac/diagnostics_roles.yaml")).unwrap();
    let role = roles.iter().find(|role| role["metadata"]["name"] == binding["roleRef"]["name"]).unwrap();
    assert_eq!(role["rules"].to_string(), r#"[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]"#);
}

/// What is added to deploy/default selects its pods, ports and Deployment by their names there.
#[test]
fn components_name_what_the_deployment_has() {
    let manager = yaml("deploy/manager/manager.yaml");
    let labels = &manager["spec"]["template"]["metadata"]["labels"];
    let monitor = yaml("deploy/monitoring/pod_monitor.yaml");
    let budget = yaml("deploy/components/availability/pod_disruption_budget.yaml");
    let policy = yaml("deploy/components/network-policy/network_policy.yaml");
    let patch = yaml("deploy/components/availability/deployment.yaml");
    let selected = &monitor["spec"]["selector"]["matchExpressions"][0];
    assert!(selected["values"].as_array().unwrap().contains(&labels[selected["key"].as_str().unwrap()]));
    let scraped = monitor["spec"]["namespaceSelector"]["matchNames"].as_array().unwrap();
    assert!(scraped.contains(&manager["metadata"]["namespace"]));
    assert_eq!(budget["spec"]["selector"]["matchLabels"], *labels);
    assert_eq!(policy["spec"]["podSelector"]["matchLabels"], *labels);
    let spread = &patch["spec"]["template"]["spec"]["topologySpreadConstraints"][0];
    assert_eq!(spread["labelSelector"]["matchLabels"], *labels);
    let ports = manager["spec"]["template"]["spec"]["containers"][0]["ports"].as_array().unwrap();
    for port in [
        &monitor["spec"]["podMetricsEndpoints"][0]["port"],
        &policy["spec"]["ingress"][0]["ports"][0]["port"],
    ] {
        assert!(ports.iter().any(|it| it["name"] == *port), "{port}");
    }
    for object in [&monitor, &budget, &policy, &patch] {
        assert_eq!(object["metadata"]["name"], manager["metadata"]["name"]);
        assert_eq!(object["metadata"]["namespace"], manager["metadata"]["namespace"]);
    }
}
