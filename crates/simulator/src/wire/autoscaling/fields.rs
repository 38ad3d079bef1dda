//! Parameters that several operations have.

use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use foo_model::{Decrement, GroupName};

/// AutoScalingGroupName, which nearly every call needs.
pub(super) fn group_name(params: &Params) -> AwsResult<GroupName> {
    params.required("AutoScalingGroupName").map(GroupName::from)
}

/// ShouldDecrementDesiredCapacity, which is required.
pub(super) fn decrement(params: &Params) -> AwsResult<Decrement> {
    match params.flag("ShouldDecrementDesiredCapacity")? {
        Some(true) => Ok(Decrement::Shrink),
        Some(false) => Ok(Decrement::Replace),
        None => Err(AwsError::missing("ShouldDecrementDesiredCapacity")),
    }
}
