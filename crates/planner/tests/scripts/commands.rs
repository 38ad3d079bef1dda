//! The one table of what scripts can say. It is what scripts are read with and what their reference is written from.

use super::forms::{Form, Value};
use super::print;
use crate::world::{Launches, Pool, World, content, foreign_group, unowned_group};
use foo_model::names::TAG_INSTALLATION;
use foo_model::{Maintenance, Reason, SignalKind};
use foo_planner::desired::{OnFailure, PausedBy, Rebalance, RolloutPause, Strategy, VictimPolicy, Wanted};
use foo_planner::observed::Finalizer;
use foo_planner::{Goal, LastRead};

/// One command.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) does: &'static str,
}

/// One option of the command `pool`.
pub(super) struct PoolOption {
    pub(super) name: &'static str,
    pub(super) value: Value,
    pub(super) means: &'static str,
}

const fn command(name: &'static str, form: Form, does: &'static str) -> Command {
    Command { name, form, does }
}

const fn option(name: &'static str, value: Value, means: &'static str) -> PoolOption {
    PoolOption { name, value, means }
}

/// All commands, those of one kind together.
pub(super) fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().flat_map(|(_, commands)| *commands)
}

/// The commands and what each group of them is about.
pub(super) const GROUPS: &[(&str, &[Command])] = &[
    ("The beginning", BEGINNING),
    ("Time, and the work of all", WORK),
    ("What the manager does, printed", PRINTED),
    ("What people and controllers do to objects", OBJECTS),
    ("What becomes of the pool's inputs", INPUTS),
    ("What happens to instances", INSTANCES),
    ("What happens to the group", GROUP),
];

/// All optional: without them a pool of one instance and AWS's and our defaults for tests.
pub(super) const POOL_OPTIONS: &[PoolOption] = &[
    option("replicas", Value::Number(Pool::of), "`MachinePool.spec.replicas`"),
    option("max-size", Value::Number(Pool::with_ceiling), "`spec.maxSize`"),
    option(
        "max-concurrent-drains",
        Value::Number(Pool::draining_at_most),
        "Machines that drain at a time in a scale-in; 2 without it",
    ),
    option("max-surge", Value::Number(Pool::with_surge), "`rollout.maxSurge`; 0 without it"),
    option("max-unavailable", Value::Number(Pool::lacking_at_most), "`rollout.maxUnavailable`; 1 without it"),
    option(
        "max-lifetime",
        Value::Number(Pool::living),
        "`spec.maxInstanceLifetimeSeconds`; without it instances may have any age",
    ),
    option(
        "stabilization",
        Value::Number(Pool::stabilized_for),
        "seconds that lowered replicas must last before unmarked Machines are deleted; 0 without it",
    ),
    option(
        "policy",
        Value::Choice(&[
            ("oldest", |pool| pool.with(|it| it.scale_in.policy = VictimPolicy::Oldest)),
            ("newest", Pool::taking_the_newest),
        ]),
        "which Machine of a zone a scale-in deletes first",
    ),
    option(
        "strategy",
        Value::Choice(&[
            ("rolling-update", |pool| pool.with(|it| it.rollout.strategy = Strategy::RollingUpdate)),
            ("on-delete", Pool::replaced_by_another_controller),
        ]),
        "who replaces outdated Machines",
    ),
    option(
        "on-failure",
        Value::Choice(&[
            ("halt", |pool| pool.with(|it| it.rollout.on_failure = OnFailure::Halt)),
            ("rollback", Pool::rolling_back),
        ]),
        "what follows when the Nodes of a new template version do not work",
    ),
    option(
        "rebalance",
        Value::Choice(&[
            ("replace", |pool| pool.with_rebalance(Rebalance::Replace)),
            ("cordon", |pool| pool.with_rebalance(Rebalance::Cordon)),
            ("ignore", |pool| pool.with_rebalance(Rebalance::Ignore)),
        ]),
        "what follows a recommendation to replace an instance",
    ),
    option(
        "external",
        Value::Range(Pool::managed_by_another_controller),
        "another controller decides on the size within these bounds: `replicas-managed-by`",
    ),
    option(
        "warm-pool",
        Value::Number(Pool::keeping_warm),
        "`warmPool.minSize`; without it there is no warm pool",
    ),
];

const BEGINNING: &[Command] = &[
    command("pool", Form::Pool, "describes the pool; the first command of a script"),
    command("new", Form::Begin(Pool::new_world), "begins before anything was created"),
    command("running", Form::Begin(Pool::running), "begins with everything created and settled"),
];

