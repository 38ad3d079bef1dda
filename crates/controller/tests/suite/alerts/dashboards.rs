//! What the dashboards of deploy/monitoring show, on what a manager of this suite served and on what kube-state-metrics
//! makes of its objects.
//!
//! * every metric, label and value that a query selects exists;
//! * promtool parses every query;
//! * every query has a sample at some time of the recording.
//!
//! The shape of the files is checked in `xtask/tests/dashboards.rs`.

use super::recorded::{Scrapes, applies_an_eks_cluster, continues};
use super::{Series, promtool, root};
use crate::support::{World, objects};
use foo_api::pool::Ami;
use foo_api::{FooCluster, FooClusterIdentity, FooControlPlane, FooMachinePool, FooNodeConfig};
use foo_controller::labels::{
    ActionOutcome, AnnouncementOutcome, ConditionType, EventKind, KubeClient, KubeCode, ReasonClass, Verb,
};
use foo_simulator_core::core::catalogue::{Boot, IMAGE_X86_64, IMAGE_X86_64_NEWER};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;
use strum::IntoEnumIterator;

/// Labels that Prometheus adds to what it scrapes.
const OF_TARGET: [&str; 1] = ["namespace"];

/// A query of a panel, with values for Grafana's variables.
struct Shown {
    /// Dashboard and panel.
    place: String,
    expression: String,
    legend: String,
}

/// The queries of all dashboards.
fn queries() -> Vec<Shown> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(root().join("deploy/monitoring/dashboards")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().into_iter().flatten() {
                all.push(Shown {
                    place: format!("{name}: {}", panel["title"].as_str().unwrap()),
                    expression: filled(target["expr"].as_str().unwrap()),
                    legend: target["legendFormat"].as_str().unwrap().to_owned(),
                });
            }
        }
    }
    assert!(all.len() > 80, "{} queries", all.len());
    all
}

/// As Grafana sends it if everything is selected.
fn filled(expression: &str) -> String {
    let mut text = expression.to_owned();
    for variable in ["$namespace", "$objects", "$controller", "$service"] {
        text = text.replace(variable, ".*");
    }
    let text = text.replace("$__rate_interval", "15m").replace("$__range", "3h");
    assert!(!text.contains('$'), "a variable without a value: {text}");
    text
}

/// `name{label op "value", …}` in an expression.
struct Selector {
    metric: String,
    matchers: Vec<(String, String)>,
}

/// Words of PromQL that stand where a metric could stand.
const WORDS: [&str; 8] = ["by", "without", "on", "ignoring", "and", "or", "unless", "bool"];

/// The selectors of an expression, and the labels of its groupings.
fn taken_apart(expression: &str) -> (Vec<Selector>, BTreeSet<String>) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let (mut selectors, mut labels) = (Vec::new(), BTreeSet::new());
    let mut rest = expression;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        // Numbers with a unit, as in `[5m]`.
        let is_duration = rest[..begin].ends_with(|c: char| c.is_ascii_digit());
        rest = &rest[begin..];
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        rest = &rest[word.len()..];
        let next = rest.trim_start();
        if is_duration {
        } else if ["by", "without", "on", "ignoring"].contains(&word) {
            let (inside, after) = next.strip_prefix('(').unwrap().split_once(')').unwrap();
            labels.extend(inside.split(',').map(|label| label.trim().to_owned()));
            rest = after;
        } else if let Some(inside) = next.strip_prefix('{') {
            let (matchers, after) = inside.split_once('}').unwrap();
            selectors.push(Selector { metric: word.to_owned(), matchers: matchers_of(matchers) });
            rest = after;
        } else if !["(", "by ", "without "].iter().any(|it| next.starts_with(it))
            && !WORDS.contains(&word)
            && word != "Inf"
        {
            selectors.push(Selector { metric: word.to_owned(), matchers: Vec::new() });
        }
    }
    (selectors, labels)
}

fn matchers_of(text: &str) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some((label, after)) = rest.split_once(['=', '!']) {
        let (_, after) = after.split_once('"').unwrap();
        let (value, after) = after.split_once('"').unwrap();
        all.push((label.trim().trim_start_matches(',').trim().to_owned(), value.to_owned()));
        rest = after;
    }
    all
}

/// By metric, the labels of its series, and by label the values.
type Known = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn known(series: &Series) -> Known {
    let mut known = Known::new();
    for series in series.keys() {
        let (name, labels) = series.split_once('{').unwrap();
        let of_metric = known.entry(name.to_owned()).or_default();
        for (label, value) in matchers_of(labels) {
            of_metric.entry(label).or_default().insert(value);
        }
    }
    known
}

