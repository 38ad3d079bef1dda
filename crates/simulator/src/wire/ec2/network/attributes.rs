//! DescribeVpcAttribute: one attribute per call.

use super::parse::fields::only;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::network::Vpc;

pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    only(params, &["VpcId", "Attribute"])?;
    let (id, attribute) = (params.required("VpcId")?.to_owned(), params.required("Attribute")?);
    let found = region.parts_by_id::<Vpc>(&[id])?;
    let value = |vpc: &Vpc| match attribute {
        "enableDnsSupport" => Ok(vpc.dns_support.unwrap_or(true)),
        "enableDnsHostnames" => Ok(vpc.dns_hostnames.unwrap_or(false)),
        "enableNetworkAddressUsageMetrics" => Ok(false),
        other => {
            let text = format!("Value ({other}) for parameter attribute is invalid. Unknown VPC attribute");
            Err(AwsError::invalid_value(text))
        }
    };
    for vpc in found {
        let value = value(&vpc)?;
        xml.text("vpcId", vpc.id.as_str());
        xml.within(attribute, |xml| xml.value("value", value));
    }
    Ok(())
}
