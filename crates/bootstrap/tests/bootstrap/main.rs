//! User data, rendered and read back: goldens per family, refusals in words, properties.

mod golden;
mod properties;
mod reading;
mod refusals;
mod sample;
