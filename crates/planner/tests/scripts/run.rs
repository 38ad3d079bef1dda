//! The commands.

use crate::world::{Fault, Launches, World, content, pool, short, somebody_elses};
use foo_planner::desired::{Blocked, PausedBy, TAG_INSTALLATION, Wanted};
use foo_planner::model::Reason;
use foo_planner::model::{Health, InstanceId, LifecycleState, MachineName, SignalKind};
use foo_planner::observed::Finalizer;
use foo_planner::report::{Pace, Report};
use foo_planner::{Goal, Look, Plan};

/// A world and how it began.
pub(super) struct Stage {
    pool: Option<crate::world::Pool>,
    world: Option<World>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self { pool: None, world: None }
    }

    /// Runs one command; what it prints.
    pub(super) fn run(&mut self, command: &str) -> Vec<String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[0] {
            "pool" => self.pool = Some(described(&words[1..])),
            "new" => self.world = Some(self.pool.take().expect("a pool first").new_world()),
            "running" => self.world = Some(self.pool.take().expect("a pool first").running()),
            _ => return run(self.world.as_mut().expect("new or running first"), &words),
        }
        Vec::new()
    }
}

fn described(words: &[&str]) -> crate::world::Pool {
    let mut described = pool();
    for word in words {
        let (key, value) = word.split_once('=').expect("key=value");
        let number = || value.parse::<u32>().expect("a number");
        described = match key {
            "replicas" => described.of(number()),
            "ceiling" => described.with_ceiling(number()),
            "drains" => described.draining_at_most(number()),
            "surge" => described.with_surge(number()),
            "unavailable" => described.lacking_at_most(number()),
            "on-failure" => described.rolling_back(),
            "strategy" => described.replaced_by_somebody_else(),
            "rebalance" => described.following_advice(),
            "stabilization" => described.stabilized_for(number()),
            "policy" => described.taking_the_newest(),
            "external" => {
                let (min, max) = value.split_once("..").expect("min..max");
                described.managed_by_somebody_else(min.parse().unwrap(), max.parse().unwrap())
            }
            other => panic!("unknown: {other}"),
        };
    }
    described
}

fn run(world: &mut World, words: &[&str]) -> Vec<String> {
    let number = || words[1].parse::<u32>().expect("a number");
    match words[0] {
        "wait" => world.wait(u64::from(number())),
        "aws" => world.cloud.work(world.now),
        "core" => world.kube.work(world.now, &world.cloud),
        "round" => {
            for _ in 0..number() {
                world.round();
            }
        }
        "rest" => {
            world.settle();
        }
        "look" => {
            world.wait(1);
            world
                .look_with_lag(words.get(1).map_or(0, |lag| lag.trim_start_matches("lag=").parse().unwrap()));
        }
        "plan" => {
            world.wait(1);
            world.look();
            return pass(world, words);
        }
        "pass" => return pass(world, words),
        "report" => {
            let plan = world.plan_of(0);
            return report(&plan.report);
        }
        "restart" => world.restart(0),
        _ => return people(world, words),
    }
    Vec::new()
}

fn people(world: &mut World, words: &[&str]) -> Vec<String> {
    let number = || words[1].parse::<u32>().expect("a number");
    let rest = || words[2..].join(" ");
    match words[0] {
        "scale" => world.scale_to(number()),
        "mark" => world.mark(&machine(world, words)),
        "unmark" => world.unmark(&machine(world, words)),
        "delete-machine" => world.delete_machine(&machine(world, words)),
        "delete-foo-machine" => world.delete_foo_machine(&machine(world, words)),
        "hold-drain" => {
            let name = machine(world, words);
            world.kube.held_up.insert(name);
        }
        "release-drains" => world.kube.held_up.clear(),
        "content" => world.desired.template = Wanted::Ready(content(words[1], words[2])),
        "broken" => {
            world.kube.broken.insert(words[1].into());
        }
        "works" => {
            world.kube.broken.remove(&words[1].into());
        }
        "stop-rollout" => world.desired.rollout.paused = true,
        "go-on" => world.desired.rollout.paused = false,
        "gives-up" => {
            let name = machine(world, words);
            let why = words[2..].join(" ");
            world.kube.machine_mut(&name).unwrap().unhealthy = Some(why);
        }
        "block" => world.desired.template = Wanted::Blocked(Blocked::new(reason(words[1]), rest())),
        "missing" => world.desired.missing = vec![Blocked::new(reason(words[1]), rest())],
        "present" => world.desired.missing.clear(),
        "pause" => world.desired.pause = Some(PausedBy::Annotation),
        "unpause" => world.desired.pause = None,
        "managed" => world.let_somebody_else_manage(number(), words[2].parse().unwrap()),
        "unmanaged" => world.manage_again(),
        // As managers did it that took hold of a pool before anything was made for it.
        "held" => world.kube.finalizer = Finalizer::Present,
        "delete-pool" => world.delete_pool(),
        "adopt-from" => world.desired.identity.adopt_from = Some(words[1].to_owned()),
        "move-away" => world.desired.goal = Goal::LetGo,
        _ => return cloud(world, words),
    }
    Vec::new()
}

