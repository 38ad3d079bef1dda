//! deploy/monitoring/dashboards: what Grafana requires of a dashboard, and what a reader may expect of each panel.
//!
//! The shape is that of schema version 42 of Grafana's classic dashboards (`@grafana/schema`, `dashboard_kind.cue`). What
//! the queries select is checked in `controller/tests/suite/alerts/dashboards.rs`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const FOLDER: &str = "deploy/monitoring/dashboards";
const NAMES: [&str; 5] = ["fleet", "pools", "control-planes-and-networks", "manager", "aws-calls"];
/// Variables of Grafana's own.
const BUILT_IN: [&str; 2] = ["__rate_interval", "__range"];
/// What `kubectl apply` writes into an annotation must be smaller than all annotations of an object may be.
const LARGEST: usize = 200_000;

fn read(path: &str) -> String {
    std::fs::read_to_string(xtask::root().join(path)).unwrap()
}

fn dashboards() -> Vec<(&'static str, Value)> {
    let one =
        |name: &'static str| (name, serde_json::from_str(&read(&format!("{FOLDER}/{name}.json"))).unwrap());
    NAMES.map(one).into()
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("no list {pointer} in {value}"))
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no text {pointer} in {value}"))
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no number {pointer} in {value}"))
}

fn is_row(panel: &Value) -> bool {
    panel["type"] == "row"
}

/// Panels with queries.
fn panels(dashboard: &Value) -> impl Iterator<Item = &Value> {
    list(dashboard, "/panels").iter().filter(|panel| !is_row(panel))
}

/// The names after each `$`, with or without braces and a format.
fn variables(text: &str) -> BTreeSet<&str> {
    let after = text.split('$').skip(1).map(|rest| rest.strip_prefix('{').unwrap_or(rest));
    after.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap()).collect()
}

/// The cells of the grid that a panel covers.
fn cells(panel: &Value) -> impl Iterator<Item = (u64, u64)> {
    let of = |key| number(panel, &format!("/gridPos/{key}"));
    let (x, y, w, h) = (of("x"), of("y"), of("w"), of("h"));
    assert!(w > 0 && h > 0 && x + w <= 24, "{} is outside of the grid", panel["title"]);
    (x..x + w).flat_map(move |x| (y..y + h).map(move |y| (x, y)))
}

#[test]
fn no_panel_covers_another_and_each_has_an_id() {
    for (name, dashboard) in dashboards() {
        let (mut taken, mut ids) = (BTreeMap::new(), BTreeSet::new());
        for panel in list(&dashboard, "/panels") {
            assert!(
                number(panel, "/id") > 0 && ids.insert(number(panel, "/id")),
                "{name}: {}",
                panel["title"]
            );
            for cell in cells(panel) {
                let other = taken.insert(cell, &panel["title"]);
                assert!(other.is_none(), "{name}: {} and {other:?} cover {cell:?}", panel["title"]);
            }
        }
    }
}

