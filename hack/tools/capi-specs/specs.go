//go:build e2e

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlcluster "sigs.k8s.io/cluster-api/cmd/clusterctl/client/cluster"
	"sigs.k8s.io/cluster-api/test/e2e"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// spec is one that can be played.
type spec struct {
	name    string
	declare func(ctx context.Context, proxy framework.ClusterProxy)
}

var provider = "foo"

// Flavours of our release. Those of EKS are Clusters of a ClusterClass, as topology is.
const (
	topology       = "topology"
	extension      = "extension"
	managedNetwork = "managed-network"
	eks            = "eks"
	eksExtension   = "eks-extension"
)

// specs are all of them, those that take longest first.
var specs = []spec{
	{"ClusterClass changes, flavour eks", clusterClassChanges(eks)},
	{"QuickStartSpec, flavour eks, with resilience checks", quickStart(eks, isResilient)},
	{"QuickStartSpec, flavour eks, with stable resource versions", quickStart(eks, isStable)},
	{"ClusterDeletionSpec, flavour eks", clusterDeletion(eks)},
	{"QuickStartSpec, flavour eks-extension", quickStart(eksExtension, scales)},
	{"QuickStartSpec with stable resource versions", quickStart(clusterctl.DefaultFlavor, isStable)},
	{"QuickStartSpec, flavour topology, with stable resource versions", quickStart(topology, isStable)},
	{"QuickStartSpec, flavour managed-network, with stable resource versions", quickStart(managedNetwork, isStable)},
	{"MachinePoolSpec, flavour default", machinePools(clusterctl.DefaultFlavor)},
	{"MachinePoolSpec, flavour spot", machinePools("spot")},
	{"MachinePoolSpec, flavour mixed", machinePools("mixed")},
	{"QuickStartSpec", quickStart(clusterctl.DefaultFlavor, nil)},
	{"QuickStartSpec with resilience checks", quickStart(clusterctl.DefaultFlavor, isResilient)},
	{"QuickStartSpec, flavour topology", quickStart(topology, scales)},
	{"QuickStartSpec, flavour topology, with resilience checks", quickStart(topology, isResilient)},
	{"QuickStartSpec, flavour topology, ClusterClass in another namespace", classElsewhere(topology)},
	{"QuickStartSpec, flavour eks, ClusterClass in another namespace", classElsewhere(eks)},
	{"QuickStartSpec, flavour managed-network, with resilience checks", quickStart(managedNetwork, isResilient)},
	{"QuickStartSpec, flavour extension", quickStart(extension, scales)},
	{"ClusterDeletionSpec", clusterDeletion(clusterctl.DefaultFlavor)},
	{"ClusterDeletionSpec, flavour topology", clusterDeletion(topology)},
	{"ClusterDeletionSpec, flavour managed-network", clusterDeletion(managedNetwork)},
	{"ClusterClass changes, flavour topology", clusterClassChanges(topology)},
	{"ClusterClass without workers", noWorkers},
	{"UpgradeMachinePoolAndWait", upgradeMachinePool},
}

// played are the specs of Cluster API among them.
var played = []any{e2e.ClusterDeletionSpec, e2e.MachinePoolSpec, e2e.QuickStartSpec}

