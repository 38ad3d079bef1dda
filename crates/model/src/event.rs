//! The reasons of all Kubernetes events, with the severity of each and when it is published.
//!
//! The table of events in `docs/operations/conditions.md` is generated from them, so no reason is undocumented. An event that
//! reports a condition has the reason of that condition: [`EventReason::Condition`].

use crate::Reason;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

/// The type of an event, by the names that it has in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Severity {
    /// As requested.
    Normal,
    /// A user should know.
    Warning,
}

/// The objects that events are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventObject {
    /// FooMachinePools.
    FooMachinePool,
    /// FooClusters.
    FooCluster,
    /// FooControlPlanes.
    FooControlPlane,
    /// Objects of any kind that users write.
    AnyKind,
}

/// What the documentation says of a reason.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The type of its events.
    pub severity: Severity,
    /// What its events are about.
    pub object: EventObject,
    /// When an event with it is published, as Markdown relative to `docs/operations`.
    pub when: &'static str,
}

macro_rules! event_reasons {
    ($($name:ident $severity:ident $object:ident $when:literal)+) => {
        /// Why an event is published: CamelCase, what happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum EventReason {
            $(#[doc = $when] $name,)+
            /// A condition has this reason for the first time. Always a warning.
            #[serde(untagged)]
            Condition(Reason),
        }

        impl EventReason {
            /// All of them but those of conditions, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its text.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                    Self::Condition(reason) => reason.as_str(),
                }
            }

            /// What the documentation says of it; of the reason of a condition, [`Reason::entry`] says it.
            pub const fn entry(self) -> Option<Entry> {
                match self {
                    $(Self::$name => Some(Entry {
                        severity: Severity::$severity,
                        object: EventObject::$object,
                        when: $when,
                    }),)+
                    Self::Condition(_) => None,
                }
            }
        }
    };
}

