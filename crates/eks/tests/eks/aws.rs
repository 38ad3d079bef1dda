//! The AWS of these tests: EKS and IAM of the simulator, on a clock that only they move. What a person does there, they
//! do by calls, too.

use foo_calls::testing::at_once;
use foo_calls::{Outcome, Refusal};
use foo_cloud::{CloudError, Clusters as _};
use foo_model::eks::*;
use foo_model::*;
use foo_simulator_core::core::Settings;
use foo_simulator_core::core::eks::{EksSettings, Nodes};
use foo_simulator_core::core::network::{SecurityGroupSpec, SubnetSpec, VpcSpec};
use foo_simulator_core::{
    AccessKey, DEFAULT_REGION, Fault, FaultRule, InstanceProfile as Profile, RegionHandle, SimCloud,
    Simulator, SimulatorConfig,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::LazyLock;
use std::time::Duration;

pub const ACCOUNT: &str = foo_simulator_core::DEFAULT_ACCOUNT;
const NAME: &str = "prod";
const CONFIG_UPDATE: Duration = Duration::from_mins(4);
const UPGRADE: Duration = Duration::from_mins(12);
const IDENTITY_PROVIDER: Duration = Duration::from_mins(15);
const ADDON: Duration = Duration::from_secs(50);
const DELETE: Duration = Duration::from_mins(3);

/// What is true.
pub struct State {
    pub cluster: Option<Cluster>,
    pub updates: Vec<Update>,
    pub addons: BTreeMap<String, Addon>,
    pub entries: BTreeMap<String, Entry>,
    pub identities: BTreeMap<String, PodIdentity>,
    pub providers: BTreeSet<String>,
}

/// An access entry with its policies.
pub struct Entry {
    pub shown: AccessEntry,
    pub policies: BTreeSet<AccessPolicy>,
}

pub struct Aws {
    simulator: Simulator,
    region: RegionHandle,
    cloud: SimCloud,
    /// A person, who sees the present.
    person: SimCloud,
    /// Milliseconds that AWS's clock is ahead of the manager's: set before anything happens.
    pub ahead: i64,
    pub calls: Vec<(Timestamp, Change)>,
    /// The tokens of these calls.
    pub sent_tokens: Vec<Option<String>>,
    pub reads: Vec<(Timestamp, Query)>,
    /// Queries that get no response.
    pub deaf: BTreeSet<Query>,
    /// When all roles were created by IAM's clock, if that is not the one of EKS.
    pub roles_are_dated: Option<AwsTime>,
    /// ARNs of the OpenID Connect providers that were ever created.
    providers: BTreeSet<String>,
}

pub fn role_arn(name: &str) -> String {
    format!("arn:aws:iam::{ACCOUNT}:role/{name}")
}

pub fn policy_arn(name: &str) -> String {
    format!("arn:aws:eks::aws:cluster-access-policy/{name}")
}

/// Zone of a subnet: `subnet-a2` is in zone `eu-central-1a`.
pub fn zone(subnet: &SubnetId) -> String {
    format!("{DEFAULT_REGION}{}", &subnet.as_str()[7..8])
}

pub fn refusal(error: &CloudError) -> Refusal {
    Refusal { reason: error.kind.into(), code: error.code.clone(), message: error.to_string() }
}

fn settings() -> Settings {
    let eks = EksSettings {
        create: Duration::from_mins(9),
        delete: DELETE,
        version_update: UPGRADE,
        config_update: CONFIG_UPDATE,
        identity_provider_update: IDENTITY_PROVIDER,
        update_shows_after: Duration::from_secs(20),
        addon: ADDON,
        nodes: Nodes::Assumed,
        ..EksSettings::default()
    };
    Settings { eks, ..Settings::default() }
}

impl Aws {
    /// A network, the roles of these tests, and no cluster.
    pub fn new() -> Self {
        static EMPTY: LazyLock<Simulator> = LazyLock::new(|| {
            let simulator =
                Simulator::new(SimulatorConfig { settings: settings(), ..SimulatorConfig::stepped() });
            // As long as it knows a key, IAM has only the roles and profiles that the test created.
            simulator.put_key(AccessKey { id: "manager".to_owned(), secret: String::new(), policy: None });
            put_network(&simulator.region(DEFAULT_REGION));
            simulator
        });
        // A copy costs less than a new region with its catalogues.
        let simulator = EMPTY.fork();
        let aws = Self {
            region: simulator.region(DEFAULT_REGION),
            cloud: simulator.cloud(DEFAULT_REGION, "manager"),
            person: simulator.cloud(DEFAULT_REGION, "person").of_the_present(),
            simulator,
            ahead: 0,
            calls: Vec::new(),
            sent_tokens: Vec::new(),
            reads: Vec::new(),
            deaf: BTreeSet::new(),
            roles_are_dated: None,
            providers: BTreeSet::new(),
        };
        for name in ["manager", "cluster", "nodes", "app", "people", "cni", "other"] {
            aws.make_role(name);
        }
        aws.put_profile("nodes");
        aws
    }

    pub fn now(&self) -> Timestamp {
        Timestamp(self.simulator.now().0 - self.ahead)
    }

    pub fn advance(&mut self, to: Timestamp) {
        self.simulator.step(self.now().until(to));
    }

    /// Lets time pass for AWS while the manager does nothing.
    fn pass(&mut self, time: Duration) {
        self.simulator.step(time);
    }

    /// Carries a call of the manager out.
    pub fn send(&mut self, change: &Change, token: Option<&str>) -> Outcome<Changed> {
        self.calls.push((self.now(), change.clone()));
        self.sent_tokens.push(token.map(str::to_owned));
        match at_once(self.cloud.change_eks(change, token)) {
            Ok(changed) => {
                self.providers.extend(changed.id.iter().filter(|id| id.contains(":oidc-provider/")).cloned());
                Outcome::Done(changed)
            }
            Err(error) if error.may_have_happened() => Outcome::Lost(refusal(&error)),
            Err(error) => Outcome::Refused(refusal(&error)),
        }
    }

    /// A read of the manager's.
    pub fn read(&mut self, query: &Query) -> Result<QueryResult, Refusal> {
        self.reads.push((self.now(), query.clone()));
        let mut response = at_once(self.cloud.describe_eks(query)).map_err(|error| refusal(&error))?;
        if let (
            Some(created),
            QueryResult::Role(Some(role))
            | QueryResult::InstanceProfile(Some(InstanceProfile { role: Some(role), .. })),
        ) = (self.roles_are_dated, &mut response)
        {
            role.created = created;
        }
        Ok(response)
    }

    fn truth(&self, query: &Query) -> QueryResult {
        // A cluster without entries refuses to list them.
        at_once(self.person.describe_eks(query)).unwrap_or_else(|_| query.nothing())
    }

    fn names(&self, query: &Query) -> BTreeSet<String> {
        let QueryResult::Names(names) = self.truth(query) else { panic!("{query:?}") };
        names.into_iter().collect()
    }

    pub fn cluster(&self) -> Option<Cluster> {
        let QueryResult::Cluster(cluster) = self.truth(&Query::Cluster(NAME.to_owned())) else { panic!() };
        cluster.map(|cluster| *cluster)
    }

    /// The identity provider of the cluster.
    pub fn identity_provider(&self) -> Option<IdentityProvider> {
        let name = self.names(&Query::IdentityProviders(NAME.to_owned())).into_iter().next()?;
        let query = Query::IdentityProvider { cluster: NAME.to_owned(), name };
        let QueryResult::IdentityProvider(found) = self.truth(&query) else { panic!("{query:?}") };
        found.map(|it| *it)
    }

    /// Everything as it is now.
    pub fn state(&self) -> State {
        let name = || NAME.to_owned();
        let update = |id: String| match self.truth(&Query::Update { cluster: name(), id, addon: None }) {
            QueryResult::Update(update) => update,
            other => panic!("{other:?}"),
        };
        let addon = |addon: String| match self.truth(&Query::Addon { cluster: name(), name: addon }) {
            QueryResult::Addon(addon) => addon.map(|it| (it.name.clone(), *it)),
            other => panic!("{other:?}"),
        };
        let entry = |principal: String| {
            let policies = Query::AccessPolicies { cluster: name(), principal: principal.clone() };
            let entry = Query::AccessEntry { cluster: name(), principal: principal.clone() };
            match (self.truth(&entry), self.truth(&policies)) {
                (QueryResult::AccessEntry(shown), QueryResult::AccessPolicies(policies)) => {
                    shown.map(|shown| (principal, Entry { shown, policies }))
                }
                other => panic!("{other:?}"),
            }
        };
        let identity = |it: PodIdentity| match self.truth(&Query::PodIdentity { cluster: name(), id: it.id })
        {
            QueryResult::PodIdentities(found) => found.into_iter().next().map(|it| (it.id.clone(), it)),
            other => panic!("{other:?}"),
        };
        let QueryResult::PodIdentities(identities) = self.truth(&Query::PodIdentities(name())) else {
            panic!()
        };
        let exists = |arn: &&String| {
            let found = self.truth(&Query::OidcProvider((*arn).clone()));
            matches!(found, QueryResult::OidcProvider(Some(_)))
        };
        State {
            cluster: self.cluster(),
            updates: self.names(&Query::Updates(name())).into_iter().filter_map(update).collect(),
            addons: self.names(&Query::Addons(name())).into_iter().filter_map(addon).collect(),
            entries: self.names(&Query::AccessEntries(name())).into_iter().filter_map(entry).collect(),
            identities: identities.into_iter().filter_map(identity).collect(),
            providers: self.providers.iter().filter(exists).cloned().collect(),
        }
    }

    /// Whether the access entry of a role gives access to its present role.
    pub fn grants_access(&self, role: &str) -> bool {
        let id = self.simulator.role_unique_id(role);
        self.region.kubernetes_identity(NAME, &role_arn(role), id.as_deref()).is_some()
    }
}

/// What others than the manager do, and what goes wrong.
impl Aws {
    /// Creates a role, or creates it again.
    pub fn make_role(&self, name: &str) {
        self.simulator.remove_role(name);
        self.simulator.put_role(serde_json::from_value(json!({ "name": name })).unwrap());
    }

    pub fn remove_role(&self, name: &str) {
        assert!(self.simulator.remove_role(name), "{name}");
    }

    /// An instance profile with the role of its name.
    pub fn put_profile(&self, name: &str) {
        self.simulator.put_instance_profile(Profile { name: name.to_owned(), role: Some(name.to_owned()) });
    }

    pub fn remove_profile(&self, name: &str) {
        assert!(self.simulator.remove_instance_profile(name), "{name}");
    }

    /// A call of a person.
    pub fn person(&mut self, change: &Change) {
        let token = change.facts().takes_token.then(|| format!("{change:?}"));
        at_once(self.person.change_eks(change, token.as_deref())).unwrap();
    }

    fn person_on_cluster(&mut self, change: ClusterChange) {
        self.person(&Change::Cluster { cluster: NAME.to_owned(), change });
    }

    fn person_on_entry(&mut self, role: &str, change: EntryChange) {
        self.person(&Change::Entry { cluster: NAME.to_owned(), principal: role_arn(role), change });
    }

    fn person_on_addon(&mut self, name: &str, change: AddonChange) {
        self.person(&Change::Addon { cluster: NAME.to_owned(), name: name.to_owned(), change });
        self.pass(ADDON);
    }

    fn person_on_tags(&mut self, change: TagChange) {
        let arn = self.cluster().unwrap().arn;
        self.person(&Change::Tags { arn, change });
    }

    /// A person updates the configuration of the cluster.
    pub fn configure(&mut self, update: ConfigUpdate) {
        self.person_on_cluster(ClusterChange::UpdateConfig(update));
        self.pass(CONFIG_UPDATE);
    }

    /// A person associates an identity provider.
    pub fn associate(&mut self, new: NewIdentityProvider) {
        self.person_on_cluster(ClusterChange::AssociateIdentityProvider(Box::new(new)));
        self.pass(IDENTITY_PROVIDER);
    }

    /// A person disassociates it.
    pub fn disassociate(&mut self, name: &str) {
        self.person_on_cluster(ClusterChange::DisassociateIdentityProvider(name.to_owned()));
        self.pass(IDENTITY_PROVIDER);
    }

    /// A person updates the version of the cluster, or rolls it back.
    pub fn update_version(&mut self, version: Minor) {
        self.person_on_cluster(ClusterChange::UpdateVersion { version, force: true });
        self.pass(UPGRADE);
    }

    /// A person creates the cluster.
    pub fn create(&mut self, cluster: NewCluster) {
        self.person_on_cluster(ClusterChange::Create(Box::new(cluster)));
        self.pass(Duration::from_mins(9));
    }

    /// A person deletes the cluster.
    pub fn delete(&mut self) {
        self.person_on_cluster(ClusterChange::Delete);
        self.pass(DELETE);
    }

    /// The tags of the cluster are these.
    pub fn retag(&mut self, tags: network::Tags) {
        let former = self.cluster().unwrap().tags;
        self.person_on_tags(TagChange::Untag(former.into_keys().collect()));
        if !tags.is_empty() {
            self.person_on_tags(TagChange::Tag(tags));
        }
    }

    pub fn tag(&mut self, key: &str, value: &str) {
        self.person_on_tags(TagChange::Tag([(key.to_owned(), value.to_owned())].into()));
    }

    pub fn untag(&mut self, key: &str) {
        self.person_on_tags(TagChange::Untag([key.to_owned()].into()));
    }

    pub fn create_entry(&mut self, role: &str) {
        let (kind, tags) = (EntryKind::Standard, network::Tags::new());
        let entry = NewEntry { kind, username: None, groups: BTreeSet::new(), tags };
        self.person_on_entry(role, EntryChange::Create(entry));
    }

    pub fn delete_entry(&mut self, role: &str) {
        self.person_on_entry(role, EntryChange::Delete);
    }

    /// An add-on of a person.
    pub fn create_addon(&mut self, name: &str, version: &str, configuration: Option<&str>) {
        let configuration = configuration.map(str::to_owned);
        let addon = NewAddon {
            version: Some(version.to_owned()),
            settings: AddonSettings { configuration, service_account_role: None },
            pod_identities: None,
            conflicts: ResolveConflicts::Overwrite,
        };
        self.person_on_addon(name, AddonChange::Create(addon, network::Tags::new()));
    }

    /// A person updates an add-on.
    pub fn update_addon(&mut self, name: &str, change: impl FnOnce(&mut NewAddon)) {
        let Addon { settings, .. } = self.state().addons.remove(name).unwrap();
        let mut addon = NewAddon {
            version: None,
            settings: AddonSettings { configuration: None, ..settings },
            pod_identities: None,
            conflicts: ResolveConflicts::Overwrite,
        };
        change(&mut addon);
        self.person_on_addon(name, AddonChange::Update(addon));
    }

    fn set(&mut self, change: impl FnOnce(&mut Settings)) {
        self.region.change_settings(change).unwrap();
    }

    /// Whether the policy of a KMS key leaves it to IAM who may use it, where the manager has no right to it.
    pub fn set_keys_need_rights(&mut self, need: bool) {
        self.set(|settings| settings.eks.keys_need_rights = need);
    }

    /// How long reads show what was before a change.
    pub fn set_lag(&mut self, lag: Duration) {
        self.set(|settings| settings.read_lag = lag);
    }

    /// How long EKS does not know a role that was just created.
    pub fn show_roles_after(&mut self, time: Duration) {
        self.set(|settings| settings.eks.roles_appear_after = time);
    }

    /// Whether the cluster has nodes.
    pub fn set_nodes(&mut self, nodes: Nodes) {
        self.set(|settings| settings.eks.nodes = nodes);
    }

    /// How many creations of the cluster, updates of it and creations of add-ons fail from now on.
    pub fn fail(&mut self, creations: u32, updates: u32, addons: &[(&str, u32)]) {
        let mut rules = vec![
            json!({ "what": "Creation", "times": creations,
                "issue": { "code": "Ec2SubnetNotFound", "message": "no such subnet" } }),
            json!({ "what": "Update", "times": updates,
                "issue": { "code": "IpNotAvailable", "message": "no free addresses" } }),
        ];
        for (addon, times) in addons {
            let issue = json!({ "code": "ConfigurationConflict", "message": "conflicts" });
            rules.push(json!({ "what": "AddonCreation", "addon": addon, "times": times, "issue": issue }));
        }
        rules.retain(|rule| rule["times"] != 0);
        self.region.set_eks_mishaps(serde_json::from_value(json!(rules)).unwrap()).unwrap();
    }

    /// How many updates of an add-on fail from now on.
    pub fn fail_updates_of(&mut self, addon: &str, times: u32) {
        let issue = json!({ "code": "ConfigurationConflict", "message": "conflicts" });
        let rule = json!({ "what": "AddonUpdate", "addon": addon, "times": times, "issue": issue });
        self.region.set_eks_mishaps(serde_json::from_value(json!([rule])).unwrap()).unwrap();
    }

    /// The insights are these, shown at once.
    pub fn set_insights(&mut self, errors: &[&str]) {
        let fact = |name: &&str| json!({ "name": name, "kubernetesVersion": "1.34", "status": "ERROR" });
        let facts = json!(errors.iter().map(fact).collect::<Vec<_>>());
        self.region.set_cluster_insights(NAME, serde_json::from_value(facts).unwrap()).unwrap();
    }

    /// No insight is an error as of the next refresh.
    pub fn mend_insights(&mut self) {
        self.set(|settings| settings.eks.insights_period = Duration::from_hours(24));
        self.set_insights(&[]);
    }

    /// The certificate authorities of the cluster are these.
    pub fn set_authority(&mut self, certificate_authority: &str) {
        let server = json!({ "endpoint": "https://here", "certificateAuthority": certificate_authority });
        self.region.set_cluster_server(NAME, Some(serde_json::from_value(server).unwrap())).unwrap();
    }

    /// AWS denies an operation from now on.
    pub fn deny(&mut self, operation: &str) {
        self.simulator.add_fault(FaultRule::on(operation, Fault::Denied));
    }

    /// AWS refuses an operation from now on with these words.
    pub fn refuse(&mut self, operation: &str, code: &str, message: &str) {
        let (code, message) = (code.to_owned(), message.to_owned());
        self.simulator.add_fault(FaultRule::on(operation, Fault::Error { code, status: 400, message }));
    }
}

/// A VPC with two subnets in zones a and b, one in c, and one in e, where EKS has no control planes.
fn put_network(region: &RegionHandle) {
    let vpc = VpcId::new("vpc-0c000000000000001");
    let cidr = "192.168.0.0/16".parse().unwrap();
    region.put_vpc(VpcSpec { id: vpc.clone(), cidr, is_default: false, tags: BTreeMap::new() }).unwrap();
    region
        .with(|region| region.network.zones.insert(Zone::new("eu-central-1e"), "use1-az3".to_owned()))
        .unwrap();
    for (n, id) in (0..).zip(["subnet-a", "subnet-a2", "subnet-b", "subnet-b2", "subnet-c", "subnet-e"]) {
        let id = SubnetId::new(id);
        let zone = Zone::new(zone(&id));
        let (base, tags) = (Ipv4Addr::new(192, 168, n, 0), BTreeMap::new());
        let vpc = vpc.clone();
        region.put_subnet(SubnetSpec { id, vpc, zone, base, prefix: 24, public: false, tags }).unwrap();
    }
    for id in ["sg-1", "sg-foreign"] {
        let (id, name) = (SecurityGroupId::new(id), id.to_owned());
        let (description, vpc, tags) = (name.clone(), vpc.clone(), BTreeMap::new());
        region.put_security_group(SecurityGroupSpec { id, name, description, vpc, tags }).unwrap();
    }
}
