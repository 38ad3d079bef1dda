//! What a tenant, or a thief of the manager's token, tries at the API server: it is refused by policies and rules,
//! and what they must let pass, passes.

use super::server::{Kind, Server, cluster, is_refusal, on_server, pool, with};
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

const MANAGER: &str = "system:serviceaccount:foo-system:foo-manager";
/// As clusterctl installs the other provider.
const CONTROL_PLANE_MANAGER: &str =
    "system:serviceaccount:foo-control-plane-system:foo-control-plane-manager";
const BOOTSTRAP_MANAGER: &str = "system:serviceaccount:foo-bootstrap-system:foo-bootstrap-manager";
/// The one manager of all providers, by another name.
const MANAGER_OF_ALL: &str = "system:serviceaccount:anywhere:any-name";
const CORE: &str = "system:serviceaccount:capi-system:capi-manager";
const GARBAGE_COLLECTOR: &str = "system:serviceaccount:kube-system:generic-garbage-collector";
const TENANT: &str = "tina";
/// A ServiceAccount with all rights: a tool that deploys everything.
const OPERATOR: &str = "system:serviceaccount:deployer:deployer";

/// Named like managers and core, in their own namespaces and others, with permissions on everything: names prove
/// nothing.
const IMPOSTORS: [&str; 5] = [
    "system:serviceaccount:default:capi-manager",
    "system:serviceaccount:default:foo-manager",
    "system:serviceaccount:default:x-foo-manager",
    "system:serviceaccount:capi-system:x-foo-control-plane-manager",
    "system:serviceaccount:foo-system:foo-control-plane-manager",
];

/// What kubectl shows when `user` asks for this, and whether the API server would do it.
async fn asks(
    server: Server,
    user: &str,
    args: &[&str],
    stdin: &Value,
) -> Result<std::result::Result<(), String>> {
    let user = format!("--as={user}");
    let args: Vec<&str> = args.iter().copied().chain([user.as_str(), "--dry-run=server"]).collect();
    Ok(server.kubectl_with(&args, &stdin.to_string()).await.map(drop).map_err(|error| format!("{error:#}")))
}

async fn passes(server: Server, user: &str, args: &[&str], stdin: &Value) -> Result<()> {
    let response = asks(server, user, args, stdin).await?;
    response.map_err(anyhow::Error::msg).with_context(|| format!("{user}: {args:?} {stdin}"))
}

async fn is_refused(server: Server, user: &str, args: &[&str], stdin: &Value, message: &str) -> Result<()> {
    match asks(server, user, args, stdin).await? {
        Ok(()) => anyhow::bail!("{user} may {args:?} {stdin}; it should have been refused with: {message}"),
        Err(error) if error.contains(message) => Ok(()),
        Err(error) => anyhow::bail!("{user}: {args:?} {stdin}: refused with {error}, not with {message}"),
    }
}

const CREATE: &[&str] = &["create", "-f", "-"];
const REPLACE: &[&str] = &["replace", "-f", "-"];

fn secret(name: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": kind,
        "metadata": {
            "name": name, "namespace": "default",
            "annotations": {"kubernetes.io/service-account.name": "default"},
        },
        "stringData": {"value": "x"},
    })
}

fn patch<'a>(secret: &'a str, patch: &'a str) -> [&'a str; 6] {
    ["patch", "secret", secret, "--namespace=default", "--type=merge", patch]
}

/// With it any ServiceAccount's token could be had.
#[test]
fn the_manager_writes_no_secret_but_kubeconfigs_of_clusters() {
    on_server(async |server| {
        let managers = [MANAGER, CONTROL_PLANE_MANAGER, MANAGER_OF_ALL];
        server.may_do_everything(&managers).await?;
        server.may_everything(&[TENANT, OPERATOR]).await?;
        server.apply(&secret("users-own", "Opaque").to_string()).await?;
        server.apply(&secret("c-kubeconfig", "cluster.x-k8s.io/secret").to_string()).await?;
        let token = secret("token", "kubernetes.io/service-account-token");
        let content = r#"--patch={"stringData": {"value": "y"}}"#;
        let label = r#"--patch={"metadata": {"labels": {"a": "b"}}}"#;
        let owner = r#"--patch={"metadata": {"ownerReferences": [{"apiVersion": "infrastructure.foo.com/v1alpha1",
            "kind": "FooClusterIdentity", "name": "a", "uid": "b"}]}}"#;
        let no = "this manager may write only Secrets";
        for manager in managers {
            is_refused(server, manager, CREATE, &token, no).await?;
            is_refused(server, manager, CREATE, &secret("c-kubeconfig-2", "cluster.x-k8s.io/secret"), no)
                .await?;
            is_refused(server, manager, CREATE, &secret("d-kubeconfig", "Opaque"), no).await?;
            is_refused(server, manager, &patch("users-own", content), &Value::Null, no).await?;
            is_refused(server, manager, &patch("users-own", label), &Value::Null, no).await?;
            let delete = ["delete", "secret", "users-own", "--namespace=default"];
            is_refused(server, manager, &delete, &Value::Null, "this manager must not delete Secrets")
                .await?;
            passes(server, manager, CREATE, &secret("d-kubeconfig", "cluster.x-k8s.io/secret")).await?;
            passes(server, manager, &patch("c-kubeconfig", content), &Value::Null).await?;
            passes(server, manager, &patch("users-own", owner), &Value::Null).await?;
        }
        // No other user is bound by that.
        for user in [TENANT, OPERATOR] {
            passes(server, user, CREATE, &token).await?;
            passes(server, user, &patch("users-own", content), &Value::Null).await?;
        }
        Ok(())
    });
}

