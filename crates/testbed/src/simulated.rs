//! What is in the simulated AWS: instances as their kubelets register them, roles as an administrator creates them, and
//! images as AWS publishes them.

use crate::NodeSpec;
use anyhow::{Context as _, Result};
use foo_model::ImageId;
use foo_simulator::core::catalogue::{IMAGE_X86_64, Image};
use foo_simulator::{InstanceProfile, NodeInstance, RegionHandle, Role, Simulator};

/// The role of control planes that [`prepare_eks`] creates.
pub const CONTROL_PLANE_ROLE: &str = "eks-control-plane";
/// The role of nodes that [`prepare_eks`] creates; its instance profile has the same name.
pub const NODE_ROLE: &str = "eks-nodes";

/// Label on each Node: the Auto Scaling group of its instance (as a label value).
pub const GROUP_LABEL: &str = "foo.test/group";

/// The Node of an instance, with what does not come from its user data.
pub(crate) fn node(instance: &NodeInstance) -> NodeSpec {
    let provider_id = format!("aws:///{}/{}", instance.zone, instance.id);
    let group = instance.group.as_ref().map(|name| foo_api::labels::must_format_value(name.as_str()));
    NodeSpec {
        zone: instance.zone.to_string(),
        instance_type: instance.instance_type.to_string(),
        labels: group.into_iter().map(|group| (GROUP_LABEL.to_owned(), group)).collect(),
        ..NodeSpec::new(&instance.private_dns, provider_id)
    }
}

/// A role without limits that a service may assume (`ec2.amazonaws.com`).
pub fn service_role(name: &str, service: &str) -> Role {
    Role {
        name: name.to_owned(),
        policy: None,
        path: "/".to_owned(),
        services: vec![service.to_owned()],
        trusts: Vec::new(),
        external_id: None,
        web_identity: None,
        max_session_seconds: 3_600,
        session_seconds: None,
    }
}

/// What an administrator of the account prepares for EKS: the role of control planes, and the role and instance profile
/// of nodes.
pub fn prepare_eks(simulator: &Simulator) {
    simulator.put_role(service_role(CONTROL_PLANE_ROLE, "eks.amazonaws.com"));
    simulator.put_role(service_role(NODE_ROLE, "ec2.amazonaws.com"));
    let profile = InstanceProfile { name: NODE_ROLE.to_owned(), role: Some(NODE_ROLE.to_owned()) };
    simulator.put_instance_profile(profile);
}

/// For each version that kubelets report, as `v1.34.2-eks-113cf36`, an image of each family, and the parameters by
/// which AWS recommends them (EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs"; Bottlerocket documentation).
pub fn publish_images(region: &RegionHandle, versions: &[&str]) -> Result<()> {
    let model = region.with(|region| region.images.get(&ImageId::new(IMAGE_X86_64)).cloned())?;
    let model = model.context("the region has no images")?;
    for version in versions {
        let minor = minor_of(version).with_context(|| format!("a version without minor: {version}"))?;
        let linux = format!(
            "/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/x86_64/standard/recommended/image_id"
        );
        let bottlerocket = format!("/aws/service/bottlerocket/aws-k8s-{minor}/x86_64/latest/image_id");
        for (family, digit, parameter) in [("al2023", 1, linux), ("bottlerocket", 2, bottlerocket)] {
            let id = format!("ami-0e50000000000{}{digit}", minor.replace('.', ""));
            let name = format!("{family}-node-{version}-x86_64");
            region.put_image(Image { id: ImageId::new(id.as_str()), name, ..model.clone() })?;
            region.publish_parameter(&parameter, &id)?;
        }
    }
    Ok(())
}

/// `1.34` of `v1.34.0`.
fn minor_of(version: &str) -> Option<String> {
    let mut numbers = version.strip_prefix('v')?.split('.');
    Some(format!("{}.{}", numbers.next()?, numbers.next()?))
}
