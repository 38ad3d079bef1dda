//! When each alert fires, and when it does not.

use super::{RuleTest, Series, alerts, evaluated_every, run_promtool};
use std::collections::BTreeSet;

/// What a manager that leads always serves.
const LEADS: (&str, &str) = (r#"foo_leader{namespace="foo-system",lease="foo",pod="a"}"#, "1x2000");

/// Minutes of a case beyond which it is about hours and days.
const LONG: u32 = 250;

/// One series a minute, and the alert that fires at that minute.
struct Case {
    name: &'static str,
    series: Vec<(String, String)>,
    fires: Vec<(u32, Option<&'static str>)>,
}

/// The series of a case, with a leader.
fn case(name: &'static str, series: &[(&str, &str)]) -> Case {
    let mut case = alone(name, series);
    case.series.push((LEADS.0.to_owned(), LEADS.1.to_owned()));
    case
}

/// The series of a case, and no other.
fn alone(name: &'static str, series: &[(&str, &str)]) -> Case {
    let owned = |(series, values): &(&str, &str)| ((*series).to_owned(), (*values).to_owned());
    Case { name, series: series.iter().map(owned).collect(), fires: Vec::new() }
}

/// A condition that has had this status since the first minute.
fn ages(name: &'static str, labels: &str) -> Case {
    case(name, &[(&format!("foo_condition_oldest_seconds{{{labels}}}"), "0+60x2000")])
}

impl Case {
    fn at(mut self, minute: u32, alert: &'static str) -> Self {
        self.fires.push((minute, Some(alert)));
        self
    }

    fn quiet_at(mut self, minute: u32) -> Self {
        self.fires.push((minute, None));
        self
    }

    fn rule_test(&self) -> RuleTest {
        let fires = self.fires.iter();
        RuleTest {
            name: self.name.to_owned(),
            step: 60,
            series: self.series.iter().cloned().collect::<Series>(),
            fires: fires
                .map(|(at, alert)| (*at, alert.iter().map(|it| (*it).to_owned()).collect()))
                .collect(),
            within: None,
        }
    }
}

/// Counters whose first event fires.
const COUNTED: [(&str, &str); 4] = [
    (r#"foo_invariant_violations_total{invariant="I1"}"#, "FooInvariantViolated"),
    (r#"foo_reconciles_total{controller="eks",result="given_up"}"#, "FooPassesHang"),
    (r#"foo_task_restarts_total{task="observer"}"#, "FooTaskRestarts"),
    (r#"foo_undecodable_objects_total{kind="FooCluster"}"#, "FooUndecodable"),
];

fn first_events() -> Vec<Case> {
    COUNTED
        .iter()
        .flat_map(|(series, alert)| {
            [
                case("the first event", &[(series, "0x10 1x90")]).quiet_at(9).at(12, alert).quiet_at(80),
                case("before the first scrape", &[(series, "_x10 1x90")]).at(12, alert).quiet_at(80),
                case("a restart of the manager", &[(series, "5x70 0x30")]).quiet_at(68).quiet_at(80),
            ]
        })
        .collect()
}

fn leaders() -> Vec<Case> {
    let no = "FooNoLeader";
    let manager =
        |namespace: &str| format!(r#"foo_leader{{namespace="{namespace}",lease="{namespace}",pod="a"}}"#);
    let (planes, nodes) = (manager("foo-control-plane-system"), manager("foo-bootstrap-system"));
    vec![
        alone("no leader since the start", &[]).at(6, no),
        alone("no leader", &[(LEADS.0, "1x10 0x30")]).quiet_at(12).at(20, no),
        alone(
            "of three managers the one for pools is missing",
            &[(LEADS.0, "1x30 _x2000"), (&planes, "1x2000"), (&nodes, "1x2000")],
        )
        .quiet_at(32)
        .at(45, no)
        .at(1500, no),
        case(
            "of three managers one cannot win its Lease",
            &[(LEADS.0, "1x2000"), (&planes, "1x30 0x60"), (&nodes, "1x2000")],
        )
        .quiet_at(32)
        .at(40, no),
        case("of three managers one never wins its Lease", &[(&planes, "0x60"), (&nodes, "1x60")])
            .quiet_at(3)
            .at(10, no),
        alone(
            "a Lease is lost for more than three days",
            &[(LEADS.0, "1x6000"), (&planes, "1x30 0x6000"), (&nodes, "1x6000")],
        )
        .at(40, no)
        .at(5000, no),
        alone(
            "another replica takes over",
            &[(LEADS.0, "1x10 0x60"), (&LEADS.0.replace(r#""a""#, r#""b""#), "0x10 1x60")],
        )
        .quiet_at(12)
        .quiet_at(40),
        alone("the manager is replaced", &[(LEADS.0, "1x10 _x3 0x1 1x60")]).quiet_at(12).quiet_at(20),
    ]
}

fn aws() -> Vec<Case> {
    let refused = r#"foo_aws_requests_total{service="ec2",action="DescribeInstances",code="AccessDenied"}"#;
    let throttled = r#"foo_aws_requests_total{service="ec2",action="DescribeInstances",code="Throttled"}"#;
    vec![
        case("AWS refuses for long", &[(refused, "0x10 0+1x60")]).quiet_at(20).at(40, "FooAwsRefused"),
        case("a new role takes a minute to work", &[(refused, "0x10 3x100")]).quiet_at(25).quiet_at(40),
        case("AWS throttles for long", &[(throttled, "0+60x120")]).quiet_at(20).at(60, "FooAwsThrottled"),
        case("AWS throttles for a moment", &[(throttled, "0x10 120x100")]).quiet_at(30).quiet_at(60),
        case("groups have no pool", &[("foo_groups_unmanaged", "0x10 2x60")])
            .quiet_at(20)
            .at(30, "FooGroupsUnmanaged"),
        case("groups are not described", &[("foo_groups_unseen", "0x10 2x60")])
            .quiet_at(12)
            .at(20, "FooGroupsUnseen"),
        case("observations grow old", &[("foo_observations_oldest_seconds", "0+60x60")])
            .quiet_at(5)
            .at(20, "FooObservationsOld"),
    ]
}

fn pools() -> Vec<Case> {
    let ready = |class| format!(r#"kind="FooMachinePool",condition="Ready",status="False",class="{class}""#);
    let rolls =
        |class| format!(r#"kind="FooMachinePool",condition="RollingOut",status="True",class="{class}""#);
    vec![
        ages("a pool needs a user", &ready("needs_user")).quiet_at(20).at(40, "FooPoolNotReady"),
        ages("a pool is busy for a day", &ready("waiting")).quiet_at(1400).at(1500, "FooPoolNotReady"),
        case(
            "pools are busy one after the other",
            &[
                (&format!("foo_conditions{{{}}}", ready("waiting")), "3x2000"),
                (&format!("foo_condition_oldest_seconds{{{}}}", ready("waiting")), "20 400 700 30 60x1900"),
            ],
        )
        .quiet_at(200)
        .quiet_at(1000),
        ages("a roll-out of a large pool takes a day", &rolls("waiting")).quiet_at(1400),
        ages("a roll-out has halted", &rolls("needs_user")).quiet_at(60).at(90, "FooRolloutStuck"),
        ages(
            "unhealthy Machines stay",
            r#"kind="FooMachinePool",condition="Remediating",status="True",class="needs_user""#,
        )
        .quiet_at(20)
        .at(40, "FooRemediationStuck"),
        ages(
            "AWS has no capacity",
            r#"kind="FooMachinePool",condition="CapacityAvailable",status="False",class="needs_user""#,
        )
        .quiet_at(20)
        .at(40, "FooNoCapacity"),
        ages(
            "annotations of the autoscaler are wrong",
            r#"kind="FooMachinePool",condition="AutoscalerReady",status="False",class="needs_user""#,
        )
        .quiet_at(5)
        .at(15, "FooAutoscalerAnnotations"),
        case("a drain does not end", &[(r#"foo_deletion_oldest_seconds{kind="Machine"}"#, "0+60x500")])
            .quiet_at(300)
            .at(400, "FooDeletionStuck"),
        case(
            "an instance is not terminated",
            &[(r#"foo_deletion_oldest_seconds{kind="FooMachine"}"#, "0+60x500")],
        )
        .quiet_at(300)
        .at(400, "FooDeletionStuck"),
    ]
}

fn clusters() -> Vec<Case> {
    let of = |kind: &str, condition: &str, status: &str, class: &str| {
        format!(r#"kind="{kind}",condition="{condition}",status="{status}",class="{class}""#)
    };
    let plane = |condition, status, class| of("FooControlPlane", condition, status, class);
    let count = |labels: &str| format!("foo_conditions{{{labels}}}");
    vec![
        ages("a network needs a user", &of("FooCluster", "NetworkReady", "False", "needs_user"))
            .quiet_at(20)
            .at(40, "FooClusterNotReady"),
        ages("a network is being created", &of("FooCluster", "NetworkReady", "False", "waiting"))
            .quiet_at(45)
            .at(90, "FooClusterNotReady"),
        ages("an API server does not respond", &plane("Available", "False", "needs_user"))
            .quiet_at(20)
            .at(40, "FooControlPlaneNotReady"),
        ages("an EKS cluster is being created", &plane("ClusterReady", "False", "waiting"))
            .quiet_at(45)
            .at(90, "FooControlPlaneNotReady"),
        ages("an add-on fails", &plane("AddonsReady", "False", "needs_user"))
            .quiet_at(20)
            .at(40, "FooControlPlanePartNotReady"),
        ages("access is not known", &plane("AccessReady", "Unknown", "waiting"))
            .quiet_at(45)
            .at(90, "FooControlPlanePartNotReady"),
        ages("add-ons of a cluster without Nodes", &plane("AddonsReady", "False", "waiting")).quiet_at(1000),
        ages("an upgrade takes long", &plane("Upgrading", "True", "waiting"))
            .quiet_at(150)
            .at(220, "FooUpgradeStuck"),
        case("an upgrade is blocked", &[(&count(&plane("Upgrading", "False", "needs_user")), "_x10 1x100")])
            .quiet_at(30)
            .at(50, "FooUpgradeStuck"),
        ages("a kubeconfig has expired", &plane("KubeconfigReady", "False", "needs_user"))
            .quiet_at(8)
            .at(15, "FooKubeconfigInvalid"),
        case(
            "a kubeconfig expires soon",
            &[(&count(&plane("KubeconfigReady", "True", "needs_user")), "1x100")],
        )
        .quiet_at(40)
        .at(90, "FooKubeconfigExpiresSoon"),
        case("a kubeconfig is valid", &[(&count(&plane("KubeconfigReady", "True", "good")), "1x100")])
            .quiet_at(90),
        ages("user data cannot be rendered", &of("FooNodeConfig", "Ready", "False", "needs_user"))
            .quiet_at(20)
            .at(40, "FooNodeConfigNotReady"),
        ages("an identity's Secret is deleted", &of("FooClusterIdentity", "Ready", "False", "needs_user"))
            .quiet_at(10)
            .at(20, "FooIdentityNotReady"),
        case(
            "a FooCluster is not deleted",
            &[(r#"foo_deletion_oldest_seconds{kind="FooCluster"}"#, "0+60x500")],
        )
        .quiet_at(300)
        .at(400, "FooDeletionStuck"),
    ]
}

fn manager() -> Vec<Case> {
    let waits = r#"foo_kube_wait_seconds_bucket{client="work",le="#;
    vec![
        case(
            "one object of a thousand fails",
            &[(r#"foo_reconcile_failing_oldest_seconds{controller="eks"}"#, "0+60x100")],
        )
        .quiet_at(25)
        .at(40, "FooPassesFail"),
        case("a reconcile hangs", &[(r#"foo_reconcile_longest_seconds{controller="pool"}"#, "0+60x30")])
            .quiet_at(4)
            .at(10, "FooPassesHang"),
        case("a clock is behind", &[(r#"foo_clock_difference_seconds{clock="kubernetes"}"#, "0x10 -90x30")])
            .quiet_at(11)
            .at(15, "FooClocksDiffer"),
        case("AWS's clock is behind", &[(r#"foo_clock_difference_seconds{clock="aws"}"#, "0x10 90x30")])
            .quiet_at(11)
            .at(15, "FooClocksDiffer"),
        case("a watch is stalled", &[(r#"foo_watch_silence_seconds{kind="Machine"}"#, "0+60x30")])
            .quiet_at(8)
            .at(12, "FooWatchSilent"),
        case("a watch stalls once", &[(r#"foo_watch_stalls_total{kind="Machine"}"#, "0x10 1x90")])
            .quiet_at(30),
        case(
            "watches stall again and again",
            &[(r#"foo_watch_stalls_total{kind="Machine"}"#, "0x10 1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x4")],
        )
        .quiet_at(12)
        .at(40, "FooWatchStalls"),
        case("objects wait", &[(r#"foo_reconcile_queue_oldest_seconds{controller="pool"}"#, "0+60x30")])
            .quiet_at(5)
            .at(15, "FooPassesWait"),
        case("a task hangs", &[(r#"foo_task_overdue_seconds{task="election"}"#, "0+30x30")])
            .quiet_at(1)
            .at(5, "FooTaskStandsStill"),
        case(
            "the API server's limit is too low",
            &[
                (&format!(r#"{waits}"1.024"}}"#), "0x100"),
                (&format!(r#"{waits}"4.096"}}"#), "0+10x100"),
                (&format!(r#"{waits}"+Inf"}}"#), "0+10x100"),
            ],
        )
        .quiet_at(20)
        .at(60, "FooKubeLimit"),
        case(
            "some events are lost",
            &[(r#"foo_events_total{severity="normal",outcome="lost"}"#, "0x10 5x90")],
        )
        .quiet_at(30),
        case("events are lost", &[(r#"foo_events_total{severity="normal",outcome="lost"}"#, "0x10 20x90")])
            .at(30, "FooEventsLost"),
    ]
}

/// The histogram of an objective, with this bound: how many were fast, and how many there were.
fn measured(
    name: &'static str,
    histogram: &str,
    bound: &str,
    (fast, all): (&'static str, &'static str),
) -> Case {
    let labels = if histogram.starts_with("foo_rollout") { r#"outcome="finished","# } else { "" };
    let bucket = |le: &str| format!(r#"{histogram}_bucket{{namespace="foo-system",{labels}le="{le}"}}"#);
    case(name, &[(&bucket(bound), fast), (&bucket("+Inf"), all)])
}

/// Objectives: the histogram, its bound, and the alert on the budget.
const OBJECTIVES: [(&str, &str, &str); 4] = [
    ("foo_launch_seconds", "600.0", "FooLaunchesSlow"),
    ("foo_drain_seconds", "1800.0", "FooDrainsSlow"),
    ("foo_rollout_instance_seconds", "2400.0", "FooRolloutsSlow"),
    ("foo_observation_age_seconds", "256.0", "FooObservationsLate"),
];

fn objectives() -> Vec<Case> {
    OBJECTIVES
        .iter()
        .flat_map(|(histogram, bound, alert)| {
            let of = |name, counts| measured(name, histogram, bound, counts);
            [
                of("all are slow, until they are fast again", ("0x70 0+1x400", "0x10 0+1x460"))
                    .quiet_at(10)
                    .at(20, alert)
                    .at(65, alert)
                    .quiet_at(150),
                of("all were slow, and then there were none", ("0x500", "0x10 0+1x60 60x400"))
                    .at(65, alert)
                    .quiet_at(120),
                of("four of ten are slow, for hours", ("0+6x500", "0+10x500")).at(100, alert),
                of("a few in a thousand are slow", ("0+996x500", "0+1000x500")).quiet_at(60).quiet_at(100),
                of("one of one is slow", ("0x500", "0x10 1x490")).quiet_at(12).quiet_at(60).quiet_at(100),
                of("nothing was measured", ("0x500", "0x500")).quiet_at(60),
            ]
        })
        .collect()
}

#[test]
fn each_alert_fires_when_it_should_and_not_before() {
    let cases: Vec<Case> = [first_events(), leaders(), aws(), pools(), clusters(), manager(), objectives()]
        .into_iter()
        .flatten()
        .collect();
    let fire = cases.iter().flat_map(|case| &case.fires).filter_map(|(_, alert)| *alert);
    let fire: BTreeSet<String> = fire.map(str::to_owned).collect();
    assert_eq!(fire, alerts(), "each alert has a case");
    // promtool evaluates every rule until the last moment of a case: cases about days have their rules evaluated less often.
    let is_long = |case: &&Case| case.fires.iter().any(|(minute, _)| *minute > LONG);
    let (long, short): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(is_long);
    let tests = |cases: &[&Case]| cases.iter().map(|case| case.rule_test()).collect::<Vec<_>>();
    run_promtool(&tests(&short));
    evaluated_every(300, &tests(&long));
}
