//! EC2 filters.

use aws_sdk_ec2::types::Filter;

/// A filter with one value.
pub(crate) fn filter(name: &str, value: &str) -> Filter {
    Filter::builder().name(name).values(value).build()
}

/// The value with its wildcards escaped (EC2 User Guide, "List and filter your resources").
pub(crate) fn literal(value: &str) -> String {
    value.chars().fold(String::with_capacity(value.len()), |mut text, c| {
        if matches!(c, '*' | '?' | '\\') {
            text.push('\\');
        }
        text.push(c);
        text
    })
}
