//! The AWS of these tests: the simulator, on a clock that only they move.

use foo_calls::testing::at_once;
use foo_calls::{Outcome, Refusal};
use foo_cloud::{CloudError, Networks as _};
use foo_model::network::*;
use foo_model::*;
use foo_simulator_core::core::Settings;
use foo_simulator_core::core::network::{
    EndpointMishap, NatMishap, NetworkQuotas, NewInterface, NewLoadBalancer,
};
use foo_simulator_core::core::settings::NewParts;
use foo_simulator_core::{
    DEFAULT_REGION, Fault, FaultRule, RegionHandle, SimCloud, Simulator, SimulatorConfig,
};
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

pub struct Aws {
    simulator: Simulator,
    region: RegionHandle,
    cloud: SimCloud,
    pub now: Timestamp,
    /// Everything in the region, as it is now.
    pub parts: Parts,
    pub calls: Vec<Change>,
    pub reads: u32,
}

/// A copy has a life of its own.
impl Clone for Aws {
    fn clone(&self) -> Self {
        let simulator = self.simulator.fork();
        let (parts, calls) = (self.parts.clone(), self.calls.clone());
        Self { parts, calls, reads: self.reads, ..Self::of(simulator) }
    }
}

fn settings() -> Settings {
    let quotas =
        NetworkQuotas { vpcs: 100, addresses: 100, internet_gateways: 100, ..NetworkQuotas::default() };
    Settings {
        networks_pending: Duration::ZERO,
        nat_gateway_create: Duration::from_secs(90),
        nat_gateway_failure: Duration::from_secs(90),
        nat_gateway_delete: Duration::from_mins(1),
        endpoint_create: Duration::from_secs(20),
        endpoint_delete: Duration::from_secs(20),
        load_balancer_delete: Duration::ZERO,
        network_quotas: quotas,
        new_parts: NewParts::NotDescribed,
        ..Settings::default()
    }
}

impl Aws {
    /// Nothing but zones.
    pub fn new() -> Self {
        static EMPTY: LazyLock<Simulator> = LazyLock::new(|| {
            let config = SimulatorConfig { settings: settings(), ..SimulatorConfig::stepped() };
            let simulator = Simulator::new(config);
            simulator.region(DEFAULT_REGION).empty_network().unwrap();
            simulator
        });
        // A copy costs less than a new region with its catalogues.
        let mut aws = Self::of(EMPTY.fork());
        aws.refresh();
        aws
    }

    fn of(simulator: Simulator) -> Self {
        let region = simulator.region(DEFAULT_REGION);
        let cloud = simulator.cloud(DEFAULT_REGION, "manager");
        let now = simulator.now();
        Self { simulator, region, cloud, now, parts: Parts::default(), calls: Vec::new(), reads: 0 }
    }

    fn refresh(&mut self) {
        self.parts = self.region.with(|region| region.network_now()).unwrap();
    }

    pub fn advance(&mut self, to: Timestamp) {
        let to = self.now.max(to);
        let due = self.simulator.next_due().is_some_and(|at| at <= to);
        self.simulator.step(self.now.until(to));
        self.now = to;
        if due {
            self.refresh();
        }
    }

    /// Carries a call out.
    pub fn send(&mut self, change: &Change) -> Outcome<Parts> {
        self.judge(change);
        self.calls.push(change.clone());
        let result = at_once(self.cloud.change_network(change));
        self.refresh();
        match result {
            Ok(parts) => Outcome::Done(parts),
            Err(error) if error.may_have_happened() => Outcome::Lost(refusal(&error)),
            Err(error) => Outcome::Refused(refusal(&error)),
        }
    }

    /// A call of the user's.
    pub fn call(&mut self, change: &Change) -> Parts {
        match self.send(change) {
            Outcome::Done(parts) => parts,
            failed => panic!("{change:?}: {failed:?}"),
        }
    }

