//! Carries out a command: reads, and prints what the pure functions of its module make of that.

use crate::access::{Access, FIELD_MANAGER, Reads};
use crate::adopt::{self, Adopter};
use crate::adopt_cluster;
use crate::args::{
    CLUSTERS, Cli, ClusterArgs, Command, DRAINED, EXPLAINED, MACHINES, PLANNED, PlannedArgs, ROLLED_OUT,
    RolloutCommand,
};
use crate::asked::{Asked, Kind, asked};
use crate::aws::Aws;
use crate::cluster;
use crate::diff::{self, Diffs};
use crate::drains::{self, Drains};
use crate::plan::Plans;
use crate::plan::files::Manifests;
use crate::preflight::{self, Choices};
use crate::refused::{Transient, Usage};
use crate::rollout::change::Change;
use crate::rollout::history::{self, History};
use crate::rollout::{self, Outcome, Rollout, Rollouts};
use crate::shell::script;
use crate::status::read::Facts;
use crate::status::{self, Machines};
use crate::terminal::{Form, Format, Out, Screen, Width};
use crate::{console, events, explain, orphans, plan, support};
use anyhow::{Result, anyhow};
use foo_api::plan::GivenDurations;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::convert::Infallible;
use std::time::Duration;
use tokio::time::Instant;

/// How long a watched status is not read again. Each read lists six kinds.
const PERIOD: Duration = Duration::from_secs(5);

/// How a command ended that met no error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was done.
    Done,
    /// What it waited for has failed, or did not happen in time: the process ends with the status 3.
    Unfinished,
    /// A plan changes something, and the user asked for that in the status; or something differs, or is in the way of an
    /// adoption, or would be refused. The status is 4.
    Changes,
}

/// Carries out what the arguments say.
///
/// # Errors
/// A [`Usage`] if arguments do not fit together; else one whose text is for the user.
pub async fn run(cli: Cli, out: &mut Out<'_>) -> Result<Ended> {
    let Cli { command, cluster } = cli;
    if let Command::Completion { shell } = command {
        out.print(&script(shell))?;
        return Ok(Ended::Done);
    }
    let ClusterArgs { kubeconfig, context, namespace, all_namespaces } = cluster;
    let access = Access::of(kubeconfig.as_deref(), context).await?;
    let namespace = (!all_namespaces).then(|| namespace.unwrap_or_else(|| access.namespace.clone()));
    on(&access, namespace.as_deref(), command, out).await
}

