//! What Cluster API may rely on, on the real Cluster API: one test for each behaviour of the contracts.

#[path = "contract/adoption.rs"]
mod adoption;
#[path = "contract/capacity.rs"]
mod capacity;
#[path = "contract/deletion.rs"]
mod deletion;
#[path = "contract/hooks.rs"]
mod hooks;
#[path = "contract/machines.rs"]
mod machines;
#[path = "contract/node_group.rs"]
mod node_group;
#[path = "contract/odd.rs"]
mod odd;
#[path = "contract/options.rs"]
mod options;
#[path = "contract/order.rs"]
mod order;
#[path = "contract/pause.rs"]
mod pause;
#[path = "contract/plans.rs"]
mod plans;
#[path = "contract/preflight.rs"]
mod preflight;
#[path = "contract/size.rs"]
mod size;
#[path = "contract/status.rs"]
mod status;
#[path = "contract/traffic.rs"]
mod traffic;
#[path = "contract/user_of_aws.rs"]
mod user_of_aws;
