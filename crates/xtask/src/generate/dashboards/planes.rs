//! Control planes, networks, user data and identities.

use super::model::{Dashboard, Row, Unit, Variable, View, panel, rate};

const N: &str = r#"namespace=~"$namespace""#;
const O: &str = r#"namespace=~"$objects""#;

pub(super) fn dashboard() -> Dashboard {
    Dashboard {
        file: "control-planes-and-networks",
        title: "Foo / Control planes and networks",
        about: "Networks of FooClusters, EKS and external control planes with their upgrades and kubeconfigs, user data of \
                FooNodeConfigs, and identities.",
        variables: vec![Variable::Namespace, Variable::ObjectNamespace],
        rows: vec![control_planes(), networks(), others(), names()],
    }
}

/// How many objects, by condition and class.
fn counted(kind: &str, conditions: &str) -> String {
    format!(
        r#"sum by (condition, class) (foo_conditions{{{N},kind="{kind}",condition=~"{conditions}",status!="True"}})"#
    )
}

/// Since when the one that has waited longest waits.
fn oldest(kind: &str, conditions: &str) -> String {
    format!(
        r#"max by (condition, class) (foo_condition_oldest_seconds{{{N},kind="{kind}",condition=~"{conditions}",status!="True"}})"#
    )
}

fn control_planes() -> Row {
    const PARTS: &str = "Available|ClusterReady|AddonsReady|AccessReady|KubeconfigReady";
    let planes = |more: &str| format!(r#"foo_conditions{{{N},kind="FooControlPlane",{more}}}"#);
    let panels = vec![
        panel(
            "Control planes",
            View::Number,
            Unit::Count,
            "FooControlPlanes of both modes that the leaders reconcile. A sudden fall is a deletion or a restore.",
        )
        .shows("control planes", format!(r#"sum(foo_objects{{{N},kind="FooControlPlane"}})"#)),
        panel(
            "API servers that do not respond",
            View::Number,
            Unit::Count,
            "Control planes that are not available. Cluster API drains nothing there meanwhile. The condition Available has \
             the reason.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooControlPlaneNotReady")
        .shows("control planes", format!("sum({}) or vector(0)", planes(r#"condition="Available",status!="True""#))),
        panel(
            "Upgrades in progress",
            View::Number,
            Unit::Count,
            "EKS control planes that are being upgraded. One step takes about ten minutes; three hours are too long.",
        )
        .read_on("FooUpgradeStuck")
        .shows("upgrades", format!("sum({}) or vector(0)", planes(r#"condition="Upgrading",status="True""#))),
        panel(
            "Kubeconfigs that need a user",
            View::Number,
            Unit::Count,
            "Kubeconfigs that have expired, cannot be used, or expire within 30 days. In mode external, put a new one into \
             the Secret.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooKubeconfigExpiresSoon")
        .shows(
            "kubeconfigs",
            format!(
                "sum({}) or vector(0)",
                planes(r#"condition="KubeconfigReady",class=~"needs_user|fault""#)
            ),
        ),
        panel(
            "Control planes, by what they lack",
            View::Stack,
            Unit::Count,
            "By condition and who has to act: what needs a user stays until one acts. Add-ons of a cluster without Nodes \
             wait, which is normal.",
        )
        .read_on("FooControlPlanePartNotReady")
        .shows("{{condition}}: {{class}}", counted("FooControlPlane", PARTS)),
        panel(
            "Control planes, for the longest time",
            View::Lines,
            Unit::Seconds,
            "How long one condition of one control plane has not been True. A creation takes a quarter of an hour.",
        )
        .bad_above(1800.0, 3600.0)
        .read_on("FooControlPlaneNotReady")
        .shows("{{condition}}: {{class}}", oldest("FooControlPlane", PARTS)),
        panel(
            "The longest upgrade",
            View::Lines,
            Unit::Seconds,
            "How long the upgrade has taken that began first. After three hours read the condition Upgrading, and the \
             cluster's updates in EKS.",
        )
        .bad_above(3600.0, 10800.0)
        .read_on("FooUpgradeStuck")
        .shows(
            "upgrade",
            format!(
                r#"max(foo_condition_oldest_seconds{{{N},kind="FooControlPlane",condition="Upgrading",status="True"}})"#
            ),
        ),
        panel(
            "Requests to workload clusters",
            View::Lines,
            Unit::PerSecond,
            "Requests of the manager to the API servers of FooControlPlanes, by response. `no_answer` and `forbidden` that \
             last: the network or the kubeconfig.",
        )
        .read_on("FooControlPlaneNotReady")
        .shows(
            "{{code}}",
            rate("code", "foo_kube_requests_total", &format!(r#"{N},client="workload""#)),
        ),
    ];
    Row { title: "Control planes", panels }
}

fn networks() -> Row {
    const PARTS: &str = "NetworkReady|CredentialsReady|VPCReady|SubnetsReady|RoutesReady|NATReady|SecurityGroupsReady|EndpointsReady";
    let panels = vec![
        panel(
            "Clusters, by what they lack",
            View::Stack,
            Unit::Count,
            "FooClusters by condition and who has to act. Pools launch nothing before the network has been ready once.",
        )
        .read_on("FooClusterNotReady")
        .shows("{{condition}}: {{class}}", counted("FooCluster", PARTS)),
        panel(
            "Clusters, for the longest time",
            View::Lines,
            Unit::Seconds,
            "How long one condition of one FooCluster has not been True. A network with NAT gateways takes a few minutes; \
             more than an hour is a failure, and the condition names the resource.",
        )
        .bad_above(900.0, 3600.0)
        .read_on("FooClusterNotReady")
        .shows("{{condition}}: {{class}}", oldest("FooCluster", PARTS)),
        panel(
            "Changes of networks and EKS clusters",
            View::Lines,
            Unit::PerSecond,
            "Changes that the manager sends to EC2, EKS and IAM. Steady ones for hours mean that another tool changes the \
             same resources back.",
        )
        .shows(
            "{{action}}",
            format!("{} > 0", rate("action", "foo_aws_requests_total", &format!(r#"{N},service=~"ec2|eks|iam",action!~"Describe.*|List.*|Get.*""#))),
        ),
        panel(
            "Reconciles that fail",
            View::Lines,
            Unit::PerSecond,
            "Failed or cancelled reconciles of networks, control planes, user data and identities. The log has the error.",
        )
        .bad_above(0.05, 0.5)
        .read_on("FooPassesFail")
        .shows(
            "{{controller}}: {{result}}",
            rate("controller, result", "foo_reconciles_total", &format!(r#"{N},controller!="pool",result=~"failed|given_up""#)),
        ),
    ];
    Row { title: "Networks", panels }
}

fn others() -> Row {
    let panels = vec![
        panel(
            "User data that is not ready",
            View::Lines,
            Unit::Seconds,
            "How long a FooNodeConfig has had no user data for its spec. Existing Nodes are not affected, new ones cannot \
             be launched with the change.",
        )
        .bad_above(900.0, 3600.0)
        .read_on("FooNodeConfigNotReady")
        .shows("{{condition}}: {{class}}", oldest("FooNodeConfig", "Ready|DataSecretAvailable")),
        panel(
            "Identities without credentials",
            View::Lines,
            Unit::Seconds,
            "How long a FooClusterIdentity has given no credentials: its Secret is missing or its sources are invalid. The \
             clusters that use it are not reconciled.",
        )
        .bad_above(300.0, 600.0)
        .read_on("FooIdentityNotReady")
        .shows("{{condition}}: {{class}}", oldest("FooClusterIdentity", "Ready")),
    ];
    Row { title: "User data and identities", panels }
}

fn names() -> Row {
    // Those that are False while all is well.
    let not_true = |(prefix, apart): (&str, &str)| {
        format!(r#"{prefix}_status_condition{{{O},type!~"{apart}",status!="True"}} == 1"#)
    };
    let conditions = [
        ("foo_cluster", "Paused|Deleting"),
        ("foo_control_plane", "Paused|Deleting|Upgrading"),
        ("foo_node_config", "Paused|Deleting"),
    ];
    let conditions = conditions.map(not_true).join(" or ");
    let panels = vec![
        panel(
            "Kubernetes versions",
            View::Table,
            Unit::Plain,
            "From kube-state-metrics: the requested and the present version of each control plane. A difference that stays \
             is a blocked upgrade: read the condition Upgrading.",
        )
        .read_on("FooUpgradeStuck")
        .shows("", format!("sum by (namespace, name, requested, present) (foo_control_plane_info{{{O}}})")),
        panel(
            "Conditions that are not True",
            View::Table,
            Unit::Plain,
            "From kube-state-metrics: every part of a cluster, a control plane or a FooNodeConfig that is not as requested, \
             with the reason.",
        )
        .read_on("Conditions-of-each-object")
        .shows(
            "",
            format!("sum by (customresource_kind, namespace, name, type, status, reason) ({conditions})"),
        ),
        panel(
            "Size of user data",
            View::Lines,
            Unit::Bytes,
            "From kube-state-metrics: user data of each FooNodeConfig. EC2 accepts 16 KiB; store larger ones in S3 \
             (spec.userDataStorage).",
        )
        .bad_above(14_336.0, 16_384.0)
        .read_on("FooNodeConfigNotReady")
        .shows(
            "{{namespace}}/{{name}}",
            format!("max by (namespace, name) (foo_node_config_status_user_data_bytes{{{O}}})"),
        ),
        panel(
            "Age of control planes",
            View::Lines,
            Unit::Moment,
            "From kube-state-metrics: when each FooControlPlane was created. One that is younger than you remember was \
             created again.",
        )
        .read_on("Conditions-of-each-object")
        .shows(
            "{{namespace}}/{{name}}",
            format!("1000 * max by (namespace, name) (foo_control_plane_created{{{O}}})"),
        ),
    ];
    Row { title: "Names", panels }
}
