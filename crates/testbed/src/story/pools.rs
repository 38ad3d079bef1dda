//! The story of a pool, in seven steps.

use super::step::{Env, Step};
use crate::world::kinds::{Kind, is_deleting, text};
pub use crate::world::manifests::DEMO as CLUSTER;
use crate::world::{
    ACTIVE_PERIOD, AFTER_DRAIN, Cluster, Pool, PoolView, QUIET_PERIOD, SOON, Workload, World, manifests,
};
use crate::{PodEnd, watched_for};
use anyhow::{Context as _, Result, ensure};
use foo_simulator::core::group::model::Member;
use std::collections::BTreeSet;

/// Name of its pool, from the cluster template.
pub const POOL: &str = "demo-workers";
/// The AWS action that terminates an instance of a group.
const TERMINATE: &str = "TerminateInstanceInAutoScalingGroup";

pub(super) const TITLES: [&str; 7] = [
    "clusterctl init, a Cluster, a MachinePool of 3",
    "three instances, FooMachines, Machines and Nodes",
    "scale 3 to 6; then 6 to 4 while a budget protects the workload",
    "as cluster-autoscaler does: mark a Machine, then replicas - 1",
    "a Machine deleted: drained and replaced; an instance terminated in EC2: replaced",
    "the manager killed in the middle of a scale-in and started again",
    "the pool deleted: drained, and nothing left in AWS",
];

/// Runs all steps; the first has started.
pub(super) async fn run(env: &Env<'_>, first: Step<'_>) -> Result<()> {
    let env = PoolSteps { env };
    let step = first.then(env.a_cluster_and_a_pool().await)?;
    let step = step.then(env.three_of_everything().await)?;
    let step = step.then(env.up_and_down_within_a_budget().await)?;
    let step = step.then(env.the_marked_machine_is_deleted().await)?;
    let step = step.then(env.deleted_machines_are_replaced().await)?;
    let step = step.then(env.a_crash_in_the_middle().await)?;
    step.ends(env.nothing_is_left().await)
}

/// The steps of this story.
struct PoolSteps<'s> {
    env: &'s Env<'s>,
}

impl<'s> std::ops::Deref for PoolSteps<'s> {
    type Target = Env<'s>;

    fn deref(&self) -> &Env<'s> {
        self.env
    }
}

impl PoolSteps<'_> {
    fn cluster(&self) -> Cluster<'_> {
        self.world.existing_cluster(CLUSTER, CLUSTER)
    }

    fn pool(&self) -> Pool<'_> {
        self.cluster().existing_pool(POOL)
    }

    fn workload(&self) -> Workload<'_> {
        self.pool().workload("web")
    }

    async fn settles_at(&self, replicas: usize) -> Result<PoolView> {
        self.pool().settles_within(replicas, AFTER_DRAIN).await
    }

    async fn shows_pools(&self) -> Result<()> {
        self.prints(CLUSTER, &["get", "foomachinepools"]).await
    }
}

