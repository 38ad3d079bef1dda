//! docs/reference/template-variables.md documents every variable that clusterctl finds in the release.

use super::{Release, VERSION};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeMap;

const FLAVOURS: [&str; 8] =
    ["default", "spot", "mixed", "managed-network", "topology", "extension", "eks", "eks-extension"];

/// Rows of the table below a heading that begins with `Variable`, as cells without backticks.
fn table(heading: &str) -> Result<Vec<Vec<String>>> {
    let page = std::fs::read_to_string(xtask::root().join("docs/reference/template-variables.md"))?;
    let section = page.split("\n## ").find(|it| it.starts_with(heading)).context("no such section")?;
    let rows = section.lines().skip_while(|line| !line.starts_with("| Variable |")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cells =
        |line: &str| line.split('|').skip(1).map(|cell| cell.trim().replace('`', "")).collect::<Vec<_>>();
    Ok(rows.map(cells).collect())
}

/// Name and default, `required` if there is none.
type Variables = BTreeMap<String, String>;

/// What clusterctl lists of a flavour. The defaults of its own variables are its own business.
fn listed(release: &Release, flavour: &str) -> Result<Variables> {
    let mut arguments = vec![
        "generate",
        "cluster",
        "c1",
        "--infrastructure",
        "foo:v0.1.0",
        "--target-namespace",
        "default",
        "--list-variables",
    ];
    if flavour != "default" {
        arguments.extend(["--flavor", flavour]);
    }
    let text = release.run(&arguments, &[])?;
    let lines = text.lines().filter_map(|line| line.strip_prefix("  - "));
    Ok(lines
        .map(|line| {
            let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
            let default = rest.trim().strip_prefix("(defaults to \"").and_then(|it| it.strip_suffix("\")"));
            (name.to_owned(), default.unwrap_or("required").to_owned())
        })
        .collect())
}

#[test]
fn every_variable_of_every_flavour_is_documented_with_its_default() -> Result<()> {
    let release = Release::new()?;
    let mut documented: BTreeMap<&str, Variables> = BTreeMap::new();
    for row in table("Cluster templates")? {
        let [name, flavours, default, ..] = row.as_slice() else { panic!("too few cells: {row:?}") };
        for flavour in FLAVOURS {
            if flavours == "all" || flavours.split(", ").any(|it| it == flavour) {
                documented.entry(flavour).or_default().insert(name.clone(), default.clone());
            }
        }
    }
    for flavour in FLAVOURS {
        assert_eq!(documented[flavour], listed(&release, flavour)?, "flavour {flavour}");
    }
    Ok(())
}

/// Those that have no default in any flavour.
const REQUIRED: [(&str, &str); 8] = [
    ("AWS_REGION", "eu-central-1"),
    ("FOO_SUBNETS", "[{id: subnet-0a}, {id: subnet-0b}]"),
    ("FOO_AMI_ID", "ami-0a"),
    ("FOO_IMAGES", "[{version: v1.36.3, id: ami-0a}]"),
    ("FOO_INSTANCE_PROFILE", "nodes"),
    ("FOO_CONTROL_PLANE_ROLE_ARN", "arn:aws:iam::123456789012:role/first.eks.infrastructure.foo.com"),
    ("FOO_KUBECONFIG_SECRET", "c1-existing"),
    ("FOO_BOOTSTRAP_SECRET", "c1-bootstrap"),
];

/// The replicas of the only pool of a flavour, with these arguments.
fn replicas(release: &Release, flavour: &str, count: Option<&str>) -> Result<Value> {
    let mut arguments = vec!["generate", "cluster", "c1", "--infrastructure", "foo:v0.1.0"];
    arguments.extend(["--target-namespace", "default", "--kubernetes-version", "v1.36.3"]);
    if flavour != "default" {
        arguments.extend(["--flavor", flavour]);
    }
    arguments.extend(count.into_iter().flat_map(|count| ["--worker-machine-count", count]));
    let objects = release.clusterctl(&arguments, &REQUIRED)?;
    let of_pool = |object: &Value| match object["kind"].as_str() {
        Some("MachinePool") => Some(object["spec"]["replicas"].clone()),
        Some("Cluster") => {
            let pools = object["spec"]["topology"]["workers"]["machinePools"].as_array()?;
            Some(pools.iter().map(|pool| pool["replicas"].clone()).collect())
        }
        _ => None,
    };
    let found: Vec<Value> = objects.iter().filter_map(of_pool).collect();
    let [found] = found.as_slice() else { panic!("{flavour}: not one pool: {found:?}") };
    Ok(found.as_array().map_or_else(|| found.clone(), |pools| pools[0].clone()))
}

/// clusterctl's own default is 0, and a pool without Nodes is no first cluster.
#[test]
fn a_pool_has_two_replicas_unless_more_are_requested() -> Result<()> {
    let release = Release::new()?;
    for flavour in FLAVOURS {
        for (count, expected) in [(None, 2), (Some("0"), 2), (Some("1"), 1), (Some("10"), 10)] {
            assert_eq!(replicas(&release, flavour, count)?, expected, "flavour {flavour}, {count:?}");
        }
    }
    Ok(())
}

#[test]
fn every_variable_of_the_classes_is_documented_with_its_default() -> Result<()> {
    let release = Release::new()?;
    variables_are_documented(&release, "clusterclass-foo.yaml", "ClusterClass foo\n")?;
    variables_are_documented(&release, "clusterclass-foo-eks.yaml", "ClusterClass foo-eks\n")
}

fn variables_are_documented(release: &Release, file: &str, heading: &str) -> Result<()> {
    let path = format!("release/infrastructure-foo/{VERSION}/{file}");
    let text = std::fs::read_to_string(release.folder.path().join(path))?;
    let objects: Vec<Value> = serde_saphyr::from_multiple(&text)?;
    let variables = objects[0]["spec"]["variables"].as_array().context("no variables")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found: Vec<(String, String)> = variables
        .iter()
        .map(|variable| {
            let default = &variable["schema"]["openAPIV3Schema"]["default"];
            assert_eq!(variable["required"], default.is_null(), "{variable}");
            let default = if default.is_null() { "required".to_owned() } else { default.to_string() };
            (text(&variable["name"]), default)
        })
        .collect();
    let documented: Vec<(String, String)> =
        table(heading)?.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    assert_eq!(documented, found);
    Ok(())
}

#[test]
fn every_variable_of_the_components_is_documented_with_its_default() -> Result<()> {
    let release = Release::new()?;
    let rows = table("Components")?;
    for (provider, label) in [
        ("infrastructure", "infrastructure-foo"),
        ("control-plane", "control-plane-foo"),
        ("runtime-extension", "runtime-extension-foo"),
    ] {
        let path = format!("release/{label}/{VERSION}/{provider}-components.yaml");
        let path = release.folder.path().join(path);
        let listed = release.run(
            &["generate", "yaml", "--from", path.to_str().context("a path")?, "--list-variables"],
            &[],
        )?;
        let listed: Vec<&str> = listed.lines().filter_map(|line| line.trim().strip_prefix("- ")).collect();
        let rows = rows.iter().filter(|row| row[1] == "all" || row[1] == provider);
        let mut documented: Vec<&str> = rows.clone().map(|row| row[0].as_str()).collect();
        documented.sort_unstable();
        assert_eq!(documented, listed, "{label}");
        let text = std::fs::read_to_string(&path)?;
        for row in rows {
            assert!(text.contains(&format!("${{{}:={}}}", row[0], row[2])), "{row:?}");
        }
    }
    Ok(())
}
