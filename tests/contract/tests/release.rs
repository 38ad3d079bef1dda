//! The real clusterctl takes the release folder: file names, metadata, images, variables, and the cluster templates.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests: what is not as expected is a failure"
)]

mod chart;
mod image;
mod variables;

use super::common;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const VERSION: &str = "v0.1.0";

struct Release {
    folder: TempDir,
}

impl Release {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let release = folder.path().join("release");
        xtask::release::write(&xtask::root(), VERSION, xtask::release::IMAGE, &release)?;
        let provider = |label: &str, kind: &str, file: &str| json!({"name": "foo", "type": kind, "url": release.join(label).join(VERSION).join(file)});
        let config = json!({"providers": [
            provider("infrastructure-foo", "InfrastructureProvider", "infrastructure-components.yaml"),
            provider("control-plane-foo", "ControlPlaneProvider", "control-plane-components.yaml"),
            provider("bootstrap-foo", "BootstrapProvider", "bootstrap-components.yaml"),
            provider("runtime-extension-foo", "RuntimeExtensionProvider", "runtime-extension-components.yaml"),
        ]});
        std::fs::write(folder.path().join("clusterctl.yaml"), config.to_string())?;
        Ok(Self { folder })
    }

    /// Runs clusterctl with no network and no management cluster; returns the documents it prints.
    fn clusterctl(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<Vec<Value>> {
        let text = self.run(arguments, variables)?;
        serde_saphyr::from_multiple(&text).context("reading what clusterctl printed")
    }

    /// The same; returns the text it prints.
    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<String> {
        let folder: &Path = self.folder.path();
        let mut command = tool("clusterctl");
        command
            .args(arguments)
            .arg("--config")
            .arg(folder.join("clusterctl.yaml"))
            .env_clear()
            .envs([("CLUSTERCTL_DISABLE_VERSIONCHECK", "true"), ("GOPROXY", "off")])
            .env("HOME", folder)
            .env("XDG_CONFIG_HOME", folder)
            .envs(variables.iter().copied());
        printed(&mut command)
    }
}

/// One of the project's tools.
fn tool(name: &str) -> Command {
    Command::new(common::tools().join(name))
}

