//! Traffic sources of an Auto Scaling group: what sends requests to its instances. AWS attaches, detaches and describes all
//! kinds of them in the same way (Auto Scaling API Reference, `TrafficSourceIdentifier`).

use crate::{LatticeTargetGroupArn, LoadBalancerName, TargetGroupArn};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of traffic source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrafficSourceKind {
    /// A Classic Load Balancer.
    ClassicLoadBalancer,
    /// A target group of an Application, Network or Gateway Load Balancer.
    TargetGroup,
    /// A target group of VPC Lattice.
    LatticeTargetGroup,
}

impl TrafficSourceKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::ClassicLoadBalancer, Self::TargetGroup, Self::LatticeTargetGroup];

    /// AWS's name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClassicLoadBalancer => "elb",
            Self::TargetGroup => "elbv2",
            Self::LatticeTargetGroup => "vpc-lattice",
        }
    }

    /// By AWS's name of the type.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Several of them, in messages.
    pub fn plural(self) -> &'static str {
        match self {
            Self::ClassicLoadBalancer => "Classic Load Balancers",
            Self::TargetGroup => "target groups",
            Self::LatticeTargetGroup => "VPC Lattice target groups",
        }
    }

    /// How many of them one Auto Scaling group can have (Auto Scaling User Guide, "Quotas for Amazon EC2 Auto Scaling").
    pub fn quota(self) -> usize {
        match self {
            Self::ClassicLoadBalancer | Self::TargetGroup => 50,
            Self::LatticeTargetGroup => 5,
        }
    }

    /// The traffic source of this kind with this identifier.
    pub fn with(self, identifier: &str) -> TrafficSource {
        match self {
            Self::ClassicLoadBalancer => TrafficSource::ClassicLoadBalancer(identifier.into()),
            Self::TargetGroup => TrafficSource::TargetGroup(identifier.into()),
            Self::LatticeTargetGroup => TrafficSource::LatticeTargetGroup(identifier.into()),
        }
    }
}

/// One traffic source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TrafficSource {
    /// A Classic Load Balancer.
    ClassicLoadBalancer(LoadBalancerName),
    /// A target group of an Application, Network or Gateway Load Balancer.
    TargetGroup(TargetGroupArn),
    /// A target group of VPC Lattice.
    LatticeTargetGroup(LatticeTargetGroupArn),
}

impl TrafficSource {
    /// Its kind.
    pub fn kind(&self) -> TrafficSourceKind {
        match self {
            Self::ClassicLoadBalancer(_) => TrafficSourceKind::ClassicLoadBalancer,
            Self::TargetGroup(_) => TrafficSourceKind::TargetGroup,
            Self::LatticeTargetGroup(_) => TrafficSourceKind::LatticeTargetGroup,
        }
    }

    /// What AWS identifies it by: a name or an ARN.
    pub fn identifier(&self) -> &str {
        match self {
            Self::ClassicLoadBalancer(name) => name.as_str(),
            Self::TargetGroup(arn) => arn.as_str(),
            Self::LatticeTargetGroup(arn) => arn.as_str(),
        }
    }
}

impl fmt::Display for TrafficSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.identifier())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_traffic_source_keeps_its_name_and_its_identifier() {
        for kind in TrafficSourceKind::ALL {
            assert_eq!(TrafficSourceKind::from_name(kind.name()), Some(kind));
            let source = kind.with("web");
            assert_eq!(
                (source.kind(), source.identifier(), source.to_string()),
                (kind, "web", "web".to_owned())
            );
        }
        assert_eq!(TrafficSourceKind::from_name("dns"), None);
    }
}
