//! Whether the credentials belong to the account in which the pool was created.

use crate::clouds::CloudRegion;
use crate::pool::failure_report;
use crate::pool::gather::Gathered;
use crate::pool::names;
use foo_cloud::observer::Seen;
use foo_model::Reason;
use foo_model::{Blocked, GroupName};
use kube::ResourceExt;

/// Why the account of the credentials is not the one in which the pool was created, or why that is unknown.
///
/// With credentials of another account the group and all its instances seem to be deleted, and every Machine
/// would be deleted. An existing group names its account in its ARN; AWS is asked only without a group.
pub(super) async fn mismatch(
    gathered: &Gathered,
    region: &CloudRegion,
    group: &GroupName,
) -> Option<Blocked> {
    let recorded = gathered.pool.spec.provider_id.as_deref().and_then(names::account_of_arn);
    let begun_in = || gathered.pool.annotations().get(foo_api::names::ACCOUNT_ANNOTATION).map(String::as_str);
    let made_in = recorded.or_else(begun_in)?;
    let account = match region.observer.view(group).map(|view| view.seen) {
        Some(Seen::Present(group)) => Ok(names::account_of_arn(&group.arn).unwrap_or_default().to_owned()),
        // What exists is left alone until its group was observed; but a pool that has only begun could be
        // created twice.
        None if recorded.is_some() => return None,
        Some(Seen::Absent) | None => region.account().await.map(str::to_owned),
    };
    match account {
        Ok(account) if account == made_in => None,
        Ok(account) => Some(Blocked::new(
            Reason::WrongAccount,
            format!("the credentials belong to account {account}, but the pool was created in {made_in}"),
        )),
        Err(error) => {
            let reason = error.kind.into();
            let error = failure_report::in_words(&error, &region.key.region);
            Some(Blocked::new(
                reason,
                format!("the account of the credentials cannot be determined: {error}"),
            ))
        }
    }
}
