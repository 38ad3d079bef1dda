//! Processes that can be suspended (Auto Scaling User Guide, "Suspend and resume processes").

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_cloud::model::{GroupName, Process};

/// The processes of these names; all of them if there are none.
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
        if let Some(group) = self.groups.get_mut(name) {
            group.suspended.extend(processes);
        }
        Ok(())
    }

    /// ResumeProcesses. What was put off is done now.
    pub fn resume_processes(&mut self, name: &GroupName, processes: &[Process]) -> AwsResult<()> {
        self.living_group(name)?;
        let mut checks = false;
        if let Some(group) = self.groups.get_mut(name) {
            for process in processes {
                let was_suspended = group.suspended.remove(process);
                checks |= was_suspended && *process == Process::HealthCheck;
            }
        }
        if checks {
            self.check_all(name);
        }
        self.wake_soon(name);
        Ok(())
    }
}
