//! The part of the control API that is about clusters of EKS.

use super::result::{ControlError, ControlResult, done, parse, value_of};
use crate::simulator::RegionHandle;
use http::Method;

pub(super) fn of_region(region: &RegionHandle, method: &Method, path: &[&str], body: &[u8]) -> ControlResult {
    match (method.as_str(), path) {
        ("GET", ["clusters"]) => value_of(region.clusters()),
        ("GET", ["clusters", name]) => region.cluster(name).map_or(Err(ControlError::NotFound), value_of),
        ("PUT", ["clusters", name, "health"]) => done(region.set_cluster_health(name, parse(body)?)),
        ("PUT", ["clusters", name, "addons", addon, "health"]) => {
            done(region.set_addon_health(name, addon, parse(body)?))
        }
        ("PUT", ["clusters", name, "insights"]) => done(region.set_cluster_insights(name, parse(body)?)),
        ("PUT", ["clusters", name, "server"]) => done(region.set_cluster_server(name, parse(body)?)),
        ("POST", ["clusters", name, "upgrade"]) => done(region.upgrade_by_aws(name)),
        ("GET", ["eks-faults"]) => value_of(region.eks_mishaps()),
        ("PUT", ["eks-faults"]) => done(region.set_eks_mishaps(parse(body)?)),
        _ => Err(ControlError::NotFound),
    }
}
