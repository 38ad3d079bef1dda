//! What is in the simulated AWS: instances as their kubelets register them, and roles as an administrator makes them.

use crate::NodeSpec;
use foo_simulator::{NodeInstance, Role};

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
