//! The settings of the simulation: durations, sizes, and one switch for each assumption that AWS's documentation does
//! not settle (marked **(A)**).

use super::eks::EksSettings;
use foo_model::network::Kind;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

mod quotas;

pub use quotas::NetworkQuotas;

/// How the simulated region behaves. All durations are virtual time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// From the start of a launch to InService.
    pub launch: Duration,
    /// From the start of a termination to `terminated`.
    pub terminate: Duration,
    /// By how much single launches and terminations differ from these two durations, in percent (0–100).
    pub spread_percent: u32,
    /// After which part of the launch EC2 reports `running`, in percent.
    pub running_after_percent: u32,
    /// How long a group takes to notice that desired and actual capacity differ.
    pub reaction: Duration,
    /// Longest time until a group notices that a member was terminated (EC2 health checks; "seconds to minutes").
    pub health_check: Duration,
    /// How long EC2 shows a terminated instance (EC2 User Guide, "Terminate your instance": usually about an hour).
    pub terminated_visible: Duration,
    /// How long a group without instances shows "Delete in progress".
    pub group_delete: Duration,
    /// How much older than now the responses of Describe calls are (EC2 API Reference, "Eventual consistency").
    pub read_lag: Duration,
    /// Whether all responses are that old, or each has a random age.
    pub read_order: ReadOrder,
    /// How long EC2 does not know the id of an instance that was just launched (`InvalidInstanceID.NotFound`).
    pub instances_appear_after: Duration,
    /// How long a new resource, group or launch template shows no tags.
    pub tags_appear_after: Duration,
    /// How long EC2 does not know the id of a new part of a network, by kind: Describe calls do not show it, and no
    /// call can name it (`InvalidVpcID.NotFound`; EC2 Developer Guide, "Eventual consistency").
    pub parts_appear_after: BTreeMap<Kind, Duration>,
    /// Whether calls that change something know the id of such a part already.
    pub new_parts: NewParts,
    /// How long a new VPC or subnet is pending, and how long a range is being associated or disassociated.
    pub networks_pending: Duration,
    /// From the creation of a NAT gateway to `available` (EC2 documents minutes).
    pub nat_gateway_create: Duration,
    /// From the creation of a NAT gateway that will fail to `failed`.
    pub nat_gateway_failure: Duration,
    /// From the deletion of a NAT gateway to `deleted`.
    pub nat_gateway_delete: Duration,
    /// How long a deleted or failed NAT gateway is shown (VPC User Guide, "Troubleshoot NAT gateways": about an hour).
    pub nat_gateway_visible: Duration,
    /// From the creation of an interface endpoint to `available`.
    pub endpoint_create: Duration,
    /// From the deletion of an interface endpoint until it is gone.
    pub endpoint_delete: Duration,
    /// How long the interfaces of a deleted load balancer remain.
    pub load_balancer_delete: Duration,
    /// How long a new target is `initial` before its checks have succeeded.
    pub target_checks: Duration,
    /// For how long connections to a deregistered target are drained (the attribute
    /// `deregistration_delay.timeout_seconds` of target groups, by default 300 seconds).
    pub deregistration_delay: Duration,
    /// Quotas of networks.
    pub network_quotas: NetworkQuotas,
    /// Whether GuardDuty's Runtime Monitoring is on with automated agents: it creates an endpoint and a security group in every VPC with nodes
    /// of EKS, and does not delete them with the nodes.
    pub guardduty: bool,
    /// How EKS behaves.
    pub eks: EksSettings,
    /// How long neither readers nor Auto Scaling see a new version of a launch template.
    pub versions_appear_after: Duration,
    /// How long `aws:ResourceTag` conditions do not see the tags of a new resource.
    pub rights_appear_after: Duration,
    /// Wait after a first failed launch; doubles with each further failure **(A)**.
    pub launch_retry_first: Duration,
    /// Longest wait between failed launches **(A)**.
    pub launch_retry_max: Duration,
    /// From the start of a stopped instance of a warm pool to InService.
    pub warm_start: Duration,
    /// How long an instance takes to stop.
    pub stop: Duration,
    /// How long zones are out of balance before a group rebalances them **(A)**.
    pub rebalance_after: Duration,
    /// Whether rebalancing spares members that are protected from scale-in.
    pub rebalance_protection: ProtectionAgainst,
    /// Whether MaxInstanceLifetime spares members that are protected from scale-in.
    pub max_lifetime_protection: ProtectionAgainst,
    /// After how long without progress an instance refresh fails.
    pub refresh_timeout: Duration,
    /// Share of a group that MaxInstanceLifetime replaces at a time, in percent (at least one instance) **(A)**: AWS
    /// documents only that it does so gradually.
    pub lifetime_percent: u32,
    /// ARNs of topics and queues that Auto Scaling cannot send messages to.
    pub unreachable_targets: BTreeSet<String>,
    /// In which order the hooks of a transition are waited for.
    pub hook_order: HookOrder,
    /// What a call for several instances does when one of them is refused.
    pub batches: Batches,
    /// How the activity ends of a scale-in that finds only protected instances.
    pub all_protected: AllProtected,
    /// The response to a termination while the Terminate process is suspended.
    pub suspended_terminate: SuspendedTerminate,
    /// Codes of refusals that AWS does not document.
    pub codes: Codes,
    /// When the replacement of a leaving instance is launched.
    pub replacement: Replacement,
    /// The response to a second TerminateInstanceInAutoScalingGroup for the same instance.
    pub repeated_termination: RepeatedTermination,
    /// The response to TerminateInstanceInAutoScalingGroup for an instance that is being launched or moved.
    pub busy_termination: BusyTermination,
    /// From when on an instance is protected from scale-in.
    pub protection_begins: ProtectionBegins,
    /// The account's default for tags in instance metadata (EC2 API Reference, ModifyInstanceMetadataDefaults).
    pub instance_metadata_tags: MetadataTags,
    /// After how long without a single successful launch AWS suspends a group's launches (Auto Scaling User Guide, "Suspend
    /// and resume processes": most commonly after 24 hours).
    pub administrative_suspension: Duration,
    /// The error for a caller that may not launch from a template.
    pub template_refusal: TemplateRefusal,
    /// What a change of the purchase mix does to running instances.
    pub mix_change: MixChange,
    /// Whether a change of the purchase mix spares members that are protected from scale-in.
    pub mix_change_protection: ProtectionAgainst,
    /// Whether DescribeScalingActivities fills its pages.
    pub activity_pages: ActivityPages,
    /// Whether an instance that is already terminated waits for its terminating hooks.
    pub hooks_of_dead: HooksOf,
    /// Whether CreateAutoScalingGroup and UpdateAutoScalingGroup check the launch template.
    pub template_check: TemplateCheck,
}

