//! docs/tutorial.md, as a reader follows it.

use anyhow::{Result, ensure};
use foo_e2e::document::Reader;
use foo_testbed::World;
use foo_testbed::story::{CLUSTER, POOL, bring_secrets, exports};
use foo_testbed::world::WorldOptions;

const PAGE: &str = "docs/tutorial.md";
/// Each section with commands, and what these print among other things.
const SECTIONS: [(&str, &[&str]); 5] = [
    ("2. Create a pool", &["condition met", "Cluster demo/demo", "FooMachinePool demo-workers", "3 ready"]),
    ("3. Scale out", &["condition met"]),
    ("4. Scale in, against a disruption budget", &["BUDGET", "healthy Pods", "condition met"]),
    ("5. Change the pool", &["m7i.xlarge  replaces instances", "Finished, 3 of 3 updated"]),
    ("7. Delete", &["\"demo-workers\" deleted", "\"demo\" deleted"]),
];

async fn follows(world: &World) -> Result<()> {
    bring_secrets(world).await?;
    let reader = Reader::of(world.rig()).await?;
    reader.run(&exports(world)?.join("\n")).await?;
    for (section, parts) in SECTIONS {
        let printed = reader.follow(PAGE, section).await?;
        println!("{section}\n{printed}");
        let missing: Vec<_> = parts.iter().filter(|part| !printed.contains(**part)).collect();
        ensure!(missing.is_empty(), "{section} printed no {missing:?}:\n{printed}");
    }
    let pool = world.existing_cluster(CLUSTER, CLUSTER).existing_pool(POOL);
    let left = world.aws().leftovers(&pool.group());
    ensure!(left.is_empty(), "left in AWS: {left:?}");
    world.check_nothing_undrained()?;
    world.check_nothing_forbidden()
}

#[test]
fn the_tutorial_works_and_leaves_nothing_in_aws() {
    foo_e2e::alone(async || {
        let world = World::start(WorldOptions::default()).await?;
        let followed = follows(&world).await;
        if followed.is_err() {
            world.rig().keep_folder();
        }
        followed
    });
}
