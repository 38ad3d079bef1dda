//! FooNodeConfig: how Nodes of a MachinePool join their cluster, and FooNodeConfigTemplate, for ClusterClass.
//!
//! The rules here say what a family of operating systems cannot have. Everything else about a value, the syntax of a
//! quantity for example, is said by the condition `Ready`, all of it at once.

mod kubelet;
mod vpc_cni;

pub use kubelet::{CpuManagerPolicy, KubeletSettings, TopologyManagerPolicy};
pub use vpc_cni::VpcCni;

use crate::shared::TemplateMetadata;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::core::Rule;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How Nodes of a MachinePool join their cluster, and with which settings. The provider writes user data from it, into the
/// Secret that `status.dataSecretName` names. A change replaces the Nodes of the pool.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "bootstrap.foo.com",
    version = "v1alpha1",
    kind = "FooNodeConfig",
    plural = "foonodeconfigs",
    shortname = "foonc",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    status = "FooNodeConfigStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/cluster-name']"
    ),
    printcolumn(name = "Family", type_ = "string", json_path = ".spec.family"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].status"#
    ),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Secret", type_ = "string", json_path = ".status.dataSecretName", priority = 1),
    printcolumn(name = "Bytes", type_ = "integer", json_path = ".status.userDataBytes", priority = 1)
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = without_for("Bottlerocket", "files", "Bottlerocket writes no files; it has settings for most things: use extra"),
    validation = without_for("Bottlerocket", "preCommands", "Bottlerocket has no shell; set settings.bootstrap-commands in extra"),
    validation = without_for("Bottlerocket", "postCommands", "Bottlerocket has no shell; set settings.bootstrap-commands in extra"),
    validation = without_for("Bottlerocket", "containerd", "Bottlerocket writes containerd's configuration; set settings.container-runtime in extra"),
    validation = without_for("CloudInit", "containerd", "for the family CloudInit the image has containerd's configuration: write that file with files"),
    validation = without_for("CloudInit", "localStorage", "for the family CloudInit no program of the image sets up local disks: use preCommands"),
    validation = without_for("CloudInit", "registryMirrors", "for the family CloudInit the image decides where containerd reads mirrors from: write that file with files"),
    validation = without_flag("shutdownGracePeriod"),
    validation = without_flag("shutdownGracePeriodCriticalPods"),
    validation = Rule::new("!has(self.vpcCNI) || !(self.vpcCNI.prefixDelegation || self.vpcCNI.customNetworking) || !has(self.kubelet) || !has(self.kubelet.maxPods)")
        .message("set either kubelet.maxPods or vpcCNI, from which the number of Pods follows")
)]
pub struct FooNodeConfigSpec {
    /// Operating system family of the image, which decides the format of the user data. Default: that of
    /// `spec.ami.recommended.family` of the FooMachinePool. Required if the pool names its image in another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Facts of the cluster that its control plane does not report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<NodeCluster>,
    /// Labels with which Nodes register. A kubelet may not set labels of `kubernetes.io` and `k8s.io`, except those of
    /// `kubelet.kubernetes.io` and `node.kubernetes.io`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 100, "additionalProperties" = {"type": "string", "maxLength": 63}))]
    pub labels: BTreeMap<String, String>,
    /// Taints with which Nodes register.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["key".into(), "effect".into()]))]
    pub taints: Vec<Taint>,
    /// Settings of the kubelet. Default: those of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<KubeletSettings>,
    /// How the Amazon VPC CNI of the cluster assigns addresses to Pods. The kubelet's `maxPods` follows from it and from the
    /// instance types of the pool. Default: the default settings of the VPC CNI, which images for EKS assume.
    #[serde(default, rename = "vpcCNI", skip_serializing_if = "Option::is_none")]
    pub vpc_cni: Option<VpcCni>,
    /// A part of containerd's configuration in TOML, which nodeadm merges into its own. For AL2023 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65536))]
    pub containerd: Option<String>,
    /// Where images are pulled from first. Not for CloudInit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["registry".into()]))]
    pub registry_mirrors: Vec<RegistryMirror>,
    /// What the disks of the instance itself (instance store volumes) are used for. Instances without such disks are not affected.
    /// Not for CloudInit. Default: the disks are not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_storage: Option<LocalStorage>,
    /// Files that are written before the kubelet starts. Not for Bottlerocket. They are part of the user data, which can be
    /// read on the instance, and by all who may describe launch templates: no place for keys and passwords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["path".into()]))]
    pub files: Vec<NodeFile>,
    /// Shell commands that run before the kubelet starts, in order; the failure of one does not keep the others from
    /// running. Not for Bottlerocket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub pre_commands: Vec<String>,
    /// Shell commands that run after the kubelet started. Not for Bottlerocket.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub post_commands: Vec<String>,
    /// More settings in the family's own form: a NodeConfig of nodeadm in YAML (AL2023), settings in TOML (Bottlerocket), or
    /// a cloud-config in YAML (CloudInit). What the provider writes, or another field sets, is refused here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65536))]
    pub extra: Option<String>,
    /// Whether Nodes join only once their instance enters service of its Auto Scaling group. An instance can then wait in a warm pool
    /// (`warmPool` of the FooMachinePool): its first boot only prepares it. Instances that are launched into service join at their
    /// first boot. With AL2023 and CloudInit, a first boot during which the instance was stopped or rebooted is repeated once. It is
    /// part of the user data, so a change replaces the Nodes of the pool. Default: false.
    #[serde(default)]
    pub join_when_in_service: bool,
    /// How the user data is packed; all families unpack it. EC2 accepts 16384 bytes. For AL2023 and CloudInit it may have 524288
    /// if the FooMachinePool keeps it in S3 (`userDataStorage`). Default: `None`.
    #[serde(default)]
    pub compression: Compression,
}

