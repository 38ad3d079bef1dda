//! The OIDC provider of IAM for the cluster's issuer.

use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::tags;
use crate::timing::LAG;
use foo_model::Reason;
use foo_model::eks::{Change, Cluster, NewOidcProvider, OidcChange, OidcProvider, Query, QueryResult};
use std::collections::BTreeSet;

const KIND: ConditionKind = ConditionKind::AccessReady;

/// The audience of the tokens that Pods show to STS.
const AUDIENCE: &str = "sts.amazonaws.com";

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let desired = situation.desired;
    if !desired.oidc_provider {
        if let Some(arn) = draft.record.oidc_provider.clone() {
            remove(situation, draft, KIND, &arn);
        }
        return;
    }
    let (Some(issuer), Some(arn)) = (&cluster.oidc_issuer, arn(situation, cluster)) else { return };
    let query = Query::OidcProvider(arn.clone());
    believe(situation, draft, &query);
    let Some(QueryResult::OidcProvider(shown)) = draft.read(situation, KIND, &query) else { return };
    if let Some(shown) = shown {
        return keep(situation, draft, shown);
    }
    let change = Change::Oidc(OidcChange::Create(NewOidcProvider {
        url: issuer.clone(),
        client_ids: BTreeSet::from([AUDIENCE.to_owned()]),
        tags: tags::all(desired),
    }));
    let why = "the issuer of the cluster has no OIDC provider in IAM";
    draft.note(KIND, Weight::Pending, Reason::ChangingAccess, why);
    if draft.send(situation, KIND, &change, why) {
        draft.record.oidc_provider = Some(arn);
    }
}

/// The ARN that the provider has, or would have.
fn arn(situation: &Situation<'_>, cluster: &Cluster) -> Option<String> {
    let issuer = cluster.oidc_issuer.as_deref()?;
    Some(provider_arn(&situation.desired.partition, &situation.account()?, issuer))
}

/// The ARN of the provider for an issuer (IAM User Guide, "IAM identifiers").
pub(crate) fn provider_arn(partition: &str, account: &str, issuer: &str) -> String {
    format!("arn:{partition}:iam::{account}:oidc-provider/{}", issuer.trim_start_matches("https://"))
}

/// A creation that failed may have happened, or one before it: it is read again.
fn believe(situation: &Situation<'_>, draft: &mut Draft, query: &Query) {
    let failures = situation.memory.calls.failures.iter();
    let failed = failures.filter(|it| matches!(it.action.change, Change::Oidc(OidcChange::Create(_))));
    let moment = failed.map(|it| if it.lost { it.at.plus(LAG) } else { it.at }).max();
    if let Some(moment) = moment
        && situation.begun(query).is_none_or(|begun| begun < moment)
    {
        draft.request_read(query, moment);
    }
}

fn keep(situation: &Situation<'_>, draft: &mut Draft, shown: &OidcProvider) {
    if tags::are_own(situation.desired, &shown.tags) {
        draft.record.oidc_provider = Some(shown.arn.clone());
    }
    if !shown.client_ids.contains(AUDIENCE) {
        let message = format!("the OIDC provider {} lacks the audience {AUDIENCE}", shown.arn);
        draft.note(KIND, Weight::Failed, Reason::AccessDiffers, message);
    }
}

/// Deletes the OIDC provider if this provider created it. Whether it is gone, or foreign.
pub(crate) fn remove(situation: &Situation<'_>, draft: &mut Draft, kind: ConditionKind, arn: &str) -> bool {
    let query = Query::OidcProvider(arn.to_owned());
    let Some(QueryResult::OidcProvider(shown)) = draft.read(situation, kind, &query) else { return false };
    if !shown.as_ref().is_some_and(|it| tags::are_own(situation.desired, &it.tags)) {
        let is_it = |it: &String| it == arn;
        let is_forgotten = draft.forget(situation, &query, |record| &mut record.oidc_provider, is_it);
        if !is_forgotten {
            draft.note_unread(kind, &query);
        }
        return is_forgotten;
    }
    let reason =
        if kind == ConditionKind::Deleting { Reason::DeletingCluster } else { Reason::ChangingAccess };
    draft.note(kind, Weight::Pending, reason, format!("the OIDC provider {arn} is being deleted"));
    let change = Change::Oidc(OidcChange::Delete { arn: arn.to_owned() });
    draft.send(situation, kind, &change, "the OIDC provider is no longer needed");
    false
}

/// Records the provider before the cluster, and with it the issuer, is gone.
pub(crate) fn remember(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    if situation.desired.oidc_provider && draft.record.oidc_provider.is_none() {
        draft.record.oidc_provider = arn(situation, cluster);
    }
}
