//! Warm pools (Auto Scaling User Guide, "Decrease latency for applications with long boot times using warm pools"): instances that a
//! group has started in advance. They are not among its members, and the next scale-out takes them first.

use serde::{Deserialize, Serialize};

/// A group's warm pool, as `DescribeAutoScalingGroups` shows it. That does not list its instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmPool {
    /// Its settings.
    pub settings: WarmPoolSettings,
    /// Whether AWS is deleting it (`PendingDelete`).
    pub deleting: bool,
    /// WarmPoolSize, in instances.
    pub size: u32,
}

impl WarmPool {
    /// Whether AWS launches instances into it.
    pub fn launches(self) -> bool {
        !self.deleting && !self.settings.is_empty()
    }
}

/// What `PutWarmPool` sets. Numbers are instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmPoolSettings {
    /// MinSize: it has at least so many instances.
    pub min_size: u32,
    /// MaxGroupPreparedCapacity: AWS fills it until so many instances are in it and in the group together. None: the group's maximum size.
    pub max_prepared: Option<u32>,
    /// PoolState.
    pub state: WarmState,
    /// ReuseOnScaleIn: instances that a scale-in takes out of the group come back into the warm pool. The provider never sets it.
    pub reuse: bool,
}

impl WarmPoolSettings {
    /// These, so that AWS launches nothing into it, and terminates what is in it (Auto Scaling API Reference, PutWarmPool:
    /// MaxGroupPreparedCapacity).
    pub fn emptied(self) -> Self {
        Self { min_size: 0, max_prepared: Some(0), state: self.state, reuse: false }
    }

    /// Whether AWS keeps no instances in it.
    pub fn is_empty(self) -> bool {
        self.min_size == 0 && self.max_prepared == Some(0)
    }

    /// Whether the provider could have set them: it sets neither reuse nor hibernation.
    pub fn is_of_provider(self) -> bool {
        !self.reuse && self.state != WarmState::Hibernated
    }

    /// Whether instances whose user data may not wait are perhaps Nodes with Pods: they run, keep their memory, or were members of the
    /// group. Of one that AWS stopped after its first boot, nothing runs any more. During that boot it counts as stopped, too, also while a
    /// lifecycle hook of `Launching` prolongs it.
    pub fn may_have_pods(self) -> bool {
        self.reuse || self.state != WarmState::Stopped
    }
}

/// What an instance of a warm pool is, after it has been started once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WarmState {
    /// Stopped: it costs its volumes and addresses.
    Stopped,
    /// Running.
    Running,
    /// Stopped, with its memory kept on the root volume. The provider never sets it.
    Hibernated,
}

impl WarmState {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Stopped, Self::Running, Self::Hibernated];

    /// AWS's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stopped => "Stopped",
            Self::Running => "Running",
            Self::Hibernated => "Hibernated",
        }
    }

    /// By AWS's name; `Stopped`, AWS's default, for any other.
    pub fn from_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|it| it.name() == name).unwrap_or(Self::Stopped)
    }
}
