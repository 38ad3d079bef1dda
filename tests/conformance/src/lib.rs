//! The simulator before independent judges.
//!
//! * boto3: its model shows which parameters exist, how they are encoded and which elements a response may have
//!   (`python/round_trip.py`).
//! * moto, an independent simulation, gets the same calls as this one (`python/judge.py`, `python/scenarios.py`);
//!   `python/deviations.py` names where moto is wrong, and any other difference fails.
//! * A browser reads the simulator's web page (`python/page.py`).
//!
//! [`python`] installs what these need; the end-to-end tests use its AWS CLI.

pub mod python;
