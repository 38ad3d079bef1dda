//! What is in the AWS account before the story begins.

use super::manifest::VERSIONS;
use crate::simulated::{prepare_eks, publish_images};
use crate::world::World;
use anyhow::Result;
use std::time::Duration;

/// A NAT gateway takes this long, instead of minutes.
const NAT_GATEWAY: Duration = Duration::from_secs(5);

/// Creates all of it.
pub(super) fn prepare(world: &World) -> Result<()> {
    prepare_eks(world.aws().simulator());
    publish_images(world.aws().region(), &VERSIONS)?;
    world.aws().region().change_settings(|settings| {
        settings.nat_gateway_create = NAT_GATEWAY;
        settings.nat_gateway_delete = NAT_GATEWAY;
    })?;
    Ok(())
}
