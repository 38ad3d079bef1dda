//! Load balancers: instances are registered, new ones count once they are healthy, an unhealthy one is drained and replaced.

use super::WORLD;
use anyhow::{Context as _, Result, ensure};
use foo_model::network::LoadBalancerKind;
use foo_model::{InstanceId, TargetGroupArn, TargetState};
use foo_simulator::core::network::{NewLoadBalancer, PRIVATE_SUBNETS};
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{AFTER_DRAIN, MachineView, QUIET_PERIOD, SOON, World};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The target group of a new load balancer of another user.
fn target_group(world: &World, name: &str) -> Result<TargetGroupArn> {
    let new = NewLoadBalancer {
        name: name.to_owned(),
        kind: LoadBalancerKind::Network,
        subnets: PRIVATE_SUBNETS.map(Into::into).into(),
        groups: BTreeSet::new(),
        internet_facing: false,
        deletion_protection: false,
        target_groups: [name.to_owned()].into(),
        tags: BTreeMap::new(),
    };
    world.aws().region().put_load_balancer(new)?;
    let arns =
        world.aws().region().with(|region| region.network.targeted.keys().cloned().collect::<Vec<_>>())?;
    let of = format!(":targetgroup/{name}/");
    Ok(TargetGroupArn::new(arns.into_iter().find(|arn| arn.contains(&of)).context("no target group")?))
}

fn states(world: &World, arn: &TargetGroupArn) -> Result<BTreeMap<InstanceId, TargetState>> {
    let targets = world.aws().region().target_health(arn).context("no target group")?;
    Ok(targets.into_iter().map(|(id, health)| (id, health.state)).collect())
}

#[test]
fn a_pool_behind_a_load_balancer_replaces_what_is_unhealthy_and_waits_for_what_is_not_healthy_yet() {
    WORLD.run(async |world| {
        let region = world.aws().region();
        region.change_settings(|settings| {
            settings.target_checks = Duration::from_secs(1);
            settings.deregistration_delay = Duration::from_secs(5);
        })?;
        let arn = target_group(world, "web")?;
        let pool = world
            .cluster("traffic")
            .await?
            .pool_with("workers", 2, |_, foo| {
                foo["spec"]["targetGroups"] = json!([arn.as_str()]);
                foo["spec"]["targetHealth"] = json!({"gracePeriodSeconds": 0});
            })
            .await?;
        let before = pool.settles_at(2).await?;
        let registered: BTreeSet<InstanceId> = states(world, &arn)?.into_keys().collect();
        let members: BTreeSet<InstanceId> =
            before.machines.iter().map(|it| it.instance.as_str().into()).collect();
        assert_eq!(registered, members);

        // Its Node is fine: the load balancer alone reports it.
        let failing = before.machines[0].instance.clone();
        let id = InstanceId::from(failing.as_str());
        region.set_target_state(&id, Some(TargetState::Unhealthy))?;
        pool.wait("its Machine to be deleted", SOON, |now| {
            now.deleting().map(|machine: &MachineView| machine.instance.clone()).eq([failing.clone()])
        })
        .await?;
        let after = pool.settles_within(2, AFTER_DRAIN).await?;
        let stays = |id: &str| after.machines.iter().any(|machine| machine.instance == id);
        ensure!(!stays(&failing) && stays(&before.machines[1].instance), "{after}");
        assert_eq!(states(world, &arn)?.len(), 2);

        // New instances take an hour to become healthy: the roll-out launches one and deletes nothing.
        region.change_settings(|settings| settings.target_checks = Duration::from_hours(1))?;
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"instanceType": "m6i.large"}})).await?;
        pool.wait("the roll-out to wait for the load balancer", SOON, |now| {
            now.condition("RollingOut").is_some_and(|(_, _, message)| {
                message.ends_with("to become healthy in the target groups of spec.targetGroups")
            })
        })
        .await?;
        pool.stays("with its instances", QUIET_PERIOD, |now| {
            now.deleting().next().is_none() && now.machines.len() == 3
        })
        .await?;
        region.change_settings(|settings| settings.target_checks = Duration::from_secs(1))?;
        pool.wait("old instances to be replaced", AFTER_DRAIN, |now| {
            let old = |machine: &MachineView| after.machines.iter().any(|it| it.instance == machine.instance);
            now.machines.len() == 2 && !now.machines.iter().any(old)
        })
        .await?;

        pool.patch(Kind::FooMachinePool, &json!({"spec": {"targetGroups": [], "targetHealth": null}}))
            .await?;
        pool.wait("the target group to be detached", SOON, |now| {
            now.condition("AutoScalingGroupReady").is_some_and(|(status, ..)| status == "True")
                && states(world, &arn).is_ok_and(|targets| targets.is_empty())
        })
        .await?;
        Ok(())
    });
}