/// How old the responses of Describe calls are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadOrder {
    /// All are as old as the read lag: time never goes backwards for a reader, and all services agree.
    #[default]
    InOrder,
    /// Each has an age between zero and the read lag: a later read can be older than an earlier one, and services
    /// disagree.
    AnyOrder,
}

/// Who knows the id of a part of a network that does not appear yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NewParts {
    /// No call: neither reads nor changes find it.
    #[default]
    Unknown,
    /// Changes find it; only reads do not.
    NotDescribed,
}

/// The response to TerminateInstanceInAutoScalingGroup for an instance that is being launched, entering standby or
/// being detached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum BusyTermination {
    /// `ScalingActivityInProgress` (Auto Scaling API Reference; kubernetes/kops#6900, keikoproj/upgrade-manager#77).
    #[default]
    Refused,
    /// The launch is cancelled.
    Accepted,
}

/// From when on an instance is protected from scale-in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtectionBegins {
    /// When it is in service (Auto Scaling User Guide, "Use instance scale-in protection").
    #[default]
    InService,
    /// At its launch.
    AtLaunch,
}

/// The account's default for templates that do not say whether instance metadata contain tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MetadataTags {
    /// They contain no tags.
    #[default]
    Disabled,
    /// They contain tags: a tag key that does not fit there fails the launch.
    Enabled,
}

/// The error for a caller that may not launch from a template (Auto Scaling User Guide, "Troubleshoot: launch
/// templates").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateRefusal {
    /// `AccessDenied`: "You are not authorized to use launch template: …", without the action.
    #[default]
    AccessDenied,
    /// `ValidationError`: "You must use a valid fully-formed launch template. You are not authorized …".
    ValidationError,
}

/// What a change of the purchase mix does to running instances (Auto Scaling API Reference, InstancesDistribution).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MixChange {
    /// The group replaces them gradually until the mix fits, and launches before it terminates.
    #[default]
    Replaces,
    /// It leaves them.
    Leaves,
}

/// Whether DescribeScalingActivities fills its pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActivityPages {
    /// Every page but the last is full.
    #[default]
    Full,
    /// The first is empty and the others are half full, all with a token (API Reference, DescribeScalingActivities:
    /// a response may contain fewer activities than requested, or none).
    Short,
}

/// When a replacement is launched **(A)**: AWS documents neither order for groups without an instance maintenance policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// As soon as the old instance starts to leave.
    #[default]
    AtOnce,
    /// When the old instance has left.
    AfterTermination,
}

/// Whether a process that terminates instances spares those protected from scale-in **(A)**.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtectionAgainst {
    /// It spares them.
    Respected,
    /// It does not.
    Ignored,
}

/// In which order the hooks of a transition are waited for **(A)**.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HookOrder {
    /// All at once.
    Together,
    /// One after the other, by name.
    OneByOne,
}

