//! Seeded randomness: the same seed and the same order of calls give the same ids, delays and choices, for ever.
//!
//! SplitMix64, implemented here because general-purpose crates may change their streams between versions. Tests with
//! random histories use it as well, so that a seed that found a bug finds it again.

use foo_model::InstanceId;
use std::time::Duration;

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The stream of a seed.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream for a seed and a name; different names give independent streams.
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a gives each region a stream of its own.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self::of(seed ^ hash)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits().checked_rem(bound).unwrap_or(0)
    }

    /// One of the choices; `None` only if there are none.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let bound = u64::try_from(choices.len()).unwrap_or(u64::MAX);
        let at = usize::try_from(self.below(bound)).unwrap_or(0);
        choices.get(at)
    }

    /// A random duration that differs from `typical` by at most `percent` of it.
    pub(crate) fn around(&mut self, typical: Duration, percent: u32) -> Duration {
        let typical_ms = u64::try_from(typical.as_millis()).unwrap_or(u64::MAX / 1000);
        let reach = typical_ms.saturating_mul(u64::from(percent.min(100))) / 100;
        let offset = self.below(reach.saturating_mul(2).saturating_add(1));
        Duration::from_millis(typical_ms.saturating_sub(reach).saturating_add(offset))
    }

    /// A resource id: the prefix and 17 hexadecimal digits, the first of them 0 as AWS's are.
    pub(crate) fn id(&mut self, prefix: &str) -> String {
        format!("{prefix}-0{:016x}", self.bits())
    }

    /// An instance id.
    pub(crate) fn instance_id(&mut self) -> InstanceId {
        InstanceId::new(self.id("i"))
    }

    /// A version 4 UUID.
    pub(crate) fn uuid(&mut self) -> String {
        let (high, low) = (self.bits(), self.bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_of_a_seed_never_changes() {
        let mut chance = Chance::new(1, "eu-central-1");
        let first = chance.id("i");
        assert_eq!(first, Chance::new(1, "eu-central-1").id("i"));
        assert_ne!(first, Chance::new(1, "us-east-1").id("i"));
        assert_ne!(first, Chance::new(2, "eu-central-1").id("i"));
        assert_eq!(first.len(), "i-".len() + 17);
        assert_eq!(chance.uuid().len(), 36);
    }

    #[test]
    fn a_spread_stays_within_its_percentage() {
        let mut chance = Chance::new(7, "spread");
        for _ in 0..1000 {
            let seconds = chance.around(Duration::from_secs(20), 25).as_secs_f64();
            assert!((15.0..=25.0).contains(&seconds), "{seconds}");
        }
    }
}
