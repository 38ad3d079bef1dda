//! All objects of all managers on one page: is anything wrong, since when, and are the objectives met.

use super::model::{Bounds, Dashboard, Panel, Row, Unit, Variable, View, panel};

/// Conditions that summarise an object, one for each kind.
const SUMMARY: &str =
    r#"kind=~"FooMachinePool|FooCluster|FooNodeConfig|FooClusterIdentity",condition="Ready""#;
const SUMMARY_OF_PLANES: &str = r#"kind="FooControlPlane",condition="Available""#;

pub(super) fn dashboard() -> Dashboard {
    Dashboard {
        file: "fleet",
        title: "Foo / Fleet",
        about: "Everything that the provider reconciles: what needs a user, what has waited long, and whether launches, \
                drains, roll-outs and observations meet their objectives.",
        variables: vec![Variable::Namespace, Variable::ObjectNamespace],
        rows: vec![now(), waiting(), objectives(), burn(), names()],
    }
}

/// The same expression for the conditions of all kinds.
fn over_summaries(expression: impl Fn(&str) -> String) -> String {
    format!("{} or {}", expression(SUMMARY), expression(SUMMARY_OF_PLANES))
}

fn now() -> Row {
    let needs_user = |of: &str| {
        format!(
            r#"sum by (kind) (foo_conditions{{namespace=~"$namespace",{of},status!="True",class=~"needs_user|fault"}})"#
        )
    };
    let panels = vec![
        panel(
            "Leases without a leader",
            View::Number,
            Unit::Count,
            "Leases that no manager holds. Above 0, the objects of that manager are not reconciled: is its pod running, \
             and may it use the Lease?",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooNoLeader")
        .shows("leases", r#"count(max by (namespace, lease) (foo_leader{namespace=~"$namespace"}) < 1) or vector(0)"#),
        panel(
            "Objects that need a user",
            View::Number,
            Unit::Count,
            "Objects that are not ready for a reason that passes only if a user acts. The table at the end of this page \
             names them; the reason is in their conditions.",
        )
        .bad_above(1.0, 5.0)
        .read_on("FooPoolNotReady")
        .shows("objects", format!("sum({}) or vector(0)", over_summaries(needs_user))),
        panel(
            "Plans refused",
            View::Number,
            Unit::Count,
            "Plans of the last day that the manager refused because they break one of its own rules. Any is a bug: please \
             report it with /debug/pools.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooInvariantViolated")
        .shows("plans", r#"sum(increase(foo_invariant_violations_total{namespace=~"$namespace"}[1d]))"#),
        panel(
            "AWS refuses",
            View::Number,
            Unit::Count,
            "Calls of the last hour that AWS refused for lack of rights or of valid credentials. Above 0, compare the IAM \
             policy with the one of this release.",
        )
        .bad_above(1.0, 10.0)
        .read_on("FooAwsRefused")
        .shows(
            "calls",
            r#"sum(increase(foo_aws_requests_total{namespace=~"$namespace",code=~"AccessDenied|CredentialsInvalid"}[1h]))"#,
        ),
        panel(
            "Objects",
            View::Lines,
            Unit::Count,
            "Objects that the leaders reconcile, by kind. A sudden fall is a deletion, a restore, or a manager without \
             its cache.",
        )
        .shows("{{kind}}", r#"sum by (kind) (foo_objects{namespace=~"$namespace"})"#),
        panel(
            "Undecodable objects",
            View::Lines,
            Unit::Count,
            "Objects that the manager could not decode, in the last hour: it does not reconcile them. The event \
             UnreadableObject on the object has the cause.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooUndecodable")
        .shows("{{kind}}", r#"sum by (kind) (increase(foo_undecodable_objects_total{namespace=~"$namespace"}[1h]))"#),
    ];
    Row { title: "Now", panels }
}

fn waiting() -> Row {
    let by_class = |of: &str| {
        format!(r#"sum by (kind, class) (foo_conditions{{namespace=~"$namespace",{of},status!="True"}})"#)
    };
    let oldest = |of: &str| {
        format!(
            r#"max by (kind, class) (foo_condition_oldest_seconds{{namespace=~"$namespace",{of},status!="True"}})"#
        )
    };
    let panels = vec![
        panel(
            "Objects that are not ready",
            View::Stack,
            Unit::Count,
            "By who has to act on the reason: `waiting` passes by itself, `needs_user` does not, `fault` is a bug of the \
             provider.",
        )
        .read_on("FooPoolNotReady")
        .shows("{{kind}}: {{class}}", over_summaries(by_class)),
        panel(
            "Not ready for the longest time",
            View::Lines,
            Unit::Seconds,
            "How long the object that has waited longest has not been ready. Many objects that are each busy for a moment \
             do not raise it; one that is stuck does.",
        )
        .bad_above(900.0, 3600.0)
        .read_on("FooPoolNotReady")
        .shows("{{kind}}: {{class}}", over_summaries(oldest)),
        panel(
            "Deleted and still there",
            View::Lines,
            Unit::Seconds,
            "How long ago the object was deleted that has waited longest for it. For a Machine that is mostly a drain that \
             a PodDisruptionBudget blocks: describe the Machine in phase Deleting.",
        )
        .bad_above(3600.0, 21600.0)
        .read_on("FooDeletionStuck")
        .shows("{{kind}}", r#"max by (kind) (foo_deletion_oldest_seconds{namespace=~"$namespace"})"#),
        panel(
            "Reconciles that keep failing",
            View::Lines,
            Unit::Seconds,
            "How long all reconciles of one object have failed. The manager's log has the error, /debug the object.",
        )
        .bad_above(600.0, 1800.0)
        .read_on("FooPassesFail")
        .shows(
            "{{controller}}",
            r#"max by (controller) (foo_reconcile_failing_oldest_seconds{namespace=~"$namespace"})"#,
        ),
    ];
    Row { title: "What waits", panels }
}

/// An objective: its panels' title, histogram, selected series, bound, share, alert, and what to do.
struct Objective {
    title: &'static str,
    histogram: &'static str,
    labels: &'static str,
    bound: &'static str,
    share: f64,
    alert: &'static str,
    about: &'static str,
}

/// The alerts in deploy/monitoring/prometheus_rule.yaml have the same bounds and shares: a test compares them.
const OBJECTIVES: [Objective; 4] = [
    Objective {
        title: "Launches",
        histogram: "foo_launch_seconds",
        labels: "",
        bound: "600.0",
        share: 0.95,
        alert: "FooLaunchesSlow",
        about: "Nodes that became Ready within ten minutes of their Machine's creation. Objective: 95 %. Below it, read \
                the console of an instance that is late: image, user data and the way to the API server are the usual causes.",
    },
    Objective {
        title: "Drains",
        histogram: "foo_drain_seconds",
        labels: "",
        bound: "1800.0",
        share: 0.95,
        alert: "FooDrainsSlow",
        about: "Machines whose instance Cluster API released within 30 minutes of their deletion. Objective: 95 %. Below it, \
                a PodDisruptionBudget, a hook or a volume blocks: the Machine's condition Deleting names it.",
    },
    Objective {
        title: "Roll-outs",
        histogram: "foo_rollout_instance_seconds",
        labels: r#"outcome="finished","#,
        bound: "2400.0",
        share: 0.95,
        alert: "FooRolloutsSlow",
        about: "Roll-outs that took at most 40 minutes for each instance, whatever the size of the pool. Objective: 95 %. \
                Below it, compare launches and drains; if both are fast, the limits of spec.rollout are tight.",
    },
    Objective {
        title: "Freshness",
        histogram: "foo_observation_age_seconds",
        labels: "",
        bound: "256.0",
        share: 0.99,
        alert: "FooObservationsLate",
        about: "Descriptions of groups that came within 256 seconds of the one before. Objective: 99 %. Below it, AWS is \
                slow or throttles, or the rate limit is too low for this many groups.",
    },
];

impl Objective {
    /// The share of events in that time that were good.
    fn good(&self, window: &str) -> String {
        let Self { histogram, labels, bound, .. } = self;
        let good = format!(
            r#"sum(increase({histogram}_bucket{{namespace=~"$namespace",{labels}le="{bound}"}}[{window}]))"#
        );
        let all = format!(
            r#"sum(increase({histogram}_bucket{{namespace=~"$namespace",{labels}le="+Inf"}}[{window}]))"#
        );
        format!("{good} / {all}")
    }
}

fn objectives() -> Row {
    let number = |it: &Objective| {
        let tight = 1.0 - (1.0 - it.share) / 2.0;
        let whole = panel(it.title, View::Number, Unit::Share, it.about).read_on(it.alert);
        whole.bad_below(it.share, tight).shows("good", it.good("$__range"))
    };
    let panels = OBJECTIVES.iter().map(number).collect();
    Row { title: "Objectives, in the time range of this page", panels }
}

fn burn() -> Row {
    const TITLES: [&str; 4] =
        ["Budget: launches", "Budget: drains", "Budget: roll-outs", "Budget: freshness"];
    let lines = |(it, title): (&Objective, &'static str)| {
        let budget = 1.0 - it.share;
        let burn = |window: &str| format!("(1 - {}) / {budget:.2}", it.good(window));
        Panel { bounds: Bounds::Above(6.0, 14.4), ..panel(title, View::Lines, Unit::Plain, BURN) }
            .read_on(it.alert)
            .shows("5 minutes", burn("5m"))
            .shows("1 hour", burn("1h"))
            .shows("30 minutes", burn("30m"))
            .shows("6 hours", burn("6h"))
    };
    let panels = OBJECTIVES.iter().zip(TITLES).map(lines).collect();
    Row { title: "How fast the error budgets burn", panels }
}

const BURN: &str = "How many times faster than the objective allows. 1 uses the budget up exactly. The alert fires while the \
                    two short windows exceed 14.4, or the two long ones 6: then do what the panel above says. A gap means \
                    that nothing ended in that window.";

fn names() -> Row {
    let kinds = [
        ("foo_machine_pool", "Ready"),
        ("foo_cluster", "Ready"),
        ("foo_control_plane", "Available"),
        ("foo_node_config", "Ready"),
    ];
    let of = |(prefix, condition): (&str, &str)| {
        format!(
            r#"sum by (customresource_kind, namespace, name, type, status, reason) ({prefix}_status_condition{{namespace=~"$objects",type="{condition}",status!="True"}} == 1)"#
        )
    };
    let table = panel(
        "Objects that are not ready, by name",
        View::Table,
        Unit::Plain,
        "From kube-state-metrics, if it has deploy/monitoring/kube_state_metrics.yaml. The reason is explained on the page \
         of conditions; `kubectl foo explain` says what an object waits for.",
    )
    .read_on("Conditions-of-each-object")
    .shows("", kinds.map(of).join(" or "));
    Row { title: "Names", panels: vec![table] }
}
