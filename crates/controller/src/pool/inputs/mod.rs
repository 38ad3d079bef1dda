//! What a plan is made from: what Kubernetes knows of the pool, and everything that is read for it.

pub(super) mod bootstrap_secret;
pub(super) mod content;
pub(super) mod desired;
pub(super) mod gather;
pub(super) mod identity;
pub(super) mod launch_failures;
pub(super) mod observe;
pub(super) mod replacement_rules;
pub(super) mod rival_machine_pools;
pub(super) mod termination_causes;
pub(super) mod version_skew;
