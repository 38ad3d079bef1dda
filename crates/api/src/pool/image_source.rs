//! Where the id of a pool's image is from: what is asked of AWS follows from `spec.ami`, the Kubernetes version
//! and the instance types. The manager and the runtime extension read it alike. No calls here.

use super::{Ami, ImageArchitecture, ImageFamily, ImageIds, ImageLookup, ImageVariant, RecommendedImage};
use crate::texts::shown;
use std::fmt;

/// Where the id of an image is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The spec.
    Spec(String),
    /// The value of the SSM parameter of this name.
    Parameter(String),
    /// The newest image that these select; deprecated and disabled ones do not count.
    Newest {
        /// Account id, or `self`, `amazon` or `aws-marketplace`.
        owner: String,
        /// Name, in which `*` matches any text and `?` any character.
        name: String,
        /// `x86_64` or `arm64`.
        architecture: String,
    },
}

/// Where the images of a pool are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The image of the launch template.
    pub template: Source,
    /// That of arm64 types, if the spec names another one for them than for the pool's x86_64 types.
    pub arm64: Option<Source>,
}

/// What the placeholders and the recommended images depend on.
#[derive(Clone, Copy, Debug)]
pub struct Nodes<'a> {
    /// Kubernetes version of the MachinePool.
    pub version: Option<&'a str>,
    /// Facts about the instance types.
    pub types: &'a [NodeType<'a>],
}

/// What images depend on of an instance type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeType<'a> {
    /// Its name.
    pub name: &'a str,
    /// Architecture as EC2 names it: `x86_64`, `arm64`.
    pub architecture: &'a str,
    /// How many GPUs of NVIDIA it has.
    pub nvidia_gpus: u32,
    /// How many devices of AWS Inferentia and Trainium it has.
    pub neuron_devices: u32,
}

/// Why there is no source, in a sentence that is the same for the same spec, version and types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSource {
    /// What is lacking.
    pub lacks: Lacks,
    /// The sentence.
    pub message: String,
}

/// What a pool lacks to have an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lacks {
    /// An image, or what it depends on.
    Image,
    /// Instance types.
    InstanceTypes,
    /// One architecture of all instance types.
    Architecture,
}

impl NoSource {
    fn new(lacks: Lacks, message: impl Into<String>) -> Self {
        Self { lacks, message: message.into() }
    }
}

/// The id of an image in the value of an SSM parameter (EC2 User Guide, "Amazon Machine Images": `ami-` and hexadecimal digits).
pub fn image_id(value: &str) -> Option<&str> {
    let id = value.trim();
    let digits = id.strip_prefix("ami-")?;
    let is_id = (8..=32).contains(&digits.len()) && digits.chars().all(|c| c.is_ascii_hexdigit());
    is_id.then_some(id)
}

/// Whether types of this architecture have an image of their own in a pool that also has x86_64 types.
pub fn is_arm64(architecture: &str) -> bool {
    architecture == ImageArchitecture::Arm64.as_str()
}

impl Sources {
    /// The sources that the spec names.
    ///
    /// # Errors
    ///
    /// When the version or the types do not say what a source depends on.
    pub fn of(ami: &Ami, nodes: Nodes<'_>) -> Result<Self, NoSource> {
        let (arm64, others): (Vec<_>, Vec<_>) =
            nodes.types.iter().copied().partition(|kind| is_arm64(kind.architecture));
        if arm64.is_empty() || others.is_empty() {
            return Ok(Self { template: Source::of(ami, nodes)?, arm64: None });
        }
        let template = Source::of(ami, Nodes { types: &others, ..nodes })?;
        let arm64 = Source::of(ami, Nodes { types: &arm64, ..nodes })?;
        Ok(Self { arm64: Some(arm64).filter(|source| *source != template), template })
    }

    /// Each of them.
    pub fn all(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.template).chain(&self.arm64)
    }
}

impl Source {
    /// The source that the spec names for these types.
    fn of(ami: &Ami, nodes: Nodes<'_>) -> Result<Self, NoSource> {
        match ami {
            Ami { id: Some(id), .. } => Ok(Self::Spec(id.clone())),
            Ami { ids: Some(ids), .. } => Ok(Self::Spec(nodes.one_of(ids)?)),
            Ami { ssm_parameter: Some(name), .. } => Ok(Self::Parameter(nodes.fill(name)?)),
            Ami { lookup: Some(lookup), .. } => newest(lookup, nodes),
            Ami { recommended: Some(image), .. } => Ok(Self::Parameter(recommended(image, nodes)?)),
            Ami { id: None, ids: None, ssm_parameter: None, lookup: None, recommended: None, .. } => {
                Err(NoSource::new(Lacks::Image, "spec.ami names no image"))
            }
        }
    }
}

/// The source in `status.image`; two sources of the same text are the same.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(id) => write!(f, "image {}", shown(id)),
            Self::Parameter(name) => write!(f, "SSM parameter {}", shown(name)),
            Self::Newest { owner, name, architecture } => write!(
                f,
                "newest image of owner {} with name {} for {architecture}",
                shown(owner),
                shown(name)
            ),
        }
    }
}

