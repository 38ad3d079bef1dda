//! `kubectl foo`: shows the state of objects in the management cluster to an operator.
//!
//! * [`args`] has the commands and flags, [`run`] carries them out;
//! * [`asked`] reads which objects are meant;
//! * [`access`] finds the cluster and lists objects, each kind once; [`refused`] names the right that is missing;
//! * [`explain`], and a module like it for each command: `read` gathers objects, pure functions turn them into text, so
//!   tests pin the whole output;
//! * [`terminal`] prints. Nothing else may: it escapes control characters.
//!
//! It does not call the manager: [`plan`] asks it by an object, for [`diff`] as well. From AWS only [`adopt`], [`adopt_cluster`], [`console`],
//! [`orphans`], [`preflight`] and [`rollout::history`] read, by the user's own AWS CLI ([`aws`]). A new command is a variant of [`args::Command`], a
//! module, a golden file for each output, and a section in docs/operations/plugin.md.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod access;
pub mod adopt;
pub mod adopt_cluster;
pub mod args;
pub mod asked;
pub mod aws;
pub mod capi;
pub mod cluster;
pub mod completion;
pub mod console;
pub mod diff;
pub mod drains;
pub mod events;
pub mod explain;
pub mod orphans;
pub mod plan;
pub mod preflight;
pub mod refused;
pub mod rollout;
pub mod run;
pub mod shell;
pub mod status;
pub mod support;
pub mod terminal;
mod text;
