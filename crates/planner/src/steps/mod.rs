//! One file per question, in the order of the plan.
//!
//! | File | Its question |
//! |---|---|
//! | `own` | may the provider act on this pool; finalizer, ARN; releasing the pool after a move |
//! | `machines` | a FooMachine for every instance, the Machine of a missing instance, deletion timeouts |
//! | `interrupt` | which Machines are replaced because of an announcement of AWS: interruption, retirement, recommendation |
//! | `group` | does the group exist, is it owned, is it configured as requested; protection from scale-in |
//! | `victims` | which Machines are deleted when there are too many |
//! | `replace` | which outdated Machines are deleted, and does the new content work |
//! | `expire` | which Machines are replaced because of their age |
//! | `remediate` | which unhealthy Machines are replaced |
//! | `hooks` | the lifecycle hook: created, restored, completed; heartbeats |
//! | `size` | desired capacity |
//! | `ends` | which released instances are terminated, with or without decrement |
//! | `template` | launch template versions; pruning |
//! | `objects` | user data in S3: stored before the version that fetches it, stored again if it was deleted, deleted with the last version |
//! | `warm_pool` | instances that the group starts in advance; their renewal with the launch template version |
//! | `remove` | deletion of a pool |
//! | `retain` | deletion of a pool whose group stays |
//! | `budget`, `delete` | shared by the steps: limits; a Machine is deleted once, whatever the reasons |

pub(crate) mod budget;
pub(crate) mod delete;
pub(crate) mod ends;
pub(crate) mod expire;
pub(crate) mod group;
pub(crate) mod hooks;
pub(crate) mod interrupt;
pub(crate) mod machines;
pub(crate) mod objects;
pub(crate) mod own;
pub(crate) mod remediate;
pub(crate) mod remove;
pub(crate) mod replace;
pub(crate) mod retain;
pub(crate) mod size;
pub(crate) mod template;
pub(crate) mod victims;
pub(crate) mod warm_pool;