fn cloud(world: &mut World, words: &[&str]) -> Vec<String> {
    let number = || words[1].parse::<u32>().expect("a number");
    let now = world.now;
    match words[0] {
        "kill" => world.kill(&instance(world, words)),
        "unprotect" => world.unprotect(&instance(world, words)),
        "unhealthy" => {
            let id = instance(world, words);
            world.cloud.instance_mut(&id).unwrap().health = Health::Unhealthy;
        }
        "leaving" => {
            let id = instance(world, words);
            world.cloud.instance_mut(&id).unwrap().lifecycle = LifecycleState::TerminatingWait;
        }
        "interrupt" | "retire" | "advise" => {
            let kind = match words[0] {
                "interrupt" => SignalKind::Interruption,
                "retire" => SignalKind::Retirement,
                _ => SignalKind::Rebalance,
            };
            let id = instance(world, words);
            world.announce(kind, &id);
        }
        "take" => {
            let id = instance(world, words);
            world.cloud.take(&id, now);
        }
        "strike" => {
            let id = instance(world, words);
            world.cloud.strike(&id, now);
        }
        "hide" => {
            let id = instance(world, words);
            world.cloud.hide(&id, now, words[2].parse().expect("seconds"));
        }
        "detach" => {
            let id = instance(world, words);
            world.cloud.kill(&id, now);
            world.cloud.detached.insert(id);
        }
        "desired" => world.set_desired_by_hand(number()),
        "min" => world.set_min_by_hand(number()),
        "delete-group" => world.cloud.delete_by_force(now),
        "installation" => {
            let tags = &mut world.cloud.group.as_mut().unwrap().tags;
            tags.insert(TAG_INSTALLATION.to_owned(), words[1].to_owned());
        }
        "untag-group" => world.cloud.group.as_mut().unwrap().tags.clear(),
        "deny" => {
            let message = "the IAM action autoscaling:DescribeAutoScalingGroups is missing".to_owned();
            world.managers[0].view = Look::Failed { reason: Reason::AccessDenied, message };
        }
        "capacity" => {
            world.cloud.launches = if words[1] == "works" { Launches::Work } else { Launches::Fail };
            world.managers[0].shortage =
                (words[1] != "works").then(|| "no m7i.large capacity in eu-1a".to_owned());
        }
        "somebody-elses-group" => somebody_elses(now, &mut world.cloud, "another"),
        other => panic!("unknown command: {other}"),
    }
    world.cloud.record(now);
    Vec::new()
}

fn machine(world: &World, words: &[&str]) -> MachineName {
    let mut names: Vec<MachineName> =
        world.kube.machines.iter().map(|machine| machine.name.clone()).collect();
    names.sort();
    names[words[1].parse::<usize>().expect("a number") - 1].clone()
}

fn instance(world: &World, words: &[&str]) -> InstanceId {
    world.instances()[words[1].parse::<usize>().expect("a number") - 1].clone()
}

fn pass(world: &mut World, words: &[&str]) -> Vec<String> {
    let fault = match words.get(1) {
        None => Fault::None,
        Some(&"fault=AnswerLost") => Fault::AnswerLost,
        Some(&"fault=RequestLost") => Fault::RequestLost,
        Some(&"fault=Refused") => Fault::Refused,
        Some(other) => panic!("unknown fault: {other}"),
    };
    let plan = world.pass_of(0, &mut |_, _| fault);
    printed(&plan)
}

/// What people would want to know of a plan.
fn printed(plan: &Plan) -> Vec<String> {
    let mut lines: Vec<String> = plan.actions.iter().map(short).collect();
    if lines.is_empty() {
        lines.push("nothing to do".to_owned());
    }
    lines.extend(
        plan.report.events.iter().map(|event| format!("  event {}: {}", event.reason, event.message)),
    );
    let ready = &plan.report.conditions[0];
    lines.push(format!("  ready {:?} {}: {}", ready.status, ready.reason, ready.message));
    let pace = match plan.report.next.pace {
        Pace::Active => "active",
        Pace::Patient => "patient",
        Pace::Quiet => "quiet",
    };
    let after =
        plan.report.next.after.map_or_else(String::new, |after| format!(", again in {} s", after.as_secs()));
    lines.push(format!("  next {pace}{after}"));
    lines
}

fn report(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report
        .conditions
        .iter()
        .map(|it| format!("{:?} {:?} {}: {}", it.kind, it.status, it.reason, it.message))
        .map(|line| line.trim_end_matches([' ', ':']).to_owned())
        .collect();
    match &report.counts {
        Some(it) => lines.push(format!(
            "replicas {} of {}, ready {}, up to date {}; group {} in {}..{}; provisioned {}",
            it.replicas,
            it.desired,
            it.ready,
            it.up_to_date,
            it.group_desired,
            it.group_min,
            it.group_max,
            report.provisioned
        )),
        None => lines.push("counts unknown".to_owned()),
    }
    lines.extend(report.provider_ids.iter().flatten().cloned());
    if let Some(template) = &report.template {
        lines.push(format!(
            "template {} version {} spec {}",
            template.id, template.version, template.spec_hash
        ));
    }
    lines
}

fn reason(text: &str) -> Reason {
    Reason::parse(text).unwrap_or_else(|| panic!("no reason of a condition: {text}"))
}
