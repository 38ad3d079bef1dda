//go:build e2e

package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// changes are what a change of a template of a flavour sets, and that the objects of a Cluster have to take over: fields that
// no variable of the class sets. A control plane that exists already has none of these.
type changes struct{ controlPlane, pool, nodeConfig map[string]any }

var volume = map[string]any{"spec.rootVolume.sizeGiB": int64(40)}

var changesOf = map[string]changes{
	topology: {pool: volume},
	eks: {
		controlPlane: map[string]any{"spec.eks.zonalShift": true},
		pool:         volume,
		nodeConfig:   map[string]any{"spec.kubelet.maxPods": int64(50)},
	},
}

// clusterClassChanges changes the templates of a ClusterClass, and rebases a Cluster to a copy of the class in another
// namespace, as ClusterClassChangesSpec does for control planes of Machines and for MachineDeployments.
func clusterClassChanges(flavour string) func(context.Context, framework.ClusterProxy) {
	return func(ctx context.Context, proxy framework.ClusterProxy) {
		const name = "class-changes"
		var (
			namespace *corev1.Namespace
			elsewhere *corev1.Namespace
			cancel    context.CancelFunc
			made      = &clusterctl.ApplyClusterTemplateAndWaitResult{}
			api       = proxy.GetClient()
		)
		ginkgo.BeforeEach(func() {
			namespace, cancel = framework.SetupSpecNamespace(ctx, name, proxy, *artifacts, prepare)
			elsewhere = framework.CreateNamespace(ctx, framework.CreateNamespaceInput{Creator: api, Name: namespace.Name + "-class"}, "40s", "1s")
		})
		ginkgo.It("Should roll out the changes of a ClusterClass", func() {
			workers := int64(2)
			clusterctl.ApplyClusterTemplateAndWait(ctx, applied(proxy, flavour, namespace.Name, name, &workers), made)
			class := made.ClusterClass
			change := changesOf[flavour]
			if change.controlPlane != nil {
				check("a change of the template of the control plane", func() {
					reference := &class.Spec.ControlPlane.TemplateRef
					reference.Name = changed(ctx, api, class.Namespace, reference, change.controlPlane)
					update(ctx, api, class)
					has(ctx, api, made.Cluster, "FooControlPlane", change.controlPlane)
				})
			}
			check("a change of the templates of the pools", func() {
				for i := range class.Spec.Workers.MachinePools {
					pool := &class.Spec.Workers.MachinePools[i]
					infrastructure, bootstrap := &pool.Infrastructure.TemplateRef, &pool.Bootstrap.TemplateRef
					infrastructure.Name = changed(ctx, api, class.Namespace, infrastructure, change.pool)
					if change.nodeConfig != nil {
						bootstrap.Name = changed(ctx, api, class.Namespace, bootstrap, change.nodeConfig)
					}
				}
				update(ctx, api, class)
				has(ctx, api, made.Cluster, "FooMachinePool", change.pool)
				if change.nodeConfig != nil {
					has(ctx, api, made.Cluster, "FooNodeConfig", change.nodeConfig)
				}
				settles(ctx, proxy, made.Cluster)
			})
			check("a rebase to a copy of the class in another namespace", func() {
				copied := rebased(ctx, api, class, elsewhere.Name)
				patchHelper, err := patch.NewHelper(made.Cluster, api)
				gomega.Expect(err).NotTo(gomega.HaveOccurred())
				before := specOf(ctx, api, made.Cluster)
				made.Cluster.Spec.Topology.ClassRef = clusterv1.ClusterClassRef{Name: copied.Name, Namespace: copied.Namespace}
				// The webhook's cache may not have the class yet.
				gomega.Eventually(func() error { return patchHelper.Patch(ctx, made.Cluster) }, "1m", "1s").Should(gomega.Succeed())
				reconciled(ctx, api, made.Cluster)
				gomega.Consistently(func() map[string]any { return specOf(ctx, api, made.Cluster) }, "5s", "1s").
					Should(gomega.Equal(before), "a rebase to an equal class changes nothing")
			})
			settles(ctx, proxy, made.Cluster)
			framework.VerifyClusterAvailable(ctx, framework.VerifyClusterAvailableInput{
				Getter: api, Name: made.Cluster.Name, Namespace: made.Cluster.Namespace,
			})
		})
		ginkgo.AfterEach(func() {
			framework.DumpSpecResourcesAndCleanup(
				ctx, name, proxy, *config, *artifacts, namespace, cancel, made.Cluster, intervals().GetIntervals, false)
			framework.DeleteNamespace(ctx, framework.DeleteNamespaceInput{Deleter: api, Name: elsewhere.Name})
		})
	}
}

