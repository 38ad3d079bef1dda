//! Reasons of a call to AWS that failed: of any condition. `reason/list.rs` says what each line has.

macro_rules! aws_calls {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // A call to AWS failed.
            AccessDenied NeedsUser [AnyAfterAwsCall False, CredentialsReady False]
            "the credentials lack a right; the message names the IAM action. For a launch template Auto Scaling does not say which; the message names those it may be"
            "add it: [IAM policy](../reference/iam-policy.md); also check permission boundaries and organisation policies"

            CredentialsInvalid NeedsUser [AnyAfterAwsCall False, CredentialsReady False]
            "there are no usable credentials, or they expired"
            "[credentials](install.md#with-clusterctl) of the manager, or the cluster's [identity](identities.md)"

            Throttled Waiting [AnyAfterAwsCall False]
            "AWS rejects calls because there are too many of them"
            "nothing: the manager slows down by itself. If it lasts, find out who else calls AWS in this account and region"

            NotFound NeedsUser [AnyAfterAwsCall False]
            "something that the request names does not exist in AWS"
            "the message names it"

            AlreadyExists NeedsUser [AnyAfterAwsCall False]
            "something else has the name already"
            "delete what has the name, or delete the pool and create it again with another `spec.groupName` (it is immutable)"

            RequestInvalid NeedsUser [AnyAfterAwsCall False]
            "AWS rejects the request as it is"
            "the message says what is wrong with it; usually a value in the spec"

            LimitExceeded NeedsUser [AnyAfterAwsCall False]
            "a quota of the account is used up"
            "raise the quota, or free some of it"

            ResourceInUse Waiting [AnyAfterAwsCall False]
            "something else uses or changes the resource in AWS"
            "nothing; the manager tries again"

            ResponseLost Waiting [AnyAfterAwsCall False]
            "the response to a change never arrived; AWS may have made the change"
            "nothing; the manager reads the state in AWS before it does anything else"

            AwsUnreachable NeedsUser [AnyAfterAwsCall False]
            "AWS could not be reached; the message names the region"
            "is `spec.region` of the FooCluster right? Check network, endpoint and DNS"

            AwsInternalError Waiting [AnyAfterAwsCall False]
            "AWS failed on its side"
            "nothing; the manager tries again. If it lasts: the AWS Health Dashboard"
        }
    };
}
pub(super) use aws_calls;
