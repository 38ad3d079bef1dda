//! Reasons of a FooNodeConfig. `reason/list.rs` says what each line has.

macro_rules! node_config {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // FooNodeConfig.
            UserDataReady Good [NodeConfigReady True]
            "the Secret has the user data that the spec and the cluster ask for"
            ""

            DataSecretWritten Good [DataSecretAvailable True]
            "the Secret is there and up to date"
            ""

            DataSecretOutdated NeedsUser [DataSecretAvailable True]
            "the Secret has the user data that was written last, with which Nodes are launched meanwhile"
            "what the condition `Ready` says"

            WaitingForFooMachinePool Waiting [NodeConfigReady False, DataSecretAvailable False]
            "the default of `spec.family`, `spec.vpcCNI`, or the number of Pods needs the FooMachinePool of the Nodes, which does not exist yet or does not report `status.maxPods` yet; the message says which"
            "create the FooMachinePool that the MachinePool references; if it lasts: its conditions, whether it is paused, and the release of the infrastructure provider. Or set `spec.family`, and `spec.kubelet.maxPods` instead of `spec.vpcCNI`"

            WaitingForClusterFacts Waiting [NodeConfigReady False, DataSecretAvailable False]
            "the control plane does not report a fact of the cluster yet, or there is no kubeconfig; the message names it"
            "wait until the control plane is there; if it lasts: the conditions of the FooControlPlane"

            ClusterFactMissing NeedsUser [NodeConfigReady False, DataSecretAvailable False]
            "a fact of the cluster is not known and will not be reported; the message says which, and where to set it"
            "set it"

            NodeConfigInvalid NeedsUser [NodeConfigReady False, DataSecretAvailable False]
            "nodes would not start with it; the message has every field that is wrong, and why"
            "correct these fields"

            DataSecretNotOwned NeedsUser [NodeConfigReady False, DataSecretAvailable False]
            "the Secret with the name of the FooNodeConfig is of another owner or type, or has other data; it is not touched"
            "delete it if it is not needed, or create the FooNodeConfig with another name"
        }
    };
}
pub(super) use node_config;