impl Nodes<'_> {
    /// Replaces the placeholders.
    fn fill(self, text: &str) -> Result<String, NoSource> {
        let mut filled = text.to_owned();
        if text.contains("{version}") {
            filled = filled.replace("{version}", &self.minor()?);
        }
        if text.contains("{arch}") {
            filled = filled.replace("{arch}", self.architecture()?);
        }
        Ok(filled)
    }

    /// The id for the architecture of the types.
    fn one_of(self, ids: &ImageIds) -> Result<String, NoSource> {
        let ImageIds { x86_64, arm64 } = ids;
        let id = if is_arm64(self.architecture()?) { arm64 } else { x86_64 };
        Ok(id.clone())
    }

    /// `1.36` of `v1.36.2-eks-0a1b2c3`.
    fn minor(self) -> Result<String, NoSource> {
        let Some(version) = self.version else {
            return Err(NoSource::new(
                Lacks::Image,
                "spec.ami depends on the Kubernetes version: set MachinePool.spec.template.spec.version",
            ));
        };
        let mut numbers = version.trim_start_matches('v').split(['.', '-', '+']).map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(format!("{major}.{minor}")),
            _ => Err(NoSource::new(
                Lacks::Image,
                format!(
                    "spec.ami depends on the Kubernetes version, and MachinePool.spec.template.spec.version {} has no \
                     minor version",
                    shown(version)
                ),
            )),
        }
    }

    /// The one architecture of all instance types.
    fn architecture(self) -> Result<&'static str, NoSource> {
        let Some(first) = self.types.first() else {
            return Err(NoSource::new(Lacks::InstanceTypes, "the pool has no instance types"));
        };
        if let Some(other) = self.types.iter().find(|kind| kind.architecture != first.architecture) {
            return Err(NoSource::new(
                Lacks::Architecture,
                format!(
                    "no image fits all instance types: {} runs {}, {} runs {}",
                    first.name, first.architecture, other.name, other.architecture
                ),
            ));
        }
        match first.architecture {
            "x86_64" => Ok("x86_64"),
            "arm64" => Ok("arm64"),
            other => Err(NoSource::new(
                Lacks::Architecture,
                format!("instance type {} runs {other}: set spec.ami.id", first.name),
            )),
        }
    }

    /// The variant with the drivers that all instance types need.
    fn variant(self) -> Result<ImageVariant, NoSource> {
        let of = |kind: &NodeType<'_>| match (kind.nvidia_gpus, kind.neuron_devices) {
            (0, 0) => ImageVariant::Standard,
            (0, _) => ImageVariant::Neuron,
            (_, _) => ImageVariant::Nvidia,
        };
        let first = self.types.first().map_or(ImageVariant::Standard, of);
        match self.types.iter().find(|kind| of(kind) != first) {
            None => Ok(first),
            Some(other) => Err(NoSource::new(
                Lacks::Image,
                format!(
                    "the instance types need images with different drivers ({first:?}, and {:?} for {}): set \
                     spec.ami.recommended.variant",
                    of(other),
                    other.name
                ),
            )),
        }
    }
}

fn newest(lookup: &ImageLookup, nodes: Nodes<'_>) -> Result<Source, NoSource> {
    let architecture = match lookup.architecture {
        Some(architecture) => architecture.as_str(),
        None => nodes.architecture()?,
    };
    Ok(Source::Newest {
        owner: lookup.owner.clone(),
        name: nodes.fill(&lookup.name)?,
        architecture: architecture.to_owned(),
    })
}

/// Name of the SSM parameter of a recommended image.
fn recommended(image: &RecommendedImage, nodes: Nodes<'_>) -> Result<String, NoSource> {
    let (version, arch) = (nodes.minor()?, nodes.architecture()?);
    match image.family {
        // EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs".
        ImageFamily::Al2023 => {
            let variant = match image.variant.map_or_else(|| nodes.variant(), Ok)? {
                ImageVariant::Nvidia => "nvidia",
                ImageVariant::Neuron => "neuron",
                // The CRD does not let AL2023 have Fips.
                ImageVariant::Standard | ImageVariant::Fips => "standard",
            };
            Ok(format!(
                "/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{arch}/{variant}/recommended/image_id"
            ))
        }
        ImageFamily::Bottlerocket => bottlerocket(image.variant, nodes, &version, arch),
        ImageFamily::Ubuntu2204 => Ok(ubuntu("eks/22.04", &version, arch, "gp2")),
        ImageFamily::Ubuntu2404 => Ok(ubuntu("eks/24.04", &version, arch, "gp3")),
        ImageFamily::Ubuntu2604 => Ok(ubuntu("eks/26.04", &version, arch, "gp3")),
        ImageFamily::UbuntuPro2204 => Ok(ubuntu("eks-pro/22.04", &version, arch, "gp2")),
        ImageFamily::UbuntuPro2404 => Ok(ubuntu("eks-pro/24.04", &version, arch, "gp3")),
        ImageFamily::UbuntuPro2604 => Ok(ubuntu("eks-pro/26.04", &version, arch, "gp3")),
    }
}

/// Bottlerocket documentation, "Variants".
fn bottlerocket(
    variant: Option<ImageVariant>,
    nodes: Nodes<'_>,
    version: &str,
    arch: &str,
) -> Result<String, NoSource> {
    let suffix = match variant.map_or_else(|| nodes.variant(), Ok)? {
        ImageVariant::Standard => "",
        ImageVariant::Nvidia => "-nvidia",
        ImageVariant::Fips => "-fips",
        ImageVariant::Neuron => {
            return Err(NoSource::new(
                Lacks::Image,
                "Bottlerocket has no image with the drivers of AWS Inferentia and Trainium: set \
                 spec.ami.recommended.variant, or family AL2023",
            ));
        }
    };
    Ok(format!("/aws/service/bottlerocket/aws-k8s-{version}{suffix}/{arch}/latest/image_id"))
}

/// Canonical's documentation, "Find Ubuntu images on AWS": for EKS.
fn ubuntu(release: &str, version: &str, arch: &str, volume: &str) -> String {
    let arch = if arch == "x86_64" { "amd64" } else { arch };
    format!("/aws/service/canonical/ubuntu/{release}/{version}/stable/current/{arch}/hvm/ebs-{volume}/ami-id")
}

#[cfg(test)]
mod tests;
