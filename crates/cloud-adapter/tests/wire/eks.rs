//! The life of a cluster through the real SDK against the simulator's wire, with the rights of the generated policies and no
//! others. After each change, every read must equal that of the simulator's own implementation of the trait; and STS
//! names the signer of a token to the authenticator of a cluster.

use crate::canned::settings;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_cloud::{CloudError, Clusters, ErrorKind};
use foo_cloud_adapter::{AssumedRole, AwsCloud, AwsSettings, Timeouts};
use foo_model::eks::{
    AccessPolicy, AccessScope, AddonChange, AddonSettings, AuthenticationMode, Change, Changed, Cluster,
    ClusterChange, ClusterStatus, ConfigUpdate, EndpointAccess, EntryChange, EntryKind,
    IdentityProviderSettings, IpFamily, LogType, Minor, NewAddon, NewCluster, NewEntry, NewIdentityProvider,
    NewOidcProvider, NewPodIdentity, OidcChange, Placement, PodIdentityChange, Query, QueryResult,
    ResolveConflicts, ScalingTier, SupportType, TagChange, UpdateStatus, UpdateType,
};
use foo_model::names::{TAG_ADOPTABLE, TAG_ADOPTED, TAG_CLUSTER};
use foo_model::network::Tags;
use foo_simulator::core::network::{PRIVATE_SUBNETS, PUBLIC_SUBNETS, SECURITY_GROUP};
use foo_simulator::{AccessKey, EksEndpoint, Fault, FaultRule, Handle, Policy, SimCloud, SimulatorConfig};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const REGION: &str = "eu-central-1";
const KEY: &str = "arn:aws:kms:eu-central-1:123456789012:key/k";
const ADMIN: &str = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";
const POOLS: &str = include_str!("../../../../docs/reference/iam-policy.json");
const CONTROL_PLANES: &str = include_str!("../../../../docs/reference/iam-control-plane-policy.json");
const ADOPTION: &str = include_str!("../../../../docs/reference/iam-adoption-policy.json");
/// What the credentials need that assume a role.
const ASSUME: &str =
    r#"{"Statement": [{"Sid": "Assume", "Effect": "Allow", "Action": "sts:AssumeRole", "Resource": "*"}]}"#;
const CLUSTER: &str = "main.eks.infrastructure.foo.com";
const NODES: &str = "pool.nodes.infrastructure.foo.com";
const PODS: &str = "cni.pods.infrastructure.foo.com";
const OTHER_PODS: &str = "ebs.pods.infrastructure.foo.com";
const USER: &str = "arn:aws:iam::123456789012:user/AKIAEXAMPLE";

fn together(policies: &[&str]) -> Policy {
    let statements: Vec<serde_json::Value> = policies
        .iter()
        .flat_map(|text| {
            let policy: serde_json::Value = serde_json::from_str(text).unwrap();
            policy["Statement"].as_array().unwrap().clone()
        })
        .collect();
    serde_json::from_value(json!({ "Version": "2012-10-17", "Statement": statements })).unwrap()
}

fn role(name: &str) -> String {
    format!("arn:aws:iam::123456789012:role/{name}")
}

fn tags(key: &str) -> Tags {
    Tags::from([(key.to_owned(), "v".to_owned()), (TAG_CLUSTER.to_owned(), "ns/c".to_owned())])
}

/// A change with its token.
#[derive(Clone)]
struct Sent(Change, Option<String>);

impl From<Change> for Sent {
    fn from(change: Change) -> Self {
        Self(change, None)
    }
}

fn of_cluster(change: ClusterChange) -> Change {
    Change::Cluster { cluster: main(), change }
}

fn of_entry(principal: String, change: EntryChange) -> Change {
    Change::Entry { cluster: main(), principal, change }
}

fn with_token(change: Change, token: &str) -> Sent {
    Sent(change, Some(token.to_owned()))
}

/// The simulator, the adapter in front of its wire, and its own implementation of the traits.
struct World {
    server: Handle,
    wire: AwsCloud,
    direct: SimCloud,
}

