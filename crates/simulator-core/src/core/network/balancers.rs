//! Load balancers and target groups, as far as they block the deletion of a network: AWS calls of the simulator
//! delete them, but do not create them (Elastic Load Balancing API References, DeleteLoadBalancer,
//! DeleteTargetGroup).

use super::step::Step;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::InterfaceId;
use foo_model::network::{Interface, LoadBalancer, LoadBalancerKind, Parts, TargetGroup};

/// The description of the interfaces of a load balancer (Elastic Load Balancing User Guides): `ELB <name>` or
/// `ELB app/<name>/<id>`.
pub(super) fn description(balancer: &LoadBalancer) -> String {
    let path = balancer.arn.as_deref().and_then(|arn| arn.split_once(":loadbalancer/"));
    format!("ELB {}", path.map_or(balancer.name.as_str(), |(_, path)| path))
}

impl Networking<'_> {
    /// DeleteLoadBalancer of either API. A load balancer that does not exist is not an error. Its interfaces remain
    /// for a while.
    pub(super) fn delete_load_balancer(
        &mut self,
        kind: LoadBalancerKind,
        name: &str,
        arn: Option<&str>,
    ) -> AwsResult<Parts> {
        let classic = kind == LoadBalancerKind::Classic;
        let key = if classic { Some(name) } else { arn };
        let Some(key) = key.map(str::to_owned) else { return Err(AwsError::missing("LoadBalancerArn")) };
        let found = self.network.load_balancers.get(&key).cloned();
        let Some(balancer) = found.filter(|it| (it.kind == LoadBalancerKind::Classic) == classic) else {
            return Ok(Parts::default());
        };
        if self.network.protected_balancers.contains(&key) {
            return Err(AwsError::new(
                "OperationNotPermitted",
                format!("Load balancer '{key}' cannot be deleted because deletion protection is enabled"),
            ));
        }
        self.network.remove::<LoadBalancer>(&key);
        self.network.targeted.retain(|_, balancer| balancer != &key);
        self.later(self.settings.load_balancer_delete, Step::BalancerGone(description(&balancer)));
        Ok(Parts::default())
    }

    pub(super) fn balancer_gone(&mut self, description: &str) {
        let of = |it: &&Interface| it.requester_managed && it.description == description;
        let found: Vec<InterfaceId> =
            self.network.all::<Interface>().filter(of).map(|it| it.id.clone()).collect();
        for interface in found {
            self.network.remove_interface(&interface);
        }
    }

    /// DeleteTargetGroup. A target group that does not exist is not an error.
    pub(super) fn delete_target_group(&mut self, arn: &str) -> AwsResult<Parts> {
        if self.network.targeted.contains_key(arn) {
            return Err(AwsError::new(
                "ResourceInUse",
                format!("Target group '{arn}' is currently in use by a listener or a rule"),
            ));
        }
        self.network.remove::<TargetGroup>(&arn.to_owned());
        Ok(Parts::default())
    }
}
