//! Which AWS operation has the priority of an action: that decides whether the action is tried while AWS throttles calls, or
//! others wait. An action may send other calls before it (the account, for user data) and after it.

use foo_cloud::Operation;
use foo_planner::Action;
use foo_planner::action::{
    GroupAction, HookAction, InstanceAction, ObjectAction, ReadAction, TemplateAction,
};

/// The operation; none for an action that calls only Kubernetes, and for a read of instances: the observer sends that call
/// when it is due.
pub(super) fn operation_of(action: &Action) -> Option<Operation> {
    match action {
        Action::Group(action) => Some(of_group(action)),
        Action::Instance(InstanceAction::ProtectInstances { .. }) => Some(Operation::SetInstanceProtection),
        Action::Instance(InstanceAction::TerminateInstance { .. }) => {
            Some(Operation::TerminateInstanceInAutoScalingGroup)
        }
        Action::Object(ObjectAction::StoreUserData { .. }) => Some(Operation::PutObject),
        Action::Object(ObjectAction::DeleteUserData { .. }) => Some(Operation::ListObjectsV2),
        Action::Template(action) => Some(of_template(action)),
        Action::Hook(action) => Some(of_hook(action)),
        Action::Read(ReadAction::DescribeLaunchTemplate) => Some(Operation::DescribeLaunchTemplateVersions),
        Action::Read(ReadAction::DescribeLifecycleHook { .. }) => Some(Operation::DescribeLifecycleHooks),
        Action::Read(ReadAction::DescribeInstances { .. })
        | Action::Pool(_)
        | Action::Machine(_)
        | Action::Node(_) => None,
    }
}

fn of_group(action: &GroupAction) -> Operation {
    match action {
        GroupAction::CreateGroup(_) => Operation::CreateAutoScalingGroup,
        GroupAction::UpdateGroup { .. } => Operation::UpdateAutoScalingGroup,
        GroupAction::AdoptGroup { .. } | GroupAction::TagGroup { .. } => Operation::CreateOrUpdateTags,
        GroupAction::SuspendProcesses { .. } => Operation::SuspendProcesses,
        GroupAction::ResumeProcesses { .. } => Operation::ResumeProcesses,
        GroupAction::AttachTrafficSources { .. } => Operation::AttachTrafficSources,
        GroupAction::DetachTrafficSources { .. } => Operation::DetachTrafficSources,
        GroupAction::PutNotifications { .. } => Operation::PutNotificationConfiguration,
        GroupAction::DeleteNotifications { .. } => Operation::DeleteNotificationConfiguration,
        GroupAction::PutWarmPool { .. } => Operation::PutWarmPool,
        GroupAction::DeleteWarmPool { .. } => Operation::DeleteWarmPool,
        GroupAction::DeleteGroup { .. } => Operation::DeleteAutoScalingGroup,
    }
}

fn of_template(action: &TemplateAction) -> Operation {
    match action {
        TemplateAction::CreateTemplate { .. } => Operation::CreateLaunchTemplate,
        TemplateAction::CreateTemplateVersion { .. } | TemplateAction::CopyTemplateVersion { .. } => {
            Operation::CreateLaunchTemplateVersion
        }
        TemplateAction::DeleteTemplateVersions { .. } => Operation::DeleteLaunchTemplateVersions,
        TemplateAction::DeleteTemplate { .. } => Operation::DeleteLaunchTemplate,
    }
}

fn of_hook(action: &HookAction) -> Operation {
    match action {
        HookAction::PutLifecycleHook { .. } | HookAction::PutOtherHook { .. } => Operation::PutLifecycleHook,
        HookAction::DeleteLifecycleHook { .. } | HookAction::DeleteOtherHook { .. } => {
            Operation::DeleteLifecycleHook
        }
        HookAction::RecordHeartbeat { .. } => Operation::RecordLifecycleActionHeartbeat,
        HookAction::CompleteLifecycleAction { .. } => Operation::CompleteLifecycleAction,
    }
}
