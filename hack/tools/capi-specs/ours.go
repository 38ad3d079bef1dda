//go:build e2e

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// prepare makes what our flavours name.
func prepare(proxy framework.ClusterProxy, namespace string) {
	text, err := os.ReadFile(*secrets)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, document := range strings.Split(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		gomega.Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(gomega.Succeed())
		object.SetNamespace(namespace)
		gomega.Expect(proxy.GetClient().Create(context.Background(), object)).To(gomega.Succeed())
	}
}

var (
	// waiters wait for a control plane that exists already.
	waiters = clusterctl.ControlPlaneWaiters{
		WaitForControlPlaneInitialized:   controlPlaneIsInitialized,
		WaitForControlPlaneMachinesReady: nothingMore,
	}
	// waitersWithMachine leave a Machine beside the pool.
	waitersWithMachine = clusterctl.ControlPlaneWaiters{
		WaitForControlPlaneInitialized:   controlPlaneIsInitialized,
		WaitForControlPlaneMachinesReady: aMachineIsThere,
	}
)

func controlPlaneIsInitialized(
	ctx context.Context, input clusterctl.ApplyCustomClusterTemplateAndWaitInput,
	result *clusterctl.ApplyCustomClusterTemplateAndWaitResult,
) {
	gomega.Eventually(func() error {
		cluster := result.Cluster
		if err := input.ClusterProxy.GetClient().Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
			return err
		}
		if initialized := cluster.Status.Initialization.ControlPlaneInitialized; initialized == nil || !*initialized {
			return errors.New("the control plane is not initialized")
		}
		return nil
	}, input.WaitForControlPlaneIntervals...).Should(gomega.Succeed())
}

func nothingMore(
	context.Context, clusterctl.ApplyCustomClusterTemplateAndWaitInput, *clusterctl.ApplyCustomClusterTemplateAndWaitResult,
) {
}

// aMachineIsThere makes a Machine of nobody's. MachinePoolSpec wants every Machine of the cluster to be ready, and at least
// one to be there, when the pool has none: a KubeadmControlPlane has Machines, a control plane that exists already has not.
func aMachineIsThere(
	ctx context.Context, input clusterctl.ApplyCustomClusterTemplateAndWaitInput,
	result *clusterctl.ApplyCustomClusterTemplateAndWaitResult,
) {
	api := input.ClusterProxy.GetClient()
	bootstrapped := "none"
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Name: result.Cluster.Name + "-nobodys", Namespace: result.Cluster.Namespace,
			Labels: map[string]string{clusterv1.ClusterNameLabel: result.Cluster.Name},
			// Core looks at it and writes nothing.
			Annotations: map[string]string{clusterv1.PausedAnnotation: ""},
		},
		Spec: clusterv1.MachineSpec{
			ClusterName: result.Cluster.Name,
			Bootstrap:   clusterv1.Bootstrap{DataSecretName: &bootstrapped},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: "infrastructure.foo.com", Kind: "FooMachine", Name: "nobodys",
			},
		},
	}
	gomega.Expect(api.Create(ctx, machine)).To(gomega.Succeed())
	before := machine.DeepCopy()
	machine.Status.Conditions = []metav1.Condition{{
		Type: clusterv1.MachineReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineReadyReason,
		LastTransitionTime: metav1.Now(),
	}}
	gomega.Expect(api.Status().Patch(ctx, machine, client.MergeFrom(before))).To(gomega.Succeed())
	nobodys = machine
}

// nobodys is the Machine that aMachineIsThere made.
var nobodys *clusterv1.Machine

// theMachineGoes takes it away again: core, which does not work on it, has put its finalizer there nevertheless.
func theMachineGoes(ctx context.Context, proxy framework.ClusterProxy) {
	if nobodys == nil {
		return
	}
	api := proxy.GetClient()
	gomega.Expect(api.Delete(ctx, nobodys)).To(gomega.Succeed())
	change := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	gomega.Expect(client.IgnoreNotFound(api.Patch(ctx, nobodys, change))).To(gomega.Succeed())
}

const (
	ours         = "infrastructure.foo.com/v1alpha1"
	controlPlane = "controlplane.foo.com/v1alpha1"
	nodeConfigs  = "bootstrap.foo.com/v1alpha1"
)

