//! Commands and flags, with kubectl's names where kubectl has them.

use crate::asked::Kind;
use crate::shell::Shell;
use crate::terminal::{Format, Output};
use clap::{ArgAction, Args, Parser, Subcommand};
use foo_model::eks::Minor;
use jiff::SignedDuration;
use std::path::PathBuf;

/// Kinds that `explain` knows; of the first one a bare name is.
pub const EXPLAINED: [Kind; 3] = [Kind::Pool, Kind::ControlPlane, Kind::NodeConfig];
/// Kinds that `status`, `events` and `preflight` know.
pub const CLUSTERS: [Kind; 1] = [Kind::Cluster];
/// Kinds by which `drains` chooses Machines.
pub const DRAINED: [Kind; 3] = [Kind::Cluster, Kind::Pool, Kind::Machine];
/// Kinds whose instance has a console.
pub const MACHINES: [Kind; 1] = [Kind::Machine];
/// Kinds that roll out.
pub const ROLLED_OUT: [Kind; 1] = [Kind::Pool];
/// Kinds that `plan` and `diff` know.
pub const PLANNED: [Kind; 3] = [Kind::Pool, Kind::ControlPlane, Kind::FooCluster];

/// The kinds whose objects a command is about, by its words.
pub fn kinds(words: &[&str]) -> Option<&'static [Kind]> {
    match words {
        ["explain"] => Some(&EXPLAINED),
        ["status" | "events" | "preflight"] => Some(&CLUSTERS),
        ["drains"] => Some(&DRAINED),
        ["console"] => Some(&MACHINES),
        ["rollout", _] => Some(&ROLLED_OUT),
        ["plan" | "diff"] => Some(&PLANNED),
        _ => None,
    }
}

/// A version as MachinePools have it: EKS and images need its minor.
fn kubernetes_version(text: &str) -> Result<String, String> {
    let is_version = text.starts_with('v') && Minor::of(text).is_some();
    if is_version { Ok(text.to_owned()) } else { Err("a version is like v1.37.0".to_owned()) }
}

/// The ARN of a role or user (IAM User Guide, "IAM identifiers").
fn principal(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    match parts.as_slice() {
        ["arn", _, "iam", "", account, name]
            if account.len() == 12 && (name.starts_with("role/") || name.starts_with("user/")) =>
        {
            Ok(text.to_owned())
        }
        _ => Err("an ARN is like arn:aws:iam::123456789012:role/foo-manager".to_owned()),
    }
}

/// Shown below the help of the program and of each command.
const STATUSES: &str = "\
Exit status:
  0  done; what could not be read is named on standard error
  1  failed: an object does not exist, a right is missing, the API server cannot be reached
  2  the arguments are wrong";

/// The same of `rollout status`.
const ROLLOUT_STATUSES: &str = "\
Exit status:
  0  finished; with --watch=false: shown
  1  failed: an object does not exist, a right is missing, the API server cannot be reached
  2  the arguments are wrong
  3  the content of a roll-out failed, or the timeout is over";

/// The same of `plan`.
const PLAN_STATUSES: &str = "\
Exit status:
  0  planned; with --exit-code: nothing would change
  1  failed: an object is refused, a right is missing, the manager does not respond
  2  the arguments are wrong
  4  with --exit-code: something would change";

/// The same of `adopt` and `adopt-cluster`.
const ADOPT_STATUSES: &str = "\
Exit status:
  0  written
  1  failed: the group or EKS cluster cannot be adopted or read, a right is missing, the manager does not respond
  2  the arguments are wrong
  4  written, and something is in the way of the adoption";

/// The same of `preflight`.
const PREFLIGHT_STATUSES: &str = "\
Exit status:
  0  AWS would refuse nothing that was checked
  1  failed: a right is missing, AWS or the API server cannot be reached; or something could not be checked
  2  the arguments are wrong
  4  AWS would refuse something";

/// The same of `orphans`.
const ORPHAN_STATUSES: &str = "\
Exit status:
  0  there are none
  1  failed: a right is missing, AWS or the API server cannot be reached
  2  the arguments are wrong
  4  there are some";

/// The same of `diff`.
const DIFF_STATUSES: &str = "\
Exit status:
  0  nothing differs
  1  failed: an object is refused, a right is missing, the manager does not respond; or something could not be compared
  2  the arguments are wrong
  4  something differs";

