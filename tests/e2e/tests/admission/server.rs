//! An API server with our CRDs, shared by all tests of `admission`, and asking it what it would accept.

use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::{REGION, SOON};
use foo_testbed::{Probe, Rig, RigOptions, wait_until};
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

/// Cluster API's Machine, as far as policies read it.
const MACHINES: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.cluster.x-k8s.io, annotations: {api-approved.kubernetes.io: unapproved}}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {kind: Machine, plural: machines, singular: machine, listKind: MachineList}
  versions:
  - name: v1beta2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

static RIG: OnceCell<Result<Rig, String>> = OnceCell::const_new();

/// A kind of the provider.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Cluster,
    ClusterIdentity,
    ClusterTemplate,
    ControlPlane,
    ControlPlaneTemplate,
    Machine,
    MachinePool,
    MachinePoolTemplate,
    NodeConfig,
    NodeConfigTemplate,
}

impl Kind {
    fn resource(self) -> ApiResource {
        let (group, kind) = match self {
            Self::Cluster => ("infrastructure.foo.com", "FooCluster"),
            Self::ClusterIdentity => ("infrastructure.foo.com", "FooClusterIdentity"),
            Self::ClusterTemplate => ("infrastructure.foo.com", "FooClusterTemplate"),
            Self::ControlPlane => ("controlplane.foo.com", "FooControlPlane"),
            Self::ControlPlaneTemplate => ("controlplane.foo.com", "FooControlPlaneTemplate"),
            Self::Machine => ("infrastructure.foo.com", "FooMachine"),
            Self::MachinePool => ("infrastructure.foo.com", "FooMachinePool"),
            Self::MachinePoolTemplate => ("infrastructure.foo.com", "FooMachinePoolTemplate"),
            Self::NodeConfig => ("bootstrap.foo.com", "FooNodeConfig"),
            Self::NodeConfigTemplate => ("bootstrap.foo.com", "FooNodeConfigTemplate"),
        };
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1alpha1", kind))
    }

    fn object(self, name: &str) -> DynamicObject {
        let object = DynamicObject::new(name, &self.resource());
        if matches!(self, Self::ClusterIdentity) { object } else { object.within("default") }
    }
}

/// The smallest pool there is.
pub(crate) fn pool() -> Value {
    json!({"instanceType": "m7i.large", "ami": {"id": "ami-0a000000000000001"}})
}

/// The smallest cluster there is.
pub(crate) fn cluster() -> Value {
    json!({"region": REGION, "network": {"existing": {"subnets": [{"id": "subnet-1"}]}}})
}

/// The same with some of its fields replaced; `null` leaves one out.
#[expect(clippy::needless_pass_by_value, reason = "it is always a literal")]
pub(crate) fn with(mut spec: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().into_iter().flatten() {
        match (value, spec.as_object_mut()) {
            (Value::Null, Some(spec)) => drop(spec.remove(name)),
            (value, Some(spec)) => drop(spec.insert(name.clone(), value.clone())),
            (_, None) => {}
        }
    }
    spec
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server {
    rig: &'static Rig,
}

/// Runs a test on the shared server.
pub(crate) fn on_server(test: impl AsyncFnOnce(Server) -> Result<()>) {
    foo_e2e::alone(async || {
        let rig = RIG.get_or_init(async || start().await.map_err(|error| format!("{error:#}"))).await;
        let rig = rig.as_ref().map_err(|error| anyhow::Error::msg(error.clone()))?;
        test(Server { rig }).await
    });
}

async fn start() -> Result<Rig> {
    let rig = Rig::start(RigOptions { capi: None, ..RigOptions::default() }).await?;
    let crds = root().join("deploy/crd");
    rig.api().kubectl(["apply", "--server-side", "-k", &crds.to_string_lossy()]).await?;
    rig.api().kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).await?;
    rig.api().apply(MACHINES).await?;
    rig.api().apply(&roles()?).await?;
    let policies = root().join("deploy/policy");
    rig.api().kubectl(["apply", "--server-side", "-k", &policies.to_string_lossy()]).await?;
    policies_are_in_force(&rig).await?;
    Ok(rig)
}