event_reasons! {
    AutoScalingGroupCreated Normal FooMachinePool
    "the group is created"

    AutoScalingGroupAdopted Normal FooMachinePool
    "the group is adopted: from another management cluster, as the annotation says, or one without an owner (`spec.adopt`)"

    AutoScalingGroupRetained Normal FooMachinePool
    "the pool is deleted with `deletionPolicy: Retain`: the group and its instances stay, and the provider drains them no longer"

    AutoScalingGroupRecreated Warning FooMachinePool
    "the group was deleted outside this provider and is recreated"

    ImageResolved Normal FooMachinePool
    "an image was looked up and is recorded: its id, where it is from, and the one before"

    LaunchTemplateWarning Warning FooMachinePool
    "EC2's warnings on creating the launch template or a version of it: EC2 creates templates that it will not launch, and rejects them when the group is to use them"

    LaunchTemplateVersionCreated Normal FooMachinePool
    "a version is created, and why"

    UserDataRestored Warning FooMachinePool
    "user data in S3 that new instances fetch was deleted outside this provider and is written again"

    ScaledUp Normal FooMachinePool
    "desired capacity is raised"

    LaunchesCancelled Normal FooMachinePool
    "desired capacity is lowered by launches that have not started"

    LaunchResumed Normal FooMachinePool
    "process Launch, which AWS had suspended after failed launches, is resumed, since replicas, launch template or network changed"

    MachineDeleted Normal FooMachinePool
    "a Machine is deleted, and why this one"

    InstanceTerminated Normal FooMachinePool
    "an instance whose Machine is drained is terminated, and whether desired capacity is lowered with it"

    WarmPoolDeleted Normal FooMachinePool
    "the group's warm pool is deleted with its instances, and why"

    UnknownInstances Warning FooMachinePool
    "instances that a manager finds after its start had no FooMachine, and more exist than are requested, as after a restore of the management cluster: the surplus is drained and terminated"

    InstanceMissing Warning FooMachinePool
    "an instance no longer exists, although the provider did not terminate it; its Machine is deleted"

    InstanceTerminatedByAws Warning FooMachinePool
    "AWS is terminating an instance, in brackets its reason (a health check, an instance refresh, …); termination waits until its Machine is drained"

    SpotInterruption Warning FooMachinePool
    "EC2 announced the interruption of a spot instance; its Machine is deleted at once"

    RebalanceRecommended Warning FooMachinePool
    "AWS recommends replacing a spot instance, and `spec.interruption.rebalance` is Replace; its Machine is deleted"

    NodeCordoned Warning FooMachinePool
    "the same with Cordon; its Node is cordoned"

    CordonFailed Warning FooMachinePool
    "that Node could not be cordoned; the message says why. Tried again every minute"

    InstanceRetirement Warning FooMachinePool
    "AWS will retire an instance; its Machine is deleted"

    InstanceExpired Normal FooMachinePool
    "an instance has reached the lifetime that `spec.maxInstanceLifetimeSeconds` allows; its Machine is deleted"

    CapacityBlockEnding Warning FooMachinePool
    "the Capacity Block that the instances run in ends; a Machine is deleted before EC2 terminates its instance"

    DrainIncomplete Warning FooMachinePool
    "an instance is terminated although its Machine is not drained: AWS waits for at most 48 hours"

    DrainHookRepaired Warning FooMachinePool
    "the lifecycle hook was changed outside this provider and is restored"

    RolloutFailed Warning FooMachinePool
    "a roll-out failed: it is halted or rolled back; the message says what failed"

    RollbackFailed Warning FooMachinePool
    "the roll-back failed as well and is halted; the message says what failed"

    MachineRemediated Warning FooMachinePool
    "an unhealthy Machine is replaced, and what is wrong with it"

    NetworkResourcesCreated Normal FooCluster
    "parts of its managed network are created: what they are for, and their ids"

    NetworkResourcesDeleted Normal FooCluster
    "parts of its managed network are deleted: what they are for, and their ids"

    NetworkElsewhere Warning FooCluster
    "AWS has another network for a Cluster of this namespace and name, with the tags of another management cluster: this one was rebuilt from Git, or both share the account"

    NetworkChanged Normal FooCluster
    "parts of its managed network that was ready before are changed, and why each"

    EksClusterCreated Normal FooControlPlane
    "EKS accepts the creation of its cluster"

    EksClusterDeleted Normal FooControlPlane
    "EKS accepts the deletion of its cluster"

    EksUpgradeStarted Normal FooControlPlane
    "EKS begins to update the control plane by one minor version"

    EksClusterChanged Normal FooControlPlane
    "configuration, add-ons, access entries, pod identity associations, the OIDC provider, the identity provider or tags of its cluster are changed, and why each"

    ActionFailed Warning AnyKind
    "an action failed, or AWS rejected a change; once per text of the failure, for a managed network again after an hour"

    UnreadableObject Warning AnyKind
    "the object cannot be read and is ignored; others are not affected"
}

impl EventReason {
    /// The type of its events.
    pub fn severity(self) -> Severity {
        self.entry().map_or(Severity::Warning, |entry| entry.severity)
    }
}

impl From<Reason> for EventReason {
    fn from(reason: Reason) -> Self {
        Self::Condition(reason)
    }
}

impl std::fmt::Display for EventReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severities_have_the_names_of_metrics() {
        assert_eq!(Severity::VARIANTS, ["normal", "warning"]);
    }

    #[test]
    fn what_a_condition_says_is_a_warning() {
        assert_eq!(EventReason::from(Reason::InvalidPlan).severity(), Severity::Warning);
        assert_eq!(EventReason::from(Reason::InvalidPlan).as_str(), "InvalidPlan");
        assert_eq!(EventReason::ScaledUp.severity(), Severity::Normal);
        assert!(EventReason::ALL.iter().all(|reason| reason.entry().is_some()));
    }
}
