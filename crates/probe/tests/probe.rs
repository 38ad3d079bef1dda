//! The probe against the simulated AWS: everything is as believed there, what is not is found, and nothing is left behind.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests fail by panicking")]

use foo_cloud::Cloud;
use foo_cloud_adapter::{AwsCloud, AwsSettings, Identity};
use foo_model::network::{Kind, Scope};
use foo_model::{GroupChange, GroupName};
use foo_probe::{
    Entry, Journal, Outcome, Pace, Plan, RunId, Runs, Scene, Seen, Source, Stage, TAG, beliefs, clean, read,
    replay, report, run,
};
use foo_simulator::{Fault, FaultRule, Handle, SimulatorConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const REGION: &str = "eu-central-1";

/// What takes AWS seconds takes the simulated AWS milliseconds.
const PACE: Pace = Pace {
    poll: Duration::from_millis(5),
    patience: Duration::from_secs(20),
    round: Duration::from_millis(40),
};

/// A simulated AWS, and a folder for a recording.
struct World {
    aws: Handle,
    folder: tempfile::TempDir,
}

impl World {
    async fn start() -> Self {
        let aws = Handle::start(SimulatorConfig::scaled(200.0)).await.unwrap();
        Self { aws, folder: tempfile::tempdir().unwrap() }
    }

    async fn connect(&self, journal: &Journal) -> Arc<dyn Cloud> {
        let identity = Identity::Keys {
            access_key_id: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_access_key: "secret".to_owned(),
            session_token: None,
        };
        let settings = AwsSettings {
            endpoint_url: Some(self.aws.endpoint()),
            identity,
            recorder: Some(journal.recorder()),
            ..AwsSettings::new(REGION)
        };
        Arc::new(AwsCloud::connect(settings).await.unwrap())
    }

    /// Runs both stages, or a part of them.
    async fn probe(&self, only: &[&str], stop: impl Future<Output = ()>) -> Outcome {
        let file = std::fs::File::create(self.folder.path().join("recording.jsonl")).unwrap();
        let journal = Journal::to(file);
        let cloud = self.connect(&journal).await;
        let scene = Scene::new(cloud, "r1".parse::<RunId>().unwrap(), PACE, journal.clone());
        let only: Vec<String> = only.iter().map(|&id| id.to_owned()).collect();
        let outcome = run(&scene, &Plan::new(Stage::Free, &only, 2), stop).await;
        journal.finish().unwrap();
        outcome
    }

    fn recording(&self) -> Vec<Entry> {
        read(&self.folder.path().join("recording.jsonl")).unwrap()
    }

    /// What has the probe's tag, by kind.
    async fn left(&self) -> usize {
        let cloud = self.connect(&Journal::to(std::io::sink())).await;
        let tagged = Scope::TagKey(TAG.to_owned());
        let mut left = cloud.describe_groups_tagged(TAG).await.unwrap().len();
        left += cloud.describe_templates_tagged(TAG).await.unwrap().len();
        for kind in [Kind::Vpc, Kind::Subnet, Kind::SecurityGroup] {
            let parts = cloud.describe_network(kind, &tagged).await.unwrap();
            left += parts.vpcs.len() + parts.subnets.len() + parts.security_groups.len();
        }
        left
    }

    /// The program, which does not return before it is killed or done.
    fn spawn(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_foo-probe"))
            .args(arguments)
            .args(["--region", REGION, "--endpoint-url", &self.aws.endpoint()])
            .env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("the program can be started")
    }
}

/// Ids of the findings that are not as believed.
fn otherwise(outcome: &Outcome) -> BTreeSet<&'static str> {
    let others = outcome.findings.iter().filter(|finding| matches!(finding.seen, Seen::Otherwise(_)));
    others.map(|finding| finding.id).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_as_believed_in_the_simulated_aws_and_its_recording_replays() {
    let world = World::start().await;
    let outcome = world.probe(&[], pending()).await;
    let page = report(&outcome, &"r1".parse().unwrap(), REGION);
    assert!(outcome.is_as_believed(), "{page}");
    assert_eq!(world.left().await, 0);
    assert!(!outcome.cleaned.found.is_empty());

    let recording = world.recording();
    sends_only_what_the_plan_has(&recording);
    let text = serde_json::to_string(&recording).unwrap() + &page;
    for secret in ["123456789012", "AKIAIOSFODNN7", "secret"] {
        assert!(!text.contains(secret), "{secret}");
    }

    let other = World::start().await;
    let differences = replay(&recording, &other.aws.endpoint(), PACE.patience).await.unwrap();
    assert!(differences.is_empty(), "{differences:#?}");
}

/// The operations of each belief are those that the plan prints.
fn sends_only_what_the_plan_has(recording: &[Entry]) {
    let planned: BTreeMap<&str, BTreeSet<&str>> = beliefs::all()
        .iter()
        .map(|belief| (belief.id, belief.calls.iter().map(|(operation, _)| operation.name()).collect()))
        .collect();
    let mut checked = BTreeSet::new();
    for entry in recording.iter().filter(|entry| planned.contains_key(entry.belief.as_str())) {
        let operations = planned.get(entry.belief.as_str()).unwrap();
        assert!(operations.contains(entry.operation.as_str()), "{}: {}", entry.belief, entry.operation);
        checked.insert(entry.belief.as_str());
    }
    assert_eq!(checked.len(), planned.len(), "a belief sends nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_aws_does_otherwise_is_reported_by_a_run_and_by_a_replay() {
    let changed = |action: &str| {
        let error =
            Fault::Error { code: "Changed".to_owned(), status: 400, message: "AWS has changed".to_owned() };
        FaultRule::on(action, error).times(1)
    };
    let world = World::start().await;
    world.aws.simulator().add_fault(changed("DeleteVpc"));
    let outcome = world.probe(&["vpcs/", "subnets/"], pending()).await;
    assert_eq!(otherwise(&outcome), BTreeSet::from(["vpcs/with-a-subnet-stay"]));
    assert!(
        report(&outcome, &"r1".parse().unwrap(), REGION)
            .contains("| Changed: AWS has changed | **otherwise** |")
    );
    assert_eq!(world.left().await, 0);

    let other = World::start().await;
    let differences = replay(&world.recording(), &other.aws.endpoint(), PACE.patience).await.unwrap();
    let differences: Vec<String> =
        differences.iter().map(|it| format!("{} {}: {}", it.belief, it.operation, it.what)).collect();
    let expected = "vpcs/with-a-subnet-stay DeleteVpc: AWS: 400 Changed, here: 400 DependencyViolation";
    assert_eq!(differences, [expected]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn throttled_calls_and_lost_responses_contradict_nothing_and_leave_nothing() {
    let world = World::start().await;
    // The first four changes prepare the stage.
    for (fault, after) in [(Fault::Throttled, 6), (Fault::DroppedAfter, 20), (Fault::DroppedBefore, 40)] {
        world.aws.simulator().add_fault(FaultRule::on_changes(fault).after(after).times(2));
    }
    let outcome = world.probe(&[], pending()).await;
    assert_eq!(otherwise(&outcome), BTreeSet::new());
    assert_eq!(outcome.cleaned.left, BTreeSet::new());
    assert_eq!(world.left().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_run_cleans_up() {
    let world = World::start().await;
    world.aws.simulator().add_fault(FaultRule::on("SuspendProcesses", Fault::Hang));
    let stop = async {
        while world.aws.simulator().calls("SuspendProcesses") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let outcome = world.probe(&["processes/"], stop).await;
    assert!(outcome.findings.iter().all(|finding| matches!(finding.seen, Seen::Unknown(_))));
    assert!(!outcome.cleaned.found.is_empty());
    assert_eq!(world.left().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_instance_that_was_launched_all_the_same_is_terminated() {
    let world = World::start().await;
    world.aws.simulator().add_fault(FaultRule::on("SuspendProcesses", Fault::Hang));
    let cloud = world.connect(&Journal::to(std::io::sink())).await;
    let group: GroupName = "foo-probe-r1-main".into();
    let stop = async {
        while world.aws.simulator().calls("SuspendProcesses") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let one = GroupChange { min: Some(1), ..GroupChange::default() };
        cloud.update_group(&group, &one).await.unwrap();
        while cloud.describe_group(&group).await.unwrap().is_none_or(|it| it.instances.is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let outcome = world.probe(&["processes/"], stop).await;
    assert_eq!(outcome.cleaned.left, BTreeSet::new());
    assert_eq!(world.left().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_never_replaces_the_recording_of_another_one() {
    let world = World::start().await;
    let arguments = ["run", "--yes", "--only", "zones/"];
    assert!(world.spawn(&arguments).wait().unwrap().success());
    let path = world.folder.path().join("foo-probe/recording.jsonl");
    let recorded = std::fs::read(&path).unwrap();
    assert!(!recorded.is_empty());
    assert_eq!(world.spawn(&arguments).wait().unwrap().code(), Some(1));
    assert_eq!(std::fs::read(&path).unwrap(), recorded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_run_has_left_is_deleted_by_its_tag() {
    let world = World::start().await;
    world.aws.simulator().add_fault(FaultRule::on("SuspendProcesses", Fault::Hang));
    let mut probe = world.spawn(&["run", "--yes", "--stage", "free", "--only", "processes/"]);
    while world.aws.simulator().calls("SuspendProcesses") == 0 {
        assert_eq!(probe.try_wait().unwrap(), None, "the run has ended");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // SIGKILL.
    probe.kill().unwrap();
    probe.wait().unwrap();
    assert_ne!(world.left().await, 0);

    let cloud = world.connect(&Journal::to(std::io::sink())).await;
    let another: RunId = "another".parse().unwrap();
    let cleaned = clean(cloud.as_ref(), &Runs::Only(another), PACE.round).await;
    assert_eq!((cleaned.found.len(), world.left().await != 0), (0, true), "another run's");
    let cleaned = clean(cloud.as_ref(), &Runs::All, PACE.round).await;
    assert_eq!(cleaned.left, BTreeSet::new());
    assert_eq!(world.left().await, 0);
}

#[tokio::test]
async fn recordings_of_real_accounts_replay() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let world = World::start().await;
            let recording = read(&path).unwrap();
            let differences = replay(&recording, &world.aws.endpoint(), PACE.patience).await.unwrap();
            assert!(differences.is_empty(), "{}: {differences:#?}", path.display());
        }
    }
}

#[test]
fn every_belief_has_an_id_of_its_own_and_a_source_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = |path: &str| std::fs::read_to_string(root.join(path)).expect(path);
    let rules = text("docs/simulator-rules.md");
    let all = beliefs::all();
    for belief in &all {
        match belief.source {
            Source::Simulator(test) => {
                assert!(rules.contains(&format!("`{test}`")), "{}: no rule has the test {test}", belief.id);
            }
            Source::File(path, says) => assert!(text(path).contains(says), "{}: {path}: {says}", belief.id),
        }
    }
    let ids: BTreeSet<&str> = all.iter().map(|belief| belief.id).collect();
    assert_eq!(ids.len(), all.len());
    assert!(ids.len() >= 25, "{} beliefs", ids.len());
}

#[test]
fn a_plan_shows_calls_and_price_of_its_stages() {
    let plan = |stage, only: &[String]| Plan::new(stage, only, 3);
    let read_only = plan(Stage::ReadOnly, &[]);
    assert!(!read_only.creates() && !read_only.to_string().contains("Creates and deletes"));
    let delay = plan(Stage::Free, &["delays/new-group-by-name".to_owned()]);
    let shown = delay.to_string();
    for expected in [
        "free of charge $0.00   6 calls  delays/new-group-by-name",
        "at most $0.00",
        "a VPC with a subnet",
        "AWSServiceRoleForAutoScaling, which stays",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}
