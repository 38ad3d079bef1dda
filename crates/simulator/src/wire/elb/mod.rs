//! Elastic Load Balancing: two APIs at one endpoint, told apart by the version in the request. Load balancers and target groups
//! are described and deleted here; the control API makes them, as controllers in clusters would.

mod classic;
mod v2;

use super::operation::Operation;
use super::paging::{Page, Paging};
use super::params::Params;
use super::xml::Xml;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::network::{LoadBalancer, LoadBalancerKind, Tags};

/// Version of the API of classic load balancers.
pub(super) const CLASSIC: &str = "2012-06-01";

/// Things that one DescribeTags can name.
const TAGGED: usize = 20;

/// Bounds of a page.
const PAGING: Paging = Paging { limit: "PageSize", default: 400, min: 1, max: 400 };

/// All actions.
pub(super) const ACTIONS: [(&str, Operation); 5] = [
    ("DescribeLoadBalancers", |region, params, caller, xml| {
        either(params, classic::balancers, v2::balancers)(region, params, caller, xml)
    }),
    ("DescribeTags", |region, params, caller, xml| {
        either(params, classic::tags, v2::tags)(region, params, caller, xml)
    }),
    ("DeleteLoadBalancer", |region, params, caller, xml| {
        either(params, classic::delete, v2::delete)(region, params, caller, xml)
    }),
    ("DescribeTargetGroups", v2::target_groups),
    ("DeleteTargetGroup", v2::delete_target_group),
];

fn either(params: &Params, classic: Operation, v2: Operation) -> Operation {
    if params.text("Version") == Some(CLASSIC) { classic } else { v2 }
}

/// The load balancers of one of the two APIs.
fn of_api(region: &Region, classic: bool) -> Vec<LoadBalancer> {
    let all = region.parts_seen::<LoadBalancer>().map(std::borrow::Cow::into_owned);
    all.filter(|balancer| (balancer.kind == LoadBalancerKind::Classic) == classic).collect()
}

fn page(params: &Params) -> AwsResult<Page> {
    Page::with_token(params, &PAGING, "Marker")
        .map_err(|error| if error.code == "InvalidNextToken" { bad_marker() } else { error })
}

fn bad_marker() -> AwsError {
    AwsError::validation("The marker is not valid.")
}

fn write_tags(xml: &mut Xml, tags: &Tags) {
    xml.list("Tags", "member", tags, |xml, (key, value)| {
        xml.text("Key", key);
        xml.text("Value", value);
    });
}

/// The names or ARNs of DescribeTags.
fn tagged(params: &Params, list: &str) -> AwsResult<Vec<String>> {
    let wanted = params.texts(list);
    if wanted.is_empty() {
        return Err(AwsError::missing(list));
    }
    if wanted.len() > TAGGED {
        return Err(AwsError::validation(format!("Up to {TAGGED} {list} can be specified.")));
    }
    Ok(wanted)
}
