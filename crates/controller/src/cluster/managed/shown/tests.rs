use super::super::desired::{Known, desired};
use super::*;
use foo_api::cluster::ManagedNetwork;
use foo_calls::Violation;
use foo_calls::report::Deletion;
use foo_model::network::{CidrAssociation, Parts, Tags, Vpc};
use foo_model::{AssociationId, Timestamp, VpcId};
use foo_network::desired::Connection;
use foo_network::{Memory, Recorded};

/// A network without a part in AWS, and without the permission to create one: nothing was read.
fn begun(being_deleted: bool) -> (Desired, Observed, Plan) {
    let (zones, seen) = (zones(), Parts::default());
    let known = Known {
        id: "uid-1",
        uid: "uid-1",
        begun_before: true,
        cluster: ("team-a", "prod"),
        kubernetes_cluster: None,
        connection: &Connection::Separate,
        region: "eu-central-1",
        installation: "here",
        adopt_from: None,
        account: None,
        zones: &zones,
        seen: &seen,
        status: None,
        vpc: None,
        vpc_subnets: None,
        being_deleted,
        paused: false,
    };
    let desired = desired(&ManagedNetwork::default(), &known).unwrap();
    let observed = Observed { now: Timestamp(1_000_000), ..Observed::default() };
    let plan = foo_network::plan(&desired, &observed, &Recorded::default(), &Memory::default());
    (desired, observed, plan)
}

fn zones() -> BTreeMap<Zone, ZoneInfo> {
    let zone = |letter: &str| {
        let name = Zone::new(format!("eu-central-1{letter}"));
        let info = ZoneInfo {
            name: name.clone(),
            id: letter.to_owned(),
            available: true,
            is_availability_zone: true,
        };
        (name, info)
    };
    ["a", "b", "c"].map(zone).into()
}

fn vpc(ranges: &[(&str, CidrState)]) -> Vpc {
    let association = |(range, state): &(&str, CidrState)| CidrAssociation {
        id: AssociationId::new(*range),
        range: range.parse().unwrap(),
        state: *state,
    };
    Vpc {
        id: VpcId::new("vpc-1"),
        owner: "123456789012".to_owned(),
        cidr: "10.0.0.0/16".parse().unwrap(),
        cidrs: ranges.iter().map(association).collect(),
        ipv6: Vec::new(),
        is_default: false,
        available: true,
        dns_support: None,
        dns_hostnames: None,
        tags: Tags::new(),
    }
}

/// The ranges that the status has of a network with this VPC, if it had these of that VPC before.
fn ranges_shown(read: Option<Vpc>, before: (&str, &[&str])) -> Vec<String> {
    let (desired, mut observed, mut plan) = begun(false);
    plan.report.vpc = Some(VpcId::new("vpc-1"));
    observed.tagged.parts.vpcs.extend(read.map(|vpc| (vpc.id.clone(), vpc)));
    let before = NetworkStatus {
        vpc_id: before.0.to_owned(),
        cidrs: before.1.iter().map(ToString::to_string).collect(),
        ..NetworkStatus::default()
    };
    let zones = zones();
    let view = View {
        desired: &desired,
        observed: &observed,
        plan: &plan,
        zones: &zones,
        before: Some(before),
        clock: Difference::default(),
    };
    shown(&view, None).network.cidrs
}

/// What is not among them can be taken out of the spec.
#[test]
fn ranges_are_those_that_the_vpc_has_or_will_get() {
    let vpc = vpc(&[
        ("10.1.0.0/16", CidrState::Associated),
        ("10.0.0.0/16", CidrState::Associated),
        ("10.2.0.0/16", CidrState::Associating),
        ("10.3.0.0/16", CidrState::Disassociating),
        ("10.4.0.0/16", CidrState::Failed),
        ("10.5.0.0/16", CidrState::Failing),
        ("10.6.0.0/16", CidrState::Disassociated),
    ]);
    let ranges = ranges_shown(Some(vpc), ("vpc-1", &["10.9.0.0/16"]));
    assert_eq!(ranges, ["10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16"]);
}

#[test]
fn ranges_stay_until_the_vpc_is_read_and_are_not_those_of_another_vpc() {
    assert_eq!(
        ranges_shown(None, ("vpc-1", &["10.0.0.0/16", "10.1.0.0/16"])),
        ["10.0.0.0/16", "10.1.0.0/16"]
    );
    assert!(ranges_shown(None, ("vpc-2", &["10.0.0.0/16"])).is_empty());
}

#[test]
fn a_refused_plan_is_in_every_condition_and_deletes_no_object() {
    for being_deleted in [false, true] {
        let (_, _, mut plan) = begun(being_deleted);
        if being_deleted {
            plan.report.deletion = Deletion::Done;
        }
        let violation = Violation("a rule".to_owned());
        let refused = plan.refused(&[violation], &Recorded::default(), &Memory::default());
        let condition = |kind| refused.report.conditions.iter().find(|it| it.kind == kind).unwrap();
        let ready = condition(ConditionKind::NetworkReady);
        assert_eq!((ready.status, ready.reason), (Status::False, Reason::InvalidPlan));
        assert!(ready.message.contains("a rule"), "{}", ready.message);
        let expected = if being_deleted {
            let blocked = deleting(&refused, None);
            assert_eq!((blocked.reason, &blocked.message), (Reason::InvalidPlan, &ready.message));
            (Status::True, Reason::InvalidPlan, Deletion::Pending)
        } else {
            (Status::False, Reason::NotDeleting, Deletion::NotAsked)
        };
        let deleting = condition(ConditionKind::Deleting);
        assert_eq!((deleting.status, deleting.reason, refused.report.deletion), expected);
    }
}