impl World {
    async fn start() -> Self {
        let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
        let simulator = server.simulator();
        let (id, secret) = ("AKIAEXAMPLE".to_owned(), "example".to_owned());
        simulator.put_key(AccessKey { id, secret, policy: Some(together(&[POOLS, CONTROL_PLANES, ASSUME])) });
        for name in [CLUSTER, NODES, PODS, OTHER_PODS, "admins"] {
            let role = json!({ "name": name, "path": "/", "trusts": ["*"] });
            simulator.put_role(serde_json::from_value(role).unwrap());
        }
        let profile = json!({ "name": "pool", "role": NODES });
        simulator.put_instance_profile(serde_json::from_value(profile).unwrap());
        let wire = AwsCloud::connect(own_settings(&server)).await.unwrap();
        let direct = simulator.cloud(REGION, "AKIAEXAMPLE");
        Self { server, wire, direct }
    }

    /// With the cluster `main`, which is ACTIVE.
    async fn with_cluster() -> Self {
        let world = Self::start().await;
        world.does(create("t")).await;
        world.step(900);
        assert_eq!(world.main().await.unwrap().status, ClusterStatus::Active);
        world
    }

    fn step(&self, seconds: u64) {
        self.server.simulator().step(Duration::from_secs(seconds));
    }

    /// Sends a change through the wire; then both sides see the same.
    async fn does(&self, sent: impl Into<Sent>) -> Changed {
        let Sent(change, token) = sent.into();
        let made = self.wire.change_eks(&change, token.as_deref()).await;
        let made = made.unwrap_or_else(|error| panic!("{}: {error}", change.operation()));
        self.compare().await;
        made
    }

    /// A change that begins an update, which succeeds.
    async fn updates(&self, change: Sent) -> &'static str {
        let begun = self.does(change).await.update.unwrap();
        assert_eq!(begun.status, UpdateStatus::InProgress);
        self.step(3_600);
        self.compare().await;
        let question = Query::Update { cluster: main(), id: begun.id, addon: None };
        let QueryResult::Update(Some(done)) = self.same(&question).await else { panic!("no update") };
        assert_eq!((done.status, done.errors), (UpdateStatus::Successful, vec![]));
        done.kind.map_or("unknown", Into::into)
    }

    async fn refused(&self, sent: impl Into<Sent>) -> CloudError {
        let Sent(change, token) = sent.into();
        self.wire.change_eks(&change, token.as_deref()).await.unwrap_err()
    }

    async fn same(&self, question: &Query) -> QueryResult {
        let direct = self.direct.describe_eks(question).await.unwrap();
        let wire =
            self.wire.describe_eks(question).await.unwrap_or_else(|error| panic!("{question:?}: {error}"));
        assert_eq!(wire, direct, "{question:?}");
        wire
    }

    async fn names(&self, question: Query) -> BTreeSet<String> {
        match self.same(&question).await {
            QueryResult::Names(names) => names,
            other => panic!("{other:?}"),
        }
    }

    async fn main(&self) -> Option<Cluster> {
        match self.same(&Query::Cluster(main())).await {
            QueryResult::Cluster(found) => found.map(|found| *found),
            other => panic!("{other:?}"),
        }
    }

    /// Every question, about everything there is.
    async fn compare(&self) {
        let cluster = main();
        for question in [
            Query::Cluster(main()),
            Query::Insights(main()),
            Query::Versions,
            Query::AddonReleases { addon: "coredns".to_owned(), kubernetes: Minor(33) },
            Query::Role(CLUSTER.to_owned()),
            Query::InstanceProfile("pool".to_owned()),
        ] {
            self.same(&question).await;
        }
        for id in self.names(Query::Updates(main())).await {
            self.same(&Query::Update { cluster: cluster.clone(), id, addon: None }).await;
        }
        for name in self.names(Query::Addons(main())).await {
            self.same(&Query::Addon { cluster: cluster.clone(), name }).await;
        }
        for principal in self.names(Query::AccessEntries(main())).await {
            let (cluster, of) = (cluster.clone(), principal.clone());
            self.same(&Query::AccessEntry { cluster: cluster.clone(), principal }).await;
            self.same(&Query::AccessPolicies { cluster, principal: of }).await;
        }
        for name in self.names(Query::IdentityProviders(main())).await {
            self.same(&Query::IdentityProvider { cluster: cluster.clone(), name }).await;
        }
        let QueryResult::PodIdentities(all) = self.same(&Query::PodIdentities(main())).await else {
            panic!("no list")
        };
        for it in all {
            self.same(&Query::PodIdentity { cluster: cluster.clone(), id: it.id }).await;
        }
    }
}

