//! Probabilities, as fault rules and event rules name them.

use crate::core::chance::Chance;
use serde::{Deserialize, Serialize};

/// A number from 0 (never) to 1 (always).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

/// The error for a number that is not a probability.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not between 0 and 1")]
pub struct NotAProbability(f64);

impl Probability {
    /// Never.
    pub const NEVER: Self = Self(0.0);

    /// # Errors
    /// The number is below 0, above 1 or not a number.
    pub fn new(number: f64) -> Result<Self, NotAProbability> {
        if (0.0..=1.0).contains(&number) { Ok(Self(number)) } else { Err(NotAProbability(number)) }
    }

    /// Draws: `true` with this probability.
    pub(crate) fn occurs(self, chance: &mut Chance) -> bool {
        // 32 random bits are exact in an f64, so 0 is never true and 1 always is.
        let drawn = u32::try_from(chance.bits() >> 32).unwrap_or(u32::MAX);
        f64::from(drawn) < self.0 * 4_294_967_296.0
    }
}

impl TryFrom<f64> for Probability {
    type Error = NotAProbability;

    fn try_from(number: f64) -> Result<Self, NotAProbability> {
        Self::new(number)
    }
}

impl From<Probability> for f64 {
    fn from(probability: Probability) -> Self {
        probability.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_and_always_are_exact() {
        let mut chance = Chance::new(1, "probability");
        let always = Probability::new(1.0).expect("a probability");
        assert!((0..1000).all(|_| always.occurs(&mut chance) && !Probability::NEVER.occurs(&mut chance)));
        assert!(Probability::new(f64::NAN).is_err());
    }
}
