//! STS: GetCallerIdentity, which any signed caller may ask (AWS STS API Reference).

use super::params::Params;
use super::xml::Xml;
use super::{Caller, Operation};
use crate::core::error::AwsResult;
use crate::core::region::Region;

pub(super) fn operation(action: &str) -> Option<Operation> {
    match action {
        "GetCallerIdentity" => Some(get_caller_identity),
        _ => None,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the form of all operations")]
fn get_caller_identity(_: &mut Region, _: &Params, caller: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    xml.text("Arn", &caller.arn);
    xml.text("UserId", caller.name);
    xml.text("Account", caller.account);
    Ok(())
}
