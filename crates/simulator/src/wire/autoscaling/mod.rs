//! Auto Scaling's query protocol, version 2011-01-01. One file per family of operations.

mod describe;
mod groups;
mod hooks;
mod instances;
mod launch;
mod refreshes;
mod tags;
mod warm_pools;

use super::Operation;

/// All actions.
pub(super) const ACTIONS: [(&str, Operation); 33] = [
    ("CreateAutoScalingGroup", groups::create),
    ("UpdateAutoScalingGroup", groups::update),
    ("DeleteAutoScalingGroup", groups::delete),
    ("SetDesiredCapacity", groups::set_desired_capacity),
    ("SuspendProcesses", groups::suspend_processes),
    ("ResumeProcesses", groups::resume_processes),
    ("DescribeAutoScalingGroups", describe::groups),
    ("DescribeAutoScalingInstances", describe::instances),
    ("DescribeScalingActivities", describe::activities),
    ("TerminateInstanceInAutoScalingGroup", instances::terminate),
    ("SetInstanceProtection", instances::set_protection),
    ("SetInstanceHealth", instances::set_health),
    ("EnterStandby", instances::enter_standby),
    ("ExitStandby", instances::exit_standby),
    ("DetachInstances", instances::detach),
    ("AttachInstances", instances::attach),
    ("PutLifecycleHook", hooks::put),
    ("DeleteLifecycleHook", hooks::delete),
    ("DescribeLifecycleHooks", hooks::describe),
    ("DescribeLifecycleHookTypes", hooks::describe_types),
    ("CompleteLifecycleAction", hooks::complete),
    ("RecordLifecycleActionHeartbeat", hooks::heartbeat),
    ("LaunchInstances", launch::launch),
    ("StartInstanceRefresh", refreshes::start),
    ("CancelInstanceRefresh", refreshes::cancel),
    ("RollbackInstanceRefresh", refreshes::rollback),
    ("DescribeInstanceRefreshes", refreshes::describe),
    ("PutWarmPool", warm_pools::put),
    ("DeleteWarmPool", warm_pools::delete),
    ("DescribeWarmPool", warm_pools::describe),
    ("CreateOrUpdateTags", tags::create_or_update),
    ("DeleteTags", tags::delete),
    ("DescribeTags", tags::describe),
];
