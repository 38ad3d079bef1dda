//! docs/quickstart.md from the Cluster on: its commands, before the simulated AWS, with the IAM policies in force that
//! its first step attaches to the manager's user. What installs the providers is tested in `install/documents.rs`.

#[path = "../../../../crates/simulator/src/tests/shipped.rs"]
mod shipped;

use super::class::{VERSIONS, publish_images};
use super::parts::{run_alone, simulated};
use anyhow::{Result, ensure};
use foo_e2e::document::Reader;
use foo_simulator::{AccessKey, DEFAULT_ACCOUNT, InstanceProfile, Policy};
use foo_testbed::world::REGION;
use foo_testbed::{World, service_role};
use std::time::Duration;

const PAGE: &str = "docs/quickstart.md";
/// Those that the stack has with the parameters of the page.
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
        attach(world, serde_json::from_value(shipped::shipped(&POLICIES, &[])?)?);
        let followed = follows(world).await;
        world.aws().simulator().remove_key(MANAGER.0);
        followed
    });
}
