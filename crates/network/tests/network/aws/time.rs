//! What happens by itself as time goes by.

use super::Aws;
use foo_model::Timestamp;
use foo_model::network::*;
use std::time::Duration;

const NAT_CREATES: Duration = Duration::from_secs(90);
const NAT_DELETES: Duration = Duration::from_mins(1);
const ENDPOINT: Duration = Duration::from_secs(20);

impl Aws {
    pub fn advance(&mut self, to: Timestamp) {
        self.now = self.now.max(to);
        self.nats();
        self.endpoints();
        self.ranges();
    }

    fn due(&mut self, id: &str, after: Duration) -> bool {
        let at = *self.timers.entry(id.to_owned()).or_insert(self.now);
        let due = at.plus(after) <= self.now;
        if due {
            self.timers.remove(id);
        }
        due
    }

    fn nats(&mut self) {
        for id in self.parts.nat_gateways.keys().cloned().collect::<Vec<_>>() {
            let state = self.parts.nat_gateways[&id].state;
            match state {
                NatState::Pending if self.due(id.as_str(), NAT_CREATES) => self.nat_created(&id),
                NatState::Deleting if self.due(id.as_str(), NAT_DELETES) => {
                    let nat = self.parts.nat_gateways.get_mut(&id).unwrap();
                    nat.state = NatState::Deleted;
                    self.free_nat(&id);
                }
                _ => {}
            }
        }
    }

    fn nat_created(&mut self, id: &foo_model::NatGatewayId) {
        let attached = {
            let vpc = &self.parts.nat_gateways[id].vpc;
            self.parts.internet_gateways.values().any(|it| it.vpc.as_ref() == Some(vpc))
        };
        let fails = if self.nats_that_fail > 0 { Some("InternalError") } else { None };
        let fails = fails.or_else(|| (!attached).then_some("Gateway.NotAttached"));
        let nat = self.parts.nat_gateways.get_mut(id).unwrap();
        match fails {
            Some(code) => {
                nat.state = NatState::Failed;
                nat.failure = Some((code.to_owned(), "it failed".to_owned()));
                self.nats_that_fail = self.nats_that_fail.saturating_sub(1);
                self.free_nat(id);
            }
            None => nat.state = NatState::Available,
        }
    }

    /// Its interface goes, its address is free, routes to it lead nowhere.
    pub fn free_nat(&mut self, id: &foo_model::NatGatewayId) {
        let text = format!("Interface for NAT Gateway {id}");
        let gone: Vec<_> = self
            .parts
            .interfaces
            .values()
            .filter(|it| it.description == text)
            .map(|it| it.id.clone())
            .collect();
        for interface in gone {
            self.parts.interfaces.remove(&interface);
            for address in self.parts.addresses.values_mut() {
                if address.interface.as_ref() == Some(&interface) {
                    address.interface = None;
                }
            }
        }
        for table in self.parts.route_tables.values_mut() {
            for route in &mut table.routes {
                if route.target == RouteTarget::NatGateway(id.clone()) {
                    route.blackhole = true;
                }
            }
        }
    }

    fn endpoints(&mut self) {
        for id in self.parts.endpoints.keys().cloned().collect::<Vec<_>>() {
            let state = self.parts.endpoints[&id].state;
            match state {
                EndpointState::Pending if self.due(id.as_str(), ENDPOINT) => {
                    let fails = self.endpoints_that_fail > 0;
                    self.endpoints_that_fail = self.endpoints_that_fail.saturating_sub(1);
                    let endpoint = self.parts.endpoints.get_mut(&id).unwrap();
                    endpoint.failure = fails.then(|| "Other: there is no room".to_owned());
                    endpoint.state = if fails { EndpointState::Failed } else { EndpointState::Available };
                }
                EndpointState::Deleting if self.due(id.as_str(), ENDPOINT) => {
                    self.parts.endpoints.remove(&id);
                    let text = format!("VPC Endpoint Interface {id}");
                    self.parts.interfaces.retain(|_, it| it.description != text);
                }
                _ => {}
            }
        }
    }

    fn ranges(&mut self) {
        for vpc in self.parts.vpcs.values_mut() {
            for range in &mut vpc.cidrs {
                range.state = CidrState::Associated;
            }
            for range in &mut vpc.ipv6 {
                range.state = CidrState::Associated;
            }
        }
    }
}
