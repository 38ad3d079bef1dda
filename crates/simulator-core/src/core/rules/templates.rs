//! Calls about launch templates.

use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::{NewTemplate, NewVersion, Template, Version};
use crate::core::ec2::volumes;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::tags;
use foo_model::SecurityGroupId;
use std::sync::Arc;

impl Region {
    /// EC2's warnings about the data of a version; it creates the version nevertheless (API Reference,
    /// ValidationWarning).
    pub fn template_warnings(&self, data: &LaunchData) -> Vec<AwsError> {
        let image = data.image();
        let known = image.as_ref().and_then(|id| self.images.get(id));
        let mut warnings = volumes::problems(data, known.map(|image| image.root_device.as_str()));
        if let Some(id) = image.filter(|_| known.is_none()) {
            let text = format!("The image id '[{id}]' does not exist");
            warnings.push(AwsError::new("InvalidAMIID.NotFound", text));
        }
        if let Some(name) = data.instance_type().filter(|name| !self.types.contains_key(name)) {
            warnings.push(AwsError::invalid_value(format!("Invalid value '{name}' for InstanceType.")));
        }
        let unknown = |id: &SecurityGroupId| self.network.security_groups.get(id).is_none();
        warnings.extend(data.all_security_groups().into_iter().filter(unknown).map(|id| {
            AwsError::new("InvalidGroup.NotFound", format!("The security group '{id}' does not exist"))
        }));
        warnings
    }

    /// CreateLaunchTemplate.
    pub fn create_template(&mut self, new: NewTemplate) -> AwsResult<&Template> {
        tags::check(&new.tags)?;
        new.data.check_size(&self.settings.codes.user_data_too_long)?;
        self.templates.create(self.now, &mut self.chance, new)
    }

    /// CreateLaunchTemplateVersion.
    pub fn create_template_version(&mut self, new: NewVersion) -> AwsResult<(&Template, Arc<Version>)> {
        new.data.check_size(&self.settings.codes.user_data_too_long)?;
        self.templates.create_version(self.now, new)
    }
}