/// A rule: nodes of this family cannot have this field.
fn without_for(family: &str, field: &str, reason: &str) -> Rule {
    let message = format!("{field}: {reason}");
    Rule::new(format!("!has(self.family) || self.family != '{family}' || !has(self.{field})"))
        .message(message.as_str())
}

/// A rule: nodes of the family CloudInit cannot have this setting of the kubelet.
fn without_flag(setting: &str) -> Rule {
    let rule = format!(
        "!has(self.family) || self.family != 'CloudInit' || !has(self.kubelet) || !has(self.kubelet.{setting})"
    );
    let message = format!(
        "kubelet.{setting}: the kubelet has no flag for it, and nodes of the family CloudInit get their settings by flags"
    );
    Rule::new(rule).message(message.as_str())
}

/// What the operating system of a Node reads its user data with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Family {
    /// Amazon Linux 2023 with nodeadm.
    AL2023,
    /// Bottlerocket: settings in TOML, no shell.
    Bottlerocket,
    /// An image with cloud-init and `/etc/eks/bootstrap.sh`, as Canonical's Ubuntu images for EKS.
    CloudInit,
}

/// Facts of the cluster that its control plane does not report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeCluster {
    /// Name of the EKS cluster, which Nodes sign their requests for. Required if the FooControlPlane does not report it, as in
    /// its mode `external`; otherwise it must be the reported one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100), regex(pattern = crate::patterns::EKS_CLUSTER))]
    pub name: Option<String>,
    /// Address of the cluster's DNS Service, within the range of Services. Default: the tenth of the range, which EKS gives
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 2, max = 45), regex(pattern = crate::patterns::IP_ADDRESS))]
    pub dns: Option<String>,
}

/// A taint with which Nodes register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// Key, in the syntax of a label's key.
    #[schemars(length(min = 1, max = 317))]
    pub key: String,
    /// Value, in the syntax of a label's value. Default: empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 63))]
    pub value: String,
    /// What the taint does to Pods that do not tolerate it.
    pub effect: TaintEffect,
}

/// What a taint does to Pods that do not tolerate it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TaintEffect {
    /// They are not scheduled.
    #[default]
    NoSchedule,
    /// They are scheduled elsewhere if possible.
    PreferNoSchedule,
    /// They are not scheduled, and those that run are evicted.
    NoExecute,
}

/// Where images of a registry are pulled from first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegistryMirror {
    /// Host of the registry, with its port if it has one; `*` for all others.
    #[schemars(length(min = 1, max = 260))]
    pub registry: String,
    /// URLs of mirrors, tried in order before the registry itself.
    #[schemars(length(min = 1, max = 10))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub endpoints: Vec<String>,
}

/// What the disks of the instance itself are used for. Their content ends with the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LocalStorage {
    /// All disks become one file system, striped over them, which has the data of containers: that of the kubelet and of containerd,
    /// and the logs of Pods.
    #[serde(rename = "RAID0")]
    Raid0,
}

/// A file on a Node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeFile {
    /// Absolute path.
    #[schemars(length(min = 2, max = 1024))]
    pub path: String,
    /// User and group. Default: `root:root`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 65))]
    pub owner: Option<String>,
    /// Permissions in octal digits. Default: `0644`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-7]{3,4}$"))]
    pub permissions: Option<String>,
    /// What the file contains.
    #[schemars(length(max = 65536))]
    pub content: String,
    /// What `content` is written in. Default: `Text`.
    #[serde(default)]
    pub encoding: FileEncoding,
}

/// What the content of a file is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FileEncoding {
    /// The text itself.
    #[default]
    Text,
    /// Base64 of any bytes.
    Base64,
}

/// How user data is packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Compression {
    /// As it is.
    #[default]
    None,
    /// With gzip.
    Gzip,
}

/// Whether the user data is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct FooNodeConfigStatus {
    /// `dataSecretCreated` reports to Cluster API that the user data exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialization: Option<BootstrapInitialization>,
    /// Same as `initialization.dataSecretCreated`, for clients of Cluster API's v1beta1 contract.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Secret with the user data under the key `value`. It has the name of the FooNodeConfig.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_secret_name: Option<String>,
    /// Size of the user data as it is packed, in bytes. More than 16384 need `userDataStorage` of the FooMachinePool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data_bytes: Option<i32>,
    /// `Ready`, `DataSecretAvailable`, `Paused` and `Deleting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// `status.initialization` of Cluster API's contract for bootstrap providers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BootstrapInitialization {
    /// Whether the Secret with the user data was created. Once true it stays true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_secret_created: Option<bool>,
}

/// Template that Cluster API creates FooNodeConfigs from, for ClusterClass. When it changes, Cluster API applies the change to
/// the existing FooNodeConfigs, and the Nodes of their pools are replaced.
#[derive(CustomResource, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "bootstrap.foo.com",
    version = "v1alpha1",
    kind = "FooNodeConfigTemplate",
    plural = "foonodeconfigtemplates",
    shortname = "foonct",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1")
)]
pub struct FooNodeConfigTemplateSpec {
    /// The object that Cluster API creates.
    pub template: FooNodeConfigTemplateResource,
}

/// A FooNodeConfig that Cluster API creates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FooNodeConfigTemplateResource {
    /// Labels and annotations of the created object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// Spec of the created object.
    pub spec: FooNodeConfigSpec,
}
