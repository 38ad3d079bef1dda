//! Hooks of the topology: variables, patches, validation.

use super::common::{base64_bytes, request, response};
use super::{Hook, Patch, PatchType};
use crate::Object;
use crate::decode::keeps_unknown;
use crate::variables::{Metadata, Variable};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who uses a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HolderReference {
    /// Group and version.
    #[serde(default)]
    pub api_version: String,
    /// Kind: `Cluster`, `MachineDeployment`, `MachinePool`, or that of the control plane.
    #[serde(default)]
    pub kind: String,
    /// Namespace.
    #[serde(default)]
    pub namespace: String,
    /// Name.
    #[serde(default)]
    pub name: String,
    /// The field that names the template, such as `spec.template.spec.infrastructureRef`.
    #[serde(default)]
    pub field_path: String,
}

keeps_unknown! {
    /// A template to patch.
    GeneratePatchesRequestItem {
        /// Names the template in the response; nothing to do with `metadata.uid`.
        uid: String,
        /// Who uses it.
        holder_reference: HolderReference,
        /// The template.
        object: Object,
        /// Variables of this template; they go before those of the request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        variables: Vec<Variable>,
    }
}

request! {
    /// Request of [`GeneratePatches`].
    GeneratePatchesRequest {
        /// Variables for all templates.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        variables: Vec<Variable>,
        /// The templates; `None` only where a user wrote `null`.
        items: Option<Vec<GeneratePatchesRequestItem>>,
    }
}

/// A patch for one template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GeneratePatchesResponseItem {
    /// The template's name in the request.
    pub uid: String,
    /// How the patch is written.
    pub patch_type: PatchType,
    /// The patch, JSON.
    #[serde(with = "base64_bytes")]
    pub patch: Vec<u8>,
}

impl GeneratePatchesRequestItem {
    /// A patch of this template.
    pub fn patched(&self, patch: Patch) -> GeneratePatchesResponseItem {
        GeneratePatchesResponseItem {
            uid: self.uid.clone(),
            patch_type: patch.patch_type,
            patch: patch.patch,
        }
    }
}

response! {
    /// Response of [`GeneratePatches`].
    GeneratePatchesResponse {
        /// Patches, applied in this order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<GeneratePatchesResponseItem>,
    }
}

/// Called at every computation of a topology, with all templates. Fast, without side effects, and the same for the same
/// request: a patch that differs from call to call rolls nodes.
#[derive(Clone, Copy, Debug)]
pub struct GeneratePatches;

impl Hook for GeneratePatches {
    const NAME: &'static str = "GeneratePatches";
    const BLOCKING: bool = false;
    type Request = GeneratePatchesRequest;
    type Response = GeneratePatchesResponse;
    type Output = Vec<GeneratePatchesResponseItem>;

    fn respond(items: Self::Output) -> GeneratePatchesResponse {
        GeneratePatchesResponse { items, ..GeneratePatchesResponse::default() }
    }
}

keeps_unknown! {
    /// A template to judge, all patches applied.
    ValidateTopologyRequestItem {
        /// Who uses it.
        holder_reference: HolderReference,
        /// The template.
        object: Object,
        /// Variables of this template; they go before those of the request.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        variables: Vec<Variable>,
    }
}

request! {
    /// Request of [`ValidateTopology`].
    ValidateTopologyRequest {
        /// Variables for all templates.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        variables: Vec<Variable>,
        /// The templates; `None` only where a user wrote `null`.
        items: Option<Vec<ValidateTopologyRequestItem>>,
    }
}

response! {
    /// Response of [`ValidateTopology`].
    ValidateTopologyResponse {}
}

/// Called after all patches were applied. A [`crate::Failure`] refuses the topology; its message reaches the Cluster's
/// condition `TopologyReconciled`.
#[derive(Clone, Copy, Debug)]
pub struct ValidateTopology;

impl Hook for ValidateTopology {
    const NAME: &'static str = "ValidateTopology";
    const BLOCKING: bool = false;
    type Request = ValidateTopologyRequest;
    type Response = ValidateTopologyResponse;
    type Output = ();

    fn respond((): ()) -> ValidateTopologyResponse {
        ValidateTopologyResponse::default()
    }
}

request! {
    /// Request of [`DiscoverVariables`].
    DiscoverVariablesRequest {}
}

/// A variable that an extension defines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VariableDefinition {
    /// Name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether a Cluster must give it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// Labels and annotations of v1beta1, deprecated upstream.
    #[serde(rename = "deprecatedV1Beta1Metadata", default, skip_serializing_if = "Option::is_none")]
    pub deprecated_v1beta1_metadata: Option<Metadata>,
    /// What values are like.
    #[serde(default, skip_serializing_if = "VariableSchema::is_empty")]
    pub schema: VariableSchema,
    /// Fields of other versions.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// What values of a variable are like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VariableSchema {
    /// An OpenAPI v3 schema, the subset that CRDs know.
    #[serde(rename = "openAPIV3Schema", default, skip_serializing_if = "Value::is_null")]
    pub open_api_v3_schema: Value,
}

impl VariableSchema {
    fn is_empty(&self) -> bool {
        self.open_api_v3_schema.is_null()
    }
}

response! {
    /// Response of [`DiscoverVariables`].
    DiscoverVariablesResponse {
        /// The variables.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        variables: Vec<VariableDefinition>,
    }
}

/// Called when a ClusterClass is reconciled that names the extension: which variables its patches have.
#[derive(Clone, Copy, Debug)]
pub struct DiscoverVariables;

impl Hook for DiscoverVariables {
    const NAME: &'static str = "DiscoverVariables";
    const BLOCKING: bool = false;
    type Request = DiscoverVariablesRequest;
    type Response = DiscoverVariablesResponse;
    type Output = Vec<VariableDefinition>;

    fn respond(variables: Self::Output) -> DiscoverVariablesResponse {
        DiscoverVariablesResponse { variables, ..DiscoverVariablesResponse::default() }
    }
}
