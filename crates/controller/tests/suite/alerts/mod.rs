//! The alerts and dashboards of deploy/monitoring, evaluated by the real promtool (`hack/tools/build.sh promtool`).
//!
//! * [`cases`]: each alert fires when it should, and not when it should not, on series written out here;
//! * [`recorded`]: on series that a manager of this suite served: its first failures fire, and a healthy life fires
//!   nothing;
//! * [`dashboards`]: what panels select exists, and they show something.

mod cases;
mod dashboards;
mod recorded;

use foo_controller::metrics::Metrics;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const RULES: &str = "deploy/monitoring/prometheus_rule.yaml";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn promtool() -> PathBuf {
    let folder =
        std::env::var_os("FOO_TOOLS_BIN").map_or_else(|| root().join("hack/tools/bin"), PathBuf::from);
    let promtool = folder.join("promtool");
    assert!(promtool.exists(), "{} is missing: hack/tools/build.sh promtool", promtool.display());
    promtool
}

/// The rules as Prometheus reads them: the spec of the PrometheusRule.
fn rules() -> String {
    let text = std::fs::read_to_string(root().join(RULES)).unwrap();
    let (_, spec) = text.split_once("\nspec:\n").unwrap();
    spec.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).flat_map(|line| [line, "\n"]).collect()
}

/// Names of all alerts.
fn alerts() -> BTreeSet<String> {
    let names = rules();
    names.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).map(str::to_owned).collect()
}

/// Series by their names with labels, in the notation of promtool; one value per step.
type Series = BTreeMap<String, String>;

/// One test of promtool: what fires at some moments, and nothing else.
struct RuleTest {
    name: String,
    /// Seconds between two values.
    step: u32,
    series: Series,
    /// By step, the alerts that fire.
    fires: Vec<(u32, Vec<String>)>,
    /// Counts what fired in this many steps before, instead of what fires now.
    within: Option<u32>,
}

impl RuleTest {
    fn to_json(&self) -> Value {
        let series: Vec<Value> =
            self.series.iter().map(|(series, values)| json!({"series": series, "values": values})).collect();
        let asked: Vec<Value> = self.fires.iter().map(|(at, alerts)| self.asked(*at, alerts)).collect();
        json!({
            "name": self.name,
            "interval": format!("{}s", self.step),
            "input_series": series,
            "promql_expr_test": asked,
        })
    }

    fn asked(&self, at: u32, alerts: &[String]) -> Value {
        let firing = r#"ALERTS{alertstate="firing"}"#;
        let firing = match self.within {
            Some(steps) => format!("last_over_time({firing}[{}s])", steps * self.step),
            None => firing.to_owned(),
        };
        let samples: Vec<Value> = alerts
            .iter()
            .map(|name| json!({"labels": format!(r#"{{alertname="{name}"}}"#), "value": 1}))
            .collect();
        json!({
            "expr": format!("group by (alertname) ({firing})"),
            "eval_time": format!("{}s", at * self.step),
            "exp_samples": samples,
        })
    }
}

/// Has promtool play these and evaluate the rules at each value; panics with its words about what is not so.
fn run_promtool(tests: &[RuleTest]) {
    evaluated_every(tests.iter().map(|test| test.step).min().unwrap(), tests);
}

/// The same with an evaluation every so many seconds.
fn evaluated_every(seconds: u32, tests: &[RuleTest]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rules.yaml"), rules()).unwrap();
    let tests: Vec<Value> = tests.iter().map(RuleTest::to_json).collect();
    let file = json!({
        "rule_files": ["rules.yaml"],
        "evaluation_interval": format!("{seconds}s"),
        "tests": tests,
    });
    // JSON is YAML.
    std::fs::write(folder.path().join("tests.yaml"), file.to_string()).unwrap();
    let output = Command::new(promtool())
        .env("GOGC", "400")
        .args(["test", "rules", "tests.yaml"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let (reported, wrong) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{reported}\n{wrong}");
}

/// What alerts count is there before anything happened, with every value that they select.
#[test]
fn every_value_that_an_alert_counts_exists_from_the_start() {
    let text = Metrics::new().exposition().unwrap();
    let rules = rules();
    for selected in rules.match_indices("_total").map(|(at, _)| &rules[..at]) {
        let begins = selected.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap() + 1;
        let name = format!("{}_total", &selected[begins..]);
        let rest = &rules[begins + name.len()..];
        let matchers = rest.strip_prefix('{').and_then(|rest| rest.split('}').next()).unwrap_or_default();
        for matcher in matchers.split(", ").filter(|matcher| !matcher.is_empty()) {
            let (label, values) = matcher.split_once('=').unwrap();
            for value in values.trim_start_matches('~').trim_matches('"').split('|') {
                let there = text.lines().any(|line| {
                    line.starts_with(&format!("{name}{{")) && line.contains(&format!(r#"{label}="{value}""#))
                });
                assert!(there, "{name} has no {label}={value} at first");
            }
        }
        assert!(text.lines().any(|line| line.starts_with(&name)), "{name} does not exist at first");
    }
}
