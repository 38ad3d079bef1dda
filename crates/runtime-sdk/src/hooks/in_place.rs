//! Hooks of in-place updates (feature gate `InPlaceUpdates`, alpha): for Machines of MachineSets and of the kubeadm
//! control plane, not for MachinePools.

use super::common::{blocking_hook, request, response};
use super::{Hook, Patch};
use crate::Object;
use serde::{Deserialize, Serialize};

/// A Machine and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineObjects {
    /// The Machine.
    #[serde(default, skip_serializing_if = "Object::is_absent")]
    pub machine: Object,
    /// Its infrastructure machine.
    #[serde(default, skip_serializing_if = "Object::is_absent")]
    pub infrastructure_machine: Object,
    /// Its bootstrap configuration, if it has one.
    #[serde(default, skip_serializing_if = "Object::is_absent")]
    pub bootstrap_config: Object,
}

/// A MachineSet and its templates. Only what is in `spec.template.spec` has to be covered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MachineSetObjects {
    /// The MachineSet.
    #[serde(default, skip_serializing_if = "Object::is_absent")]
    pub machine_set: Object,
    /// Its infrastructure template.
    #[serde(default, skip_serializing_if = "Object::is_absent")]
    pub infrastructure_machine_template: Object,
    /// Its bootstrap template, if it has one.
    #[serde(default, skip_serializing_if = "Object::is_absent")]
    pub bootstrap_config_template: Object,
}

impl MachineObjects {
    /// Whether core sent none of them.
    pub fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

impl MachineSetObjects {
    /// Whether core sent none of them.
    pub fn is_absent(&self) -> bool {
        *self == Self::default()
    }
}

request! {
    /// Request of [`CanUpdateMachine`].
    CanUpdateMachineRequest {
        /// What there is.
        #[serde(default, skip_serializing_if = "MachineObjects::is_absent")]
        current: MachineObjects,
        /// What shall be.
        #[serde(default, skip_serializing_if = "MachineObjects::is_absent")]
        desired: MachineObjects,
    }
}

/// Which changes an extension can apply in place; all absent: none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachinePatches {
    /// Of the Machine.
    pub machine: Option<Patch>,
    /// Of the infrastructure machine.
    pub infrastructure_machine: Option<Patch>,
    /// Of the bootstrap configuration.
    pub bootstrap_config: Option<Patch>,
}

response! {
    /// Response of [`CanUpdateMachine`].
    CanUpdateMachineResponse {
        /// Changes of the Machine that can be made in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine_patch: Option<Patch>,
        /// Changes of the infrastructure machine that can be made in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        infrastructure_machine_patch: Option<Patch>,
        /// Changes of the bootstrap configuration that can be made in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bootstrap_config_patch: Option<Patch>,
    }
}

/// Called while an update is planned: which of the changes can be made without a new Machine? What no extension covers
/// leads to a roll-out.
#[derive(Clone, Copy, Debug)]
pub struct CanUpdateMachine;

impl Hook for CanUpdateMachine {
    const NAME: &'static str = "CanUpdateMachine";
    const BLOCKING: bool = false;
    type Request = CanUpdateMachineRequest;
    type Response = CanUpdateMachineResponse;
    type Output = MachinePatches;

    fn respond(patches: MachinePatches) -> CanUpdateMachineResponse {
        CanUpdateMachineResponse {
            machine_patch: patches.machine,
            infrastructure_machine_patch: patches.infrastructure_machine,
            bootstrap_config_patch: patches.bootstrap_config,
            ..CanUpdateMachineResponse::default()
        }
    }
}

request! {
    /// Request of [`CanUpdateMachineSet`].
    CanUpdateMachineSetRequest {
        /// What there is.
        #[serde(default, skip_serializing_if = "MachineSetObjects::is_absent")]
        current: MachineSetObjects,
        /// What shall be.
        #[serde(default, skip_serializing_if = "MachineSetObjects::is_absent")]
        desired: MachineSetObjects,
    }
}

/// Which changes of a MachineSet an extension can apply in place; all absent: none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSetPatches {
    /// Of the MachineSet.
    pub machine_set: Option<Patch>,
    /// Of the infrastructure template.
    pub infrastructure_machine_template: Option<Patch>,
    /// Of the bootstrap template.
    pub bootstrap_config_template: Option<Patch>,
}

response! {
    /// Response of [`CanUpdateMachineSet`].
    CanUpdateMachineSetResponse {
        /// Changes of the MachineSet that can be made in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        machine_set_patch: Option<Patch>,
        /// Changes of the infrastructure template that can be made in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        infrastructure_machine_template_patch: Option<Patch>,
        /// Changes of the bootstrap template that can be made in place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bootstrap_config_template_patch: Option<Patch>,
    }
}

/// [`CanUpdateMachine`] for a whole MachineSet.
#[derive(Clone, Copy, Debug)]
pub struct CanUpdateMachineSet;

impl Hook for CanUpdateMachineSet {
    const NAME: &'static str = "CanUpdateMachineSet";
    const BLOCKING: bool = false;
    type Request = CanUpdateMachineSetRequest;
    type Response = CanUpdateMachineSetResponse;
    type Output = MachineSetPatches;

    fn respond(patches: MachineSetPatches) -> CanUpdateMachineSetResponse {
        CanUpdateMachineSetResponse {
            machine_set_patch: patches.machine_set,
            infrastructure_machine_template_patch: patches.infrastructure_machine_template,
            bootstrap_config_template_patch: patches.bootstrap_config_template,
            ..CanUpdateMachineSetResponse::default()
        }
    }
}

request! {
    /// Request of [`UpdateMachine`].
    UpdateMachineRequest {
        /// What shall be.
        #[serde(default, skip_serializing_if = "MachineObjects::is_absent")]
        desired: MachineObjects,
    }
}

blocking_hook! {
    /// Called to change a Machine in place, repeatedly until the handler returns
    /// [`Proceed`](crate::Decision::Proceed): it is done. Has to be idempotent.
    UpdateMachine, UpdateMachineRequest, UpdateMachineResponse
}
