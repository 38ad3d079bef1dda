//! Where the id of a pool's image is from: what is asked of AWS follows from `spec.ami`, the Kubernetes version
//! and the instance types. No calls here.

use crate::lookup::shown;
use foo_api::pool::{Ami, ImageFamily, ImageLookup, ImageVariant, RecommendedImage};
use foo_cloud::{ImageQuery, InstanceTypeInfo};
use foo_model::{ImageId, Reason};
use foo_planner::desired::Blocked;
use std::fmt;

/// Where the id of an image is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The spec.
    Spec(ImageId),
    /// The value of the SSM parameter of this name.
    Parameter(String),
    /// The newest image that this selects.
    Newest(ImageQuery),
}

/// What the placeholders and the recommended images depend on.
#[derive(Clone, Copy)]
pub(super) struct Nodes<'a> {
    /// Kubernetes version of the MachinePool.
    pub(super) version: Option<&'a str>,
    /// Facts about the instance types.
    pub(super) types: &'a [InstanceTypeInfo],
}

impl Source {
    /// The source that the spec names.
    pub(super) fn of(ami: &Ami, nodes: Nodes<'_>) -> Result<Self, Blocked> {
        match ami {
            Ami { id: Some(id), .. } => Ok(Self::Spec(id.as_str().into())),
            Ami { ssm_parameter: Some(name), .. } => Ok(Self::Parameter(nodes.fill(name)?)),
            Ami { lookup: Some(lookup), .. } => Ok(Self::Newest(query(lookup, nodes)?)),
            Ami { recommended: Some(image), .. } => Ok(Self::Parameter(recommended(image, nodes)?)),
            Ami { id: None, ssm_parameter: None, lookup: None, recommended: None, .. } => {
                Err(Blocked::new(Reason::ImageNotFound, "spec.ami names no image"))
            }
        }
    }
}

/// The source in `status.image`; two sources of the same text are the same.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spec(id) => write!(f, "image {}", shown(id.as_str())),
            Self::Parameter(name) => write!(f, "SSM parameter {}", shown(name)),
            Self::Newest(query) => write!(
                f,
                "newest image of owner {} with name {} for {}",
                shown(&query.owner),
                shown(&query.name),
                query.architecture
            ),
        }
    }
}

impl Nodes<'_> {
    /// Replaces the placeholders.
    fn fill(self, text: &str) -> Result<String, Blocked> {
        let mut filled = text.to_owned();
        if text.contains("{version}") {
            filled = filled.replace("{version}", &self.minor()?);
        }
        if text.contains("{arch}") {
            filled = filled.replace("{arch}", self.architecture()?);
        }
        Ok(filled)
    }

    /// `1.36` of `v1.36.2-eks-0a1b2c3`.
    fn minor(self) -> Result<String, Blocked> {
        let Some(version) = self.version else {
            return Err(Blocked::new(
                Reason::ImageNotFound,
                "spec.ami depends on the Kubernetes version: set MachinePool.spec.template.spec.version",
            ));
        };
        let mut numbers = version.trim_start_matches('v').split(['.', '-', '+']).map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Ok(format!("{major}.{minor}")),
            _ => Err(Blocked::new(
                Reason::ImageNotFound,
                format!(
                    "spec.ami depends on the Kubernetes version, and MachinePool.spec.template.spec.version {} has no \
                     minor version",
                    shown(version)
                ),
            )),
        }
    }

    /// The one architecture of all instance types.
    fn architecture(self) -> Result<&'static str, Blocked> {
        let Some(first) = self.types.first() else {
            return Err(Blocked::new(Reason::InstanceTypeNotFound, "the pool has no instance types"));
        };
        if let Some(other) = self.types.iter().find(|kind| kind.architecture != first.architecture) {
            return Err(Blocked::new(
                Reason::ArchitectureMismatch,
                format!(
                    "no image fits all instance types: {} runs {}, {} runs {}",
                    first.instance_type, first.architecture, other.instance_type, other.architecture
                ),
            ));
        }
        match first.architecture.as_str() {
            "x86_64" => Ok("x86_64"),
            "arm64" => Ok("arm64"),
            other => Err(Blocked::new(
                Reason::ArchitectureMismatch,
                format!("instance type {} runs {other}: set spec.ami.id", first.instance_type),
            )),
        }
    }

    /// The variant with the drivers that all instance types need.
    fn variant(self) -> Result<ImageVariant, Blocked> {
        let of = |kind: &InstanceTypeInfo| match (kind.nvidia_gpus, kind.neuron_devices) {
            (0, 0) => ImageVariant::Standard,
            (0, _) => ImageVariant::Neuron,
            (_, _) => ImageVariant::Nvidia,
        };
        let first = self.types.first().map_or(ImageVariant::Standard, of);
        match self.types.iter().find(|kind| of(kind) != first) {
            None => Ok(first),
            Some(other) => Err(Blocked::new(
                Reason::ImageNotFound,
                format!(
                    "the instance types need images with different drivers ({first:?}, and {:?} for {}): set \
                     spec.ami.recommended.variant",
                    of(other),
                    other.instance_type
                ),
            )),
        }
    }
}

fn query(lookup: &ImageLookup, nodes: Nodes<'_>) -> Result<ImageQuery, Blocked> {
    let architecture = match lookup.architecture {
        Some(architecture) => architecture.as_str(),
        None => nodes.architecture()?,
    };
    Ok(ImageQuery {
        owner: lookup.owner.clone(),
        name: nodes.fill(&lookup.name)?,
        architecture: architecture.to_owned(),
    })
}

/// Name of the SSM parameter of a recommended image.
fn recommended(image: &RecommendedImage, nodes: Nodes<'_>) -> Result<String, Blocked> {
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
) -> Result<String, Blocked> {
    let suffix = match variant.map_or_else(|| nodes.variant(), Ok)? {
        ImageVariant::Standard => "",
        ImageVariant::Nvidia => "-nvidia",
        ImageVariant::Fips => "-fips",
        ImageVariant::Neuron => {
            return Err(Blocked::new(
                Reason::ImageNotFound,
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
#[path = "source_tests.rs"]
mod tests;
