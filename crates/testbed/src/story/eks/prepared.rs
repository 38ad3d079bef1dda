//! What is in the AWS account before the story begins: the roles that an administrator made, and the images that AWS publishes for
//! each Kubernetes version of the story.

use super::manifest::VERSIONS;
use crate::simulated::service_role;
use crate::world::World;
use anyhow::{Context as _, Result};
use foo_model::ImageId;
use foo_simulator::InstanceProfile;
use foo_simulator::core::catalogue::{IMAGE_X86_64, Image};
use std::time::Duration;

/// The role of control planes.
pub(super) const CONTROL_PLANE_ROLE: &str = "eks-control-plane";
/// The role of nodes; its instance profile has the same name.
pub(super) const NODE_ROLE: &str = "eks-nodes";

/// A NAT gateway takes this long, instead of minutes.
const NAT_GATEWAY: Duration = Duration::from_secs(5);

/// Makes all of it.
pub(super) fn prepare(world: &World) -> Result<()> {
    let simulator = world.aws().simulator();
    simulator.put_role(service_role(CONTROL_PLANE_ROLE, "eks.amazonaws.com"));
    simulator.put_role(service_role(NODE_ROLE, "ec2.amazonaws.com"));
    let profile = InstanceProfile { name: NODE_ROLE.to_owned(), role: Some(NODE_ROLE.to_owned()) };
    simulator.put_instance_profile(profile);
    for version in VERSIONS {
        publish_images(world, version)?;
    }
    world.aws().region().change_settings(|settings| {
        settings.nat_gateway_create = NAT_GATEWAY;
        settings.nat_gateway_delete = NAT_GATEWAY;
    })?;
    Ok(())
}

/// An image of each family, and the parameters that name them (EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs";
/// Bottlerocket documentation).
fn publish_images(world: &World, version: &str) -> Result<()> {
    let region = world.aws().region();
    let model = region.with(|region| region.images.get(&ImageId::new(IMAGE_X86_64)).cloned())?;
    let model = model.context("the region has no images")?;
    let minor = minor_of(version).context("a version without minor")?;
    let linux = format!(
        "/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/x86_64/standard/recommended/image_id"
    );
    let rockets = format!("/aws/service/bottlerocket/aws-k8s-{minor}/x86_64/latest/image_id");
    for (family, digit, parameter) in [("al2023", 1, linux), ("bottlerocket", 2, rockets)] {
        let id = format!("ami-0e50000000000{}{digit}", minor.replace('.', ""));
        let name = format!("{family}-node-{version}-x86_64");
        region.put_image(Image { id: ImageId::new(id.as_str()), name, ..model.clone() })?;
        region.publish_parameter(&parameter, &id)?;
    }
    Ok(())
}

/// `1.34` of `v1.34.0`.
fn minor_of(version: &str) -> Option<String> {
    let mut numbers = version.strip_prefix('v')?.split('.');
    Some(format!("{}.{}", numbers.next()?, numbers.next()?))
}
