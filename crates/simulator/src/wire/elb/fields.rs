//! What both APIs have in common: pages, tags, and the selection of their load balancers.

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_model::network::{LoadBalancer, LoadBalancerKind, Tags};

/// Most resources of one DescribeTags.
const TAGGED: usize = 20;

/// Bounds of a page.
const PAGING: Paging = Paging { limit: "PageSize", default: 400, min: 1, max: 400 };

/// The load balancers of one of the two APIs.
pub(super) fn of_api(region: &Region, classic: bool) -> Vec<LoadBalancer> {
    let all = region.parts_seen::<LoadBalancer>().map(std::borrow::Cow::into_owned);
    all.filter(|balancer| (balancer.kind == LoadBalancerKind::Classic) == classic).collect()
}

pub(super) fn page(params: &Params) -> AwsResult<Page> {
    Page::with_token(params, &PAGING, "Marker")
        .map_err(|error| if error.code == "InvalidNextToken" { bad_marker() } else { error })
}

fn bad_marker() -> AwsError {
    AwsError::validation("The marker is not valid.")
}

pub(super) fn write_tags(xml: &mut Xml, tags: &Tags) {
    xml.list("Tags", "member", tags, |xml, (key, value)| {
        xml.text("Key", key);
        xml.text("Value", value);
    });
}

/// The names or ARNs of DescribeTags.
pub(super) fn tagged(params: &Params, list: &str) -> AwsResult<Vec<String>> {
    let wanted = params.texts(list);
    if wanted.is_empty() {
        return Err(AwsError::missing(list));
    }
    if wanted.len() > TAGGED {
        return Err(AwsError::validation(format!("Up to {TAGGED} {list} can be specified.")));
    }
    Ok(wanted)
}
