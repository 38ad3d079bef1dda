//! EC2 instances: pending → running → shutting-down → terminated, and no longer shown an hour later.

use super::scheduled::ScheduledEvent;
use crate::core::catalogue::Boot;
use foo_cloud::InstanceState;
use foo_model::{
    GroupName, ImageId, InstanceId, InstanceType, LaunchTemplateId, SecurityGroupId, SubnetId,
    TemplateVersion, Timestamp, Zone,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// An instance in EC2.
#[derive(Clone, Debug, Serialize)]
pub struct Ec2Instance {
    /// Its id.
    pub id: InstanceId,
    /// Its state.
    pub state: InstanceState,
    /// Its type.
    pub instance_type: InstanceType,
    /// Its image.
    pub image: ImageId,
    /// Whether its Node joins, if its image allows that. Test beds read it, EC2 does not.
    pub boots: Boot,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// Its subnet.
    pub subnet: SubnetId,
    /// Its VPC.
    pub vpc: String,
    /// Its zone.
    pub zone: Zone,
    /// Its addresses; EC2 removes them when the instance is terminated.
    pub addresses: Option<Addresses>,
    /// When it was launched.
    pub launched: Timestamp,
    /// When it was terminated, or will be while it shuts down.
    pub ended: Option<Timestamp>,
    /// The template and version it was launched from.
    pub template: Option<(LaunchTemplateId, TemplateVersion)>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// On demand or spot.
    pub market: Market,
    /// The group it is a member of.
    pub group: Option<GroupName>,
    /// Its security groups.
    pub security_groups: Vec<SecurityGroupId>,
    /// Name or ARN of its instance profile.
    pub instance_profile: Option<String>,
    /// Its user data, in base64. The state that the control API shows does not have it.
    #[serde(skip)]
    pub user_data: Option<Arc<str>>,
    /// What it wrote to its console, and until when. A test bed knows it, the simulator does not.
    #[serde(skip)]
    pub console: Option<(Arc<str>, Timestamp)>,
    /// Its SSH key pair.
    pub key_name: Option<String>,
    /// Its reservation.
    pub reservation: String,
    /// Name of its placement group.
    pub placement_group: Option<String>,
    /// Partition of that, if its launch chose one.
    pub partition: Option<String>,
    /// Id of the Capacity Reservation that it uses.
    pub capacity_reservation: Option<String>,
    /// Its scheduled events.
    pub events: Vec<ScheduledEvent>,
    /// Why it was terminated: code and text (EC2 API Reference, StateReason).
    pub reason: Option<(String, String)>,
}

/// Addresses and names of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Addresses {
    /// Private address.
    pub private: Ipv4Addr,
    /// Private DNS name, which is also the name of the Node.
    pub private_dns: String,
    /// Public address and name, in public subnets.
    pub public: Option<(Ipv4Addr, String)>,
}

/// Purchase option of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Market {
    /// On demand.
    OnDemand,
    /// Spot.
    Spot,
}

impl Addresses {
    /// The names that EC2 gives to addresses in a region (VPC User Guide, "DNS hostnames for your VPC").
    pub(crate) fn in_region(region: &str, private: Ipv4Addr, public: Option<Ipv4Addr>) -> Self {
        let dashed = |address: Ipv4Addr| address.to_string().replace('.', "-");
        let (inner, outer) = if region == "us-east-1" {
            ("ec2.internal".to_owned(), "compute-1.amazonaws.com".to_owned())
        } else {
            (format!("{region}.compute.internal"), format!("{region}.compute.amazonaws.com"))
        };
        Self {
            private,
            private_dns: format!("ip-{}.{inner}", dashed(private)),
            public: public.map(|address| (address, format!("ec2-{}.{outer}", dashed(address)))),
        }
    }

    /// The private name has the instance's id in place of the address (EC2 User Guide, "Amazon EC2 instance hostname types").
    pub(crate) fn name_by(&mut self, id: &InstanceId) {
        if let Some((_, domain)) = self.private_dns.split_once('.') {
            self.private_dns = format!("{id}.{domain}");
        }
    }
}

/// EC2's number and name of a state (EC2 API Reference, InstanceState).
pub fn state_code(state: InstanceState) -> (u16, &'static str) {
    match state {
        InstanceState::Pending => (0, "pending"),
        InstanceState::Running => (16, "running"),
        InstanceState::ShuttingDown => (32, "shutting-down"),
        InstanceState::Terminated => (48, "terminated"),
        InstanceState::Stopping => (64, "stopping"),
        InstanceState::Stopped => (80, "stopped"),
    }
}