/// Carries out a command on a cluster, in that namespace or in all.
///
/// # Errors
/// As [`run`].
pub async fn on(
    access: &Access,
    namespace: Option<&str>,
    command: Command,
    out: &mut Out<'_>,
) -> Result<Ended> {
    let reads = Reads::new(&access.client, namespace);
    let mut ended = Ok(Ended::Done);
    match command {
        Command::Explain { objects } => {
            let asked = named(&objects, &EXPLAINED, namespace)?;
            let everything = explain::read::read(&reads, &asked).await?;
            out.print(&explain::everything(&everything, Timestamp::now()))?;
        }
        Command::Status { clusters, watch, machines, output } => {
            let asked = named(&clusters, &CLUSTERS, namespace)?;
            let machines = if machines { Machines::All } else { Machines::Unsettled };
            if watch {
                return watched(access, namespace, &asked, machines, output.into(), out)
                    .await
                    .map(|never| match never {});
            }
            let all = status::read::read(&reads, &asked).await?;
            print_status(&all, machines, output.into(), out)?;
        }
        Command::Drains { objects, workload_kubeconfig, output } => {
            let asked = named(&objects, &DRAINED, namespace)?;
            let mut drains = drains::read::read(&reads, &asked).await?;
            let now = Timestamp::now();
            drains::workload::refine(&reads, &mut drains, workload_kubeconfig.as_deref(), now).await?;
            out.show(output, &Drains { drains }, |drains, width| drains::text(drains, width, now))?;
        }
        Command::Plan { of, launch, drain, exit_code, output } => {
            let durations = GivenDurations {
                launch_seconds: launch.map(|it| seconds("--launch", it)).transpose()?,
                drain_seconds: drain.map(|it| seconds("--drain", it)).transpose()?,
            };
            let (plans, _) = planned(&reads, &of, durations).await?;
            out.show(output, &plans, |plans, _| plan::text(plans))?;
            if !plans.failures.is_empty() {
                ended = Err(anyhow!(plans.failures.join("; ")));
            } else if exit_code && plans.change_anything() {
                ended = Ok(Ended::Changes);
            }
        }
        Command::Diff { of, output } => {
            let (plans, unread) = planned(&reads, &of, GivenDurations::default()).await?;
            let diffs = Diffs::of(&plans, &unread);
            out.show(output, &diffs, |diffs, _| diff::text(diffs))?;
            let unknown = diffs.unknown();
            if !unknown.is_empty() {
                ended = Err(anyhow!(unknown.join("; ")));
            } else if diffs.differ() {
                ended = Ok(Ended::Changes);
            }
        }
        Command::Adopt { group, cluster, name, bootstrap_secret, profile, plan, output } => {
            let Some(namespace) = namespace else {
                return Err(Usage("--all-namespaces does not say where the pool is to be".to_owned()).into());
            };
            let name = name.unwrap_or_else(|| adopt::manifest::object_name(&group));
            adopt::check_names(&group, &name)?;
            let in_aws = cluster::in_aws(&reads, namespace, &cluster).await?;
            adopt::check_bootstrap(&in_aws, bootstrap_secret.as_deref(), &cluster)?;
            let version = in_aws.version.clone();
            let adopter =
                Adopter { namespace: namespace.to_owned(), name, cluster, version, bootstrap_secret };
            adopt::check_free(&reads, &group, &adopter).await?;
            let aws = Aws::new(in_aws.region.as_str(), profile);
            let adoption = adopt::adoption(&aws, &reads, &group, &adopter, &in_aws).await?;
            if plan {
                let plans = planned_adoption(&reads, &adoption.objects).await?;
                out.show(output, &plans, |plans, _| plan::text(plans))?;
                if !plans.failures.is_empty() {
                    ended = Err(anyhow!(plans.failures.join("; ")));
                }
            } else {
                out.manifests(output.unwrap_or(Format::Yaml), &adoption.objects)?;
            }
            out.note(&adopt::notes(&adoption));
            if ended.is_ok() && !adoption.obstacles.is_empty() {
                ended = Ok(Ended::Changes);
            }
        }
        Command::AdoptCluster { eks, from, region, cluster, identity, profile, output } => {
            let Some(namespace) = namespace else {
                return Err(
                    Usage("--all-namespaces does not say where the Cluster is to be".to_owned()).into()
                );
            };
            let given = from.as_deref().map(adopt_cluster::capa::read).transpose()?;
            let (eks, adopter) =
                adopt_cluster::Wish { eks, given, region, cluster, identity }.adopter(namespace)?;
            adopt_cluster::check_free(&reads, &eks, &adopter).await?;
            let aws = Aws::new(adopter.region.as_str(), profile);
            let adoption = adopt_cluster::adoption(&aws, &reads, &eks, &adopter).await?;
            out.manifests(output.unwrap_or(Format::Yaml), &adoption.objects)?;
            out.note(&adopt_cluster::notes(&adoption));
            if !adoption.obstacles.is_empty() {
                ended = Ok(Ended::Changes);
            }
        }
        Command::Preflight { clusters, kubernetes_version: version, principal, profile, output } => {
            let asked = named(&clusters, &CLUSTERS, namespace)?;
            let choices = Choices { version, principal, profile };
            let found = preflight::read(&reads, &asked, &choices).await?;
            out.show(output, &found, |found, _| preflight::text(found))?;
            let unknown = found.unknown();
            if found.refused() {
                ended = Ok(Ended::Changes);
            } else if !unknown.is_empty() {
                ended = Err(anyhow!(unknown.join("; ")));
            }
        }
        Command::Console { machine, latest, profile } => {
            let (namespace, name) = one_name(&machine, &MACHINES, namespace)?;
            let console = console::read(&reads, namespace, &name, latest, profile).await?;
            out.print(&console::text(&console))?;
            if let Some(warning) = console::warning(&console) {
                reads.warn(warning);
            }
        }
        Command::Orphans { region, profile, output } => {
            let found = orphans::read(&access.client, &region, profile.as_deref()).await?;
            out.show(output, &found.orphans, |orphans, _| orphans::text(orphans))?;
            for warning in found.warnings {
                reads.warn(warning);
            }
            if !found.orphans.orphans.is_empty() {
                ended = Ok(Ended::Changes);
            }
        }
        Command::Rollout { command } => ended = Ok(roll_out(&reads, command, out).await?),
        Command::Events { clusters, output } => {
            let asked = named(&clusters, &CLUSTERS, namespace)?;
            let timeline = events::read(&reads, &asked).await?;
            out.show(output, &timeline, events::text)?;
        }
        Command::SupportBundle { output } => {
            out.document(output, &support::read(&reads, Timestamp::now()).await)?;
        }
        Command::Completion { shell } => out.print(&script(shell))?,
    }
    for warning in reads.warnings() {
        out.warn(&warning);
    }
    ended
}