/// What SetInstanceProtection or TerminateInstanceInAutoScalingGroup for several instances does when one of them is
/// refused **(A)**.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Batches {
    /// The call changes nothing.
    AllOrNothing,
    /// The call changes those before it, and is refused.
    UpToTheRefused,
    /// It terminates all others; the response contains those, and no refusal. The call is refused if none is left. A
    /// SetInstanceProtection behaves as in `UpToTheRefused`.
    AllButTheRefused,
}

/// How the activity ends of a scale-in that finds only protected instances **(A)**: users report both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are AWS's own (API Reference, Activity)")]
pub enum AllProtected {
    Cancelled,
    Failed,
}

/// The response to TerminateInstanceInAutoScalingGroup while the Terminate process is suspended **(A)**.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SuspendedTerminate {
    /// It is carried out: the suspension only concerns terminations that the group decides on.
    CarriedOut,
    /// `ScalingActivityInProgress`.
    Refused,
}

/// Codes of refusals that AWS documents without a code **(A)**.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Codes {
    /// The call changes a group that is being deleted.
    pub group_in_deletion: String,
    /// A launch template has more user data than EC2 allows.
    pub user_data_too_long: String,
}

impl Default for Codes {
    fn default() -> Self {
        Self {
            group_in_deletion: "ValidationError".to_owned(),
            user_data_too_long: "InvalidUserData.Malformed".to_owned(),
        }
    }
}

/// The response to a termination of an instance that is already Terminating **(A)**.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RepeatedTermination {
    /// Accepted, without any effect on the instance or on desired capacity.
    #[default]
    Accepted,
    /// `ScalingActivityInProgress`.
    Refused,
}

/// What happens to the terminating hooks of an instance that was terminated in EC2 directly **(A)**.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HooksOf {
    /// The member waits for them although its instance is terminated.
    #[default]
    Awaited,
    /// The member leaves at once.
    Skipped,
}

/// When a launch template that cannot be launched is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TemplateCheck {
    /// When a group refers to it: unknown image, type or security group are a `ValidationError` ("You must use a
    /// valid fully-formed launch template…").
    #[default]
    WhenReferred,
    /// Only when an instance is launched from it, as a failed activity.
    AtLaunch,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            launch: Duration::from_secs(20),
            terminate: Duration::from_secs(15),
            spread_percent: 20,
            running_after_percent: 40,
            reaction: Duration::from_secs(1),
            health_check: Duration::from_secs(30),
            terminated_visible: Duration::from_hours(1),
            group_delete: Duration::from_secs(2),
            read_lag: Duration::ZERO,
            read_order: ReadOrder::default(),
            instances_appear_after: Duration::ZERO,
            tags_appear_after: Duration::ZERO,
            parts_appear_after: BTreeMap::new(),
            new_parts: NewParts::default(),
            networks_pending: Duration::from_secs(1),
            nat_gateway_create: Duration::from_mins(2),
            nat_gateway_failure: Duration::from_secs(10),
            nat_gateway_delete: Duration::from_mins(1),
            nat_gateway_visible: Duration::from_hours(1),
            endpoint_create: Duration::from_mins(1),
            endpoint_delete: Duration::from_mins(1),
            load_balancer_delete: Duration::from_secs(30),
            target_checks: Duration::from_secs(30),
            deregistration_delay: Duration::from_mins(5),
            network_quotas: NetworkQuotas::default(),
            guardduty: false,
            eks: EksSettings::default(),
            versions_appear_after: Duration::ZERO,
            rights_appear_after: Duration::ZERO,
            launch_retry_first: Duration::from_secs(10),
            launch_retry_max: Duration::from_mins(5),
            warm_start: Duration::from_secs(8),
            stop: Duration::from_secs(10),
            rebalance_after: Duration::from_mins(1),
            rebalance_protection: ProtectionAgainst::Respected,
            max_lifetime_protection: ProtectionAgainst::Ignored,
            refresh_timeout: Duration::from_hours(1),
            lifetime_percent: 10,
            unreachable_targets: BTreeSet::new(),
            hook_order: HookOrder::Together,
            batches: Batches::AllOrNothing,
            all_protected: AllProtected::Cancelled,
            suspended_terminate: SuspendedTerminate::CarriedOut,
            codes: Codes::default(),
            replacement: Replacement::default(),
            repeated_termination: RepeatedTermination::default(),
            busy_termination: BusyTermination::default(),
            protection_begins: ProtectionBegins::default(),
            instance_metadata_tags: MetadataTags::default(),
            administrative_suspension: Duration::from_hours(24),
            template_refusal: TemplateRefusal::default(),
            mix_change: MixChange::default(),
            mix_change_protection: ProtectionAgainst::Respected,
            activity_pages: ActivityPages::default(),
            hooks_of_dead: HooksOf::default(),
            template_check: TemplateCheck::default(),
        }
    }
}