fn main() -> String {
    "main".to_owned()
}

fn own_settings(server: &Handle) -> AwsSettings {
    // No scripted delays here, but a busy machine.
    AwsSettings { timeouts: Timeouts::default(), ..settings(&server.endpoint()) }
}

fn asked() -> NewCluster {
    NewCluster {
        version: Some(Minor(33)),
        role_arn: role(CLUSTER),
        placement: Placement {
            subnets: PRIVATE_SUBNETS.iter().map(|id| (*id).into()).collect(),
            security_groups: BTreeSet::from([SECURITY_GROUP.into()]),
        },
        access: EndpointAccess {
            public: true,
            private: true,
            public_cidrs: BTreeSet::from(["203.0.113.0/24".to_owned()]),
        },
        service_ipv4: Some("10.200.0.0/16".to_owned()),
        ip_family: IpFamily::Ipv4,
        authentication_mode: AuthenticationMode::ApiAndConfigMap,
        creator_is_admin: false,
        self_managed_addons: false,
        logging: BTreeSet::from([LogType::Audit, LogType::ControllerManager]),
        encryption_key: None,
        upgrade_policy: Some(SupportType::Standard),
        zonal_shift: None,
        deletion_protection: false,
        scaling_tier: None,
        tags: tags("k"),
    }
}

fn create(token: &str) -> Sent {
    with_token(of_cluster(ClusterChange::Create(Box::new(asked()))), token)
}

fn config(update: ConfigUpdate) -> Sent {
    let token = format!("{update:?}").chars().take(60).collect();
    Sent(of_cluster(ClusterChange::UpdateConfig(update)), Some(token))
}

fn entry(principal: String, kind: EntryKind, groups: &[&str]) -> Sent {
    let token = format!("entry of {}", principal.rsplit('/').next().unwrap_or_default());
    let groups = groups.iter().map(|&group| group.to_owned()).collect();
    let new = NewEntry { kind, username: None, groups, tags: tags("entry") };
    Sent(of_entry(principal, EntryChange::Create(new)), Some(token))
}

/// The shipped policies: nothing is adopted without the one for adoption, nor without the tag of the cluster.
#[tokio::test]
async fn a_cluster_is_adopted_with_a_policy_of_its_own_and_with_its_tag() {
    let world = World::with_cluster().await;
    let arn = world.main().await.unwrap().arn;
    let owner = world.server.simulator().cloud(REGION, "owner");
    let of = |keys: &[&str]| keys.iter().map(|key| ((*key).to_owned(), "ns/c".to_owned())).collect::<Tags>();
    let untag = TagChange::Untag([TAG_CLUSTER.to_owned()].into());
    owner.change_eks(&Change::Tags { arn: arn.clone(), change: untag }, None).await.unwrap();
    let tag = |tags: Tags| Change::Tags { arn: arn.clone(), change: TagChange::Tag(tags) };
    let (adopt, consent) = (tag(of(&[TAG_CLUSTER, TAG_ADOPTED])), tag(of(&[TAG_ADOPTABLE])));
    let allow = |policies: &[&str]| {
        let (id, secret) = ("AKIAEXAMPLE".to_owned(), "example".to_owned());
        world.server.simulator().put_key(AccessKey { id, secret, policy: Some(together(policies)) });
    };
    allow(&[POOLS, CONTROL_PLANES, ADOPTION, ASSUME]);
    assert_eq!(world.refused(adopt.clone()).await.kind, ErrorKind::Denied, "no consent");
    owner.change_eks(&consent, None).await.unwrap();
    allow(&[POOLS, CONTROL_PLANES, ASSUME]);
    assert_eq!(world.refused(adopt.clone()).await.kind, ErrorKind::Denied, "no policy");
    allow(&[POOLS, CONTROL_PLANES, ADOPTION, ASSUME]);
    world.does(adopt).await;
}

