//! Many things go wrong at once, at any calls.

use crate::world::*;
use foo_eks::Desired;
use foo_model::eks::*;
use foo_model::{Blocked, Maintenance, Reason, Timestamp};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

fn fault() -> impl Strategy<Value = Fault> {
    let reasons = [
        Reason::Throttled,
        Reason::NotFound,
        Reason::AccessDenied,
        Reason::LimitExceeded,
        Reason::ResourceInUse,
        Reason::RequestInvalid,
    ];
    prop_oneof![
        Just(Fault::CrashBefore),
        Just(Fault::CrashAfter),
        Just(Fault::MoveAfter),
        Just(Fault::LostAfter(Reason::ResponseLost)),
        Just(Fault::LostBefore),
        proptest::sample::select(reasons.to_vec()).prop_map(Fault::Refused),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Windows {
    None,
    Open,
    Closed,
    Unusable,
}

impl Windows {
    fn maintenance(self, now: Timestamp) -> Maintenance {
        let of_an_hour = |opens: Timestamp| Maintenance::Window { opens, closes: opens.plus(HOUR) };
        match self {
            Self::None => Maintenance::Always,
            Self::Open => of_an_hour(now),
            Self::Closed => of_an_hour(now.plus(HOUR * 24)),
            Self::Unusable => {
                Maintenance::Unusable(Blocked::new(Reason::MaintenanceWindowsUnusable, "no such time zone"))
            }
        }
    }
}

const HOUR: Duration = Duration::from_hours(1);

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn it_becomes_complete_and_is_deleted_whatever_goes_wrong(
        faults in proptest::collection::btree_map(0_usize..60, fault(), 0..10),
        lag in 0_u64..12,
        creations_that_fail in 0_u32..2,
        updates_that_fail in 0_u32..2,
        addons_that_fail in 0_u32..2,
        protected in any::<bool>(),
        mode in proptest::sample::select(vec![AuthenticationMode::ApiAndConfigMap, AuthenticationMode::Api]),
        version in 33_u16..36,
        shift in any::<bool>(),
        has_provider in any::<bool>(),
        other_provider in any::<bool>(),
        (remade, windows) in (
            any::<bool>(),
            proptest::sample::select(vec![Windows::None, Windows::Open, Windows::Closed, Windows::Unusable]),
        ),
    ) {
        let faults: BTreeMap<usize, Fault> = faults;
        let desired = Desired {
            deletion_protection: protected,
            may_unprotect: true,
            authentication_mode: mode,
            identity_provider: has_provider.then(identity_provider),
            ..desired()
        };
        let mut world = World::new(desired);
        world.faults = faults;
        world.aws.set_lag(Duration::from_secs(lag));
        world.aws.fail(creations_that_fail, updates_that_fail, &[("vpc-cni", addons_that_fail)]);
        world.settle();
        world.assert_complete();
        world.desired.version = Minor(version);
        world.desired.maintenance = windows.maintenance(world.now());
        world.desired.zonal_shift = shift;
        if other_provider {
            world.desired.identity_provider = Some(identity_provider());
            world.desired.identity_provider.as_mut().unwrap().settings.client_id = "other".to_owned();
        }
        world.desired.authentication_mode = AuthenticationMode::Api;
        if remade {
            // A role that is younger than its entry by less than the clocks differ is taken for the one of the entry after a move.
            world.run_for(Duration::from_mins(3));
            world.aws.make_role("people");
        }
        world.run_for(Duration::from_hours(12));
        world.run_until("upgraded", |it| it.cluster().version == Minor(version));
        world.desired.maintenance = Maintenance::Always;
        world.settle();
        world.assert_complete();
        world.delete();
        world.assert_gone();
    }
}
