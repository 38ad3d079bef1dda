//! EC2: instances and launch templates. It knows nothing of groups beyond the name of the group an instance is in.

pub mod instances;
pub mod launch_data;
pub mod scheduled;
pub mod tags;
pub mod templates;
pub(crate) mod volumes;
pub mod workload_volumes;