/// What a command that succeeds prints.
fn printed(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("running {command:?}"))?;
    ensure!(output.status.success(), "{command:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

fn named<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    objects
        .iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
        .unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[test]
fn the_providers_install_without_any_variable_set() -> Result<()> {
    let release = Release::new()?;
    let infrastructure =
        release.clusterctl(&["generate", "provider", "--infrastructure", "foo:v0.1.0"], &[])?;
    let manager = named(&infrastructure, "Deployment", "foo-controller-manager");
    assert_eq!(manager["metadata"]["namespace"], "foo-system");
    assert_eq!(manager["metadata"]["labels"]["cluster.x-k8s.io/provider"], "infrastructure-foo");
    let account = named(&infrastructure, "ServiceAccount", "foo-manager");
    assert_eq!(account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"], "");
    let control_plane =
        release.clusterctl(&["generate", "provider", "--control-plane", "foo:v0.1.0"], &[])?;
    let manager = named(&control_plane, "Deployment", "foo-control-plane-controller-manager");
    assert_eq!(manager["metadata"]["namespace"], "foo-control-plane-system");
    let bootstrap = release.clusterctl(&["generate", "provider", "--bootstrap", "foo:v0.1.0"], &[])?;
    let manager = named(&bootstrap, "Deployment", "foo-bootstrap-controller-manager");
    assert_eq!(manager["metadata"]["namespace"], "foo-bootstrap-system");
    assert_eq!(manager["metadata"]["labels"]["cluster.x-k8s.io/provider"], "bootstrap-foo");
    let container = &manager["spec"]["template"]["spec"]["containers"][0];
    assert!(container["args"].to_string().contains("--controllers=node-config"), "{container}");
    assert!(!container["env"].to_string().contains("AWS"), "it calls no AWS: {container}");
    Ok(())
}

/// What a release is read with before it is installed.
#[test]
fn all_providers_are_described_and_shown_as_they_are() -> Result<()> {
    let release = Release::new()?;
    for (flag, label, file) in [
        ("--infrastructure", "infrastructure-foo", "infrastructure-components.yaml"),
        ("--control-plane", "control-plane-foo", "control-plane-components.yaml"),
        ("--bootstrap", "bootstrap-foo", "bootstrap-components.yaml"),
        ("--runtime-extension", "runtime-extension-foo", "runtime-extension-components.yaml"),
    ] {
        let described = release.run(&["generate", "provider", flag, "foo:v0.1.0", "--describe"], &[])?;
        let line = |start: &str| described.lines().find(|line| line.starts_with(start)).unwrap_or_default();
        assert!(line("Version:").ends_with(VERSION) && line("File:").ends_with(file), "{described}");
        assert!(described.contains(&format!("{}:{VERSION}", xtask::release::IMAGE)), "{described}");
        let raw = release.run(&["generate", "provider", flag, "foo:v0.1.0", "--raw"], &[])?;
        assert!(raw.contains("--log-format=${FOO_LOG_FORMAT:=json}"), "variables of {label} were replaced");
    }
    Ok(())
}

#[test]
fn the_extension_installs_without_any_variable_set() -> Result<()> {
    let generate = ["generate", "provider", "--runtime-extension", "foo:v0.1.0"];
    let objects = Release::new()?.clusterctl(&generate, &[])?;
    let deployment = named(&objects, "Deployment", "foo-extension");
    assert_eq!(deployment["metadata"]["namespace"], "foo-extension-system");
    assert_eq!(deployment["metadata"]["labels"]["cluster.x-k8s.io/provider"], "runtime-extension-foo");
    let config = named(&objects, "ExtensionConfig", "foo");
    assert_eq!(config["spec"]["clientConfig"]["service"]["namespace"], "foo-extension-system");
    assert_eq!(config["spec"]["settings"], json!({"checks": "Enforce", "identities": "default=own"}));
    let account = named(&objects, "ServiceAccount", "foo-extension");
    assert_eq!(account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"], "");
    Ok(())
}

/// clusterctl moves what it knows: the variable moves what it does not know.
#[test]
fn the_extension_is_found_in_another_namespace() -> Result<()> {
    let generate =
        ["generate", "provider", "--runtime-extension", "foo:v0.1.0", "--target-namespace", "elsewhere"];
    let objects = Release::new()?.clusterctl(&generate, &[("FOO_EXTENSION_NAMESPACE", "elsewhere")])?;
    assert_eq!(named(&objects, "Service", "foo-extension")["metadata"]["namespace"], "elsewhere");
    let certificate = named(&objects, "Certificate", "foo-extension");
    assert_eq!(certificate["spec"]["dnsNames"][0], "foo-extension.elsewhere.svc");
    let config = named(&objects, "ExtensionConfig", "foo");
    assert_eq!(config["spec"]["clientConfig"]["service"]["namespace"], "elsewhere");
    let secret = &config["metadata"]["annotations"]["runtime.cluster.x-k8s.io/inject-ca-from-secret"];
    assert_eq!(secret, "elsewhere/foo-extension-certificate");
    Ok(())
}

/// A policy names no namespaces, so it is independent of the namespaces that clusterctl sets.
#[test]
fn policies_apply_in_whichever_namespace_the_provider_is() -> Result<()> {
    let arguments =
        ["generate", "provider", "--infrastructure", "foo:v0.1.0", "--target-namespace", "elsewhere"];
    let objects = Release::new()?.clusterctl(&arguments, &[])?;
    for name in ["foo-adoption", "foo-cluster-templates", "foo-protection"] {
        let binding = named(&objects, "ValidatingAdmissionPolicyBinding", name);
        assert_eq!(binding["spec"]["policyName"], name);
        let policy = named(&objects, "ValidatingAdmissionPolicy", name);
        assert_eq!(policy["spec"]["failurePolicy"], "Fail");
        assert!(!policy["spec"].to_string().contains("elsewhere"));
    }
    let binding = named(&objects, "ClusterRoleBinding", "foo-manager");
    assert_eq!(binding["subjects"][0]["namespace"], "elsewhere");
    Ok(())
}

/// clusterctl gives every subject that has a namespace the provider's own; that of kubeadm's provider must stay.
#[test]
fn the_providers_fit_into_one_namespace_and_kubeadm_keeps_its_permission() -> Result<()> {
    let release = Release::new()?;
    let mut leases = Vec::new();
    for (flag, deployment) in [
        ("--infrastructure", "foo-controller-manager"),
        ("--control-plane", "foo-control-plane-controller-manager"),
        ("--bootstrap", "foo-bootstrap-controller-manager"),
    ] {
        let arguments = ["generate", "provider", flag, "foo:v0.1.0", "--target-namespace", "elsewhere"];
        let objects = release.clusterctl(&arguments, &[])?;
        let manager = named(&objects, "Deployment", deployment);
        assert_eq!(manager["metadata"]["namespace"], "elsewhere");
        let args = manager["spec"]["template"]["spec"]["containers"][0]["args"].to_string();
        let lease = args.split("--leader-election-id=").nth(1).and_then(|rest| rest.split('"').next());
        leases.push(lease.context("no Lease is named")?.to_owned());
        if flag == "--control-plane" {
            let binding = named(&objects, "ClusterRoleBinding", "foo-kubeadm-bootstrap");
            let subject = &binding["subjects"][0];
            assert_eq!(
                subject["name"],
                "system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager"
            );
            assert!(subject["namespace"].is_null(), "{subject}");
        }
    }
    leases.sort();
    leases.dedup();
    assert_eq!(leases.len(), 3, "{leases:?}");
    Ok(())
}

/// clusterctl replaces variables in everything, the patterns of our schemas included.
#[test]
fn clusterctl_does_not_change_crds() -> Result<()> {
    let release = Release::new()?;
    for (flag, group) in [
        ("--infrastructure", "infrastructure.foo.com"),
        ("--control-plane", "controlplane.foo.com"),
        ("--bootstrap", "bootstrap.foo.com"),
    ] {
        let objects = release.clusterctl(&["generate", "provider", flag, "foo:v0.1.0"], &[])?;
        for crd in foo_api::crds().iter().filter(|crd| crd.spec.group == group) {
            let out =
                named(&objects, "CustomResourceDefinition", crd.metadata.name.as_deref().unwrap_or_default());
            for part in ["spec", "status"] {
                let path = format!("/spec/versions/0/schema/openAPIV3Schema/properties/{part}");
                let own = serde_json::to_value(crd)?;
                // Through text, as whole numbers may be written with and without a fraction.
                let text = |value: Option<&Value>| {
                    value.map(|v| v.to_string().replace(".0,", ",").replace(".0}", "}"))
                };
                assert_eq!(text(out.pointer(&path)), text(own.pointer(&path)));
            }
        }
    }
    Ok(())
}

#[test]
fn a_role_can_be_given_to_the_manager() -> Result<()> {
    let arn = "arn:aws:iam::123456789012:role/foo";
    let objects = Release::new()?.clusterctl(
        &["generate", "provider", "--infrastructure", "foo:v0.1.0"],
        &[("FOO_IAM_ROLE_ARN", arn)],
    )?;
    let account = named(&objects, "ServiceAccount", "foo-manager");
    assert_eq!(account["metadata"]["annotations"]["eks.amazonaws.com/role-arn"], arn);
    Ok(())
}

/// One by one: as `envFrom` the Secret could set proxies and endpoints. The token belongs to temporary keys.
#[test]
fn keys_and_their_token_can_be_given_in_a_secret() -> Result<()> {
    let release = Release::new()?;
    for (flag, deployment) in
        [("--infrastructure", "foo-controller-manager"), ("--runtime-extension", "foo-extension")]
    {
        let objects = release.clusterctl(&["generate", "provider", flag, "foo:v0.1.0"], &[])?;
        let container =
            &named(&objects, "Deployment", deployment)["spec"]["template"]["spec"]["containers"][0];
        assert!(container["envFrom"].is_null(), "{container}");
        let entries = container["env"].as_array().context("no variables")?;
        for key in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
            let entry = entries.iter().find(|entry| entry["name"] == key).context(key)?;
            let expected = json!({"name": "foo-aws-credentials", "key": key, "optional": true});
            assert_eq!(entry["valueFrom"]["secretKeyRef"], expected, "{deployment}: {key}");
        }
    }
    Ok(())
}

#[test]
fn a_queue_of_events_can_be_given_and_need_not_be() -> Result<()> {
    let release = Release::new()?;
    let generate = ["generate", "provider", "--infrastructure", "foo:v0.1.0"];
    let given = [("FOO_EVENTS_QUEUE_URL", "https://sqs.eu-central-1.amazonaws.com/123456789012/foo-events")];
    for variables in [&given[..0], &given[..]] {
        let objects = release.clusterctl(&generate, variables)?;
        let manager = named(&objects, "Deployment", "foo-controller-manager");
        let env = &manager["spec"]["template"]["spec"]["containers"][0]["env"];
        let entries = env.as_array().context("no variables")?;
        let queue = entries.iter().find(|entry| entry["name"] == "FOO_EVENTS_QUEUE_URL").context("none")?;
        let expected = variables.first().map_or("", |(_, url)| *url);
        // clusterctl leaves nothing of an empty default, which is the same to Kubernetes.
        assert_eq!(queue["value"].as_str().unwrap_or_default(), expected);
    }
    Ok(())
}

/// Its output can be read by the provider's types.
#[test]
fn the_cluster_template_creates_a_cluster_with_a_pool() -> Result<()> {
    let objects = Release::new()?.clusterctl(
        &[
            "generate",
            "cluster",
            "c1",
            "--infrastructure",
            "foo:v0.1.0",
            "--kubernetes-version",
            "v1.36.3",
            "--worker-machine-count",
            "3",
            "--target-namespace",
            "team-a",
        ],
        &[
            ("AWS_REGION", "eu-central-1"),
            ("FOO_SUBNETS", "[{id: subnet-0a}, {id: subnet-0b}]"),
            ("FOO_AMI_ID", "ami-0a"),
            ("FOO_INSTANCE_PROFILE", "nodes"),
            ("FOO_KUBECONFIG_SECRET", "c1-external"),
            ("FOO_BOOTSTRAP_SECRET", "c1-bootstrap"),
        ],
    )?;
    assert!(objects.iter().all(|object| object["metadata"]["namespace"] == "team-a"));
    let cluster: foo_api::FooCluster = serde_json::from_value(named(&objects, "FooCluster", "c1").clone())?;
    assert_eq!(cluster.spec.network.existing.map_or(0, |network| network.subnets.len()), 2);
    let pool: foo_api::FooMachinePool =
        serde_json::from_value(named(&objects, "FooMachinePool", "c1-workers").clone())?;
    assert_eq!((pool.spec.max_size, pool.spec.ssh_key_name), (Some(100), None));
    let control_plane: foo_api::FooControlPlane =
        serde_json::from_value(named(&objects, "FooControlPlane", "c1").clone())?;
    let external = control_plane.spec.external.map(|external| external.kubeconfig_secret_ref.name);
    assert_eq!(external.as_deref(), Some("c1-external"));
    let machine_pool: foo_api::capi::MachinePool =
        serde_json::from_value(named(&objects, "MachinePool", "c1-workers").clone())?;
    assert_eq!(machine_pool.spec.replicas, Some(3));
    let reference = machine_pool.spec.template.spec.infrastructure_ref;
    assert_eq!((reference.kind.as_str(), reference.name.as_str()), ("FooMachinePool", "c1-workers"));
    Ok(())
}
