//! The main path: a pool begins, grows, shrinks and ends.

use crate::support::World;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn a_pool_begins_grows_shrinks_with_drains_and_ends() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    pool.is_of(3);
    assert_eq!(pool.status().ready, Some(true));
    pool.scales_to(6);
    world.settles().await;
    pool.is_of(6);
    world.drains_take(Duration::from_mins(2));
    pool.scales_to(2);
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.core.drains().len(), 4);
    pool.is_deleted();
    world.settles().await;
    pool.left_nothing();
}
