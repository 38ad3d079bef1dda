//! How long to wait after failures.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// The first pause; each further failure doubles it.
const FIRST: Duration = Duration::from_secs(1);

/// The pause after so many failures in a row: doubling from one second to `longest`, of which between a half and all
/// is waited. The part depends on the seed and the count only, so a run can be repeated.
pub(super) fn pause(failures: u32, longest: Duration, seed: u64) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let full = FIRST.saturating_mul(1 << doublings).min(longest);
    let mut hasher = DefaultHasher::new();
    (seed, failures).hash(&mut hasher);
    let thousandths = u32::try_from(hasher.finish() % 500).unwrap_or(0).saturating_add(501);
    full.saturating_mul(thousandths).checked_div(1_000).unwrap_or(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_and_stays_within_its_limit() {
        let longest = Duration::from_mins(1);
        for seed in 0..50 {
            for failures in 1..40 {
                let full = longest.min(Duration::from_secs(1 << (failures - 1).min(16)));
                let pause = pause(failures, longest, seed);
                assert!(pause > full / 2 && pause <= full, "{failures} failures: {pause:?}");
            }
        }
    }
}
