//! Auto Scaling's query protocol, version 2011-01-01. One file per family of operations.

mod describe;
mod everyday;
mod fields;
mod groups;
mod hooks;
mod instances;
mod launch;
mod notifications;
mod refreshes;
mod tags;
mod traffic;
mod warm_pools;

use super::operation::Operation;

/// All actions.
pub(super) const ACTIONS: [(&str, Operation); 54] = [
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
    ("DescribePolicies", |_, _, _, xml| everyday::none(xml, "ScalingPolicies")),
    ("DescribeScheduledActions", |_, _, _, xml| everyday::none(xml, "ScheduledUpdateGroupActions")),
    ("PutNotificationConfiguration", notifications::put),
    ("DeleteNotificationConfiguration", notifications::delete),
    ("DescribeNotificationConfigurations", notifications::describe),
    ("DescribeLaunchConfigurations", |_, _, _, xml| everyday::none(xml, "LaunchConfigurations")),
    ("AttachTrafficSources", traffic::attach),
    ("DetachTrafficSources", traffic::detach),
    ("AttachLoadBalancers", traffic::attach),
    ("DetachLoadBalancers", traffic::detach),
    ("DescribeLoadBalancers", traffic::describe_load_balancers),
    ("AttachLoadBalancerTargetGroups", traffic::attach),
    ("DetachLoadBalancerTargetGroups", traffic::detach),
    ("DescribeLoadBalancerTargetGroups", traffic::describe_target_groups),
    ("DescribeTrafficSources", traffic::describe_sources),
    ("DescribeAccountLimits", |region, _, _, xml| everyday::account_limits(region, xml)),
    ("DescribeTerminationPolicyTypes", |_, _, _, xml| everyday::termination_policies(xml)),
    ("DescribeScalingProcessTypes", |_, _, _, xml| everyday::processes(xml)),
    ("DescribeAdjustmentTypes", |_, _, _, xml| everyday::adjustments(xml)),
    ("DescribeMetricCollectionTypes", |_, _, _, xml| everyday::metrics(xml)),
    ("DescribeAutoScalingNotificationTypes", |_, _, _, xml| everyday::notifications(xml)),
];