/// A Secret of Cluster API's type with an owner of this kind and name, if any.
fn owned(name: &str, owner: Option<(&str, &str)>, value: &str) -> Value {
    let reference = |(kind, name): (&str, &str)| json!({"apiVersion": "bootstrap.foo.com/v1alpha1", "kind": kind, "name": name, "uid": "1"});
    let owners: Vec<Value> = owner.into_iter().map(reference).collect();
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": owners},
        "stringData": {"value": value},
    })
}

/// With another one it could have any kubeconfig or certificate authority of a Cluster be its own.
#[test]
fn the_manager_of_node_configs_writes_no_secret_but_their_user_data() {
    on_server(async |server| {
        let managers = [MANAGER, CONTROL_PLANE_MANAGER, BOOTSTRAP_MANAGER, MANAGER_OF_ALL];
        server.may_do_everything(&managers).await?;
        let own = |name: &'static str| Some(("FooNodeConfig", name));
        // Garbage collection runs: what is stored needs an owner that exists.
        let config = server.create(Kind::NodeConfig, "nodes", json!({"family": "AL2023"})).await?;
        let uid = config.pointer("/metadata/uid").cloned().unwrap_or_default();
        let nodes = |value: &str| {
            let mut secret = owned("nodes", own("nodes"), value);
            foo_e2e::set(
                &mut secret,
                &["metadata", "ownerReferences"],
                json!([{
                    "apiVersion": "bootstrap.foo.com/v1alpha1", "kind": "FooNodeConfig", "name": "nodes", "uid": uid,
                }]),
            );
            secret
        };
        let stored =
            [nodes("x"), owned("restored", None, "x"), owned("authority", Some(("Other", "a")), "x")];
        for stored in stored {
            server.apply(&stored.to_string()).await?;
        }
        let no = "this manager may write only Secrets";
        // Deployed alone, and as the one manager of all.
        for manager in [BOOTSTRAP_MANAGER, MANAGER_OF_ALL] {
            passes(server, manager, CREATE, &owned("fresh", own("fresh"), "x")).await?;
            passes(server, manager, REPLACE, &nodes("y")).await?;
            passes(server, manager, REPLACE, &owned("restored", own("restored"), "x")).await?;
            for (verb, secret) in [
                (CREATE, owned("fresh", None, "x")),
                (CREATE, owned("fresh", own("another"), "x")),
                (CREATE, secret("token", "kubernetes.io/service-account-token")),
                (REPLACE, owned("restored", own("restored"), "y")),
                (REPLACE, owned("authority", own("authority"), "x")),
                (REPLACE, owned("authority", own("authority"), "y")),
            ] {
                is_refused(server, manager, verb, &secret, no).await?;
            }
            let delete = ["delete", "secret", "nodes", "--namespace=default"];
            let never = "this manager must not delete Secrets";
            is_refused(server, manager, &delete, &Value::Null, never).await?;
        }
        is_refused(server, BOOTSTRAP_MANAGER, CREATE, &owned("n-kubeconfig", own("n-kubeconfig"), "x"), no)
            .await?;
        for manager in [MANAGER, CONTROL_PLANE_MANAGER] {
            is_refused(server, manager, CREATE, &owned("fresh", own("fresh"), "x"), no).await?;
        }
        Ok(())
    });
}

fn machine(name: &str, of: &str) -> Value {
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"infrastructureRef": {"apiGroup": "infrastructure.foo.com", "kind": of, "name": name}},
    })
}

#[test]
fn the_manager_deletes_no_machine_of_other_providers() {
    on_server(async |server| {
        server.may_do_everything(&[MANAGER, MANAGER_OF_ALL]).await?;
        server.may_everything(&[TENANT]).await?;
        server.apply(&machine("own", "FooMachine").to_string()).await?;
        server.apply(&machine("foreign", "AWSMachine").to_string()).await?;
        let delete = |name| ["delete", "machines.cluster.x-k8s.io", name, "--namespace=default"];
        for manager in [MANAGER, MANAGER_OF_ALL] {
            passes(server, manager, &delete("own"), &Value::Null).await?;
            let no = "this manager may delete only Machines of its own pools";
            is_refused(server, manager, &delete("foreign"), &Value::Null, no).await?;
        }
        for name in ["own", "foreign"] {
            passes(server, TENANT, &delete(name), &Value::Null).await?;
        }
        Ok(())
    });
}

#[test]
fn machines_of_pools_are_not_deleted_as_a_collection() {
    on_server(async |server| {
        server.may_everything(&[TENANT]).await?;
        for (namespace, of) in [("pooled", "FooMachine"), ("others", "AWSMachine")] {
            server.kubectl(&["create", "namespace", namespace]).await?;
            let mut machine = machine("one", of);
            machine["metadata"]["namespace"] = namespace.into();
            server.apply(&machine.to_string()).await?;
        }
        let all = async |namespace: &str| {
            let path = format!("/apis/cluster.x-k8s.io/v1beta2/namespaces/{namespace}/machines");
            server.kubectl(&["delete", "--raw", &path, &format!("--as={TENANT}")]).await
        };
        let refused = all("pooled").await.map_err(|error| format!("{error:#}"));
        let message = "Machines of a FooMachinePool must be deleted one by one";
        ensure!(refused.as_ref().is_err_and(|error| error.contains(message)), "{refused:?}");
        all("others").await?;
        // The namespace controller may.
        server.kubectl(&["delete", "namespace", "pooled", "--timeout=60s"]).await.map(drop)
    });
}

