//! Reasons of `Paused` of every kind, and `CredentialsReady`. `reason/list.rs` says what each line has.

macro_rules! credentials {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // Every kind.
            Paused NeedsUser [Paused True, NetworkReady False, ClusterDeleting True, ControlPlaneDeleting True]
            "the Cluster has `spec.paused`, or the object the annotation `cluster.x-k8s.io/paused`; nothing is created, changed or deleted"
            "unpause it when you are done"

            NotPaused Good [Paused False]
            "not paused"
            ""

            // CredentialsReady.
            Accepted Good [CredentialsReady True]
            "AWS accepted the credentials"
            ""

            WrongAccount NeedsUser [CredentialsReady False, AutoScalingGroupReady Unknown, PoolDeleting True]
            "the credentials belong to another account than the one in which the pool was created (its group's ARN; before there is one the annotation `infrastructure.foo.com/account`, which you may remove if nothing of the pool is in that account); nothing is done in AWS"
            "the FooCluster's [identity](identities.md); for the manager's own credentials also a restart"

            IdentityNotYetKnown Waiting [CredentialsReady False]
            "the manager has not read the FooClusterIdentities yet; nothing is done in AWS"
            "wait; if it lasts: the manager's log"

            IdentityRequired NeedsUser [CredentialsReady False]
            "the FooCluster references no FooClusterIdentity, there is no `default`, and the manager requires one"
            "[identities](identities.md#when-something-is-wrong)"

            IdentityNotFound NeedsUser [CredentialsReady False, IdentityReady False]
            "the FooClusterIdentity, or one that it assumes its role from, does not exist"
            "create it, or reference another one"

            IdentityNotAllowed NeedsUser [CredentialsReady False]
            "the FooClusterIdentity must not be used from this namespace or in this region"
            "`allowedNamespaces`, `allowedRegions` of the [identity](identities.md#when-something-is-wrong)"

            IdentityInvalid NeedsUser [CredentialsReady False, IdentityReady False]
            "the FooClusterIdentity cannot be decoded, or its chain of source identities is circular or too long"
            "repair it; the message says what is wrong"

            IdentitySecretNotFound NeedsUser [CredentialsReady False, IdentityReady False]
            "the Secret with the FooClusterIdentity's access key does not exist"
            "create it"

            IdentitySecretInvalid NeedsUser [CredentialsReady False, IdentityReady False]
            "the Secret with the FooClusterIdentity's access key lacks a key"
            "add what the message names"

            IdentitySecretUnreadable NeedsUser [CredentialsReady False, IdentityReady False]
            "the API server did not return the Secret with the FooClusterIdentity's access key"
            "the manager's log and its rights"

            NotYetVerified Waiting [CredentialsReady Unknown, NetworkReady Unknown, EksClusterReady Unknown, ControlPlaneUpgrading Unknown, AddonsReady Unknown, AccessReady Unknown]
            "no call was made to AWS yet"
            "wait"
        }
    };
}
pub(super) use credentials;
