//! The planner's record in the FooControlPlane's status, and out of it again.

use crate::calls::record::{Clock, time, timestamp};
use foo_api::FooControlPlaneStatus;
use foo_api::control_plane::{
    CountOfUpdates, EksRecord, EksStatus, EntryRole, FailedInEks, ResolvedAddon, Rollback, UpdateUnderWay,
};
use foo_eks::Recorded;
use foo_eks::recorded::{RecordedFailure, RecordedRollback, RecordedUpdate, UpdateKind};
use foo_model::eks::Minor;

/// The longest message in it: EKS's words can be long, and the API server limits whole objects.
const LONGEST_MESSAGE: usize = 1024;

/// The record in a status. What another version of the provider wrote into it and this one cannot read is left out:
/// tags and reads show the same.
pub(super) fn read(status: &FooControlPlaneStatus, clock: Clock) -> Recorded {
    let initialized =
        status.initialization.as_ref().and_then(|it| it.control_plane_initialized).unwrap_or_default();
    let eks = status.eks.as_ref();
    let record = eks.and_then(|eks| eks.record.clone()).unwrap_or_default();
    Recorded {
        arn: eks.and_then(|eks| eks.arn.clone()),
        creating_since: record.creating_since.as_ref().map(|since| timestamp(clock, since)),
        attempts: count(record.attempts.unwrap_or_default()),
        active_once: record.active_once,
        adopted: record.adopted,
        updates: record.updates.iter().filter_map(updates).collect(),
        update: record.update.and_then(|it| update(it, clock)),
        failed: record.failed.into_iter().map(|it| failure(it, clock)).collect(),
        rollback: record.rollback.map(|it| RecordedRollback {
            update: it.update,
            refused: it.refused_version.as_deref().and_then(Minor::of),
        }),
        deleting: record.deleting,
        addon_versions: record.addon_versions.into_iter().filter_map(addon_version).collect(),
        preserved_addons: record.preserved_addons.into_iter().collect(),
        addon_roles: record.addon_roles.into_iter().collect(),
        entry_roles: record.entry_roles.into_iter().map(|it| (it.principal_arn, it.unique_id)).collect(),
        oidc_provider: record.oidc_provider_arn,
        identity_provider: record.identity_provider,
        tag_keys: record.tag_keys.into_iter().collect(),
        initialized,
    }
}

fn updates(it: &CountOfUpdates) -> Option<(UpdateKind, u32)> {
    Some((it.kind.parse().ok()?, count(it.count)))
}

fn update(it: UpdateUnderWay, clock: Clock) -> Option<RecordedUpdate> {
    let kind = it.kind.parse().ok()?;
    Some(RecordedUpdate { kind, content: it.content, id: it.id, since: timestamp(clock, &it.since) })
}

fn addon_version(it: ResolvedAddon) -> Option<(String, (Minor, String))> {
    Some((it.name, (Minor::of(&it.kubernetes_version)?, it.version)))
}

fn failure(it: FailedInEks, clock: Clock) -> (String, RecordedFailure) {
    let at = timestamp(clock, &it.at);
    (it.kind, RecordedFailure { content: it.content, message: it.message, times: count(it.times), at })
}

/// Puts the record into a status. Whether the API server was reachable once is elsewhere in it.
pub(super) fn write(record: &Recorded, status: &mut EksStatus, clock: Clock) {
    status.arn.clone_from(&record.arn);
    let written = EksRecord {
        creating_since: record.creating_since.map(|since| time(clock, since)),
        attempts: Some(i64::from(record.attempts)).filter(|attempts| *attempts > 0),
        active_once: record.active_once,
        adopted: record.adopted,
        updates: record.updates.iter().map(counted).collect(),
        update: record.update.as_ref().map(|it| UpdateUnderWay {
            kind: it.kind.to_string(),
            content: it.content.clone(),
            id: it.id.clone(),
            since: time(clock, it.since),
        }),
        failed: record.failed.iter().map(|it| failed(it, clock)).collect(),
        rollback: record.rollback.as_ref().map(|it| Rollback {
            update: it.update.clone(),
            refused_version: it.refused.map(|minor| minor.to_string()),
        }),
        oidc_provider_arn: record.oidc_provider.clone(),
        identity_provider: record.identity_provider.clone(),
        deleting: record.deleting,
        addon_versions: record.addon_versions.iter().map(resolved).collect(),
        preserved_addons: record.preserved_addons.iter().cloned().collect(),
        addon_roles: record.addon_roles.iter().cloned().collect(),
        entry_roles: record.entry_roles.iter().map(entry_role).collect(),
        tag_keys: record.tag_keys.iter().cloned().collect(),
    };
    status.record = (written != EksRecord::default()).then_some(written);
}

