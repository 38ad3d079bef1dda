//! What is the case: which part has which role, what is created but not shown yet, what was begun and may have happened. Nothing is
//! decided here.

mod absorb;
pub(crate) mod effects;
mod known;
pub(crate) mod part;
mod shown;
mod wanted;

pub(crate) use absorb::{expected_gone_since, situation};
pub(crate) use effects::may_be_sent_again;
pub(crate) use known::{Situation, Standing};
pub use shown::installations;
pub(crate) use shown::{Tagged, tagged};
pub use wanted::nat_zones;