/// Its instance would end undrained.
#[test]
fn a_foo_machine_is_deleted_by_controllers_or_with_a_confirmation() {
    on_server(async |server| {
        server.may_do_everything(&[MANAGER, MANAGER_OF_ALL, CORE]).await?;
        server.may_do_everything(&IMPOSTORS).await?;
        server.may_everything(&[TENANT, OPERATOR]).await?;
        let spec = json!({"providerID": "aws:///eu-west-1a/i-1", "instanceID": "i-1"});
        server.create(Kind::Machine, "kept", spec).await?;
        let delete = ["delete", "foomachine", "kept", "--namespace=default"];
        for user in [MANAGER, MANAGER_OF_ALL, CORE, GARBAGE_COLLECTOR] {
            passes(server, user, &delete, &Value::Null).await?;
        }
        let no = "delete its Machine instead";
        for user in IMPOSTORS.into_iter().chain([TENANT, OPERATOR]) {
            is_refused(server, user, &delete, &Value::Null, no).await?;
        }
        is_refused(server, "system:serviceaccount:default:manager", &delete, &Value::Null, "forbidden")
            .await?;
        let annotate = async |annotation: &str, sign: &str| {
            let annotation = format!("{annotation}{sign}");
            server.kubectl(&["annotate", "foomachine", "kept", "--namespace=default", &annotation]).await
        };
        for annotation in
            ["infrastructure.foo.com/deletion-allowed", "clusterctl.cluster.x-k8s.io/delete-for-move"]
        {
            annotate(annotation, "=").await?;
            passes(server, TENANT, &delete, &Value::Null).await?;
            annotate(annotation, "-").await?;
        }
        is_refused(server, TENANT, &delete, &Value::Null, no).await
    });
}

/// A user with all permissions in a namespace may grant each of them there: the policies require permissions in all
/// namespaces.
#[test]
fn a_role_in_a_namespace_does_not_make_a_manager() {
    on_server(async |server| {
        let admin = "system:serviceaccount:default:admin";
        let spec = json!({"providerID": "aws:///eu-west-1a/i-2", "instanceID": "i-2"});
        server.create(Kind::Machine, "of-a-namespace", spec).await?;
        let kinds = [("cluster-admin", "ClusterRole"), ("grown", "Role")];
        for (role, kind) in kinds {
            let binding = json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                "metadata": {"name": format!("admin-{role}"), "namespace": "default"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": "admin", "namespace": "default"}],
            });
            server.apply(&binding.to_string()).await?;
        }
        let rule = |resource: &str, verbs: &[&str]| json!({"apiGroups": ["infrastructure.foo.com"], "resources": [resource], "verbs": verbs});
        let role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "grown", "namespace": "default"},
            "rules": [
                rule("foomachines", &["get", "delete"]),
                rule("managers", &["act-as-core", "act-as-provider"]),
            ],
        });
        let by_admin = format!("--as={admin}");
        let create = ["create", "-f", "-", by_admin.as_str()];
        server
            .kubectl_with(&create, &role.to_string())
            .await
            .context("an admin of a namespace creates a Role")?;
        let delete = ["delete", "foomachine", "of-a-namespace", "--namespace=default"];
        let no = "delete its Machine instead";
        is_refused(server, admin, &delete, &Value::Null, no).await
    });
}

/// From its deletion on Cluster API drains nothing, and nothing undoes it.
#[test]
fn the_control_plane_of_a_cluster_is_deleted_with_the_cluster_or_with_a_confirmation() {
    on_server(async |server| {
        server.may_do_everything(&[CORE, MANAGER, CONTROL_PLANE_MANAGER]).await?;
        server.may_do_everything(&IMPOSTORS).await?;
        server.may_everything(&[TENANT, OPERATOR]).await?;
        let spec = json!({"version": "v1.36.3", "external": {"kubeconfigSecretRef": {"name": "one"}}});
        server.create(Kind::ControlPlane, "owned", spec).await?;
        let delete = ["delete", "foocontrolplane", "owned", "--namespace=default"];
        passes(server, TENANT, &delete, &Value::Null).await?;
        let owner =
            json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "c", "uid": "1"});
        let owned = json!({"metadata": {"ownerReferences": [owner]}}).to_string();
        let own = ["patch", "foocontrolplane", "owned", "--namespace=default", "--type=merge", "--patch"];
        server.kubectl(&own.into_iter().chain([owned.as_str()]).collect::<Vec<_>>()).await?;
        let no = "delete its Cluster instead";
        for user in IMPOSTORS.into_iter().chain([TENANT, OPERATOR]) {
            is_refused(server, user, &delete, &Value::Null, no).await?;
        }
        for user in [CORE, MANAGER, CONTROL_PLANE_MANAGER, GARBAGE_COLLECTOR] {
            passes(server, user, &delete, &Value::Null).await?;
        }
        let annotate = async |annotation: &str| {
            server.kubectl(&["annotate", "foocontrolplane", "owned", "--namespace=default", annotation]).await
        };
        for annotation in
            ["infrastructure.foo.com/deletion-allowed", "clusterctl.cluster.x-k8s.io/delete-for-move"]
        {
            annotate(&format!("{annotation}=")).await?;
            passes(server, TENANT, &delete, &Value::Null).await?;
            annotate(&format!("{annotation}-")).await?;
        }
        annotate("infrastructure.foo.com/protected=").await?;
        is_refused(server, CORE, &delete, &Value::Null, "protected by the annotation").await
    });
}