// ownersOf says which owners an object shall have.
type ownersOf = map[string]func(types.NamespacedName, []metav1.OwnerReference) error

// owner is a reference as the specs compare it: by kind and version, and whether it is the controller.
func owner(apiVersion, kind string, controller bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Controller: &controller}
}

// shape is what owners and finalizers depend on.
type shape struct{ topology, eks bool }

// owners are those of all kinds. A FooMachine belongs to its Machine, to its pool, and to the Cluster, lest the garbage
// collector delete it before its Machine is drained. In a topology the Cluster controls what it made.
func owners(cluster shape) []ownersOf {
	core := clusterv1.GroupVersion.String()
	byCluster, class := owner(core, "Cluster", cluster.topology), owner(core, "ClusterClass", false)
	pool := []metav1.OwnerReference{owner(core, "MachinePool", true)}
	if cluster.topology {
		pool = append(pool, owner(core, "Cluster", false))
	}
	exactly := func(wanted ...metav1.OwnerReference) func(types.NamespacedName, []metav1.OwnerReference) error {
		return func(_ types.NamespacedName, found []metav1.OwnerReference) error {
			return framework.HasExactOwners(found, wanted...)
		}
	}
	return []ownersOf{
		framework.CoreOwnerReferenceAssertion, framework.ExpOwnerReferenceAssertions,
		framework.KubeadmBootstrapOwnerReferenceAssertions,
		{
			"FooCluster":      exactly(byCluster),
			"FooControlPlane": exactly(byCluster),
			"FooMachinePool":  exactly(pool...),
			"FooNodeConfig":   exactly(pool...),
			"FooMachine": exactly(
				owner(core, "Machine", true), owner(ours, "FooMachinePool", false), owner(core, "Cluster", false)),
			"FooClusterTemplate":      exactly(class),
			"FooControlPlaneTemplate": exactly(class),
			"FooMachinePoolTemplate":  exactly(class),
			"FooNodeConfigTemplate":   exactly(class),
			"Secret":                  secretOwners(cluster),
		},
	}
}

// secretOwners: kubeconfigs belong to the control plane, bootstrap data to the KubeadmConfig or FooNodeConfig, and what the user
// made to nobody.
func secretOwners(cluster shape) func(types.NamespacedName, []metav1.OwnerReference) error {
	return func(name types.NamespacedName, found []metav1.OwnerReference) error {
		byUser, err := namesOfSecrets()
		if err != nil {
			return err
		}
		switch {
		case byUser[name.Name]:
			return framework.HasExactOwners(found)
		case strings.HasSuffix(name.Name, "-kubeconfig"):
			return framework.HasExactOwners(found, owner(controlPlane, "FooControlPlane", false))
		case cluster.eks:
			return framework.HasExactOwners(found, owner(nodeConfigs, "FooNodeConfig", true))
		default:
			return framework.HasExactOwners(found, owner("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", true))
		}
	}
}

// namesOfSecrets are those of the user's.
func namesOfSecrets() (map[string]bool, error) {
	text, err := os.ReadFile(*secrets)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, document := range strings.Split(string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", *secrets, err)
		}
		names[object.GetName()] = true
	}
	return names, nil
}

// finalizers are those of all kinds. A FooControlPlane needs one only if something is made in AWS for it.
func finalizers(cluster shape) []map[string]func(types.NamespacedName) []string {
	core := framework.CoreFinalizersAssertionWithLegacyClusters
	if cluster.topology {
		core = framework.CoreFinalizersAssertionWithClassyClusters
	}
	only := func(name string) func(types.NamespacedName) []string {
		return func(types.NamespacedName) []string { return []string{name} }
	}
	byKind := map[string]func(types.NamespacedName) []string{
		"FooCluster":     only("foocluster.infrastructure.foo.com"),
		"FooMachinePool": only("foomachinepool.infrastructure.foo.com"),
		"FooMachine":     only("foomachine.infrastructure.foo.com"),
	}
	if cluster.eks {
		byKind["FooControlPlane"] = only("foocontrolplane.controlplane.foo.com")
	}
	return []map[string]func(types.NamespacedName) []string{core, framework.ExpFinalizersAssertion, byKind}
}
