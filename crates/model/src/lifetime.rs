//! How old an instance may become.

use super::hash::fnv1a;
use super::ids::InstanceId;
use super::time::{Seconds, Timestamp};
use std::time::Duration;

/// An instance is replaced up to this share of its lifetime earlier.
const EARLIER_BY: u32 = 10;

/// When an instance is replaced because of its age: at the end of its lifetime, or up to a tenth of that earlier, by a share
/// that follows from its id. So instances that were launched together are not all replaced together, none becomes older than
/// its lifetime while the limits allow its replacement, and the moment stays the same.
pub fn expires_at(created: Timestamp, lifetime: Seconds, id: &InstanceId) -> Timestamp {
    let earliest = lifetime.0 - lifetime.0 / EARLIER_BY;
    let spread = u64::from(lifetime.0 / EARLIER_BY).saturating_add(1);
    let later = fnv1a(id.as_str()) % spread;
    created.plus(Duration::from_secs(u64::from(earliest).saturating_add(later)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const BORN: Timestamp = Timestamp(1_700_000_000_000);

    fn life(lifetime: u32, id: &str) -> u64 {
        BORN.until(expires_at(BORN, Seconds(lifetime), &InstanceId::new(id))).as_secs()
    }

    #[test]
    fn an_instance_expires_in_the_last_tenth_of_its_lifetime() {
        for lifetime in [3_600, 86_400, 31_536_000] {
            let ends: BTreeSet<u64> =
                (0..100).map(|number| life(lifetime, &format!("i-{number:017x}"))).collect();
            let (first, last) = (ends.first().unwrap(), ends.last().unwrap());
            assert!(*first >= u64::from(lifetime) * 9 / 10 && *last <= u64::from(lifetime), "{ends:?}");
            assert!(last - first > u64::from(lifetime) / 20, "they are spread: {first} to {last}");
        }
    }

    #[test]
    fn the_moment_never_changes() {
        assert_eq!(life(86_400, "i-0123456789abcdef0"), life(86_400, "i-0123456789abcdef0"));
        let days = life(2_592_000, "i-0123456789abcdef0");
        assert_eq!(days, PINNED, "a new version of the manager replaces no instance earlier or later");
    }

    const PINNED: u64 = 2_520_548;

    #[test]
    fn no_lifetime_is_too_short_or_too_long_to_compute_with() {
        assert_eq!(life(0, "i-1"), 0);
        assert!(life(u32::MAX, "i-1") > u64::from(u32::MAX / 10 * 9));
    }
}