/// It takes over what another management cluster has in AWS: its id and the names are in conditions, which tenants
/// read.
#[test]
fn only_an_administrator_takes_over_from_another_management_cluster() {
    on_server(async |server| {
        let tenant = "tom";
        // All rights in the namespace, as an administrator of it has them.
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "tenant-of-adoption", "namespace": "default"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": tenant}],
        });
        server.apply(&binding.to_string()).await?;
        server.may_everything(&[OPERATOR]).await?;
        let no = "takes over resources in AWS from another management cluster";
        let external = json!({"version": "v1.36.3", "external": {"kubeconfigSecretRef": {"name": "one"}}});
        for (kind, group, name, spec) in [
            (Kind::MachinePool, "infrastructure.foo.com", "FooMachinePool", pool()),
            (Kind::Cluster, "infrastructure.foo.com", "FooCluster", cluster()),
            (Kind::ControlPlane, "controlplane.foo.com", "FooControlPlane", external),
        ] {
            let new = |annotations: Value| {
                json!({
                    "apiVersion": format!("{group}/v1alpha1"), "kind": name, "spec": spec,
                    "metadata": {"name": "new", "namespace": "default", "annotations": annotations},
                })
            };
            let adopting = new(json!({"infrastructure.foo.com/adopt-from": "elsewhere"}));
            server.until_refused(tenant, &adopting, no).await?;
            passes(server, tenant, CREATE, &new(json!({"a": "b"}))).await?;
            passes(server, OPERATOR, CREATE, &adopting).await?;
            // By a template of a ClusterClass, which a tenant may write.
            is_refused(server, CORE, CREATE, &adopting, no).await?;
            server.create(kind, "handed-over", spec.clone()).await?;
            let annotate = |annotation| {
                ["annotate", name, "handed-over", "--namespace=default", "--overwrite", annotation]
            };
            let adopt = annotate("infrastructure.foo.com/adopt-from=elsewhere");
            is_refused(server, tenant, &adopt, &Value::Null, no).await?;
            passes(server, OPERATOR, &adopt, &Value::Null).await?;
            server.kubectl(&adopt).await?;
            passes(server, tenant, &annotate("a=b"), &Value::Null).await?;
            let another = annotate("infrastructure.foo.com/adopt-from=another");
            is_refused(server, tenant, &another, &Value::Null, no).await?;
            for user in [MANAGER, tenant] {
                let removal = annotate("infrastructure.foo.com/adopt-from-");
                passes(server, user, &removal, &Value::Null).await?;
            }
        }
        Ok(())
    });
}

/// FooMachines have a policy of their own; nothing depends on a FooPlan.
#[test]
fn an_object_of_any_kind_is_protected_by_its_annotation() {
    on_server(async |server| {
        server.may_everything(&[TENANT]).await?;
        let template = |spec: Value| json!({"template": {"spec": spec}});
        let external = json!({"external": {"kubeconfigSecretRef": {"name": "one"}}});
        let control_plane = with(external.clone(), json!({"version": "v1.36.3"}));
        let nodes = json!({"family": "AL2023"});
        let kinds = [
            (Kind::Cluster, "foocluster", cluster()),
            (Kind::ClusterIdentity, "fooclusteridentity", json!({"controller": {}})),
            (Kind::ClusterTemplate, "fooclustertemplate", template(cluster())),
            (Kind::ControlPlane, "foocontrolplane", control_plane),
            (Kind::ControlPlaneTemplate, "foocontrolplanetemplate", template(external)),
            (Kind::MachinePool, "foomachinepool", pool()),
            (Kind::MachinePoolTemplate, "foomachinepooltemplate", template(pool())),
            (Kind::NodeConfig, "foonodeconfig", nodes.clone()),
            (Kind::NodeConfigTemplate, "foonodeconfigtemplate", template(nodes)),
        ];
        let crds = server.kubectl(&["get", "crd", "--output=name"]).await?;
        let own = crds.lines().filter(|name| name.contains(".foo.com")).count();
        ensure!(own == kinds.len() + 2, "a kind is missing: {crds}");
        for (kind, name, spec) in kinds {
            server.create(kind, "protected", spec).await?;
            let delete = ["delete", name, "protected", "--namespace=default"];
            passes(server, TENANT, &delete, &Value::Null).await?;
            let annotate = ["annotate", name, "protected", "--namespace=default"];
            let annotated = |annotation| annotate.into_iter().chain([annotation]).collect::<Vec<_>>();
            server.kubectl(&annotated("infrastructure.foo.com/protected=")).await?;
            for user in [TENANT, GARBAGE_COLLECTOR] {
                is_refused(server, user, &delete, &Value::Null, "protected by the annotation").await?;
            }
            server.kubectl(&annotated("infrastructure.foo.com/protected-")).await?;
            passes(server, TENANT, &delete, &Value::Null).await?;
        }
        Ok(())
    });
}

