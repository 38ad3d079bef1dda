//! Processes that can be suspended (Auto Scaling User Guide, "Suspend and resume processes").

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_model::{GroupName, Process};

/// The processes with these names; all processes if the list is empty.
pub fn parse_processes(names: &[String]) -> AwsResult<Vec<Process>> {
    if names.is_empty() {
        return Ok(Process::ALL.to_vec());
    }
    let unknown = |name: &str| AwsError::validation(format!("'{name}' is not a valid process type."));
    names.iter().map(|name| Process::from_name(name).ok_or_else(|| unknown(name))).collect()
}

impl Region {
    /// SuspendProcesses.
    pub fn suspend_processes(&mut self, name: &GroupName, processes: &[Process]) -> AwsResult<()> {
        self.living_group(name)?;
        // As in the example of DescribeAutoScalingGroups (API Reference).
        let reason = format!("User suspended at {}", iso_seconds(self.now));
        if let Some(group) = self.groups.get_mut(name) {
            group.suspended.extend(processes.iter().map(|process| (*process, reason.clone())));
        }
        Ok(())
    }

    /// ResumeProcesses. The group does at once what it postponed, and retries failed launches.
    pub fn resume_processes(&mut self, name: &GroupName, processes: &[Process]) -> AwsResult<()> {
        self.living_group(name)?;
        let mut checks = false;
        if let Some(group) = self.groups.get_mut(name) {
            for process in processes {
                let was_suspended = group.suspended.remove(process).is_some();
                checks |= was_suspended && *process == Process::HealthCheck;
                if was_suspended && *process == Process::Launch {
                    group.failing_since = None;
                    group.troubles.clear();
                }
            }
        }
        if checks {
            self.check_all(name);
        }
        self.wake_soon(name);
        Ok(())
    }

    /// Counts a failed launch: AWS itself suspends a group that has launched nothing for too long. It does not
    /// document which processes it suspends, nor the text of the reason.
    pub(crate) fn count_failed_launch(&mut self, name: &GroupName) {
        let (now, limit) = (self.now, self.settings.administrative_suspension);
        let Some(group) = self.groups.get_mut(name) else { return };
        let since = *group.failing_since.get_or_insert(now);
        if since.plus(limit) <= now && !group.is_suspended(Process::Launch) {
            let reason = format!(
                "Administratively suspended at {}: the group has been trying to launch instances since {} but has not \
                 succeeded in launching any instances.",
                iso_seconds(now),
                iso_seconds(since)
            );
            group.suspended.insert(Process::Launch, reason);
        }
    }
}
