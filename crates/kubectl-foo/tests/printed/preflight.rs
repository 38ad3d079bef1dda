//! What `kubectl foo preflight` prints.

use crate::is_printed;
use kubectl_foo::preflight::{Preflight, Preflights, text};

fn preflight(cluster: &str, problems: &[&str], unknown: &[&str]) -> Preflight {
    let owned = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
    Preflight {
        cluster: cluster.to_owned(),
        region: "eu-central-1".to_owned(),
        account: "123456789012".to_owned(),
        principal: Some("arn:aws:iam::123456789012:role/foo-manager".to_owned()),
        simulated_actions: 41,
        problems: owned(problems),
        unknown: owned(unknown),
    }
}

#[test]
fn problems_come_before_what_is_not_known() {
    let refused = preflight(
        "team/prod",
        &[
            "pool workers: image ami-1 is for arm64, instance type m7i.large is x86_64",
            "pools spot, workers: too few free addresses in subnet-1 for 12 instances, those of a roll-out included",
            "CreateGroups of iam-policy.json is not allowed: autoscaling:CreateAutoScalingGroup",
        ],
        &["LaunchIntoNamedVpcs of iam-policy.json: it depends on aws:RequestTag/owner: ec2:RunInstances"],
    );
    let fine = preflight("team/staging", &[], &[]);
    let without_role = Preflight { principal: None, simulated_actions: 0, ..preflight("team/dev", &[], &[]) };
    let all = Preflights { clusters: vec![refused, fine, without_role] };
    is_printed("preflight", &text(&all));
    is_printed("preflight-json", &(serde_json::to_string_pretty(&all).unwrap() + "\n"));
    assert_eq!(text(&Preflights::default()), "no Clusters found\n");
    assert!(all.refused());
    assert_eq!(all.unknown(), ["Cluster team/prod is not checked completely"]);
}
