//! What an action of a service is.

use super::params::Params;
use super::xml::Xml;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::Timestamp;
use serde_json::Value;

/// Who called, for operations that record it.
pub(in crate::wire) struct Caller<'a> {
    pub(in crate::wire) arn: String,
    pub(in crate::wire) name: &'a str,
    pub(in crate::wire) account: &'a str,
    /// When the call arrived, in real time.
    pub(in crate::wire) received: Timestamp,
}

/// An operation: reads its parameters, works on the region, writes the inside of its answer.
pub(super) type Operation = fn(&mut Region, &Params, &Caller<'_>, &mut Xml) -> AwsResult<()>;

/// An action that speaks JSON: the region, its parameters, and the host that URLs are to name.
pub(super) type JsonOperation = fn(&mut Region, &Value, &str) -> AwsResult<Value>;

/// The operation of a name.
pub(super) fn named<T: Copy>(actions: &[(&str, T)], action: &str) -> Option<T> {
    actions.iter().find(|(name, _)| *name == action).map(|(_, operation)| *operation)
}
