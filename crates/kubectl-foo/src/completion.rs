//! Completion of arguments in a shell. kubectl's own completion, in whatever shell, starts `kubectl_complete-foo` with
//! the words after `kubectl foo`, the last of them unfinished, and takes a candidate from each line of its output; the
//! last line is a directive of the Go library cobra. The program under that name is this one.

use crate::access::{Access, Reads, all_pages};
use crate::args::{Cli, kinds};
use crate::asked::{Asked, Kind, asked};
use anyhow::Result;
use clap::{Arg, ArgAction, Command, CommandFactory as _};
use foo_api::capi::{Cluster, Machine};
use foo_api::{FooCluster, FooControlPlane, FooMachinePool, FooNodeConfig};
use kube::Api;
use kube::api::ListParams;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name under which kubectl starts this program for completion.
const PROGRAM: &str = "kubectl_complete-foo";
/// First argument with which this program does the same under its own name.
const WORD: &str = "__complete";
/// The shell completes names of files.
const FILES: u8 = 0;
/// Flags whose value is the name of a file.
const FILE_FLAGS: [&str; 4] = ["kubeconfig", "workload_kubeconfig", "filename", "from"];
/// The shell does not complete names of files.
const NO_FILES: u8 = 4;
/// A user waits for the candidates.
const PATIENCE: Duration = Duration::from_secs(3);

/// The words to complete, if that is what this process is started for: its arguments with the name of the program.
pub fn requested(arguments: &[String]) -> Option<&[String]> {
    let (program, rest) = arguments.split_first()?;
    if Path::new(program).file_stem().is_some_and(|name| name == PROGRAM) {
        return Some(rest);
    }
    rest.split_first().filter(|(first, _)| *first == WORD).map(|(_, words)| words)
}

/// The output for kubectl: candidates, and the directive. A cluster that does not respond has no candidates.
pub async fn complete(words: &[String]) -> String {
    let mut found = offered(words);
    if let Some(objects) = &found.objects {
        let listed = tokio::time::timeout(PATIENCE, objects.list()).await;
        found.candidates.extend(listed.ok().and_then(Result::ok).unwrap_or_default());
    }
    let mut text = String::new();
    for candidate in &found.candidates {
        // A String takes everything.
        let _written = writeln!(text, "{candidate}");
    }
    let _written = writeln!(text, ":{}", found.directive);
    text
}

/// What can stand in the place of the last word.
#[derive(Debug, Default, PartialEq)]
struct Offered {
    /// `candidate`, or `candidate<tab>description`.
    candidates: Vec<String>,
    objects: Option<Objects>,
    directive: u8,
}

/// Objects of the cluster whose names fit.
#[derive(Debug, PartialEq)]
struct Objects {
    kind: Kind,
    /// What stands before the name: `foocontrolplane/`, or nothing.
    before: String,
    /// How the name begins.
    begins: String,
    kubeconfig: Option<PathBuf>,
    context: Option<String>,
    namespace: Option<String>,
}

impl Objects {
    async fn list(&self) -> Result<Vec<String>> {
        let access = Access::of(self.kubeconfig.as_deref(), self.context.clone()).await?;
        let namespace = self.namespace.as_deref().unwrap_or(&access.namespace);
        let reads = Reads::new(&access.client, Some(namespace));
        let names = match self.kind {
            Kind::Cluster => names::<Cluster>(&reads, namespace).await?,
            Kind::ControlPlane => names::<FooControlPlane>(&reads, namespace).await?,
            Kind::NodeConfig => names::<FooNodeConfig>(&reads, namespace).await?,
            Kind::FooCluster => names::<FooCluster>(&reads, namespace).await?,
            Kind::Pool => names::<FooMachinePool>(&reads, namespace).await?,
            Kind::Machine => names::<Machine>(&reads, namespace).await?,
        };
        let fitting = names.into_iter().filter(|name| name.starts_with(&self.begins));
        Ok(fitting.map(|name| format!("{}{name}", self.before)).collect())
    }
}

