//! Which cluster a FooNodeConfig belongs to: MachinePool, Cluster and control plane, from the caches.

use crate::owners;
use foo_api::capi::{Cluster, ContractReference, MachinePool};
use foo_api::control_plane::EksStatus;
use foo_api::node_config::Family;
use foo_api::shared::ApiEndpoint;
use foo_api::{FooControlPlane, FooMachinePool, FooNodeConfig, names};
use foo_model::{Blocked, Reason};
use kube::ResourceExt;
use kube_runtime::reflector::{ObjectRef, Store};
use std::sync::Arc;

/// The caches that are searched.
pub(super) struct Caches {
    pub(super) machine_pools: Store<MachinePool>,
    pub(super) clusters: Store<Cluster>,
    pub(super) control_planes: Store<FooControlPlane>,
    pub(super) foo_machine_pools: Store<FooMachinePool>,
}

/// The cluster that the Nodes join.
pub(super) struct Belonging {
    /// The MachinePool that names the FooNodeConfig.
    pub(super) machine_pool: Arc<MachinePool>,
    pub(super) cluster: Arc<Cluster>,
    pub(super) control_plane: ControlPlane,
    /// The family of the image that the pool's instances boot from, or why it is not known.
    pub(super) image_family: Result<Family, Blocked>,
}

/// The control plane of that cluster.
pub(super) enum ControlPlane {
    /// A managed EKS cluster, which reports all facts of the cluster itself.
    Eks(Arc<FooControlPlane>),
    /// Another one, of which Cluster API has a kubeconfig.
    Other,
}

/// What users and other controllers may change of it.
#[derive(Clone, PartialEq)]
pub(super) struct Print {
    cluster: Option<i64>,
    endpoint: Option<ApiEndpoint>,
    eks: Option<EksStatus>,
    image_family: Result<Family, Blocked>,
}

/// Whether the MachinePool names this FooMachinePool.
pub(super) fn is_infrastructure_of(pool: &FooMachinePool, machine_pool: &MachinePool) -> bool {
    let reference = &machine_pool.spec.template.spec.infrastructure_ref;
    is_foo_machine_pool(reference)
        && reference.name == pool.name_any()
        && machine_pool.namespace() == pool.namespace()
}

fn is_foo_machine_pool(reference: &ContractReference) -> bool {
    reference.kind == "FooMachinePool" && reference.api_group == names::INFRASTRUCTURE_GROUP
}

impl Belonging {
    pub(super) fn print(&self) -> Print {
        let eks = match &self.control_plane {
            ControlPlane::Eks(control_plane) => Some(control_plane),
            ControlPlane::Other => None,
        };
        Print {
            image_family: self.image_family.clone(),
            cluster: self.cluster.metadata.generation,
            endpoint: eks.and_then(|plane| plane.spec.control_plane_endpoint.clone()),
            // Without the state of add-ons and updates, which changes by itself.
            eks: eks.and_then(|plane| plane.status.as_ref()?.eks.as_ref()).map(|eks| EksStatus {
                name: eks.name.clone(),
                certificate_authority: eks.certificate_authority.clone(),
                service_cidr: eks.service_cidr.clone(),
                ..EksStatus::default()
            }),
        }
    }
}

impl Caches {
    /// The cluster, if a MachinePool of it names this FooNodeConfig and owns it, a reference that core sets. Owner
    /// references alone prove nothing: any user who may create FooNodeConfigs can write them.
    pub(super) fn belonging(&self, config: &FooNodeConfig) -> Result<Belonging, Blocked> {
        let pool = self.machine_pool(config)?;
        let namespace = config.namespace().unwrap_or_default();
        let name = &pool.spec.cluster_name;
        let cluster = self.clusters.get(&ObjectRef::new(name).within(&namespace)).ok_or_else(|| {
            let message = format!("the Cluster {name} of MachinePool {} does not exist", pool.name_any());
            Blocked::new(Reason::WaitingForCluster, message)
        })?;
        let control_plane = self.control_plane(&cluster)?;
        let image_family = self.image_family(&pool);
        Ok(Belonging { machine_pool: pool, cluster, control_plane, image_family })
    }

    fn machine_pool(&self, config: &FooNodeConfig) -> Result<Arc<MachinePool>, Blocked> {
        let waiting = |message: String| Blocked::new(Reason::WaitingForMachinePool, message);
        let Some(pool) = owners::of_kind(config, "MachinePool", &self.machine_pools) else {
            let is_machines = owners::has_owner_of_kind(config, "Machine");
            return Err(waiting(if is_machines {
                "it belongs to a Machine: a FooNodeConfig is for MachinePools only".to_owned()
            } else {
                "no MachinePool owns this FooNodeConfig yet".to_owned()
            }));
        };
        let reference = pool.spec.template.spec.bootstrap.config_ref.as_ref();
        let names_it = reference.is_some_and(|reference| {
            reference.kind == "FooNodeConfig"
                && reference.api_group == names::BOOTSTRAP_GROUP
                && reference.name == config.name_any()
        });
        if names_it {
            return Ok(pool);
        }
        let owner = pool.name_any();
        Err(waiting(format!(
            "MachinePool {owner} does not name it in spec.template.spec.bootstrap.configRef"
        )))
    }

    fn image_family(&self, machine_pool: &MachinePool) -> Result<Family, Blocked> {
        let reference = &machine_pool.spec.template.spec.infrastructure_ref;
        let name = &reference.name;
        if !is_foo_machine_pool(reference) {
            let message = format!("spec.family is required: {} {name} is no FooMachinePool", reference.kind);
            return Err(Blocked::new(Reason::NodeConfigInvalid, message));
        }
        let namespace = machine_pool.namespace().unwrap_or_default();
        let found =
            self.foo_machine_pools.get(&ObjectRef::new(name).within(&namespace)).ok_or_else(|| {
                let message = format!("spec.family is not set, and FooMachinePool {name} does not exist yet");
                Blocked::new(Reason::WaitingForFooMachinePool, message)
            })?;
        let image = found.spec.ami.recommended.as_ref().ok_or_else(|| {
            let message =
                format!("spec.family is required: FooMachinePool {name} has no spec.ami.recommended");
            Blocked::new(Reason::NodeConfigInvalid, message)
        })?;
        Ok(image.family.user_data())
    }

    fn control_plane(&self, cluster: &Cluster) -> Result<ControlPlane, Blocked> {
        let own = cluster.spec.control_plane_ref.as_ref().filter(|reference| {
            reference.kind == "FooControlPlane" && reference.api_group == names::CONTROL_PLANE_GROUP
        });
        let Some(reference) = own else { return Ok(ControlPlane::Other) };
        let namespace = cluster.namespace().unwrap_or_default();
        let found = self.control_planes.get(&ObjectRef::new(&reference.name).within(&namespace));
        let found = found.ok_or_else(|| {
            let message = format!("FooControlPlane {} does not exist", reference.name);
            Blocked::new(Reason::WaitingForClusterFacts, message)
        })?;
        Ok(if found.spec.eks.is_some() { ControlPlane::Eks(found) } else { ControlPlane::Other })
    }
}