#[test]
fn a_crd_is_deleted_only_with_a_confirmation() {
    on_server(async |server| {
        server.may_everything(&[TENANT]).await?;
        let names = server.kubectl(&["get", "crd", "--output=name"]).await?;
        let own: Vec<&str> = names.lines().filter(|name| name.contains(".foo.com")).collect();
        ensure!(own.len() == 11, "{own:?}");
        for crd in &own {
            let no = "all objects of this kind would be deleted with it";
            is_refused(server, TENANT, &["delete", crd], &Value::Null, no).await?;
        }
        let Some(last) = own.last() else { return Ok(()) };
        server.kubectl(&["annotate", last, "infrastructure.foo.com/deletion-allowed="]).await?;
        passes(server, TENANT, &["delete", last], &Value::Null).await?;
        server.kubectl(&["annotate", last, "infrastructure.foo.com/deletion-allowed-"]).await?;
        passes(server, TENANT, &["delete", "crd/machines.cluster.x-k8s.io"], &Value::Null).await
    });
}

/// What becomes part of a path, a host or a request must have the right form.
#[test]
fn malformed_texts_are_refused() {
    on_server(async |server| {
        let odd = ["?x=", "../../kube-system/secrets/x", "a b", "ami-\u{93}oops\u{94}", "\u{202e}x"];
        for odd in odd {
            for (kind, spec) in [
                (Kind::Cluster, with(cluster(), json!({"region": odd}))),
                (Kind::Cluster, with(cluster(), json!({"identityRef": {"name": odd}}))),
                (
                    Kind::Cluster,
                    with(cluster(), json!({"network": {"existing": {"subnets": [{"id": odd}]}}})),
                ),
                (
                    Kind::Cluster,
                    with(
                        cluster(),
                        json!({"network": {"existing": {"vpcID": odd, "subnets": [{"id": "subnet-1"}]}}}),
                    ),
                ),
                (Kind::MachinePool, with(pool(), json!({"ami": {"id": odd}}))),
                (Kind::MachinePool, with(pool(), json!({"instanceType": odd}))),
                (Kind::MachinePool, with(pool(), json!({"iamInstanceProfile": odd}))),
                (Kind::MachinePool, with(pool(), json!({"securityGroups": [{"id": odd}]}))),
                (
                    Kind::ControlPlane,
                    json!({"version": "v1.36.3", "external": {"kubeconfigSecretRef": {"name": odd}}}),
                ),
                (Kind::Machine, json!({"instanceID": odd, "providerID": "aws:///eu-west-1a/i-1"})),
                (Kind::Machine, json!({"instanceID": "i-1", "providerID": odd})),
                (Kind::ClusterIdentity, json!({"secret": {"name": odd}})),
            ] {
                server.refuses(kind, spec, "should match").await?;
            }
        }
        for region in ["-1", "127.0.0.1:1", "eu-centrall", "eu_central_1", "EU-CENTRAL-1", "x.example.com/"] {
            server.refuses(Kind::Cluster, with(cluster(), json!({"region": region})), "should match").await?;
        }
        for region in ["eu-central-1", "us-gov-west-1", "us-isob-east-1", "ap-southeast-7", "eusc-de-east-1"]
        {
            server.accepts(Kind::Cluster, &with(cluster(), json!({"region": region}))).await?;
        }
        let everything = json!({"network": {"existing": {"subnets": [{"tags": {}}]}}});
        let message = "tags must not be empty";
        server.refuses(Kind::Cluster, with(cluster(), everything), message).await
    });
}

/// A sample policy, in one namespace only: the other tests are not to be bound.
async fn apply_sample(server: Server, file: &str, namespace: &str) -> Result<()> {
    server.kubectl(&["create", "namespace", namespace]).await?;
    let sample = std::fs::read_to_string(super::server::root().join("deploy/samples").join(file))?;
    let here = format!(
        "  matchConstraints:\n    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}\n"
    );
    server.apply(&sample.replace("  matchConstraints:\n", &here)).await.map(drop)
}

