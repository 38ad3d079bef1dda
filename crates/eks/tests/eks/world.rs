//! A manager of one cluster against the small EKS: look, plan, check, publish, act, and what can go wrong in between.

use crate::aws::{Aws, role_arn};
use foo_calls::report::Deletion;
use foo_calls::{Domain as _, Outcome, Refusal};
use foo_eks::desired::*;
use foo_eks::report::{Condition, ConditionKind};
use foo_eks::*;
use foo_model::eks::*;
use foo_model::*;
use std::collections::{BTreeMap, BTreeSet};
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
    /// The call is carried out, its answer is lost.
    LostAfter,
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
    /// Questions that get no answer.
    pub deaf: BTreeSet<Question>,
    pub sent: usize,
    pub report: Option<Report>,
    log: Vec<String>,
}

pub fn addon() -> DesiredAddon {
    DesiredAddon {
        version: AddonVersion::Latest,
        settings: AddonSettings::default(),
        pod_identities: None,
        conflicts: ResolveConflicts::Overwrite,
        preserve: false,
    }
}

pub fn entry() -> DesiredEntry {
    DesiredEntry {
        kind: EntryKind::Standard,
        username: None,
        groups: BTreeSet::from(["viewers".to_owned()]),
        policies: BTreeSet::new(),
    }
}

pub fn placement(ids: &[&str]) -> Placement {
    Placement { subnets: ids.iter().map(|id| SubnetId::new(*id)).collect(), security_groups: BTreeSet::new() }
}

fn known_subnet(id: &str) -> (SubnetId, KnownSubnet) {
    let id = SubnetId::new(id);
    let zone = crate::aws::zone(&id);
    (id, KnownSubnet { zone, has_ipv6: None })
}

/// Two subnets, four add-ons, one pool, one person.
pub fn desired() -> Desired {
    Desired {
        name: "prod".to_owned(),
        id: "1111".to_owned(),
        uid: "1111".to_owned(),
        begun_before: false,
        deletion_confirmed: true,
        cluster: "team/prod".to_owned(),
        installation: "here".to_owned(),
        adopt_from: None,
        adoption: Adoption::NotRequested,
        neighbours: BTreeSet::new(),
        left_open: BTreeSet::new(),
        partition: "aws".to_owned(),
        region: "eu-central-1".to_owned(),
        account: Some(crate::aws::ACCOUNT.to_owned()),
        own_principal: Some(role_arn("manager")),
        own_principal_is_guessed: false,
        version: Minor(33),
        force_upgrade: false,
        oldest_kubelet: None,
        role_arn: role_arn("cluster"),
        placement: Some(placement(&["subnet-a", "subnet-b"])),
        subnet_choice: SubnetChoice::Network,
        known_subnets: ["subnet-a", "subnet-a2", "subnet-b", "subnet-b2", "subnet-c", "subnet-e"]
            .map(known_subnet)
            .into(),
        access: EndpointAccess {
            public: true,
            private: true,
            public_cidrs: BTreeSet::from(["0.0.0.0/0".to_owned()]),
        },
        service_ipv4: None,
        ip_family: IpFamily::Ipv4,
        authentication_mode: AuthenticationMode::Api,
        logging: BTreeSet::new(),
        encryption_key: None,
        upgrade_policy: None,
        zonal_shift: false,
        deletion_protection: false,
        may_unprotect: false,
        entries: BTreeMap::from([(role_arn("people"), entry())]),
        node_profiles: BTreeSet::from(["nodes".to_owned()]),
        nodes_settled: true,
        addons: ["vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns"]
            .into_iter()
            .map(|name| (name.to_owned(), addon()))
            .collect(),
        pod_identities: BTreeMap::from([(("team".to_owned(), "app".to_owned()), role_arn("app"))]),
        oidc_provider: true,
        tags: network::Tags::from([("team".to_owned(), "red".to_owned())]),
        deletion: Some(DeletionPolicy::Delete),
        being_deleted: false,
        paused: false,
    }
}

