//! The reasons of all conditions, with what each means and what its reader can do.
//!
//! `docs/operations/conditions.md` is generated from them, so no reason is undocumented. Code that has to distinguish kinds
//! of reasons uses a method here, never the text.
//!
//! A new reason is an entry in a file of `reason/list/` and a `Blocked::new`, or the function of a condition, where the
//! cause is found. Its message stays the same while its cause does. A condition that is new needs a `Place` here and a
//! section in `xtask/src/generate/conditions.template`. Then `cargo xtask generate`.
//!
//! A warning in `Ready` of a pool has the place `PoolWarning`. One about the user's input is a `Blocked` in `warnings`
//! of `controller/src/pool/inputs/desired.rs`; one about the state of AWS is added in `with_warnings` of
//! `planner/src/summary/ready.rs`. Only its message is in `Ready`; the reason is that of an event, which `report_changes` in
//! `controller/src/pool/output/mod.rs` publishes once (`Reported` in `state.rs`) and the table of events in
//! `conditions.template` lists.

mod list;

pub use list::{Reason, Shown};

/// Who has to do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// No action: all is as requested.
    Good,
    /// No action yet: it passes by itself.
    Waiting,
    /// A user.
    NeedsUser,
    /// The project: a fault of the provider.
    Fault,
}

/// What the documentation says of a reason.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Who has to do something.
    pub class: Class,
    /// The conditions it is a reason of.
    pub shown: &'static [Shown],
    /// What is the case, as Markdown.
    pub meaning: &'static str,
    /// What the reader can do, as Markdown relative to `docs/operations`; empty only for [`Class::Good`].
    pub action: &'static str,
}

/// A condition, or a group of conditions that share reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Any condition: a call to AWS failed.
    AnyAfterAwsCall,
    /// `Ready` of a FooMachinePool.
    PoolReady,
    /// A warning in the message of `Ready` of a FooMachinePool, and an event.
    PoolWarning,
    /// `Paused` of every kind.
    Paused,
    /// `CredentialsReady` of FooMachinePools and FooClusters, `Ready` of FooClusterIdentities.
    CredentialsReady,
    /// `LaunchTemplateReady` of a FooMachinePool.
    LaunchTemplateReady,
    /// `AutoScalingGroupReady` of a FooMachinePool.
    AutoScalingGroupReady,
    /// `CapacityAvailable` of a FooMachinePool.
    CapacityAvailable,
    /// `ScalingUp` of a FooMachinePool.
    ScalingUp,
    /// `ScalingDown` of a FooMachinePool.
    ScalingDown,
    /// `RollingOut` of a FooMachinePool.
    RollingOut,
    /// `Remediating` of a FooMachinePool.
    Remediating,
    /// `Deleting` of a FooMachinePool.
    PoolDeleting,
    /// `AutoscalerReady` of a FooMachinePool.
    AutoscalerReady,
    /// `WarmPoolReady` of a FooMachinePool.
    WarmPoolReady,
    /// `CapacityBlockReady` of a FooMachinePool.
    CapacityBlockReady,
    /// `Ready` of a FooMachine.
    MachineReady,
    /// `UpToDate` of a FooMachine.
    MachineUpToDate,
    /// `NetworkReady` and `Ready` of a FooCluster.
    NetworkReady,
    /// `VPCReady`, `SubnetsReady`, `RoutesReady`, `NATReady`, `SecurityGroupsReady` and `EndpointsReady` of a FooCluster.
    NetworkPartReady,
    /// `Deleting` of a FooCluster.
    ClusterDeleting,
    /// `Ready` of a FooClusterIdentity.
    IdentityReady,
    /// `Deleting` of a FooClusterIdentity.
    IdentityDeleting,
    /// `Available` and `Ready` of a FooControlPlane.
    ControlPlaneAvailable,
    /// `ClusterReady` of a FooControlPlane in mode `eks`.
    EksClusterReady,
    /// `Upgrading` of a FooControlPlane in mode `eks`.
    ControlPlaneUpgrading,
    /// `AddonsReady` of a FooControlPlane in mode `eks`.
    AddonsReady,
    /// `AccessReady` of a FooControlPlane in mode `eks`.
    AccessReady,
    /// `KubeconfigReady` of a FooControlPlane.
    KubeconfigReady,
    /// `Deleting` of a FooControlPlane.
    ControlPlaneDeleting,
    /// `Ready` of a FooNodeConfig.
    NodeConfigReady,
    /// `DataSecretAvailable` of a FooNodeConfig.
    DataSecretAvailable,
    /// `Deleting` of a FooNodeConfig.
    NodeConfigDeleting,
}

impl Reason {
    /// The reason of that text; `None` for one that no version of the provider at hand writes.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == text)
    }

    /// Whether it says that the credentials are missing or not accepted, or lack a right.
    pub fn is_about_credentials(self) -> bool {
        matches!(
            self,
            Self::AccessDenied
                | Self::CredentialsInvalid
                | Self::WrongAccount
                | Self::IdentityNotYetKnown
                | Self::IdentityRequired
                | Self::IdentityNotFound
                | Self::IdentityNotAllowed
                | Self::IdentityInvalid
                | Self::IdentitySecretNotFound
                | Self::IdentitySecretInvalid
                | Self::IdentitySecretUnreadable
        )
    }

    /// Whether AWS gave no usable response: it shows neither whether the request nor whether its caller is right.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Throttled | Self::AwsUnreachable | Self::AwsInternalError)
    }

    /// Whether it belongs to the condition `AutoscalerReady`.
    pub fn is_about_autoscaler(self) -> bool {
        self == Self::AutoscalerAnnotationsInvalid
    }

    /// Whether nothing is wrong and nothing is waited for.
    pub fn is_good(self) -> bool {
        self.entry().class == Class::Good
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_says_where_it_is_seen_what_it_means_and_what_to_do() {
        for reason in Reason::ALL {
            let entry = reason.entry();
            assert!(!entry.shown.is_empty(), "{reason}: of which condition?");
            assert!(!entry.meaning.is_empty(), "{reason}: what does it mean?");
            assert!(entry.class == Class::Good || !entry.action.is_empty(), "{reason}: what to do?");
        }
    }

    #[test]
    fn a_reason_is_read_as_it_is_written() {
        for reason in Reason::ALL {
            assert_eq!(Reason::parse(reason.as_str()), Some(*reason));
        }
        assert_eq!(Reason::parse("OfAnotherVersion"), None);
    }
}
