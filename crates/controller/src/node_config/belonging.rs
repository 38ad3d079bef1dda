//! Which cluster a FooNodeConfig belongs to: MachinePool, Cluster and control plane, from the caches.

use crate::owners;
use foo_api::capi::{Cluster, ContractReference, MachinePool};
use foo_api::control_plane::EksStatus;
use foo_api::node_config::Family;
use foo_api::pool::MaxPods;
use foo_api::shared::ApiEndpoint;
use foo_api::{FooControlPlane, FooMachinePool, FooNodeConfig, names};
use foo_model::{Blocked, Reason};
use kube::ResourceExt;
use kube_runtime::reflector::{ObjectRef, Store};
use std::hash::{DefaultHasher, Hash};
use std::sync::Arc;

/// The field that gives the number of Pods itself.
const MAX_PODS: &str = "spec.kubelet.maxPods (instead of spec.vpcCNI)";

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
    pub(super) of_pool: OfPool,
}

/// What a FooNodeConfig need not have if the FooMachinePool of its Nodes has it.
#[derive(Clone, PartialEq)]
pub(super) struct OfPool {
    /// The family of the image that the instances boot from, or why it is not known. Known of recommended images only.
    pub(super) image_family: Result<Family, Blocked>,
    /// Most Pods on a Node by the settings of the VPC CNI, or why they are not known.
    pub(super) max_pods: Result<MaxPods, Blocked>,
    /// The network interfaces of the instances, or why they are not known.
    pub(super) interfaces: Result<Interfaces, Blocked>,
}

/// Which network interfaces the instances of a FooMachinePool are launched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interfaces {
    /// The VPC CNI can use all that an instance has room for.
    AllForPods,
    /// It does not use those of `spec.networkInterfaces`.
    OthersToo,
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
    of_pool: OfPool,
}

