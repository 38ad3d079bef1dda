//! Conversions between AWS's signed numbers and our unsigned ones.

use crate::error::Gap;

/// A count in AWS's type. A count that does not fit becomes the largest number, which AWS refuses.
pub(crate) fn signed(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A required count that cannot be negative.
pub(crate) fn count(number: Option<i32>, field: &'static str) -> Result<u32, Gap> {
    number.and_then(|number| u32::try_from(number).ok()).ok_or(Gap(field))
}