/// What no query may select: a value of a label that no series can have.
fn is_possible(label: &str, value: &str, there: &BTreeSet<String>) -> bool {
    let conditions: BTreeSet<&str> = ConditionType::iter().map(Into::into).collect();
    let classes: BTreeSet<&str> = ReasonClass::iter().map(Into::into).collect();
    value.contains('*')
        || there.contains(value)
        || (label == "condition" && conditions.contains(value))
        || (label == "class" && classes.contains(value))
        || (label == "status" && ["True", "False", "Unknown"].contains(&value))
}

/// What is wrong with a query.
fn mistakes(query: &Shown, known: &Known) -> Vec<String> {
    let (selectors, mut labels) = taken_apart(&query.expression);
    let mut wrong = Vec::new();
    if selectors.is_empty() {
        wrong.push("it selects nothing".to_owned());
    }
    let mut there = BTreeSet::from(OF_TARGET);
    for Selector { metric, matchers } in &selectors {
        let Some(of_metric) = known.get(metric) else {
            wrong.push(format!("there is no {metric}"));
            continue;
        };
        there.extend(of_metric.keys().map(String::as_str));
        for (label, value) in matchers {
            let Some(values) = of_metric.get(label) else {
                wrong.push(format!("{metric} has no label {label}"));
                continue;
            };
            let impossible = value.split('|').filter(|value| !is_possible(label, value, values));
            wrong.extend(impossible.map(|value| format!("{label} of {metric} is never {value}")));
        }
    }
    let legend = query.legend.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    labels.extend(legend.map(str::to_owned));
    let missing = labels.iter().filter(|label| !there.contains(label.as_str()));
    wrong.extend(missing.map(|label| format!("none of its metrics has the label {label}")));
    wrong.into_iter().map(|wrong| format!("{}: {wrong}", query.place)).collect()
}

/// What kube-state-metrics makes of the objects with deploy/monitoring/kube_state_metrics.yaml.
fn of_kube_state_metrics(world: &World) -> Series {
    let text = std::fs::read_to_string(root().join("deploy/monitoring/kube_state_metrics.yaml")).unwrap();
    let config: Value = serde_saphyr::from_str(&text).unwrap();
    let mut series = Series::new();
    for resource in config["spec"]["resources"].as_array().unwrap() {
        let kind = resource["groupVersionKind"]["kind"].as_str().unwrap();
        for object in of_kind(world, kind) {
            let mut labels = labels_at(&object, &resource["labelsFromPath"]);
            for part in ["group", "version", "kind"] {
                let value = resource["groupVersionKind"][part].as_str().unwrap();
                labels.insert(format!("customresource_{part}"), value.to_owned());
            }
            for metric in resource["metrics"].as_array().unwrap() {
                let name = |key: &str, value: &Value| value[key].as_str().unwrap().to_owned();
                let name = format!("{}_{}", name("metricNamePrefix", resource), name("name", metric));
                for (more, value) in samples(&object, &metric["each"]) {
                    let labels = labels.iter().chain(&more);
                    let labels: Vec<String> =
                        labels.map(|(label, value)| format!("{label}={value:?}")).collect();
                    series.insert(format!("{name}{{{}}}", labels.join(",")), value.to_string());
                }
            }
        }
    }
    series
}

fn of_kind(world: &World, kind: &str) -> Vec<Value> {
    fn raw<K: serde::Serialize>(objects: Vec<K>) -> Vec<Value> {
        objects.into_iter().map(|object| serde_json::to_value(object).unwrap()).collect()
    }
    match kind {
        "FooMachinePool" => raw(world.server.objects::<FooMachinePool>()),
        "FooCluster" => raw(world.server.objects::<FooCluster>()),
        "FooClusterIdentity" => raw(world.server.objects::<FooClusterIdentity>()),
        "FooControlPlane" => raw(world.server.objects::<FooControlPlane>()),
        "FooNodeConfig" => raw(world.server.objects::<FooNodeConfig>()),
        kind => panic!("no objects of kind {kind} here"),
    }
}

fn at<'v>(value: &'v Value, path: &Value) -> Option<&'v Value> {
    let mut words = path.as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    words.try_fold(value, |value, word| value.get(word))
}

fn labels_at(value: &Value, paths: &Value) -> BTreeMap<String, String> {
    let of = |(label, path): (&String, &Value)| Some((label.clone(), at(value, path)?.as_str()?.to_owned()));
    paths.as_object().into_iter().flatten().filter_map(of).collect()
}

