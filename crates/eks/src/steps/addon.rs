//! One requested add-on.

use crate::desired::DesiredAddon;
use crate::draft::{Draft, Weight};
use crate::hash;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::releases;
use crate::steps::wait::in_words;
use crate::steps::windows::{self, Target};
use crate::tags;
use foo_model::Reason;
use foo_model::eks::{
    Addon, AddonChange, AddonSettings, AddonStatus, Change, Cluster, NewAddon, Query, QueryResult,
    ResolveConflicts,
};

/// Whether add-ons may be updated: not while the version of the control plane changes, which they follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Updates {
    Allowed,
    AfterUpgrade,
}

const KIND: ConditionKind = ConditionKind::AddonsReady;

/// Whether anything is left to do for an add-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Settled,
    Changing,
}

/// The query about an add-on.
pub(crate) fn query(situation: &Situation<'_>, name: &str) -> Query {
    Query::Addon { cluster: situation.desired.name.clone(), name: name.to_owned() }
}

pub(crate) fn ensure(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    name: &str,
    wanted: &DesiredAddon,
    updates: Updates,
) -> State {
    let asked = query(situation, name);
    let Some(QueryResult::Addon(shown)) = draft.read(situation, KIND, &asked) else { return State::Changing };
    match (shown.as_deref(), &wanted.awaits) {
        (Some(shown), _) if shown.status.is_moving() => moving(draft, &asked, shown),
        (Some(shown), _) if shown.status == AddonStatus::CreateFailed => failed(situation, draft, shown),
        (Some(shown), Some(awaited)) => {
            say_health(draft, &asked, shown);
            say_awaits(draft, name, awaited);
            // It works as it is: nothing else waits for it.
            State::Settled
        }
        (None, Some(awaited)) => {
            say_awaits(draft, name, awaited);
            State::Changing
        }
        (Some(shown), None) => keep(situation, draft, cluster, shown, wanted, updates),
        (None, None) => create(situation, draft, cluster, name, wanted),
    }
}

/// What it is to be is not known yet: it is neither created nor updated.
fn say_awaits(draft: &mut Draft, name: &str, awaited: &str) {
    draft.note(KIND, Weight::Pending, Reason::WaitingForSubnets, format!("{name} waits for {awaited}"));
}

/// A change of an add-on.
pub(crate) fn change(situation: &Situation<'_>, name: &str, change: AddonChange) -> Change {
    Change::Addon { cluster: situation.desired.name.clone(), name: name.to_owned(), change }
}

fn key(name: &str) -> String {
    format!("addon/{name}")
}

fn create(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    name: &str,
    wanted: &DesiredAddon,
) -> State {
    if draft.is_to_wait(situation, KIND, Reason::AddonFailed, &key(name), "creation") {
        return State::Changing;
    }
    let Some(version) = releases::version(situation, draft, cluster, name, wanted, None) else {
        return State::Changing;
    };
    if !releases::fits_schema(situation, draft, name, &version, wanted) {
        return State::Changing;
    }
    // EKS keeps what is there only in updates.
    let conflicts = match wanted.conflicts {
        ResolveConflicts::Preserve | ResolveConflicts::Overwrite => ResolveConflicts::Overwrite,
        ResolveConflicts::None => ResolveConflicts::None,
    };
    let new = NewAddon { conflicts, ..new_addon(version, wanted.settings.clone(), wanted) };
    draft.note(KIND, Weight::Pending, Reason::ChangingAddons, format!("{name} is being created"));
    let change = change(situation, name, AddonChange::Create(new, tags::all(situation.desired)));
    draft.send(situation, KIND, &change, format!("{name} does not exist"));
    State::Changing
}

fn new_addon(version: String, settings: AddonSettings, wanted: &DesiredAddon) -> NewAddon {
    let DesiredAddon { version: _, settings: _, pod_identities, conflicts, preserve: _, awaits: _ } = wanted;
    let pod_identities = pod_identities.clone();
    NewAddon { version: Some(version), settings, pod_identities, conflicts: *conflicts }
}

