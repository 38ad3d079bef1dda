//! Changes the configuration of the cluster, one kind at a time, in the order that loses least: who reaches it first, then what it
//! needs, then what only people see. What EKS never changes is named.

use crate::desired::Setting;
use crate::draft::{Draft, Weight};
use crate::recorded::UpdateKind;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::placement;
use foo_model::Reason;
use foo_model::eks::{AuthenticationMode, Change, Cluster, ClusterChange, ConfigUpdate, EndpointAccess};

const KIND: ConditionKind = ConditionKind::ClusterReady;

/// Whether all requested access entries work: only then the cluster stops using the ConfigMap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entries {
    Complete,
    Incomplete,
}

/// Sends the first change that is due. Whether one was sent.
pub(crate) fn ensure(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    entries: Entries,
) -> bool {
    differences(situation, draft, cluster);
    for (kind, change, why) in changes(situation, draft, cluster, entries) {
        draft.note(KIND, Weight::Pending, Reason::UpdatingCluster, why.clone());
        let change = Change::Cluster { cluster: cluster.name.clone(), change };
        if draft.update(situation, KIND, kind, &change, why) {
            return true;
        }
    }
    false
}

type Due = (UpdateKind, ClusterChange, String);

fn changes(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster, entries: Entries) -> Vec<Due> {
    let desired = situation.desired;
    let is_asked = |setting: Setting| !desired.left_open.contains(&setting);
    let mut due = Vec::new();
    let mut add = |kind, update, why: &str| {
        due.push((kind, ClusterChange::UpdateConfig(update), why.to_owned()));
    };
    if let Some(mode) = next_mode(situation, draft, cluster, entries) {
        add(
            UpdateKind::AuthenticationMode,
            ConfigUpdate::AuthenticationMode(mode),
            "the authentication mode differs",
        );
    }
    if is_asked(Setting::Access) && is_other_access(&desired.access, &cluster.access) {
        add(
            UpdateKind::Access,
            ConfigUpdate::Access(desired.access.clone()),
            "who reaches the API server differs",
        );
    }
    for (kind, update, why) in placement::changes(situation, cluster) {
        add(kind, update, why);
    }
    if is_asked(Setting::Logging) && desired.logging != cluster.logging {
        add(
            UpdateKind::Logging,
            ConfigUpdate::Logging(desired.logging.clone()),
            "the logs of the control plane differ",
        );
    }
    if let Some(policy) = desired.upgrade_policy.filter(|it| *it != cluster.upgrade_policy) {
        add(UpdateKind::UpgradePolicy, ConfigUpdate::UpgradePolicy(policy), "the upgrade policy differs");
    }
    // EKS may leave it out of a cluster that has the standard capacity.
    let has = cluster.scaling_tier.unwrap_or_default();
    if let Some(tier) = desired.scaling_tier.filter(|it| *it != has) {
        let update = ConfigUpdate::ScalingTier(tier);
        add(UpdateKind::ScalingTier, update, "the capacity of the control plane differs");
    }
    if is_asked(Setting::ZonalShift) && desired.zonal_shift != cluster.zonal_shift {
        add(UpdateKind::ZonalShift, ConfigUpdate::ZonalShift(desired.zonal_shift), "zonal shift differs");
    }
    if is_asked(Setting::DeletionProtection) && desired.deletion_protection != cluster.deletion_protection {
        let update = ConfigUpdate::DeletionProtection(desired.deletion_protection);
        add(UpdateKind::DeletionProtection, update, "deletion protection differs");
    }
    if let (Some(key), None) = (&desired.encryption_key, &cluster.encryption_key) {
        let change = ClusterChange::Encrypt(key.clone());
        due.push((
            UpdateKind::Encryption,
            change,
            "Secrets are not encrypted with the requested key".to_owned(),
        ));
    }
    due
}

/// The next step towards the requested mode: EKS goes from CONFIG_MAP by API_AND_CONFIG_MAP to API, and never back.
fn next_mode(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    entries: Entries,
) -> Option<AuthenticationMode> {
    let desired = situation.desired.authentication_mode;
    let present = cluster.authentication_mode;
    if desired <= present {
        return None;
    }
    match present {
        AuthenticationMode::ConfigMap => Some(AuthenticationMode::ApiAndConfigMap),
        // Who comes in by the ConfigMap would be locked out, and there is no way back.
        AuthenticationMode::ApiAndConfigMap | AuthenticationMode::Api
            if situation.desired.left_open.contains(&Setting::AuthenticationMode) =>
        {
            None
        }
        AuthenticationMode::ApiAndConfigMap | AuthenticationMode::Api => {
            // The right that let us in so far may be one of the ConfigMap.
            let message = if situation.desired.own_principal.is_none() {
                "the authentication mode becomes API as soon as it is known who calls AWS, and has an access entry"
            } else if entries == Entries::Complete {
                return Some(AuthenticationMode::Api);
            } else {
                "the authentication mode becomes API as soon as all access entries exist"
            };
            draft.note(KIND, Weight::Pending, Reason::UpdatingCluster, message);
            None
        }
    }
}

/// Ranges mean something only for a public endpoint.
fn is_other_access(desired: &EndpointAccess, shown: &EndpointAccess) -> bool {
    desired.public != shown.public
        || desired.private != shown.private
        || (desired.public && desired.public_cidrs != shown.public_cidrs)
}

/// What EKS never changes.
fn differences(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let desired = situation.desired;
    let mut differs = Vec::new();
    let mut check = |what: &str, desired: &str, shown: &str| {
        if desired != shown {
            differs.push(format!("{what} is {shown} and not {desired}"));
        }
    };
    check("the role", &desired.role_arn, &cluster.role_arn);
    check("the family of addresses", desired.ip_family.into(), cluster.ip_family.into());
    if let (Some(desired), Some(shown)) = (&desired.service_ipv4, &cluster.service_ipv4) {
        check("the range of Services", desired, shown);
    }
    if let (Some(desired), Some(shown)) = (&desired.encryption_key, &cluster.encryption_key) {
        check("the encryption key", desired, shown);
    }
    if desired.authentication_mode < cluster.authentication_mode {
        check(
            "the authentication mode",
            desired.authentication_mode.into(),
            cluster.authentication_mode.into(),
        );
    }
    differs.extend(placement::other_zones(desired, cluster));
    if !differs.is_empty() {
        let message = format!("{}; EKS never changes that", differs.join("; "));
        draft.note(KIND, Weight::Failed, Reason::ClusterDiffers, message);
    }
    if cluster.auto_mode {
        let message = "EKS Auto Mode is on; it is not changed here";
        draft.note(KIND, Weight::Failed, Reason::AutoModeEnabled, message);
    }
}
