//! A manager of one network against the small AWS: look, plan, check, publish, act, and what can go wrong in between.

use crate::aws::Aws;
use foo_calls::report::Deletion;
use foo_calls::{Domain as _, Outcome, Refusal};
use foo_model::network::*;
use foo_model::*;
use foo_network::desired::*;
use foo_network::observed::{ById, DnsAttributes};
use foo_network::report::{Condition, ConditionKind};
use foo_network::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// What goes wrong with one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The process ends before the call.
    CrashBefore,
    /// The process ends after the call was carried out.
    CrashAfter,
    /// The process ends after the call, and the status is lost as well (a move).
    MoveAfter,
    /// The call is carried out, its answer is lost, or says something else.
    LostAfter(Reason),
    /// The call is lost.
    LostBefore,
    /// AWS refuses it once.
    Refused(Reason),
}

#[derive(Clone)]
pub struct World {
    pub aws: Aws,
    pub desired: Desired,
    pub status: Recorded,
    pub memory: Memory,
    pub observed: Observed,
    /// What goes wrong with the call of this number, counted from 0.
    pub faults: BTreeMap<usize, Fault>,
    /// Why the answer to every call without another fault is lost, if it is.
    pub silence: Option<Reason>,
    pub sent: usize,
    /// Plans with actions.
    pub rounds: u32,
    pub report: Option<Report>,
    /// What was sent, and AWS's refusals.
    log: Vec<(Timestamp, Action, Option<Fault>, Option<Refusal>)>,
    /// Whether each plan is made twice and compared.
    pub thorough: bool,
}

pub fn zone(letter: char) -> Zone {
    Zone::new(format!("eu-central-1{letter}"))
}

pub fn subnet(tier: Tier, letter: char, index: u8) -> DesiredSubnet {
    let name: &str = tier.into();
    let third = if tier == Tier::Public { index } else { 128 + index };
    DesiredSubnet {
        key: format!("{name}/{}", zone(letter)),
        tier,
        zone: zone(letter),
        cidr: format!("10.0.{third}.0/24").parse().unwrap(),
        ipv6_index: Some(third),
        public_ip_on_launch: tier == Tier::Public,
        tags: Tags::new(),
    }
}

pub fn rule(peer: GroupPeer, port: u16) -> GroupRule {
    GroupRule { protocol: Protocol::Tcp(port, port), peer, description: String::new() }
}

pub fn everything() -> GroupRule {
    GroupRule {
        protocol: Protocol::All,
        peer: GroupPeer::V4("0.0.0.0/0".parse().unwrap()),
        description: String::new(),
    }
}

/// Three zones, a NAT gateway in each, two security groups that name each other.
pub fn desired(zones: &str) -> Desired {
    let mut subnets = Vec::new();
    for (index, letter) in (0_u8..).zip(zones.chars()) {
        subnets.push(subnet(Tier::Public, letter, index));
        subnets.push(subnet(Tier::Private, letter, index));
    }
    let group = |name: &str, other: &str| DesiredGroup {
        name: name.to_owned(),
        is_for_nodes: name == "node",
        ingress: vec![
            rule(GroupPeer::Group(other.to_owned()), 443),
            GroupRule {
                protocol: Protocol::All,
                peer: GroupPeer::Group(name.to_owned()),
                description: "self".into(),
            },
        ],
        egress: vec![everything()],
    };
    Desired {
        network_id: "11111111-2222-3333-4444-555555555555".to_owned(),
        uid: "11111111-2222-3333-4444-555555555555".to_owned(),
        begun_before: false,
        cluster: "team/prod".to_owned(),
        kubernetes_cluster: Some("prod".to_owned()),
        installation: "here".to_owned(),
        adopt_from: None,
        account: Some("123456789012".to_owned()),
        vpc: DesiredVpc::Managed { cidr: "10.0.0.0/16".parse().unwrap(), secondary: vec![] },
        ipv6: false,
        subnets,
        nat: NatMode::PerZone,
        endpoints: vec![],
        security_groups: vec![group("node", "controlPlane"), group("controlPlane", "node")],
        tags: Tags::from([("team".to_owned(), "red".to_owned())]),
        drift: DriftPolicy::Enforce,
        deletion: DeletionPolicy::Delete,
        leftovers: Leftovers::Wait,
        being_deleted: false,
        paused: false,
    }
}

pub fn endpoint(name: &str, kind: DesiredEndpointKind) -> DesiredEndpoint {
    DesiredEndpoint { name: name.to_owned(), service: format!("com.amazonaws.eu-central-1.{name}"), kind }
}

