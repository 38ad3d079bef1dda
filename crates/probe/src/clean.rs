//! Deletes what runs have left in AWS, found by its tag alone: a run that was killed has left nothing else that names it.
//!
//! Reads trail writes: what a killed run created last may not show yet. So several reads in a row have to find nothing.

use crate::scene::{RunId, TAG};
use foo_cloud::{Cloud, Result};
use foo_model::group::GroupStatus;
use foo_model::network::{Change, Kind, Scope, Tags};
use foo_model::{Group, GroupChange, LaunchTemplateId, SecurityGroupId, SubnetId, VpcId};
use std::collections::BTreeSet;
use std::time::Duration;

/// Rounds in a row that find nothing, before nothing is believed to be left.
pub(crate) const QUIET: u32 = 3;
/// Most rounds.
const ROUNDS: u32 = 40;

/// Whose resources are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Those of one run.
    Only(RunId),
    /// Those of all runs in the account and region.
    All,
}

/// What a clean-up did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Everything that it found.
    pub found: BTreeSet<String>,
    /// What was still there in the last round, and what failed then. Empty if nothing is left.
    pub left: BTreeSet<String>,
}

/// Deletes what these runs created, in rounds with a pause, until nothing shows any more.
pub async fn clean(cloud: &dyn Cloud, runs: &Runs, pause: Duration) -> Cleaned {
    let mut cleaned = Cleaned::default();
    let mut quiet = 0;
    for _ in 0..ROUNDS {
        let mut round = Round { cloud, runs, found: BTreeSet::new(), failed: BTreeSet::new() };
        round.all().await;
        let Round { found, failed, .. } = round;
        cleaned.left = found.iter().cloned().chain(failed).collect();
        cleaned.found.extend(found);
        quiet = if cleaned.left.is_empty() { quiet + 1 } else { 0 };
        if quiet == QUIET {
            break;
        }
        tokio::time::sleep(pause).await;
    }
    cleaned
}

/// One description of everything, with a deletion of each thing that was found.
struct Round<'a> {
    cloud: &'a dyn Cloud,
    runs: &'a Runs,
    found: BTreeSet<String>,
    failed: BTreeSet<String>,
}

impl Round<'_> {
    /// In the order of their dependencies. What is still in use is deleted in a later round.
    async fn all(&mut self) {
        self.groups().await;
        self.templates().await;
        self.network(Kind::SecurityGroup).await;
        self.network(Kind::Subnet).await;
        self.network(Kind::Vpc).await;
    }

    fn is_of_runs(&self, tags: &Tags) -> bool {
        match (tags.get(TAG), self.runs) {
            (None, _) => false,
            (Some(_), Runs::All) => true,
            (Some(value), Runs::Only(run)) => *value == run.to_string(),
        }
    }

    async fn groups(&mut self) {
        let found = self.cloud.describe_groups_tagged(TAG).await;
        let found = self.listed(found).unwrap_or_default();
        let groups: Vec<Group> = found.into_iter().filter(|it| self.is_of_runs(&it.tags)).collect();
        for group in groups {
            let deleted = delete_group(self.cloud, &group).await;
            self.note(format!("Auto Scaling group {}", group.name), deleted);
        }
    }

    async fn templates(&mut self) {
        let found = self.cloud.describe_templates_tagged(TAG).await;
        let found = self.listed(found).unwrap_or_default();
        let of_runs = found.into_iter().filter(|it| self.is_of_runs(&it.tags));
        let ids: Vec<LaunchTemplateId> = of_runs.map(|it| it.id).collect();
        for id in ids {
            let deleted = self.cloud.delete_template(&id).await;
            self.note(format!("launch template {id}"), deleted);
        }
    }

    async fn network(&mut self, kind: Kind) {
        let found = self.cloud.describe_network(kind, &Scope::TagKey(TAG.to_owned())).await;
        let Some(parts) = self.listed(found) else { return };
        let groups = parts.security_groups.values().map(|it| (&it.tags, Part::Group(it.id.clone())));
        let subnets = parts.subnets.values().map(|it| (&it.tags, Part::Subnet(it.id.clone())));
        let vpcs = parts.vpcs.values().map(|it| (&it.tags, Part::Vpc(it.id.clone())));
        let all = groups.chain(subnets).chain(vpcs).filter(|(tags, _)| self.is_of_runs(tags));
        let all: Vec<Part> = all.map(|(_, part)| part).collect();
        for part in all {
            let deleted = self.cloud.change_network(&part.deletion()).await.map(drop);
            self.note(part.name(), deleted);
        }
    }

    /// What a description returned; a failed one is noted, so that the round does not count as quiet.
    fn listed<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.failed.insert(error.to_string())).ok()
    }

    fn note(&mut self, what: String, deleted: Result<()>) {
        if let Err(error) = deleted {
            self.failed.insert(format!("{what}: {error}"));
        }
        self.found.insert(what);
    }
}

/// Something in a network.
enum Part {
    Group(SecurityGroupId),
    Subnet(SubnetId),
    Vpc(VpcId),
}

impl Part {
    fn deletion(&self) -> Change {
        match self {
            Self::Group(group) => Change::DeleteSecurityGroup { group: group.clone() },
            Self::Subnet(subnet) => Change::DeleteSubnet { subnet: subnet.clone() },
            Self::Vpc(vpc) => Change::DeleteVpc { vpc: vpc.clone() },
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Group(id) => format!("security group {id}"),
            Self::Subnet(id) => format!("subnet {id}"),
            Self::Vpc(id) => format!("VPC {id}"),
        }
    }
}

/// A group has no instance unless AWS accepted what it was to refuse: then Auto Scaling terminates it, also one that does not show
/// yet, and a later round deletes the group.
async fn delete_group(cloud: &dyn Cloud, group: &Group) -> Result<()> {
    if group.status == GroupStatus::Deleting {
        return Ok(());
    }
    if group.sizes.min > 0 || group.sizes.desired > 0 || !group.instances.is_empty() {
        let nothing = GroupChange { min: Some(0), max: Some(0), desired: Some(0), ..GroupChange::default() };
        cloud.update_group(&group.name, &nothing).await?;
    }
    cloud.delete_group(&group.name).await
}
