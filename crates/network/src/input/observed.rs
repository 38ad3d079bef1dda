//! What AWS shows. Reads are shared between clusters; each says when it began, because what it shows may be as old as that, or
//! older by EC2's own delay.

use foo_model::network::{Kind, Parts, Quotas, ZoneInfo};
use foo_model::{SecurityGroupId, Timestamp, VpcId, Zone};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the newest reads show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Now.
    pub now: Timestamp,
    /// The shared read: `Scope::TagKey` of the tag `infrastructure.foo.com/network`. It may have parts of other networks.
    pub tagged: KindReads,
    /// What was read by id (`Scope::Ids`), as far as [`crate::report::ReadRequest`] asked for it: the user's VPC, parts that the
    /// shared read does not show.
    pub by_id: ById,
    /// Attributes of VPCs (`Kind::VpcAttributes` by ids), as far as asked for.
    pub attributes: BTreeMap<VpcId, DnsAttributes>,
    /// What was read by VPC (`Scope::Vpc`), as far as [`crate::report::ReadRequest`] asked for it.
    pub in_vpc: BTreeMap<VpcId, KindReads>,
    /// The region's zones (`Kind::Zone`). `None`: not read yet.
    pub zones: Option<BTreeMap<Zone, ZoneInfo>>,
    /// `None`: not asked lately. If they could not be learned, quotas that are all unknown. Needed before a network is begun, and before
    /// an edit adds what a quota counts ([`crate::Report::wants_quotas`]).
    pub quotas: Option<Quotas>,
}

impl Observed {
    /// When the newest read by its id of a security group began that is no part of a network. `None`: there was none.
    pub(crate) fn foreign_group_read(&self, group: &SecurityGroupId) -> Option<Timestamp> {
        let read = self.by_id.begun.get(&Kind::SecurityGroup)?.get(group.as_str()).copied();
        read.filter(|_| !self.tagged.parts.security_groups.contains_key(group))
    }
}

/// The newest read of each of several kinds, in one scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindReads {
    /// When the newest read of each kind began. A kind that is not in here was not read.
    pub begun: BTreeMap<Kind, Timestamp>,
    /// What they showed.
    pub parts: Parts,
}

/// The newest read of each of several ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ById {
    /// When the newest read of each id began. What was asked for and is not in `parts` was not found.
    pub begun: BTreeMap<Kind, BTreeMap<String, Timestamp>>,
    /// What was found.
    pub parts: Parts,
}

/// The attributes of a VPC that are not part of its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsAttributes {
    /// When the newest read of them began.
    pub begun: Timestamp,
    /// `enableDnsSupport`.
    pub support: bool,
    /// `enableDnsHostnames`.
    pub hostnames: bool,
}
