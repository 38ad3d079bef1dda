//! Lists pools and the MachinePools that reference them.

use super::Rollout;
use crate::access::{Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use anyhow::Result;
use foo_api::FooMachinePool;
use foo_api::capi::MachinePool;
use kube::{Resource as _, ResourceExt as _};

/// The roll-outs of the pools that are asked for, all if none is named, by namespace and name.
///
/// # Errors
/// A pool does not exist, or a right is missing.
pub async fn read(reads: &Reads<'_>, asked: &[Asked]) -> Result<Vec<Rollout>> {
    let names = of_kind(asked, Kind::Pool).unwrap_or_default();
    let (pools, machine_pools) =
        tokio::try_join!(reads.list::<FooMachinePool>(None), reads.list::<MachinePool>(None))?;
    let mut pools = meant(pools, reads.namespace, &names)?;
    pools.sort_by_key(|pool| (pool.namespace(), pool.name_any()));
    let references = |machine_pool: &&MachinePool, pool: &FooMachinePool| {
        let reference = &machine_pool.spec.template.spec.infrastructure_ref;
        machine_pool.namespace() == pool.namespace()
            && reference.kind == FooMachinePool::kind(&())
            && reference.name == pool.name_any()
    };
    let of = |pool: &FooMachinePool| {
        Rollout::of(pool, machine_pools.iter().find(|machine_pool| references(machine_pool, pool)))
    };
    Ok(pools.iter().map(of).collect())
}
