//! Resources by the ids that a caller gives. Malformed and unknown ids have codes of their own (EC2 API Reference,
//! "Error codes").

use super::catalogue::{Image, TypeInfo};
use super::ec2::instances::Ec2Instance;
use super::error::{AwsError, AwsResult};
use super::region::Region;
use foo_model::{ImageId, InstanceId, InstanceType};
use std::borrow::Cow;

/// Which state of the region a call sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The present one: calls that change something.
    Present,
    /// That of a read lag ago: Describe calls.
    Lagging,
}

/// The message of EC2's refusal of instances that do not exist.
pub fn unknown_instances(ids: &[&str]) -> AwsError {
    let message = match ids {
        [one] => format!("The instance ID '{one}' does not exist"),
        many => format!("The instance IDs '{}' do not exist", many.join(", ")),
    };
    AwsError::new("InvalidInstanceID.NotFound", message)
}

impl Region {
    /// Instances; all of them must exist. A read can still lack some of them ([`Region::leave_out_zone`]).
    pub fn instances_by_id(&self, ids: &[InstanceId], view: View) -> AwsResult<Vec<Cow<'_, Ec2Instance>>> {
        let well_formed = |id: &InstanceId| {
            id.as_str().strip_prefix("i-").is_some_and(|digits| {
                matches!(digits.len(), 8 | 17) && digits.chars().all(|c| c.is_ascii_hexdigit())
            })
        };
        if let Some(bad) = ids.iter().find(|id| !well_formed(id)) {
            return Err(AwsError::new("InvalidInstanceID.Malformed", format!("Invalid id: \"{bad}\"")));
        }
        let get = |id: &InstanceId| match view {
            View::Present => self.instance(id).map(Cow::Borrowed),
            View::Lagging => self.instance_seen(id),
        };
        let unknown: Vec<&str> = ids.iter().filter(|id| get(id).is_none()).map(InstanceId::as_str).collect();
        if unknown.is_empty() {
            let shown = |it: &Cow<'_, Ec2Instance>| view == View::Present || !self.leaves_out(it);
            Ok(ids.iter().filter_map(get).filter(shown).collect())
        } else {
            Err(unknown_instances(&unknown))
        }
    }

    /// Instance types; all of them must exist.
    pub fn types_by_name(&self, names: &[InstanceType]) -> AwsResult<Vec<&TypeInfo>> {
        let unknown: Vec<&str> =
            names.iter().filter(|name| !self.types.contains_key(name)).map(InstanceType::as_str).collect();
        if !unknown.is_empty() {
            return Err(AwsError::new(
                "InvalidInstanceType",
                format!("The following supplied instance types do not exist: [{}]", unknown.join(", ")),
            ));
        }
        Ok(names.iter().filter_map(|name| self.types.get(name)).collect())
    }

    /// Images; all of them must exist.
    pub fn images_by_id(&self, ids: &[ImageId]) -> AwsResult<Vec<&Image>> {
        ids.iter()
            .map(|id| match self.images.get(id) {
                Some(image) => Ok(image),
                None if !id.as_str().starts_with("ami-") => {
                    Err(AwsError::new("InvalidAMIID.Malformed", format!("Invalid id: \"{id}\"")))
                }
                None => Err(AwsError::new(
                    "InvalidAMIID.NotFound",
                    format!("The image id '[{id}]' does not exist"),
                )),
            })
            .collect()
    }
}
