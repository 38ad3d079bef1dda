//! One state of the world: small, comparable, hashable, and without a clock.
//!
//! Time is relative. Every pass happens at [`NOW`]; a tick moves everything that is remembered one [`TICK`] into the past
//! instead. The planner compares moments only with each other, so nothing is lost by it, and worlds that differ in nothing
//! but their history become one state. What is older than any deadline that the scenario reaches stays as old as it is.

use super::manager::Manager;
use foo_model::hook::HookWait;
use foo_model::{InstanceId, MachineName, Timestamp, machine_name};
use foo_planner::Memory;
use foo_planner::check::Rule;
use foo_planner::memory::{Cordon, Ledger, RolloutProgress};
use foo_planner::observed::Verdict;
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// The moment of every pass.
pub(crate) const NOW: Timestamp = Timestamp(1_700_000_000_000);

/// A step of time: longer than any lag of a read, any pass and the rest of an old leader's lease, so all of these end
/// with it. One of them is a cache's deadline, two are the deadline of an effect on the group.
pub(crate) const TICK: Duration = Duration::from_secs(30);

/// How long a raise waits for the deletion of a warm pool: `RAISE_WAITS` in the planner.
pub(crate) const RAISE_WAITS: Duration = Duration::from_mins(1);
/// How long replacements do: `RENEWAL_WAITS` there.
pub(crate) const RENEWAL_WAITS: Duration = Duration::from_mins(10);

/// Name of the pool.
pub(crate) const POOL: &str = "workers";

/// Everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub(crate) struct State {
    pub(crate) group: Group,
    /// Instances with their objects, in the order of their launch. One of which nothing is left is not here.
    pub(crate) units: Vec<Unit>,
    /// The group and its members before the last write of a manager, while a read may still show that.
    pub(crate) group_before: Option<Box<(Group, Vec<Unit>)>>,
    /// The objects before the last write of a manager, while a cache may still show that.
    pub(crate) objects_before: Option<Vec<Unit>>,
    /// How many versions the launch template has; the number of a version is the number of its content.
    pub(crate) versions: u8,
    /// The spec says that the pool adopts the group.
    pub(crate) adopt: bool,
    /// The spec names a warm pool of one instance.
    pub(crate) warms: bool,
    /// The spec names the target group of a load balancer.
    pub(crate) balances: bool,
    /// AWS refuses to delete warm pools.
    pub(crate) denied: bool,
    /// What the FooMachinePool records of the group.
    pub(crate) recorded: Recorded,
    /// Content recorded as failed.
    pub(crate) quarantine: Option<(u8, Verdict)>,
    /// MachinePool.spec.replicas.
    pub(crate) target: u8,
    /// The wanted content.
    pub(crate) content: u8,
    /// The one in the lead, and one that still believes it is.
    pub(crate) managers: Vec<Manager>,
    /// What may still go wrong, and what people may still do.
    pub(crate) left: Budget,
    pub(crate) tale: Tale,
    /// The first thing that went wrong: nothing follows it.
    pub(crate) wrong: Option<Wrong>,
}

/// What the FooMachinePool records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Recorded {
    pub(crate) arn: bool,
    pub(crate) adoption: bool,
    pub(crate) warm_pool: RecordedWarmPool,
}

/// What it records of the warm pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RecordedWarmPool {
    Nothing,
    /// It is the provider's, and its instances may have any template versions.
    AnyVersion,
    /// All of its instances have this one.
    Version(u8),
}

/// The group's own settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Group {
    pub(crate) desired: u8,
    pub(crate) max: u8,
    /// Template version that new instances are launched from; 0: that of another tool.
    pub(crate) version: u8,
    pub(crate) secured: Secured,
    pub(crate) warm_pool: Option<WarmPool>,
    /// It is attached to the target group.
    pub(crate) attached: bool,
}

/// The group's warm pool, with one instance or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WarmPool {
    pub(crate) owner: Owner,
    /// How many instances AWS keeps in it.
    pub(crate) size: u8,
    /// Template version of the instance that waits.
    pub(crate) waiting: Option<u8>,
    /// AWS is deleting it.
    pub(crate) deleting: bool,
}