async fn names<K: crate::access::Listed>(reads: &Reads<'_>, namespace: &str) -> Result<Vec<String>> {
    let api: Api<K> = Api::namespaced(reads.client.clone(), namespace);
    let listed = all_pages(ListParams::default(), async |page| api.list_metadata(page).await).await?;
    Ok(listed.iter().map(kube::ResourceExt::name_any).collect())
}

/// What can stand in the place of the last word, without a look into the cluster.
fn offered(words: &[String]) -> Offered {
    let mut root = Cli::command();
    root.build();
    let mut path: Vec<&str> = Vec::new();
    let (mut command, mut objects): (&Command, Vec<String>) = (&root, Vec::new());
    let mut values: Vec<(String, String)> = Vec::new();
    let mut awaiting: Option<&Arg> = None;
    let (last, before) = match words.split_last() {
        Some((last, before)) => (last.as_str(), before),
        None => ("", words),
    };
    for word in before {
        if let Some(flag) = awaiting.take() {
            values.push((flag.get_id().to_string(), word.clone()));
        } else if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
            let flag = flag_of(command, flag).map(|flag| flag.get_id().to_string());
            values.extend(flag.map(|flag| (flag, value.to_owned())));
        } else if word.starts_with('-') {
            awaiting = flag_of(command, word).filter(|flag| takes_value(flag));
        } else if let Some(below) = command.find_subcommand(word) {
            command = below;
            path.push(command.get_name());
        } else {
            objects.push(word.clone());
        }
    }
    if let Some(flag) = awaiting {
        let is_file = FILE_FLAGS.contains(&flag.get_id().as_str());
        let directive = if is_file { FILES } else { NO_FILES };
        return Offered { candidates: possible(flag, last), objects: None, directive };
    }
    let none = Offered { directive: NO_FILES, ..Offered::default() };
    if last.starts_with('-') {
        return Offered { candidates: flags(command, last), ..none };
    }
    if command.has_subcommands() {
        return Offered { candidates: commands(command, last), ..none };
    }
    let positional = command.get_positionals().next();
    let choices = positional.map(|positional| possible(positional, last)).unwrap_or_default();
    let value = |id: &str| values.iter().rev().find(|(flag, _)| flag == id).map(|(_, value)| value.clone());
    let named = kinds(&path).and_then(|among| named(among, &objects, last));
    let objects = named.map(|(kind, before, begins)| Objects {
        kind,
        before,
        begins,
        kubeconfig: value("kubeconfig").map(PathBuf::from),
        context: value("context"),
        namespace: value("namespace"),
    });
    Offered { candidates: choices, objects, ..none }
}

/// Kind, prefix and beginning of the name that is being typed.
fn named(among: &[Kind], objects: &[String], last: &str) -> Option<(Kind, String, String)> {
    if let Some((word, name)) = last.split_once('/') {
        let kind = asked(&[word.to_owned()], among).ok()?.into_iter().find(|it| it.name.is_none())?.kind;
        return Some((kind, format!("{word}/"), name.to_owned()));
    }
    let of_type = objects.first().and_then(|first| asked(std::slice::from_ref(first), among).ok());
    let of_type = of_type.and_then(|all| all.into_iter().find(|Asked { name, .. }| name.is_none()));
    let kind = of_type.map(|it| it.kind).or_else(|| among.first().copied())?;
    Some((kind, String::new(), last.to_owned()))
}

fn flag_of<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let long = word.strip_prefix("--");
    // Of several in one word, the last one takes the value.
    let short = word.strip_prefix('-').filter(|_| long.is_none()).and_then(|shorts| shorts.chars().last());
    command.get_arguments().find(|arg| {
        (long.is_some() && arg.get_long() == long) || (short.is_some() && arg.get_short() == short)
    })
}

fn takes_value(flag: &Arg) -> bool {
    matches!(flag.get_action(), ArgAction::Set | ArgAction::Append) && !flag.is_require_equals_set()
}

fn possible(arg: &Arg, begins: &str) -> Vec<String> {
    let values = arg.get_possible_values();
    values.iter().map(|value| value.get_name().to_owned()).filter(|name| name.starts_with(begins)).collect()
}

fn flags(command: &Command, begins: &str) -> Vec<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional());
    let flags = shown.filter_map(|arg| Some((format!("--{}", arg.get_long()?), arg.get_help())));
    let fitting = flags.filter(|(name, _)| name.starts_with(begins));
    fitting.map(|(name, help)| described(name, help.map(ToString::to_string))).collect()
}

