//! Pure decisions about one pool: `plan(&Desired, &Observed, &Memory) -> Plan { actions, report, memory }`.
//!
//! No async, no clock, no I/O, no Kubernetes client, no SDK: what goes in are values, what comes out are values.
//! Every decision of the provider about groups, instances and Machines is made here and nowhere else.

pub mod model;
