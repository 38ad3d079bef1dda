//! Filters of EC2.

use aws_sdk_ec2::types::Filter;

/// A filter of one value.
pub(crate) fn filter(name: &str, value: &str) -> Filter {
    Filter::builder().name(name).values(value).build()
}

/// The value without the meaning of its wildcards (EC2 User Guide, "List and filter your resources").
pub(crate) fn literal(value: &str) -> String {
    value.chars().fold(String::with_capacity(value.len()), |mut text, c| {
        if matches!(c, '*' | '?' | '\\') {
            text.push('\\');
        }
        text.push(c);
        text
    })
}