/// The parameter `ControlPlaneNames` of the stack narrows add-ons, access entries and associations as it does clusters.
#[tokio::test]
async fn parts_of_clusters_with_other_names_are_not_changed() {
    let world = World::with_cluster().await;
    let (wanted, kind) = (role("admins"), EntryKind::Standard);
    world.does(entry(wanted.clone(), kind, &[])).await;
    let narrowed = |names: &str| {
        let (id, secret) = ("AKIAEXAMPLE".to_owned(), "example".to_owned());
        let fitting = |policy: String, kind: &str| {
            policy.replace(&format!(":{kind}/*/*"), &format!(":{kind}/{names}/*"))
        };
        let kinds = ["addon", "access-entry", "podidentityassociation", "identityproviderconfig"];
        let parts = kinds.into_iter().fold(CONTROL_PLANES.to_owned(), fitting);
        world.server.simulator().put_key(AccessKey {
            id,
            secret,
            policy: Some(together(&[POOLS, &parts, ASSUME])),
        });
    };
    let delete = || of_entry(wanted.clone(), EntryChange::Delete);
    narrowed("team-a_*");
    assert_eq!(world.refused(delete()).await.kind, ErrorKind::Denied);
    narrowed("mai*");
    world.wire.change_eks(&delete(), None).await.unwrap();
}

#[tokio::test]
async fn a_cluster_becomes_what_was_asked_for_and_goes() {
    let world = World::start().await;
    assert_eq!(world.main().await, None);
    let made = world.does(create("t")).await.cluster.unwrap();
    assert_eq!((made.status, made.endpoint), (ClusterStatus::Creating, None));
    assert_eq!(world.does(create("t")).await.cluster.unwrap().arn, made.arn, "the same with its token");
    assert_eq!(world.refused(create("another")).await.kind, ErrorKind::AlreadyExists);
    world.step(900);
    let (seen, asked) = (world.main().await.unwrap(), asked());
    assert_eq!((seen.status, seen.version), (ClusterStatus::Active, Minor(33)));
    assert!(seen.endpoint.is_some() && seen.certificate_authority.is_some() && seen.oidc_issuer.is_some());
    assert_eq!((seen.placement, seen.access, seen.logging), (asked.placement, asked.access, asked.logging));
    assert_eq!(
        (seen.service_ipv4, seen.authentication_mode),
        (asked.service_ipv4, asked.authentication_mode)
    );
    assert_eq!((Some(seen.upgrade_policy), seen.tags), (asked.upgrade_policy, asked.tags));
    let keys = BTreeSet::from(["k".to_owned()]);
    for change in [TagChange::Tag(tags("more")), TagChange::Untag(keys)] {
        world.does(Change::Tags { arn: made.arn.clone(), change }).await;
    }
    assert_eq!(world.main().await.unwrap().tags, tags("more"));
    let gone = world.does(of_cluster(ClusterChange::Delete)).await.cluster.unwrap();
    assert_eq!(gone.status, ClusterStatus::Deleting);
    world.step(3_600);
    assert_eq!(world.main().await, None);
}

