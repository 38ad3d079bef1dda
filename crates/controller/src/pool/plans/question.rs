//! What a FooPlan asks: which pool, and the objects as they are planned.

use crate::owners;
use crate::plans::changed::trusted_annotations;
use crate::plans::objects::{check, insert, is_of, not_planned, parse};
use crate::pool::gather::Caches;
use foo_api::capi::MachinePool;
use foo_api::plan::{FooPlan, GivenDurations};
use foo_api::{FooMachinePool, FooMachinePoolSpec};
use kube::ResourceExt;
use kube::api::ObjectMeta;
use kube_runtime::reflector::ObjectRef;
use std::sync::Arc;

/// A question about one pool.
pub(in crate::pool) struct Question {
    /// The pool as it is; none yet for a new one.
    pub(super) present: Option<Arc<FooMachinePool>>,
    /// The pool as it is planned.
    pub(super) planned: Arc<FooMachinePool>,
    /// Its MachinePool as it is planned; `None`: none is known.
    pub(super) machine_pool: Option<Arc<MachinePool>>,
    /// Durations that the user gave.
    pub(super) durations: GivenDurations,
}

impl Question {
    /// The question, or why there can be no plan. `None`: the pool may be one of another manager, which this one does not
    /// see (`is_filtered`).
    pub(super) fn of(plan: &FooPlan, caches: &Caches, is_filtered: bool) -> Result<Option<Self>, String> {
        let namespace = plan.namespace().unwrap_or_default();
        let (mut pool, mut machine_pool) = (None, None);
        for object in &plan.spec.objects {
            check(object, &namespace)?;
            if is_of::<FooMachinePool>(object) {
                insert(&mut pool, parse(object, &namespace)?)?;
            } else if is_of::<MachinePool>(object) {
                insert(&mut machine_pool, parse(object, &namespace)?)?;
            } else {
                return Err(not_planned(object));
            }
        }
        let (pool, machine_pool): (Option<FooMachinePool>, Option<MachinePool>) = (pool, machine_pool);
        let name = match (&pool, machine_pool.as_ref().map(infrastructure)) {
            (Some(pool), named) => {
                let name = pool.name_any();
                if named.flatten().is_some_and(|named| named != name) {
                    return Err(format!("the MachinePool does not belong to FooMachinePool {name}"));
                }
                name
            }
            (None, Some(Some(named))) => named.to_owned(),
            (None, _) => return Err("the infrastructure of the MachinePool is no FooMachinePool".to_owned()),
        };
        let present = caches.pools.get(&ObjectRef::new(&name).within(&namespace));
        let planned =
            pool.map(|pool| Arc::new(trusted(pool, present.as_deref()))).or_else(|| present.clone());
        let Some(planned) = planned else {
            if is_filtered {
                return Ok(None);
            }
            return Err(format!("there is no FooMachinePool {name} in namespace {namespace}"));
        };
        if planned.metadata.deletion_timestamp.is_some() {
            return Err(format!("FooMachinePool {name} is being deleted"));
        }
        let live = owners::of_kind(planned.as_ref(), "MachinePool", &caches.machine_pools).or_else(|| {
            let of_it = |pool: &MachinePool| infrastructure(pool) == Some(&name);
            caches.machine_pools_by_name.all_in(&namespace, of_it).into_iter().next()
        });
        let machine_pool = match machine_pool {
            Some(mut planned) => {
                planned.metadata.uid = live.and_then(|live| live.uid());
                Some(Arc::new(planned))
            }
            None => live,
        };
        let durations = plan.spec.durations.unwrap_or_default();
        Ok(Some(Self { present, planned, machine_pool, durations }))
    }
}

/// The pool with everything that users do not decide as it is in the cluster. The content of a FooPlan is not validated:
/// its author could claim another pool's identity, and with it what is known of another tenant's group.
fn trusted(planned: FooMachinePool, present: Option<&FooMachinePool>) -> FooMachinePool {
    let FooMachinePool { metadata, spec, status: _ } = planned;
    let (name, namespace) = (metadata.name, metadata.namespace);
    let labels = metadata.labels;
    let annotations = Some(trusted_annotations(metadata.annotations, present));
    match present {
        Some(present) => FooMachinePool {
            metadata: ObjectMeta { labels, annotations, ..present.metadata.clone() },
            spec: FooMachinePoolSpec {
                group_name: present.spec.group_name.clone(),
                launch_template_name: present.spec.launch_template_name.clone(),
                provider_id: present.spec.provider_id.clone(),
                provider_id_list: present.spec.provider_id_list.clone(),
                ..spec
            },
            status: present.status.clone(),
        },
        None => FooMachinePool {
            metadata: ObjectMeta { name, namespace, labels, annotations, ..ObjectMeta::default() },
            spec: FooMachinePoolSpec { provider_id: None, provider_id_list: None, ..spec },
            status: None,
        },
    }
}

/// The FooMachinePool that a MachinePool names.
fn infrastructure(machine_pool: &MachinePool) -> Option<&str> {
    let reference = &machine_pool.spec.template.spec.infrastructure_ref;
    (reference.kind == "FooMachinePool").then_some(reference.name.as_str())
}