/// The API server takes a moment to know a policy, and nothing shows when it does. So each is tried.
async fn policies_are_in_force(rig: &Rig) -> Result<()> {
    let control_plane = json!({"external": {"kubeconfigSecretRef": {"name": "one"}}});
    for (kind, spec, change) in [
        (Kind::ClusterTemplate, cluster(), json!({"network": {"existing": {"vpcID": "vpc-1"}}})),
        (Kind::ControlPlaneTemplate, control_plane, json!({"version": "v1.36.3"})),
    ] {
        let api: Api<DynamicObject> = Api::namespaced_with(rig.api().client(), "default", &kind.resource());
        let mut object = DynamicObject::new("tried", &kind.resource());
        object.data = json!({"spec": {"template": {"spec": spec}}});
        api.create(&PostParams::default(), &object).await?;
        let change = Patch::Merge(json!({"spec": {"template": {"spec": change}}}));
        let params = PatchParams { dry_run: true, ..PatchParams::default() };
        wait_until(&format!("the policy for {kind:?}"), SOON, async || {
            let refused = api.patch("tried", &params, &change).await.is_err();
            Ok(Probe::when(refused, || "it is not in force".to_owned()))
        })
        .await?;
    }
    the_manager_is_bound(rig).await
}

/// The released roles of the managers and of core with their bindings: by them the policies recognize who asks. And
/// those of the one manager of all providers (deploy/default), under another name.
fn roles() -> Result<String> {
    let release = tempfile::tempdir()?;
    xtask::release::write(&root(), "v0.1.0", xtask::release::IMAGE, release.path())?;
    let mut objects = Vec::new();
    for provider in ["infrastructure", "control-plane", "bootstrap"] {
        let components = format!("{provider}-foo/v0.1.0/{provider}-components.yaml");
        objects.extend(xtask::yaml::parse(&std::fs::read_to_string(release.path().join(components))?)?);
    }
    let kinds = ["ClusterRole", "ClusterRoleBinding", "FlowSchema"];
    objects.retain(|it| kinds.iter().any(|kind| it["kind"] == *kind));
    for mut role in xtask::yaml::parse(&std::fs::read_to_string(root().join("deploy/rbac/role.yaml"))?)? {
        foo_e2e::set(&mut role, &["metadata", "name"], "of-all".into());
        objects.push(role);
    }
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": [],
        "metadata": {"name": "capi-aggregated-manager-role"},
        "aggregationRule": {"clusterRoleSelectors": [
            {"matchLabels": {"cluster.x-k8s.io/aggregate-to-manager": "true"}},
        ]},
    }));
    objects.push(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "every-verb"},
        "rules": [{
            "apiGroups": ["*"], "resources": ["*"],
            "verbs": ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
        }],
    }));
    objects.push(bound("of-all", &["system:serviceaccount:anywhere:any-name"]));
    objects.push(bound("capi-aggregated-manager-role", &["system:serviceaccount:capi-system:capi-manager"]));
    xtask::yaml::documents(&objects)
}

/// The binding of a ClusterRole to these users.
fn bound(role: &str, users: &[&str]) -> Value {
    let subjects: Vec<Value> = users
        .iter()
        .map(|user| json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}))
        .collect();
    let digest: String = users.concat().chars().filter(char::is_ascii_alphanumeric).collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": format!("{role}-{digest}")},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    })
}

