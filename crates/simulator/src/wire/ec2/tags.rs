//! Tags of EC2 resources.

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use std::collections::BTreeMap;

pub(super) fn create(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    region.create_tags(&params.texts("ResourceId"), &parse(params)?)?;
    xml.text("return", "true");
    Ok(())
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let mut tags = BTreeMap::new();
    for tag in params.list("Tag") {
        tags.insert(tag.required("Key")?.to_owned(), tag.text("Value").map(str::to_owned));
    }
    region.delete_tags(&params.texts("ResourceId"), &tags)?;
    xml.text("return", "true");
    Ok(())
}

/// `Tag.1.Key`, `Tag.1.Value`.
pub(super) fn parse(params: &Params) -> AwsResult<BTreeMap<String, String>> {
    let mut tags = BTreeMap::new();
    for tag in params.list("Tag") {
        let value = tag.text("Value").unwrap_or_default().to_owned();
        if tags.insert(tag.required("Key")?.to_owned(), value).is_some() {
            return Err(AwsError::invalid_value("Duplicate tag key specified."));
        }
    }
    Ok(tags)
}

/// A tag set.
pub(super) fn write(xml: &mut Xml, tags: &BTreeMap<String, String>) {
    xml.list("tagSet", "item", tags, |xml, (key, value)| {
        xml.text("key", key);
        xml.text("value", value);
    });
}
