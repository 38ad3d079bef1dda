//! All beliefs, by subject. One that belongs to a rule of the simulator names a test of it (docs/simulator-rules.md); others name the
//! file that relies on it.
//!
//! Checks may run in any order. None leaves the shared group with an instance, with another version of the template than 1 or with a
//! suspended process; its maximum size, its tags and the versions of the template differ afterwards.

mod delays;
mod groups;
mod hooks;
mod networks;
mod reads;
mod templates;

use crate::belief::Belief;

/// All of them, in the order in which they are checked: first everything that only reads.
pub fn all() -> Vec<Belief> {
    let subjects = [
        reads::beliefs(),
        templates::beliefs(),
        groups::beliefs(),
        hooks::beliefs(),
        networks::beliefs(),
        delays::beliefs(),
    ];
    let mut all: Vec<Belief> = subjects.into_iter().flatten().collect();
    all.sort_by_key(|belief| belief.stage);
    all
}
