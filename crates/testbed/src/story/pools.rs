//! The story of a pool, in seven steps.

use super::scene::{Scene, Step};
use crate::world::kinds::{Kind, is_deleting, text};
pub use crate::world::manifests::DEMO as CLUSTER;
use crate::world::{
    ACTIVE_PERIOD, AFTER_DRAIN, Cluster, Pool, PoolView, QUIET_PERIOD, SOON, Workload, manifests,
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
    "cluster-autoscaler's way: mark a Machine, then replicas - 1",
    "a Machine deleted: drained and replaced; an instance killed behind our back: replaced",
    "the manager killed in the middle of a scale-in and started again",
    "the pool deleted: drained, and nothing left in AWS",
];

/// Plays all steps; the first has begun.
pub(super) async fn play(scene: &Scene<'_>, first: Step<'_>) -> Result<()> {
    let scene = PoolScene { scene };
    let step = first.then(scene.a_cluster_and_a_pool().await)?;
    let step = step.then(scene.three_of_everything().await)?;
    let step = step.then(scene.up_and_down_within_a_budget().await)?;
    let step = step.then(scene.the_marked_machine_goes().await)?;
    let step = step.then(scene.what_goes_is_replaced().await)?;
    let step = step.then(scene.a_crash_in_the_middle().await)?;
    step.ends(scene.nothing_is_left().await)
}

/// The scene of this story.
struct PoolScene<'s> {
    scene: &'s Scene<'s>,
}

impl<'s> std::ops::Deref for PoolScene<'s> {
    type Target = Scene<'s>;

    fn deref(&self) -> &Scene<'s> {
        self.scene
    }
}

impl PoolScene<'_> {
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
        self.shows(CLUSTER, &["get", "foomachinepools"]).await
    }
}