/// Shows the state of clusters in AWS: control planes, networks, pools of Machines in Auto Scaling groups, and what they
/// wait for. Reads objects of the management cluster, and for drains Pods of workload clusters; `adopt`, `adopt-cluster`, `preflight`, `console`,
/// `orphans`, `rollout history` and `rollout undo` read from AWS, with the AWS CLI. Only `rollout pause`, `resume`, `retry` and `undo` write; `plan`, `diff` and `adopt --plan` create and delete a
/// FooPlan.
#[derive(Parser)]
#[command(name = "kubectl foo", version, after_help = STATUSES, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Where.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Cluster and namespace, with kubectl's names of flags.
#[derive(Args)]
pub struct ClusterArgs {
    /// Path of the kubeconfig file [default: $KUBECONFIG, then ~/.kube/config].
    #[arg(long, global = true)]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: its current context].
    #[arg(long, global = true)]
    pub context: Option<String>,
    /// Namespace of the objects [default: the context's namespace].
    #[arg(short, long, global = true)]
    pub namespace: Option<String>,
    /// Objects of all namespaces.
    #[arg(short = 'A', long, global = true, conflicts_with = "namespace")]
    pub all_namespaces: bool,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Show whether control planes, node configurations and pools are ready, and if not, what they wait for and why.
    #[command(after_help = STATUSES)]
    Explain {
        /// Names of FooMachinePools, or TYPE [NAME...], or TYPE/NAME..., for example foocontrolplane/prod [default: all
        /// in the namespace].
        objects: Vec<String>,
    },
    /// Show clusters as trees: control plane, network, pools and Machines, what is under way, and why something is not
    /// well.
    #[command(after_help = STATUSES)]
    Status {
        /// Names of Clusters, or cluster/NAME... [default: all in the namespace].
        clusters: Vec<String>,
        /// Print again whenever something changes, until interrupted; on a terminal in place.
        #[arg(short, long)]
        watch: bool,
        /// Show Machines with which all is well, too.
        #[arg(long)]
        machines: bool,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Output>,
    },
    /// Show which Pods and PodDisruptionBudgets delay the deletion of Machines.
    #[command(after_help = STATUSES)]
    Drains {
        /// Names of Clusters, or TYPE [NAME...], or TYPE/NAME..., for example foomachinepool/workers or machine/workers-0a1b
        /// [default: all Machines in the namespace that are being deleted].
        objects: Vec<String>,
        /// Kubeconfig of the workload cluster, for its Pods and budgets [default: the Secret CLUSTER-kubeconfig].
        #[arg(long, value_name = "FILE")]
        workload_kubeconfig: Option<PathBuf>,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Output>,
    },
    /// Show what the manager would do for changed FooMachinePools, MachinePools, FooControlPlanes and FooClusters, before they are
    /// applied.
    ///
    /// Of objects as they are in the cluster it shows what is left to do. The manager plans with what it knows of AWS, changes
    /// nothing, and assumes that every call succeeds, every change in AWS ends, every Node joins and every drain ends.
    #[command(after_help = PLAN_STATUSES)]
    Plan {
        /// What is planned.
        #[command(flatten)]
        of: PlannedArgs,
        /// How long an instance takes from its launch until its Node is Ready, for example 3m [default: as the Machines of the
        /// pool took].
        #[arg(long)]
        launch: Option<SignedDuration>,
        /// How long a drain takes, for example 5m [default: 1m].
        #[arg(long)]
        drain: Option<SignedDuration>,
        /// End with the status 4 if anything would change.
        #[arg(long)]
        exit_code: bool,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Format>,
    },
    /// Show what differs between what is desired and what AWS has, for FooMachinePools, FooControlPlanes and FooClusters.
    ///
    /// With --filename the objects are as the files have them, MachinePools among them. The manager compares with what it knows of
    /// AWS, and changes nothing.
    #[command(after_help = DIFF_STATUSES)]
    Diff {
        /// What is compared.
        #[command(flatten)]
        of: PlannedArgs,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Format>,
    },
    /// Write the manifest of a FooMachinePool that adopts an Auto Scaling group of another tool, from what AWS has.
    ///
    /// Reads the group with the AWS CLI and its credentials, and changes nothing. What is in the way of the adoption, and what
    /// new instances would have otherwise, is printed on standard error.
    #[command(after_help = ADOPT_STATUSES)]
    Adopt {
        /// Name of the Auto Scaling group.
        group: String,
        /// Name of the Cluster whose Nodes its instances are.
        #[arg(long, value_name = "NAME")]
        cluster: String,
        /// Name of the FooMachinePool and its MachinePool [default: as the group].
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Secret with the bootstrap data of new Nodes [default: a FooNodeConfig, for Clusters on EKS].
        #[arg(long, value_name = "NAME")]
        bootstrap_secret: Option<String>,
        /// Profile of the AWS CLI [default: the one that it uses].
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Show what the manager would do for the manifest, instead of the manifest.
        #[arg(long)]
        plan: bool,
        /// Form of the output [default: yaml; of a plan: text].
        #[arg(short, long, value_enum)]
        output: Option<Format>,
    },
    /// Write the manifests of a Cluster that adopts an EKS cluster of another tool: Cluster, FooCluster and FooControlPlane, from
    /// what AWS has.
    ///
    /// Reads the EKS cluster with the AWS CLI and its credentials, and changes nothing. What is in the way of the adoption, and what
    /// EKS has that the manifests do not, is printed on standard error.
    #[command(after_help = ADOPT_STATUSES)]
    AdoptCluster {
        /// Name of the EKS cluster.
        #[arg(required_unless_present = "from", conflicts_with = "from")]
        eks: Option<String>,
        /// File with the manifest of the AWSManagedControlPlane that has the EKS cluster in Cluster API Provider AWS, for its name,
        /// region and Cluster; - is standard input.
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// AWS region of the EKS cluster [default: that of --from].
        #[arg(long, value_name = "NAME")]
        region: Option<String>,
        /// Name of the Cluster, its FooCluster and its FooControlPlane [default: that of --from, otherwise as the EKS cluster].
        #[arg(long, value_name = "NAME")]
        cluster: Option<String>,
        /// FooClusterIdentity with the AWS credentials of the manager [default: the one named default, as without identityRef].
        #[arg(long, value_name = "NAME")]
        identity: Option<String>,
        /// Profile of the AWS CLI [default: the one that it uses].
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Form of the output [default: yaml].
        #[arg(short, long, value_enum)]
        output: Option<Format>,
    },
    /// Show what AWS would refuse of Clusters as they are requested: images, instance types, subnets, addresses, quotas, roles, and
    /// what the manager may do.
    ///
    /// Reads with the AWS CLI and its credentials, and changes nothing. Rights of the manager are simulated by IAM.
    #[command(after_help = PREFLIGHT_STATUSES)]
    Preflight {
        /// Names of Clusters, or cluster/NAME... [default: all in the namespace].
        clusters: Vec<String>,
        /// Kubernetes version that they are to get, for example v1.37.0 [default: the one that is requested].
        #[arg(long, value_name = "VERSION", value_parser = kubernetes_version)]
        kubernetes_version: Option<String>,
        /// ARN of the manager's IAM role or user [default: the role of the FooClusterIdentity].
        #[arg(long, value_name = "ARN", value_parser = principal)]
        principal: Option<String>,
        /// Profile of the AWS CLI [default: the one that it uses].
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Format>,
    },
    /// Show what the instance of a Machine wrote to its console, for example while it booted.
    ///
    /// Reads it with the AWS CLI and its credentials. It may contain secrets that the user data prints.
    #[command(after_help = STATUSES)]
    Console {
        /// Name of the Machine, or machine/NAME.
        machine: String,
        /// The newest output, which only instances on Nitro have at any time [default: the latest that EC2 has kept].
        #[arg(long)]
        latest: bool,
        /// Profile of the AWS CLI [default: the one that it uses].
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Show what in AWS has the tags of the provider and belongs to no object of the management cluster.
    ///
    /// Reads with the AWS CLI and its credentials, of one account; deletes nothing.
    #[command(after_help = ORPHAN_STATUSES)]
    Orphans {
        /// Regions [default: those of all FooClusters].
        #[arg(long, value_name = "NAME")]
        region: Vec<String>,
        /// Profile of the AWS CLI [default: the one that it uses].
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Format>,
    },
    /// Show, stop and continue the replacement of outdated instances of pools.
    Rollout {
        /// What to do.
        #[command(subcommand)]
        command: RolloutCommand,
    },
    /// Show the Kubernetes events about clusters, their pools and Machines, oldest first.
    #[command(after_help = STATUSES)]
    Events {
        /// Names of Clusters, or cluster/NAME... [default: all objects of the provider and of Cluster API in the namespace].
        clusters: Vec<String>,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Output>,
    },
    /// Print objects, events and versions for others who are to help, without secrets.
    ///
    /// The objects are those of the provider and of Cluster API in the namespace. Secrets are not read, and texts that may
    /// be secret are replaced: the documentation of the plugin says which.
    #[command(after_help = STATUSES)]
    SupportBundle {
        /// Form of the output.
        #[arg(short, long, value_enum, default_value = "yaml")]
        output: Format,
    },
    /// Print what a shell reads when it starts, to complete kubectl and kubectl foo.
    #[command(after_help = "\
kubectl starts kubectl_complete-foo to complete `kubectl foo`: link that name to kubectl-foo, beside it on the PATH.
Then, in ~/.bashrc:                    source <(kubectl foo completion bash)
in ~/.zshrc, after compinit:           source <(kubectl foo completion zsh)
in ~/.config/fish/config.fish:         kubectl foo completion fish | source")]
    Completion {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
}

/// The objects that the manager is asked about.
#[derive(Args)]
pub struct PlannedArgs {
    /// Names of FooMachinePools, or TYPE [NAME...], or TYPE/NAME..., for example foocontrolplane/prod, as they are in the
    /// cluster [default: all in the namespace, without --filename].
    #[arg(conflicts_with = "filename")]
    pub objects: Vec<String>,
    /// Files with manifests; - is standard input.
    #[arg(short, long, value_name = "FILE")]
    pub filename: Vec<PathBuf>,
    /// Field manager that applies the manifests: fields that it owns and the files do not have are removed.
    #[arg(long, value_name = "NAME", default_value = "kubectl")]
    pub field_manager: String,
}

/// What to do with roll-outs.
#[derive(Subcommand)]
pub enum RolloutCommand {
    /// Show how far roll-outs are, and wait until they are finished.
    #[command(after_help = ROLLOUT_STATUSES)]
    Status {
        /// Names of FooMachinePools, or foomachinepool/NAME... [default: all in the namespace].
        pools: Vec<String>,
        /// Wait until all of them are finished or one has failed; --watch=false shows them once.
        #[arg(
            short,
            long,
            action = ArgAction::Set,
            num_args = 0..=1,
            require_equals = true,
            default_value_t = true,
            default_missing_value = "true"
        )]
        watch: bool,
        /// How long to wait, for example 30m; 0s is without limit [default: 0s].
        #[arg(long)]
        timeout: Option<SignedDuration>,
        /// Form of the output, which is then printed once, at the end [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Output>,
    },
    /// Stop roll-outs: no further instance is replaced, and nothing is reverted.
    #[command(after_help = STATUSES)]
    Pause {
        /// Names of FooMachinePools, or foomachinepool/NAME....
        #[arg(required = true)]
        pools: Vec<String>,
    },
    /// Let roll-outs continue that are paused.
    #[command(after_help = STATUSES)]
    Resume {
        /// Names of FooMachinePools, or foomachinepool/NAME....
        #[arg(required = true)]
        pools: Vec<String>,
    },
    /// Show the versions of a pool's launch template that AWS has, what changed from one to the next, and how many instances each has.
    ///
    /// Reads with the AWS CLI and its credentials. The manager deletes old versions that nothing uses.
    #[command(after_help = STATUSES)]
    History {
        /// Name of the FooMachinePool, or foomachinepool/NAME.
        pool: String,
        /// Profile of the AWS CLI [default: the one that it uses].
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Form of the output [default: text].
        #[arg(short, long, value_enum)]
        output: Option<Output>,
    },
    /// Return to the image and instance type of an earlier version: writes them to the spec of the FooMachinePool.
    ///
    /// Reads with the AWS CLI and its credentials. Whatever applies the pool's manifest again, GitOps for example, reverts it.
    #[command(after_help = STATUSES)]
    Undo {
        /// Name of the FooMachinePool, or foomachinepool/NAME.
        pool: String,
        /// Version of the launch template [default: the one that new instances are launched from, if the spec requests another image
        /// or instance type; otherwise the newest earlier one with another image or instance type that did not fail].
        #[arg(long, value_name = "VERSION")]
        to_version: Option<i64>,
        /// Show what it would change.
        #[arg(long)]
        dry_run: bool,
        /// Profile of the AWS CLI [default: the one that it uses].
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// Have content tried again that has failed: after the image, the network or whatever it was is repaired.
    #[command(after_help = STATUSES)]
    Retry {
        /// Names of FooMachinePools, or foomachinepool/NAME....
        #[arg(required = true)]
        pools: Vec<String>,
    },
}
