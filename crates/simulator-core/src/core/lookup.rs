//! Resources by the ids that a caller gives. Malformed and unknown ids have codes of their own (EC2 API Reference,
//! "Error codes").

use super::error::AwsError;

/// Which state of the region a call sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The present one: calls that change something.
    Present,
    /// That of a read lag ago: Describe calls.
    Lagging,
}

/// The message of EC2's refusal of instances that do not exist.
pub fn unknown_instances(ids: &[&str]) -> AwsError {
    let message = match ids {
        [one] => format!("The instance ID '{one}' does not exist"),
        many => format!("The instance IDs '{}' do not exist", many.join(", ")),
    };
    AwsError::new("InvalidInstanceID.NotFound", message)
}
