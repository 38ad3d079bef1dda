//! Which call comes first when the calls of an account have to wait.

use super::Operation;
use strum::{EnumIter, IntoStaticStr};

/// How urgent a call is, the most urgent first. Calls that wait for one rate limit are sent in this order; the order of
/// calls that do not wait for the same limit is not affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Priority {
    /// Calls about an instance that waits for the lifecycle hook `foo-drain`: a heartbeat, without which AWS terminates
    /// the instance before it is drained, or the completion of its lifecycle action.
    Hook,
    /// Terminations, of instances that are drained and cost money, and the deletion of what would launch them again.
    Termination,
    /// Launches, what has to exist before them, and what protects the launched instances until they are drained.
    Launch,
    /// All other changes.
    Settings,
    /// Calls that change nothing that a user could see.
    Read,
}

impl Operation {
    /// How urgent the operation is: one that is not named here is a read, or a change of settings.
    pub fn priority(self) -> Priority {
        match self {
            Self::RecordLifecycleActionHeartbeat | Self::CompleteLifecycleAction => Priority::Hook,
            Self::DeleteWarmPool
            | Self::TerminateInstanceInAutoScalingGroup
            | Self::DeleteAutoScalingGroup => Priority::Termination,
            Self::CreateAutoScalingGroup
            | Self::UpdateAutoScalingGroup
            | Self::ResumeProcesses
            | Self::PutWarmPool
            | Self::SetInstanceProtection
            | Self::PutLifecycleHook
            | Self::CreateLaunchTemplate
            | Self::CreateLaunchTemplateVersion
            | Self::PutObject => Priority::Launch,
            Self::ReceiveMessage => Priority::Read,
            other if other.is_mutation() => Priority::Settings,
            _ => Priority::Read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::IntoEnumIterator;

    #[test]
    fn reads_are_the_operations_that_change_nothing_and_the_receipt_of_messages() {
        for operation in Operation::iter() {
            let reads = !operation.is_mutation() || operation == Operation::ReceiveMessage;
            assert_eq!(operation.priority() == Priority::Read, reads, "{operation}");
        }
    }

    #[test]
    fn heartbeats_come_before_terminations_terminations_before_launches_and_launches_before_reads() {
        let order = [
            Operation::RecordLifecycleActionHeartbeat,
            Operation::TerminateInstanceInAutoScalingGroup,
            Operation::UpdateAutoScalingGroup,
            Operation::CreateOrUpdateTags,
            Operation::DescribeAutoScalingGroups,
        ];
        assert!(order.map(Operation::priority).is_sorted_by(|one, next| one < next));
        let completion = Operation::CompleteLifecycleAction.priority();
        assert_eq!(completion, Operation::RecordLifecycleActionHeartbeat.priority());
    }

    #[test]
    fn the_names_of_priorities_are_labels() {
        let names: Vec<&str> = Priority::iter().map(Into::into).collect();
        assert_eq!(names, ["hook", "termination", "launch", "settings", "read"]);
    }
}
