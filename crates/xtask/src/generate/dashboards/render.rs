//! A dashboard as the JSON that Grafana imports: schema version 42 of the classic schema, that of Grafana 12.1 and later.
//!
//! A panel's id follows from its row and title, so that links to a panel survive others that are added. Places follow from
//! the order.

use super::model::{Bounds, Dashboard, Panel, Query, Unit, Variable, View};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

const SCHEMA: u32 = 42;
/// Columns of Grafana's grid.
const COLUMNS: usize = 24;
/// All dashboards have it; each links to the others by it.
const TAG: &str = "cluster-api-provider-foo";
const PAGE: &str = "docs/operations/metrics.md";

pub(super) fn dashboard(it: &Dashboard) -> Result<Value> {
    let variables: Vec<Value> =
        [source(), docs()].into_iter().chain(it.variables.iter().map(|it| variable(*it))).collect();
    Ok(json!({
        "uid": format!("foo-{}", it.file),
        "title": it.title,
        "description": it.about,
        "tags": [TAG],
        "schemaVersion": SCHEMA,
        "version": 1,
        "editable": true,
        "graphTooltip": 1,
        "fiscalYearStartMonth": 0,
        "refresh": "1m",
        "time": { "from": "now-6h", "to": "now" },
        "timepicker": {},
        "timezone": "browser",
        "weekStart": "",
        "annotations": { "list": [] },
        "links": [{
            "type": "dashboards", "tags": [TAG], "title": "Other dashboards of the provider", "asDropdown": true,
            "includeVars": true, "keepTime": true, "targetBlank": false, "icon": "external link", "tooltip": "",
            "url": "",
        }],
        "templating": { "list": variables },
        "panels": panels(it)?,
    }))
}

fn panels(it: &Dashboard) -> Result<Vec<Value>> {
    let (mut all, mut ids, mut y) = (Vec::new(), BTreeSet::new(), 0);
    let mut new_id = |row: &str, title: &str| {
        let id = id(row, title)?;
        ensure!(ids.insert(id), "two panels have the id of {row}/{title}: rename one");
        Ok(id)
    };
    for row in &it.rows {
        all.push(json!({
            "id": new_id(row.title, "")?, "type": "row", "title": row.title, "collapsed": false, "panels": [],
            "gridPos": { "x": 0, "y": y, "w": COLUMNS, "h": 1 },
        }));
        y += 1;
        let (mut x, mut tallest) = (0, 0);
        for panel in &row.panels {
            let (width, height) = size(panel.view);
            if x + width > COLUMNS {
                (x, y, tallest) = (0, y + tallest, 0);
            }
            let place = json!({ "x": x, "y": y, "w": width, "h": height });
            all.push(rendered(panel, new_id(row.title, panel.title)?, &place)?);
            (x, tallest) = (x + width, tallest.max(height));
        }
        y += tallest;
    }
    Ok(all)
}

/// Positive, and small enough for every client.
fn id(row: &str, title: &str) -> Result<u32> {
    let digest = Sha256::digest(format!("{row}/{title}"));
    let bytes = digest.first_chunk::<3>().context("a digest is longer")?;
    Ok(u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]).max(1))
}

/// Columns and rows.
fn size(view: View) -> (usize, usize) {
    match view {
        View::Number => (6, 5),
        View::Lines | View::Stack | View::Heat => (12, 8),
        View::Table => (24, 9),
    }
}

fn source() -> Value {
    json!({
        "name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "regex": "",
        "refresh": 1, "hide": 0, "includeAll": false, "multi": false, "options": [],
        "current": { "text": "default", "value": "default" }, "skipUrlSync": false,
    })
}

/// The address of a copy of the documentation, which the links of panels begin with.
fn docs() -> Value {
    let address = "https://example.com/cluster-api-provider-foo/blob/main";
    let option = json!({ "text": address, "value": address, "selected": true });
    json!({
        "name": "docs", "label": "Address of your copy of the repository", "type": "textbox", "query": address, "hide": 0,
        "options": [option], "current": option, "skipUrlSync": false,
    })
}

fn variable(it: Variable) -> Value {
    let (name, label, about, query) = match it {
        Variable::Namespace => (
            "namespace",
            "Manager's namespace",
            "The namespace in which a manager runs",
            "label_values(foo_build_info, namespace)",
        ),
        Variable::ObjectNamespace => (
            "objects",
            "Objects' namespace",
            "The namespace of the objects that kube-state-metrics shows",
            "label_values({__name__=~\"foo_(machine_pool|cluster|control_plane|node_config)_created\"}, namespace)",
        ),
        Variable::Controller => (
            "controller",
            "Controller",
            "A controller of the manager",
            "label_values(foo_reconcile_queue_depth, controller)",
        ),
        Variable::Service => {
            ("service", "AWS service", "A service of AWS", "label_values(foo_aws_requests_total, service)")
        }
    };
    json!({
        "name": name, "label": label, "description": about, "type": "query", "datasource": reference(),
        "query": { "qryType": 5, "query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery" },
        "regex": "", "refresh": 2, "sort": 1, "hide": 0, "includeAll": true, "allValue": ".*",
        "multi": true, "options": [], "current": { "text": ["All"], "value": ["$__all"] }, "skipUrlSync": false,
    })
}

fn reference() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

