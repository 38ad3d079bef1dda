//! VPCs, subnets and security groups, which AWS does not charge for.

use crate::belief::Belief;
use crate::belief::Check::Refused;
use crate::belief::Source::{File, Simulator};
use crate::scene::{Place, SUBNET_RANGE, Scene, nothing, range};
use foo_cloud::{Operation as O, Result};
use foo_model::SecurityGroupId;
use foo_model::network::{Change, Kind, Scope};
use std::net::Ipv4Addr;

pub(super) fn beliefs() -> Vec<Belief> {
    let mut all = of_ranges();
    all.extend(of_dependencies());
    all
}

async fn send(scene: &Scene, change: Change) -> Result<()> {
    scene.cloud.change_network(&change).await.map(drop)
}

/// Creates a subnet in the VPC, which AWS is to refuse.
async fn subnet(scene: &Scene, cidr: (Ipv4Addr, u8)) -> Result<()> {
    let Place { vpc, zone, .. } = scene.place()?.clone();
    send(scene, Change::CreateSubnet { vpc, zone, cidr: range(cidr)?, ipv6: None, tags: scene.tags() }).await
}

fn of_ranges() -> Vec<Belief> {
    vec![
        Belief::free(
            "vpcs/largest-range",
            "CreateVpc refuses a range larger than /16: InvalidVpc.Range",
            Simulator("network/vpcs::ranges_that_no_vpc_can_have_are_refused"),
            &[(O::CreateVpc, 1)],
            Refused {
                code: "InvalidVpc.Range",
                call: |scene| {
                    Box::pin(async move {
                        let cidr = range((Ipv4Addr::new(10, 0, 0, 0), 15))?;
                        send(scene, Change::CreateVpc { cidr, ipv6: false, tags: scene.tags() }).await
                    })
                },
            },
        ),
        Belief::free(
            "subnets/do-not-overlap",
            "CreateSubnet refuses a range that a subnet of the VPC has: InvalidSubnet.Conflict",
            Simulator("network/subnets::ranges_outside_the_vpc_and_ranges_that_are_taken_are_refused"),
            &[(O::CreateSubnet, 1)],
            Refused { code: "InvalidSubnet.Conflict", call: |scene| Box::pin(subnet(scene, SUBNET_RANGE)) },
        ),
        Belief::free(
            "subnets/inside-of-the-vpc",
            "CreateSubnet refuses a range outside of its VPC: InvalidSubnet.Range",
            Simulator("network/subnets::ranges_outside_the_vpc_and_ranges_that_are_taken_are_refused"),
            &[(O::CreateSubnet, 1)],
            Refused {
                code: "InvalidSubnet.Range",
                call: |scene| Box::pin(subnet(scene, (Ipv4Addr::new(10, 78, 0, 0), 28))),
            },
        ),
    ]
}

fn of_dependencies() -> Vec<Belief> {
    vec![
        Belief::free(
            "vpcs/with-a-subnet-stay",
            "DeleteVpc refuses a VPC with a subnet: DependencyViolation",
            Simulator("network/vpcs::a_vpc_goes_only_when_nothing_but_its_own_is_in_it"),
            &[(O::DeleteVpc, 1)],
            Refused {
                code: "DependencyViolation",
                call: |scene| {
                    Box::pin(async move {
                        let vpc = scene.place()?.vpc.clone();
                        send(scene, Change::DeleteVpc { vpc }).await
                    })
                },
            },
        ),
        Belief::free(
            "security-groups/default-one-stays",
            "DeleteSecurityGroup refuses the default group of a VPC: CannotDelete",
            File("crates/simulator-core/src/core/network/groups.rs", "\"CannotDelete\""),
            &[(O::DescribeSecurityGroups, 1), (O::DeleteSecurityGroup, 1)],
            Refused {
                code: "CannotDelete",
                call: |scene| {
                    Box::pin(async move {
                        let group = default_group(scene).await?;
                        send(scene, Change::DeleteSecurityGroup { group }).await
                    })
                },
            },
        ),
        Belief::free(
            "security-groups/name-is-unique",
            "CreateSecurityGroup refuses a name that is in use in the VPC: InvalidGroup.Duplicate",
            File("crates/cloud/src/codes.rs", "\".Duplicate\""),
            &[(O::CreateSecurityGroup, 2)],
            Refused {
                code: "InvalidGroup.Duplicate",
                call: |scene| {
                    Box::pin(async move {
                        let vpc = scene.place()?.vpc.clone();
                        let name = scene.new_name();
                        let change = Change::CreateSecurityGroup {
                            vpc,
                            name,
                            description: "probe".to_owned(),
                            tags: scene.tags(),
                        };
                        send(scene, change.clone()).await?;
                        send(scene, change).await
                    })
                },
            },
        ),
    ]
}

/// The default group of the run's own VPC. It may not show yet.
async fn default_group(scene: &Scene) -> Result<SecurityGroupId> {
    let scope = Scope::Vpc(scene.place()?.vpc.clone());
    let groups = scene.cloud.describe_network(Kind::SecurityGroup, &scope).await?.security_groups;
    let group = groups.into_values().find(|group| group.name == "default");
    let missing = || nothing(O::DescribeSecurityGroups, "the VPC shows no default group");
    Ok(group.ok_or_else(missing)?.id)
}
