//! The nouns: what a group, an instance, a launch template, a Machine and a FooMachine look like to us, and the names that
//! what we make has.
//!
//! Plain data without behaviour beyond simple questions about itself. The planner decides in these types, the traits of the
//! `cloud` crate speak in them: nothing is translated between looking, deciding and doing.
//!
//! * `group`, `settings`, `template`, `overlay`, `hook`, `machine`, `lifetime`, `changes`: a pool in AWS and in Kubernetes,
//!   and what can be changed of it;
//! * `network`, `eks`: the parts of networks and EKS clusters, and their changes;
//! * `traffic`: what sends requests to the instances of a group; `targets`: their health behind load balancers; `notifications`: what AWS reports to topics;
//! * `warm_pool`: instances that a group starts in advance;
//! * `applied`: what the spec has set in a group;
//! * `operation`: the one list of AWS operations, for limits, metrics and the IAM policy;
//! * `maintenance`: when the provider may begin what it does by its own choice;
//! * `signal`, `event`: what AWS announces, and what the provider reports;
//! * `reason`: the reasons of conditions with their remedies;
//! * `names`: the names and tags of everything that the provider creates.
//!
//! No decisions, no I/O.

mod adoption;
mod applied;
mod blocked;
pub mod changes;
pub mod eks;
pub mod event;
pub mod group;
pub mod hash;
pub mod hook;
pub mod ids;
pub mod lifetime;
pub mod machine;
mod maintenance;
pub mod names;
pub mod network;
pub mod notifications;
pub mod object;
pub mod operation;
mod overlay;
pub mod reason;
pub mod requirements;
mod reservation;
pub mod settings;
pub mod signal;
pub mod targets;
pub mod template;
pub mod time;
pub mod traffic;
pub mod warm_pool;

pub use adoption::Adoption;
pub use applied::{Applied, AppliedWarmPool};
pub use blocked::{Blocked, some_names};
pub use changes::{GroupChange, NewGroup};
pub use event::{EventReason, Severity};
pub use group::{
    Activity, ActivityStatus, Decrement, DeletionProtection, Group, GroupStatus, Health, Instance,
    LifecycleState, Process, Sizes, TemplateChoice,
};
pub use hook::{HookConfig, HookResult, HookTarget, Hooks, LifecycleHook, Transition};
pub use ids::{
    AllocationId, AssociationId, EgressOnlyGatewayId, EndpointId, GroupName, HookName, ImageId, InstanceId,
    InstanceType, InterfaceId, InternetGatewayId, LatticeTargetGroupArn, LaunchTemplateId, LoadBalancerName,
    MachineName, NatGatewayId, PrefixListId, RouteTableId, SecurityGroupId, SpecHash, SubnetId,
    TargetGroupArn, TemplateVersion, TopicArn, Uid, VpcId, Zone,
};
pub use lifetime::expires_at;
pub use machine::{
    Deletion, DeletionStage, DeletionTimeouts, FooMachine, Machine, MachinePause, NodeState, RemovalMark,
};
pub use maintenance::{Maintenance, WindowHold};
pub use names::machine_name;
pub use notifications::{NotificationType, Notifications};
pub use object::{ObjectPlace, Storage};
pub use operation::Operation;
pub use overlay::{AutoRecovery, Device, Overlay, SecondaryInterface, ShutdownBehavior};
pub use reason::Reason;
pub use requirements::Requirements;
pub use reservation::{FoundReservation, ReservationKind, ReservationState};
pub use settings::{GroupSettings, GroupSettingsChange, Protection};
pub use signal::{Signal, SignalKind};
pub use targets::{HealthInGroups, TargetHealth, TargetState, Targets, health_in};
pub use template::{
    AdditionalInterface, BandwidthWeighting, CapacityReservation, Cores, CpuCredits, Efa, HostnameType,
    InstanceOptions, InstancesMix, LaunchTemplate, MetadataOptions, MixOverride, MixTypes, NOT_FOR_PODS,
    NetworkInterface, OnDemandStrategy, Placement, PlacementGroup, Primary, PrivateDns,
    ReservationPreference, SpotOptions, SpotStrategy, StoredUserData, TemplateContent, TemplateHashes,
    TemplateRecord, Tenancy, UserData, Volume, VolumeType,
};
pub use time::{
    Agreement, Aws, AwsTime, Comparison, Difference, Kubernetes, KubernetesTime, Seconds, TimeOf, Timestamp,
};
pub use traffic::{TrafficSource, TrafficSourceKind};
pub use warm_pool::{WarmPool, WarmPoolSettings, WarmState};

/// How many there are, up to `u32::MAX`.
pub fn count<T>(items: impl IntoIterator<Item = T>) -> u32 {
    u32::try_from(items.into_iter().count()).unwrap_or(u32::MAX)
}