/// docs/operations/tenants.md sends there.
#[test]
fn the_sample_policy_limits_control_planes_by_a_config_map_of_their_namespace() {
    on_server(async |server| {
        server.may_everything(&[TENANT]).await?;
        apply_sample(server, "control_plane_limits.yaml", "limited-eks").await?;
        let role = |name: &str| format!("arn:aws:iam::123456789012:role/{name}");
        let control_plane = |fields: Value| {
            let private =
                json!({"roleARN": role("team-a"), "endpointAccess": {"public": false, "private": true}});
            json!({
                "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
                "metadata": {"name": "p", "namespace": "limited-eks"},
                "spec": {"version": "v1.34.0", "eks": with(private, fields)},
            })
        };
        let good = control_plane(json!({
            "name": "limited-eks_one", "subnets": ["subnet-1", "subnet-2"], "securityGroups": ["sg-1"],
            "addons": [{"name": "vpc-cni", "podIdentities": [{"serviceAccount": "aws-node", "roleARN": role("pods")}]}],
            "podIdentityAssociations": [{"namespace": "a", "serviceAccount": "b", "roleARN": role("pods")}],
            "encryption": {"kmsKeyARN": "arn:aws:kms:eu-central-1:123456789012:key/1"},
        }));
        server.until_refused(TENANT, &good, "no params found").await?;
        let roles = format!("--from-literal=roles={},{}", role("team-a"), role("pods"));
        server
            .kubectl(&[
                "create",
                "configmap",
                "foo-control-plane-limits",
                "--namespace=limited-eks",
                &roles,
                "--from-literal=subnets=subnet-1,subnet-2",
                "--from-literal=securityGroups=sg-1",
                "--from-literal=kmsKeys=arn:aws:kms:eu-central-1:123456789012:key/1",
                "--from-literal=publicEndpoint=false",
            ])
            .await?;
        server.until_accepted(TENANT, &good).await?;
        passes(server, TENANT, CREATE, &control_plane(json!({}))).await?;
        let other = format!("role {} is not allowed in this namespace", role("team-b"));
        let pods =
            json!([{"name": "a", "podIdentities": [{"serviceAccount": "b", "roleARN": role("team-b")}]}]);
        let association = json!([{"namespace": "a", "serviceAccount": "b", "roleARN": role("team-b")}]);
        let key = json!({"kmsKeyARN": "arn:aws:kms:eu-central-1:123456789012:key/2"});
        for (fields, message) in [
            (json!({"roleARN": role("team-b")}), other.as_str()),
            (json!({"addons": [{"name": "a", "serviceAccountRoleARN": role("team-b")}]}), other.as_str()),
            (json!({"addons": pods}), "a role in spec.eks.addons[].podIdentities is not allowed"),
            (json!({"podIdentityAssociations": association}), other.as_str()),
            (json!({"subnets": ["subnet-1", "subnet-3"]}), "a subnet is not allowed in this namespace"),
            (json!({"securityGroups": ["sg-2"]}), "a security group is not allowed in this namespace"),
            (json!({"encryption": key}), "key/2 is not allowed in this namespace"),
            (json!({"endpointAccess": null}), "spec.eks.endpointAccess.public must be false"),
            (json!({"name": "team-b_one"}), "spec.eks.name must begin with limited-eks_"),
            (json!({"adopt": true}), "spec.eks.adopt is not allowed in this namespace"),
        ] {
            is_refused(server, TENANT, CREATE, &control_plane(fields), message).await?;
        }
        Ok(())
    });
}

/// docs/operations/tenants.md sends there.
#[test]
fn the_sample_policy_limits_clusters_by_a_config_map_of_their_namespace() {
    on_server(async |server| {
        server.may_everything(&[TENANT]).await?;
        apply_sample(server, "cluster_limits.yaml", "limited-network").await?;
        let cluster = |fields: Value| {
            json!({
                "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
                "metadata": {"name": "c", "namespace": "limited-network"},
                "spec": with(json!({"region": "eu-central-1", "identityRef": {"name": "team-a"}}), fields),
            })
        };
        let existing = |network: Value| cluster(json!({"network": {"existing": network}}));
        let managed = |network: Value| cluster(json!({"network": {"managed": network}}));
        let good = existing(json!({
            "vpcID": "vpc-1", "subnets": [{"id": "subnet-1"}, {"id": "subnet-2"}], "securityGroups": [{"id": "sg-1"}],
        }));
        server.until_refused(TENANT, &good, "no params found").await?;
        server
            .kubectl(&[
                "create",
                "configmap",
                "foo-cluster-limits",
                "--namespace=limited-network",
                "--from-literal=identities=team-a,team-a-2",
                "--from-literal=regions=eu-central-1",
                "--from-literal=vpcs=vpc-1",
                "--from-literal=subnets=subnet-1,subnet-2",
                "--from-literal=securityGroups=sg-1",
            ])
            .await?;
        server.until_accepted(TENANT, &good).await?;
        passes(server, TENANT, CREATE, &managed(json!({}))).await?;
        let rule = |group: &str| json!({"securityGroups": {"node": [{"name": "r", "protocol": "All", "from": {"securityGroup": group}}]}});
        passes(server, TENANT, CREATE, &managed(rule("sg-1"))).await?;
        passes(server, TENANT, CREATE, &managed(rule("controlPlane"))).await?;
        let one = json!([{"id": "subnet-1"}]);
        for (object, message) in [
            (
                cluster(json!({"network": {"managed": {}}, "identityRef": null})),
                "FooClusterIdentity default is not allowed",
            ),
            (
                cluster(json!({"network": {"managed": {}}, "region": "us-east-1"})),
                "region us-east-1 is not allowed",
            ),
            (existing(json!({"vpcID": "vpc-2", "subnets": one})), "VPC vpc-2 is not allowed"),
            (managed(json!({"vpcID": "vpc-2", "cidr": "10.0.0.0/16"})), "VPC vpc-2 is not allowed"),
            (
                existing(json!({"subnets": [{"id": "subnet-3"}]})),
                "a subnet is not named by its id, or not allowed",
            ),
            (
                existing(json!({"subnets": [{"tags": {"a": "b"}}]})),
                "a subnet is not named by its id, or not allowed",
            ),
            (
                existing(json!({"subnets": one, "securityGroups": [{"id": "sg-2"}]})),
                "a security group is not named by its id",
            ),
            (managed(rule("sg-2")), "a security group in a rule is not allowed"),
        ] {
            is_refused(server, TENANT, CREATE, &object, message).await?;
        }
        Ok(())
    });
}