/// The last of the policies. RBAC refuses managers what it does not grant before policies are asked, so they have more
/// here.
async fn the_manager_is_bound(rig: &Rig) -> Result<()> {
    let manager = "system:serviceaccount:foo-system:foo-manager";
    rig.api().apply(&bound("every-verb", &[manager]).to_string()).await?;
    let server = &format!("--as={manager}");
    let machine = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\n\
                   metadata: {name: tried, namespace: default}\nspec: {infrastructureRef: {kind: Other}}\n";
    rig.api().apply(machine).await?;
    let foo_machine = "apiVersion: infrastructure.foo.com/v1alpha1\nkind: FooMachine\n\
                       metadata: {name: tried, namespace: default}\n\
                       spec: {instanceID: i-1, providerID: aws:///a/i-1}\n";
    rig.api().apply(foo_machine).await?;
    for args in [
        ["create", "secret", "generic", "tried", server],
        ["delete", "machines.cluster.x-k8s.io", "tried", "--namespace=default", server],
        ["delete", "foomachine", "tried", "--namespace=default", "--wait=false"],
        ["delete", "crd", "foomachines.infrastructure.foo.com", "--wait=false", "--ignore-not-found"],
    ] {
        wait_until(&format!("a policy to refuse {args:?}"), SOON, async || {
            let args = args.into_iter().chain(["--dry-run=server"]);
            let refused = rig.api().kubectl(args).await.is_err();
            Ok(Probe::when(refused, || "it is not in force".to_owned()))
        })
        .await?;
    }
    Ok(())
}

impl Server {
    /// A client of an administrator.
    pub(crate) fn client(self) -> Client {
        self.rig.api().client()
    }

    /// Runs kubectl and returns what it printed.
    pub(crate) async fn kubectl(self, args: &[&str]) -> Result<String> {
        self.rig.api().kubectl(args).await
    }

    /// The same with something to read.
    pub(crate) async fn kubectl_with(self, args: &[&str], stdin: &str) -> Result<String> {
        Ok(self.rig.api().run("kubectl", args, &[], stdin).await?.stdout)
    }

    /// Makes users administrators: what they still may not do is refused by a rule or a policy.
    pub(crate) async fn may_everything(self, users: &[&str]) -> Result<()> {
        self.apply(&bound("cluster-admin", users).to_string()).await
    }

    /// Gives users every verb of requests, by name: what they still may not do is refused by a rule or a policy.
    pub(crate) async fn may_do_everything(self, users: &[&str]) -> Result<()> {
        self.apply(&bound("every-verb", users).to_string()).await
    }

    /// Waits until such an object would be refused with this message.
    pub(crate) async fn until_refused(self, user: &str, object: &Value, message: &str) -> Result<()> {
        self.until(user, object, |response| response.is_err_and(|error| error.contains(message))).await
    }

    /// Waits until such an object would be accepted.
    pub(crate) async fn until_accepted(self, user: &str, object: &Value) -> Result<()> {
        self.until(user, object, |response| response.is_ok()).await
    }

    async fn until(
        self,
        user: &str,
        object: &Value,
        fits: impl Fn(Result<(), String>) -> bool,
    ) -> Result<()> {
        let args = ["create", "-f", "-", "--dry-run=server", &format!("--as={user}")];
        wait_until("the policy and its parameters to be known", SOON, async || {
            let response = self.kubectl_with(&args, &object.to_string()).await;
            let response = response.map(drop).map_err(|error| format!("{error:#}"));
            Ok(Probe::when(fits(response.clone()), || format!("{response:?}")))
        })
        .await
    }

    /// Applies these objects for good.
    pub(crate) async fn apply(self, yaml: &str) -> Result<()> {
        self.rig.api().apply(yaml).await
    }

    /// Creates an object for good.
    pub(crate) async fn create(self, kind: Kind, name: &str, spec: Value) -> Result<Value> {
        self.post(kind, name, spec, PostParams::default()).await
    }

    /// Writes the status of an object for good.
    pub(crate) async fn set_status(self, kind: Kind, name: &str, status: Value) -> Result<()> {
        let change = Patch::Merge(json!({"status": status}));
        self.api(kind).patch_status(name, &PatchParams::default(), &change).await?;
        Ok(())
    }