impl World {
    pub fn new(desired: Desired) -> Self {
        Self {
            aws: Aws::new(),
            desired,
            status: Recorded::default(),
            memory: Memory::default(),
            observed: Observed::default(),
            faults: BTreeMap::new(),
            deaf: BTreeSet::new(),
            sent: 0,
            report: None,
            log: Vec::new(),
        }
    }

    /// A cluster as requested, at rest.
    pub fn settled(desired: Desired) -> Self {
        let mut world = Self::new(desired);
        world.settle();
        world
    }

    pub fn now(&self) -> Timestamp {
        self.aws.now
    }

    /// The process ends; another one takes over.
    pub fn restart(&mut self) {
        self.memory = Memory::default();
        self.observed = Observed::default();
        self.desired.begun_before = true;
    }

    /// The FooControlPlane was moved: another object, without its status.
    pub fn moved(&mut self) {
        self.status = Recorded::default();
        self.desired.uid.push('m');
        self.restart();
    }

    /// One pass. Whether it sent anything.
    pub fn pass(&mut self) -> bool {
        self.observed.now = self.now();
        let difference = Difference::ahead_by(-self.aws.ahead);
        self.observed.aws_clock = Comparison { difference, agreement: Agreement::Differ };
        let plan = plan(&self.desired, &self.observed, &self.status, &self.memory);
        let found = violations(&self.desired, &self.observed, &self.status, &self.memory, &plan);
        assert!(found.is_empty(), "{found:#?}\n{}", self.story());
        let again = foo_eks::plan(&self.desired, &self.observed, &self.status, &self.memory);
        assert_eq!(plan, again, "the same values give the same plan");
        assert!(!plan.report.settled || plan.actions.is_empty(), "settled means no actions");
        self.status = plan.record;
        self.memory = plan.memory;
        self.report = Some(plan.report);
        let sends = !plan.actions.is_empty();
        for action in plan.actions {
            if !self.act(&action) {
                self.restart();
                return true;
            }
        }
        sends
    }

    fn act(&mut self, action: &Action) -> bool {
        let fault = self.faults.remove(&self.sent);
        self.sent += 1;
        self.aws.advance(self.now().plus(Duration::from_millis(100)));
        let now = self.now();
        Eks::calls(&mut self.memory).sent(action, now);
        let lost = || Refusal { reason: Reason::ResponseLost, code: None, message: "lost".into() };
        let answer = match fault {
            Some(Fault::CrashBefore) => None,
            Some(Fault::LostBefore) => Some(Outcome::Lost(lost())),
            Some(Fault::Refused(reason)) => {
                Some(Outcome::Refused(Refusal { reason, code: None, message: "refused".into() }))
            }
            Some(Fault::CrashAfter | Fault::MoveAfter | Fault::LostAfter) | None => {
                match self.aws.call(&action.change, action.token.as_deref()) {
                    Ok(changed) => Some(Outcome::Done(changed)),
                    Err(refusal) => Some(Outcome::Refused(refusal)),
                }
            }
        };
        self.log.push(format!("{} {:?} {fault:?} {:?}", self.now().0 / 1000, action.change, answer));
        match (fault, answer) {
            (Some(Fault::CrashBefore | Fault::CrashAfter), _) | (_, None) => return false,
            (Some(Fault::MoveAfter), _) => {
                self.moved();
                return false;
            }
            (Some(Fault::LostAfter), _) => {
                Eks::calls(&mut self.memory).ended(action, now, Outcome::Lost(lost()));
            }
            (_, Some(outcome)) => Eks::calls(&mut self.memory).ended(action, now, outcome),
        }
        true
    }

    /// Takes the looks that are due, or lets time pass until some are. Whether there was anything to wait for.
    pub fn wait(&mut self) -> bool {
        let report = self.report.clone().unwrap();
        let times = report.looks.iter().map(|it| it.from).chain(report.again_at);
        let Some(next) = times.min() else { return false };
        self.aws.advance(next.max(self.now().plus(Duration::from_millis(50))));
        let now = self.now();
        for request in report.looks.iter().filter(|it| it.from <= now) {
            self.look(&request.question);
        }
        true
    }