/// EKS is at work on it. An add-on that only lacks nodes is not waited for.
fn moving(draft: &mut Draft, asked: &Query, shown: &Addon) -> State {
    if waits_for_nodes(shown) {
        say_waits_for_nodes(draft, asked, shown);
        return State::Changing;
    }
    let status: &str = shown.status.into();
    let message = format!("{} is {status}", shown.name);
    if shown.status == AddonStatus::Deleting
        && let Some(failed) = draft.record.failed.get(&key(&shown.name)).map(|it| it.message.clone())
    {
        draft.note(KIND, Weight::Failed, Reason::AddonFailed, failed);
    }
    draft.note(KIND, Weight::Pending, Reason::ChangingAddons, message);
    draft.wait(asked);
    State::Changing
}

/// Whether all that an add-on lacks is nodes: EKS may show it CREATING for as long as there are none.
pub(crate) fn waits_for_nodes(shown: &Addon) -> bool {
    let only = |code: &str| code == "InsufficientNumberOfReplicas";
    !shown.issues.is_empty() && shown.issues.iter().all(|issue| only(&issue.code))
}

fn say_waits_for_nodes(draft: &mut Draft, asked: &Query, shown: &Addon) {
    draft.awaited.insert(asked.clone());
    let message = format!("{} has fewer replicas than it needs", shown.name);
    draft.note(KIND, Weight::Idle, Reason::AddonWaitsForNodes, message);
}

/// It could not be created: EKS accepts no update of it, so it is deleted and created again. What it met in the cluster stays: it is
/// another owner's.
fn failed(situation: &Situation<'_>, draft: &mut Draft, shown: &Addon) -> State {
    let message = format!("{} could not be created: {}", shown.name, in_words(&shown.issues));
    draft.note(KIND, Weight::Failed, Reason::AddonFailed, message.clone());
    if !tags::are_own(situation.desired, &shown.tags) {
        return State::Changing;
    }
    let preserve = shown.issues.iter().any(|issue| issue.code == "ConfigurationConflict");
    let change = change(situation, &shown.name, AddonChange::Delete { preserve });
    if draft.send(situation, KIND, &change, format!("the creation of {} failed", shown.name)) {
        draft.fails(situation.now, &key(&shown.name), "creation", message);
    }
    State::Changing
}

/// It exists: it is updated if it differs.
fn keep(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    shown: &Addon,
    wanted: &DesiredAddon,
    updates: Updates,
) -> State {
    let asked = query(situation, &shown.name);
    say_health(draft, &asked, shown);
    if shown.settings.service_account_role.is_none() && wanted.settings.service_account_role.is_none() {
        let is_it = |name: &String| *name == shown.name;
        draft.forget(situation, &asked, |record| &mut record.addon_roles, is_it);
    }
    let Some(target) = windows::target(situation, draft, cluster, shown, wanted) else {
        return State::Changing;
    };
    let Some(differs) = differences(situation, draft, shown, wanted, target.version()) else {
        return State::Changing;
    };
    let failed = matches!(shown.status, AddonStatus::UpdateFailed | AddonStatus::DeleteFailed);
    if differs.is_empty() && !failed {
        draft.record.failed.remove(&key(&shown.name));
        return State::Settled;
    }
    // The update that failed is tried again in a window. An update to the present version would revert it, and hide the failure.
    if differs.is_empty() && shown.status == AddonStatus::UpdateFailed && matches!(target, Target::Held(_)) {
        return State::Settled;
    }
    if updates == Updates::AfterUpgrade {
        let message = format!("{} is updated later: {}", shown.name, differs.join(", "));
        draft.note(KIND, Weight::Pending, Reason::ChangingAddons, message);
        return State::Changing;
    }
    update(situation, draft, shown, wanted, target.version().to_owned(), &differs);
    State::Changing
}