#[tokio::test]
async fn every_type_of_update_changes_what_it_says() {
    let world = World::with_cluster().await;
    let access = EndpointAccess { public: false, private: true, public_cidrs: BTreeSet::new() };
    let before = world.main().await.unwrap();
    let subnets: BTreeSet<_> = PUBLIC_SUBNETS.iter().map(|id| (*id).into()).collect();
    for (update, kind) in [
        (ConfigUpdate::Access(access), "EndpointAccessUpdate"),
        (
            ConfigUpdate::Placement { subnets: Some(subnets.clone()), security_groups: None },
            "VpcConfigUpdate",
        ),
        (ConfigUpdate::Logging(BTreeSet::from([LogType::Api])), "LoggingUpdate"),
        (ConfigUpdate::AuthenticationMode(AuthenticationMode::Api), "AccessConfigUpdate"),
        (ConfigUpdate::UpgradePolicy(SupportType::Extended), "UpgradePolicyUpdate"),
        (ConfigUpdate::ZonalShift(true), "ZonalShiftConfigUpdate"),
        (ConfigUpdate::DeletionProtection(true), "DeletionProtectionUpdate"),
        (ConfigUpdate::ScalingTier(ScalingTier::FourXl), "ControlPlaneScalingConfigUpdate"),
    ] {
        assert_eq!(world.updates(config(update)).await, kind);
    }
    world.updates(with_token(of_cluster(ClusterChange::Encrypt(KEY.to_owned())), "e")).await;
    let seen = world.main().await.unwrap();
    assert_eq!((seen.access.public, seen.access.private), (false, true));
    let placement = Placement { subnets, ..before.placement };
    assert_eq!((seen.placement, seen.logging), (placement, BTreeSet::from([LogType::Api])));
    assert_eq!(
        (seen.authentication_mode, seen.upgrade_policy),
        (AuthenticationMode::Api, SupportType::Extended)
    );
    assert_eq!((seen.zonal_shift, seen.deletion_protection), (true, true));
    assert_eq!(seen.scaling_tier, Some(ScalingTier::FourXl));
    assert_eq!((seen.encryption_key.as_deref(), seen.service_ipv4), (Some(KEY), before.service_ipv4));
    let update = ConfigUpdate::ZonalShift(true);
    let again = with_token(of_cluster(ClusterChange::UpdateConfig(update)), "again");
    let same = world.refused(again).await;
    assert_eq!(same.kind, ErrorKind::Invalid, "{same}");
    let protected = world.refused(of_cluster(ClusterChange::Delete)).await;
    assert_eq!(protected.kind, ErrorKind::Invalid, "{protected}");
}

/// With every field, and with those alone that EKS requires.
#[tokio::test]
async fn an_identity_provider_comes_and_goes() {
    let world = World::with_cluster().await;
    let question = || Query::IdentityProvider { cluster: main(), name: "people".to_owned() };
    assert_eq!(world.same(&question()).await, question().nothing());
    let text = |text: &str| Some(text.to_owned());
    let least = IdentityProviderSettings {
        issuer_url: "https://id.example.com".to_owned(),
        client_id: "kubernetes".to_owned(),
        ..IdentityProviderSettings::default()
    };
    let most = IdentityProviderSettings {
        username_claim: text("email"),
        username_prefix: text("oidc:"),
        groups_claim: text("groups"),
        groups_prefix: text("oidc:"),
        required_claims: BTreeMap::from([("hd".to_owned(), "example.com".to_owned())]),
        ..least.clone()
    };
    for (n, settings) in [least, most].into_iter().enumerate() {
        let new = NewIdentityProvider { name: "people".to_owned(), settings, tags: tags("provider") };
        let associate = ClusterChange::AssociateIdentityProvider(Box::new(new.clone()));
        let associate = with_token(of_cluster(associate), &format!("a{n}"));
        assert_eq!(world.updates(associate).await, "AssociateIdentityProviderConfig");
        let QueryResult::IdentityProvider(Some(shown)) = world.same(&question()).await else { panic!() };
        assert_eq!((&shown.settings, &shown.tags), (&new.settings, &new.tags));
        let second = NewIdentityProvider { name: "second".to_owned(), ..new };
        let second = with_token(of_cluster(ClusterChange::AssociateIdentityProvider(Box::new(second))), "s");
        assert_eq!(world.refused(second).await.kind, ErrorKind::Invalid, "one per cluster");
        let disassociate = ClusterChange::DisassociateIdentityProvider("people".to_owned());
        let disassociate = with_token(of_cluster(disassociate), &format!("d{n}"));
        assert_eq!(world.updates(disassociate).await, "DisassociateIdentityProviderConfig");
        assert_eq!(world.same(&question()).await, question().nothing());
    }
}