const WORK: &[Command] = &[
    command("wait", Form::Number("SECONDS", |world, seconds| world.wait(u64::from(seconds))), "time passes"),
    command(
        "grow-old",
        Form::Number("SECONDS", World::grow_old),
        "all Machines become older; no time passes for anything else",
    ),
    command("aws", Form::Plain(|world| world.cloud.work(world.now)), "AWS does one step of all its work"),
    command(
        "capi",
        Form::Plain(|world| world.kube.work(world.now, &world.cloud)),
        "Cluster API and the kubelets do one step of all their work",
    ),
    command(
        "cycles",
        Form::Number("NUMBER", |world, number| {
            for _ in 0..number {
                world.step();
            }
        }),
        "this many times: five seconds pass, then AWS, Cluster API and the manager do one step of their work",
    ),
    command(
        "settle",
        Form::Plain(|world| {
            world.settle();
        }),
        "cycles until nothing is left to do; an error after 120 of them",
    ),
    command(
        "observe",
        Form::OptionalNumber("lag", |world, lag| {
            world.wait(1);
            world.observe_with_lag(u64::from(lag));
        }),
        "a second passes and the manager reads the group; the response may be some seconds old",
    ),
    command(
        "restart",
        Form::Plain(|world| world.restart(0)),
        "the manager starts again and remembers nothing",
    ),
];

const PRINTED: &[Command] = &[
    command(
        "plan",
        Form::Plan(|world, fault| {
            world.wait(1);
            world.read_group();
            print::plan(&world.pass_of(0, &mut |_, _| fault))
        }),
        "a second passes, the manager reads the group, plans and carries the plan out; all calls meet the fault",
    ),
    command(
        "pass",
        Form::Plan(|world, fault| print::plan(&world.pass_of(0, &mut |_, _| fault))),
        "the same without a second and without a read: from what was observed last",
    ),
    command(
        "report",
        Form::Show(|world| print::report(&world.plan_of(0).report)),
        "`Ready`, every condition that is not as in a healthy pool, counts, provider ids and template version",
    ),
    command(
        "conditions",
        Form::Show(|world| print::conditions(&world.plan_of(0).report)),
        "every condition, as it is",
    ),
];

const OBJECTS: &[Command] = &[
    command("scale", Form::Number("REPLICAS", World::scale_to), "a user writes `MachinePool.spec.replicas`"),
    command("mark", Form::Machine(World::mark), "a user annotates the Machine with `delete-machine`"),
    command("delete-machine", Form::Machine(World::delete_machine), "a user deletes the Machine"),
    command("delete-foo-machine", Form::Machine(World::delete_foo_machine), "a user deletes its FooMachine"),
    command(
        "block-drain",
        Form::Machine(|world, name| {
            world.kube.held_up.insert(name.clone());
        }),
        "a disruption budget blocks the drain of the Machine",
    ),
    command(
        "unblock-drains",
        Form::Plain(|world| world.kube.held_up.clear()),
        "no drain is blocked any more",
    ),
    command(
        "nodes-never-join",
        Form::Word("SPEC_HASH", |world, hash| {
            world.kube.broken.insert(hash.into());
        }),
        "Nodes launched from the template with this hash do not join",
    ),
    command(
        "request-remediation",
        Form::MachineAndText("REASON", |world, name, reason| {
            if let Some(machine) = world.kube.machine_mut(name) {
                machine.unhealthy = Some(reason.to_owned());
            }
        }),
        "MachineHealthCheck asks for the Machine's remediation",
    ),
    command(
        "restore",
        Form::Number("REPLICAS", |world, replicas| {
            world.kube.restore(replicas);
            world.scale_to(replicas);
            world.restart(0);
        }),
        "etcd is restored to when the pool had this many replicas, and the manager starts again",
    ),
    command(
        "delete-pool",
        Form::Plain(World::delete_pool),
        "a user deletes the MachinePool and its FooMachinePool",
    ),
    command(
        "delete-pool-retaining",
        Form::Plain(World::delete_pool_retaining),
        "the same, with `deletionPolicy: Retain`",
    ),
    command(
        "add-finalizer",
        Form::Plain(|world| world.kube.finalizer = Finalizer::Present),
        "the pool has our finalizer although nothing was created for it, as earlier managers did it",
    ),
];

const INPUTS: &[Command] = &[
    command(
        "template",
        Form::TwoWords(["SPEC_HASH", "DATA_HASH"], |world, spec, data| {
            world.desired.template = Wanted::Ready(content(spec, data));
        }),
        "the pool asks for a launch template with these hashes of its content and of its user data",
    ),
    command(
        "arm64-image",
        Form::Word("IMAGE", World::names_arm64_image),
        "the pool has instance types of both architectures, and the present content has this image for those of arm64",
    ),
    command(
        "block-template",
        Form::Blocked(|world, blocked| world.desired.template = Wanted::Blocked(blocked)),
        "the content of the template cannot be determined",
    ),
    command(
        "input-missing",
        Form::Blocked(|world, blocked| world.desired.missing = vec![blocked]),
        "something that the pool needs is not there yet",
    ),
    command("inputs-present", Form::Plain(|world| world.desired.missing.clear()), "everything is there"),
    command(
        "pause",
        Form::Plain(|world| world.desired.pause = Some(PausedBy::Annotation)),
        "the FooMachinePool is annotated as paused",
    ),
    command("unpause", Form::Plain(|world| world.desired.pause = None), "the annotation is removed"),
    command(
        "pause-rollout",
        Form::Plain(|world| world.desired.rollout.paused = Some(RolloutPause::ByUser)),
        "the FooMachinePool is annotated with `rollout-paused`",
    ),
    command(
        "resume-rollout",
        Form::Plain(|world| world.desired.rollout.paused = None),
        "the annotation is removed",
    ),
    command(
        "window-in",
        Form::Number("SECONDS", World::opens_in),
        "`spec.maintenanceWindows`: the next one opens in so many seconds, for an hour; 0: one is open",
    ),
    command(
        "rollout-now",
        Form::Plain(|world| world.desired.maintenance = Maintenance::Always),
        "the FooMachinePool is annotated with `rollout-now`, or has no windows any more",
    ),
    command("managed-by-machine-pool", Form::Plain(World::manage_again), "`replicas-managed-by` is removed"),
    command(
        "adopt-from",
        Form::Word("INSTALLATION", |world, from| world.desired.identity.adopt_from = Some(from.to_owned())),
        "the annotation that names the management cluster whose group the pool adopts",
    ),
    command("adopt", Form::Plain(World::adopt), "`spec.adopt` is true, and the identity allows it"),
    command("adopt-done", Form::Plain(World::end_adoption), "`spec.adopt` is false again"),
    command(
        "move-away",
        Form::Plain(|world| world.desired.goal = Goal::Orphan),
        "`clusterctl move` has moved the pool to another management cluster",
    ),
];

