//! docs/quickstart.md from the Cluster on: its commands, before the simulated AWS, with the IAM policies in force that
//! its first step attaches to the manager's user. What installs the providers is tested in `install/documents.rs`.

use crate::class::{VERSIONS, publish_images};
use crate::parts::{run_alone, simulated};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_simulator::{AccessKey, DEFAULT_ACCOUNT, InstanceProfile, Policy};
use foo_testbed::world::REGION;
use foo_testbed::{World, service_role};
use serde_json::{Value, json};
use std::time::Duration;

const PAGE: &str = "docs/quickstart.md";
/// The stack with the policies, and those that it has with the parameters of the page.
const STACK: &str = include_str!("../../../../deploy/aws/iam.yaml");
const POLICIES: [&str; 3] = ["Policy", "NetworkPolicy", "ControlPlanePolicy"];
/// The stack with the roles, whose default for `Name` is the name of the page's Cluster.
const ROLES: &str = include_str!("../../../../deploy/aws/roles.yaml");
const NAME: &str = "first";
/// The key of the manager, as the testbed gives it: AWS's own example.
const MANAGER: (&str, &str) = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");

fn attach(world: &World, policy: Policy) {
    let (id, secret) = (MANAGER.0.to_owned(), MANAGER.1.to_owned());
    world.aws().simulator().put_key(AccessKey { id, secret, policy: Some(policy) });
}

fn shipped() -> Result<Policy> {
    let stack = xtask::yaml::parse(STACK)?.into_iter().next().context("an empty stack")?;
    let mut statements = Vec::new();
    for policy in POLICIES {
        let policy = stack.pointer(&format!("/Resources/{policy}/Properties/PolicyDocument/Statement"));
        let policy = policy.and_then(Value::as_array).context("a policy of the stack")?;
        statements.extend(policy.iter().map(|statement| filled(statement, &stack)));
    }
    let shipped = json!({"Version": "2012-10-17", "Statement": statements});
    ensure!(!shipped.to_string().contains("${"), "{shipped}");
    Ok(serde_json::from_value(shipped)?)
}

/// A part of the stack with the defaults of its parameters, as CloudFormation fills in `Fn::Sub`.
fn filled(part: &Value, stack: &Value) -> Value {
    let parameters = stack.get("Parameters").and_then(Value::as_object);
    match part {
        Value::Object(fields) => match fields.get("Fn::Sub").and_then(Value::as_str) {
            Some(text) => parameters
                .into_iter()
                .flatten()
                .fold(text.to_owned(), |text, (name, parameter)| {
                    let default = parameter.get("Default").and_then(Value::as_str).unwrap_or_default();
                    text.replace(&format!("${{{name}}}"), default)
                })
                .into(),
            None => fields.iter().map(|(name, value)| (name.clone(), filled(value, stack))).collect(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, stack)).collect(),
        other => other.clone(),
    }
}

/// What the second stack creates; its names are in the template.
fn create_roles(world: &World) -> Result<()> {
    let simulator = world.aws().simulator();
    for (suffix, service) in [
        ("eks.infrastructure.foo.com", "eks.amazonaws.com"),
        ("nodes.infrastructure.foo.com", "ec2.amazonaws.com"),
    ] {
        ensure!(ROLES.contains(&format!("RoleName: !Sub \"${{Name}}.{suffix}\"")), "{suffix}");
        ensure!(
            ROLES.contains(&format!("Service: {service}")) && ROLES.contains(&format!("Default: {NAME}\n"))
        );
        simulator.put_role(service_role(&format!("{NAME}.{suffix}"), service));
    }
    let name = format!("{NAME}.nodes.infrastructure.foo.com");
    ensure!(ROLES.contains("InstanceProfileName: !Sub \"${Name}.nodes.infrastructure.foo.com\""));
    simulator.put_instance_profile(InstanceProfile { name: name.clone(), role: Some(name) });
    Ok(())
}

async fn follows(world: &World) -> Result<()> {
    let cluster = world.existing_cluster("default", NAME);
    let reader = Reader::of_release(world).await?;
    let foreign = format!(
        "export AWS_REGION={REGION} AWS_ACCOUNT_ID={DEFAULT_ACCOUNT} KUBERNETES_VERSION={}",
        VERSIONS[0]
    );
    reader.run(&foreign).await?;
    let printed = reader.follow(PAGE, "5. Create the cluster").await?;
    ensure!(printed.contains("foomachinepool") && printed.contains("condition met"), "{printed}");
    let printed = reader.follow(PAGE, "6. Use it").await?;
    let nodes = printed.lines().filter(|line| line.contains(" Ready ") && line.contains(VERSIONS[0]));
    ensure!(nodes.count() == 2, "{printed}");
    reader.follow(PAGE, "7. Delete everything").await?;
    ensure!(simulated(&cluster).is_none(), "the EKS cluster is left");
    let left = foo_testbed::world::network::ids(&world.aws().network("default", NAME)?);
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    world.check_nothing_forbidden()
}

#[test]
fn the_quick_start_leads_to_nodes_with_the_shipped_policies_and_leaves_nothing() {
    run_alone(async |world| {
        publish_images(world)?;
        create_roles(world)?;
        world.aws().region().change_settings(|settings| {
            settings.nat_gateway_create = Duration::from_secs(3);
            settings.nat_gateway_delete = Duration::from_secs(3);
        })?;
        attach(world, shipped()?);
        let followed = follows(world).await;
        world.aws().simulator().remove_key(MANAGER.0);
        followed
    });
}
