//! The planner's record in the FooCluster's status, and out of it again.

use crate::calls::record::{Clock, time, timestamp};
use foo_api::cluster::{NetworkIntent, NetworkResource, NetworkStatus};
use foo_model::SecurityGroupId;
use foo_network::recorded::{Deletion, Intent, Origin, RecordedPart};
use foo_network::report::{Resource, State};
use foo_network::{Recorded, Role};
use std::collections::{BTreeMap, BTreeSet};

/// What the API server takes in one message.
const LONGEST_MESSAGE: usize = 1024;
/// The state of a part whose deletion is about to be sent or was sent: after a crash it is expected to be deleted.
const DELETING: &str = "Deleting";
/// The state of a role that is no longer requested and has no part any more: only how often there was one is known.
const DELETED: &str = "Deleted";

/// The record in a status. What another version of the provider wrote into it and this one cannot read is left out:
/// tags and reads show the same.
pub(in crate::cluster) fn read(status: &NetworkStatus, clock: Clock) -> Recorded {
    let mut record = Recorded {
        tag_keys: status.tag_keys.iter().cloned().collect(),
        cluster_groups: status.cluster_security_groups.iter().map(SecurityGroupId::new).collect(),
        ..Recorded::default()
    };
    for resource in &status.resources {
        let Some(role) = Role::parse(&resource.role) else { continue };
        if let (Some(id), Some(since)) = (&resource.id, &resource.since) {
            let deletion = if resource.state == DELETING { Deletion::Sent } else { Deletion::NotSent };
            let part = RecordedPart {
                id: id.clone(),
                since: timestamp(clock, since),
                seen: resource.seen,
                deletion,
            };
            record.parts.insert(role.clone(), part);
        }
        if let Some(attempts) = u32::try_from(resource.attempts).ok().filter(|attempts| *attempts > 0) {
            record.attempts.insert(role.clone(), attempts);
        }
        if !resource.tag_keys.is_empty() {
            record.own_tag_keys.insert(role.clone(), resource.tag_keys.iter().cloned().collect());
        }
        if let Some(reached) = &resource.reached {
            record.reached.insert(role, reached.clone());
        }
    }
    for intent in &status.intents {
        let Some(role) = Role::parse(&intent.role) else { continue };
        let origin = if intent.assumed { Origin::Assumed } else { Origin::Decided };
        let attempt = u32::try_from(intent.attempt).unwrap_or_default();
        record.intents.insert(role, Intent { since: timestamp(clock, &intent.since), attempt, origin });
    }
    record
}

/// The resources that a status shows: all that is recorded or reported, by role. How often a role had a part is
/// recorded for longer than it is requested only if the next creation needs it.
pub(in crate::cluster) fn resources(
    record: &Recorded,
    reported: &[Resource],
    clock: Clock,
) -> Vec<NetworkResource> {
    let reported: BTreeMap<&Role, &Resource> = reported.iter().map(|it| (&it.role, it)).collect();
    let with_token = record.attempts.keys().filter(|role| has_token(role));
    let roles: BTreeSet<&Role> = reported
        .keys()
        .copied()
        .chain(record.parts.keys())
        .chain(with_token)
        .chain(record.reached.keys())
        .chain(record.own_tag_keys.keys())
        .collect();
    roles.into_iter().map(|role| resource(role, record, reported.get(role).copied(), clock)).collect()
}

/// Whether parts of the role are created with a token, which AWS knows again after the part was deleted.
fn has_token(role: &Role) -> bool {
    match role {
        Role::EgressOnlyGateway
        | Role::Nat(_)
        | Role::PublicRoutes
        | Role::PrivateRoutes(_)
        | Role::Endpoint(_) => true,
        Role::Vpc
        | Role::VpcIpv6
        | Role::Subnet(_)
        | Role::InternetGateway
        | Role::Address(_)
        | Role::SecurityGroup(_) => false,
    }
}