/// Who created a warm pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    Provider,
    /// Its instances run, and may be Nodes with Pods.
    AnotherUser,
}

impl WarmPool {
    /// A warm pool of the provider that is about to be filled.
    pub(crate) fn empty(size: u8) -> Self {
        Self { owner: Owner::Provider, size, waiting: None, deleting: false }
    }

    /// That of an idle pool, whose instance has this version.
    pub(crate) fn of(version: u8) -> Self {
        Self { waiting: Some(version), ..Self::empty(1) }
    }

    pub(crate) fn of_another_user() -> Self {
        Self { owner: Owner::AnotherUser, ..Self::empty(0) }
    }

    /// Whether AWS has something to do in it.
    pub(crate) fn is_unfinished(self) -> bool {
        self.deleting || (self.size > 0) != self.waiting.is_some()
    }
}

/// What makes AWS wait for drains, and whose the group is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub(crate) struct Secured {
    /// It has the tags of its owner.
    pub(crate) owned: bool,
    pub(crate) hook: bool,
    /// AZRebalance is suspended.
    pub(crate) unbalanced: bool,
    /// New instances are protected from scale-in.
    pub(crate) protects_new: bool,
}

impl Secured {
    pub(crate) const FULLY: Self = Self { owned: true, hook: true, unbalanced: true, protects_new: true };
    /// As another tool leaves it.
    pub(crate) const NOT: Self = Self { owned: false, hook: false, unbalanced: false, protects_new: false };
}

/// An instance, its FooMachine, its Machine and its Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent of each other")]
pub(crate) struct Unit {
    pub(crate) number: u8,
    pub(crate) life: Life,
    /// What it was launched from.
    pub(crate) version: u8,
    /// AWS ended it for a reason of its own.
    pub(crate) taken: bool,
    pub(crate) foo: Foo,
    pub(crate) machine: Mach,
    /// Its Node registered and is Ready, and Cluster API knows it.
    pub(crate) ready: bool,
    /// Its Node has Pods, whether or not Cluster API knows it: it was launched by another tool.
    pub(crate) pods: bool,
    /// Scale-in spares it.
    pub(crate) protected: bool,
    /// Core evicted everything from its Node while it lived.
    pub(crate) drained: bool,
    pub(crate) marked: bool,
    /// Cluster API was shown that there is nothing to drain.
    pub(crate) excluded: bool,
    pub(crate) target: Target,
    /// Ticks since its Machine was made, as far as they matter.
    pub(crate) age: u8,
    /// Which manager ended it or completed its hook.
    pub(crate) ended_by: Option<u8>,
    pub(crate) completed_by: Option<u8>,
}

/// An instance in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Life {
    Pending,
    InService,
    /// `Terminating`: AWS has deregistered it from its target group, and connections to it drain. The hook follows.
    Deregistering,
    /// `Terminating:Wait`.
    Waiting,
    Terminating,
    Gone,
}

/// What a load balancer reports about an instance in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// There is none.
    Unchecked,
    Initial,
    Healthy,
    Unhealthy,
    /// The target group was detached: the instance stays, and connections to it drain.
    Draining,
}

/// A FooMachine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Foo {
    NotYet,
    Alive,
    Deleting,
    Gone,
}

/// A Machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mach {
    NotYet,
    Alive,
    /// Deleted, and not drained yet.
    Draining,
    /// Core waits for the FooMachine to go.
    LetGo,
    Gone,
}