#[tokio::test]
async fn a_version_is_updated_by_one_and_one_update_at_a_time() {
    let world = World::with_cluster().await;
    let update = |version, token: &str| {
        let change = ClusterChange::UpdateVersion { version: Minor(version), force: false };
        with_token(of_cluster(change), token)
    };
    assert_eq!(world.refused(update(35, "two")).await.kind, ErrorKind::Invalid);
    let begun = world.does(update(34, "one")).await.update.unwrap();
    assert_eq!(begun.kind, Some(UpdateType::VersionUpdate));
    let busy = world.refused(config(ConfigUpdate::ZonalShift(true))).await;
    assert_eq!((busy.kind, busy.code.as_deref()), (ErrorKind::InUse, Some("ResourceInUseException")));
    assert_eq!(world.main().await.unwrap().version, Minor(33), "until it is done");
    world.step(3_600);
    assert_eq!(world.main().await.unwrap().version, Minor(34));
}

fn addon(version: &str) -> NewAddon {
    NewAddon {
        version: Some(version.to_owned()),
        settings: AddonSettings { configuration: Some("{}".to_owned()), service_account_role: None },
        pod_identities: Some(BTreeMap::from([("aws-node".to_owned(), role(PODS))])),
        conflicts: ResolveConflicts::Overwrite,
    }
}

fn of_addon(change: AddonChange) -> Change {
    Change::Addon { cluster: main(), name: "vpc-cni".to_owned(), change }
}

#[tokio::test]
async fn add_ons_come_in_a_version_that_eks_offers_and_go() {
    let world = World::with_cluster().await;
    let releases = Query::AddonReleases { addon: "vpc-cni".to_owned(), kubernetes: Minor(33) };
    let QueryResult::AddonReleases(offered) = world.same(&releases).await else { panic!("no releases") };
    let (newest, oldest) =
        (offered.first().unwrap().version.clone(), offered.last().unwrap().version.clone());
    let schema = Query::AddonSchema { addon: "vpc-cni".to_owned(), version: newest.clone() };
    assert!(matches!(world.same(&schema).await, QueryResult::Schema(Some(_))));
    for absent in [
        Query::AddonReleases { addon: "nothing".to_owned(), kubernetes: Minor(33) },
        Query::AddonSchema { addon: "vpc-cni".to_owned(), version: "v0".to_owned() },
        Query::Addon { cluster: main(), name: "vpc-cni".to_owned() },
    ] {
        assert_eq!(world.same(&absent).await, absent.nothing());
    }
    let new = |version: &str, token: &str| {
        with_token(of_addon(AddonChange::Create(addon(version), tags("addon"))), token)
    };
    assert_eq!(world.refused(new("v0", "x")).await.kind, ErrorKind::Invalid);
    world.does(new(&oldest, "c")).await;
    assert_eq!(world.refused(new(&oldest, "again")).await.kind, ErrorKind::InUse);
    world.step(900);
    world.compare().await;
    let update = AddonChange::Update(NewAddon { pod_identities: None, ..addon(&newest) });
    let update = with_token(of_addon(update), "u");
    let begun = world.does(update).await.update.unwrap();
    world.step(900);
    world.compare().await;
    let name = "vpc-cni".to_owned();
    let question = Query::Update { cluster: main(), id: begun.id, addon: Some(name.clone()) };
    assert!(
        matches!(world.same(&question).await, QueryResult::Update(Some(it)) if it.status == UpdateStatus::Successful)
    );
    let question = Query::Addon { cluster: main(), name };
    let QueryResult::Addon(Some(seen)) = world.same(&question).await else { panic!("no add-on") };
    assert_eq!((seen.version, seen.pod_identities.len(), seen.tags), (newest, 1, tags("addon")));
    world.does(of_addon(AddonChange::Delete { preserve: false })).await;
    world.step(900);
    assert_eq!(world.names(Query::Addons(main())).await, BTreeSet::new());
}