/// The samples of one metric of an object, with their own labels.
fn samples(object: &Value, each: &Value) -> Vec<(BTreeMap<String, String>, f64)> {
    match each["type"].as_str().unwrap() {
        "Gauge" => {
            let Some(value) = at(object, &each["gauge"]["path"]) else { return Vec::new() };
            let time = || {
                let at: jiff::Timestamp = value.as_str()?.parse().ok()?;
                Some(at.as_duration().as_secs_f64())
            };
            vec![(BTreeMap::new(), value.as_f64().or_else(time).unwrap())]
        }
        "Info" => vec![(labels_at(object, &each["info"]["labelsFromPath"]), 1.0)],
        "StateSet" => {
            let set = &each["stateSet"];
            let list = at(object, &set["path"]).and_then(Value::as_array).into_iter().flatten();
            list.flat_map(|element| {
                let value = at(element, &set["valueFrom"]).cloned().unwrap_or_default();
                set["list"].as_array().unwrap().iter().map(move |state| {
                    let mut labels = labels_at(element, &set["labelsFromPath"]);
                    let name = set["labelName"].as_str().unwrap().to_owned();
                    labels.insert(name, state.as_str().unwrap().to_owned());
                    (labels, f64::from(u8::from(*state == value)))
                })
            })
            .collect()
        }
        other => panic!("unknown type {other}"),
    }
}

/// The life of an EKS cluster with a pool that grows, shrinks, rolls out, and whose last roll-out halts, beside an
/// identity without a Secret. Some of what an in-process world does not have is counted by hand.
async fn recording() -> (Series, u32) {
    let mut scrapes = Scrapes::of_everything();
    let world = World::empty();
    let lost = json!({ "secret": { "name": "lost" } });
    world.has(&objects::identity("lost", lost));
    applies_an_eks_cluster(&world);
    continues(&world, &mut scrapes, 5).await;
    let early = of_kube_state_metrics(&world);
    continues(&world, &mut scrapes, 40).await;
    world.eks_is_ready().await;
    let workers = world.pool("workers");
    world.drains_take(Duration::from_secs(40));
    workers.edits(|spec| spec.max_size = Some(10));
    workers.scales_to(4);
    continues(&world, &mut scrapes, 15).await;
    workers.scales_to(2);
    continues(&world, &mut scrapes, 15).await;
    workers.is_of(2);
    workers.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64));
    continues(&world, &mut scrapes, 30).await;
    world.requests_version("v1.35.0");
    continues(&world, &mut scrapes, 30).await;
    world.region.set_image_boot(IMAGE_X86_64_NEWER, Boot::Fails).unwrap();
    workers.edits(|spec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER));
    let metrics = world.metrics();
    metrics.kube_waited(KubeClient::Work, Duration::from_millis(5));
    metrics.kube_request(KubeClient::Workload, Verb::Get, KubeCode::Ok, Duration::from_millis(5));
    metrics.announcement(EventKind::Interruption, AnnouncementOutcome::Acted);
    metrics.aws_change("CreateVpc", ActionOutcome::Failed);
    metrics.announcement_took(EventKind::Interruption, Duration::from_secs(2));
    continues(&world, &mut scrapes, 60).await;
    let count = scrapes.count();
    let mut series = scrapes.series();
    // Of two moments, for simplicity as if each had lasted all the time.
    let of_objects = early.into_iter().chain(of_kube_state_metrics(&world));
    series.extend(of_objects.map(|(series, value)| (series, format!("{value}x{count}"))));
    (series, count)
}

/// Without those series that are always 0 and have no value of a label that no other one has.
fn telling(series: &Series) -> Series {
    let is_zero = |values: &str| values.split(' ').all(|value| ["", "_", "0", "0.0"].contains(&value));
    let (zero, other): (Vec<_>, Vec<_>) = series.iter().partition(|(_, values)| is_zero(values));
    let mut there = BTreeSet::new();
    let mut telling = Series::new();
    for (series, values) in other.into_iter().chain(zero) {
        let (name, labels) = series.split_once('{').unwrap();
        let of_labels = matchers_of(labels);
        let fresh = of_labels.into_iter().filter(|it| there.insert((name.to_owned(), it.clone()))).count();
        if fresh > 0 || !is_zero(values) {
            telling.insert(series.clone(), values.clone());
        }
    }
    telling
}

