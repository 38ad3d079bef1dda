//! Launch template data: stored completely, as in the request, with access to the parts that a launch needs.

use crate::core::document::Document;
use crate::core::error::{AwsError, AwsResult};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_model::{ImageId, InstanceType, SecurityGroupId, SubnetId};
use serde::Serialize;
use std::collections::BTreeMap;

/// Maximum size of user data in bytes, before base64 (EC2 User Guide, "Run commands at launch").
pub const USER_DATA_LIMIT: usize = 16_384;

/// The data of one launch template version. Names are those of EC2's responses (`imageId`, `securityGroupIdSet`, …).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchData {
    /// The complete data.
    pub document: Document,
}

impl LaunchData {
    /// Validates what EC2 validates when a version is created: the data is not empty, and user data is base64.
    pub fn new(document: Document) -> AwsResult<Self> {
        if document.is_empty() {
            return Err(AwsError::missing("LaunchTemplateData"));
        }
        let data = Self { document };
        if let Some(text) = data.document.get_text(&["userData"]) {
            let malformed =
                |_| AwsError::new("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.");
            STANDARD.decode(text).map_err(malformed)?;
        }
        Ok(data)
    }

    /// Checks the size of user data (EC2 User Guide, "Instance user data": 16 KB before it is encoded).
    pub(crate) fn check_size(&self, code: &str) -> AwsResult<()> {
        let size = self.document.get_text(&["userData"]).and_then(|text| STANDARD.decode(text).ok());
        if size.is_some_and(|bytes| bytes.len() > USER_DATA_LIMIT) {
            return Err(AwsError::new(code, format!("User data is limited to {USER_DATA_LIMIT} bytes")));
        }
        Ok(())
    }

    /// The image, if it names one.
    pub fn image(&self) -> Option<ImageId> {
        self.document.get_text(&["imageId"]).map(ImageId::from)
    }

    /// The instance type, if it names one.
    pub fn instance_type(&self) -> Option<InstanceType> {
        self.document.get_text(&["instanceType"]).map(InstanceType::from)
    }

    /// The security groups: of the first network interface, else of the instance.
    pub fn security_groups(&self) -> Vec<SecurityGroupId> {
        let of_interface =
            self.first_interface().map(|interface| interface.get_texts(&["groupSet"])).unwrap_or_default();
        let all = if of_interface.is_empty() {
            self.document.get_texts(&["securityGroupIdSet"])
        } else {
            of_interface
        };
        all.into_iter().map(SecurityGroupId::from).collect()
    }

    /// The security groups of all network interfaces, else of the instance.
    pub fn all_security_groups(&self) -> Vec<SecurityGroupId> {
        let mut all = self.security_groups();
        for interface in self.interfaces() {
            for group in interface.get_texts(&["groupSet"]) {
                let group = SecurityGroupId::new(group);
                if !all.contains(&group) {
                    all.push(group);
                }
            }
        }
        all
    }

    /// The subnet of the first network interface. The subnets of a group override it.
    pub fn subnet(&self) -> Option<SubnetId> {
        self.first_interface()?.get_text(&["subnetId"]).map(SubnetId::from)
    }

    /// Whether the first network interface asks for a public address; `None` leaves it to the subnet. An instance with several
    /// interfaces gets none (EC2 User Guide, "Amazon EC2 instance IP addressing").
    pub fn public_address(&self) -> Option<bool> {
        if self.interfaces().len() > 1 {
            return Some(false);
        }
        self.first_interface()?.get_text(&["associatePublicIpAddress"]).map(|text| text == "true")
    }

    /// Whether host names are the ids of instances; the subnets of the simulator have names of addresses.
    pub fn names_hosts_by_id(&self) -> bool {
        self.document.get_text(&["privateDnsNameOptions", "hostnameType"]) == Some("resource-name")
    }

    /// Whether it asks for spot instances.
    pub fn is_spot(&self) -> bool {
        self.document.get_text(&["instanceMarketOptions", "marketType"]) == Some("spot")
    }

    /// Whether it asks for instances of a Capacity Block.
    pub fn is_block(&self) -> bool {
        self.document.get_text(&["instanceMarketOptions", "marketType"]) == Some("capacity-block")
    }

    /// Name or ARN of the instance profile.
    pub fn instance_profile(&self) -> Option<&str> {
        let profile = |part| self.document.get_text(&["iamInstanceProfile", part]);
        profile("name").or_else(|| profile("arn"))
    }

    /// The user data, in base64.
    pub fn user_data(&self) -> Option<&str> {
        self.document.get_text(&["userData"])
    }

    /// The SSH key pair.
    pub fn key_name(&self) -> Option<&str> {
        self.document.get_text(&["keyName"])
    }

    /// The tags for resources of a kind (`instance`, `volume`).
    pub fn tags_for(&self, resource: &str) -> BTreeMap<String, String> {
        self.document
            .get_list(&["tagSpecificationSet"])
            .iter()
            .filter(|spec| spec.get_text(&["resourceType"]) == Some(resource))
            .flat_map(|spec| spec.get_list(&["tagSet"]))
            .filter_map(|tag| {
                Some((
                    tag.get_text(&["key"])?.to_owned(),
                    tag.get_text(&["value"]).unwrap_or_default().to_owned(),
                ))
            })
            .collect()
    }

    /// This data merged over that of a source version: each top-level field of it replaces that of the source (EC2
    /// API Reference, CreateLaunchTemplateVersion, SourceVersion).
    pub fn over(self, source: &Self) -> Self {
        let mut document = source.document.clone();
        if let Document::Map(entries) = self.document {
            for (name, value) in entries {
                document.set(&name, value);
            }
        }
        Self { document }
    }

    fn interfaces(&self) -> &[Document] {
        self.document.get_list(&["networkInterfaceSet"])
    }

    fn first_interface(&self) -> Option<&Document> {
        self.interfaces().first()
    }
}
