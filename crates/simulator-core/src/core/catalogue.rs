//! The instance types and images of a region. The numbers are from AWS's instance type pages; prices are invented.

use foo_model::{BandwidthWeighting, ImageId, InstanceType};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One instance type (EC2 API Reference, InstanceTypeInfo).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeInfo {
    /// Its name.
    pub name: InstanceType,
    /// Default vCPUs.
    pub vcpus: u32,
    /// Default cores.
    pub cores: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// Accelerators.
    pub gpu: Option<GpuInfo>,
    /// Local disks, if it has any.
    pub disks: Option<DiskInfo>,
    /// Whether it is burstable (the t families).
    pub burstable: bool,
    /// Network cards.
    #[serde(default = "one")]
    pub network_cards: u32,
    /// How many Elastic Fabric Adapter interfaces an instance can have.
    #[serde(default)]
    pub efa_interfaces: u32,
    /// Bandwidth weightings that it offers.
    #[serde(default)]
    pub bandwidth_weightings: BTreeSet<BandwidthWeighting>,
    /// Limits of its network interfaces, if EC2 shows them.
    #[serde(default)]
    pub interfaces: Option<InterfaceLimits>,
}

/// Limits of network interfaces (EC2 API Reference, NetworkInfo).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceLimits {
    /// Most interfaces on a network card: all cards are alike.
    pub per_card: u32,
    /// Most IPv4 addresses of an interface.
    pub ipv4_addresses: u32,
}

/// The limits of a type of the families c, m, r and t of this name (EC2 User Guide, "Maximum IP addresses per network interface", of
/// the seventh generation: in EC2, some types of the eighth have higher ones).
fn interfaces(name: &str, vcpus: u32) -> InterfaceLimits {
    let (per_card, ipv4_addresses) = match vcpus {
        0..=2 if !name.starts_with('t') => (3, 10),
        0..=2 if name.ends_with(".medium") => (3, 6),
        0..=2 => (3, 12),
        3..=8 => (4, 15),
        9..=48 => (8, 30),
        _ => (15, 50),
    };
    InterfaceLimits { per_card, ipv4_addresses }
}

fn one() -> u32 {
    1
}

/// Families of C, M and R whose types offer bandwidth weightings, without that letter (EC2 User Guide, "EC2 instance bandwidth
/// weighting configuration", of the eighth generation).
const WEIGHTED: [&str; 6] = ["8a", "8g", "8gd", "8i", "8i-flex", "8id"];

/// The bandwidth weightings that a type of this name offers.
fn weightings(name: &str) -> BTreeSet<BandwidthWeighting> {
    let family = name.split('.').next().unwrap_or_default();
    if family.strip_prefix(['c', 'm', 'r']).is_some_and(|rest| WEIGHTED.contains(&rest)) {
        [BandwidthWeighting::Default, BandwidthWeighting::Vpc1, BandwidthWeighting::Ebs1].into()
    } else {
        BTreeSet::new()
    }
}

/// On-demand prices of a vCPU and of a GiB of memory, in micro US dollars per hour. Only the order of prices matters.
const VCPU_PRICE: u64 = 30_000;
const GIB_PRICE: u64 = 5_000;
/// On-demand price of a GPU, in micro US dollars per hour.
const GPU_PRICE: u64 = 500_000;

impl TypeInfo {
    /// The properties of a type of the families c, m, r and t, derived from its name; `None` for other families.
    pub fn named(name: &str) -> Option<Self> {
        let (family, size) = name.split_once('.')?;
        let vcpus = match size {
            "medium" | "large" => 2,
            "xlarge" => 4,
            more => more.strip_suffix("xlarge")?.parse::<u32>().ok().filter(|it| *it > 0)?.checked_mul(4)?,
        };
        let mut letters = family.chars();
        let burstable = family.starts_with('t');
        let per_vcpu = match (letters.next()?, size) {
            ('c', _) | ('t', "medium") => 2,
            ('m' | 't', _) => 4,
            ('r', _) => 8,
            _ => return None,
        };
        if !letters.next()?.is_ascii_digit() {
            return None;
        }
        let arm = letters.next() == Some('g');
        Some(Self {
            name: InstanceType::new(name),
            vcpus,
            cores: if arm { vcpus } else { vcpus / 2 },
            memory_mib: u64::from(vcpus).checked_mul(per_vcpu)?.checked_mul(1_024)?,
            architecture: if arm { "arm64" } else { "x86_64" }.to_owned(),
            gpu: None,
            disks: None,
            burstable,
            network_cards: 1,
            efa_interfaces: 0,
            bandwidth_weightings: weightings(name),
            interfaces: Some(interfaces(name, vcpus)),
        })
    }

    /// Its family (`m7i`) and the digit of its generation.
    fn family(&self) -> (&str, Option<u32>) {
        let family = self.name.as_str().split('.').next().unwrap_or_default();
        (family, family.chars().find_map(|it| it.to_digit(10)))
    }

