//! A manager of one cluster against the simulated EKS.

use crate::aws::{Aws, role_arn};
pub use foo_calls::testing::Fault;
use foo_calls::{Outcome, testing};
use foo_eks::desired::*;
use foo_eks::report::ConditionKind;
use foo_eks::*;
use foo_model::eks::Placement;
use foo_model::eks::*;
use foo_model::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub type World = testing::World<Aws>;

impl testing::Aws for Aws {
    type Domain = Eks;

    fn now(&self) -> Timestamp {
        Self::now(self)
    }

    fn advance(&mut self, to: Timestamp) {
        Self::advance(self, to);
    }

    fn send(&mut self, action: &Action) -> Outcome<Changed> {
        Self::send(self, &action.change, action.token.as_deref())
    }

    fn observe(&self, observed: &mut Observed) {
        observed.now = Self::now(self);
        let difference = Difference::ahead_by(-self.ahead);
        observed.aws_clock = Comparison { difference, agreement: Agreement::Differ };
    }

    fn read(&mut self, report: &Report, observed: &mut Observed) {
        let now = Self::now(self);
        for request in report.reads.iter().filter(|it| it.from <= now) {
            read(self, observed, &request.query);
        }
    }

    fn next(report: &Report) -> Option<Timestamp> {
        report.reads.iter().map(|it| it.from).chain(report.again_at).min()
    }

    fn is_settled(report: &Report) -> bool {
        report.settled
    }

    fn restarted(desired: &mut Desired, observed: &mut Observed) {
        *observed = Observed::default();
        desired.begun_before = true;
    }

    fn moved(desired: &mut Desired) {
        desired.uid.push('m');
    }
}

pub fn read(aws: &mut Aws, observed: &mut Observed, query: &Query) {
    let (now, response) = (aws.now(), aws.read(query));
    let denied = aws.deaf.contains(query).then(|| foo_calls::Refusal {
        reason: Reason::AccessDenied,
        code: None,
        message: "denied".to_owned(),
    });
    match denied.map_or(response, Err) {
        Ok(response) => {
            observed.failed.remove(query);
            observed.reads.insert(query.clone(), CompletedRead { begun: now, response });
        }
        Err(refusal) => {
            let times = observed.failed.get(query).map_or(1, |it| it.times + 1);
            observed.failed.insert(query.clone(), FailedRead { at: now, times, refusal });
        }
    }
}

pub fn addon() -> DesiredAddon {
    DesiredAddon {
        version: AddonVersion::Latest,
        settings: AddonSettings::default(),
        pod_identities: None,
        conflicts: ResolveConflicts::Overwrite,
        preserve: false,
        awaits: None,
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

pub fn identity_provider() -> DesiredIdentityProvider {
    let settings = IdentityProviderSettings {
        issuer_url: "https://id.example.com".to_owned(),
        client_id: "kubernetes".to_owned(),
        groups_claim: Some("groups".to_owned()),
        required_claims: [("hd".to_owned(), "example.com".to_owned())].into(),
        ..IdentityProviderSettings::default()
    };
    DesiredIdentityProvider { name: "people".to_owned(), settings }
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
        scaling_tier: None,
        deletion_protection: false,
        may_unprotect: false,
        entries: BTreeMap::from([(role_arn("people"), entry())]),
        node_profiles: BTreeSet::from(["nodes".to_owned()]),
        nodes_settled: true,
        addons: ["vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns"]
            .into_iter()
            .map(|name| (name.to_owned(), addon()))
            .collect(),
        maintenance: Maintenance::Always,
        pod_identities: BTreeMap::from([(("team".to_owned(), "app".to_owned()), role_arn("app"))]),
        oidc_provider: true,
        identity_provider: None,
        tags: network::Tags::from([("team".to_owned(), "red".to_owned())]),
        deletion: Some(DeletionPolicy::Delete),
        being_deleted: false,
        paused: false,
    }
}

/// What only clusters do.
pub trait EksWorld: Sized {
    fn new(desired: Desired) -> Self;

    /// A cluster as requested.
    fn settled(desired: Desired) -> Self;

    /// The cluster is deleted, until nothing of it is left.
    fn delete(&mut self);

    /// The only maintenance window is one of an hour that opens after this time. Returns that moment.
    fn opens_in(&mut self, time: Duration) -> Timestamp;

    fn cluster(&self) -> Cluster;

    fn assert_says(&self, kind: ConditionKind, reason: Reason, text: &str);

    /// How often an operation was sent.
    fn count(&self, operation: &str) -> usize;

    /// Everything is as requested, and all requested principals have access.
    fn assert_complete(&self);

    fn assert_gone(&self);
}

impl EksWorld for World {
    fn new(desired: Desired) -> Self {
        Self::of(Aws::new(), desired, Observed::default())
    }

    fn settled(desired: Desired) -> Self {
        let mut world = Self::new(desired);
        world.settle();
        world
    }

    fn delete(&mut self) {
        self.desired.being_deleted = true;
        self.run_until_deleted();
    }

    fn opens_in(&mut self, time: Duration) -> Timestamp {
        let opens = self.now().plus(time);
        self.desired.maintenance = Maintenance::Window { opens, closes: opens.plus(Duration::from_hours(1)) };
        opens
    }

    fn cluster(&self) -> Cluster {
        self.aws.cluster().unwrap()
    }

    fn assert_says(&self, kind: ConditionKind, reason: Reason, text: &str) {
        let condition = self.condition(kind);
        assert_eq!(condition.reason, reason, "{condition:?}\n{}", self.story());
        assert!(condition.message.contains(text), "{condition:?}");
    }

    fn count(&self, operation: &str) -> usize {
        self.aws.calls.iter().filter(|(_, change)| change.operation().name() == operation).count()
    }

    fn assert_complete(&self) {
        let (state, desired) = (self.aws.state(), &self.desired);
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
            assert!(self.aws.grants_access(name), "{name}");
        }
        assert_eq!(state.entries[&role_arn("manager")].policies.len(), 1);
        let identity = state.identities.values().find(|it| it.service_account == "app").unwrap();
        assert_eq!(identity.role_arn, Some(role_arn("app")));
        assert_eq!(state.providers.len(), 1);
        let of_users = self.aws.identity_provider().map(|it| (it.status, it.name, it.settings));
        let wanted = desired.identity_provider.clone();
        assert_eq!(of_users, wanted.map(|it| (IdentityProviderStatus::Active, it.name, it.settings)));
        assert!(desired.scaling_tier.is_none_or(|tier| cluster.scaling_tier == Some(tier)));
    }

    fn assert_gone(&self) {
        let state = self.aws.state();
        assert!(state.cluster.is_none() && state.providers.is_empty(), "{}", self.story());
    }
}
