//! Reserved capacity: instances use it, and a change of it replaces them.

use super::WORLD;
use anyhow::{Context as _, Result};
use foo_model::network::Tags;
use foo_simulator::core::ec2::capacity::{MatchCriteria, Strategy};
use foo_simulator::core::rules::capacity::NewReservation;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{INSTANCE_TYPE, SOON, World};
use serde_json::json;

/// A reservation in zone b for this number of instances of the pool's type.
fn reserve(world: &World, total: u32) -> Result<String> {
    let new = NewReservation {
        instance_type: INSTANCE_TYPE.into(),
        zone: "eu-central-1b".into(),
        total,
        criteria: MatchCriteria::Targeted,
        tags: Tags::new(),
    };
    Ok(world.aws().region().with(|region| region.create_capacity_reservation(new))??)
}

#[test]
fn instances_are_in_their_placement_group_and_reservation_and_move_to_another_one() {
    WORLD.run(async |world| {
        let group = |region: &mut foo_simulator::core::Region| {
            region.create_placement_group("near", Strategy::Partition(2), Tags::new()).map(drop)
        };
        world.aws().region().with(group)??;
        let (first, second) = (reserve(world, 1)?, reserve(world, 2)?);
        let pool = world
            .cluster("capacity")
            .await?
            .pool_with("workers", 1, |_, foo| {
                foo["spec"]["placement"] = json!({"groupName": "near", "partitionNumber": 2});
                foo["spec"]["capacityReservation"] = json!({"id": first});
                // The reservation has no place for a surge.
                foo["spec"]["rollout"] = json!({"maxSurge": 0, "maxUnavailable": 1});
            })
            .await?;
        let view = pool.settles_at(1).await?;
        let before = view.machines[0].instance.clone();
        let placed = |id: &str| {
            let instances = world.aws().region().instances();
            let found = instances.into_iter().find(|it| it.id.as_str() == id).context("no such instance")?;
            anyhow::Ok((found.placement_group, found.partition, found.capacity_reservation))
        };
        let expected =
            |reservation: &str| (Some("near".to_owned()), Some("2".to_owned()), Some(reservation.to_owned()));
        assert_eq!(placed(&before)?, expected(&first));

        pool.patch(Kind::FooMachinePool, &json!({"spec": {"capacityReservation": {"id": second}}})).await?;
        let moved = pool.wait("another instance", SOON, |now| {
            now.machines.len() == 1 && now.machines[0].instance != before
        });
        moved.await?;
        let view = pool.settles_at(1).await?;
        assert_eq!(placed(&view.machines[0].instance)?, expected(&second));

        // There is a second place in it.
        pool.scale(2).await?;
        for machine in pool.settles_at(2).await?.machines {
            assert_eq!(placed(&machine.instance)?, expected(&second));
        }
        Ok(())
    });
}