impl PoolScene<'_> {
    async fn a_cluster_and_a_pool(&self) -> Result<()> {
        let pool = self.pool();
        let providers = ["get", "providers.clusterctl.cluster.x-k8s.io", "--all-namespaces"];
        self.voice.shows("clusterctl init: installed", &self.world.api().kubectl(providers).await?);
        self.says(
            "The Secrets that the user brings: a kubeconfig of the existing API server, and user data.",
        );
        self.world.apply(&manifests::namespace(CLUSTER)).await?;
        let kubeconfig = self.world.api().kubeconfig();
        self.world.apply(&manifests::kubeconfig_secret(CLUSTER, CLUSTER, kubeconfig)).await?;
        self.world.apply(&manifests::bootstrap_secret(pool.name())).await?;
        let arguments = template_arguments();
        self.says(&format!("clusterctl {} | kubectl apply -f -", arguments.join(" ")));
        let objects = self.world.rig().clusterctl(&arguments).await?;
        self.world.api().apply(&objects).await?;
        self.waits("the Cluster to be provisioned", self.cluster().is_provisioned()).await?;
        let replicas = pool.replicas().await?;
        ensure!(replicas == Some(3), "the MachinePool wants {replicas:?} replicas");
        Ok(())
    }

    async fn three_of_everything(&self) -> Result<()> {
        let view = self.waits("three Machines to run", self.settles_at(3)).await?;
        let names: Vec<&str> = view.machines.iter().map(|machine| machine.name.as_str()).collect();
        let foo_names: Vec<&str> =
            view.foo_machines.iter().map(|machine| text(machine, "/metadata/name")).collect();
        ensure!(names == foo_names, "Machines {names:?}, FooMachines {foo_names:?}");
        let zones: BTreeSet<&str> = members(&view).map(|member| member.zone.as_str()).collect();
        ensure!(zones.len() == 3, "the instances are in {zones:?} only: {view}");
        for machine in &view.machines {
            let node = machine.node_name();
            self.says(&format!("instance {} is Machine {} and Node {node}", machine.instance, machine.name));
        }
        self.shows_pools().await
    }

    async fn up_and_down_within_a_budget(&self) -> Result<()> {
        let pool = self.pool();
        self.says("kubectl scale machinepool demo-workers --replicas=6");
        pool.scale(6).await?;
        let six = self.waits("six Machines to run", self.settles_at(6)).await?;
        self.says("A Deployment with a pod on each Node; its PodDisruptionBudget lets nothing go.");
        let workload = self.waits("its pods", pool.run("web", 6)).await?;
        let terminations = self.world.aws().calls_of(TERMINATE);

        self.says("kubectl scale machinepool demo-workers --replicas=4");
        pool.scale(4).await?;
        let blocked = pool.wait("two drains to wait for the budget", AFTER_DRAIN, |view| {
            view.deleting().filter(|machine| machine.waits_for_budget()).count() == 2
        });
        let blocked = self.waits("two drains to wait for the budget", blocked).await?;
        let victims = deleting(&blocked);
        for machine in blocked.deleting() {
            self.says(&format!(
                "{} is cordoned and waits: {}",
                machine.name,
                first_line(machine.deletion_message())
            ));
        }
        let still = pool.stays("as it is while the budget forbids it", QUIET_PERIOD, |view| {
            in_service(view).is_superset(&victims) && in_service(view).len() == 6
        });
        self.waits("the budget, which stays as it is", still).await?;
        ensure!(
            self.world.aws().calls_of(TERMINATE) == terminations,
            "an instance was ended during its drain"
        );
        let watched = watched_for(QUIET_PERIOD).as_secs();
        self.says(&format!("For {watched} s nothing happened: all six instances are in service."));

        self.says("The budget now allows three disruptions. (Cluster API looks at a drain every 20 s.)");
        workload.allow(3).await?;
        let four = self.waits("four Machines to be left", self.settles_at(4)).await?;
        self.exactly_these_went(&six, &four, &victims)?;
        self.drained_before_they_ended(&victims)?;
        self.waits("the workload to be whole", workload.is_ready(6)).await?;
        self.shows_pools().await
    }

    async fn the_marked_machine_goes(&self) -> Result<()> {
        let pool = self.pool();
        let four = pool.look().await?;
        let order: Vec<&Member> = by_age(&four);
        let newest = order.last().context("no instances")?;
        let marked = four.machine_of(newest.id.as_str()).context("an instance without Machine")?;
        self.says(&format!(
            "Annotate {}, the newest, which would be the last choice; then --replicas=3.",
            marked.name
        ));
        pool.mark_for_deletion(marked).await?;
        pool.stays("as it is without an excess", ACTIVE_PERIOD, |view| view.deleting().count() == 0).await?;
        pool.scale(3).await?;
        let three = self.waits("three Machines to be left", self.settles_at(3)).await?;
        let victims = BTreeSet::from([marked.instance.clone()]);
        self.exactly_these_went(&four, &three, &victims)?;
        self.drained_before_they_ended(&victims)?;
        self.says("Exactly that one went.");
        Ok(())
    }

    async fn what_goes_is_replaced(&self) -> Result<()> {
        let pool = self.pool();
        let before = pool.look().await?;
        let victim = before.machines.first().context("no Machines")?;
        self.says(&format!("kubectl delete machine {}", victim.name));
        pool.delete_machine(victim).await?;
        let gone = victim.instance.clone();
        let replaced = pool.wait("a replacement", AFTER_DRAIN, |view| {
            view.machine_of(&gone).is_none() && view.is_settled_at(3)
        });
        let after = self.waits("it to be drained and replaced", replaced).await?;
        let victims = BTreeSet::from([victim.instance.clone()]);
        self.exactly_these_went(&before, &after, &victims)?;
        self.drained_before_they_ended(&victims)?;

        let victim = by_age(&after).first().map(|member| member.id.to_string()).context("no instances")?;
        self.says(&format!("Somebody ends {victim} in AWS, behind our back."));
        self.world.aws().kill_instance(&victim)?;
        let replaced = pool
            .wait("a replacement", SOON, |view| view.machine_of(&victim).is_none() && view.is_settled_at(3));
        let last = self.waits("its Machine to go and a replacement to come", replaced).await?;
        self.exactly_these_went(&after, &last, &BTreeSet::from([victim]))?;
        self.waits("the workload to be whole", self.workload().is_ready(6)).await?;
        self.world.check_nothing_undrained()
    }

    async fn a_crash_in_the_middle(&self) -> Result<()> {
        let pool = self.pool();
        let three = pool.look().await?;
        // One round of evictions is enough here, wherever the pods are.
        self.workload().allow(6).await?;
        pool.scale(2).await?;
        let draining = pool.wait("a drain to begin", SOON, |view| view.deleting().count() == 1);
        let draining = self.waits("a drain to begin", draining).await?;
        let manager = self.world.manager();
        let pid = manager.pid().unwrap_or_default();
        manager.kill();
        self.says(&format!("kill -9 {pid}: the manager is gone while {:?} drains.", deleting(&draining)));
        let victims = deleting(&draining);
        let drained = pool.wait("Cluster API to end the drain", AFTER_DRAIN, |view| {
            view.foo_machines.iter().any(is_deleting)
        });
        let drained = self.waits("Cluster API to end the drain", drained).await?;
        ensure!(in_service(&drained).is_superset(&victims), "an instance ended without a manager: {drained}");
        self.says(
            "The drain is over. The FooMachine's finalizer waits for the manager; the instance is untouched.",
        );

        manager.start().await?;
        self.says(&format!("The manager runs again (pid {}).", manager.pid().unwrap_or_default()));
        let two = self.waits("two Machines to be left", self.settles_at(2)).await?;
        self.exactly_these_went(&three, &two, &victims)?;
        self.drained_before_they_ended(&victims)?;
        self.shows_pools().await
    }

    async fn nothing_is_left(&self) -> Result<()> {
        let pool = self.pool();
        let before = pool.look().await?;
        let instances = in_service(&before);
        let group = pool.group();
        self.says("kubectl delete machinepool demo-workers");
        pool.delete().await?;
        self.waits("nothing to be left", pool.is_gone(AFTER_DRAIN)).await?;
        self.drained_before_they_ended(&instances)?;
        let aws = self.world.aws();
        ensure!(aws.group(&group).is_none(), "the group is still there");
        let templates = aws.region().templates();
        ensure!(templates.is_empty(), "launch templates are left: {templates:?}");
        let instances = aws.instances_of(&group);
        ensure!(instances.is_empty(), "instances are left: {instances:?}");
        self.says("No group, no launch template, no instance is left in AWS.");
        ensure!(self.cluster().read(Kind::Cluster).await?.is_some(), "the Cluster went with its pool");
        self.world.check_nothing_undrained()?;
        self.world.check_nothing_forbidden()
    }

    /// Of the instances before, these went and all others stayed.
    fn exactly_these_went(
        &self,
        before: &PoolView,
        after: &PoolView,
        victims: &BTreeSet<String>,
    ) -> Result<()> {
        let went: BTreeSet<String> = in_service(before).difference(&in_service(after)).cloned().collect();
        ensure!(went == *victims, "{victims:?} should have gone, {went:?} went: {after}");
        self.says(&format!("Gone: {victims:?}. All others stayed."));
        Ok(())
    }

    /// The pods of these instances were evicted, and only then did the instances end.
    fn drained_before_they_ended(&self, victims: &BTreeSet<String>) -> Result<()> {
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

/// Ids of the group's instances that AWS calls InService.
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

/// The clusterctl variables of the story's cluster template, for a user who wants to try it afterwards.
pub fn template_arguments() -> Vec<String> {
    let version = format!("--kubernetes-version={}", manifests::VERSION);
    let args = ["generate", "cluster", CLUSTER, "--infrastructure=foo", "--worker-machine-count=3"];
    let target = format!("--target-namespace={CLUSTER}");
    args.into_iter().map(str::to_owned).chain([version, target]).collect()
}
