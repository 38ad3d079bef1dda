//! Worlds to start from: `pool().of(3).running()`.

use super::{Cloud, JOINING, Kube, Manager, NAME, World};
use foo_model::requirements::{List, Requirements};
use foo_model::{
    Adoption, AwsTime, DeletionTimeouts, FoundReservation, GroupName, GroupSettings, ImageId,
    InstanceOptions, InstanceType, InstancesMix, Maintenance, MetadataOptions, MixOverride, OnDemandStrategy,
    ReservationKind, Seconds, SpecHash, SpotStrategy, SubnetId, TemplateContent, Timestamp, UserData,
    WarmPoolSettings, WarmState, Zone,
};
use foo_planner::Goal;
use foo_planner::desired::{
    CapacityBlock, Desired, GroupConfig, Identity, IntOrPercent, Interruption, OnFailure, Rebalance,
    Remediation, Rollout, ScaleIn, Size, Strategy, Template, VictimPolicy, Wanted,
};
use std::collections::{BTreeMap, BTreeSet};

/// When every world begins.
pub(crate) const START: Timestamp = Timestamp(1_700_000_000_000);

/// A pool in the making.
pub(crate) struct Pool(Desired);

/// A pool of one instance, named `workers`, in namespace `ns` and cluster `prod`.
pub(crate) fn pool() -> Pool {
    Pool(Desired {
        identity: Identity {
            namespace: "ns".to_owned(),
            pool: "workers".to_owned(),
            cluster: "prod".to_owned(),
            group: GroupName::new(NAME),
            template: NAME.to_owned(),
            installation: "here".to_owned(),
            adopt_from: None,
        },
        goal: Goal::Run,
        pause: None,
        adoption: Adoption::NotRequested,
        retains_adopted: false,
        may_have_adopted: false,
        missing: Vec::new(),
        size: Size::Replicas { wanted: 1, ceiling: None },
        template: Wanted::Ready(content("v1", "d1")),
        group: GroupConfig {
            settings: GroupSettings::in_subnets(Wanted::Ready([SubnetId::new("subnet-a")].into())),
            mix: None,
            tags: BTreeMap::from([("team".to_owned(), "blue".to_owned())]),
            storage: None,
            target_groups: None,
            classic_load_balancers: None,
            lattice_target_groups: None,
            hooks: None,
            notifications: None,
            suspended: BTreeSet::new(),
            warm_pool: None,
        },
        scale_in: ScaleIn {
            policy: VictimPolicy::Oldest,
            max_concurrent_drains: 2,
            stabilization: Seconds(0),
        },
        rollout: Rollout {
            strategy: Strategy::RollingUpdate,
            max_surge: IntOrPercent::Count(0),
            max_unavailable: IntOrPercent::Count(1),
            min_ready: Seconds(0),
            ready_timeout: Seconds(600),
            on_failure: OnFailure::Halt,
            paused: None,
            max_lifetime: None,
        },
        target_health: None,
        maintenance: Maintenance::Always,
        capacity_block: None,
        remediation: Remediation {
            enabled: true,
            max_in_flight: IntOrPercent::Count(1),
            unhealthy_limit: IntOrPercent::Percent(50),
            join_timeout: Some(Seconds(3_600)),
        },
        interruption: Interruption { rebalance: Rebalance::Ignore },
        timeouts: DeletionTimeouts::default(),
        warnings: Vec::new(),
    })
}

/// A maintenance window that opens so many seconds after that moment, for an hour.
pub(crate) fn window(now: Timestamp, seconds: u32) -> Maintenance {
    let opens = now.plus(Seconds(seconds).into());
    Maintenance::Window { opens, closes: opens.plus(Seconds(3_600).into()) }
}

/// A warm pool of so many instances.
pub(crate) fn warm_pool(min_size: u32) -> WarmPoolSettings {
    WarmPoolSettings { min_size, max_prepared: None, state: WarmState::Stopped, reuse: false }
}

/// The pool's Capacity Block, which is drained half an hour before EC2 ends its instances.
pub(crate) fn in_block() -> CapacityBlock {
    CapacityBlock {
        id: "cr-1".to_owned(),
        instance_type: InstanceType::new("m7i.large"),
        drain_lead: Seconds(1_800),
    }
}

/// The reservation of that block in this state, until this moment.
pub(crate) fn block_until(state: &str, ends: AwsTime) -> FoundReservation {
    FoundReservation {
        kind: ReservationKind::CapacityBlock,
        state: state.to_owned(),
        instance_type: InstanceType::new("m7i.large"),
        zone: Zone::new("eu-central-1a"),
        starts: None,
        ends: Some(ends),
    }
}

/// Content whose user data join the cluster at once, also from a warm pool.
pub(crate) fn joining(spec: &str) -> Template {
    Template { waits_in_warm_pool: false, ..content(spec, JOINING) }
}

/// A type of each architecture, of which the one of arm64 has this image.
pub(crate) fn both_architectures(arm64_image: &str) -> InstancesMix {
    InstancesMix {
        overrides: vec![
            MixOverride::named("m7i.large".into(), None),
            MixOverride::named("m7g.large".into(), Some(arm64_image.into())),
        ],
        on_demand_base: 0,
        on_demand_percentage: 100,
        on_demand_strategy: OnDemandStrategy::Prioritized,
        spot_strategy: SpotStrategy::PriceCapacityOptimized,
        spot_max_price: None,
    }
}