// applied is what clusterctl makes of a flavour.
func applied(
	proxy framework.ClusterProxy, flavour, namespace, spec string, workers *int64,
) clusterctl.ApplyClusterTemplateAndWaitInput {
	steps, controlPlanes := intervals(), int64(1)
	cluster := spec + "-" + util.RandomString(6)
	if known := nameOf(flavour); known != nil {
		cluster = *known
	}
	return clusterctl.ApplyClusterTemplateAndWaitInput{
		ClusterProxy: proxy,
		ConfigCluster: clusterctl.ConfigClusterInput{
			LogFolder: filepath.Join(*artifacts, "clusters", proxy.GetName()), ClusterctlConfigPath: *config,
			KubeconfigPath: proxy.GetKubeconfigPath(), InfrastructureProvider: provider, Flavor: flavour, Namespace: namespace,
			ClusterName: cluster, KubernetesVersion: *version, ControlPlaneMachineCount: &controlPlanes,
			WorkerMachineCount: workers,
		},
		ControlPlaneWaiters: waiters, WaitForClusterIntervals: steps.GetIntervals(spec, "wait-cluster"),
		WaitForControlPlaneIntervals: steps.GetIntervals(spec, "wait-control-plane"),
		WaitForMachinePools:          steps.GetIntervals(spec, "wait-machine-pool-nodes"),
	}
}

// changed creates a copy of a template with other values, since templates are immutable; its name.
func changed(
	ctx context.Context, api client.Client, namespace string, reference *clusterv1.ClusterClassTemplateReference,
	values map[string]any,
) string {
	template, err := external.Get(ctx, api, reference.ToObjectReference(namespace))
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	template.SetName(reference.Name + "-" + util.RandomString(6))
	template.SetResourceVersion("")
	for path, value := range values {
		fields := append([]string{"spec", "template"}, strings.Split(path, ".")...)
		gomega.Expect(unstructured.SetNestedField(template.Object, value, fields...)).To(gomega.Succeed())
	}
	gomega.Expect(api.Create(ctx, template)).To(gomega.Succeed())
	return template.GetName()
}

// update writes the references of a class.
func update(ctx context.Context, api client.Client, class *clusterv1.ClusterClass) {
	spec := class.Spec.DeepCopy()
	gomega.Eventually(func() error {
		if err := api.Get(ctx, client.ObjectKeyFromObject(class), class); err != nil {
			return err
		}
		class.Spec = *spec.DeepCopy()
		return api.Update(ctx, class)
	}, "1m", "1s").Should(gomega.Succeed())
}

// rebased creates a copy of a class, with its templates, in another namespace.
func rebased(
	ctx context.Context, api client.Client, class *clusterv1.ClusterClass, namespace string,
) *clusterv1.ClusterClass {
	copied := class.DeepCopy()
	copied.SetNamespace(namespace)
	copied.SetResourceVersion("")
	references := []*clusterv1.ClusterClassTemplateReference{
		&copied.Spec.Infrastructure.TemplateRef, &copied.Spec.ControlPlane.TemplateRef,
	}
	for i := range copied.Spec.Workers.MachinePools {
		pool := &copied.Spec.Workers.MachinePools[i]
		references = append(references, &pool.Infrastructure.TemplateRef, &pool.Bootstrap.TemplateRef)
	}
	created := map[string]bool{}
	for _, reference := range references {
		if key := reference.Kind + "/" + reference.Name; reference.Name == "" || created[key] {
			continue
		} else {
			created[key] = true
		}
		template, err := external.Get(ctx, api, reference.ToObjectReference(class.Namespace))
		gomega.Expect(err).NotTo(gomega.HaveOccurred())
		template.SetNamespace(namespace)
		template.SetResourceVersion("")
		template.SetOwnerReferences(nil)
		gomega.Expect(api.Create(ctx, template)).To(gomega.Succeed())
	}
	gomega.Expect(api.Create(ctx, copied)).To(gomega.Succeed())
	return copied
}