/// How often something may still happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Budget {
    /// Crashes, and responses or requests that are lost.
    pub(crate) faults: u8,
    pub(crate) hand_overs: u8,
    /// Looks that show the group as it was before a manager's last write, and passes on caches that do not show its last
    /// write on objects.
    pub(crate) lates: u8,
    /// New content.
    pub(crate) edits: u8,
    /// Marks of the autoscaler.
    pub(crate) marks: u8,
    /// Changes of replicas, to any of the scenario's.
    pub(crate) targets: u8,
    /// Instances that AWS ends by itself, through the hook.
    pub(crate) takes: u8,
    /// Instances that die at once and leave the group.
    pub(crate) deaths: u8,
    /// Machines that a person deletes.
    pub(crate) deletions: u8,
    /// Removals of the warm pool from the spec, and additions.
    pub(crate) toggles: u8,
    /// How often AWS begins to refuse deletions of warm pools.
    pub(crate) denials: u8,
    /// Instances that a load balancer finds unhealthy.
    pub(crate) unhealthy: u8,
    /// Passes for which the health of targets cannot be read.
    pub(crate) unread: u8,
    /// Removals of the target group from the spec.
    pub(crate) detachments: u8,
}

/// Whose age matters. What no deadline of a scenario depends on stays young, so that it makes no new states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ages {
    /// After this many ticks nothing grows older.
    pub(crate) cap: u8,
    /// Waits of marks for launches in flight.
    pub(crate) marks: bool,
    /// Waits for new content to work.
    pub(crate) trials: bool,
}

/// What has happened so far, as far as a rule needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tale {
    pub(crate) lowest: u8,
    pub(crate) highest: u8,
    /// By how much the desired replicas went down, all in all.
    pub(crate) lowered: u8,
    /// Machines that were deleted for being too many.
    pub(crate) victims: u8,
    /// Instances that went without us: taken by AWS, dead, or their Machines deleted by a person.
    pub(crate) robbed: u8,
    pub(crate) launched: u8,
    /// How many managers there were.
    pub(crate) managers: u8,
}

/// What went wrong in a step, for what no single state shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wrong {
    /// A plan breaks a rule of the checker.
    Plan(Rule),
    EndedUnreleased,
    LetGoUndrained,
    EndedTwice,
    CompletedTwice,
    ReleasedAlive,
    LaunchesQuarantined,
    /// AWS ends an instance with Pods because of a write to the group, and does not wait for its drain.
    ScaledInUndrained,
    NotIdle,
    WroteForeign,
    /// AWS launches an instance into the provider's warm pool that joins the cluster there: the pool is deleted undrained.
    WarmsJoining,
    /// A manager adds capacity, or replaces a Machine, while the group would take an outdated instance from its warm pool, and has not
    /// waited for the deletion of that.
    TakesOutdated,
    /// A Machine is replaced although its instance is of the wanted content, has not expired, and no load balancer finds it unhealthy.
    ReplacedSound,
    /// A Machine is replaced while the health of targets is unknown.
    ReplacedUnread,
    /// A manager asks AWS to continue a termination while connections to the instance drain.
    CutConnections,
    /// A manager detaches a target group that the spec names: AWS deregisters instances whose Machines stay.
    DetachedNamed,
    /// A manager excludes the Machine of an instance that runs from draining.
    ExcludedAlive,
}

impl State {
    pub(crate) fn unit_mut(&mut self, number: u8) -> Option<&mut Unit> {
        self.units.iter_mut().find(|unit| unit.number == number)
    }

    /// Instances that desired capacity counts.
    pub(crate) fn existing(&self) -> u8 {
        count(self.units.iter().filter(|unit| unit.is_capacity()))
    }

    /// Instances that serve and will. The health of their targets counts while the spec names the target group.
    pub(crate) fn available(&self) -> u8 {
        let serves = |unit: &&Unit| if self.balances { unit.serves() } else { unit.runs() };
        count(self.units.iter().filter(serves))
    }

    /// Whether the group would take an instance from its warm pool that is outdated.
    pub(crate) fn takes_outdated(&self) -> bool {
        let waiting = self.group.warm_pool.and_then(|pool| pool.waiting);
        waiting.is_some_and(|version| version != self.group.version)
    }