/// A set of attributes of each architecture, of which the one of arm64 has this image.
pub(crate) fn sets_of_both_architectures(arm64_image: &str) -> InstancesMix {
    let set = |maker: &str, image: Option<&str>| {
        let requirements = Requirements {
            lists: [(List::CpuManufacturers, [maker.to_owned()].into())].into(),
            ..Requirements::default()
        };
        MixOverride::described(requirements, image.map(Into::into))
    };
    InstancesMix {
        overrides: vec![set("intel", None), set("amazon-web-services", Some(arm64_image))],
        on_demand_strategy: OnDemandStrategy::LowestPrice,
        ..both_architectures(arm64_image)
    }
}

/// Content with these two hashes, whose user data wait in a warm pool.
pub(crate) fn content(spec: &str, data: &str) -> Template {
    Template {
        content: TemplateContent {
            image: ImageId::new("ami-1"),
            arm64_image: None,
            instance_type: Some(InstanceType::new("m7i.large")),
            security_groups: Vec::new(),
            instance_profile: None,
            key_name: None,
            volumes: Vec::new(),
            metadata: MetadataOptions::with_tokens(1),
            spot: None,
            options: InstanceOptions::default(),
            user_data: UserData(data.as_bytes().to_vec()),
            tags: BTreeMap::new(),
            interface_tags: BTreeMap::new(),
        },
        spec_hash: SpecHash::new(spec),
        data_hash: SpecHash::new(data),
        source_hash: SpecHash::new("secret"),
        object: None,
        waits_in_warm_pool: true,
    }
}

impl Pool {
    pub(crate) fn of(mut self, wanted: u32) -> Self {
        self.0.size = Size::Replicas { wanted, ceiling: None };
        self
    }

    pub(crate) fn with_ceiling(mut self, ceiling: u32) -> Self {
        if let Size::Replicas { wanted, .. } = self.0.size {
            self.0.size = Size::Replicas { wanted, ceiling: Some(ceiling) };
        }
        self
    }

    pub(crate) fn with_surge(mut self, max_surge: u32) -> Self {
        self.0.rollout.max_surge = IntOrPercent::Count(max_surge);
        self
    }

    /// How many seconds an instance may live.
    pub(crate) fn living(mut self, seconds: u32) -> Self {
        self.0.rollout.max_lifetime = Some(Seconds(seconds));
        self
    }

    /// What follows from recommendations to replace instances.
    pub(crate) fn with_rebalance(mut self, rebalance: Rebalance) -> Self {
        self.0.interruption.rebalance = rebalance;
        self
    }

    /// Recommendations to replace instances are followed.
    pub(crate) fn following_advice(self) -> Self {
        self.with_rebalance(Rebalance::Replace)
    }

    /// The content before comes back when new content fails.
    pub(crate) fn rolling_back(mut self) -> Self {
        self.0.rollout.on_failure = OnFailure::Rollback;
        self
    }

    /// Another controller replaces outdated instances.
    pub(crate) fn replaced_by_another_controller(mut self) -> Self {
        self.0.rollout.strategy = Strategy::OnDelete;
        self
    }

    /// How many fewer may be available.
    pub(crate) fn lacking_at_most(mut self, instances: u32) -> Self {
        self.0.rollout.max_unavailable = IntOrPercent::Count(instances);
        self
    }

    pub(crate) fn draining_at_most(mut self, drains: u32) -> Self {
        self.0.scale_in.max_concurrent_drains = drains;
        self
    }

    pub(crate) fn taking_the_newest(mut self) -> Self {
        self.0.scale_in.policy = VictimPolicy::Newest;
        self
    }

    /// A lowered target must last a minute before unmarked Machines with a Node go.
    pub(crate) fn stabilized(self) -> Self {
        self.stabilized_for(60)
    }

    /// The same for this many seconds.
    pub(crate) fn stabilized_for(mut self, seconds: u32) -> Self {
        self.0.scale_in.stabilization = Seconds(seconds);
        self
    }

    pub(crate) fn managed_by_another_controller(mut self, min: u32, max: u32) -> Self {
        self.0.size = Size::External { min, max, published: 0 };
        self
    }

    /// So many instances wait in a warm pool.
    pub(crate) fn keeping_warm(mut self, instances: u32) -> Self {
        self.0.group.warm_pool = Some(warm_pool(instances));
        self
    }

    pub(crate) fn with(mut self, edit: impl FnOnce(&mut Desired)) -> Self {
        edit(&mut self.0);
        self
    }

    /// The world before anything happened.
    pub(crate) fn new_world(self) -> World {
        let target = match self.0.size {
            Size::Replicas { wanted, .. } => wanted,
            Size::External { min, .. } => min,
            Size::Unknown => 0,
        };
        World {
            targets: (target, target),
            now: START,
            cloud: Cloud::new(START),
            kube: Kube::new(),
            aws_clock: foo_model::Comparison::default(),
            desired: self.0,
            managers: vec![Manager::new(START)],
            log: Vec::new(),
        }
    }

    /// The world after everything has come to rest.
    pub(crate) fn running(self) -> World {
        let mut world = self.new_world();
        world.settle();
        world
    }
}
