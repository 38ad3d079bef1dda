//! Quotas of vCPUs: which one the instances of a type count against. AWS counts running instances of an account and
//! region in vCPUs, by families of types, and those on demand apart from spot instances (Amazon EC2 User Guide, "Amazon
//! EC2 instance type quotas" and "Spot Instance quotas").

use foo_model::InstanceType;
use serde::{Deserialize, Serialize};
use strum::{EnumIter, IntoStaticStr};

/// One quota of vCPUs. Its text is its code in Service Quotas, service `ec2`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr, Serialize, Deserialize,
)]
pub enum VcpuQuota {
    /// Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances.
    #[strum(serialize = "L-1216C47A")]
    Standard,
    /// Running On-Demand DL instances.
    #[strum(serialize = "L-6E869C2A")]
    Dl,
    /// Running On-Demand F instances.
    #[strum(serialize = "L-74FC7D96")]
    F,
    /// Running On-Demand G and VT instances.
    #[strum(serialize = "L-DB2E81BA")]
    GAndVt,
    /// Running On-Demand High Memory instances.
    #[strum(serialize = "L-43DA4232")]
    HighMemory,
    /// Running On-Demand HPC instances.
    #[strum(serialize = "L-F7808C92")]
    Hpc,
    /// Running On-Demand Inf instances.
    #[strum(serialize = "L-1945791B")]
    Inf,
    /// Running On-Demand P instances.
    #[strum(serialize = "L-417A185B")]
    P,
    /// Running On-Demand Trn instances.
    #[strum(serialize = "L-2C3B7624")]
    Trn,
    /// Running On-Demand X instances.
    #[strum(serialize = "L-7295265B")]
    X,
    /// All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests.
    #[strum(serialize = "L-34B43A08")]
    SpotStandard,
    /// All DL Spot Instance Requests.
    #[strum(serialize = "L-85EED4F7")]
    SpotDl,
    /// All F Spot Instance Requests.
    #[strum(serialize = "L-88CF9481")]
    SpotF,
    /// All G and VT Spot Instance Requests.
    #[strum(serialize = "L-3819A6DF")]
    SpotGAndVt,
    /// All Inf Spot Instance Requests.
    #[strum(serialize = "L-B5D1601B")]
    SpotInf,
    /// All P4, P3 and P2 Spot Instance Requests.
    #[strum(serialize = "L-7212CCBC")]
    SpotP,
    /// All P5 Spot Instance Requests.
    #[strum(serialize = "L-C4BD4855")]
    SpotP5,
    /// All Trn Spot Instance Requests.
    #[strum(serialize = "L-6B0D517C")]
    SpotTrn,
    /// All X Spot Instance Requests.
    #[strum(serialize = "L-E3A00192")]
    SpotX,
}

impl VcpuQuota {
    /// The quota of a type's instances on demand; `None` for a family that has none, or is not known here.
    pub fn on_demand(instance_type: &InstanceType) -> Option<Self> {
        Some(match family(instance_type) {
            "a" | "c" | "d" | "h" | "i" | "im" | "is" | "m" | "r" | "t" | "z" => Self::Standard,
            "dl" => Self::Dl,
            "f" => Self::F,
            "g" | "gr" | "vt" => Self::GAndVt,
            "u" => Self::HighMemory,
            "hpc" => Self::Hpc,
            "inf" => Self::Inf,
            "p" => Self::P,
            "trn" => Self::Trn,
            "x" => Self::X,
            _ => return None,
        })
    }

    /// The same of its spot instances.
    pub fn spot(instance_type: &InstanceType) -> Option<Self> {
        let name = instance_type.as_str();
        match Self::on_demand(instance_type)? {
            Self::Standard => Some(Self::SpotStandard),
            Self::Dl => Some(Self::SpotDl),
            Self::F => Some(Self::SpotF),
            Self::GAndVt => Some(Self::SpotGAndVt),
            Self::Inf => Some(Self::SpotInf),
            Self::P if name.starts_with("p5") => Some(Self::SpotP5),
            Self::P => ["p2", "p3", "p4"].iter().any(|start| name.starts_with(start)).then_some(Self::SpotP),
            Self::Trn => Some(Self::SpotTrn),
            Self::X => Some(Self::SpotX),
            Self::HighMemory
            | Self::Hpc
            | Self::SpotStandard
            | Self::SpotDl
            | Self::SpotF
            | Self::SpotGAndVt
            | Self::SpotInf
            | Self::SpotP
            | Self::SpotP5
            | Self::SpotTrn
            | Self::SpotX => None,
        }
    }