/// The manager's plans of the objects that are named, or of those in files, and what could not be read for them. That and
/// objects that are left out are warnings.
async fn planned(
    reads: &Reads<'_>,
    of: &PlannedArgs,
    durations: GivenDurations,
) -> Result<(Plans, Vec<String>)> {
    let PlannedArgs { objects, filename, field_manager } = of;
    let plans = if filename.is_empty() {
        let asked = named(objects, &PLANNED, reads.namespace)?;
        plan::ask::of_cluster(reads, &asked, durations).await?
    } else {
        let mut manifests = Manifests::default();
        filename.iter().try_for_each(|path| plan::files::read(path, &mut manifests))?;
        plan::ask::of_files(reads, &manifests, field_manager, durations).await?
    };
    let unread = reads.unread();
    plans.left_out.iter().for_each(|left_out| reads.warn(left_out.clone()));
    Ok((plans, unread))
}

/// The manager's plan of a pool that adopts a group.
async fn planned_adoption(reads: &Reads<'_>, objects: &[Value]) -> Result<Plans> {
    let mut manifests = Manifests::default();
    objects.iter().try_for_each(|object| plan::files::add(object.clone(), &mut manifests))?;
    plan::ask::of_files(reads, &manifests, FIELD_MANAGER, GivenDurations::default()).await
}

/// A duration of an argument, in seconds, as a FooPlan takes it.
fn seconds(flag: &str, duration: SignedDuration) -> Result<i32> {
    let seconds = i32::try_from(duration.as_secs()).unwrap_or(i32::MAX);
    if !(1..=86_400).contains(&seconds) {
        return Err(Usage(format!("{flag} must be between 1s and 24h")).into());
    }
    Ok(seconds)
}

async fn roll_out(reads: &Reads<'_>, command: RolloutCommand, out: &mut Out<'_>) -> Result<Ended> {
    let (pools, change) = match command {
        RolloutCommand::Status { pools, watch, timeout, output } => {
            let asked = named(&pools, &ROLLED_OUT, reads.namespace)?;
            let timeout = timeout.and_then(|timeout| Duration::try_from(timeout).ok());
            let timeout = timeout.filter(|timeout| !timeout.is_zero());
            let ends = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
            let wait = if watch { Wait::Until(ends) } else { Wait::Not };
            return rolled_out(reads, &asked, wait, output.into(), out).await;
        }
        RolloutCommand::History { pool, profile, output } => {
            let history = of_one_pool(reads, &pool, profile).await?;
            out.show(output, &history, history::text)?;
            return Ok(Ended::Done);
        }
        RolloutCommand::Undo { pool, to_version, dry_run, profile } => {
            let history = of_one_pool(reads, &pool, profile.clone()).await?;
            let (done, warning) = history::carry_out(reads, &history, to_version, dry_run, profile).await?;
            out.print(&done)?;
            if let Some(warning) = warning {
                reads.warn(warning);
            }
            return Ok(Ended::Done);
        }
        RolloutCommand::Pause { pools } => (pools, Change::Pause),
        RolloutCommand::Resume { pools } => (pools, Change::Resume),
        RolloutCommand::Retry { pools } => (pools, Change::Retry),
    };
    let asked = named(&pools, &ROLLED_OUT, reads.namespace)?;
    if asked.iter().any(|it| it.name.is_none()) {
        return Err(Usage("the name of a foomachinepool is missing".to_owned()).into());
    }
    for rollout in rollout::read::read(reads, &asked).await? {
        out.print(&rollout::change::change(reads.client, &rollout, change).await?)?;
    }
    Ok(Ended::Done)
}

/// The history of the pool that an argument names.
async fn of_one_pool(reads: &Reads<'_>, pool: &str, profile: Option<String>) -> Result<History> {
    let (namespace, name) = one_name(pool, &ROLLED_OUT, reads.namespace)?;
    history::read(reads, namespace, &name, profile).await
}

/// Whether `rollout status` waits.
#[derive(Clone, Copy)]
enum Wait {
    Not,
    /// Until all are finished or one has failed; at most until that moment, if there is one.
    Until(Option<Instant>),
}