/// docs/operations/identities.md sends there.
#[test]
fn the_sample_policy_limits_pools_by_a_config_map_of_their_namespace() {
    on_server(async |server| {
        server.may_everything(&[TENANT]).await?;
        apply_sample(server, "pool_limits.yaml", "limited").await?;
        let pool = |fields: Value| {
            let mut spec = pool();
            spec = with(spec, fields);
            json!({
                "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooMachinePool",
                "metadata": {"name": "p", "namespace": "limited"}, "spec": spec,
            })
        };
        let good = pool(json!({
            "iamInstanceProfile": "team-a-gpu", "maxSize": 50,
            "subnets": [{"id": "subnet-1"}], "securityGroups": [{"id": "sg-1"}], "sshKeyName": "team-a",
            "rootVolume": {"sizeGiB": 20, "encrypted": true, "kmsKeyID": "alias/team-a"},
            "volumes": [
                {"deviceName": "/dev/xvdb", "sizeGiB": 20, "encrypted": true, "kmsKeyID": "alias/team-a"},
                {"deviceName": "/dev/xvdc", "sizeGiB": 20, "snapshotID": "snap-0a"},
            ],
            "networkInterfaces": [{}, {"securityGroups": [{"id": "sg-1"}]}],
            "userDataStorage": {"s3": {"bucket": "team-a-data"}},
            "placement": {"groupName": "near"}, "capacityReservation": {"id": "cr-0a"},
            "lifecycleHooks": [{
                "name": "h", "transition": "Launching",
                "notificationTargetARN": "arn:aws:sns:eu-central-1:123456789012:team-a",
                "roleARN": "arn:aws:iam::123456789012:role/team-a",
            }],
        }));
        server.until_refused(TENANT, &good, "no params found").await?;
        server
            .kubectl(&[
                "create",
                "configmap",
                "foo-pool-limits",
                "--namespace=limited",
                "--from-literal=instanceProfiles=team-a-workers,team-a-gpu",
                "--from-literal=amis=ami-0a000000000000001",
                "--from-literal=maxSize=50",
                "--from-literal=subnets=subnet-1",
                "--from-literal=securityGroups=sg-1",
                "--from-literal=kmsKeys=alias/team-a",
                "--from-literal=keyPairs=team-a",
                "--from-literal=buckets=team-a-data",
                "--from-literal=capacity=near,cr-0a",
                "--from-literal=snapshots=snap-0a",
                "--from-literal=notificationTargets=arn:aws:sns:eu-central-1:123456789012:team-a",
                "--from-literal=hookRoles=arn:aws:iam::123456789012:role/team-a",
            ])
            .await?;
        server.until_accepted(TENANT, &good).await?;
        passes(server, TENANT, CREATE, &pool(json!({"maxSize": 1}))).await?;
        let volume = |key: &str| json!({"sizeGiB": 20, "encrypted": true, "kmsKeyID": key});
        let hook_of = |topic: &str, role: &str| {
            json!({
                "name": "h", "transition": "Launching",
                "notificationTargetARN": format!("arn:aws:sns:eu-central-1:123456789012:{topic}"),
                "roleARN": format!("arn:aws:iam::123456789012:role/{role}"),
            })
        };
        for (fields, message) in [
            (
                json!({"iamInstanceProfile": "admin", "maxSize": 1}),
                "instance profile admin is not allowed in this namespace",
            ),
            (
                json!({"ami": {"ids": {"x86_64": "ami-0a000000000000001", "arm64": "ami-0a000000000000002"}}, "maxSize": 1}),
                "image ami-0a000000000000002 is not allowed in this namespace: ami-0a000000000000001",
            ),
            (
                json!({"ami": {"recommended": {"family": "AL2023"}}, "maxSize": 1}),
                "an image that is not named by its id is not allowed in this namespace: ami-0a000000000000001",
            ),
            (
                json!({"subnets": [{"id": "subnet-1"}, {"id": "subnet-2"}], "maxSize": 1}),
                "a subnet is not named by its id, or not allowed in this namespace: subnet-1",
            ),
            (
                json!({"subnets": [{"tags": {"a": "b"}}], "maxSize": 1}),
                "a subnet is not named by its id, or not allowed in this namespace: subnet-1",
            ),
            (
                json!({
                    "launchTemplateOverlay": {"SecondaryInterfaces": [{"SecondarySubnetId": "ss-1"}]}, "maxSize": 1,
                }),
                "a subnet is not named by its id, or not allowed in this namespace: subnet-1",
            ),
            (
                json!({"securityGroups": [{"id": "sg-2"}], "maxSize": 1}),
                "a security group is not named by its id, or not allowed in this namespace: sg-1",
            ),
            (
                json!({"securityGroups": [{"tags": {"a": "b"}}], "maxSize": 1}),
                "a security group is not named by its id, or not allowed in this namespace: sg-1",
            ),
            (
                json!({
                    "networkInterfaces": [{}, {"securityGroups": [{"id": "sg-1"}, {"id": "sg-2"}]}], "maxSize": 1,
                }),
                "a security group is not named by its id, or not allowed in this namespace: sg-1",
            ),
            (
                json!({"rootVolume": volume("alias/team-b"), "maxSize": 1}),
                "KMS key alias/team-b is not allowed in this namespace: alias/team-a",
            ),
            (
                json!({"volumes": [with(volume("alias/team-c"), json!({"deviceName": "/dev/xvdb"}))], "maxSize": 1}),
                "KMS key alias/team-c is not allowed in this namespace: alias/team-a",
            ),
            (
                json!({"sshKeyName": "team-b", "maxSize": 1}),
                "key pair team-b is not allowed in this namespace: team-a",
            ),
            (
                json!({
                    "userDataStorage": {"s3": {"bucket": "team-b-data"}}, "iamInstanceProfile": "team-a-gpu", "maxSize": 1,
                }),
                "bucket team-b-data is not allowed in this namespace: team-a-data",
            ),
            (
                json!({
                    "targetGroups": ["arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/b/0a"], "maxSize": 1,
                }),
                "targetgroup/b/0a is not allowed in this namespace",
            ),
            (
                json!({"classicLoadBalancers": ["team-b"], "maxSize": 1}),
                "target group or load balancer team-b is not allowed in this namespace",
            ),
            (
                json!({"lifecycleHooks": [hook_of("team-b", "team-a")], "maxSize": 1}),
                "topic or queue arn:aws:sns:eu-central-1:123456789012:team-b is not allowed in this namespace: \
                 arn:aws:sns:eu-central-1:123456789012:team-a",
            ),
            (
                json!({"lifecycleHooks": [hook_of("team-a", "team-b")], "maxSize": 1}),
                "a role of a lifecycle hook is not allowed in this namespace: arn:aws:iam::123456789012:role/team-a",
            ),
            (
                json!({"placement": {"groupName": "near"}, "capacityReservation": {"id": "cr-0b"}, "maxSize": 1}),
                "capacity cr-0b is not allowed in this namespace: near,cr-0a",
            ),
            (
                json!({
                    "licenseConfigurations": ["arn:aws:license-manager:eu-central-1:123456789012:license-configuration:lic-0a"],
                    "maxSize": 1,
                }),
                "license-configuration:lic-0a is not allowed in this namespace",
            ),
            (
                json!({"volumes": [{"deviceName": "/dev/xvdb", "sizeGiB": 1, "snapshotID": "snap-0b"}], "maxSize": 1}),
                "a snapshot is not allowed in this namespace: snap-0a",
            ),
            (json!({"maxSize": 51}), "spec.maxSize must be set, and be at most 50"),
            (json!({}), "spec.maxSize must be set, and be at most 50"),
        ] {
            is_refused(server, TENANT, CREATE, &pool(fields), message).await?;
        }
        Ok(())
    });
}

