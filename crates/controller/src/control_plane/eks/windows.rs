//! When the provider may update add-ons that follow EKS.

use crate::maintenance::Windows;
use foo_api::FooControlPlane;
use foo_api::control_plane::Eks;
use foo_model::{Blocked, Timestamp};
use kube::ResourceExt;

/// The maintenance windows of a control plane.
pub(super) fn windows<'a>(control_plane: &'a FooControlPlane, eks: &'a Eks) -> Windows<'a> {
    Windows {
        all: &eks.maintenance_windows,
        annotations: control_plane.annotations(),
        field: "spec.eks.maintenanceWindows",
        unless: "no add-on with the version Latest is updated to another version",
        only: "add-ons with the version Latest are updated",
    }
}

/// What `Ready` warns of.
pub(super) fn warning(control_plane: &FooControlPlane, now: Timestamp) -> Option<Blocked> {
    let windows = windows(control_plane, control_plane.spec.eks.as_ref()?);
    windows.warning(&windows.maintenance(now))
}