// leftOut are the specs of this version of Cluster API that are not among them. The compiler knows whether they exist.
var leftOut = []struct {
	spec any
	why  string
}{
	{e2e.AutoscalerSpec, "its autoscaler runs as a Pod, and it scales a MachineDeployment; tests/e2e/tests/autoscaler.rs runs the real one as a process"},
	{e2e.ClusterClassChangesSpec, "it copies the control plane's machine template and deletes a MachineDeployment; the specs \"ClusterClass changes\" do the same for control planes without machines and for pools"},
	{e2e.ClusterClassRolloutSpec, "it needs a KubeadmControlPlane and MachineDeployments"},
	{e2e.ClusterInPlaceUpdateSpec, "it updates Machines of a KubeadmControlPlane and of MachineDeployments in place; instances of a group are replaced"},
	{e2e.ClusterUpgradeConformanceSpec, "it upgrades a KubeadmControlPlane and runs Kubernetes' conformance tests in containers"},
	{e2e.ClusterUpgradeWithRuntimeSDKSpec, "it needs a KubeadmControlPlane and upstream's test extension; tests/e2e/tests/runtime plays every hook"},
	{e2e.ClusterctlUpgradeSpec, "it installs earlier releases of the provider from the internet; tests/e2e/tests/install plays clusterctl upgrade between two releases"},
	{e2e.K8SConformanceSpec, "it runs Kubernetes' conformance tests in containers on machines"},
	{e2e.KCPAndMachineDeploymentRolloutSpec, "there are no KubeadmControlPlane and no MachineDeployments; roll-outs of pools are in tests/e2e/tests/lifecycle"},
	{e2e.KCPAdoptionSpec, "there is no KubeadmControlPlane"},
	{e2e.KCPInfraAdoptionSpec, "there is no KubeadmControlPlane"},
	{e2e.KCPRemediationSpec, "there is no KubeadmControlPlane"},
	{e2e.KubeadmJoinOldNodesSpec, "it runs kubeadm on machines"},
	{e2e.MachineDeploymentRemediationSpec, "there are no MachineDeployments; MachineHealthChecks of pools are in tests/e2e/tests/lifecycle"},
	{e2e.MachineDeploymentScaleSpec, "there are no MachineDeployments"},
	{e2e.NodeDrainTimeoutSpec, "it drains Machines of a KubeadmControlPlane and of a MachineDeployment; drains of pools are in tests/e2e/tests/lifecycle"},
	{e2e.ScaleSpec, "it scales KubeadmControlPlanes and MachineDeployments of many clusters; make bench scales pools"},
	{e2e.SelfHostedSpec, "it starts the provider as Pods and looks for a KubeadmControlPlane; the test eks::self_hosted moves a cluster on EKS into itself, upgrades it and moves it back"},
}

// intervals are how long the steps of the specs may take.
func intervals() *clusterctl.E2EConfig {
	common := &clusterctl.E2EConfig{
		Variables: map[string]string{e2e.KubernetesVersion: *version},
		Intervals: map[string][]string{},
	}
	for _, step := range []string{
		"wait-cluster", "wait-control-plane", "wait-worker-nodes", "wait-machine-pool-nodes",
		"wait-machine-pool-upgrade", "wait-delete-cluster",
	} {
		common.Intervals["default/"+step] = []string{patience.String(), "1s"}
	}
	return common
}

// isOfClass: the flavour is a Cluster of a ClusterClass.
func isOfClass(flavour string) bool {
	return slices.Contains([]string{topology, extension, eks, eksExtension}, flavour)
}

// nameOf is the name that a Cluster of the flavour needs, because one of the user's Secrets is called after it; nil: any.
func nameOf(flavour string) *string {
	if flavour != topology && flavour != extension {
		return nil
	}
	known := *topologyCluster
	return &known
}

// machinePools scales a pool to 2, 3, 1 and 0.
func machinePools(flavour string) func(context.Context, framework.ClusterProxy) {
	return func(ctx context.Context, proxy framework.ClusterProxy) {
		// Before the spec deletes the cluster.
		ginkgo.AfterEach(func() { theMachineGoes(ctx, proxy) })
		e2e.MachinePoolSpec(ctx, func() e2e.MachinePoolInput {
			return e2e.MachinePoolInput{
				E2EConfig: intervals(), ClusterctlConfigPath: *config, BootstrapClusterProxy: proxy,
				ArtifactFolder: *artifacts, ControlPlaneWaiters: waitersWithMachine, InfrastructureProvider: &provider,
				Flavor: &flavour, PostNamespaceCreated: prepare,
			}
		})
	}
}

// afterProvisioning is what is done with a cluster that QuickStartSpec has made.
type afterProvisioning func(ctx context.Context, proxy framework.ClusterProxy, namespace, cluster string)

// quickStart makes a cluster and deletes it: of one worker, or, as scales goes on from there, of two.
func quickStart(flavour string, then afterProvisioning) func(context.Context, framework.ClusterProxy) {
	return func(ctx context.Context, proxy framework.ClusterProxy) {
		workers := int64(1)
		if isOfClass(flavour) {
			workers = 2
		}
		e2e.QuickStartSpec(ctx, func() e2e.QuickStartSpecInput {
			return e2e.QuickStartSpecInput{
				E2EConfig: intervals(), ClusterctlConfigPath: *config, BootstrapClusterProxy: proxy,
				ArtifactFolder: *artifacts, ControlPlaneWaiters: waiters, InfrastructureProvider: &provider,
				Flavor: &flavour, PostNamespaceCreated: prepare, ClusterName: nameOf(flavour), WorkerMachineCount: &workers,
				PostMachinesProvisioned: func(proxy framework.ClusterProxy, namespace, cluster string) {
					if then != nil {
						then(ctx, proxy, namespace, cluster)
					}
				},
			}
		})
	}
}