fn rendered(panel: &Panel, id: u32, place: &Value) -> Result<Value> {
    let letters = ["A", "B", "C", "D", "E", "F"];
    ensure!(panel.queries.len() <= letters.len(), "too many queries in {}", panel.title);
    let queries = panel.queries.iter().zip(letters);
    let targets: Vec<Value> = queries.map(|(query, letter)| target(query, letter, panel.view)).collect();
    let links: Vec<Value> = panel
        .more
        .iter()
        .map(|heading| {
            let url = format!("${{docs:raw}}/{PAGE}#{}", heading.to_lowercase());
            json!({
                "type": "link", "title": format!("What to do: {heading}"), "url": url, "targetBlank": true, "asDropdown": false,
                "icon": "doc", "includeVars": false, "keepTime": false, "tags": [], "tooltip": "",
            })
        })
        .collect();
    let (kind, options) = options(panel.view);
    let mut shown = json!({
        "id": id, "type": kind, "title": panel.title, "description": panel.about, "gridPos": place,
        "datasource": reference(), "targets": targets, "links": links, "transparent": false, "options": options,
        "fieldConfig": { "defaults": defaults(panel), "overrides": [] },
    });
    if let (View::Table, Some(shown)) = (panel.view, shown.as_object_mut()) {
        let hidden = json!({ "Time": true, "__name__": true, "job": true, "instance": true });
        let options = json!({ "excludeByName": hidden, "indexByName": {}, "renameByName": {} });
        shown.insert("transformations".to_owned(), json!([{ "id": "organize", "options": options }]));
    }
    Ok(shown)
}

fn defaults(panel: &Panel) -> Value {
    let mut defaults = json!({
        "unit": unit(panel.unit),
        "color": color(panel),
        "thresholds": { "mode": "absolute", "steps": steps(panel.bounds) },
        "mappings": [],
        "custom": custom(panel),
    });
    if let (Unit::Count, Some(defaults)) = (panel.unit, defaults.as_object_mut()) {
        defaults.insert("decimals".to_owned(), json!(0));
    }
    defaults
}

fn target(query: &Query, letter: &str, view: View) -> Value {
    let format = match view {
        View::Table => "table",
        View::Heat => "heatmap",
        View::Number | View::Lines | View::Stack => "time_series",
    };
    let is_instant = matches!(view, View::Table | View::Number);
    json!({
        "refId": letter, "datasource": reference(), "editorMode": "code", "expr": query.expression,
        "legendFormat": query.legend, "format": format, "instant": is_instant, "range": !is_instant,
    })
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Count | Unit::Plain => "short",
        Unit::Seconds => "s",
        Unit::Share => "percentunit",
        Unit::Percent => "percent",
        Unit::PerSecond => "cps",
        Unit::Bytes => "bytes",
        Unit::Moment => "dateTimeFromNow",
    }
}

/// A number is colored by its bounds, lines by their names.
fn color(panel: &Panel) -> Value {
    let mode = match panel.view {
        View::Number | View::Table => "thresholds",
        View::Lines | View::Stack | View::Heat => "palette-classic-by-name",
    };
    json!({ "mode": mode })
}

fn steps(bounds: Bounds) -> Value {
    let step = |color: &str, from: Option<f64>| json!({ "color": color, "value": from });
    match bounds {
        Bounds::Any => json!([step("blue", None)]),
        Bounds::Above(worrying, alarming) => {
            json!([step("green", None), step("orange", Some(worrying)), step("red", Some(alarming))])
        }
        Bounds::Below(alarming, worrying) => {
            json!([step("red", None), step("orange", Some(alarming)), step("green", Some(worrying))])
        }
    }
}

fn custom(panel: &Panel) -> Value {
    let stacked = panel.view == View::Stack;
    let shown_bounds = match panel.bounds {
        Bounds::Any => "off",
        Bounds::Above(..) | Bounds::Below(..) => "dashed",
    };
    match panel.view {
        View::Number => json!({}),
        View::Heat => json!({ "hideFrom": { "legend": false, "tooltip": false, "viz": false } }),
        View::Table => {
            json!({ "align": "auto", "filterable": true, "inspect": false, "cellOptions": { "type": "auto" } })
        }
        View::Lines | View::Stack => json!({
            "drawStyle": "line", "lineWidth": 1, "fillOpacity": if stacked { 30 } else { 5 }, "showPoints": "never",
            "spanNulls": false, "stacking": { "mode": if stacked { "normal" } else { "none" }, "group": "A" },
            "thresholdsStyle": { "mode": shown_bounds }, "axisSoftMin": 0,
        }),
    }
}

fn options(view: View) -> (&'static str, Value) {
    match view {
        View::Number => (
            "stat",
            json!({
                "colorMode": "value", "graphMode": "none", "justifyMode": "auto", "orientation": "auto", "textMode": "auto",
                "wideLayout": true, "showPercentChange": false,
                "reduceOptions": { "calcs": ["lastNotNull"], "fields": "", "values": false },
            }),
        ),
        View::Lines | View::Stack => (
            "timeseries",
            json!({
                "legend": { "calcs": ["lastNotNull", "max"], "displayMode": "table", "placement": "bottom", "showLegend": true },
                "tooltip": { "mode": "multi", "sort": "desc" },
            }),
        ),
        View::Heat => (
            "heatmap",
            json!({
                "calculate": false, "cellGap": 1, "color": {
                    "mode": "scheme", "scheme": "Spectral", "reverse": true, "steps": 64, "exponent": 0.5, "fill": "dark-orange",
                    "scale": "exponential",
                },
                "exemplars": { "color": "orange" }, "filterValues": { "le": 1e-9 }, "legend": { "show": true },
                "rowsFrame": { "layout": "auto" }, "showValue": "never",
                "tooltip": { "mode": "single", "showColorScale": false, "yHistogram": false },
                "yAxis": { "axisPlacement": "left", "reverse": false, "unit": "s" },
            }),
        ),
        View::Table => (
            "table",
            json!({ "cellHeight": "sm", "showHeader": true, "sortBy": [{ "displayName": "Value", "desc": true }] }),
        ),
    }
}