/// A VPC of the user, with an internet gateway.
pub fn users_vpc() -> World {
    let mut world = World::new(desired("ab"));
    let answer = world.aws.call(&Change::CreateVpc {
        cidr: "10.0.0.0/16".parse().unwrap(),
        ipv6: false,
        tags: Tags::new(),
    });
    let vpc = answer.unwrap().vpcs.into_keys().next().unwrap();
    let answer = world.aws.call(&Change::CreateInternetGateway { tags: Tags::new() });
    let gateway = answer.unwrap().internet_gateways.into_keys().next().unwrap();
    world.aws.call(&Change::AttachInternetGateway { gateway, vpc: vpc.clone() }).unwrap();
    world.desired.vpc = DesiredVpc::Existing(vpc);
    world
}

impl World {
    pub fn new(desired: Desired) -> Self {
        let aws = Aws::new();
        let mut zones = BTreeMap::new();
        for letter in "abcdef".chars() {
            let info = ZoneInfo {
                name: zone(letter),
                id: String::new(),
                available: true,
                is_availability_zone: true,
            };
            zones.insert(zone(letter), info);
        }
        let observed =
            Observed { zones: Some(zones), quotas: Some(Quotas::default()), ..Observed::default() };
        Self {
            aws,
            desired,
            status: Recorded::default(),
            memory: Memory::default(),
            observed,
            faults: BTreeMap::new(),
            silence: None,
            sent: 0,
            rounds: 0,
            report: None,
            log: Vec::new(),
            thorough: true,
        }
    }

    fn now(&self) -> Timestamp {
        self.aws.now
    }

    /// The process ends; another one takes over.
    pub fn restart(&mut self) {
        self.memory = Memory::default();
        let (zones, quotas) = (self.observed.zones.take(), self.observed.quotas.take());
        self.observed = Observed { zones, quotas, ..Observed::default() };
        self.desired.begun_before = true;
    }

    /// The FooCluster was moved: another object, without its status.
    pub fn moved(&mut self) {
        self.status = Recorded::default();
        self.desired.uid.push('m');
    }

    /// One pass. Whether the process lives on.
    pub fn pass(&mut self) -> bool {
        self.observed.now = self.now();
        let plan = plan(&self.desired, &self.observed, &self.status, &self.memory);
        let found = violations(&self.desired, &self.observed, &self.status, &self.memory, &plan);
        assert!(found.is_empty(), "{found:#?}\n{}", self.story());
        if self.thorough {
            let again = foo_network::plan(&self.desired, &self.observed, &self.status, &self.memory);
            assert_eq!(plan, again, "the same values give the same plan");
        }
        let changed = plan.report.settled && !plan.actions.is_empty();
        assert!(!changed, "settled means no actions");
        self.status = plan.record;
        self.memory = plan.memory;
        self.report = Some(plan.report);
        if !plan.actions.is_empty() {
            self.rounds += 1;
        }
        for action in plan.actions {
            if !self.act(&action) {
                self.restart();
                return false;
            }
        }
        true
    }

    fn act(&mut self, action: &Action) -> bool {
        let silent = self.silence.map(Fault::LostAfter);
        let fault = self.faults.remove(&self.sent).or(silent);
        self.log.push((self.now(), action.clone(), fault, None));
        self.sent += 1;
        self.aws.advance(self.now().plus(Duration::from_millis(100)));
        let now = self.now();
        Network::calls(&mut self.memory).sent(action, now);
        let lost = |reason| Refusal { reason, code: None, message: "lost".into() };
        let outcome = match fault {
            Some(Fault::CrashBefore) => return false,
            Some(Fault::LostBefore) => Outcome::Lost(lost(Reason::ResponseLost)),
            Some(Fault::Refused(reason)) => {
                Outcome::Refused(Refusal { reason, code: None, message: "refused".into() })
            }
            None | Some(Fault::CrashAfter | Fault::MoveAfter | Fault::LostAfter(_)) => {
                match self.aws.call(&action.change) {
                    Ok(parts) => Outcome::Done(parts),
                    Err(refusal) => {
                        self.log.push((self.now(), action.clone(), None, Some(refusal.clone())));
                        Outcome::Refused(refusal)
                    }
                }
            }
        };
        match fault {
            Some(Fault::CrashAfter) => return false,
            Some(Fault::MoveAfter) => {
                self.moved();
                return false;
            }
            Some(Fault::LostAfter(reason)) => {
                Network::calls(&mut self.memory).ended(action, now, Outcome::Lost(lost(reason)));
            }
            _ => Network::calls(&mut self.memory).ended(action, now, outcome),
        }
        true
    }

