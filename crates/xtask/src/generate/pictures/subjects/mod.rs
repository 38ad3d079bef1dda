//! What the pictures of the documentation show. A change of a picture is a change here.
//!
//! * `parts`: the components, and who calls whom;
//! * `machine`: the states of a Machine;
//! * `flows`: a pass, a roll-out, the drains, a takeover.

pub(super) mod flows;
pub(super) mod machine;
pub(super) mod parts;