fn commands(command: &Command, begins: &str) -> Vec<String> {
    let fitting =
        command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name().starts_with(begins));
    fitting.map(|it| described(it.get_name().to_owned(), it.get_about().map(ToString::to_string))).collect()
}

/// The first sentence of the help beside the name, as cobra has it.
fn described(name: String, help: Option<String>) -> String {
    let help = help.unwrap_or_default();
    let sentence = help.split(['\n', '.', ':', '[']).next().unwrap_or_default().trim();
    if sentence.is_empty() { name } else { format!("{name}\t{sentence}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> Offered {
        offered(&words.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn candidates(words: &str) -> Vec<String> {
        let all = of(words).candidates.into_iter();
        all.map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn commands_flags_and_values_are_completed() {
        assert_eq!(candidates("st"), ["status"]);
        assert_eq!(candidates("rollout pa"), ["pause"]);
        assert_eq!(candidates("-n team rollout re"), ["resume", "retry"]);
        assert_eq!(candidates("status --wa"), ["--watch"]);
        for wide in ["status", "drains", "events", "rollout status"] {
            assert_eq!(candidates(&format!("{wide} -o ")), ["wide", "json", "yaml"], "{wide}");
        }
        for narrow in ["plan", "diff", "support-bundle"] {
            assert_eq!(candidates(&format!("{narrow} -o ")), ["json", "yaml"], "{narrow}");
        }
        assert_eq!(candidates("di"), ["diff"]);
        assert_eq!(candidates("diff --f"), ["--filename", "--field-manager"]);
        assert_eq!(candidates("completion "), ["bash", "zsh", "fish"]);
        assert!(candidates("explain --name").contains(&"--namespace".to_owned()));
        assert_eq!(of("status --kubeconfig ").directive, FILES);
        assert_eq!(candidates("adopt"), ["adopt", "adopt-cluster"]);
        assert_eq!(candidates("adopt-cluster -o "), ["json", "yaml"]);
        assert_eq!(of("adopt-cluster --from ").directive, FILES);
        assert_eq!((of("plan -f ").directive, of("diff --filename ").directive), (FILES, FILES));
        assert_eq!(of("status ").directive, NO_FILES);
        assert!(of("ex").candidates[0].starts_with("explain\tShow whether"));
    }

    #[test]
    fn names_of_objects_come_from_the_cluster_that_the_flags_name() {
        let objects = |words: &str| of(words).objects.map(|it| (it.kind, it.before, it.begins));
        let expected = |kind, before: &str, begins: &str| Some((kind, before.to_owned(), begins.to_owned()));
        assert_eq!(objects("status pr"), expected(Kind::Cluster, "", "pr"));
        assert_eq!(objects("explain foocp/pr"), expected(Kind::ControlPlane, "foocp/", "pr"));
        assert_eq!(objects("explain foonc linux wi"), expected(Kind::NodeConfig, "", "wi"));
        assert_eq!(objects("rollout pause "), expected(Kind::Pool, "", ""));
        assert_eq!(objects("diff wor"), expected(Kind::Pool, "", "wor"));
        assert_eq!(objects("diff fooc/pr"), expected(Kind::FooCluster, "fooc/", "pr"));
        assert_eq!(objects("explain pod/x"), None);
        assert_eq!(objects("completion "), None);
        let objects = of("drains --context=prod -n team --kubeconfig /k ").objects.unwrap();
        assert_eq!(objects.context.as_deref(), Some("prod"));
        assert_eq!(objects.namespace.as_deref(), Some("team"));
        assert_eq!(objects.kubeconfig, Some(PathBuf::from("/k")));
    }

    #[test]
    fn kubectl_starts_the_program_under_another_name() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(requested(&words(&["/bin/kubectl_complete-foo", "st"])), Some(&words(&["st"])[..]));
        assert_eq!(requested(&words(&["kubectl-foo", "__complete", "-n"])), Some(&words(&["-n"])[..]));
        assert_eq!(requested(&words(&["kubectl-foo", "status"])), None);
    }
}