    /// What no plan may ask for, although AWS would do it, or refuse it once only.
    fn judge(&self, change: &Change) {
        match change {
            Change::CreateNatGateway { allocation, .. } if !self.calls.contains(change) => {
                let taken = self.parts.addresses.get(allocation).is_some_and(|it| it.interface.is_some());
                assert!(!taken, "a NAT gateway with an address that is in use");
            }
            Change::CreateRoute { target: RouteTarget::NatGateway(nat), .. }
            | Change::ReplaceRoute { target: RouteTarget::NatGateway(nat), .. } => {
                let state = self.parts.nat_gateways.get(nat).map(|it| it.state);
                assert_eq!(state, Some(NatState::Available), "a route to a NAT gateway that does not work");
            }
            Change::CreateVpcEndpoint {
                vpc,
                kind: EndpointKind::Interface { private_dns: true, .. },
                ..
            } => {
                let hostnames = self.parts.vpcs[vpc].dns_hostnames;
                assert_eq!(hostnames, Some(true), "private names without hostnames");
            }
            _ => {}
        }
    }

    /// A read of one kind.
    pub fn read(&mut self, kind: Kind, scope: &Scope) -> Parts {
        self.reads += if kind == Kind::VpcAttributes { 2 } else { 1 };
        at_once(self.cloud.describe_network(kind, scope)).unwrap()
    }

    /// Changes something without the planner, and without AWS's rules.
    pub fn by_hand(&mut self, change: impl FnOnce(&mut Parts)) {
        self.region.with(|region| region.edit_network(change)).unwrap();
        self.refresh();
    }

    /// A user deletes a NAT gateway; it is gone at once.
    pub fn delete_nat(&mut self, id: &NatGatewayId) {
        self.region.delete_as_another_user(id.as_str()).unwrap();
        self.refresh();
    }

    /// An interface of another user.
    pub fn interface(&mut self, subnet: &SubnetId, description: &str) -> InterfaceId {
        let new = NewInterface {
            subnet: subnet.clone(),
            groups: BTreeSet::new(),
            description: description.to_owned(),
            requester_managed: false,
            in_use: true,
            public_ip: None,
            tags: Tags::new(),
        };
        let id = self.region.put_foreign_interface(new).unwrap();
        self.by_hand(|parts| parts.interfaces.get_mut(&id).unwrap().groups.clear());
        id
    }

    /// A load balancer of a Service, with its interfaces and target groups.
    pub fn balancer(&mut self, new: NewLoadBalancer) {
        self.region.put_load_balancer(new).unwrap();
        self.refresh();
    }

    fn set(&mut self, change: impl FnOnce(&mut Settings)) {
        self.region.change_settings(change).unwrap();
    }

    /// How long reads show what was before a change.
    pub fn set_lag(&mut self, lag: Duration) {
        self.set(|settings| settings.read_lag = lag);
    }

    /// How long new parts are not shown by reads.
    pub fn show_new_parts_after(&mut self, time: Duration) {
        let kinds = Kind::OF_A_NETWORK.into_iter().chain([Kind::Interface]);
        self.set(|settings| settings.parts_appear_after = kinds.map(|kind| (kind, time)).collect());
    }

    pub fn set_address_quota(&mut self, quota: u32) {
        self.set(|settings| settings.network_quotas.addresses = quota);
    }

    /// How many NAT gateways fail from now on.
    pub fn fail_nats(&mut self, times: u32) {
        let (code, message) = ("InternalError".to_owned(), "it failed".to_owned());
        let rule = NatMishap { zone: None, skip: 0, times: Some(times), code, message };
        self.region.set_nat_mishaps(if times > 0 { vec![rule] } else { vec![] }).unwrap();
    }

    /// How many interface endpoints fail from now on.
    pub fn fail_endpoints(&mut self, times: u32) {
        let failure = "Other: there is no room".to_owned();
        self.region.with(|region| region.set_endpoint_mishap(EndpointMishap { times, failure })).unwrap();
    }

    /// AWS denies these operations from now on, and no others.
    pub fn deny(&mut self, operations: &[&str]) {
        self.simulator.clear_faults();
        for operation in operations {
            self.simulator.add_fault(FaultRule::on(operation, Fault::Denied));
        }
    }
}

pub fn refusal(error: &CloudError) -> Refusal {
    Refusal { reason: error.kind.into(), code: error.code.clone(), message: error.to_string() }
}
