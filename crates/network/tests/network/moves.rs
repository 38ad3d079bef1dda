//! What a move to another management cluster loses.

use crate::create::assert_complete;
use crate::world::*;
use foo_model::network::*;
use std::collections::BTreeSet;

fn tokens(calls: &[Change]) -> BTreeSet<String> {
    let token = |it: &Change| match it {
        Change::CreateRouteTable { token, .. } | Change::CreateNatGateway { token, .. } => {
            Some(token.clone())
        }
        _ => None,
    };
    calls.iter().filter_map(token).collect()
}

fn loses_its_tables(world: &mut World) {
    world.aws.by_hand(|parts| parts.route_tables.retain(|_, it| it.main));
    world.rest();
    world.rest();
}

#[test]
fn no_token_of_before_the_move_is_used_after_it() {
    let mut world = World::new(desired("a"));
    world.rest();
    loses_its_tables(&mut world);
    let before = world.aws.calls.len();
    world.moved();
    world.rest();
    for _ in 0..2 {
        loses_its_tables(&mut world);
    }
    let (earlier, later) = world.aws.calls.split_at(before);
    let (earlier, later) = (tokens(earlier), tokens(later));
    assert!(!later.is_empty() && earlier.is_disjoint(&later), "{}", world.story());
    assert_complete(&world);
}