    /// One tick passes.
    pub(crate) fn tick(&mut self, ages: Ages) {
        self.managers.truncate(1);
        self.group_before = None;
        self.objects_before = None;
        for manager in &mut self.managers {
            manager.tick(ages);
        }
        for unit in &mut self.units {
            let waits = ages.trials && unit.machine == Mach::Alive && !unit.ready;
            unit.age = if waits { (unit.age + 1).min(ages.cap) } else { 0 };
        }
    }

    /// Forgets what makes no difference any more.
    pub(crate) fn tidy(&mut self) {
        self.units.retain(|unit| {
            let nothing = matches!(unit.foo, Foo::NotYet | Foo::Gone)
                && matches!(unit.machine, Mach::NotYet | Mach::Gone)
                && unit.life == Life::Gone;
            !nothing
        });
        if self.left.lates == 0 || self.managers.iter().all(|manager| manager.sees_group) {
            self.group_before = None;
        }
        if self.left.lates == 0 || self.managers.iter().all(|manager| manager.sees_objects) {
            self.objects_before = None;
        }
        for unit in self.units.iter_mut().filter(|unit| unit.life == Life::Gone) {
            unit.ended_by = None;
            unit.completed_by = None;
        }
        for manager in &mut self.managers {
            manager.words.retain(|number, _| self.units.iter().any(|unit| unit.number == *number));
            manager.sees_group = self.group_before.is_none() || manager.sees_group;
            manager.sees_objects = self.objects_before.is_none() || manager.sees_objects;
        }
    }
}

impl Unit {
    pub(crate) fn launched(number: u8, version: u8) -> Self {
        Self {
            number,
            life: Life::Pending,
            version,
            taken: false,
            foo: Foo::NotYet,
            machine: Mach::NotYet,
            ready: false,
            pods: false,
            protected: true,
            drained: false,
            marked: false,
            excluded: false,
            target: Target::Unchecked,
            age: 0,
            ended_by: None,
            completed_by: None,
        }
    }

    pub(crate) fn id(&self) -> InstanceId {
        InstanceId::new(format!("i-{:08x}", self.number))
    }

    pub(crate) fn name(&self) -> MachineName {
        machine_name(POOL, &self.id())
    }

    pub(crate) fn is_capacity(&self) -> bool {
        matches!(self.life, Life::Pending | Life::InService)
    }

    pub(crate) fn serves(&self) -> bool {
        self.runs() && matches!(self.target, Target::Unchecked | Target::Healthy)
    }

    /// It is in service with its Node, whatever a load balancer finds.
    pub(crate) fn runs(&self) -> bool {
        let ran_before = self.pods && matches!(self.machine, Mach::NotYet | Mach::Alive);
        let joined = self.machine == Mach::Alive && self.ready;
        self.life == Life::InService && (ran_before || joined)
    }

    /// Cluster API released the instance, or never had a Machine for it.
    pub(crate) fn is_released(&self) -> bool {
        self.foo == Foo::Deleting && matches!(self.machine, Mach::NotYet | Mach::LetGo | Mach::Gone)
    }

    /// It is in service, and a load balancer sends requests to it or is about to.
    pub(crate) fn is_registered(&self) -> bool {
        let registered = match self.target {
            Target::Initial | Target::Healthy | Target::Unhealthy => true,
            Target::Unchecked | Target::Draining => false,
        };
        self.life == Life::InService && registered
    }

    /// No pod is left on its Node.
    pub(crate) fn is_empty(&self) -> bool {
        (!self.ready && !self.pods) || self.drained
    }
}

/// A manager's memory, as a part of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mind(pub(crate) Memory);

