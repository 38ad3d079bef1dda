//! The image that instances boot from: named by its id, or looked up by the provider.
//!
//! A pool with instance types of both architectures has two images, each found in the same way.
//!
//! A new recommended image is an `ImageFamily` or `ImageVariant` here, with its CEL rule, and an arm of `recommended`
//! in `image_source.rs`; the page is docs/concepts/pools.md, section "Images".

use crate::node_config::Family;
use crate::patterns;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Image (AMI) that instances boot from: exactly one of `id`, `ids`, `ssmParameter`, `lookup` and `recommended`. If instance types
/// have both architectures, all of these except `id` can name an image for each. An image that the provider looked up is in
/// `status.image`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("[has(self.id), has(self.ids), has(self.ssmParameter), has(self.lookup), has(self.recommended)].filter(set, set).size() == 1")
        .message("set exactly one of id, ids, ssmParameter, lookup and recommended"),
    validation = Rule::new("!has(self.policy) || !(has(self.id) || has(self.ids))")
        .message("policy is for an image that the provider looks up: remove it, or replace id or ids")
)]
pub struct Ami {
    /// Id of the image (`ami-…`), in the region of the FooCluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub id: Option<String>,
    /// Ids of two images, one for each architecture. The pool uses those of its instance types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<ImageIds>,
    /// Name or ARN of an SSM parameter whose value is the id of the image. `{version}` stands for the minor
    /// version of `MachinePool.spec.template.spec.version` (`1.36`), `{arch}` for the architecture of the instance
    /// types (`x86_64` or `arm64`): with both, the provider reads two parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1011), regex(pattern = patterns::IMAGE_PARAMETER))]
    pub ssm_parameter: Option<String>,
    /// The newest image of an owner with a name of this form. Deprecated and disabled images do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookup: Option<ImageLookup>,
    /// The image that AWS or Canonical recommends for the Kubernetes version of the MachinePool, the architecture
    /// of the instance types, and their GPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended: Option<RecommendedImage>,
    /// When the provider replaces an image that it looked up by a newer one. `Pinned`: when `ami`, the Kubernetes
    /// version of the MachinePool, or what follows from its instance types changes. `Latest`: when there is one, which
    /// replaces the instances (`rollout`). Not allowed with `id` and `ids`. Default: `Pinned`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<ImagePolicy>,
}

impl Ami {
    /// The image of this id.
    pub fn of_id(id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..Self::default() }
    }
}

/// Images by the architecture of the instance types that boot them, as AWS names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageIds {
    /// Id of the image (`ami-…`) for 64-bit x86.
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub x86_64: String,
    /// Id of the image (`ami-…`) for 64-bit Arm, as AWS Graviton.
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub arm64: String,
}

/// Selects images by owner, name and architecture; the newest one by creation date is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageLookup {
    /// Account that owns the image: 12 digits, `self`, `amazon` or `aws-marketplace`. Required, because any account
    /// can publish an image under any name.
    #[schemars(regex(pattern = patterns::IMAGE_OWNER))]
    pub owner: String,
    /// Name of the image; `*` matches any text, `?` any character. `{version}` and `{arch}` are filled as in
    /// `ssmParameter`.
    #[schemars(length(min = 3, max = 128), regex(pattern = patterns::IMAGE_NAME))]
    pub name: String,
    /// Architecture of the image, as AWS names it. Default: that of the instance types; with both, the provider looks up an image for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<ImageArchitecture>,
}

/// Architecture of an image, as AWS names it. In `lookup`, the default is that of the instance types; if they have both architectures, the
/// provider looks up an image for each. In `requirements`, the default is `x86_64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImageArchitecture {
    /// 64-bit x86.
    #[serde(rename = "x86_64")]
    X86_64,
    /// 64-bit Arm, as AWS Graviton.
    Arm64,
}

impl ImageArchitecture {
    /// AWS's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
        }
    }
}

/// A published image for Kubernetes nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.variant) || self.family in ['AL2023', 'Bottlerocket']")
        .message("Canonical publishes one variant of Ubuntu only: remove variant"),
    validation = Rule::new("!has(self.variant) || self.variant != 'Neuron' || self.family == 'AL2023'")
        .message("only AL2023 has the variant Neuron"),
    validation = Rule::new("!has(self.variant) || self.variant != 'Fips' || self.family == 'Bottlerocket'")
        .message("only Bottlerocket has the variant Fips")
)]
pub struct RecommendedImage {
    /// Operating system.
    pub family: ImageFamily,
    /// Variant of the image. Default: `Nvidia` if the instance types have NVIDIA GPUs, `Neuron` if they have AWS
    /// Inferentia or Trainium, otherwise `Standard`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<ImageVariant>,
}

/// Operating systems with published images for nodes of Amazon EKS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ImageFamily {
    /// Amazon Linux 2023.
    #[serde(rename = "AL2023")]
    Al2023,
    /// Bottlerocket.
    Bottlerocket,
    /// Ubuntu 22.04.
    Ubuntu2204,
    /// Ubuntu 24.04.
    Ubuntu2404,
    /// Ubuntu 26.04.
    Ubuntu2604,
    /// Ubuntu Pro 22.04.
    UbuntuPro2204,
    /// Ubuntu Pro 24.04.
    UbuntuPro2404,
    /// Ubuntu Pro 26.04.
    UbuntuPro2604,
}

impl ImageFamily {
    /// What such a node reads its user data with.
    pub const fn user_data(self) -> Family {
        match self {
            Self::Al2023 => Family::AL2023,
            Self::Bottlerocket => Family::Bottlerocket,
            Self::Ubuntu2204
            | Self::Ubuntu2404
            | Self::Ubuntu2604
            | Self::UbuntuPro2204
            | Self::UbuntuPro2404
            | Self::UbuntuPro2604 => Family::CloudInit,
        }
    }
}

/// Variant of the image. Default: `Nvidia` if the instance types have NVIDIA GPUs, `Neuron` if they have AWS
/// Inferentia or Trainium, otherwise `Standard`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ImageVariant {
    /// Without drivers for GPUs.
    Standard,
    /// With the drivers of NVIDIA GPUs.
    Nvidia,
    /// With the drivers of AWS Inferentia and Trainium.
    Neuron,
    /// With cryptographic modules that are validated for FIPS 140.
    Fips,
}

/// When the provider replaces an image that it looked up by a newer one. `Pinned`: when `ami`, the Kubernetes version of
/// the MachinePool, or what follows from its instance types changes. `Latest`: when there is one, which replaces the
/// instances (`rollout`). Not allowed with `id` and `ids`. Default: `Pinned`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ImagePolicy {
    /// The image stays until `ami`, the Kubernetes version of the MachinePool, or what follows from its instance
    /// types changes.
    #[default]
    Pinned,
    /// A newer image replaces the instances (`rollout`).
    Latest,
}
