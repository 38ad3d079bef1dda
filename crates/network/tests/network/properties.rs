//! Many things go wrong at once, at any calls.

use crate::connection::rules;
use crate::create::{assert_complete, full, with_pods};
use crate::faults::assert_gone;
use crate::leftovers::group_of_eks;
use crate::world::*;
use foo_model::Reason;
use foo_network::Desired;
use foo_network::desired::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

fn fault() -> impl Strategy<Value = Fault> {
    let reasons = [Reason::Throttled, Reason::NotFound, Reason::AccessDenied, Reason::LimitExceeded];
    prop_oneof![
        Just(Fault::CrashBefore),
        Just(Fault::CrashAfter),
        Just(Fault::MoveAfter),
        Just(Fault::LostAfter(foo_model::Reason::ResponseLost)),
        Just(Fault::LostBefore),
        proptest::sample::select(reasons.to_vec()).prop_map(Fault::Refused),
    ]
}

fn networks() -> impl Strategy<Value = Desired> {
    let nat = proptest::sample::select(vec![NatMode::PerZone, NatMode::Single, NatMode::None]);
    let zones = proptest::sample::select(vec!["a", "ab"]);
    (nat, zones, any::<bool>()).prop_map(|(nat, zones, everything)| {
        let plain = desired(zones);
        let Desired { ipv6, endpoints, vpc, subnets, .. } =
            if everything { with_pods(full()) } else { plain.clone() };
        Desired { nat, ipv6, endpoints, vpc, subnets, ..plain }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn it_becomes_complete_and_is_deleted_whatever_goes_wrong(
        desired in networks(),
        faults in proptest::collection::btree_map(0_usize..90, fault(), 0..12),
        lag in 0_u64..8,
        shown_after in 0_u64..25,
        nats_that_fail in 0_u32..2,
        connected in any::<bool>(),
        changed_to in proptest::option::of(proptest::sample::select(vec![NatMode::PerZone, NatMode::Single, NatMode::None])),
    ) {
        let faults: BTreeMap<usize, Fault> = faults;
        let mut world = World::new(desired);
        world.thorough = false;
        world.faults = faults;
        world.aws.set_lag(Duration::from_secs(lag));
        world.aws.show_new_parts_after(Duration::from_secs(shown_after));
        world.aws.fail_nats(nats_that_fail);
        world.rest();
        assert_complete(&world);
        if connected {
            // Two moves can lose that nodes were connected: then only the tags of EKS say whose group it is.
            world.desired.leftovers = Leftovers::Delete;
            let eks = group_of_eks(&mut world, "prod");
            world.desired.connection = Connection::With(eks.clone());
            world.rest();
            assert_eq!(rules(&world, &eks), (1, 1), "{}", world.story());
        }
        if let Some(nat) = changed_to {
            world.desired.nat = nat;
            world.rest();
            assert_complete(&world);
        }
        world.delete();
        assert_gone(&world);
    }
}
