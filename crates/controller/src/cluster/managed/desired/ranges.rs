//! The ranges of a network's VPC.

use foo_api::cluster as api;
use foo_model::network::Vpc;
use foo_model::{Blocked, Reason};
use foo_network::addresses::{self, Unfit};
use ipnet::Ipv4Net;

/// The ranges of the spec, the first one first.
pub(super) fn ranges(spec: &api::ManagedNetwork) -> Result<Vec<Ipv4Net>, Blocked> {
    let ranges = spec.ranges().map_err(no_range)?;
    match &spec.vpc_id {
        // What AWS lets into one VPC was asked when the user created it.
        Some(_) => addresses::check_listed(
            &ranges,
            &ranges.iter().map(|range| (range.to_string(), *range)).collect::<Vec<_>>(),
        ),
        None => addresses::check_ranges(&ranges),
    }
    .map_err(unfit)?;
    Ok(ranges)
}

#[expect(clippy::needless_pass_by_value, reason = "it is what errors are mapped with")]
pub(super) fn no_range(text: api::NoRange) -> Blocked {
    Blocked::new(Reason::RangeUnfit, text.to_string())
}

/// Whether the part of the user's VPC that the spec names is one of it.
pub(super) fn are_in(vpc: &Vpc, ranges: &[Ipv4Net]) -> Result<(), Blocked> {
    let Some(outside) = ranges.iter().find(|range| !vpc.cidrs.iter().any(|it| it.range.contains(*range)))
    else {
        return Ok(());
    };
    let has: Vec<String> = vpc.cidrs.iter().map(|it| it.range.to_string()).collect();
    let message = format!("{outside} is not in VPC {}, which has {}", vpc.id, has.join(", "));
    Err(Blocked::new(Reason::RangeUnfit, message))
}

/// Mistakes in ranges, as messages for users.
#[expect(clippy::needless_pass_by_value, reason = "it is what errors are mapped with")]
pub(super) fn unfit(unfit: Unfit) -> Blocked {
    let reason = match unfit {
        Unfit::NoRoom { .. } | Unfit::NoIpv6(_) => Reason::RangeTooSmall,
        Unfit::Size(_)
        | Unfit::NotItsBeginning(_)
        | Unfit::Public(_)
        | Unfit::Overlap(_, _)
        | Unfit::NotTogether(_, _)
        | Unfit::Outside(_, _)
        | Unfit::Taken(_, _, _) => Reason::RangeUnfit,
    };
    Blocked::new(reason, unfit.to_string())
}
