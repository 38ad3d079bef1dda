//! AWS counts in signed numbers, we do not.

use crate::error::Gap;

/// A count as AWS wants it. Counts that do not fit are refused by AWS, as is the largest number.
pub(crate) fn signed(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A count that must be there and cannot be negative.
pub(crate) fn count(number: Option<i32>, field: &'static str) -> Result<u32, Gap> {
    number.and_then(|number| u32::try_from(number).ok()).ok_or(Gap(field))
}
