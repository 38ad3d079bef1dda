//! Launch template data: from the field names of requests to those of responses.

use super::launch_fields::{Field, LAUNCH_TEMPLATE_DATA, Shape};
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;

/// Reads the LaunchTemplateData parameter.
pub(super) fn parse(params: &Params) -> AwsResult<LaunchData> {
    let data = params.node("LaunchTemplateData").ok_or_else(|| AwsError::missing("LaunchTemplateData"))?;
    LaunchData::new(convert(data, LAUNCH_TEMPLATE_DATA)?)
}

fn convert(params: &Params, fields: &[Field]) -> AwsResult<Document> {
    let mut document = Document::map();
    for (name, node) in params.nodes() {
        let field = fields.iter().find(|field| field.request == name).ok_or_else(|| {
            AwsError::new("UnknownParameter", format!("The parameter {name} is not recognized"))
        })?;
        let value = match &field.shape {
            Shape::Text => Document::text(node.here().unwrap_or_default()),
            Shape::Texts => Document::List(params.texts(name).into_iter().map(Document::Text).collect()),
            Shape::Structure(inner) => convert(node, inner)?,
            Shape::Structures(inner) => Document::List(
                params.list(name).into_iter().map(|item| convert(item, inner)).collect::<AwsResult<_>>()?,
            ),
        };
        document.set(field.response, value);
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_with_different_names_in_requests_and_responses_are_translated() {
        let params = Params::parse(
            b"LaunchTemplateData.ImageId=ami-1\
              &LaunchTemplateData.NetworkInterface.1.DeviceIndex=0\
              &LaunchTemplateData.NetworkInterface.1.SecurityGroupId.1=sg-1\
              &LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize=30\
              &LaunchTemplateData.TagSpecification.1.ResourceType=instance\
              &LaunchTemplateData.TagSpecification.1.Tag.1.Key=k\
              &LaunchTemplateData.TagSpecification.1.Tag.1.Value=v\
              &LaunchTemplateData.InstanceMarketOptions.MarketType=spot",
        )
        .expect("ok");
        let data = parse(&params).expect("ok");
        assert_eq!(data.security_groups(), ["sg-1".into()]);
        assert!(data.is_spot());
        assert_eq!(data.tags_for("instance").get("k").map(String::as_str), Some("v"));
        let disks = data.document.get_list(&["blockDeviceMappingSet"]);
        assert_eq!(disks.first().and_then(|disk| disk.get_text(&["ebs", "volumeSize"])), Some("30"));
    }

    #[test]
    fn unknown_fields_are_refused() {
        let params = Params::parse(b"LaunchTemplateData.Immage=ami-1").expect("ok");
        assert_eq!(parse(&params).expect_err("refused").code, "UnknownParameter");
        let params = Params::parse(b"Other=1").expect("ok");
        assert_eq!(parse(&params).expect_err("refused").code, "MissingParameter");
    }
}
