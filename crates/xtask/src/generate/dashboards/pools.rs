//! Pools: sizes, launches, drains, roll-outs, and what AWS announces.

use super::model::{Dashboard, Row, Unit, Variable, View, panel, rate, slowest};

const N: &str = r#"namespace=~"$namespace""#;

pub(super) fn dashboard() -> Dashboard {
    Dashboard {
        file: "pools",
        title: "Foo / Pools",
        about: "Pools of instances: what they are doing, how long launches, drains and roll-outs take, what AWS announces, and \
                the size of each pool.",
        variables: vec![Variable::Namespace, Variable::ObjectNamespace],
        rows: vec![state(), durations(), actions(), announcements(), names()],
    }
}

fn state() -> Row {
    let conditions = |more: &str| format!(r#"foo_conditions{{{N},kind="FooMachinePool",{more}}}"#);
    let oldest = |more: &str| format!(r#"foo_condition_oldest_seconds{{{N},kind="FooMachinePool",{more}}}"#);
    let panels = vec![
        panel("Pools", View::Number, Unit::Count, "FooMachinePools that the leader reconciles. A sudden fall is a deletion or a restore.")
            .shows("pools", format!(r#"sum(foo_objects{{{N},kind="FooMachinePool"}})"#)),
        panel(
            "Not ready",
            View::Number,
            Unit::Count,
            "Pools with fewer serving instances than their spec requires. Routine work within the limits of the spec does \
             not count. If it lasts, the condition Ready has the reason.",
        )
        .bad_above(1.0, 5.0)
        .read_on("FooPoolNotReady")
        .shows("pools", format!("sum({}) or vector(0)", conditions(r#"condition="Ready",status!="True""#))),
        panel(
            "Without capacity",
            View::Number,
            Unit::Count,
            "Pools for which AWS does not launch the requested instances. The condition CapacityAvailable has AWS's error: \
             allow more instance types or zones, or raise the quota.",
        )
        .bad_above(1.0, 3.0)
        .read_on("FooNoCapacity")
        .shows("pools", format!("sum({}) or vector(0)", conditions(r#"condition="CapacityAvailable",status="False""#))),
        panel(
            "Groups without a pool",
            View::Number,
            Unit::Count,
            "Auto Scaling groups with the tags of this management cluster whose FooMachinePool does not exist. Their \
             instances run and cost money: create the pool again, or delete the group.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooGroupsUnmanaged")
        .shows("groups", format!("max(foo_groups_unmanaged{{{N}}})")),
        panel(
            "What pools are doing",
            View::Stack,
            Unit::Count,
            "Pools that launch, delete, roll out or replace unhealthy Machines. A line that stays up for hours while \
             nothing was requested is worth a `kubectl foo explain`.",
        )
        .shows(
            "{{condition}}",
            format!(
                "sum by (condition) ({})",
                conditions(r#"condition=~"ScalingUp|ScalingDown|RollingOut|Remediating|Deleting",status="True""#)
            ),
        ),
        panel(
            "Roll-outs and replacements that wait for a user",
            View::Lines,
            Unit::Seconds,
            "How long the oldest roll-out has been paused or halted, and the oldest unhealthy Machine has not been \
             replaced. The conditions RollingOut and Remediating have the reason.",
        )
        .bad_above(900.0, 3600.0)
        .read_on("FooRolloutStuck")
        .shows(
            "{{condition}}",
            format!(
                "max by (condition) ({})",
                oldest(r#"condition=~"RollingOut|Remediating",status="True",class=~"needs_user|fault""#)
            ),
        )
        .shows("RollingOut, in progress", format!("max({})", oldest(r#"condition="RollingOut",status="True""#))),
    ];
    Row { title: "State", panels }
}

fn durations() -> Row {
    let increase =
        |by: &str, metric: &str| format!("sum by ({by}) (increase({metric}{{{N}}}[$__rate_interval]))");
    let panels = vec![
        panel(
            "Launch to Ready",
            View::Lines,
            Unit::Seconds,
            "From the creation of a Machine, when its instance begins to launch, until its Node is Ready. Ten minutes are \
             the objective. Slow ones are mostly large images, slow user data, or Nodes that cannot reach the API server.",
        )
        .bad_above(300.0, 600.0)
        .read_on("FooLaunchesSlow")
        .quantiles("foo_launch_seconds", &format!(r#"{N},outcome="ready""#)),
        panel(
            "Launches by outcome",
            View::Stack,
            Unit::Count,
            "`deleted`: the Machine was deleted before its Node was Ready, by a scale-in, or because a MachineHealthCheck \
             gave it no more time. Many of those: the image or the user data does not work.",
        )
        .read_on("FooLaunchesSlow")
        .shows("{{outcome}}", increase("outcome", "foo_launch_seconds_count")),
        panel(
            "Drain",
            View::Lines,
            Unit::Seconds,
            "From the deletion of a Machine until Cluster API releases its instance: hooks, drain, volumes. 30 minutes are \
             the objective. Slow ones wait for a PodDisruptionBudget or for pods with a long grace period.",
        )
        .bad_above(600.0, 1800.0)
        .read_on("FooDrainsSlow")
        .quantiles("foo_drain_seconds", N),
        panel(
            "Drains by duration",
            View::Heat,
            Unit::Count,
            "How many drains took how long. A second band far above the first one is a class of workloads that does not \
             let its Nodes drain: limit it with deletion.nodeDrainTimeoutSeconds.",
        )
        .read_on("FooDeletionStuck")
        .shows("{{le}}", increase("le", "foo_drain_seconds_bucket")),
        panel(
            "Roll-out, for each instance",
            View::Lines,
            Unit::Seconds,
            "The duration of roll-outs, divided by the number of instances: comparable between pools of any size. 40 \
             minutes are the objective. High ones: slow launches, slow drains, or tight limits in spec.rollout.",
        )
        .bad_above(1200.0, 2400.0)
        .read_on("FooRolloutsSlow")
        .quantiles("foo_rollout_instance_seconds", &format!(r#"{N},outcome="finished""#)),
        panel(
            "Roll-outs by outcome",
            View::Stack,
            Unit::Count,
            "`rolled_back`: Nodes with the new content did not become Ready, and the pool returned to the previous content. \
             The condition Ready has the message; such content is not tried again.",
        )
        .read_on("FooRolloutsSlow")
        .shows("{{outcome}}", increase("outcome", "foo_rollout_seconds_count")),
        panel(
            "Roll-out, the whole pool",
            View::Heat,
            Unit::Count,
            "How many roll-outs took how long altogether. Long ones of large pools are normal: compare with the duration \
             for each instance.",
        )
        .read_on("FooRolloutsSlow")
        .shows("{{le}}", increase("le", "foo_rollout_seconds_bucket")),
        panel(
            "Launches by duration",
            View::Heat,
            Unit::Count,
            "How many launches took how long. Two bands are two kinds of images or instance types; one that rises \
             slowly is an image that grows.",
        )
        .read_on("FooLaunchesSlow")
        .shows("{{le}}", increase("le", "foo_launch_seconds_bucket")),
    ];
    Row { title: "Durations", panels }
}

fn actions() -> Row {
    let panels = vec![
        panel(
            "Actions",
            View::Lines,
            Unit::PerSecond,
            "What the manager does, by the planner's names. An idle fleet has none.",
        )
        .shows(
            "{{action}}",
            format!("{} > 0", rate("action", "foo_plan_actions_total", &format!(r#"{N},outcome="done""#))),
        ),
        panel(
            "Actions that were not carried out",
            View::Lines,
            Unit::PerSecond,
            "`refused`: the object changed meanwhile, which is normal now and then. `failed`: AWS or the API server \
             rejected it; if that lasts, the pool's conditions have the error.",
        )
        .bad_above(0.1, 1.0)
        .read_on("FooPassesFail")
        .shows(
            "{{action}}: {{outcome}}",
            rate("action, outcome", "foo_plan_actions_total", &format!(r#"{N},outcome!="done""#)),
        ),
    ];
    Row { title: "Actions of plans", panels }
}

fn announcements() -> Row {
    let panels = vec![
        panel(
            "Events of AWS",
            View::Lines,
            Unit::PerSecond,
            "Messages from the queue of events, by kind and what became of them. None at all while instances are launched: \
             the rule or the queue does not exist, or the manager may not read it. Without events everything still works, \
             only later.",
        )
        .shows(
            "{{kind}}: {{outcome}}",
            format!("{} > 0", rate("kind, outcome", "foo_announcements_total", N)),
        ),
        panel(
            "From an event to the action",
            View::Lines,
            Unit::Seconds,
            "An interruption leaves two minutes, so more than a minute for it is bad: is the queue in the same region, and \
             are reconciles slow?",
        )
        .bad_above(60.0, 120.0)
        .shows(
            "{{kind}}, 95 %",
            slowest("kind", "foo_announcement_seconds", N),
        ),
        panel(
            "Events that wait",
            View::Lines,
            Unit::Count,
            "Messages that were received and not acted on yet. It should return to 0: otherwise pools are not reconciled.",
        )
        .bad_above(50.0, 500.0)
        .read_on("FooPassesWait")
        .shows("{{namespace}}", format!("max by (namespace) (foo_announcements_held{{{N}}})")),
        panel(
            "Groups that the manager cannot describe",
            View::Lines,
            Unit::Count,
            "Groups without an observation for two periods: nothing is drained, terminated or launched there. The pools' \
             condition AutoScalingGroupReady shows why.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooGroupsUnseen")
        .shows("{{namespace}}", format!("max by (namespace) (foo_groups_unseen{{{N}}})")),
    ];
    Row { title: "What AWS announces", panels }
}

fn names() -> Row {
    const O: &str = r#"namespace=~"$objects""#;
    let panels = vec![
        panel(
            "Instances of each pool",
            View::Lines,
            Unit::Count,
            "From kube-state-metrics: the instances that exist, by pool. Compare a fall with the pool's events.",
        )
        .read_on("Conditions-of-each-object")
        .shows("{{namespace}}/{{name}}", format!("max by (namespace, name) (foo_machine_pool_status_replicas{{{O}}})")),
        panel(
            "Share of the maximum size",
            View::Lines,
            Unit::Share,
            "From kube-state-metrics: instances as a share of spec.maxSize. At 1 neither the autoscaler nor a roll-out with \
             surge can add an instance: raise spec.maxSize.",
        )
        .bad_above(0.8, 1.0)
        .read_on("Conditions-of-each-object")
        .shows(
            "{{namespace}}/{{name}}",
            format!(
                "max by (namespace, name) (foo_machine_pool_status_replicas{{{O}}}) / max by (namespace, name) (foo_machine_pool_spec_max_size{{{O}}})"
            ),
        ),
        panel(
            "Conditions of each pool",
            View::Table,
            Unit::Plain,
            "From kube-state-metrics: what each pool is doing or lacks, with the reason.",
        )
        .read_on("Conditions-of-each-object")
        .shows(
            "",
            format!(
                r#"sum by (namespace, name, type, status, reason) (foo_machine_pool_status_condition{{{O},type=~"Ready|CapacityAvailable|AutoScalingGroupReady|LaunchTemplateReady|CredentialsReady",status!="True"}} == 1 or foo_machine_pool_status_condition{{{O},type=~"ScalingUp|ScalingDown|RollingOut|Remediating|Deleting",status="True"}} == 1)"#
            ),
        ),
    ];
    Row { title: "Names", panels }
}