/// The part of a FooMachinePool's status that user data depends on.
pub(super) fn status_input(pool: &FooMachinePool, hasher: &mut DefaultHasher) {
    pool.status.as_ref().and_then(|status| status.max_pods).hash(hasher);
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
            of_pool: self.of_pool.clone(),
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
        let of_pool = OfPool {
            image_family: self.image_family(&pool),
            max_pods: self.max_pods(&pool),
            interfaces: self.interfaces(&pool),
        };
        Ok(Belonging { machine_pool: pool, cluster, control_plane, of_pool })
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
        let found = self.foo_machine_pool(machine_pool, "the default of spec.family", "spec.family")?;
        let image = found.spec.ami.recommended.as_ref().ok_or_else(|| {
            let message = format!(
                "spec.family is required: FooMachinePool {} has no spec.ami.recommended",
                found.name_any()
            );
            Blocked::new(Reason::NodeConfigInvalid, message)
        })?;
        Ok(image.family.user_data())
    }

    fn max_pods(&self, machine_pool: &MachinePool) -> Result<MaxPods, Blocked> {
        let found = self.foo_machine_pool(machine_pool, "spec.vpcCNI", MAX_PODS)?;
        let name = found.name_any();
        let mixed = found.spec.mixed_instances.as_ref();
        if mixed.is_some_and(|mixed| mixed.requirements().next().is_some()) {
            let message = format!(
                "{MAX_PODS} is required: AWS chooses the instance types of FooMachinePool {name} by their attributes"
            );
            return Err(Blocked::new(Reason::NodeConfigInvalid, message));
        }
        found.status.as_ref().and_then(|status| status.max_pods).ok_or_else(|| {
            let paused = if owners::is_paused(&*found, None) { " (paused)" } else { "" };
            let message = format!(
                "FooMachinePool {name}{paused} does not report status.maxPods yet; if it lasts, set spec.kubelet.maxPods \
                 instead of spec.vpcCNI, or upgrade the infrastructure provider"
            );
            Blocked::new(Reason::WaitingForFooMachinePool, message)
        })
    }

    /// Before the FooMachinePool exists it is not known: the first instances would be launched with user data that does not fit.
    fn interfaces(&self, machine_pool: &MachinePool) -> Result<Interfaces, Blocked> {
        if !is_foo_machine_pool(&machine_pool.spec.template.spec.infrastructure_ref) {
            return Ok(Interfaces::AllForPods);
        }
        let found = self.foo_machine_pool(machine_pool, "the number of Pods", MAX_PODS)?;
        let all_for_pods = found.spec.network_interfaces.is_empty();
        Ok(if all_for_pods { Interfaces::AllForPods } else { Interfaces::OthersToo })
    }

    /// The FooMachinePool that the Nodes are instances of. `what` needs it, and `field` has to be set where there is none.
    fn foo_machine_pool(
        &self,
        machine_pool: &MachinePool,
        what: &str,
        field: &str,
    ) -> Result<Arc<FooMachinePool>, Blocked> {
        let reference = &machine_pool.spec.template.spec.infrastructure_ref;
        let name = &reference.name;
        if !is_foo_machine_pool(reference) {
            let message = format!("{field} is required: {} {name} is no FooMachinePool", reference.kind);
            return Err(Blocked::new(Reason::NodeConfigInvalid, message));
        }
        let namespace = machine_pool.namespace().unwrap_or_default();
        self.foo_machine_pools.get(&ObjectRef::new(name).within(&namespace)).ok_or_else(|| {
            let message = format!("{what} needs FooMachinePool {name}, which does not exist yet");
            Blocked::new(Reason::WaitingForFooMachinePool, message)
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::FooMachinePoolSpec;
    use foo_api::capi::MachinePoolSpec;
    use foo_api::names::PAUSED_ANNOTATION;
    use foo_api::pool::NetworkInterface;
    use kube_runtime::{reflector, watcher};

    const POOL: &str = "workers";

    /// Caches that have this FooMachinePool alone, and a MachinePool that references it.
    fn pools(foo_machine_pool: Option<FooMachinePool>) -> (Caches, MachinePool) {
        let (foo_machine_pools, mut writer) = reflector::store();
        if let Some(mut pool) = foo_machine_pool {
            pool.metadata.namespace = Some("ns".to_owned());
            writer.apply_watcher_event(&watcher::Event::Apply(pool));
        }
        let caches = Caches {
            machine_pools: reflector::store().0,
            clusters: reflector::store().0,
            control_planes: reflector::store().0,
            foo_machine_pools,
        };
        let mut machine_pool = MachinePool::new(POOL, MachinePoolSpec::default());
        machine_pool.metadata.namespace = Some("ns".to_owned());
        machine_pool.spec.template.spec.infrastructure_ref = ContractReference {
            api_group: names::INFRASTRUCTURE_GROUP.to_owned(),
            kind: "FooMachinePool".to_owned(),
            name: POOL.to_owned(),
        };
        (caches, machine_pool)
    }

    /// Why user data waits, without `spec.family` and with `spec.vpcCNI`, if this is the FooMachinePool.
    fn waits(foo_machine_pool: Option<FooMachinePool>) -> [String; 2] {
        let (caches, machine_pool) = pools(foo_machine_pool);
        let family = caches.image_family(&machine_pool).unwrap_err();
        let max_pods = caches.max_pods(&machine_pool).unwrap_err();
        assert_eq!(max_pods.reason, Reason::WaitingForFooMachinePool);
        [family.message, max_pods.message]
    }

    #[test]
    fn a_pool_that_does_not_exist_yet_is_named_with_what_needs_it() {
        let expected = ["the default of spec.family", "spec.vpcCNI"]
            .map(|what| format!("{what} needs FooMachinePool workers, which does not exist yet"));
        assert_eq!(waits(None), expected);
    }

    #[test]
    fn only_a_pool_with_interfaces_of_its_own_has_some_that_are_not_for_pods() {
        let of = |foo_machine_pool: Option<FooMachinePool>| {
            let (caches, machine_pool) = pools(foo_machine_pool);
            caches.interfaces(&machine_pool)
        };
        let pool = |network_interfaces: Vec<NetworkInterface>| {
            FooMachinePool::new(
                POOL,
                FooMachinePoolSpec { network_interfaces, ..FooMachinePoolSpec::default() },
            )
        };
        let waits = of(None).unwrap_err();
        assert_eq!(waits.reason, Reason::WaitingForFooMachinePool, "it may get some");
        assert_eq!(of(Some(pool(Vec::new()))), Ok(Interfaces::AllForPods));
        assert_eq!(of(Some(pool(vec![NetworkInterface::default()]))), Ok(Interfaces::OthersToo));
        let (caches, mut of_another_provider) = pools(None);
        of_another_provider.spec.template.spec.infrastructure_ref.kind = "OtherMachinePool".to_owned();
        assert_eq!(caches.interfaces(&of_another_provider), Ok(Interfaces::AllForPods));
    }

    #[test]
    fn the_wait_for_the_number_of_pods_names_a_way_out() {
        let mut pool = FooMachinePool::new(POOL, FooMachinePoolSpec::default());
        let way_out = "does not report status.maxPods yet; if it lasts, set spec.kubelet.maxPods instead of spec.vpcCNI, or \
                       upgrade the infrastructure provider";
        let [_, message] = waits(Some(pool.clone()));
        assert_eq!(message, format!("FooMachinePool workers {way_out}"));
        pool.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
        let [_, message] = waits(Some(pool));
        assert_eq!(message, format!("FooMachinePool workers (paused) {way_out}"));
    }
}