// versionOf is the API version of a kind of ours.
func versionOf(kind string) string {
	switch kind {
	case "FooControlPlane":
		return controlPlane
	case "FooNodeConfig":
		return nodeConfigs
	default:
		return ours
	}
}

// ofCluster lists our objects of a kind that belong to a Cluster.
func ofCluster(ctx context.Context, api client.Client, cluster *clusterv1.Cluster, kind string) []unstructured.Unstructured {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(versionOf(kind))
	list.SetKind(kind + "List")
	gomega.Expect(api.List(ctx, list, client.InNamespace(cluster.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name})).To(gomega.Succeed())
	return list.Items
}

// has waits until all objects of a kind have these values.
func has(ctx context.Context, api client.Client, cluster *clusterv1.Cluster, kind string, values map[string]any) {
	gomega.Eventually(func(g gomega.Gomega) {
		items := ofCluster(ctx, api, cluster, kind)
		g.Expect(items).NotTo(gomega.BeEmpty())
		for _, item := range items {
			for path, value := range values {
				found, _, err := unstructured.NestedFieldNoCopy(item.Object, strings.Split(path, ".")...)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(found).To(gomega.Equal(value), "%s of %s %s", path, kind, item.GetName())
			}
		}
	}, patience.String(), "1s").Should(gomega.Succeed())
}

// specOf is what our objects of a Cluster request, by kind and name: without what their managers write.
func specOf(ctx context.Context, api client.Client, cluster *clusterv1.Cluster) map[string]any {
	found := map[string]any{}
	for _, kind := range []string{"FooCluster", "FooControlPlane", "FooMachinePool", "FooNodeConfig"} {
		for _, item := range ofCluster(ctx, api, cluster, kind) {
			for _, written := range []string{"providerID", "providerIDList", "controlPlaneEndpoint"} {
				unstructured.RemoveNestedField(item.Object, "spec", written)
			}
			found[kind+"/"+item.GetName()] = item.Object["spec"]
		}
	}
	return found
}

// reconciled waits until Cluster API says of the Cluster's present generation that the topology is as requested.
func reconciled(ctx context.Context, api client.Client, cluster *clusterv1.Cluster) {
	gomega.Eventually(func(g gomega.Gomega) {
		now := &clusterv1.Cluster{}
		g.Expect(api.Get(ctx, client.ObjectKeyFromObject(cluster), now)).To(gomega.Succeed())
		said := false
		for _, condition := range now.Status.Conditions {
			if condition.Type == clusterv1.ClusterTopologyReconciledCondition {
				said = condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == now.Generation
			}
		}
		g.Expect(said).To(gomega.BeTrue(), "%v", now.Status.Conditions)
	}, patience.String(), "1s").Should(gomega.Succeed())
}

// settles waits until the topology is reconciled and all pools have the replicas that they request, none of an earlier template.
func settles(ctx context.Context, proxy framework.ClusterProxy, cluster *clusterv1.Cluster) {
	api := proxy.GetClient()
	reconciled(ctx, api, cluster)
	gomega.Eventually(func(g gomega.Gomega) {
		for _, pool := range ofCluster(ctx, api, cluster, "FooMachinePool") {
			g.Expect(observed(pool, "Ready")).To(gomega.Equal(pool.GetGeneration()), "%s: its manager has not seen it yet", pool.GetName())
		}
		pools := &clusterv1.MachinePoolList{}
		g.Expect(api.List(ctx, pools, client.InNamespace(cluster.Namespace),
			client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name})).To(gomega.Succeed())
		for _, pool := range pools.Items {
			g.Expect(pool.Status.ReadyReplicas).To(gomega.HaveValue(gomega.Equal(*pool.Spec.Replicas)), pool.Name)
			g.Expect(pool.Status.UpToDateReplicas).To(gomega.HaveValue(gomega.Equal(*pool.Spec.Replicas)), pool.Name)
			g.Expect(pool.Status.Replicas).To(gomega.HaveValue(gomega.Equal(*pool.Spec.Replicas)), pool.Name)
		}
	}, (3 * patience.Round(time.Second)).String(), "1s").Should(gomega.Succeed())
}