#[tokio::test]
async fn access_entries_keep_their_groups_and_policies() {
    let world = World::with_cluster().await;
    world.does(entry(role("admins"), EntryKind::Standard, &["ops", "dev"])).await;
    world.does(entry(role(NODES), EntryKind::Ec2Linux, &[])).await;
    let Sent(taken, _) = entry(role(NODES), EntryKind::Ec2Linux, &[]);
    assert_eq!(world.refused(with_token(taken, "other")).await.kind, ErrorKind::AlreadyExists);
    let namespaces = AccessScope::Namespaces(BTreeSet::from(["kube-*".to_owned(), "a".to_owned()]));
    let of = |scope: &AccessScope| {
        let policy = AccessPolicy { arn: ADMIN.to_owned(), scope: scope.clone() };
        of_entry(role("admins"), EntryChange::Associate(policy))
    };
    world.does(of(&namespaces)).await;
    world.does(of(&AccessScope::Cluster)).await;
    let (cluster, principal) = (main(), role("admins"));
    let question = Query::AccessPolicies { cluster, principal };
    let policy = AccessPolicy { arn: ADMIN.to_owned(), scope: AccessScope::Cluster };
    assert_eq!(world.same(&question).await, QueryResult::AccessPolicies(BTreeSet::from([policy])));
    let update = EntryChange::Update { username: Some("boss".to_owned()), groups: Some(BTreeSet::new()) };
    world.does(with_token(of_entry(role("admins"), update), "u")).await;
    let question = Query::AccessEntry { cluster: main(), principal: role("admins") };
    let QueryResult::AccessEntry(Some(seen)) = world.same(&question).await else { panic!("no entry") };
    assert_eq!((seen.username.as_str(), seen.groups, seen.tags), ("boss", BTreeSet::new(), tags("entry")));
    for change in [EntryChange::Disassociate(ADMIN.to_owned()), EntryChange::Delete] {
        world.does(of_entry(role("admins"), change)).await;
    }
    assert_eq!(world.names(Query::AccessEntries(main())).await, BTreeSet::from([role(NODES)]));
}

#[tokio::test]
async fn pods_get_roles_and_issuers_are_known_to_iam() {
    let world = World::with_cluster().await;
    let of_pod = |change| Change::PodIdentity { cluster: main(), change };
    let bind = PodIdentityChange::Create(NewPodIdentity {
        namespace: "kube-system".to_owned(),
        service_account: "ebs".to_owned(),
        role_arn: role(PODS),
        tags: tags("pod"),
    });
    let bind = with_token(of_pod(bind), "p");
    let id = world.does(bind.clone()).await.id.unwrap();
    assert_eq!(world.does(bind).await.id.as_ref(), Some(&id), "the same with its token");
    let rebind = PodIdentityChange::Update { id: id.clone(), role_arn: role(OTHER_PODS) };
    world.does(with_token(of_pod(rebind), "u")).await;
    let question = Query::PodIdentity { cluster: main(), id: id.clone() };
    let QueryResult::PodIdentities(seen) = world.same(&question).await else { panic!("no list") };
    assert_eq!((seen[0].role_arn.clone(), seen[0].tags.clone()), (Some(role(OTHER_PODS)), tags("pod")));
    world.does(of_pod(PodIdentityChange::Delete { id })).await;
    assert_eq!(world.same(&question).await, question.nothing());

    let url = world.main().await.unwrap().oidc_issuer.unwrap();
    let client_ids = BTreeSet::from(["sts.amazonaws.com".to_owned()]);
    let provider = NewOidcProvider { url: url.clone(), client_ids: client_ids.clone(), tags: tags("o") };
    let provider = Change::Oidc(OidcChange::Create(provider));
    let arn = world.does(provider.clone()).await.id.unwrap();
    let question = Query::OidcProvider(arn.clone());
    let QueryResult::OidcProvider(Some(seen)) = world.same(&question).await else { panic!("no provider") };
    assert_eq!((format!("https://{}", seen.url), seen.client_ids, seen.tags), (url, client_ids, tags("o")));
    assert_eq!(world.refused(provider).await.kind, ErrorKind::AlreadyExists);
    world.does(Change::Oidc(OidcChange::Delete { arn })).await;
    assert_eq!(world.same(&question).await, question.nothing());
}

#[tokio::test]
async fn what_others_made_is_seen_and_not_changed() {
    let world = World::start().await;
    let theirs = NewCluster { tags: Tags::new(), ..asked() };
    let theirs = of_cluster(ClusterChange::Create(Box::new(theirs)));
    assert_eq!(
        world.refused(with_token(theirs.clone(), "t")).await.kind,
        ErrorKind::Denied,
        "without the ownership tag"
    );
    world.direct.change_eks(&theirs, Some("t")).await.unwrap();
    world.step(900);
    assert!(world.main().await.is_some());
    for change in [
        of_cluster(ClusterChange::Delete).into(),
        config(ConfigUpdate::ZonalShift(true)),
        entry(role("admins"), EntryKind::Standard, &[]),
    ] {
        assert_eq!(world.refused(change).await.kind, ErrorKind::Denied);
    }
}

