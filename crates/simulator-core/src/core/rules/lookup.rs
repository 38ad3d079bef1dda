//! Resources by the ids that a caller gives.

use crate::core::catalogue::{Image, TypeInfo};
use crate::core::ec2::instances::Ec2Instance;
use crate::core::error::{AwsError, AwsResult};
use crate::core::lookup::{View, unknown_instances};
use crate::core::region::Region;
use foo_model::{ImageId, InstanceId, InstanceType};
use std::borrow::Cow;

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