// classElsewhere makes a cluster whose ClusterClass is in another namespace from the start.
func classElsewhere(flavour string) func(context.Context, framework.ClusterProxy) {
	return func(ctx context.Context, proxy framework.ClusterProxy) {
		workers := int64(1)
		e2e.QuickStartSpec(ctx, func() e2e.QuickStartSpecInput {
			return e2e.QuickStartSpecInput{
				E2EConfig: intervals(), ClusterctlConfigPath: *config, BootstrapClusterProxy: proxy,
				ArtifactFolder: *artifacts, ControlPlaneWaiters: waiters, InfrastructureProvider: &provider,
				Flavor: &flavour, PostNamespaceCreated: prepare, ClusterName: nameOf(flavour), WorkerMachineCount: &workers,
				DeployClusterClassInSeparateNamespace: true,
				PostMachinesProvisioned: func(proxy framework.ClusterProxy, namespace, cluster string) {
					class := found(ctx, proxy, namespace, cluster).GetClassKey()
					gomega.Expect(class.Namespace).NotTo(gomega.Equal(namespace), "the class is in the Cluster's namespace")
				},
			}
		})
	}
}

// isResilient takes away all owners, then makes them old, then takes away all finalizers, each time while everything is
// paused.
func isResilient(ctx context.Context, proxy framework.ClusterProxy, namespace, cluster string) {
	filter := clusterctlcluster.FilterClusterObjectsWithNameFilter(cluster)
	topology := found(ctx, proxy, namespace, cluster).Spec.Topology
	of := shape{topology: topology.IsDefined(), eks: strings.HasPrefix(topology.ClassRef.Name, "foo-eks")}
	check("ValidateOwnerReferencesResilience", func() {
		framework.ValidateOwnerReferencesResilience(ctx, proxy, namespace, cluster, filter, owners(of)...)
	})
	check("ValidateOwnerReferencesOnUpdate", func() {
		framework.ValidateOwnerReferencesOnUpdate(ctx, proxy, namespace, cluster, filter, owners(of)...)
	})
	check("ValidateFinalizersResilience", func() {
		framework.ValidateFinalizersResilience(ctx, proxy, namespace, cluster, filter, finalizers(of)...)
	})
}

// found is the Cluster of that name.
func found(ctx context.Context, proxy framework.ClusterProxy, namespace, name string) *clusterv1.Cluster {
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	gomega.Expect(proxy.GetClient().Get(ctx, key, cluster)).To(gomega.Succeed())
	return cluster
}

// scales changes the number of workers where the topology says it.
func scales(ctx context.Context, proxy framework.ClusterProxy, namespace, cluster string) {
	for _, replicas := range []int32{3, 1, 2} {
		check(fmt.Sprintf("ScaleMachinePoolTopologyAndWait to %d", replicas), func() {
			framework.ScaleMachinePoolTopologyAndWait(ctx, framework.ScaleMachinePoolTopologyAndWaitInput{
				ClusterProxy: proxy, Cluster: found(ctx, proxy, namespace, cluster), Replicas: replicas,
				WaitForMachinePools: intervals().GetIntervals("quick-start", "wait-machine-pool-nodes"),
				Getter:              proxy.GetClient(),
			})
		})
	}
}

// isStable watches for two minutes whether anything is written.
func isStable(ctx context.Context, proxy framework.ClusterProxy, namespace, cluster string) {
	check("ValidateResourceVersionStable", func() {
		framework.ValidateResourceVersionStable(ctx, framework.ValidateResourceVersionStableInput{
			ClusterProxy: proxy, Namespace: namespace,
			OwnerGraphFilterFunction: clusterctlcluster.FilterClusterObjectsWithNameFilter(cluster),
		})
	})
}

