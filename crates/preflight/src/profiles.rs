//! Instance profiles: they exist, and have a role. Nodes without credentials of their own do not join a cluster.

use crate::account::Account;
use crate::report::{Report, by_what, pools};
use crate::topology::Topology;
use futures::future::join_all;

pub(crate) async fn check(aws: &dyn Account, topology: &Topology, report: &mut Report) {
    let named = topology.pools.iter().filter_map(|pool| Some((pool.profile.as_deref()?, pool.name.as_str())));
    let named = by_what(named);
    let results = join_all(named.keys().map(async |name| aws.instance_profile(name).await)).await;
    for ((name, names), result) in named.iter().zip(results) {
        let what = format!("{}: instance profile {name}", pools(names));
        match report.result(&what, result) {
            Some(None) => report.finds(format!("{what} does not exist")),
            Some(Some(profile)) if profile.role.is_none() => report.finds(format!("{what} has no role")),
            Some(Some(_)) | None => {}
        }
    }
}
