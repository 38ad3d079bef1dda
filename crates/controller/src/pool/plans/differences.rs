//! What differs between the present and the planned state of a pool.
//!
//! All fields of [`Desired`] take part: a new one cannot be forgotten, since the comparison is of their serialized form.

use crate::plans::fields::{self, Fields};
use crate::pool::gather::Gathered;
use foo_api::maintenance::MaintenanceWindow;
use foo_api::plan::PlannedChange;
use foo_planner::Desired;
use foo_planner::desired::{Size, Strategy, Wanted};
use serde_json::json;

/// Whose values are never shown: it has tokens, and even a hash says something about them.
const USER_DATA: &str = "launchTemplate.userData";

/// Fields of the launch template that new instances get, and for which no instance is replaced.
const FOR_NEW_INSTANCES: [&str; 2] = ["launchTemplate.tags.", USER_DATA];

/// The state of a pool.
pub(super) struct View<'a> {
    pub(super) facts: &'a Facts,
    pub(super) desired: &'a Desired,
}

/// What makes instances outdated without being part of a launch template, and when they are replaced.
pub(super) struct Facts {
    version: Option<String>,
    /// The Secret with the bootstrap data.
    pub(super) secret: Option<String>,
    /// The spec's maintenance windows.
    windows: Option<Vec<MaintenanceWindow>>,
}

impl Facts {
    /// The facts of a pool.
    pub(super) fn of(gathered: &Gathered) -> Self {
        let spec = gathered.machine_pool.as_ref().map(|pool| &pool.spec.template.spec);
        Self {
            version: spec.and_then(|spec| spec.version.clone()),
            secret: spec
                .and_then(|spec| spec.bootstrap.data_secret_name.clone())
                .filter(|name| !name.is_empty()),
            windows: Some(gathered.pool.spec.maintenance_windows.clone()).filter(|all| !all.is_empty()),
        }
    }
}

impl View<'_> {
    /// The value of each field by its path.
    fn fields(&self, with_template: bool) -> Fields {
        let Desired {
            identity: _,
            goal: _,
            pause,
            missing: _,
            size,
            template,
            group,
            scale_in,
            rollout,
            // When windows are open depends on the time; the spec's windows are compared.
            maintenance: _,
            remediation,
            capacity_block,
            target_health,
            interruption,
            timeouts,
            warnings: _,
            adoption,
            retains_adopted: _,
            may_have_adopted: _,
        } = self.desired;
        let size = match size {
            Size::Unknown => json!({}),
            Size::Replicas { wanted, ceiling } => json!({"replicas": wanted, "max_size": ceiling}),
            Size::External { min, max, published: _ } => json!({"min_size": min, "max_size": max}),
        };
        let template = match template {
            Wanted::Ready(template) if with_template => json!(template.content),
            Wanted::Ready(_) | Wanted::Blocked(_) => json!({}),
        };
        let all = json!({
            "paused": pause.is_some(),
            "adopt": adoption.is_requested(),
            "size": size,
            "launch_template": template,
            "kubernetes_version": self.facts.version,
            "bootstrap_secret": self.facts.secret,
            "group": group,
            "scale_in": scale_in,
            "roll_out": rollout,
            "maintenance_windows": self.facts.windows,
            "capacity_block": capacity_block.as_ref().map(|it| json!({"id": it.id, "drain_lead": it.drain_lead})),
            "remediation": remediation,
            "target_health": target_health,
            "interruption": interruption,
            "deletion_timeouts": timeouts,
        });
        fields::fields(&all)
    }

    fn spec_hash(&self) -> Option<&str> {
        match &self.desired.template {
            Wanted::Ready(template) => Some(template.spec_hash.as_str()),
            Wanted::Blocked(_) => None,
        }
    }
}

/// The fields that differ, by their path. Of a new pool there is no present state.
pub(super) fn differences(present: Option<&View<'_>>, planned: &View<'_>) -> Vec<PlannedChange> {
    // A template that cannot be made yet has no fields to compare: what it waits for is in the conditions.
    let has_template =
        planned.spec_hash().is_some() && present.is_none_or(|present| present.spec_hash().is_some());
    let before = present.map(|present| present.fields(has_template)).unwrap_or_default();
    let after = planned.fields(has_template);
    let outdates = has_template
        && planned.desired.rollout.strategy == Strategy::RollingUpdate
        && present.is_some_and(|present| present.spec_hash() != planned.spec_hash());
    let mut changes = fields::differences(&before, &after);
    for change in &mut changes {
        change.replaces = outdates && replaces(&change.field);
    }
    // User data without a token replaces instances as well.
    if outdates && !changes.iter().any(|change| change.replaces) {
        for change in changes.iter_mut().filter(|change| change.field == USER_DATA) {
            change.replaces = true;
        }
    }
    for change in changes.iter_mut().filter(|change| change.field == USER_DATA) {
        (change.from, change.to) = (None, Some(json!("other user data").to_string()));
    }
    changes
}

fn replaces(path: &str) -> bool {
    let of_content =
        path.starts_with("launchTemplate.") || ["kubernetesVersion", "bootstrapSecret"].contains(&path);
    of_content && !FOR_NEW_INSTANCES.iter().any(|field| path.starts_with(field))
}
