//! What this project believes of AWS, checked in an account of the user: "believed, seen".
//!
//! * `belief`: a belief, its stage and price, and what a check can find; [`beliefs`]: all of them, by subject.
//! * `scene`: what the checks share: the cloud, names, and the few free resources of the second stage.
//! * `plan`: which beliefs a run checks, with how many calls and at what price, before anything is sent.
//! * `run`: checks them one after the other, and cleans up in any case; `clean`: finds what is left by its tag and
//!   deletes it.
//! * `delays`: distributions of times; `report`: the page "believed, seen".
//! * `journal`: the recording, one exchange per line; `redact`: what is left out of it.
//! * `replay`: sends a recording to a simulated AWS and compares the responses; `shape`: what is compared.
//!
//! A new belief is an entry in the file of its subject in `beliefs/`. Its calls go through the traits of `foo-cloud`, so what is
//! checked is what the provider relies on. A stage that costs money is a variant of [`Stage`], beliefs with a price, and
//! in `clean` the kinds of resources that it creates.
//!
//! There is no AWS SDK here and no decision about pools. Nothing is created without the tag [`TAG`], and nothing without it is
//! changed or deleted.

mod belief;
pub mod beliefs;
mod clean;
mod delays;
mod journal;
mod plan;
mod redact;
mod replay;
mod report;
mod run;
mod scene;
mod shape;

pub use belief::{Belief, Check, Price, Seen, Source, Stage};
pub use clean::{Cleaned, Runs, clean};
pub use journal::{Entry, Journal, read};
pub use plan::Plan;
pub use replay::{Difference, replay};
pub use report::report;
pub use run::{Finding, Outcome, run};
pub use scene::{Pace, RunId, Scene, TAG};