impl Hash for Mind {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // In full, so that nothing new is left out.
        let Memory {
            ledger: Ledger { changed_at, created, template, warm_pool, base, desired, leaving },
            excess_since,
            short_since,
            starved_at,
            targets,
            template_due_since,
            template_refused_since,
            warm_pool_unfit_since,
            refused_warm_pool,
            left_warm_pool,
            foreign_since,
            stored,
            suspended_for,
            busy,
            deleted_machines,
            created_machines,
            rollout: trial,
            round,
            rebalanced_at,
            hook_waits: holds,
            cordons,
            purchase,
        } = &self.0;
        purchase.map(|it| (it.on_demand_base, it.on_demand_percentage, it.changed)).hash(hasher);
        (changed_at, created, template, warm_pool, base, desired, leaving).hash(hasher);
        (excess_since, short_since, starved_at, template_due_since).hash(hasher);
        targets.hash(hasher);
        (template_refused_since, warm_pool_unfit_since, foreign_since, suspended_for, busy).hash(hasher);
        (refused_warm_pool, left_warm_pool).hash(hasher);
        (deleted_machines, created_machines, rebalanced_at, stored).hash(hasher);
        round.as_ref().map(|round| &round.instances).hash(hasher);
        if let Some(RolloutProgress { hash, since, available, ready, relapses, waiting_since }) = trial {
            (hash, since, available, ready, relapses, waiting_since).hash(hasher);
        }
        for (id, HookWait { since, last_heartbeat: beaten, completed, confirmed }) in holds {
            (id, since, beaten, completed, confirmed).hash(hasher);
        }
        for (id, Cordon { at, done }) in cordons {
            (id, at, done).hash(hasher);
        }
    }
}

impl Mind {
    /// Everything whose age matters becomes one tick older.
    pub(crate) fn grow_older(&mut self, ages: Ages) {
        let oldest = NOW.minus(TICK * u32::from(ages.cap));
        let older = |at: &mut Timestamp| *at = at.minus(TICK).max(oldest);
        let Memory {
            ledger: Ledger { changed_at: _, created, template, warm_pool, base: _, desired, leaving },
            excess_since,
            short_since,
            starved_at,
            targets,
            template_due_since,
            template_refused_since,
            warm_pool_unfit_since,
            refused_warm_pool,
            left_warm_pool: _,
            foreign_since: _,
            stored: _,
            suspended_for: _,
            busy,
            deleted_machines,
            created_machines,
            rollout: trial,
            round: _,
            rebalanced_at: _,
            hook_waits: holds,
            cordons: _,
            purchase,
        } = &mut self.0;
        purchase.iter_mut().filter_map(|purchase| purchase.changed.as_mut()).for_each(older);
        let due = [created, warm_pool, excess_since, starved_at, template_due_since, template_refused_since];
        due.into_iter().flatten().for_each(older);
        template.iter_mut().map(|(_, _, at)| at).for_each(older);
        warm_pool_unfit_since.iter_mut().for_each(wait_for_deletion);
        refused_warm_pool
            .iter_mut()
            .flat_map(|refused| [&mut refused.since, &mut refused.last])
            .for_each(older);
        targets.times_mut().for_each(older);
        short_since.iter_mut().filter(|_| ages.marks).for_each(older);
        desired.iter_mut().map(|(_, at)| at).for_each(older);
        leaving.values_mut().chain(busy.values_mut()).for_each(older);
        deleted_machines.values_mut().chain(created_machines.values_mut()).for_each(older);
        let clocks =
            trial.iter_mut().flat_map(|trial| trial.waiting_since.iter_mut().chain([&mut trial.since]));
        clocks.filter(|_| ages.trials).for_each(older);
        // Heartbeats and the longest wait are beyond this model.
        for HookWait { since: _, last_heartbeat: _, completed, confirmed: _ } in holds.values_mut() {
            completed.iter_mut().for_each(older);
        }
    }

    /// Whether the group was changed is remembered, when is not: [`super::manager`] puts reads before or after it.
    pub(crate) fn forget_when(&mut self) {
        let changed = &mut self.0.ledger.changed_at;
        *changed = changed.map(|_| super::manager::CHANGED);
    }
}

/// Nothing depends on whether the pool has waited for one minute or for nine: a tick stands for all that lies between.
fn wait_for_deletion(since: &mut Timestamp) {
    let waited = since.until(NOW);
    *since = NOW.minus(if waited < RAISE_WAITS { waited + TICK } else { RENEWAL_WAITS });
}

pub(crate) fn count<T>(items: impl Iterator<Item = T>) -> u8 {
    u8::try_from(items.count()).unwrap()
}