#[test]
fn limits_of_an_identity_are_lists_of_what_there_can_be() {
    on_server(async |server| {
        let limited = |fields: Value| with(json!({"controller": {}}), fields);
        for good in [
            json!({"allowedInstanceProfiles": []}),
            json!({"allowedInstanceProfiles": ["nodes.foo.com", "team-a-*", "*"]}),
            json!({"allowedRegions": ["eu-central-1"], "allowedSubnets": ["subnet-0a1b"]}),
            json!({"allowedInstanceProfiles": ["{namespace}.*", "{namespace}", "x.{namespace}_a"]}),
            json!({"allowedRoles": ["arn:aws:iam::123456789012:role/{namespace}/*", "*"]}),
            json!({"allowedVPCs": ["vpc-1"], "allowedSecurityGroups": ["sg-1"]}),
            json!({"allowedKMSKeys": ["arn:aws:kms:eu-central-1:1:key/1", "alias/{namespace}", "alias/a-*"]}),
            json!({"allowedKeyPairs": ["a key (1)", "{namespace}.*"], "allowedBuckets": ["data-{namespace}", "a-*"]}),
            json!({"allowedCapacity": ["a group (1)", "{namespace}.*", "cr-0a", "arn:aws:resource-groups:*"]}),
            json!({"allowedSnapshots": ["snap-0a", "*"]}),
        ] {
            server.accepts(Kind::ClusterIdentity, &limited(good)).await?;
        }
        for bad in [
            json!({"allowedInstanceProfiles": ["a*b"]}),
            json!({"allowedInstanceProfiles": ["arn:aws:iam::1:x/y"]}),
            json!({"allowedRegions": ["*"]}),
            json!({"allowedSubnets": ["subnet-*"]}),
            json!({"allowedVPCs": ["*"]}),
            json!({"allowedSecurityGroups": ["sg-*"]}),
            // What begins with `team-` is a name of the namespace `team-a`, too.
            json!({"allowedInstanceProfiles": ["{namespace}*"]}),
            json!({"allowedInstanceProfiles": ["{namespace}-*"]}),
            json!({"allowedRoles": ["arn:aws:iam::1:role/{namespace}-*"]}),
            json!({"allowedRoles": ["{name}"]}),
            json!({"allowedKeyPairs": ["{namespace}a"]}),
            json!({"allowedBuckets": ["{namespace}-*"]}),
            json!({"allowedCapacity": ["{namespace}-*"]}),
            json!({"allowedCapacity": ["a*b"]}),
            json!({"allowedSnapshots": ["snap-*"]}),
        ] {
            server.refuses(Kind::ClusterIdentity, limited(bad), "should match").await?;
        }
        Ok(())
    });
}

/// A tenant who may write templates cannot put by a ClusterClass what a pool would not be allowed.
#[test]
fn templates_obey_the_same_rules() {
    on_server(async |server| {
        let spec = json!({"template": {"spec": with(pool(), json!({"ami": {"id": "?x="}}))}});
        server.refuses(Kind::MachinePoolTemplate, spec, "should match").await?;
        let made = server.create(
            Kind::MachinePoolTemplate,
            "odd",
            json!({"template": {"spec": with(pool(), json!({"subnets": [{"tags": {}}]}))}}),
        );
        is_refusal(made.await.map(drop), "tags must not be empty")
    });
}