impl PoolSteps<'_> {
    async fn a_cluster_and_a_pool(&self) -> Result<()> {
        let pool = self.pool();
        let providers = ["get", "providers.clusterctl.cluster.x-k8s.io", "--all-namespaces"];
        self.reporter.prints("clusterctl init: installed", &self.world.api().kubectl(providers).await?);
        self.info(
            "The Secrets that the user brings: a kubeconfig of the existing API server, and user data.",
        );
        bring_secrets(self.world).await?;
        let arguments = template_arguments();
        self.info(&format!("clusterctl {} | kubectl apply -f -", arguments.join(" ")));
        let objects = self.world.rig().clusterctl(&arguments).await?;
        self.world.api().apply(&objects).await?;
        self.waiting_for("the Cluster to be provisioned", self.cluster().is_provisioned()).await?;
        let replicas = pool.replicas().await?;
        ensure!(replicas == Some(3), "the MachinePool requests {replicas:?} replicas");
        Ok(())
    }

    async fn three_of_everything(&self) -> Result<()> {
        let view = self.waiting_for("three Machines to run", self.settles_at(3)).await?;
        let names: Vec<&str> = view.machines.iter().map(|machine| machine.name.as_str()).collect();
        let foo_names: Vec<&str> =
            view.foo_machines.iter().map(|machine| text(machine, "/metadata/name")).collect();
        ensure!(names == foo_names, "Machines {names:?}, FooMachines {foo_names:?}");
        let zones: BTreeSet<&str> = members(&view).map(|member| member.zone.as_str()).collect();
        ensure!(zones.len() == 3, "the instances are in {zones:?} only: {view}");
        for machine in &view.machines {
            let node = machine.node_name();
            self.info(&format!("instance {} is Machine {} and Node {node}", machine.instance, machine.name));
        }
        self.shows_pools().await
    }

    async fn up_and_down_within_a_budget(&self) -> Result<()> {
        let pool = self.pool();
        self.info("kubectl scale machinepool demo-workers --replicas=6");
        pool.scale(6).await?;
        let six = self.waiting_for("six Machines to run", self.settles_at(6)).await?;
        self.info("A Deployment with a pod on each Node; its PodDisruptionBudget allows no disruption.");
        let workload = self.waiting_for("its pods", pool.run("web", 6)).await?;
        let terminations = self.world.aws().calls_of(TERMINATE);

        self.info("kubectl scale machinepool demo-workers --replicas=4");
        pool.scale(4).await?;
        let blocked = pool.wait("two drains to wait for the budget", AFTER_DRAIN, |view| {
            view.deleting().filter(|machine| machine.waits_for_budget()).count() == 2
        });
        let blocked = self.waiting_for("two drains to wait for the budget", blocked).await?;
        let victims = deleting(&blocked);
        for machine in blocked.deleting() {
            self.info(&format!(
                "{} is cordoned and waits: {}",
                machine.name,
                first_line(machine.deletion_message())
            ));
        }
        let still = pool.stays("as it is while the budget forbids it", QUIET_PERIOD, |view| {
            in_service(view).is_superset(&victims) && in_service(view).len() == 6
        });
        self.waiting_for("the budget, which stays as it is", still).await?;
        ensure!(
            self.world.aws().calls_of(TERMINATE) == terminations,
            "an instance was terminated during its drain"
        );
        let watched = watched_for(QUIET_PERIOD).as_secs();
        self.info(&format!("For {watched} s nothing happened: all six instances are in service."));

        self.info("The budget now allows three disruptions. (Cluster API retries a drain every 20 s.)");
        workload.allow(3).await?;
        let four = self.waiting_for("four Machines to be left", self.settles_at(4)).await?;
        self.exactly_these_were_deleted(&six, &four, &victims)?;
        self.drained_before_termination(&victims)?;
        self.waiting_for("the workload to be whole", workload.is_ready(6)).await?;
        self.shows_pools().await
    }

    async fn the_marked_machine_is_deleted(&self) -> Result<()> {
        let pool = self.pool();
        let four = pool.view().await?;
        let order: Vec<&Member> = by_age(&four);
        let newest = order.last().context("no instances")?;
        let marked = four.machine_of(newest.id.as_str()).context("an instance without Machine")?;
        self.info(&format!(
            "Annotate {}, the newest, which would be the last choice; then --replicas=3.",
            marked.name
        ));
        pool.mark_for_deletion(marked).await?;
        pool.stays("as it is without an excess", ACTIVE_PERIOD, |view| view.deleting().count() == 0).await?;
        pool.scale(3).await?;
        let three = self.waiting_for("three Machines to be left", self.settles_at(3)).await?;
        let victims = BTreeSet::from([marked.instance.clone()]);
        self.exactly_these_were_deleted(&four, &three, &victims)?;
        self.drained_before_termination(&victims)?;
        self.info("Exactly that one was deleted.");
        Ok(())
    }

    async fn deleted_machines_are_replaced(&self) -> Result<()> {
        let pool = self.pool();
        let before = pool.view().await?;
        let victim = before.machines.first().context("no Machines")?;
        self.info(&format!("kubectl delete machine {}", victim.name));
        pool.delete_machine(victim).await?;
        let gone = victim.instance.clone();
        let replaced = pool.wait("a replacement", AFTER_DRAIN, |view| {
            view.machine_of(&gone).is_none() && view.is_settled_at(3)
        });
        let after = self.waiting_for("it to be drained and replaced", replaced).await?;
        let victims = BTreeSet::from([victim.instance.clone()]);
        self.exactly_these_were_deleted(&before, &after, &victims)?;
        self.drained_before_termination(&victims)?;

        let victim = by_age(&after).first().map(|member| member.id.to_string()).context("no instances")?;
        self.info(&format!("A user terminates {victim} in EC2."));
        self.world.aws().kill_instance(&victim)?;
        let replaced = pool
            .wait("a replacement", SOON, |view| view.machine_of(&victim).is_none() && view.is_settled_at(3));
        let last = self.waiting_for("its Machine to be deleted and a replacement to join", replaced).await?;
        self.exactly_these_were_deleted(&after, &last, &BTreeSet::from([victim]))?;
        self.waiting_for("the workload to be whole", self.workload().is_ready(6)).await?;
        self.world.check_nothing_undrained()
    }

    async fn a_crash_in_the_middle(&self) -> Result<()> {
        let pool = self.pool();
        let three = pool.view().await?;
        // One round of evictions is enough here, wherever the pods are.
        self.workload().allow(6).await?;
        pool.scale(2).await?;
        let draining = pool.wait("a drain to begin", SOON, |view| view.deleting().count() == 1);
        let draining = self.waiting_for("a drain to begin", draining).await?;
        let manager = self.world.manager();
        let pid = manager.pid().unwrap_or_default();
        manager.kill();
        self.info(&format!("kill -9 {pid}: the manager is killed while {:?} drains.", deleting(&draining)));
        let victims = deleting(&draining);
        let drained = pool.wait("Cluster API to complete the drain", AFTER_DRAIN, |view| {
            view.foo_machines.iter().any(is_deleting)
        });
        let drained = self.waiting_for("Cluster API to complete the drain", drained).await?;
        ensure!(
            in_service(&drained).is_superset(&victims),
            "an instance was terminated without a manager: {drained}"
        );
        self.info(
            "The drain is over. The FooMachine's finalizer waits for the manager; the instance is untouched.",
        );

        manager.start().await?;
        self.info(&format!("The manager runs again (pid {}).", manager.pid().unwrap_or_default()));
        let two = self.waiting_for("two Machines to be left", self.settles_at(2)).await?;
        self.exactly_these_were_deleted(&three, &two, &victims)?;
        self.drained_before_termination(&victims)?;
        self.shows_pools().await
    }

    async fn nothing_is_left(&self) -> Result<()> {
        let pool = self.pool();
        let before = pool.view().await?;
        let instances = in_service(&before);
        let group = pool.group();
        self.info("kubectl delete machinepool demo-workers");
        pool.delete().await?;
        self.waiting_for("nothing to be left", pool.is_gone(AFTER_DRAIN)).await?;
        self.drained_before_termination(&instances)?;
        let aws = self.world.aws();
        ensure!(aws.group(&group).is_none(), "the group is still there");
        let templates = aws.region().templates();
        ensure!(templates.is_empty(), "launch templates are left: {templates:?}");
        let instances = aws.instances_of(&group);
        ensure!(instances.is_empty(), "instances are left: {instances:?}");
        self.info("No group, no launch template, no instance is left in AWS.");
        ensure!(self.cluster().read(Kind::Cluster).await?.is_some(), "the Cluster was deleted with its pool");
        self.world.check_nothing_undrained()?;
        self.world.check_nothing_forbidden()
    }

    /// Of the instances before, these were deleted and all others stayed.
    fn exactly_these_were_deleted(
        &self,
        before: &PoolView,
        after: &PoolView,
        victims: &BTreeSet<String>,
    ) -> Result<()> {
        let deleted: BTreeSet<String> = in_service(before).difference(&in_service(after)).cloned().collect();
        ensure!(deleted == *victims, "{victims:?} should have been deleted, {deleted:?} were: {after}");
        self.info(&format!("Deleted: {victims:?}. All others stayed."));
        Ok(())
    }

    /// The pods of these instances were evicted before the instances were terminated.
    fn drained_before_termination(&self, victims: &BTreeSet<String>) -> Result<()> {
        let deaths = self.world.kubelets().deaths();
        for victim in victims {
            let on_it = deaths.iter().filter(|death| {
                death.namespace == CLUSTER
                    && death.provider_id.as_deref().is_some_and(|id| id.ends_with(victim))
            });
            let on_it: Vec<_> = on_it.collect();
            ensure!(!on_it.is_empty(), "there was no pod on {victim} whose drain could be seen");
            ensure!(
                on_it.iter().all(|death| matches!(death.end, PodEnd::Evicted | PodEnd::Deleted)),
                "pods were lost with {victim}: {on_it:?}"
            );
        }
        self.world.check_nothing_undrained()
    }
}

