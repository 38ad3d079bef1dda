//! The races of the planner's specification, each a named test.

use crate::world::pool;

#[test]
fn a_new_pool_comes_to_rest_at_its_wish() {
    let mut world = pool().of(3).running();
    assert_eq!(world.cloud.existing(), 3);
    assert_eq!(world.cloud.launched, 3);
    let plan = world.settle();
    println!("{}\n{:#?}", world.story(), plan.report);
}