#[test]
fn dashboards_have_the_shape_that_grafana_imports() {
    let (mut uids, mut titles) = (BTreeSet::new(), BTreeSet::new());
    for (name, dashboard) in dashboards() {
        assert!(dashboard.get("id").is_none(), "{name}: Grafana assigns the id");
        let uid = text(&dashboard, "/uid");
        assert!(uid.len() <= 40 && uid.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{uid}");
        assert!(uids.insert(uid.to_owned()) && titles.insert(text(&dashboard, "/title").to_owned()));
        assert_eq!(number(&dashboard, "/schemaVersion"), 42);
        assert!(!text(&dashboard, "/description").is_empty());
        for pointer in ["/time/from", "/time/to", "/refresh", "/timezone"] {
            text(&dashboard, pointer);
        }
        for pointer in ["/tags", "/links", "/annotations/list", "/templating/list"] {
            list(&dashboard, pointer);
        }
        let kinds: BTreeSet<&str> =
            list(&dashboard, "/panels").iter().map(|panel| text(panel, "/type")).collect();
        let known = BTreeSet::from(["row", "stat", "timeseries", "heatmap", "table"]);
        assert!(kinds.is_subset(&known), "{name}: {kinds:?}");
        for panel in panels(&dashboard) {
            assert!(panel["options"].is_object() && panel["fieldConfig"]["overrides"].is_array());
            let mut letters = BTreeSet::new();
            for target in list(panel, "/targets") {
                assert!(letters.insert(text(target, "/refId")), "{name}: {}", panel["title"]);
                assert_ne!(target["instant"], target["range"], "{name}: {}", panel["title"]);
                assert_eq!(target["datasource"], panel["datasource"]);
            }
        }
    }
}

/// A number without a unit and without a word on what is bad helps no user at night.
#[test]
fn every_panel_says_what_a_bad_value_means() {
    for (name, dashboard) in dashboards() {
        for panel in panels(&dashboard) {
            let title = format!("{name}: {}", text(panel, "/title"));
            assert!(!list(panel, "/targets").is_empty(), "{title} has no query");
            let about = text(panel, "/description");
            assert!(about.len() > 60 && about.ends_with(['.', '?']), "{title}: {about}");
            assert!(!text(panel, "/fieldConfig/defaults/unit").is_empty(), "{title} has no unit");
            let steps = list(panel, "/fieldConfig/defaults/thresholds/steps");
            assert!(steps.len() == 1 || steps.len() == 3, "{title}");
            assert!(steps[0]["value"].is_null(), "{title}: the first color has no bound");
            let values: Vec<f64> = steps[1..].iter().map(|step| step["value"].as_f64().unwrap()).collect();
            assert!(values.is_sorted(), "{title}: {values:?}");
            let links = list(panel, "/links").iter();
            // What may be bad has a place to read on, or says all there is to do.
            for link in links {
                assert_eq!(link["targetBlank"], true, "{title}");
            }
        }
    }
}

/// Links of panels lead to headings that exist.
#[test]
fn links_lead_to_headings_that_exist() {
    let page = read("docs/operations/metrics.md");
    let anchors: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|heading| heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-"))
        .collect();
    let mut found = 0;
    for (name, dashboard) in dashboards() {
        for link in panels(&dashboard).flat_map(|panel| list(panel, "/links")) {
            let url = text(link, "/url");
            let anchor = url.strip_prefix("${docs:raw}/docs/operations/metrics.md#").unwrap();
            assert!(anchors.contains(anchor), "{name}: {url}");
            found += 1;
        }
    }
    assert!(found > 50, "{found}");
}

#[test]
fn every_variable_is_defined_and_used() {
    for (name, dashboard) in dashboards() {
        let defined: BTreeSet<&str> =
            list(&dashboard, "/templating/list").iter().map(|it| text(it, "/name")).collect();
        let panels = serde_json::to_string(&dashboard["panels"]).unwrap();
        let used: BTreeSet<&str> =
            variables(&panels).into_iter().filter(|it| !BUILT_IN.contains(it)).collect();
        assert_eq!(used, defined, "{name}");
        for variable in list(&dashboard, "/templating/list") {
            assert!(["datasource", "textbox", "query"].contains(&text(variable, "/type")), "{variable}");
        }
        let source = &list(&dashboard, "/templating/list")[0];
        assert_eq!((&source["name"], &source["query"]), (&"datasource".into(), &"prometheus".into()));
        for panel in self::panels(&dashboard) {
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{name}: {}", panel["title"]);
        }
    }
}

/// The page of the fleet shows the objectives on which the alerts are.
#[test]
fn objectives_are_those_of_the_alerts() {
    let rules = xtask::yaml::parse(&read("deploy/monitoring/prometheus_rule.yaml")).unwrap().remove(0);
    let rules = list(&rules, "/spec/groups/0/rules");
    let (_, fleet) = dashboards().remove(0);
    let has_objective = |panel: &&Value| panel["fieldConfig"]["defaults"]["unit"] == "percentunit";
    let mut compared = 0;
    for panel in panels(&fleet).filter(has_objective) {
        let (_, alert) = text(panel, "/links/0/url").rsplit_once('#').unwrap();
        let rule = rules.iter().find(|rule| text(rule, "/alert").to_lowercase() == alert).unwrap();
        let (expression, shown) = (text(rule, "/expr"), text(panel, "/targets/0/expr"));
        let (histogram, rest) = shown.strip_prefix("sum(increase(").unwrap().split_once('{').unwrap();
        let bound = rest.split("le=\"").nth(1).unwrap().split('"').next().unwrap();
        assert!(expression.contains(histogram), "{alert}: {histogram}");
        assert!(expression.contains(&format!("le=\"{bound}\"")), "{alert}: {bound}");
        let share = panel["fieldConfig"]["defaults"]["thresholds"]["steps"][1]["value"].as_f64().unwrap();
        for times in [14.4, 6.0] {
            let exceeds = format!("> {:.3}", times * (1.0 - share));
            assert!(expression.contains(exceeds.trim_end_matches('0')), "{alert}: {exceeds}");
        }
        compared += 1;
    }
    assert_eq!(compared, 4);
}

/// Grafana's sidecar finds the ConfigMaps by this label.
#[test]
fn the_kustomization_has_every_dashboard() {
    let file = xtask::yaml::parse(&read(&format!("{FOLDER}/kustomization.yaml"))).unwrap().remove(0);
    assert_eq!(file["generatorOptions"]["labels"]["grafana_dashboard"], "1");
    let maps = list(&file, "/configMapGenerator");
    let files: BTreeSet<&str> =
        maps.iter().flat_map(|map| list(map, "/files")).filter_map(Value::as_str).collect();
    let folder = std::fs::read_dir(xtask::root().join(FOLDER)).unwrap();
    let there: BTreeSet<String> = folder.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    let there: BTreeSet<&str> =
        there.iter().map(String::as_str).filter(|it| *it != "kustomization.yaml").collect();
    assert_eq!(files, there);
    for name in NAMES {
        assert!(files.contains(format!("{name}.json").as_str()), "{name}");
        assert!(
            read(&format!("{FOLDER}/{name}.json")).len() < LARGEST,
            "{name} is too large for kubectl apply"
        );
    }
}
