//! EC2: instances and launch templates. It knows only the name of the group that an instance belongs to.

pub mod capacity;
pub mod instances;
pub mod launch_data;
pub(crate) mod options;
pub mod scheduled;
pub mod templates;
pub(crate) mod volumes;
pub mod workload_volumes;
