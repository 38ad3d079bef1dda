//! Reasons of a FooControlPlane. `reason/list.rs` says what each line has.

macro_rules! control_plane {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // FooControlPlane.
            ApiServerReachable Good [ControlPlaneAvailable True]
            "the API server responded with its version, and the credentials in `<cluster>-kubeconfig` have the rights that Cluster API needs: to list and patch Nodes, and to evict Pods"
            ""

            KubeconfigSecretNameInvalid NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
            "`kubeconfigSecretRef.name` cannot be the name of a Secret"
            "name the Secret"

            KubeconfigSecretNotFound NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
            "the Secret does not exist"
            "create it"

            KubeconfigInvalid NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
            "there is no kubeconfig under the key `value`, or one without a usable current context, or with a server that is no https URL, or one that names files instead of embedding token, certificates and keys, or that sets `insecure-skip-tls-verify`; the message says which"
            "correct it"

            ExecCredentialsNotSupported NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
            "the kubeconfig uses an exec plugin or auth provider, which Cluster API does not run"
            "a client certificate or a token"

            KubeconfigSecretNotOwned NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
            "`<cluster>-kubeconfig` holds another kubeconfig and is not owned by this FooControlPlane; it is not touched"
            "delete it if it is not needed, or name it in `spec.external.kubeconfigSecretRef`"

            ApiServerUnreachable NeedsUser [ControlPlaneAvailable False]
            "no response within five seconds; the message names the cause (connection refused, a certificate, …)"
            "network; certificate"

            KubeconfigLacksRights NeedsUser [ControlPlaneAvailable False]
            "the API server does not accept the credentials in the kubeconfig (401), or their user lacks a right that Cluster API needs; the message names it"
            "renew the credentials; bind the right to their user in the workload cluster"

            WaitingForAccess Waiting [ControlPlaneAvailable False, AccessReady False]
            "the API server of the EKS cluster does not accept the manager's credentials yet, or does not allow what Cluster API needs; the message names it. EKS applies access entries and access policies seconds after it lists them"
            "wait. If it lasts for minutes: with authentication mode `CONFIG_MAP`, map the manager's user or role in `aws-auth`; with `spec.eks.accessEntries`, check what they give the manager's user or role"

            NotChecked Good [ControlPlaneAvailable False, KubeconfigReady Unknown, NodeConfigReady Unknown, DataSecretAvailable Unknown]
            "paused, or being deleted, before it was checked for the first time"
            ""

            KubeconfigValid Good [KubeconfigReady True]
            "the kubeconfig can be used"
            ""

            KubeconfigExpiresSoon NeedsUser [KubeconfigReady True]
            "the client certificate or token expires within 30 days"
            "put a kubeconfig with newer ones into the Secret"

            KubeconfigExpired NeedsUser [KubeconfigReady False]
            "the client certificate or token has expired"
            "put a kubeconfig with newer ones into the Secret"

            KubeconfigSecretWrongType NeedsUser [KubeconfigReady False]
            "`<cluster>-kubeconfig` has another type than `cluster.x-k8s.io/secret`; the type of a Secret cannot be changed"
            "delete it, and create it again with that type"
        }
    };
}
pub(super) use control_plane;
