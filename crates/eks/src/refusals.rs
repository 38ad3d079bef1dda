//! What some of EKS's refusals mean, known by their words alone.

use foo_calls::Refusal;
use foo_model::Reason;
use std::collections::BTreeSet;

/// EKS refuses an update that would change nothing (messages as ACK, eksctl and Terraform's provider know them): it is as requested.
pub(crate) fn is_no_change(refusal: &Refusal) -> bool {
    const MESSAGES: [&str; 4] = [
        "already at the desired configuration",
        "No changes needed",
        "No changes detected",
        "Identity provider config is not associated with cluster",
    ];
    MESSAGES.iter().any(|text| refusal.message.contains(text))
}

/// EKS has no room for control planes in a zone: the zones that its message names instead, if it names any.
pub(crate) fn zones_with_room(refusal: &Refusal) -> Option<BTreeSet<&str>> {
    let is_about_zones = refusal.code.as_deref() == Some("UnsupportedAvailabilityZoneException");
    let (_, zones) = refusal.message.split_once("availability zones:").filter(|_| is_about_zones)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    Some(zones.split(|c| !is_name(c)).filter(|zone| !zone.is_empty()).collect())
}

/// EKS uses the caller's rights for the KMS key, and refuses the request as invalid, not as denied, if they are missing (message that
/// cluster-api-provider-aws#2432 has).
pub(crate) fn is_missing_right(refusal: &Refusal) -> bool {
    refusal.message.contains("not authorized to perform") && refusal.message.contains("kms:")
}

/// EKS's message, with the cause that it does not name.
pub(crate) fn explained(refusal: &Refusal) -> String {
    let message = refusal.message.trim_end_matches('.');
    if is_missing_right(refusal) {
        return format!(
            "{message}: give the manager kms:DescribeKey and kms:CreateGrant for the key of spec.eks.encryption"
        );
    }
    if message.contains("could not be assumed") {
        return format!("{message}. EKS says the same of a role that the policy of the KMS key excludes");
    }
    refusal.message.clone()
}

/// A role that was just created, or whose policy was just changed, is not known everywhere yet (messages that Terraform's provider
/// retries).
pub(crate) fn is_about_a_role(refusal: &Refusal) -> bool {
    const MESSAGES: [&str; 7] = [
        "Error in role params",
        "Role could not be assumed because the trusted entity is not correct",
        "The provided role doesn't have the Amazon EKS Managed Policies associated with it",
        "IAM role's policy must include",
        "invalid principal",
        "The specified principalArn could not be found",
        "Role provided in the request does not exist",
    ];
    let message = refusal.message.to_lowercase();
    // Subnets, groups and keys that do not exist are worded alike.
    let is_missing_role = message.contains("does not exist") && message.contains("role");
    refusal.reason != Reason::NotFound
        && (is_missing_role || MESSAGES.iter().any(|text| refusal.message.contains(text)))
        || refusal.message.contains("The specified principalArn could not be found")
}
