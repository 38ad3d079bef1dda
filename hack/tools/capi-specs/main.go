//go:build e2e

// One of Cluster API's own end-to-end specs, as it is, against a management cluster of the test bed whose API server is its
// own workload cluster.
//
// What is ours is what any provider brings: the flavours of our release, the Secrets that they name, what waits for our
// control plane (it is no KubeadmControlPlane), and what owners and finalizers our kinds have. There is no log collector:
// no machine runs.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/test/framework"
)

// Of our own: libraries define flags, too.
var flags = flag.NewFlagSet("capi-specs", flag.ExitOnError)

var (
	specName        = flags.String("spec", "", "the spec to play; without one the names are printed")
	printLeftOut    = flags.Bool("left-out", false, "print the specs of Cluster API that are not played, and why")
	kubeconfig      = flags.String("kubeconfig", "", "kubeconfig of the management cluster")
	config          = flags.String("clusterctl-config", "", "clusterctl's configuration file, with the variables of our flavours")
	artifacts       = flags.String("artifacts", "", "folder for what the spec leaves behind")
	secrets         = flags.String("secrets", "", "file with the objects that our flavours name; they are made in the spec's namespace")
	results         = flags.String("results", "", "file to which what came out is appended, a line of JSON for the spec and for each check within it")
	version         = flags.String("kubernetes-version", "", "Kubernetes version of the Nodes")
	upgrade         = flags.String("upgrade-version", "", "version of the Nodes to upgrade to")
	image           = flags.String("upgrade-image", "", "image whose Nodes have that version")
	topologyCluster = flags.String("topology-cluster", "topology", "name of the Cluster that is made of the flavour topology")
	patience        = flags.Duration("patience", 5*time.Minute, "how long each step of a spec may take")
)

// failure is what Ginkgo tells of a failed suite.
type failure struct{ failed bool }

func (f *failure) Fail() { f.failed = true }

func main() {
	if err := flags.Parse(os.Args[1:]); err != nil {
		fail(err.Error())
	}
	if *printLeftOut {
		for _, spec := range leftOut {
			fmt.Printf("%s: %s\n", function(spec.spec), spec.why)
		}
		if exported == "" {
			fail("built without the names of Cluster API's specs: run hack/tools/build.sh")
		}
		if missing := unlisted(); len(missing) > 0 {
			fail("neither played nor left out with a reason: " + strings.Join(missing, ", "))
		}
		return
	}
	if *specName == "" {
		for _, spec := range specs {
			fmt.Println(spec.name)
		}
		return
	}
	for name, value := range map[string]string{
		"kubeconfig": *kubeconfig, "clusterctl-config": *config, "artifacts": *artifacts, "secrets": *secrets,
		"results": *results, "kubernetes-version": *version,
	} {
		if value == "" {
			fail("--" + name + " is missing")
		}
	}
	gomega.RegisterFailHandler(ginkgo.Fail)
	// Some steps of the specs come without a limit of their own.
	gomega.SetDefaultEventuallyTimeout(*patience)
	gomega.SetDefaultEventuallyPollingInterval(time.Second)
	scheme := apiruntime.NewScheme()
	framework.TryAddDefaultSchemes(scheme)
	proxy := framework.NewClusterProxy("management", *kubeconfig, scheme)
	declared := false
	for _, spec := range specs {
		if spec.name == *specName {
			ginkgo.Describe(spec.name, func() { spec.declare(context.Background(), proxy) })
			declared = true
		}
	}
	if !declared {
		fail("there is no spec " + *specName)
	}
	ginkgo.ReportAfterEach(func(report ginkgo.SpecReport) {
		passed := report.State == types.SpecStatePassed
		record(*specName, passed, report.RunTime, strings.TrimSpace(report.Failure.Message))
	})
	suiteConfig, reporterConfig := ginkgo.GinkgoConfiguration()
	// The output is a log.
	reporterConfig.Verbose, reporterConfig.NoColor = true, true
	suite := &failure{}
	if passed := ginkgo.RunSpecs(suite, "Cluster API", suiteConfig, reporterConfig); !passed || suite.failed {
		os.Exit(1)
	}
}

// exported are the names of all specs of this version of Cluster API, which hack/tools/build.sh reads in its sources.
var exported string

// unlisted are the specs of Cluster API that are neither played nor left out.
func unlisted() []string {
	listed := map[string]bool{}
	for _, spec := range played {
		listed[function(spec)] = true
	}
	for _, spec := range leftOut {
		listed[function(spec.spec)] = true
	}
	var missing []string
	for _, name := range strings.Split(exported, ",") {
		if !listed[name] {
			missing = append(missing, name)
		}
	}
	return missing
}

// function is the name of a function.
func function(of any) string {
	name := runtime.FuncForPC(reflect.ValueOf(of).Pointer()).Name()
	return name[strings.LastIndex(name, ".")+1:]
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}

// record appends a line to the results.
func record(name string, passed bool, took time.Duration, message string) {
	line, err := json.Marshal(map[string]any{"name": name, "passed": passed, "seconds": took.Seconds(), "message": message})
	if err != nil {
		panic(err)
	}
	file, err := os.OpenFile(*results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		panic(err)
	}
}

// check records one of several checks within a spec.
func check(name string, run func()) {
	ginkgo.By(name)
	started, passed := time.Now(), false
	// A failed one ends in a panic.
	defer func() {
		record(*specName+": "+name, passed, time.Since(started), "")
	}()
	run()
	passed = true
}