    /// The spec as it would be stored.
    pub(crate) async fn accepts(self, kind: Kind, spec: &Value) -> Result<Value> {
        let params = PostParams { dry_run: true, ..PostParams::default() };
        let created = self.post(kind, "accepted", spec.clone(), params).await;
        let created = created.with_context(|| format!("a good {kind:?} was refused: {spec:#}"))?;
        Ok(created.get("spec").cloned().unwrap_or_default())
    }

    /// Fails unless such an object would be refused, and with this message.
    pub(crate) async fn refuses(self, kind: Kind, spec: Value, message: &str) -> Result<()> {
        let params = PostParams { dry_run: true, ..PostParams::default() };
        let created = self.post(kind, "refused", spec.clone(), params).await;
        is_refusal(created.map(drop), message).with_context(|| format!("{kind:?} with {spec:#}"))
    }

    /// Fails unless such a change would be accepted.
    pub(crate) async fn accepts_change(self, kind: Kind, from: Value, to: Value) -> Result<()> {
        let changed = self.change(kind, &from, None, &to).await;
        changed.with_context(|| format!("{kind:?} from {from:#} to {to:#}"))
    }

    /// Fails unless such a change would be refused, and with this message.
    pub(crate) async fn refuses_change(
        self,
        kind: Kind,
        from: Value,
        to: Value,
        message: &str,
    ) -> Result<()> {
        let changed = self.change(kind, &from, None, &to).await;
        is_refusal(changed, message).with_context(|| format!("{kind:?} from {from:#} to {to:#}"))
    }

    /// What such a change of an object with this status comes to.
    pub(crate) async fn change_with(
        self,
        kind: Kind,
        status: &Value,
        from: &Value,
        to: &Value,
    ) -> Result<()> {
        self.change(kind, from, Some(status), to).await
    }

    async fn post(self, kind: Kind, name: &str, spec: Value, params: PostParams) -> Result<Value> {
        let mut object = kind.object(name);
        object.data = json!({"spec": spec});
        Ok(serde_json::to_value(self.api(kind).create(&params, &object).await?)?)
    }

    /// Creates an object, tries to change it, and removes it.
    async fn change(self, kind: Kind, from: &Value, status: Option<&Value>, to: &Value) -> Result<()> {
        let api = self.api(kind);
        let mut object = kind.object("changed");
        object.metadata.name = None;
        object.metadata.generate_name = Some("changed-".to_owned());
        // A FooMachine is deleted by Cluster API alone, unless a user confirms it.
        let allowed = ("infrastructure.foo.com/deletion-allowed".to_owned(), String::new());
        object.metadata.annotations = Some([allowed].into());
        object.data = json!({"spec": from});
        let mut object = api.create(&PostParams::default(), &object).await.context("making it")?;
        let name = object.metadata.name.clone().unwrap_or_default();
        if let Some(status) = status {
            let change = Patch::Merge(json!({"status": status}));
            object = api.patch_status(&name, &PatchParams::default(), &change).await.context("its status")?;
        }
        object.data = json!({"spec": to});
        let params = PostParams { dry_run: true, ..PostParams::default() };
        let replaced = api.replace(&name, &params, &object).await;
        api.delete(&name, &kube::api::DeleteParams::default()).await?;
        replaced.map(drop).map_err(Into::into)
    }

    /// The objects of a kind.
    pub(crate) fn api(self, kind: Kind) -> Api<DynamicObject> {
        match kind {
            Kind::ClusterIdentity => Api::all_with(self.rig.api().client(), &kind.resource()),
            _ => Api::namespaced_with(self.rig.api().client(), "default", &kind.resource()),
        }
    }
}

/// Fails unless the API server refused something as invalid, with this in its message.
pub(crate) fn is_refusal(outcome: Result<()>, message: &str) -> Result<()> {
    let error = match outcome {
        Ok(()) => anyhow::bail!("accepted; it should have been refused with: {message}"),
        Err(error) => error,
    };
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) if status.code == 422 => {
            ensure!(status.message.contains(message), "refused with: {}", status.message);
            Ok(())
        }
        Some(_) | None => Err(error),
    }
}