    /// Takes the looks that are due, or lets time pass until some are. Whether there was anything to wait for.
    pub fn wait(&mut self) -> bool {
        let report = self.report.clone().expect("a pass came before");
        let times = report.looks.iter().map(|it| it.from).chain(report.again_at);
        let Some(next) = times.min() else { return false };
        let next = next.max(self.now().plus(Duration::from_millis(500)));
        self.aws.advance(next);
        for request in report.looks.iter().filter(|it| it.from <= next) {
            self.look(request.kind, &request.scope);
        }
        true
    }

    pub fn look(&mut self, kind: Kind, scope: &Scope) {
        let now = self.now();
        if kind == Kind::VpcAttributes {
            let Scope::Ids(ids) = scope else { panic!("attributes by ids only") };
            for id in ids {
                if let Some(vpc) = self.aws.parts.vpcs.get(&id.as_str().into()) {
                    let (support, hostnames) =
                        (vpc.dns_support == Some(true), vpc.dns_hostnames == Some(true));
                    self.observed
                        .attributes
                        .insert(vpc.id.clone(), DnsAttributes { begun: now, support, hostnames });
                }
            }
            self.aws.reads += 2;
            return;
        }
        let mut parts = self.aws.look(kind, scope);
        parts.vpcs.values_mut().for_each(|vpc| (vpc.dns_support, vpc.dns_hostnames) = (None, None));
        let into = match scope {
            Scope::TagKey(_) => {
                self.observed.tagged.begun.insert(kind, now);
                &mut self.observed.tagged.parts
            }
            Scope::Vpc(vpc) => {
                let look = self.observed.in_vpc.entry(vpc.clone()).or_default();
                look.begun.insert(kind, now);
                &mut look.parts
            }
            Scope::Ids(ids) => {
                let ById { begun, parts } = &mut self.observed.by_id;
                let begun = begun.entry(kind).or_default();
                begun.extend(ids.iter().map(|id| (id.clone(), now)));
                parts
            }
            Scope::Tag(..) => panic!("not asked for"),
        };
        match kind {
            Kind::Vpc => into.vpcs = parts.vpcs,
            Kind::Subnet => into.subnets = parts.subnets,
            Kind::InternetGateway => into.internet_gateways = parts.internet_gateways,
            Kind::EgressOnlyGateway => into.egress_only_gateways = parts.egress_only_gateways,
            Kind::Address => into.addresses = parts.addresses,
            Kind::NatGateway => into.nat_gateways = parts.nat_gateways,
            Kind::RouteTable => into.route_tables = parts.route_tables,
            Kind::SecurityGroup => into.security_groups = parts.security_groups,
            Kind::Endpoint => into.endpoints = parts.endpoints,
            Kind::Interface => into.interfaces = parts.interfaces,
            Kind::LoadBalancer => into.load_balancers = parts.load_balancers,
            Kind::TargetGroup => into.target_groups = parts.target_groups,
            Kind::VpcAttributes | Kind::Zone => {}
        }
    }

    /// A whole sweep, as the observer does every five minutes.
    pub fn sweep(&mut self) {
        for kind in Kind::OF_A_NETWORK {
            self.look(kind, &Scope::TagKey("infrastructure.foo.com/network".to_owned()));
        }
    }

    /// Passes until a condition holds; at most so many.
    pub fn run_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        for _ in 0..600 {
            let sent = self.sent;
            self.pass();
            if done(self) {
                return;
            }
            if sent == self.sent {
                self.wait();
            }
        }
        panic!("not {what}:\n{}\n{:#?}", self.story(), self.report);
    }

    pub fn settle(&mut self) {
        self.run_until("settled", |it| it.report.as_ref().is_some_and(|it| it.settled));
    }

    /// Settles, a sweep later still.
    pub fn rest(&mut self) {
        self.settle();
        for _ in 0..2 {
            self.aws.advance(self.now().plus(Duration::from_mins(5)));
            self.sweep();
            self.settle();
        }
    }

    pub fn delete(&mut self) {
        self.desired.being_deleted = true;
        self.run_until("deleted", |it| it.report.as_ref().is_some_and(|it| it.deletion == Deletion::Done));
    }

    pub fn condition(&self, kind: ConditionKind) -> Condition {
        let conditions = &self.report.as_ref().unwrap().conditions;
        conditions.iter().find(|it| it.kind == kind).cloned().unwrap_or_else(|| panic!("{kind:?}"))
    }

    pub fn story(&self) -> String {
        let line = |(at, action, fault, refusal): &(Timestamp, Action, Option<Fault>, Option<Refusal>)| {
            let fault = fault.map(|it| format!("{it:?}")).unwrap_or_default();
            let refusal = refusal.as_ref().map(|it| format!("refused {:?}", it.code)).unwrap_or_default();
            format!("{} {} {:?} {fault} {refusal}", at.0, action.role, action.change)
        };
        self.log.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
