//! The operations behind the actions of services.

use super::xml::Xml;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::params::Params;
use foo_model::Timestamp;
use serde_json::Value;

/// The caller, for operations that record it.
pub(in crate::wire) struct Caller<'a> {
    pub(in crate::wire) arn: String,
    pub(in crate::wire) name: &'a str,
    pub(in crate::wire) account: &'a str,
    /// When the call arrived, in real time.
    pub(in crate::wire) received: Timestamp,
}

/// An operation: reads its parameters, reads or changes the region, writes the inside of its response.
pub(super) type Operation = fn(&mut Region, &Params, &Caller<'_>, &mut Xml) -> AwsResult<()>;

/// An operation with JSON: the region, its parameters, and the host for URLs in the response.
pub(super) type JsonOperation = fn(&mut Region, &Value, &str) -> AwsResult<Value>;

/// The operation with this name.
pub(super) fn named<T: Copy>(actions: &[(&str, T)], action: &str) -> Option<T> {
    actions.iter().find(|(name, _)| *name == action).map(|(_, operation)| *operation)
}