// clusterDeletion blocks each phase of a deletion: the pool and its Machines, the control plane, the cluster.
func clusterDeletion(flavour string) func(context.Context, framework.ClusterProxy) {
	phase := func(all []string, blocking ...string) e2e.ClusterDeletionPhase {
		oneOf := func(kinds []string) func(corev1.ObjectReference, []metav1.OwnerReference) bool {
			return func(object corev1.ObjectReference, _ []metav1.OwnerReference) bool {
				return slices.Contains(kinds, object.Kind)
			}
		}
		return e2e.ClusterDeletionPhase{ObjectFilter: oneOf(all), BlockingObjectFilter: oneOf(blocking)}
	}
	return func(ctx context.Context, proxy framework.ClusterProxy) {
		workers := int64(2)
		e2e.ClusterDeletionSpec(ctx, func() e2e.ClusterDeletionSpecInput {
			return e2e.ClusterDeletionSpecInput{
				E2EConfig: intervals(), ClusterctlConfigPath: *config, BootstrapClusterProxy: proxy,
				ArtifactFolder: *artifacts, ControlPlaneWaiters: waiters, InfrastructureProvider: &provider, Flavor: &flavour,
				ClusterName: nameOf(flavour), WorkerMachineCount: &workers, PostNamespaceCreated: prepare,
				ClusterDeletionPhases: []e2e.ClusterDeletionPhase{
					phase([]string{"MachinePool", "FooMachinePool", "Machine"}, "FooMachinePool", "Machine"),
					phase([]string{"FooControlPlane"}, "FooControlPlane"),
					phase([]string{"FooCluster"}, "FooCluster"),
				},
			}
		})
	}
}

// upgradeMachinePool gives a pool another version. Which kubelet runs follows from the image, so that is changed with it, as
// our documentation says.
func upgradeMachinePool(ctx context.Context, proxy framework.ClusterProxy) {
	const name = "machine-pool-upgrade"
	var (
		namespace *corev1.Namespace
		cancel    context.CancelFunc
		made      = &clusterctl.ApplyClusterTemplateAndWaitResult{}
	)
	ginkgo.BeforeEach(func() {
		gomega.Expect(*upgrade).NotTo(gomega.BeEmpty(), "--upgrade-version is missing")
		gomega.Expect(*image).NotTo(gomega.BeEmpty(), "--upgrade-image is missing")
		namespace, cancel = framework.SetupSpecNamespace(ctx, name, proxy, *artifacts, prepare)
	})
	ginkgo.It("Should upgrade a machine pool", func() {
		steps := intervals()
		controlPlanes, workers := int64(1), int64(2)
		clusterctl.ApplyClusterTemplateAndWait(ctx, clusterctl.ApplyClusterTemplateAndWaitInput{
			ClusterProxy: proxy,
			ConfigCluster: clusterctl.ConfigClusterInput{
				LogFolder: filepath.Join(*artifacts, "clusters", proxy.GetName()), ClusterctlConfigPath: *config,
				KubeconfigPath: proxy.GetKubeconfigPath(), InfrastructureProvider: provider,
				Flavor: clusterctl.DefaultFlavor, Namespace: namespace.Name, ClusterName: name + "-" + util.RandomString(6),
				KubernetesVersion: *version, ControlPlaneMachineCount: &controlPlanes, WorkerMachineCount: &workers,
			},
			ControlPlaneWaiters: waiters, WaitForClusterIntervals: steps.GetIntervals(name, "wait-cluster"),
			WaitForControlPlaneIntervals: steps.GetIntervals(name, "wait-control-plane"),
			WaitForMachinePools:          steps.GetIntervals(name, "wait-machine-pool-nodes"),
		}, made)
		for _, pool := range made.MachinePools {
			foo := &unstructured.Unstructured{}
			foo.SetAPIVersion("infrastructure.foo.com/v1alpha1")
			foo.SetKind("FooMachinePool")
			foo.SetName(pool.Spec.Template.Spec.InfrastructureRef.Name)
			foo.SetNamespace(pool.Namespace)
			change := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"ami":{"id":"`+*image+`"}}}`))
			gomega.Expect(proxy.GetClient().Patch(ctx, foo, change)).To(gomega.Succeed())
		}
		framework.UpgradeMachinePoolAndWait(ctx, framework.UpgradeMachinePoolAndWaitInput{
			ClusterProxy: proxy, Cluster: made.Cluster, UpgradeVersion: *upgrade, MachinePools: made.MachinePools,
			WaitForMachinePoolToBeUpgraded: steps.GetIntervals(name, "wait-machine-pool-upgrade"),
		})
		framework.VerifyMachinesReady(ctx, framework.VerifyMachinesReadyInput{
			Lister: proxy.GetClient(), Name: made.Cluster.Name, Namespace: made.Cluster.Namespace,
		})
	})
	ginkgo.AfterEach(func() {
		framework.DumpSpecResourcesAndCleanup(
			ctx, name, proxy, *config, *artifacts, namespace, cancel, made.Cluster, intervals().GetIntervals, false)
	})
}
