//! What of AWS's behaviour can be turned: durations, sizes, and one switch for each assumption that AWS's
//! documentation does not settle (marked **(A)**).

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How the simulated region behaves. All durations are virtual time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// From the start of a launch to InService.
    pub launch: Duration,
    /// From the start of a termination to `terminated`.
    pub terminate: Duration,
    /// How far single launches and terminations differ from that, in percent (0–100).
    pub spread_percent: u32,
    /// After which part of the launch EC2 reports `running`, in percent.
    pub running_after_percent: u32,
    /// How long a group takes to notice that desired and actual capacity differ.
    pub reaction: Duration,
    /// Longest time until a group notices that a member died (EC2 health checks; "seconds to minutes").
    pub health_check: Duration,
    /// How long EC2 shows a terminated instance (EC2 User Guide, "Terminate your instance": usually about an hour).
    pub terminated_visible: Duration,
    /// How long a group without instances shows "Delete in progress".
    pub group_delete: Duration,
    /// How much older than now the answers of Describe calls are (EC2 API Reference, "Eventual consistency").
    pub read_lag: Duration,
    /// Wait after a first failed launch; doubles with each further failure **(A)**.
    pub launch_retry_first: Duration,
    /// Longest wait between failed launches **(A)**.
    pub launch_retry_max: Duration,
    /// From the start of a stopped instance of a warm pool to InService.
    pub warm_start: Duration,
    /// How long an instance takes to stop.
    pub stop: Duration,
    /// How long zones are out of balance before a group does something about it **(A)**.
    pub rebalance_after: Duration,
    /// Whether rebalancing spares members that are protected from scale-in.
    pub rebalance_protection: ProtectionAgainst,
    /// Whether MaxInstanceLifetime spares members that are protected from scale-in.
    pub max_lifetime_protection: ProtectionAgainst,
    /// How long an instance refresh goes on without coming forward.
    pub refresh_timeout: Duration,
    /// When the replacement of a leaving instance is launched.
    pub replacement: Replacement,
    /// What a second TerminateInstanceInAutoScalingGroup of the same instance gets.
    pub repeated_termination: RepeatedTermination,
    /// Whether an instance that is gone already waits for its terminating hooks.
    pub hooks_of_dead: HooksOf,
    /// Whether Create- and UpdateAutoScalingGroup look into the launch template.
    pub template_check: TemplateCheck,
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

/// Whether something that ends instances spares those protected from scale-in **(A)**.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProtectionAgainst {
    /// It spares them.
    Respected,
    /// It does not.
    Ignored,
}

/// What happens to a termination of an instance that is already Terminating **(A)**.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RepeatedTermination {
    /// Accepted, without any effect on the instance or on desired capacity.
    #[default]
    Accepted,
    /// `ScalingActivityInProgress`.
    Refused,
}

/// What becomes of the terminating hooks of an instance that was ended in EC2 directly **(A)**.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HooksOf {
    /// The member waits for them although its instance is gone.
    #[default]
    Awaited,
    /// The member leaves at once.
    Skipped,
}

/// When a launch template that cannot work is noticed.
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
            launch_retry_first: Duration::from_secs(10),
            launch_retry_max: Duration::from_mins(5),
            warm_start: Duration::from_secs(8),
            stop: Duration::from_secs(10),
            rebalance_after: Duration::from_mins(1),
            rebalance_protection: ProtectionAgainst::Respected,
            max_lifetime_protection: ProtectionAgainst::Ignored,
            refresh_timeout: Duration::from_hours(1),
            replacement: Replacement::default(),
            repeated_termination: RepeatedTermination::default(),
            hooks_of_dead: HooksOf::default(),
            template_check: TemplateCheck::default(),
        }
    }
}
