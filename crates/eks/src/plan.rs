//! The order of the queries.

use crate::draft::{Draft, Weight};
use crate::recorded::UpdateKind;
use crate::report::Report;
use crate::situation::{Situation, situation};
use crate::steps::addon::Updates;
use crate::steps::begin::{self, Standing};
use crate::steps::{
    addons, config, create, delete, entries, identities, identity_provider, oidc, reads, tags, updates,
    version, wait,
};
use crate::summary;
use crate::{Desired, Memory, Observed, Plan, Recorded};
use foo_calls::report::Deletion;
use foo_model::eks::Cluster;

/// Decides what to do next about one cluster.
///
/// Total and deterministic: the same values give the same plan, and every combination of values gives one.
pub fn plan(desired: &Desired, observed: &Observed, recorded: &Recorded, memory: &Memory) -> Plan {
    let situation = situation(desired, observed, recorded, memory);
    let mut draft = Draft::new(&situation);
    let deletion = decide(&situation, &mut draft);
    finish(&situation, draft, deletion)
}

fn decide(situation: &Situation<'_>, draft: &mut Draft) -> Deletion {
    let desired = situation.desired;
    if desired.paused {
        return if desired.being_deleted { Deletion::Pending } else { Deletion::NotAsked };
    }
    if desired.being_deleted {
        return delete::delete(situation, draft);
    }
    match begin::standing(situation, draft) {
        Standing::Unknown | Standing::Elsewhere | Standing::NotOurs => {}
        Standing::Absent => create::create(situation, draft),
        Standing::Ours(cluster) => {
            if wait::is_active(situation, draft, cluster) {
                configure(situation, draft, cluster);
            }
        }
    }
    Deletion::NotAsked
}

fn configure(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let was_upgrading = draft.record.update.as_ref().is_some_and(|it| it.kind == UpdateKind::Version);
    let is_free = updates::is_free(situation, draft, cluster);
    let entries = entries::ensure(situation, draft, cluster);
    identities::ensure(situation, draft);
    oidc::ensure(situation, draft, cluster);
    tags::ensure(situation, draft, cluster);
    let provider = identity_provider::due(situation, draft);
    let configures = is_free
        && (config::ensure(situation, draft, cluster, entries)
            || provider.is_some_and(|due| identity_provider::ensure(situation, draft, due)));
    addons::ensure(situation, draft, cluster, if is_free { Updates::Allowed } else { Updates::AfterUpgrade });
    if is_free && !configures {
        version::ensure(situation, draft, cluster);
    }
    if was_upgrading && draft.upgrading.is_none() {
        draft.upgrading = Some(format!("from {} to {}", cluster.version, cluster.version.next()));
    }
}

fn finish(situation: &Situation<'_>, mut draft: Draft, deletion: Deletion) -> Plan {
    let paused = situation.desired.paused;
    let reads =
        if paused || deletion == Deletion::Done { Vec::new() } else { reads::reads(situation, &mut draft) };
    let is_idle = draft.actions.is_empty() && !draft.unsettled && deletion == Deletion::NotAsked;
    let report = Report {
        conditions: summary::conditions(situation, &draft, deletion),
        cluster: summary::cluster(situation),
        addons: summary::addons(situation),
        upgrading: draft.upgrading.is_some(),
        reads,
        again_at: draft.next_timer(situation.now),
        settled: is_idle && !draft.awaits_window,
        awaits_window: draft.awaits_window && deletion == Deletion::NotAsked && !is_under_way(&draft),
        deletion,
    };
    draft.memory.calls.record = Some(draft.record.clone());
    Plan { actions: draft.actions, report, record: draft.record, memory: draft.memory }
}

/// Whether anything is sent, or waited for besides a window. What has failed is not under way.
fn is_under_way(draft: &Draft) -> bool {
    let is_pending = draft.notes.iter().any(|note| note.weight == Weight::Pending);
    is_pending || !draft.actions.is_empty() || !draft.waits.is_empty()
}