fn resource(role: &Role, record: &Recorded, reported: Option<&Resource>, clock: Clock) -> NetworkResource {
    let part = record.parts.get(role);
    let state: &'static str = match part.map(|part| part.deletion) {
        Some(Deletion::Sent) => DELETING,
        // A plan that is not carried out reports what it would have sent.
        Some(Deletion::NotSent) if reported.is_some_and(|it| it.state == State::Deleting) => "Pending",
        // The IPv6 range of the VPC is not reported by itself.
        Some(Deletion::NotSent) => reported.map_or(State::Ready, |it| it.state).into(),
        None => reported.map_or(DELETED, |it| it.state.into()),
    };
    let message = reported.map(|it| it.message.as_str()).filter(|message| !message.is_empty());
    NetworkResource {
        role: role.to_string(),
        id: part.map(|part| part.id.clone()).or_else(|| reported.and_then(|it| it.id.clone())),
        state: state.to_owned(),
        message: message.map(|message| message.chars().take(LONGEST_MESSAGE).collect()),
        since: part.map(|part| time(clock, part.since)),
        seen: part.is_some_and(|part| part.seen),
        attempts: record.attempts.get(role).map_or(0, |attempts| number(*attempts)),
        reached: record.reached.get(role).cloned(),
        tag_keys: record.own_tag_keys.get(role).into_iter().flatten().cloned().collect(),
    }
}

/// The intents that a status shows, by role.
pub(in crate::cluster) fn intents(record: &Recorded, clock: Clock) -> Vec<NetworkIntent> {
    let shown = record.intents.iter().map(|(role, intent)| NetworkIntent {
        role: role.to_string(),
        since: time(clock, intent.since),
        attempt: number(intent.attempt),
        assumed: intent.origin == Origin::Assumed,
    });
    shown.collect()
}

/// The cluster security groups of EKS that a status shows.
pub(in crate::cluster) fn cluster_groups(record: &Recorded) -> Vec<String> {
    record.cluster_groups.iter().map(ToString::to_string).collect()
}

fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::Timestamp;
    use foo_network::report::Owner;

    fn record() -> Recorded {
        let part = |id: &str, seen| RecordedPart {
            id: id.to_owned(),
            since: Timestamp(5_000),
            seen,
            deletion: Deletion::NotSent,
        };
        let nat = Role::Nat("eu-central-1a".into());
        Recorded {
            parts: [
                (Role::Vpc, part("vpc-1", true)),
                (Role::Subnet("private/z".into()), part("subnet-1", false)),
            ]
            .into(),
            intents: [
                (nat.clone(), Intent { since: Timestamp(7_000), attempt: 2, origin: Origin::Decided }),
                (
                    Role::InternetGateway,
                    Intent { since: Timestamp(8_000), attempt: 0, origin: Origin::Assumed },
                ),
            ]
            .into(),
            attempts: [(nat, 3)].into(),
            reached: [(Role::PublicRoutes, "abc".to_owned())].into(),
            tag_keys: ["team".to_owned()].into(),
            own_tag_keys: [(Role::Subnet("private/z".into()), ["karpenter.sh/discovery".to_owned()].into())]
                .into(),
            cluster_groups: [SecurityGroupId::new("sg-1")].into(),
        }
    }

    fn written(record: &Recorded, reported: &[Resource]) -> NetworkStatus {
        let status = NetworkStatus {
            resources: resources(record, reported, Clock::default()),
            intents: intents(record, Clock::default()),
            tag_keys: record.tag_keys.iter().cloned().collect(),
            cluster_security_groups: cluster_groups(record),
            ..NetworkStatus::default()
        };
        let text = serde_json::to_string(&status).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_record_is_read_as_it_was_written_whatever_the_status_contains() {
        let record = record();
        assert_eq!(read(&written(&record, &[]), Clock::default()), record);
        let reported = Resource {
            role: Role::Vpc,
            id: Some("vpc-1".to_owned()),
            state: State::Ready,
            owner: Owner::Network,
            zone: None,
            message: "x".repeat(5_000),
        };
        let status = written(&record, &[reported]);
        assert_eq!(read(&status, Clock::default()), record);
        let vpc: Vec<_> = status.resources.iter().filter(|it| it.role == "vpc").collect();
        assert_eq!(vpc.len(), 1, "each role once");
        assert_eq!(vpc[0].message.as_ref().unwrap().len(), LONGEST_MESSAGE);
    }

    /// Parts that wait for others to go first are not taken for deleted ones.
    #[test]
    fn a_sent_deletion_differs_from_a_waiting_one() {
        let mut record = record();
        record.parts.get_mut(&Role::Vpc).unwrap().deletion = Deletion::Sent;
        let status = written(&record, &[]);
        assert_eq!(read(&status, Clock::default()), record);
        let states: Vec<&str> = status.resources.iter().map(|it| it.state.as_str()).collect();
        assert_eq!(states.iter().filter(|state| **state == DELETING).count(), 1, "{states:?}");
        let deleting: &str = State::Deleting.into();
        assert_eq!(deleting, DELETING, "what the planner reports is what is read");
    }

    #[test]
    fn roles_that_are_no_longer_requested_stay_only_if_their_next_part_depends_on_it() {
        let endpoint = Role::Endpoint("s3".to_owned());
        let attempts = [(endpoint.clone(), 1), (Role::Address("eu-central-1a".into()), 2)];
        let record = Recorded { attempts: attempts.into(), ..Recorded::default() };
        let status = written(&record, &[]);
        let shown: Vec<_> = status.resources.iter().map(|it| (it.role.as_str(), it.state.as_str())).collect();
        assert_eq!(shown, [("endpoint/s3", "Deleted")]);
        assert_eq!(read(&status, Clock::default()).attempts, [(endpoint, 1)].into());
    }

    #[test]
    fn the_ipv6_range_of_the_vpc_is_recorded_although_no_status_has_it() {
        let mut record = record();
        let part = record.parts.get(&Role::Vpc).unwrap().clone();
        record.parts.insert(Role::VpcIpv6, part);
        let status = written(&record, &[]);
        let range = status.resources.iter().find(|it| it.role == "vpc/ipv6").unwrap();
        assert_eq!((range.state.as_str(), range.id.is_some()), ("Ready", true));
    }

    /// The user's VPC is shown, and is none of the parts that we reconcile.
    #[test]
    fn parts_of_the_user_are_reported_and_not_recorded() {
        let reported = Resource {
            role: Role::Vpc,
            id: Some("vpc-9".to_owned()),
            state: State::Ready,
            owner: Owner::User,
            zone: None,
            message: String::new(),
        };
        let status = written(&Recorded::default(), &[reported]);
        assert_eq!(status.resources[0].id.as_deref(), Some("vpc-9"));
        assert_eq!(read(&status, Clock::default()), Recorded::default());
    }

    #[test]
    fn a_moment_between_two_seconds_is_written_as_the_later_one() {
        let mut record = Recorded::default();
        let intent = Intent { since: Timestamp(7_001), attempt: 0, origin: Origin::Decided };
        record.intents.insert(Role::Vpc, intent);
        let read = read(&written(&record, &[]), Clock::default());
        assert_eq!(read.intents.get(&Role::Vpc).unwrap().since, Timestamp(8_000));
    }

    #[test]
    fn the_next_manager_reads_the_same_moment_whatever_its_clock_shows() {
        let (ahead, behind) = (Clock::ahead_by(1_800_000), Clock::ahead_by(-1_800_000));
        let written = time(ahead, Timestamp(1_700_001_800_000));
        assert_eq!(written.0.as_second(), 1_700_000_000);
        assert_eq!(timestamp(behind, &written), Timestamp(1_699_998_200_000));
        assert_eq!(time(behind, timestamp(behind, &written)), written, "nothing is written again");
    }
}
