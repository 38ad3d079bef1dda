//! Networks behind the trait: faults, lost responses and counts apply to their calls as to all others.

use super::scene::{Net, net, net_with, only, tags};
use crate::core::mishaps::QuotaClass;
use crate::{Fault, FaultRule, SimCloud};
use foo_cloud::{Compute as _, ErrorKind, Networks as _, VcpuQuota};
use foo_model::network::{Change, Kind, Quotas, Scope, Tags};

fn cloud(net: &Net) -> SimCloud {
    net.0.sim.cloud("eu-central-1", "test")
}

fn create() -> Change {
    let cidr = "10.0.0.0/16".parse().expect("a range");
    Change::CreateVpc { cidr, ipv6: false, tags: tags(&[("k", "v")]) }
}

#[tokio::test]
async fn a_change_is_one_call_and_a_refusal_has_its_kind() {
    let net = net();
    let cloud = cloud(&net);
    let vpc = only(&cloud.change_network(&create()).await.expect("created").vpcs);
    let gateway = Change::CreateInternetGateway { tags: Tags::new() };
    let gateway = only(&cloud.change_network(&gateway).await.expect("created").internet_gateways);
    let attach = Change::AttachInternetGateway { gateway, vpc: vpc.clone() };
    cloud.change_network(&attach).await.expect("attached");
    let twice = cloud.change_network(&attach).await.expect_err("refused");
    assert_eq!(twice.kind, ErrorKind::AlreadyExists);
    let in_use = cloud.change_network(&Change::DeleteVpc { vpc }).await.expect_err("refused");
    assert_eq!((in_use.kind, in_use.code.as_deref()), (ErrorKind::InUse, Some("DependencyViolation")));
    assert_eq!((net.0.sim.calls("CreateVpc"), net.0.sim.calls("AttachInternetGateway")), (1, 2));
}

#[tokio::test]
async fn a_lost_response_leaves_what_was_created_to_be_found_by_its_tags() {
    let net = net();
    let cloud = cloud(&net);
    net.0.sim.add_fault(FaultRule::on("CreateVpc", Fault::DroppedAfter).times(1));
    let lost = cloud.change_network(&create()).await.expect_err("no response");
    assert_eq!(lost.kind, ErrorKind::LostResponse);
    let found = cloud.describe_network(Kind::Vpc, &Scope::TagKey("k".to_owned())).await.expect("read");
    assert_eq!(found.vpcs.len(), 1);
}

#[tokio::test]
async fn looks_cost_what_the_adapter_spends_on_them() {
    let net = net();
    let cloud = cloud(&net);
    let (vpc, other) = (net.vpc("10.0.0.0/16"), net.vpc("10.0.0.0/16"));
    let ids = Scope::Ids([vpc.to_string(), other.to_string()].into());
    assert_eq!(cloud.describe_network(Kind::VpcAttributes, &ids).await.expect("read").vpcs.len(), 2);
    cloud.describe_network(Kind::LoadBalancer, &Scope::Vpc(vpc.clone())).await.expect("read");
    cloud.describe_network(Kind::Subnet, &Scope::Ids([].into())).await.expect("nothing asked");
    let calls =
        ["DescribeVpcAttribute", "DescribeLoadBalancers", "DescribeSubnets"].map(|it| net.0.sim.calls(it));
    assert_eq!(calls, [4, 2, 0]);
    for (kind, scope) in [(Kind::TargetGroup, ids), (Kind::VpcAttributes, Scope::Vpc(vpc))] {
        let senseless = cloud.describe_network(kind, &scope).await.expect_err("a mistake");
        assert_eq!(senseless.kind, ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn quotas_of_vcpus_are_those_that_are_set() {
    let net = net_with(|_| {});
    let cloud = cloud(&net);
    let quota_of = async |quota| cloud.vcpu_quota(quota).await.expect("read");
    assert_eq!(quota_of(VcpuQuota::Standard).await, None, "lifted");
    let set = |class, vcpus| net.0.with(|region| region.set_vcpu_quota(class, Some(vcpus)));
    set(QuotaClass::Standard, 64);
    set(QuotaClass::SpotStandard, 32);
    set(QuotaClass::SpotOther, 1);
    assert_eq!(quota_of(VcpuQuota::Standard).await, Some(64));
    assert_eq!(quota_of(VcpuQuota::SpotStandard).await, Some(32));
    assert_eq!(quota_of(VcpuQuota::SpotGAndVt).await, Some(1));
    assert_eq!(quota_of(VcpuQuota::GAndVt).await, None);
    net.0.sim.add_fault(FaultRule::on("GetServiceQuota", Fault::Denied).times(1));
    assert_eq!(quota_of(VcpuQuota::Standard).await, None);
}

#[tokio::test]
async fn quotas_come_with_what_is_used_and_a_denied_one_is_unknown() {
    let net = net_with(|settings| settings.network_quotas.vpcs = 7);
    let cloud = cloud(&net);
    net.vpc("10.0.0.0/16");
    net.address();
    let none = std::collections::BTreeMap::new();
    let expected = Quotas {
        vpcs: Some((7, 1)),
        addresses: Some((5, 1)),
        nat_gateways: Some((5, none)),
        internet_gateways: Some((5, 0)),
    };
    assert_eq!(cloud.quotas().await.expect("read"), expected);
    net.0.sim.add_fault(FaultRule::on("GetServiceQuota", Fault::Denied).times(1));
    assert_eq!(cloud.quotas().await.expect("read"), Quotas { vpcs: None, ..expected });
    net.0.sim.add_fault(FaultRule::on("GetServiceQuota", Fault::Throttled).times(1));
    assert_eq!(cloud.quotas().await.expect_err("throttled").kind, ErrorKind::Throttled);
}