    /// Its name in Service Quotas.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
            Self::Dl => "Running On-Demand DL instances",
            Self::F => "Running On-Demand F instances",
            Self::GAndVt => "Running On-Demand G and VT instances",
            Self::HighMemory => "Running On-Demand High Memory instances",
            Self::Hpc => "Running On-Demand HPC instances",
            Self::Inf => "Running On-Demand Inf instances",
            Self::P => "Running On-Demand P instances",
            Self::Trn => "Running On-Demand Trn instances",
            Self::X => "Running On-Demand X instances",
            Self::SpotStandard => "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
            Self::SpotDl => "All DL Spot Instance Requests",
            Self::SpotF => "All F Spot Instance Requests",
            Self::SpotGAndVt => "All G and VT Spot Instance Requests",
            Self::SpotInf => "All Inf Spot Instance Requests",
            Self::SpotP => "All P4, P3 and P2 Spot Instance Requests",
            Self::SpotP5 => "All P5 Spot Instance Requests",
            Self::SpotTrn => "All Trn Spot Instance Requests",
            Self::SpotX => "All X Spot Instance Requests",
        }
    }

    /// Its code in Service Quotas.
    pub fn code(self) -> &'static str {
        self.into()
    }
}

/// The letters before the generation: `gr` of `gr6.4xlarge`, `u` of `u-6tb1.112xlarge`.
fn family(instance_type: &InstanceType) -> &str {
    let name = instance_type.as_str();
    name.split(|letter: char| !letter.is_ascii_lowercase()).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use strum::IntoEnumIterator as _;

    fn codes(instance_type: &str) -> (Option<&'static str>, Option<&'static str>) {
        let of = InstanceType::new(instance_type);
        (VcpuQuota::on_demand(&of).map(VcpuQuota::code), VcpuQuota::spot(&of).map(VcpuQuota::code))
    }

    #[test]
    fn a_family_has_a_quota_on_demand_and_another_one_for_spot() {
        for (instance_type, on_demand, spot) in [
            ("m7i.large", Some("L-1216C47A"), Some("L-34B43A08")),
            ("im4gn.large", Some("L-1216C47A"), Some("L-34B43A08")),
            ("g6e.xlarge", Some("L-DB2E81BA"), Some("L-3819A6DF")),
            ("gr6.4xlarge", Some("L-DB2E81BA"), Some("L-3819A6DF")),
            ("vt1.3xlarge", Some("L-DB2E81BA"), Some("L-3819A6DF")),
            ("p4d.24xlarge", Some("L-417A185B"), Some("L-7212CCBC")),
            ("p5en.48xlarge", Some("L-417A185B"), Some("L-C4BD4855")),
            ("p6-b200.48xlarge", Some("L-417A185B"), None),
            ("inf2.xlarge", Some("L-1945791B"), Some("L-B5D1601B")),
            ("trn1.32xlarge", Some("L-2C3B7624"), Some("L-6B0D517C")),
            ("x2idn.16xlarge", Some("L-7295265B"), Some("L-E3A00192")),
            ("u-6tb1.112xlarge", Some("L-43DA4232"), None),
            ("hpc7g.4xlarge", Some("L-F7808C92"), None),
            ("mac2.metal", None, None),
        ] {
            assert_eq!(codes(instance_type), (on_demand, spot), "{instance_type}");
        }
    }

    #[test]
    fn no_two_quotas_have_one_code() {
        let codes: BTreeSet<&str> = VcpuQuota::iter().map(VcpuQuota::code).collect();
        assert_eq!(codes.len(), VcpuQuota::iter().count());
        assert!(codes.iter().all(|code| code.len() == 10 && code.starts_with("L-")));
    }
}
