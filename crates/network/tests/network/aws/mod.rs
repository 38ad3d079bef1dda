//! A small AWS: applies changes to parts by AWS's rules. Reads may be older than the last change, and new parts may be shown late.

mod calls;
mod deletes;
mod time;

use foo_calls::Refusal;
use foo_model::network::*;
use foo_model::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub type Answered = Result<Parts, Refusal>;

#[derive(Clone, Default)]
pub struct Aws {
    pub now: Timestamp,
    /// What is true.
    pub parts: Parts,
    /// What was true after each change, and since when, oldest first: reads that lag show the one before.
    history: Vec<(Timestamp, Parts)>,
    /// What is not shown before a moment, by id.
    hidden: BTreeMap<String, Timestamp>,
    tokens: BTreeMap<String, (Change, String)>,
    timers: BTreeMap<String, Timestamp>,
    next: u32,
    pub calls: Vec<Change>,
    pub reads: u32,
    /// How long new parts are not shown by looks.
    pub shown_after: Duration,
    /// How long reads show what was before a change.
    pub lag: Duration,
    /// How many NAT gateways fail from now on.
    pub nats_that_fail: u32,
    /// How many endpoints fail from now on.
    pub endpoints_that_fail: u32,
    pub address_quota: u32,
    /// Operations that AWS denies.
    pub denied: BTreeSet<&'static str>,
}

pub fn refusal(reason: Reason, code: &str) -> Refusal {
    Refusal { reason, code: Some(code.to_owned()), message: format!("AWS says {code}") }
}

pub fn not_found(code: &str) -> Refusal {
    refusal(Reason::NotFound, code)
}

pub fn violation() -> Refusal {
    refusal(Reason::ResourceInUse, "DependencyViolation")
}

impl Aws {
    pub fn new() -> Self {
        Self { address_quota: 100, now: Timestamp(1_000_000_000), ..Self::default() }
    }

    pub fn id(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}-{:04}", self.next)
    }

    /// Carries a call out.
    pub fn call(&mut self, change: &Change) -> Answered {
        self.calls.push(change.clone());
        if self.denied.contains(change.operation()) {
            return Err(refusal(Reason::AccessDenied, "UnauthorizedOperation"));
        }
        let before = self.parts.clone();
        let answer = self.carry_out(change);
        if self.parts != before {
            self.history.push((self.now, before));
        }
        answer
    }

    /// Changes something without the planner.
    pub fn by_hand(&mut self, change: impl FnOnce(&mut Parts)) {
        let before = self.parts.clone();
        change(&mut self.parts);
        self.history.push((self.now, before));
    }

    fn with_token(&mut self, token: &str, change: &Change, kind: &str) -> Result<(String, bool), Refusal> {
        if let Some((earlier, id)) = self.tokens.get(token) {
            return if earlier == change {
                Ok((id.clone(), false))
            } else {
                Err(refusal(Reason::RequestInvalid, "IdempotentParameterMismatch"))
            };
        }
        let id = self.id(kind);
        self.tokens.insert(token.to_owned(), (change.clone(), id.clone()));
        Ok((id, true))
    }

    fn hide(&mut self, id: &str) {
        self.hidden.insert(id.to_owned(), self.now.plus(self.shown_after));
    }

    /// A read of one kind.
    pub fn look(&mut self, kind: Kind, scope: &Scope) -> Parts {
        self.reads += 1;
        let source = match self.history.last() {
            Some((at, before)) if at.plus(self.lag) > self.now => before.clone(),
            _ => self.parts.clone(),
        };
        let mut parts = Parts::default();
        macro_rules! copy {
            ($($kind:ident $map:ident $vpc:expr;)*) => {$(
                if kind == Kind::$kind {
                    for (id, part) in &source.$map {
                        let shown = self.hidden.get(&id.to_string()).is_none_or(|at| *at <= self.now);
                        let fits = match scope {
                            Scope::TagKey(key) => part.tags.contains_key(key),
                            Scope::Tag(key, value) => part.tags.get(key) == Some(value),
                            Scope::Ids(ids) => ids.contains(&id.to_string()),
                            Scope::Vpc(vpc) => $vpc(part) == Some(vpc),
                        };
                        if shown && fits {
                            parts.$map.insert(id.clone(), part.clone());
                        }
                    }
                }
            )*};
        }
        copy! {
            Vpc vpcs first;
            Subnet subnets of_subnet;
            InternetGateway internet_gateways of_internet_gateway;
            EgressOnlyGateway egress_only_gateways of_egress_only;
            Address addresses of_address;
            NatGateway nat_gateways of_nat;
            RouteTable route_tables of_table;
            SecurityGroup security_groups of_group;
            Endpoint endpoints of_endpoint;
            Interface interfaces of_interface;
            LoadBalancer load_balancers of_balancer;
            TargetGroup target_groups of_targets;
        }
        parts
    }

    pub fn interface(&mut self, subnet: &SubnetId, description: &str) -> InterfaceId {
        let id = InterfaceId::new(self.id("eni"));
        let vpc = self.parts.subnets[subnet].vpc.clone();
        let interface = Interface {
            id: id.clone(),
            vpc,
            subnet: subnet.clone(),
            groups: BTreeSet::new(),
            description: description.to_owned(),
            interface_type: "interface".to_owned(),
            requester_managed: false,
            in_use: true,
            instance: None,
            private_ip: String::new(),
            public_ip: None,
            tags: Tags::new(),
        };
        self.parts.interfaces.insert(id.clone(), interface);
        id
    }
}

macro_rules! of {
    ($($name:ident $part:ident |$it:ident| $vpc:expr;)*) => {
        $(
            #[allow(clippy::unnecessary_wraps, clippy::allow_attributes, reason = "some kinds are in no VPC")]
            fn $name($it: &$part) -> Option<&VpcId> { $vpc }
        )*
    };
}
of! {
    first Vpc |it| Some(&it.id);
    of_subnet Subnet |it| Some(&it.vpc);
    of_internet_gateway InternetGateway |it| it.vpc.as_ref();
    of_egress_only EgressOnlyGateway |it| Some(&it.vpc);
    of_address Address |_it| None;
    of_nat NatGateway |it| Some(&it.vpc);
    of_table RouteTable |it| Some(&it.vpc);
    of_group SecurityGroup |it| Some(&it.vpc);
    of_endpoint Endpoint |it| Some(&it.vpc);
    of_interface Interface |it| Some(&it.vpc);
    of_balancer LoadBalancer |it| Some(&it.vpc);
    of_targets TargetGroup |it| Some(&it.vpc);
}
