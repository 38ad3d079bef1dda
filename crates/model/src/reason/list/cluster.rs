//! Reasons of a FooCluster, and of its managed network. `reason/list.rs` says what each line has.

macro_rules! cluster {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // FooCluster.
            NetworkFound Good [NetworkReady True]
            "all subnets and security groups of the spec exist, in one VPC"
            ""

            SubnetsInMultipleVpcs NeedsUser [NetworkReady False]
            "the subnets are in different VPCs, or in another than `spec.network.existing.vpcID`"
            "`spec.network.existing`"

            SecurityGroupOutsideVpc NeedsUser [NetworkReady False]
            "the security group is in another VPC than the subnets"
            "`spec.network.existing.securityGroups`"

            RangeUnfit NeedsUser [NetworkReady False]
            "a range of a managed network is public, overlaps another, or is one that AWS does not allow; the message says which"
            "`spec.network.managed.cidr`, `secondaryCIDRs` or `subnets.list`"

            RangeTooSmall NeedsUser [NetworkReady False]
            "the ranges of a managed network have no room for the subnets of all zones"
            "add a range to `spec.network.managed.secondaryCIDRs`; as long as nothing was created, change `cidr`, `zones` or `subnets.sizes`"

            ZonesTooFew NeedsUser [NetworkReady False]
            "the region has fewer Availability Zones that can be used than are requested"
            "`spec.network.managed.zones`"

            ZonesUnknown Waiting [NetworkReady False]
            "AWS has not said yet which Availability Zones the region has"
            "wait"

            ZoneInUse NeedsUser [NetworkReady False]
            "the network has subnets in a zone that `spec.network.managed.zones.names` does not list"
            "list it: zones with subnets cannot be removed"

            EndpointUnknown NeedsUser [NetworkReady False]
            "what AWS calls the endpoints of this service in this region is not known"
            "`spec.network.managed.endpoints[].service` with its whole name"

            EndpointTwice NeedsUser [NetworkReady False]
            "`spec.network.managed.endpoints` has one service as a gateway and as an interface, both by its whole name"
            "list one of the two by its short name"

            RuleInvalid NeedsUser [NetworkReady False]
            "a rule of a security group cannot be as it is written; the message says why"
            "`spec.network.managed.securityGroups`"

            // FooCluster with a managed network.
            NetworkAsRequested Good [NetworkReady True, NetworkPartReady True]
            "everything that is requested exists and is as requested"
            ""

            NothingRequested Good [NetworkPartReady True]
            "the spec asks for nothing of this kind"
            ""

            CreatingNetwork Waiting [NetworkReady False, NetworkPartReady False]
            "parts of the network are being created or changed; the message says what each waits for"
            "wait. A NAT gateway takes minutes"

            NotVerified Waiting [NetworkPartReady Unknown, ControlPlaneUpgrading Unknown, AddonsReady Unknown, AccessReady Unknown]
            "the provider does not compare the network, or the EKS cluster, with the spec at present, or cannot use the kubeconfig; the message names the condition that says why: `NetworkReady`, `ClusterReady` or `Available`"
            "see that condition"

            NetworkDrifted NeedsUser [NetworkReady True, NetworkPartReady True]
            "parts of the network were changed by hand, and `driftPolicy: Warn` leaves them so; the message says what differs"
            "change them back, or set `driftPolicy: Enforce`"

            NetworkTagRemoved NeedsUser [NetworkReady False, NetworkPartReady False]
            "a part of the network lost its tag `infrastructure.foo.com/network`; the provider touches nothing without that tag, and creates no second one"
            "add the tag again with the value of the annotation `infrastructure.foo.com/network-id`"

            NetworkOfAnotherInstallation NeedsUser [NetworkReady False, NetworkPartReady False, ClusterDeleting True]
            "the VPC, or what was created in a VPC of yours, has the id of another management cluster in its tag `infrastructure.foo.com/installation`; the message has both ids. Nothing is created, changed or deleted"
            "after a move, or when the other management cluster is gone for good: the annotation `infrastructure.foo.com/adopt-from` with its id. In a copy of a management cluster: nothing"

            EarlierNetworkExists NeedsUser [NetworkReady False, NetworkPartReady False]
            "a network of the same Cluster and management cluster exists that another FooCluster created: etcd was restored to before that FooCluster, or its network was retained. No second network is created"
            "[take it back](runbooks/restored.md#networks-and-control-planes): the annotation `infrastructure.foo.com/network-id` with the value of its tag; or delete what exists"

            ZoneNotFound NeedsUser [NetworkReady False, NetworkPartReady False]
            "the region has no Availability Zone of this name"
            "`spec.network.managed.zones` or `subnets.list`"

            VpcNotFound NeedsUser [NetworkReady False, NetworkPartReady False]
            "there is no VPC of this id in the account and region"
            "`spec.network.managed.vpcID`; `spec.region`; the identity"

            VpcOfAnotherAccount NeedsUser [NetworkReady False, NetworkPartReady False]
            "the VPC belongs to another account, which alone may create subnets in it"
            "reference its subnets in `spec.network.existing`"

            VpcDnsDisabled NeedsUser [NetworkReady False, NetworkPartReady False]
            "`enableDnsSupport` or `enableDnsHostnames` of your VPC is off; your VPC is never changed"
            "switch it on"

            RangeOutsideVpc NeedsUser [NetworkReady False, NetworkPartReady False]
            "the range of a subnet is in none of the ranges of the VPC, or the VPC has no IPv6 range; your VPC is never changed"
            "add the range to the VPC, or request other subnets"

            SubnetDiffers NeedsUser [NetworkReady False, NetworkPartReady False]
            "a subnet has another range or zone than requested, which cannot be changed"
            "request what it has; or delete it by hand when nothing uses it"

            SubnetUnusable NeedsUser [NetworkReady False, NetworkPartReady False]
            "AWS says that a subnet is not available"
            "AWS Support; the message has the state"

            NatGatewayFailed Waiting [NetworkReady False, NetworkPartReady False]
            "a NAT gateway failed; the message has AWS's reason. It is deleted, and its creation is retried with exponential back-off"
            "wait; if it lasts: the message, for example a quota, or a subnet without free addresses"

            EndpointFailed Waiting [NetworkReady False, NetworkPartReady False]
            "a VPC endpoint failed; the message has AWS's reason. It is deleted, and its creation is retried with exponential back-off"
            "wait; if it lasts: the message, for example a subnet without free addresses"

            EndpointDiffers NeedsUser [NetworkReady False, NetworkPartReady False]
            "a VPC endpoint has another type than requested, or its service did not accept it"
            "the message; delete the endpoint, and it is created again"

            DeletingNetwork Waiting [ClusterDeleting True]
            "the network is being deleted; the message says what still stands and what it waits for"
            "wait. A NAT gateway takes minutes"

            ForeignResourcesInVpc NeedsUser [ClusterDeleting True]
            "something that is not part of the network stands in the way of its deletion; the message names it"
            "delete it; of what Services left behind also `deletion.leftovers: Delete`"

            WaitingForPools Waiting [ClusterDeleting True, ControlPlaneDeleting True]
            "FooMachinePools of the Cluster still exist; the message names them"
            "wait; if it lasts: their conditions `Deleting`"

            WaitingForControlPlaneDeletion Waiting [ClusterDeleting True]
            "the FooControlPlane of the Cluster still has an EKS cluster in the network"
            "wait; if it lasts: its condition `Deleting`"
        }
    };
}
pub(super) use cluster;
