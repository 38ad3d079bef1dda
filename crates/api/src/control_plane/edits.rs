//! What of a control plane cannot change. The rules belong to the FooControlPlane, not to its spec: a template has the same spec, and
//! Cluster API tries changes of it in dry runs.

use kube::core::Rule;

/// From an existing API server to EKS, or back.
pub(super) fn same_mode() -> Rule {
    Rule::new("has(self.spec.eks) == has(oldSelf.spec.eks)").message(
        "a control plane cannot turn from external to eks or back: its nodes would lose their API server; create \
         another FooControlPlane",
    )
}

/// Fields that EKS cannot change.
pub(super) fn same(field: &str, why: &str) -> Rule {
    let of = |object: &str| format!("(has({object}.spec.eks.{field}) ? {object}.spec.eks.{field} : '')");
    let rule = format!("{BOTH} || {} == {}", of("self"), of("oldSelf"));
    Rule::new(rule).message(format!("eks.{field} is immutable: {why}").as_str())
}

const BOTH: &str = "!has(self.spec.eks) || !has(oldSelf.spec.eks)";

/// The family of addresses, whose default is IPv4.
pub(super) fn same_family() -> Rule {
    let of =
        |object: &str| format!("(has({object}.spec.eks.ipFamily) ? {object}.spec.eks.ipFamily : 'ipv4')");
    Rule::new(format!("{BOTH} || {} == {}", of("self"), of("oldSelf")))
        .message("eks.ipFamily is immutable: EKS cannot change the addresses of Services")
}

/// Encryption can be added.
pub(super) fn same_key() -> Rule {
    Rule::new(format!(
        "{BOTH} || !has(oldSelf.spec.eks.encryption) || (has(self.spec.eks.encryption) && \
         self.spec.eks.encryption.kmsKeyARN == oldSelf.spec.eks.encryption.kmsKeyARN)"
    ))
    .message("eks.encryption cannot be changed or removed once it is set: EKS cannot encrypt Secrets with another key")
}

/// The authentication mode changes in one direction, one step at a time.
pub(super) fn modes_in_order() -> Rule {
    let of = |object: &str| {
        format!("(has({object}.spec.eks.authenticationMode) ? {object}.spec.eks.authenticationMode : 'API')")
    };
    let (old, new) = (of("oldSelf"), of("self"));
    Rule::new(format!(
        "{BOTH} || {old} == {new} || ({old} == 'CONFIG_MAP' && {new} == 'API_AND_CONFIG_MAP') || \
         ({old} == 'API_AND_CONFIG_MAP' && {new} == 'API')"
    ))
    .message(
        "eks.authenticationMode can only change from CONFIG_MAP to API_AND_CONFIG_MAP and from there to API: EKS allows no \
         other step",
    )
}