// observed is the generation of an object for which a condition holds; 0 if the condition is not there.
func observed(object unstructured.Unstructured, condition string) int64 {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	for _, one := range conditions {
		if fields, ok := one.(map[string]any); ok && fields["type"] == condition {
			generation, _, err := unstructured.NestedInt64(fields, "observedGeneration")
			gomega.Expect(err).NotTo(gomega.HaveOccurred())
			return generation
		}
	}
	return 0
}

// noWorkers creates a Cluster of a ClusterClass that has no pools.
func noWorkers(ctx context.Context, proxy framework.ClusterProxy) {
	const name = "no-workers"
	var (
		namespace *corev1.Namespace
		cancel    context.CancelFunc
		cluster   *clusterv1.Cluster
		api       = proxy.GetClient()
	)
	ginkgo.BeforeEach(func() {
		namespace, cancel = framework.SetupSpecNamespace(ctx, name, proxy, *artifacts, prepare)
	})
	ginkgo.It("Should create a cluster without workers", func() {
		workers := int64(1)
		input := applied(proxy, topology, namespace.Name, name, &workers)
		text := clusterctl.ConfigCluster(ctx, input.ConfigCluster)
		for _, document := range strings.Split(string(text), "\n---\n") {
			object := &unstructured.Unstructured{}
			gomega.Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(gomega.Succeed())
			switch object.GetKind() {
			case "":
				continue
			case "Cluster":
				unstructured.RemoveNestedField(object.Object, "spec", "topology", "workers")
			case "ClusterClass":
				unstructured.RemoveNestedField(object.Object, "spec", "workers")
				withoutPatchesOf(object, "MachinePool")
			}
			gomega.Expect(api.Create(ctx, object)).To(gomega.Succeed(), fmt.Sprintf("%s %s", object.GetKind(), object.GetName()))
		}
		cluster = &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: input.ConfigCluster.ClusterName}}
		gomega.Eventually(func(g gomega.Gomega) {
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(gomega.Succeed())
			available := ""
			for _, condition := range cluster.Status.Conditions {
				if condition.Type == clusterv1.ClusterAvailableCondition {
					available = string(condition.Status)
				}
			}
			g.Expect(available).To(gomega.Equal("True"), "%v", cluster.Status.Conditions)
		}, patience.String(), "1s").Should(gomega.Succeed())
		reconciled(ctx, api, cluster)
	})
	ginkgo.AfterEach(func() {
		framework.DumpSpecResourcesAndCleanup(
			ctx, name, proxy, *config, *artifacts, namespace, cancel, cluster, intervals().GetIntervals, false)
	})
}

// withoutPatchesOf removes the patches of a ClusterClass that select pools: each patch has to select something of the class.
func withoutPatchesOf(class *unstructured.Unstructured, kind string) {
	patches, _, err := unstructured.NestedSlice(class.Object, "spec", "patches")
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	var kept []any
	for _, one := range patches {
		patch := maps.Clone(one.(map[string]any))
		definitions, _ := patch["definitions"].([]any)
		var others []any
		for _, definition := range definitions {
			selected, _, err := unstructured.NestedString(definition.(map[string]any), "selector", "kind")
			gomega.Expect(err).NotTo(gomega.HaveOccurred())
			if !strings.Contains(selected, kind) && !strings.Contains(selected, "Config") {
				others = append(others, definition)
			}
		}
		if len(others) > 0 {
			patch["definitions"] = others
			kept = append(kept, patch)
		}
	}
	gomega.Expect(unstructured.SetNestedSlice(class.Object, kept, "spec", "patches")).To(gomega.Succeed())
}