fn counted((kind, count): (&UpdateKind, &u32)) -> CountOfUpdates {
    CountOfUpdates { kind: kind.to_string(), count: i64::from(*count) }
}

fn failed((kind, it): (&String, &RecordedFailure), clock: Clock) -> FailedInEks {
    FailedInEks {
        kind: kind.clone(),
        content: it.content.clone(),
        message: it.message.chars().take(LONGEST_MESSAGE).collect(),
        times: i64::from(it.times),
        at: time(clock, it.at),
    }
}

fn resolved((name, (kubernetes, version)): (&String, &(Minor, String))) -> ResolvedAddon {
    ResolvedAddon { name: name.clone(), kubernetes_version: kubernetes.to_string(), version: version.clone() }
}

fn entry_role((principal, unique_id): (&String, &String)) -> EntryRole {
    EntryRole { principal_arn: principal.clone(), unique_id: unique_id.clone() }
}

fn count(number: i64) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::control_plane::ControlPlaneInitialization;
    use foo_model::Timestamp;

    fn record() -> Recorded {
        Recorded {
            arn: Some("arn:aws:eks:eu-central-1:123456789012:cluster/default_c".to_owned()),
            creating_since: Some(Timestamp(5_000)),
            attempts: 2,
            active_once: true,
            adopted: true,
            updates: [(UpdateKind::Version, 3), (UpdateKind::SecurityGroups, 1)].into(),
            update: Some(RecordedUpdate {
                kind: UpdateKind::Version,
                content: "1.35".to_owned(),
                id: Some("u-1".to_owned()),
                since: Timestamp(7_000),
            }),
            failed: [(
                "logging".to_owned(),
                RecordedFailure {
                    content: "abc".to_owned(),
                    message: "it failed".to_owned(),
                    times: 4,
                    at: Timestamp(9_000),
                },
            )]
            .into(),
            rollback: Some(RecordedRollback { update: "u-0".to_owned(), refused: Some(Minor(35)) }),
            deleting: true,
            addon_versions: [("vpc-cni".to_owned(), (Minor(34), "v1.2.3-eksbuild.1".to_owned()))].into(),
            preserved_addons: ["vpc-cni".to_owned()].into(),
            addon_roles: ["coredns".to_owned()].into(),
            entry_roles: [("arn:aws:iam::123456789012:role/n".to_owned(), "AROA1".to_owned())].into(),
            oidc_provider: Some("arn:aws:iam::123456789012:oidc-provider/x".to_owned()),
            identity_provider: Some("people".to_owned()),
            tag_keys: ["team".to_owned()].into(),
            initialized: true,
        }
    }

    fn read_again(record: &Recorded) -> Recorded {
        let mut eks = EksStatus::default();
        write(record, &mut eks, Clock::default());
        let initialization =
            ControlPlaneInitialization { control_plane_initialized: Some(record.initialized) };
        let status = FooControlPlaneStatus {
            initialization: Some(initialization),
            eks: Some(eks),
            ..FooControlPlaneStatus::default()
        };
        let text = serde_json::to_string(&status).unwrap();
        read(&serde_json::from_str(&text).unwrap(), Clock::default())
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        assert_eq!(read_again(&record()), record());
        assert_eq!(read_again(&Recorded::default()), Recorded::default());
    }

    #[test]
    fn a_moment_between_two_seconds_is_written_as_the_later_one() {
        let record = Recorded { creating_since: Some(Timestamp(7_001)), ..Recorded::default() };
        assert_eq!(read_again(&record).creating_since, Some(Timestamp(8_000)));
    }

    #[test]
    fn an_empty_record_is_not_written() {
        let mut eks = EksStatus::default();
        write(&Recorded::default(), &mut eks, Clock::default());
        assert_eq!(eks, EksStatus::default());
    }
}
