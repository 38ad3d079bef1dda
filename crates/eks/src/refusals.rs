//! What some of EKS's refusals mean, known by their words alone.

use crate::memory::Refusal;
use foo_model::Reason;

/// EKS refuses an update that would change nothing (messages as ACK and eksctl know them): it is as requested.
pub(crate) fn is_no_change(refusal: &Refusal) -> bool {
    ["already at the desired configuration", "No changes needed", "No changes detected"]
        .iter()
        .any(|text| refusal.message.contains(text))
}

/// A role that was just created, or whose policy was just changed, is not known everywhere yet (messages that Terraform's provider
/// retries).
pub(crate) fn is_about_a_role(refusal: &Refusal) -> bool {
    const MESSAGES: [&str; 8] = [
        "Error in role params",
        "Role could not be assumed because the trusted entity is not correct",
        "The provided role doesn't have the Amazon EKS Managed Policies associated with it",
        "IAM role's policy must include",
        "invalid principal",
        "The specified principalArn could not be found",
        "Role provided in the request does not exist",
        "does not exist",
    ];
    refusal.reason != Reason::NotFound && MESSAGES.iter().any(|text| refusal.message.contains(text))
        || refusal.message.contains("The specified principalArn could not be found")
}