fn say_health(draft: &mut Draft, asked: &Query, shown: &Addon) {
    if waits_for_nodes(shown) {
        return say_waits_for_nodes(draft, asked, shown);
    }
    let failed = matches!(shown.status, AddonStatus::UpdateFailed | AddonStatus::DeleteFailed);
    if failed || shown.status == AddonStatus::Degraded {
        let status: &str = shown.status.into();
        let message = format!("{} is {status}: {}", shown.name, in_words(&shown.issues));
        let reason = if failed { Reason::AddonFailed } else { Reason::AddonDegraded };
        let weight = if failed { Weight::Failed } else { Weight::Idle };
        draft.awaited.insert(asked.clone());
        draft.note(KIND, weight, reason, message);
    }
}

fn update(
    situation: &Situation<'_>,
    draft: &mut Draft,
    shown: &Addon,
    wanted: &DesiredAddon,
    version: String,
    differs: &[&str],
) {
    let name = &shown.name;
    if !releases::fits_schema(situation, draft, name, &version, wanted) {
        return;
    }
    let new = new_addon(version, settings(situation, draft, shown, wanted), wanted);
    let content = hash::content(&new);
    if matches!(shown.status, AddonStatus::UpdateFailed | AddonStatus::DeleteFailed) {
        let tried = draft.record.failed.get(&key(name)).is_some_and(|it| it.content == content);
        if tried && draft.is_to_wait(situation, KIND, Reason::AddonFailed, &key(name), &content) {
            return;
        }
    }
    let why = if differs.is_empty() {
        format!("the update of {name} failed")
    } else {
        format!("{name}: {} differs", differs.join(", "))
    };
    draft.note(KIND, Weight::Pending, Reason::ChangingAddons, why.clone());
    let message = in_words(&shown.issues);
    let change = change(situation, name, AddonChange::Update(new));
    if draft.send(situation, KIND, &change, why) && shown.status == AddonStatus::UpdateFailed {
        draft.fails(situation.now, &key(name), &content, format!("{name} could not be updated: {message}"));
    }
}

/// The options that an update sends.
fn settings(situation: &Situation<'_>, draft: &Draft, shown: &Addon, wanted: &DesiredAddon) -> AddonSettings {
    let AddonSettings { configuration, service_account_role: _ } = wanted.settings.clone();
    let is_own = shown.settings.configuration.is_some() && has_our_configuration(situation, shown);
    AddonSettings {
        configuration: configuration.or_else(|| is_own.then(|| "{}".to_owned())),
        service_account_role: role(situation, draft, shown, wanted),
    }
}

/// Whether the spec is all that says how an add-on is configured. That of another owner keeps its configuration until the spec has one.
fn has_our_configuration(situation: &Situation<'_>, shown: &Addon) -> bool {
    tags::are_own(situation.desired, &shown.tags)
}

/// The role that an add-on is to have. EKS takes the role away in an update that names none, so the role of which the spec says nothing is
/// named again, unless the spec named it before.
fn role(situation: &Situation<'_>, draft: &Draft, shown: &Addon, wanted: &DesiredAddon) -> Option<String> {
    let is_from_spec =
        draft.record.addon_roles.contains(&shown.name) && tags::are_own(situation.desired, &shown.tags);
    let present = shown.settings.service_account_role.clone().filter(|_| !is_from_spec);
    wanted.settings.service_account_role.clone().or(present)
}

/// What differs from the request. `None`: not known yet.
fn differences(
    situation: &Situation<'_>,
    draft: &mut Draft,
    shown: &Addon,
    wanted: &DesiredAddon,
    version: &str,
) -> Option<Vec<&'static str>> {
    let AddonSettings { configuration, service_account_role } = &shown.settings;
    let mut differs = Vec::new();
    if shown.version != version {
        differs.push("the version");
    }
    let requested = wanted.settings.configuration.as_deref();
    let is_own = requested.is_some() || has_our_configuration(situation, shown);
    if is_own && !releases::is_same_configuration(configuration.as_deref(), requested) {
        differs.push("the configuration");
    }
    if role(situation, draft, shown, wanted) != *service_account_role {
        differs.push("the role of its service account");
    }
    if let Some(identities) = &wanted.pod_identities {
        let present = crate::steps::identities::of_addon(situation, draft, KIND, shown)?;
        if present != *identities {
            differs.push("its pod identity associations");
        }
    }
    Some(differs)
}