    /// Whether EC2 recommends it for new workloads (EC2 User Guide, "Previous generation instances": M3, C3, R3 and older ones, and
    /// T1).
    pub fn is_current(&self) -> bool {
        match self.family() {
            ("t1", _) => false,
            (family, Some(generation)) if family.starts_with(['c', 'm', 'r']) => generation > 3,
            _ => true,
        }
    }

    /// Whether it is of the families C, M and R, which are for general purposes and the reference of price protection.
    pub fn is_common(&self) -> bool {
        let (family, _) = self.family();
        let mut letters = family.chars();
        letters.next().is_some_and(|it| "cmr".contains(it))
            && letters.next().is_some_and(|it| it.is_ascii_digit())
    }

    /// Whether it is a whole host.
    pub fn is_metal(&self) -> bool {
        self.name.as_str().split('.').nth(1).is_some_and(|size| size.starts_with("metal"))
    }

    /// On-demand price in micro US dollars per hour: not AWS's, but types are in about the same order.
    pub fn price(&self) -> u64 {
        let gpus = self.gpu.as_ref().map_or(0, |gpu| u64::from(gpu.count));
        let base = u64::from(self.vcpus) * VCPU_PRICE + self.memory_mib / 1024 * GIB_PRICE + gpus * GPU_PRICE;
        // AWS's own processors are cheaper by about a fifth, burstable types by about a half.
        let base = if self.architecture == "arm64" { base / 5 * 4 } else { base };
        if self.burstable { base / 2 } else { base }
    }

    /// Spot price in micro US dollars per hour.
    pub fn spot_price(&self) -> u64 {
        self.price() / 5 * 2
    }
}

/// The GPUs of an instance type: all are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuInfo {
    /// Model (`A10G`).
    pub name: String,
    /// `NVIDIA`.
    pub manufacturer: String,
    /// How many.
    pub count: u32,
    /// Memory of each in MiB.
    pub memory_mib: u32,
}

/// The instance store of an instance type: all disks are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskInfo {
    /// How many.
    pub count: u32,
    /// Size of each in GB.
    pub size_gb: u64,
}

/// One image (EC2 API Reference, Image).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its id.
    pub id: ImageId,
    /// Its name.
    pub name: String,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// Device of the root volume.
    pub root_device: String,
    /// Size of the root volume in GiB.
    pub root_gib: u32,
    /// Account that owns it.
    pub owner: String,
    /// When it was created, ISO 8601.
    pub created: String,
    /// Whether it can be launched.
    pub available: bool,
    /// Whether instances launched from it run a kubelet. Test beds read it, EC2 does not.
    pub boots: Boot,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// What happens inside an instance after EC2 reports it as `running`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Boot {
    /// Its Node joins.
    #[default]
    Succeeds,
    /// Its operating system or bootstrap fails: EC2 and Auto Scaling see a healthy instance, but its Node never
    /// joins.
    Fails,
}

/// The x86_64 image of the default region.
pub const IMAGE_X86_64: &str = "ami-0a000000000000001";
/// The arm64 image of the default region.
pub const IMAGE_ARM64: &str = "ami-0a000000000000002";
/// A newer x86_64 image of the default region.
pub const IMAGE_X86_64_NEWER: &str = "ami-0a000000000000003";
/// A newer arm64 image of the default region.
pub const IMAGE_ARM64_NEWER: &str = "ami-0a000000000000004";

/// The images of a new region.
pub(crate) fn default_images(owner: &str) -> BTreeMap<ImageId, Image> {
    [
        (IMAGE_X86_64, "foo-node-v1.33.0-x86_64", "x86_64", "2026-01-05T09:00:00.000Z"),
        (IMAGE_ARM64, "foo-node-v1.33.0-arm64", "arm64", "2026-01-05T09:00:00.000Z"),
        (IMAGE_X86_64_NEWER, "foo-node-v1.34.0-x86_64", "x86_64", "2026-02-02T09:00:00.000Z"),
        (IMAGE_ARM64_NEWER, "foo-node-v1.34.0-arm64", "arm64", "2026-02-02T09:00:00.000Z"),
    ]
    .into_iter()
    .map(|(id, name, architecture, created)| {
        let image = Image {
            id: ImageId::new(id),
            name: name.to_owned(),
            architecture: architecture.to_owned(),
            root_device: "/dev/xvda".to_owned(),
            root_gib: 20,
            owner: owner.to_owned(),
            created: created.to_owned(),
            available: true,
            boots: Boot::Succeeds,
            tags: BTreeMap::new(),
        };
        (image.id.clone(), image)
    })
    .collect()
}

/// vCPUs, cores, memory in GiB, architecture.
type Row = (&'static str, u32, u32, u64, &'static str);

