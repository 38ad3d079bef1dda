//! What the probe finds in moto: everything that it believes of AWS, except where moto is known to deviate from AWS.

use crate::sdk::{Moto, REGION};
use anyhow::Result;
use foo_cloud_adapter::{AwsCloud, AwsSettings, Identity};
use foo_probe::{Journal, Pace, Plan, RunId, Scene, Seen, Stage, run};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const UNCHECKED: &str = "moto does not check it";
const NO_RESPONSE: &str = "moto responds with a page of HTML and status 500";

/// Beliefs that moto contradicts or does not respond to, and why moto is wrong ("API" is the Auto Scaling or EC2 API Reference).
const DEVIATIONS: [(&str, &str); 33] = [
    ("activities/of-unknown-group", UNCHECKED),
    ("groups/desired-within-the-sizes", UNCHECKED),
    ("groups/minimum-below-maximum", UNCHECKED),
    ("groups/name-is-unique", "API, CreateAutoScalingGroup: AlreadyExists; moto replaces the group"),
    ("groups/no-colon-in-the-name", UNCHECKED),
    ("groups/template-with-unknown-image", UNCHECKED),
    ("groups/unknown-subnet", "Auto Scaling's own code is ValidationError; moto passes EC2's on"),
    ("groups/unknown-template", "Auto Scaling's own code is ValidationError; moto passes EC2's on"),
    ("groups/unknown-version-names-the-template", UNCHECKED),
    ("hooks/at-most-fifty", UNCHECKED),
    ("hooks/completion-without-a-wait", NO_RESPONSE),
    ("hooks/deletion-of-unknown", UNCHECKED),
    ("hooks/longest-heartbeat", UNCHECKED),
    ("hooks/of-unknown-group", UNCHECKED),
    ("hooks/shortest-heartbeat", UNCHECKED),
    ("instances/protection-of-unknown", UNCHECKED),
    ("instances/termination-of-unknown", NO_RESPONSE),
    ("processes/suspended-ones-show", "moto gives no reason"),
    ("security-groups/default-one-stays", "VPC Guide, Default security groups: it cannot be deleted"),
    ("tags/at-most-fifty", UNCHECKED),
    ("tags/aws-prefix-is-reserved", UNCHECKED),
    ("tags/of-unknown-group", NO_RESPONSE),
    ("templates/default-version-stays", NO_RESPONSE),
    ("templates/deletion-of-an-unknown-version", NO_RESPONSE),
    ("templates/deletion-of-unknown", "API, Error codes: InvalidLaunchTemplateId.NotFound"),
    ("templates/numbers-are-not-used-again", NO_RESPONSE),
    ("templates/short-name", UNCHECKED),
    ("templates/token-adds-one-version", "moto takes a client token for nothing"),
    ("templates/token-creates-once", "moto takes a client token for nothing"),
    ("templates/token-of-another-request", "moto takes a client token for nothing"),
    ("templates/unknown-image-is-a-warning", UNCHECKED),
    ("templates/user-data-is-limited", UNCHECKED),
    ("warm-pools/deletion-of-none", UNCHECKED),
];

/// Not asked: moto responds with status 500, which the SDK repeats with pauses.
const REPEATED: [&str; 2] = ["hooks/heartbeat-without-a-wait", "reservations/unknown-id"];

const PACE: Pace = Pace {
    poll: Duration::from_millis(5),
    patience: Duration::from_secs(20),
    round: Duration::from_millis(40),
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moto_contradicts_what_is_believed_of_aws_only_where_it_deviates_from_aws() -> Result<()> {
    let moto = Moto::start().await?;
    let identity = Identity::Keys {
        access_key_id: "judge".to_owned(),
        secret_access_key: "judge".to_owned(),
        session_token: None,
    };
    let endpoint_url = moto.place.as_ref().map(|place| place.endpoint.clone());
    let settings = AwsSettings { endpoint_url, identity, ..AwsSettings::new(REGION) };
    let cloud = Arc::new(AwsCloud::connect(settings).await?);
    let scene = Scene::new(
        cloud,
        "r1".parse::<RunId>().map_err(anyhow::Error::msg)?,
        PACE,
        Journal::to(std::io::sink()),
    );
    let mut plan = Plan::new(Stage::Free, &[], 1);
    plan.beliefs.retain(|belief| !REPEATED.contains(&belief.id));
    let outcome = run(&scene, &plan, std::future::pending()).await;
    let known = BTreeMap::from(DEVIATIONS);
    let mut complaints = Vec::new();
    for finding in &outcome.findings {
        match (&finding.seen, known.get(finding.id)) {
            (Seen::AsBelieved(_), None) | (Seen::Otherwise(_) | Seen::Unknown(_), Some(_)) => {}
            (Seen::AsBelieved(_), Some(_)) => {
                complaints.push(format!("{}: no difference any more", finding.id));
            }
            (seen, None) => complaints.push(format!("{}: {seen:?}", finding.id)),
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(outcome.cleaned.left.is_empty(), "{:?}", outcome.cleaned);
    println!(
        "{} beliefs, {} of which moto contradicts for a known reason",
        outcome.findings.len(),
        known.len()
    );
    Ok(())
}
