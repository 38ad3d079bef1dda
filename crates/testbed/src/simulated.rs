//! Instances of the simulated AWS as their kubelets register them.

use crate::NodeSpec;
use foo_simulator::NodeInstance;

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