const PLAIN: [Row; 17] = [
    ("m8i.large", 2, 1, 8, "x86_64"),
    ("m7i.large", 2, 1, 8, "x86_64"),
    ("m7i.xlarge", 4, 2, 16, "x86_64"),
    ("m7i.2xlarge", 8, 4, 32, "x86_64"),
    ("m6i.large", 2, 1, 8, "x86_64"),
    ("m6i.2xlarge", 8, 4, 32, "x86_64"),
    ("m5.large", 2, 1, 8, "x86_64"),
    ("m7g.large", 2, 2, 8, "arm64"),
    ("m7g.xlarge", 4, 4, 16, "arm64"),
    ("c6i.large", 2, 1, 4, "x86_64"),
    ("c7i.large", 2, 1, 4, "x86_64"),
    ("c7i.xlarge", 4, 2, 8, "x86_64"),
    ("c7g.large", 2, 2, 4, "arm64"),
    ("r7i.large", 2, 1, 16, "x86_64"),
    ("r7g.large", 2, 2, 16, "arm64"),
    ("t3.medium", 2, 1, 4, "x86_64"),
    ("t4g.medium", 2, 2, 4, "arm64"),
];

/// The instance types of a new region.
pub(crate) fn default_types() -> BTreeMap<InstanceType, TypeInfo> {
    let plain = PLAIN.into_iter().map(|(name, vcpus, cores, gib, architecture)| TypeInfo {
        name: InstanceType::new(name),
        vcpus,
        cores,
        memory_mib: gib * 1024,
        architecture: architecture.to_owned(),
        gpu: None,
        disks: None,
        burstable: name.starts_with('t'),
        network_cards: 1,
        efa_interfaces: 0,
        bandwidth_weightings: weightings(name),
        interfaces: Some(interfaces(name, vcpus)),
    });
    let nvidia = |name: &str, count, memory_mib| {
        Some(GpuInfo { name: name.to_owned(), manufacturer: "NVIDIA".to_owned(), count, memory_mib })
    };
    let special = [
        TypeInfo {
            name: InstanceType::new("m6id.large"),
            vcpus: 2,
            cores: 1,
            memory_mib: 8 * 1024,
            architecture: "x86_64".to_owned(),
            gpu: None,
            disks: Some(DiskInfo { count: 1, size_gb: 118 }),
            burstable: false,
            network_cards: 1,
            efa_interfaces: 0,
            bandwidth_weightings: BTreeSet::new(),
            interfaces: Some(InterfaceLimits { per_card: 3, ipv4_addresses: 10 }),
        },
        TypeInfo {
            name: InstanceType::new("g5.xlarge"),
            vcpus: 4,
            cores: 2,
            memory_mib: 16 * 1024,
            architecture: "x86_64".to_owned(),
            gpu: nvidia("A10G", 1, 22_888),
            disks: Some(DiskInfo { count: 1, size_gb: 250 }),
            burstable: false,
            network_cards: 1,
            efa_interfaces: 0,
            bandwidth_weightings: BTreeSet::new(),
            interfaces: Some(InterfaceLimits { per_card: 4, ipv4_addresses: 15 }),
        },
        TypeInfo {
            name: InstanceType::new("p4d.24xlarge"),
            vcpus: 96,
            cores: 48,
            memory_mib: 1152 * 1024,
            architecture: "x86_64".to_owned(),
            gpu: nvidia("A100", 8, 40_960),
            disks: Some(DiskInfo { count: 8, size_gb: 1000 }),
            burstable: false,
            network_cards: 4,
            efa_interfaces: 4,
            bandwidth_weightings: BTreeSet::new(),
            interfaces: Some(InterfaceLimits { per_card: 15, ipv4_addresses: 50 }),
        },
    ];
    plain.chain(special).map(|info| (info.name.clone(), info)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_plain_type_says_what_it_is() {
        let types = default_types();
        let plain = PLAIN.iter().map(|(name, ..)| *name);
        for name in plain {
            assert_eq!(TypeInfo::named(name).as_ref(), types.get(&InstanceType::new(name)), "{name}");
        }
        let large = TypeInfo::named("m6i.24xlarge").expect("a plain type");
        assert_eq!((large.vcpus, large.memory_mib), (96, 384 * 1024));
        for name in ["p4d.24xlarge", "m6i", "m6i.0xlarge", "m6i.9999999999xlarge", "m.large", ""] {
            assert_eq!(TypeInfo::named(name), None, "{name}");
        }
        let offered = |name| TypeInfo::named(name).expect("a plain type").bandwidth_weightings.len();
        assert_eq!(["m8i.large", "r8gd.xlarge", "c8i-flex.large"].map(offered), [3; 3]);
        assert_eq!(["m7i.large", "c8gn.large", "t8g.medium"].map(offered), [0; 3]);
    }

    #[test]
    fn the_limits_of_interfaces_are_those_of_the_size() {
        for (name, per_card, ipv4_addresses) in [
            ("t3.medium", 3, 6),
            ("t4g.large", 3, 12),
            ("t3.2xlarge", 4, 15),
            ("m7g.large", 3, 10),
            ("c7i.xlarge", 4, 15),
            ("r7i.4xlarge", 8, 30),
            ("m7i.12xlarge", 8, 30),
            ("m6i.24xlarge", 15, 50),
        ] {
            let limits = TypeInfo::named(name).and_then(|it| it.interfaces);
            assert_eq!(limits, Some(InterfaceLimits { per_card, ipv4_addresses }), "{name}");
        }
    }
}
