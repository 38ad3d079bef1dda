//! The real Helm renders the chart as kustomize renders deploy/default, and what its values say.

use super::{VERSION, printed, tool};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

struct Chart {
    folder: TempDir,
    archive: PathBuf,
}

/// Kind and name.
type Objects = BTreeMap<(String, String), Value>;

impl Chart {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let archive = xtask::chart::write(&xtask::root(), VERSION, xtask::release::IMAGE, folder.path())?;
        Ok(Self { folder, archive })
    }

    fn helm(&self, command: &[&str], arguments: &[&str]) -> Result<String> {
        let mut helm = tool("helm");
        helm.args(command).arg(&self.archive).args(arguments).env_clear().env("HOME", self.folder.path());
        printed(&mut helm)
    }

    /// What would be installed in this namespace.
    fn rendered(&self, namespace: &str, arguments: &[&str]) -> Result<Objects> {
        let arguments = [&["--namespace", namespace], arguments].concat();
        by_name(&self.helm(&["template", "foo"], &arguments)?)
    }
}

fn by_name(text: &str) -> Result<Objects> {
    let objects: Vec<Value> = serde_saphyr::from_multiple(text).context("reading objects")?;
    let name = |object: &Value, pointer| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let objects = objects.into_iter().filter(|object| !object.is_null()).map(|object| {
        let kind = name(&object, "/kind").context("no kind")?;
        Ok(((kind, name(&object, "/metadata/name").context("no name")?), object))
    });
    objects.collect()
}

fn kustomized() -> Result<Objects> {
    let folder = xtask::root().join("deploy/default");
    by_name(&printed(tool("kubectl").arg("kustomize").arg(folder))?)
}

/// Kustomize folds long texts, and readers of YAML differ in how they unfold lines that are indented further.
fn with_single_breaks(value: &Value) -> Value {
    match value {
        Value::String(text) => text.replace("\n\n", "\n").into(),
        Value::Array(items) => items.iter().map(with_single_breaks).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), with_single_breaks(field))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn deployment(objects: &Objects) -> &Value {
    let manager = ("Deployment".to_owned(), "foo-controller-manager".to_owned());
    &objects[&manager]["spec"]
}

#[test]
fn helm_renders_what_kustomize_does() -> Result<()> {
    let mut with_helm = Chart::new()?.rendered("foo-system", &[])?;
    let mut with_kustomize = kustomized()?;
    // Helm creates the namespace itself.
    with_kustomize.retain(|(kind, _), _| kind != "Namespace");
    let mut crds = 0;
    for ((kind, name), object) in &mut with_helm {
        if kind == "CustomResourceDefinition" {
            let metadata = object["metadata"].as_object_mut().context("no metadata")?;
            let annotations = metadata.get_mut("annotations").and_then(Value::as_object_mut);
            let annotations = annotations.context("no annotations")?;
            let policy = annotations.remove("helm.sh/resource-policy");
            assert_eq!(
                policy,
                Some("keep".into()),
                "{name} would be deleted with the chart, and its objects, too"
            );
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
            crds += 1;
        }
    }
    assert_eq!(crds, 11);
    assert_eq!(with_helm.keys().collect::<Vec<_>>(), with_kustomize.keys().collect::<Vec<_>>());
    for (name, object) in with_kustomize {
        similar_asserts::assert_eq!(
            with_single_breaks(&with_helm[&name]),
            with_single_breaks(&object),
            "{name:?}"
        );
    }
    Ok(())
}

#[test]
fn values_change_what_they_say() -> Result<()> {
    let chart = Chart::new()?;
    let role = "arn:aws:iam::123456789012:role/foo";
    let values = [
        "--set=replicas=2",
        "--set=image.repository=registry.example.com/foo,image.tag=v0.1.1",
        "--set=extraArgs={--require-identity,--aws-qps=5}",
        "--set=extraEnv[0].name=HTTPS_PROXY,extraEnv[0].value=http://proxy:3128",
        &format!(r"--set=serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn={role}")
            .replace(r"\\", r"\"),
        "--set=nodeSelector.pool=system,priorityClassName=system-cluster-critical",
        "--set=imagePullSecrets[0].name=registry",
        "--set=resources.limits.memory=1Gi",
    ];
    let objects = chart.rendered("elsewhere", &values)?;
    let spec = deployment(&objects);
    let (pod, container) = (&spec["template"]["spec"], &spec["template"]["spec"]["containers"][0]);
    assert_eq!(
        (&spec["replicas"], &container["image"]),
        (&2.into(), &"registry.example.com/foo:v0.1.1".into())
    );
    let args: Vec<&str> =
        container["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    ensure!(
        args.starts_with(&["--leader-elect"]) && args.ends_with(&["--require-identity", "--aws-qps=5"]),
        "{args:?}"
    );
    let env = container["env"].as_array().context("no env")?;
    assert_eq!(
        (&env[0]["name"], &env.last().context("no env")?["value"]),
        (&"POD_NAMESPACE".into(), &"http://proxy:3128".into())
    );
    assert_eq!(
        (&pod["nodeSelector"]["pool"], &pod["imagePullSecrets"][0]["name"]),
        (&"system".into(), &"registry".into())
    );
    assert_eq!(pod["priorityClassName"], "system-cluster-critical");
    let resources = &container["resources"];
    assert_eq!(
        (&resources["limits"]["memory"], &resources["requests"]["cpu"]),
        (&"1Gi".into(), &"50m".into())
    );
    let account = ("ServiceAccount".to_owned(), "foo-manager".to_owned());
    assert_eq!(objects[&account]["metadata"]["annotations"]["eks.amazonaws.com/role-arn"], role);
    for (name, object) in &objects {
        ensure!(
            !object.to_string().contains("foo-system"),
            "{name:?} is in another namespace than the release"
        );
    }

    let digest = format!("sha256:{}", "0".repeat(64));
    let objects = chart.rendered("foo-system", &[&format!("--set=image.digest={digest}")])?;
    let image = &deployment(&objects)["template"]["spec"]["containers"][0]["image"];
    assert_eq!(*image, format!("{}@{digest}", xtask::release::IMAGE));
    Ok(())
}

#[test]
fn helm_finds_no_fault_and_a_value_that_does_not_exist_is_refused() -> Result<()> {
    let chart = Chart::new()?;
    chart.helm(&["lint", "--strict"], &[])?;
    for wrong in [
        "replicaCount=2",
        "image.name=foo",
        "image.digest=sha256:0",
        "extraArgs={require-identity}",
        "replicas=two",
    ] {
        let error = chart.rendered("foo-system", &["--set", wrong]).err().map(|it| format!("{it:#}"));
        ensure!(error.as_ref().is_some_and(|it| it.contains("schema")), "{wrong}: {error:?}");
    }
    Ok(())
}