/// Prints roll-outs, each again when it has changed, until there is nothing to wait for. Only the first read has to
/// succeed at once: while it waits, a restart of the API server is a warning.
async fn rolled_out(
    reads: &Reads<'_>,
    asked: &[Asked],
    wait: Wait,
    form: Form,
    out: &mut Out<'_>,
) -> Result<Ended> {
    let mut last: Option<Vec<Rollout>> = None;
    loop {
        match rollout::read::read(reads, asked).await {
            Ok(rollouts) => {
                if let Form::Text(width) = form {
                    let text = |it: &Rollout| rollout::of_one(it, width);
                    let known: Vec<String> = last.iter().flatten().map(text).collect();
                    let is_new = |it: &&Rollout| !known.contains(&text(it));
                    let changed: Vec<Rollout> = rollouts.iter().filter(is_new).cloned().collect();
                    if !changed.is_empty() || rollouts.is_empty() {
                        out.print(&rollout::text(&Rollouts { rollouts: changed }, width))?;
                    }
                }
                last = Some(rollouts);
            }
            Err(error) if last.is_some() && error.is::<Transient>() => out.warn(&format!("{error:#}")),
            Err(error) => return Err(error),
        }
        let rollouts = last.as_deref().unwrap_or_default();
        let now = Instant::now();
        let left = match wait {
            Wait::Until(Some(ends)) => ends.saturating_duration_since(now),
            Wait::Until(None) | Wait::Not => Duration::MAX,
        };
        let are = |outcome| move |it: &Rollout| it.outcome() == outcome;
        let ended = if matches!(wait, Wait::Not) || rollouts.iter().all(are(Outcome::Finished)) {
            Ended::Done
        } else if rollouts.iter().any(are(Outcome::Failed)) {
            Ended::Unfinished
        } else if left.is_zero() {
            out.warn("the timeout is over");
            Ended::Unfinished
        } else {
            tokio::time::sleep(PERIOD.min(left)).await;
            continue;
        };
        if let Form::Document(format) = form {
            out.document(format, &Rollouts { rollouts: rollouts.to_vec() })?;
        }
        return Ok(ended);
    }
}

fn print_status(all: &Facts, machines: Machines, form: Form, out: &mut Out<'_>) -> Result<()> {
    let now = Timestamp::now();
    out.show(form, &status::tree(all, machines, now), |tree, width| status::text(tree, width, now))
}

/// Prints the status again and again: on a terminal in place, with ages that grow; otherwise each time that something
/// else than an age has changed. Only a failure of the first read ends it: what is watched may be an outage.
async fn watched(
    access: &Access,
    namespace: Option<&str>,
    asked: &[Asked],
    machines: Machines,
    form: Form,
    out: &mut Out<'_>,
) -> Result<Infallible> {
    // Documents have all columns, and change with any of them.
    let (width, is_text) = match form {
        Form::Text(width) => (width, true),
        Form::Document(_) => (Width::Wide, false),
    };
    let in_place = is_text && out.screen() == Screen::Terminal;
    let mut last: Option<String> = None;
    loop {
        let reads = Reads::new(&access.client, namespace);
        let read = status::read::read(&reads, asked).await;
        let now = Timestamp::now();
        match read {
            Err(error) if last.is_none() => return Err(error),
            Err(error) if in_place => out.redraw(&format!("{now:.0}\nerror: {error:#}\n"))?,
            Err(error) => out.warn(&format!("{error:#}")),
            Ok(all) => {
                // Without ages, since all of them are those of this moment.
                let tree = status::tree(&all, machines, Timestamp::MIN);
                let ageless = status::text(&tree, width, Timestamp::MIN);
                let is_new = last.as_ref() != Some(&ageless);
                last = Some(ageless);
                let warnings = reads.warnings();
                if in_place {
                    let text = status::text(&status::tree(&all, machines, now), width, now);
                    let warnings = warnings.iter().map(|warning| format!("warning: {warning}\n"));
                    out.redraw(&format!("{now:.0}\n{text}{}", warnings.collect::<String>()))?;
                } else if is_new {
                    match form {
                        Form::Text(_) => out.print(&format!("{now:.0}\n"))?,
                        Form::Document(Format::Yaml) => out.print("---\n")?,
                        Form::Document(Format::Json) => {}
                    }
                    print_status(&all, machines, form, out)?;
                    for warning in &warnings {
                        out.warn(warning);
                    }
                }
            }
        }
        tokio::time::sleep(PERIOD).await;
    }
}

/// The one object that an argument names, with its namespace.
fn one_name<'a>(argument: &str, among: &[Kind], namespace: Option<&'a str>) -> Result<(&'a str, String)> {
    let asked = named(&[argument.to_owned()], among, namespace)?;
    let name = asked.into_iter().find_map(|it| it.name);
    let name = name.ok_or_else(|| Usage(format!("{argument} is a type: a name is missing")))?;
    let namespace = namespace.ok_or_else(|| Usage("the namespace is missing".to_owned()))?;
    Ok((namespace, name))
}

/// The objects that arguments name. Names are those of one namespace.
fn named(arguments: &[String], among: &[Kind], namespace: Option<&str>) -> Result<Vec<Asked>> {
    let asked = asked(arguments, among)?;
    if namespace.is_none() && asked.iter().any(|it| it.name.is_some()) {
        return Err(Usage("names of objects cannot be combined with --all-namespaces".to_owned()).into());
    }
    Ok(asked)
}
