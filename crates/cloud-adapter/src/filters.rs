//! EC2 filters.

use aws_sdk_ec2::types::Filter;

/// A filter with one value.
pub(crate) fn filter(name: &str, value: &str) -> Filter {
    Filter::builder().name(name).values(value).build()
}
