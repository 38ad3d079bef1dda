//! Timestamps in AWS's formats.

use foo_model::Timestamp;

/// ISO 8601 in UTC with milliseconds: the form of timestamps in responses.
pub fn iso_millis(time: Timestamp) -> String {
    format_with(time, "%Y-%m-%dT%H:%M:%S%.3fZ")
}

/// ISO 8601 in UTC with seconds: the form of timestamps inside texts.
pub fn iso_seconds(time: Timestamp) -> String {
    format_with(time, "%Y-%m-%dT%H:%M:%SZ")
}

/// A time outside of the calendar's range is written as the epoch.
fn format_with(time: Timestamp, format: &str) -> String {
    jiff::Timestamp::from_millisecond(time.0)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .strftime(format)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_aws_writes_them() {
        assert_eq!(iso_millis(Timestamp(1_767_225_600_042)), "2026-01-01T00:00:00.042Z");
        assert_eq!(iso_seconds(Timestamp(1_767_225_600_042)), "2026-01-01T00:00:00Z");
        assert_eq!(iso_seconds(Timestamp(i64::MAX)), "1970-01-01T00:00:00Z");
    }
}