/// A test of promtool: the query has a number, NaN not included, at some time of the recording. promtool refuses what
/// loads more than ten thousand samples: of many series it gets fewer samples, at fewer times.
fn shows_something(query: &Shown, series: &Series, scrapes: u32) -> Value {
    let (selectors, _) = taken_apart(&query.expression);
    let metrics: BTreeSet<&str> = selectors.iter().map(|it| it.metric.as_str()).collect();
    let of_metrics =
        || series.iter().filter(|(series, _)| metrics.contains(series.split('{').next().unwrap()));
    let (minutes, step) = match of_metrics().count() {
        0..60 => (1, 2),
        60..150 => (2, 4),
        150..250 => (5, 10),
        _ => (5, 60),
    };
    let input: Vec<Value> = of_metrics()
        .map(|(series, values)| {
            let is_constant = values.contains('x');
            let sampled = values.split(' ').step_by(minutes).collect::<Vec<_>>().join(" ");
            json!({ "series": series, "values": if is_constant { values } else { &sampled } })
        })
        .collect();
    json!({
        "name": query.place,
        "interval": format!("{minutes}m"),
        "input_series": input,
        "promql_expr_test": [{
            "expr": format!("group(max_over_time(({})[{scrapes}m:{step}m]) > -Inf)", query.expression),
            "eval_time": format!("{scrapes}m"),
            "exp_samples": [{ "labels": "{}", "value": 1 }],
        }],
    })
}

fn promtool_says(file: &Value, command: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    // JSON is YAML.
    std::fs::write(folder.path().join("file.yaml"), file.to_string()).unwrap();
    let output =
        Command::new(promtool()).args(command).arg("file.yaml").current_dir(folder.path()).output().unwrap();
    let (reported, wrong) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{reported}\n{wrong}");
}

#[test]
fn every_query_can_be_parsed() {
    let queries = queries();
    let rule = |(number, query): (usize, &Shown)| json!({ "record": format!("panel:{number}"), "expr": query.expression });
    let rules: Vec<Value> = queries.iter().enumerate().map(rule).collect();
    let file = json!({ "groups": [{ "name": "dashboards", "rules": rules }] });
    promtool_says(&file, &["check", "rules", "--lint=none"]);
}

#[tokio::test(start_paused = true)]
async fn every_panel_selects_what_exists() {
    let (series, _) = recording().await;
    let known = known(&series);
    let wrong: Vec<String> = queries().iter().flat_map(|query| mistakes(query, &known)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(start_paused = true)]
async fn every_panel_shows_something() {
    let (series, scrapes) = recording().await;
    let series = telling(&series);
    let tests: Vec<Value> = queries().iter().map(|query| shows_something(query, &series, scrapes)).collect();
    let file = json!({ "rule_files": [], "evaluation_interval": "1m", "tests": tests });
    promtool_says(&file, &["test", "rules"]);
}

/// A bound between two buckets would count nothing.
#[test]
fn the_bounds_of_objectives_are_bounds_of_buckets() {
    let text = foo_controller::metrics::Metrics::new().exposition().unwrap();
    let rules = super::rules();
    let (selectors, _) =
        taken_apart(&rules.lines().filter(|line| line.contains("le=\"")).collect::<String>());
    assert!(selectors.len() > 20);
    for Selector { metric, matchers } in selectors {
        for (_, bound) in matchers.iter().filter(|(label, _)| label == "le") {
            let bucket = format!("le=\"{bound}\"");
            let there = text.lines().any(|line| line.starts_with(&metric) && line.contains(&bucket));
            assert!(there, "{metric} has no bucket {bound}");
        }
    }
}

#[test]
fn mistakes_of_queries_are_found() {
    let series = Series::from([(r#"foo_x{namespace="a",kind="A"}"#.to_owned(), "1".to_owned())]);
    let found = |expression: &str, legend: &str| {
        let (place, expression, legend) = ("p".to_owned(), expression.to_owned(), legend.to_owned());
        mistakes(&Shown { place, expression, legend }, &known(&series))
    };
    let nothing: [&str; 0] = [];
    assert_eq!(
        found(r#"sum by (kind) (rate(foo_x{kind=~"A|.*"}[5m])) > 0 or vector(0)"#, "{{kind}}"),
        nothing
    );
    assert_eq!(found("foo_y", ""), ["p: there is no foo_y"]);
    assert_eq!(found(r#"foo_x{sort="A"}"#, ""), ["p: foo_x has no label sort"]);
    assert_eq!(found(r#"foo_x{kind="B"}"#, ""), ["p: kind of foo_x is never B"]);
    assert_eq!(found("sum by (sort) (foo_x)", ""), ["p: none of its metrics has the label sort"]);
    assert_eq!(found("foo_x", "{{sort}}"), ["p: none of its metrics has the label sort"]);
    assert_eq!(found("vector(1)", ""), ["p: it selects nothing"]);
}