#[tokio::test]
async fn lists_have_all_their_pages() {
    let world = World::with_cluster().await;
    for n in 0..130 {
        let name = format!("r{n}");
        let new = json!({ "name": name, "path": "/", "trusts": ["*"] });
        world.server.simulator().put_role(serde_json::from_value(new).unwrap());
        let Sent(one, _) = entry(role(&name), EntryKind::Standard, &[]);
        world.direct.change_eks(&one, Some(&name)).await.unwrap();
    }
    assert_eq!(world.names(Query::AccessEntries(main())).await.len(), 130);
}

#[tokio::test]
async fn what_carries_a_token_is_repeated_and_nothing_else() {
    let world = World::start().await;
    let fault = |action: &str| {
        world.server.simulator().add_fault(FaultRule::on(action, Fault::DroppedAfter).times(1))
    };
    fault("CreateCluster");
    world.does(create("t")).await;
    assert_eq!(world.server.simulator().calls("CreateCluster"), 2);
    world.step(900);
    fault("DeleteCluster");
    let lost = world.refused(of_cluster(ClusterChange::Delete)).await;
    assert_eq!((lost.kind, world.server.simulator().calls("DeleteCluster")), (ErrorKind::LostResponse, 1));
    for (fault, kind) in [(Fault::Denied, ErrorKind::Denied), (Fault::Throttled, ErrorKind::Throttled)] {
        let id = world.server.simulator().add_fault(FaultRule::on("DescribeCluster", fault));
        let failed = world.wire.describe_eks(&Query::Cluster(main())).await.unwrap_err();
        assert_eq!(failed.kind, kind);
        world.server.simulator().remove_fault(id);
    }
}

/// STS's response to the authenticator of a cluster that got a token.
async fn sts_says(world: &World, cluster: &str, token: &str) -> String {
    let encoded = token.strip_prefix("k8s-aws-v1.").unwrap();
    let url = String::from_utf8(URL_SAFE_NO_PAD.decode(encoded).unwrap()).unwrap();
    let (host, rest) = url.strip_prefix("https://").unwrap().split_once('/').unwrap();
    let endpoint = EksEndpoint::start(world.server.simulator()).await.unwrap();
    let mut stream = TcpStream::connect(endpoint.address()).await.unwrap();
    let request = format!(
        "GET /{rest} HTTP/1.1\r\nHost: {host}\r\nX-K8s-Aws-Id: {cluster}\r\nAccept: application/json\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn sts_takes_tokens_of_users_and_of_sessions_for_their_cluster_only() {
    let world = World::with_cluster().await;
    let signed_by = async |token: &str| {
        let response = sts_says(&world, "main", token).await;
        let body = response.split_once("\r\n\r\n").unwrap().1;
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        let result = &body["GetCallerIdentityResponse"]["GetCallerIdentityResult"];
        result["Arn"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    };
    let token = world.wire.cluster_token("main").await.unwrap().token;
    assert_eq!(signed_by(&token).await, USER);
    let other = world.wire.cluster_token("other").await.unwrap().token;
    let refused = sts_says(&world, "main", &other).await;
    assert!(refused.contains("SignatureDoesNotMatch"), "signed for another cluster: {refused}");

    let assumed = AssumedRole { arn: role("admins"), external_id: None, session_name: "manager".to_owned() };
    let settings = AwsSettings { roles: vec![assumed], ..own_settings(&world.server) };
    let session = AwsCloud::connect(settings).await.unwrap();
    let token = session.cluster_token("main").await.unwrap().token;
    assert_eq!(signed_by(&token).await, "arn:aws:sts::123456789012:assumed-role/admins/manager");
    for _ in 0..5 {
        session.cluster_token("main").await.unwrap();
    }
    assert_eq!(world.server.simulator().calls("AssumeRole"), 1, "a session of an hour signs them all");
}
