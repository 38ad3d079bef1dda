//! Numbers of Kubernetes and of the provider.

/// A Kubernetes integer that the schema keeps at zero or above.
pub(in crate::pool) fn unsigned(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