fn members(view: &PoolView) -> impl Iterator<Item = &Member> {
    view.group.iter().flat_map(|group| group.members.values())
}

/// Ids of the group's instances that are InService.
fn in_service(view: &PoolView) -> BTreeSet<String> {
    let in_service = members(view).filter(|member| member.lifecycle.name() == "InService");
    in_service.map(|member| member.id.to_string()).collect()
}

/// Oldest first.
fn by_age(view: &PoolView) -> Vec<&Member> {
    let mut members: Vec<&Member> = members(view).collect();
    members.sort_by_key(|member| member.launched);
    members
}

/// Instances whose Machines are being deleted.
fn deleting(view: &PoolView) -> BTreeSet<String> {
    view.deleting().map(|machine| machine.instance.clone()).collect()
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| line.contains("disruption budget")).unwrap_or(text).trim()
}

/// Creates the namespace of the story's Cluster, and the Secrets that a user brings.
pub async fn bring_secrets(world: &World) -> Result<()> {
    world.apply(&manifests::namespace(CLUSTER)).await?;
    world.apply(&manifests::kubeconfig_secret(CLUSTER, CLUSTER, world.api().kubeconfig())).await?;
    let pool = world.existing_cluster(CLUSTER, CLUSTER).existing_pool(POOL);
    world.apply(&manifests::bootstrap_secret(pool.name())).await
}

/// The clusterctl variables of the story's cluster template, for a user who wants to try it afterwards.
pub fn template_arguments() -> Vec<String> {
    let version = format!("--kubernetes-version={}", manifests::VERSION);
    let args = ["generate", "cluster", CLUSTER, "--infrastructure=foo", "--worker-machine-count=3"];
    let target = format!("--target-namespace={CLUSTER}");
    args.into_iter().map(str::to_owned).chain([version, target]).collect()
}
