//! What parts have in common that EC2 needs a while to create: pending, then available. How they end differs from kind to kind.

use super::part::Part;
use super::step::Step;
use super::view::Networking;
use crate::core::settings::Settings;
use foo_model::network::{Endpoint, EndpointState, NatGateway, NatState, Subnet, Vpc};
use std::time::Duration;

/// A part that is pending after its creation.
pub(super) trait Pending: Part {
    /// For how long.
    fn time(settings: &Settings) -> Duration;
    /// The step that ends it.
    fn step(id: Self::Id) -> Step;
    /// pending → available. One that failed or is being deleted meanwhile stays so.
    fn become_available(&mut self);
}

impl Networking<'_> {
    /// A new part is pending from now on.
    pub(super) fn begin_pending<T: Pending>(&mut self, id: T::Id) {
        self.later(T::time(self.settings), T::step(id));
    }

    /// A part is no longer pending.
    pub(super) fn end_pending<T: Pending>(&mut self, id: &T::Id) {
        if let Some(part) = self.network.get_mut::<T>(id) {
            part.become_available();
        }
    }
}

impl Pending for Vpc {
    fn time(settings: &Settings) -> Duration {
        settings.networks_pending
    }
    fn step(id: Self::Id) -> Step {
        Step::VpcAvailable(id)
    }
    fn become_available(&mut self) {
        self.available = true;
    }
}

impl Pending for Subnet {
    fn time(settings: &Settings) -> Duration {
        settings.networks_pending
    }
    fn step(id: Self::Id) -> Step {
        Step::SubnetAvailable(id)
    }
    fn become_available(&mut self) {
        "available".clone_into(&mut self.state);
    }
}

impl Pending for NatGateway {
    fn time(settings: &Settings) -> Duration {
        settings.nat_gateway_create
    }
    fn step(id: Self::Id) -> Step {
        Step::NatGatewayAvailable(id)
    }
    fn become_available(&mut self) {
        if self.state == NatState::Pending {
            self.state = NatState::Available;
        }
    }
}

impl Pending for Endpoint {
    fn time(settings: &Settings) -> Duration {
        settings.endpoint_create
    }
    fn step(id: Self::Id) -> Step {
        Step::EndpointAvailable(id)
    }
    fn become_available(&mut self) {
        if self.state == EndpointState::Pending {
            self.state = EndpointState::Available;
        }
    }
}
