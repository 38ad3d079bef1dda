//! Prints what AWS would refuse.

use super::{Preflight, Preflights};
use crate::text::line;

/// What was found, Cluster by Cluster. Ends with a new line.
pub fn text(found: &Preflights) -> String {
    if found.clusters.is_empty() {
        return "no Clusters found\n".to_owned();
    }
    let clusters: Vec<String> = found.clusters.iter().map(one).collect();
    clusters.join("\n")
}

fn one(found: &Preflight) -> String {
    let Preflight { cluster, region, account, principal, simulated_actions, problems, unknown } = found;
    let mut text = String::new();
    line(&mut text, &format!("Cluster {cluster} in {region}, account {account}"));
    if let Some(principal) = principal {
        line(&mut text, &format!("Rights: IAM simulated {simulated_actions} actions of {principal}"));
    }
    for (heading, sentences) in [("AWS would refuse:", problems), ("Not known:", unknown)] {
        if !sentences.is_empty() {
            line(&mut text, heading);
        }
        for sentence in sentences {
            line(&mut text, &format!("  {sentence}"));
        }
    }
    if problems.is_empty() && unknown.is_empty() {
        line(&mut text, "Nothing was found that AWS would refuse");
    }
    text
}