const INSTANCES: &[Command] = &[
    command("kill", Form::Instance(World::kill), "the instance is gone from EC2 and from the group at once"),
    command(
        "aws-terminates",
        Form::Instance(|world, id| world.cloud.terminate_by_aws(id, world.now)),
        "AWS terminates the instance for a reason of its own; our lifecycle hook delays that",
    ),
    command(
        "fail-health-check",
        Form::Instance(|world, id| world.cloud.fail_health_check(id, world.now)),
        "the instance dies in EC2, its health check fails, and the group terminates it through our lifecycle hook",
    ),
    command(
        "interrupt",
        Form::Instance(|world, id| world.announce(SignalKind::Interruption, id)),
        "EC2 announces a spot interruption",
    ),
    command(
        "retire",
        Form::Instance(|world, id| world.announce(SignalKind::Retirement, id)),
        "EC2 announces that the host will be retired",
    ),
    command(
        "rebalance",
        Form::Instance(|world, id| world.announce(SignalKind::Rebalance, id)),
        "EC2 recommends to replace the spot instance",
    ),
    command(
        "ec2-not-found",
        Form::InstanceAndNumber("SECONDS", |world, id, seconds| {
            world.cloud.hide(id, world.now, u64::from(seconds));
        }),
        "EC2's reads do not find the instance for so long, dead or alive",
    ),
    command("unprotect", Form::Instance(World::unprotect), "a user removes its protection from scale-in"),
    command(
        "detach",
        Form::Instance(|world, id| {
            world.cloud.kill(id, world.now);
            world.cloud.detached.insert(id.clone());
        }),
        "a user detaches it from the group; it lives on",
    ),
];

const GROUP: &[Command] = &[
    command(
        "set-desired",
        Form::Number("SIZE", World::set_desired_by_hand),
        "a user sets desired capacity in AWS",
    ),
    command(
        "set-min-size",
        Form::Number("SIZE", World::set_min_by_hand),
        "a user sets the minimum size in AWS",
    ),
    command(
        "capacity",
        Form::Choice(&[
            ("available", |world| {
                world.cloud.launches = Launches::Work;
                world.managers[0].shortage = None;
            }),
            ("unavailable", |world| {
                world.cloud.launches = Launches::Fail;
                world.managers[0].shortage = Some("no m7i.large capacity in eu-1a".to_owned());
            }),
        ]),
        "whether AWS can launch instances",
    ),
    command(
        "delete-group",
        Form::Plain(|world| world.cloud.delete_by_force(world.now)),
        "a user deletes the group with its instances",
    ),
    command(
        "tag-installation",
        Form::Word("INSTALLATION", |world, installation| {
            if let Some(group) = &mut world.cloud.group {
                group.tags.insert(TAG_INSTALLATION.to_owned(), installation.to_owned());
            }
        }),
        "the group's tag names another management cluster",
    ),
    command(
        "untag-group",
        Form::Plain(|world| {
            if let Some(group) = &mut world.cloud.group {
                group.tags.clear();
            }
        }),
        "a user removes all tags of the group",
    ),
    command(
        "foreign-group",
        Form::Plain(|world| foreign_group(world.now, &mut world.cloud, "another")),
        "a group of this name exists, with the tags of a pool in another namespace",
    ),
    command(
        "unowned-group",
        Form::Number("INSTANCES", |world, instances| unowned_group(world.now, &mut world.cloud, instances)),
        "a group of this name exists that another tool created, with instances of another launch template and the tag `adoptable`",
    ),
    command(
        "deny-reads",
        Form::Plain(|world| {
            let message = "the IAM action autoscaling:DescribeAutoScalingGroups is missing".to_owned();
            world.managers[0].view = LastRead::Failed { reason: Reason::AccessDenied, message };
        }),
        "AWS denies the last read of the group",
    ),
];
