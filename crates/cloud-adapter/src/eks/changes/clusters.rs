//! Changes of clusters, and tags of everything.

use super::calls::{began, done, received, shown, tagged};
use aws_sdk_eks::Client;
use aws_sdk_eks::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::eks::{
    AuthenticationMode, Changed, ConfigUpdate, EndpointAccess, IpFamily, LogType, Minor, NewCluster,
    Placement, ScalingTier, SupportType,
};
use foo_model::network::Tags;
use foo_model::{SecurityGroupId, SubnetId};
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;

pub(super) async fn create(
    eks: &Client,
    name: &str,
    cluster: &NewCluster,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::CreateCluster;
    let services = aws::KubernetesNetworkConfigRequest::builder()
        .set_service_ipv4_cidr(cluster.service_ipv4.clone())
        .ip_family(match cluster.ip_family {
            IpFamily::Ipv4 => aws::IpFamily::Ipv4,
            IpFamily::Ipv6 => aws::IpFamily::Ipv6,
        })
        .build();
    let entry = aws::CreateAccessConfigRequest::builder()
        .bootstrap_cluster_creator_admin_permissions(cluster.creator_is_admin)
        .authentication_mode(mode(cluster.authentication_mode))
        .build();
    let call = eks
        .create_cluster()
        .name(name)
        .set_version(cluster.version.map(|version| version.to_string()))
        .role_arn(&cluster.role_arn)
        .resources_vpc_config(place(access(&cluster.access), &cluster.placement).build())
        .kubernetes_network_config(services)
        .access_config(entry)
        .bootstrap_self_managed_addons(cluster.self_managed_addons)
        .logging(logging(&cluster.logging))
        .set_encryption_config(cluster.encryption_key.as_deref().map(encryption))
        .set_upgrade_policy(cluster.upgrade_policy.map(policy))
        .set_zonal_shift_config(cluster.zonal_shift.map(zonal_shift))
        .deletion_protection(cluster.deletion_protection)
        .set_control_plane_scaling_config(cluster.scaling_tier.map(scaling))
        .set_tags(tagged(&cluster.tags))
        .set_client_request_token(token.map(str::to_owned));
    shown(OPERATION, received(OPERATION, call.send().await)?.cluster())
}

pub(super) async fn update_version(
    eks: &Client,
    cluster: &str,
    version: Minor,
    force: bool,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::UpdateClusterVersion;
    let call = eks.update_cluster_version().name(cluster).version(version.to_string()).force(force);
    let call = call.set_client_request_token(token.map(str::to_owned));
    began(OPERATION, received(OPERATION, call.send().await)?.update())
}

pub(super) async fn update_config(
    eks: &Client,
    cluster: &str,
    update: &ConfigUpdate,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::UpdateClusterConfig;
    let call = eks.update_cluster_config().name(cluster).set_client_request_token(token.map(str::to_owned));
    let call = match update {
        ConfigUpdate::Access(to) => call.resources_vpc_config(access(to).build()),
        ConfigUpdate::Placement { subnets, security_groups } => call.resources_vpc_config(
            aws::VpcConfigRequest::builder()
                .set_subnet_ids(subnets.as_ref().map(subnet_ids))
                .set_security_group_ids(security_groups.as_ref().map(group_ids))
                .build(),
        ),
        ConfigUpdate::Logging(on) => call.logging(logging(on)),
        ConfigUpdate::AuthenticationMode(to) => call
            .access_config(aws::UpdateAccessConfigRequest::builder().authentication_mode(mode(*to)).build()),
        ConfigUpdate::UpgradePolicy(to) => call.upgrade_policy(policy(*to)),
        ConfigUpdate::ZonalShift(to) => call.zonal_shift_config(zonal_shift(*to)),
        ConfigUpdate::DeletionProtection(to) => call.deletion_protection(*to),
        ConfigUpdate::ScalingTier(to) => call.control_plane_scaling_config(scaling(*to)),
    };
    began(OPERATION, received(OPERATION, call.send().await)?.update())
}

pub(super) async fn encrypt(eks: &Client, cluster: &str, key: &str, token: Option<&str>) -> Result<Changed> {
    const OPERATION: Operation = Operation::AssociateEncryptionConfig;
    let call = eks.associate_encryption_config().cluster_name(cluster);
    let call = call.set_encryption_config(Some(encryption(key)));
    let call = call.set_client_request_token(token.map(str::to_owned));
    began(OPERATION, received(OPERATION, call.send().await)?.update())
}