    fn look(&mut self, question: &Question) {
        let now = self.now();
        let answer = self.aws.look(question);
        if self.deaf.contains(question) {
            let times = self.observed.failed.get(question).map_or(1, |it| it.times + 1);
            let refusal = Refusal { reason: Reason::AccessDenied, code: None, message: "denied".into() };
            self.observed.failed.insert(question.clone(), FailedLook { at: now, times, refusal });
            return;
        }
        self.observed.failed.remove(question);
        self.observed.looks.insert(question.clone(), Look { begun: now, answer });
    }

    /// Passes until a condition holds; at most a number of them.
    pub fn run_until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        for _ in 0..4000 {
            let sends = self.pass();
            if done(self) {
                return;
            }
            if !sends && !self.wait() {
                break;
            }
        }
        panic!("not {what}:\n{}\n{:#?}\n{:#?}", self.story(), self.report, self.status);
    }

    pub fn settle(&mut self) {
        self.run_until("settled", |it| it.report.as_ref().is_some_and(|it| it.settled));
    }

    /// Lets time pass.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.now().plus(time);
        while self.now() < end {
            if !self.pass() && !self.wait() {
                break;
            }
        }
    }

    pub fn delete(&mut self) {
        self.desired.being_deleted = true;
        self.run_until("deleted", |it| it.report.as_ref().is_some_and(|it| it.deletion == Deletion::Done));
    }

    pub fn cluster(&mut self) -> &mut Cluster {
        self.aws.state.cluster.as_mut().unwrap()
    }

    pub fn condition(&self, kind: ConditionKind) -> Condition {
        let conditions = &self.report.as_ref().unwrap().conditions;
        conditions.iter().find(|it| it.kind == kind).cloned().unwrap()
    }

    pub fn assert_says(&self, kind: ConditionKind, reason: Reason, text: &str) {
        let condition = self.condition(kind);
        assert_eq!(condition.reason, reason, "{condition:?}\n{}", self.story());
        assert!(condition.message.contains(text), "{condition:?}");
    }

    /// How often an operation was sent.
    pub fn count(&self, operation: &str) -> usize {
        self.aws.calls.iter().filter(|(_, change)| change.operation() == operation).count()
    }

    pub fn story(&self) -> String {
        self.log.join("\n")
    }

    /// Everything is as requested, and lets in who is to be let in.
    pub fn assert_complete(&self) {
        let (state, desired) = (&self.aws.state, &self.desired);
        let cluster = state.cluster.as_ref().unwrap();
        assert_eq!(cluster.status, ClusterStatus::Active);
        assert_eq!(cluster.version, desired.version);
        assert_eq!(cluster.access, desired.access);
        assert_eq!(Some(&cluster.placement), desired.placement.as_ref());
        assert_eq!(cluster.logging, desired.logging);
        assert_eq!(cluster.authentication_mode, desired.authentication_mode);
        assert_eq!(cluster.deletion_protection, desired.deletion_protection);
        for (key, value) in &desired.tags {
            assert_eq!(cluster.tags.get(key), Some(value));
        }
        let addons: BTreeSet<&String> = state.addons.keys().collect();
        assert_eq!(addons, desired.addons.keys().collect(), "{}", self.story());
        for name in ["manager", "people", "nodes"] {
            let entry = &state.entries[&role_arn(name)];
            assert_eq!(entry.lets_in, state.roles[name].unique_id, "{name}");
        }
        assert_eq!(state.entries[&role_arn("manager")].policies.len(), 1);
        let identity = state.identities.values().find(|it| it.service_account == "app").unwrap();
        assert_eq!(identity.role_arn, Some(role_arn("app")));
        assert_eq!(state.providers.len(), 1);
    }

    pub fn assert_gone(&self) {
        let state = &self.aws.state;
        assert!(state.cluster.is_none() && state.providers.is_empty(), "{}", self.story());
    }
}