pub(super) async fn delete(eks: &Client, cluster: &str) -> Result<Changed> {
    const OPERATION: Operation = Operation::DeleteCluster;
    let response = received(OPERATION, eks.delete_cluster().name(cluster).send().await)?;
    shown(OPERATION, response.cluster())
}

pub(super) async fn refresh_insights(eks: &Client, cluster: &str) -> Result<Changed> {
    done(Operation::StartInsightsRefresh, eks.start_insights_refresh().cluster_name(cluster).send().await)
}

pub(super) async fn tag(eks: &Client, arn: &str, tags: &Tags) -> Result<Changed> {
    let call = eks.tag_resource().resource_arn(arn).set_tags(tagged(tags));
    done(Operation::TagResource, call.send().await)
}

pub(super) async fn untag(eks: &Client, arn: &str, keys: &BTreeSet<String>) -> Result<Changed> {
    let call = eks.untag_resource().resource_arn(arn).set_tag_keys(Some(keys.iter().cloned().collect()));
    done(Operation::UntagResource, call.send().await)
}

fn access(to: &EndpointAccess) -> aws::builders::VpcConfigRequestBuilder {
    aws::VpcConfigRequest::builder()
        .endpoint_public_access(to.public)
        .endpoint_private_access(to.private)
        .set_public_access_cidrs(to.sent_cidrs().map(|cidrs| cidrs.iter().cloned().collect()))
}

fn place(
    config: aws::builders::VpcConfigRequestBuilder,
    to: &Placement,
) -> aws::builders::VpcConfigRequestBuilder {
    let subnets = subnet_ids(&to.subnets);
    config.set_subnet_ids(Some(subnets)).set_security_group_ids(Some(group_ids(&to.security_groups)))
}

fn subnet_ids(subnets: &BTreeSet<SubnetId>) -> Vec<String> {
    subnets.iter().map(SubnetId::to_string).collect()
}

fn group_ids(groups: &BTreeSet<SecurityGroupId>) -> Vec<String> {
    groups.iter().map(SecurityGroupId::to_string).collect()
}

/// Every log, those that are to be on and the others.
fn logging(on: &BTreeSet<LogType>) -> aws::Logging {
    let setup = |enabled: bool| {
        let logs = LogType::iter().filter(|log| on.contains(log) == enabled);
        let types: Vec<_> = logs.map(|log| aws::LogType::from(<&str>::from(log))).collect();
        (!types.is_empty()).then(|| aws::LogSetup::builder().set_types(Some(types)).enabled(enabled).build())
    };
    let setups = [true, false].into_iter().filter_map(setup).collect();
    aws::Logging::builder().set_cluster_logging(Some(setups)).build()
}

#[expect(
    deprecated,
    reason = "EKS encrypts everything now, but regions that do not yet refuse a request without it"
)]
fn encryption(key: &str) -> Vec<aws::EncryptionConfig> {
    let provider = aws::Provider::builder().key_arn(key).build();
    vec![aws::EncryptionConfig::builder().resources("secrets").provider(provider).build()]
}

fn mode(mode: AuthenticationMode) -> aws::AuthenticationMode {
    match mode {
        AuthenticationMode::ConfigMap => aws::AuthenticationMode::ConfigMap,
        AuthenticationMode::ApiAndConfigMap => aws::AuthenticationMode::ApiAndConfigMap,
        AuthenticationMode::Api => aws::AuthenticationMode::Api,
    }
}

fn policy(support: SupportType) -> aws::UpgradePolicyRequest {
    let support = match support {
        SupportType::Standard => aws::SupportType::Standard,
        SupportType::Extended => aws::SupportType::Extended,
    };
    aws::UpgradePolicyRequest::builder().support_type(support).build()
}

fn scaling(tier: ScalingTier) -> aws::ControlPlaneScalingConfig {
    let tier = aws::ProvisionedControlPlaneTier::from(<&str>::from(tier));
    aws::ControlPlaneScalingConfig::builder().tier(tier).build()
}

fn zonal_shift(enabled: bool) -> aws::ZonalShiftConfigRequest {
    aws::ZonalShiftConfigRequest::builder().enabled(enabled).build()
}
