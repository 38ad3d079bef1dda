//! What reads respond about what does not exist, and the form of what does.

use crate::belief::Check::{Holds, Refused};
use crate::belief::Source::{File, Simulator};
use crate::belief::{Belief, Seen};
use crate::scene::{IMAGE_PARAMETER, NO_ID, Scene, only};
use foo_cloud::{Described, FoundGroups, NetworkQuery, Operation as O, Result};
use foo_model::eks::{Query, QueryResult};
use foo_model::network::{Kind, Parts};
use foo_model::{GroupName, ImageId, InstanceId};

pub(super) fn beliefs() -> Vec<Belief> {
    let mut all = of_groups();
    all.extend(of_ec2());
    all.extend(of_others());
    all
}

fn of_groups() -> Vec<Belief> {
    vec![
        Belief::read_only(
            "groups/unknown-name-is-left-out",
            "DescribeAutoScalingGroups leaves out names that do not exist, without an error",
            File("crates/cloud/src/lib.rs", "The groups with these names that exist"),
            &[(O::DescribeAutoScalingGroups, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let found = scene.cloud.describe_groups(&[scene.name("missing").into()]).await?;
                    Ok(nothing_if(found == FoundGroups::default()))
                })
            }),
        ),
        Belief::read_only(
            "groups/unknown-tag-key-finds-nothing",
            "the filter tag-key finds no group if no group has the key, without an error",
            File("crates/cloud/src/lib.rs", "All groups that have a tag with this key"),
            &[(O::DescribeAutoScalingGroups, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let found = scene.cloud.describe_groups_tagged(&scene.name("missing")).await?;
                    Ok(nothing_if(found.is_empty()))
                })
            }),
        ),
        Belief::read_only(
            "hooks/of-unknown-group",
            "DescribeLifecycleHooks refuses a group that does not exist: ValidationError",
            File("crates/simulator/src/wire/autoscaling/hooks.rs", "AwsError::no_group"),
            &[(O::DescribeLifecycleHooks, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        let missing: GroupName = scene.name("missing").into();
                        scene.cloud.describe_hooks(&missing).await.map(drop)
                    })
                },
            },
        ),
        Belief::read_only(
            "activities/of-unknown-group",
            "DescribeScalingActivities refuses a group that does not exist: ValidationError",
            File("crates/simulator/src/wire/autoscaling/describe.rs", "AwsError::no_group"),
            &[(O::DescribeScalingActivities, 1)],
            Refused {
                code: "ValidationError",
                call: |scene| {
                    Box::pin(async move {
                        let missing: GroupName = scene.name("missing").into();
                        scene.cloud.describe_activities(&missing, 1).await.map(drop)
                    })
                },
            },
        ),
        Belief::read_only(
            "templates/unknown-name",
            "DescribeLaunchTemplates refuses an unknown name with a code that ends with NotFoundException",
            Simulator("templates::unknown_templates_have_codes_of_their_own"),
            &[(O::DescribeLaunchTemplates, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let found = scene.cloud.describe_template(&scene.name("missing")).await?;
                    Ok(nothing_if(found.is_none()))
                })
            }),
        ),
    ]
}

fn of_ec2() -> Vec<Belief> {
    vec![
        Belief::read_only(
            "instances/unknown-id",
            "DescribeInstances refuses an unknown id: InvalidInstanceID.NotFound",
            Simulator("eventual::ec2_does_not_know_a_new_instance_for_a_while"),
            &[(O::DescribeInstances, 1)],
            Holds(|scene| Box::pin(unknown_instance(scene))),
        ),
        Belief::read_only(
            "instance-types/unknown",
            "DescribeInstanceTypes refuses an unknown type: InvalidInstanceType",
            File("crates/cloud/src/codes.rs", "\"InvalidInstanceType\""),
            &[(O::DescribeInstanceTypes, 1)],
            Refused {
                code: "InvalidInstanceType",
                call: |scene| {
                    Box::pin(async move {
                        scene.cloud.describe_instance_types(&["x9.nano".into()]).await.map(drop)
                    })
                },
            },
        ),
        Belief::read_only(
            "images/unknown-id",
            "DescribeImages refuses an unknown id: InvalidAMIID.NotFound",
            File("crates/simulator-core/src/core/rules/group/source.rs", "InvalidAMIID.NotFound"),
            &[(O::DescribeImages, 1)],
            Refused {
                code: "InvalidAMIID.NotFound",
                call: |scene| {
                    Box::pin(async move {
                        let id = ImageId::new(format!("ami-{NO_ID}"));
                        scene.cloud.describe_images(&[id]).await.map(drop)
                    })
                },
            },
        ),
        Belief::read_only(
            "subnets/unknown-id",
            "DescribeSubnets refuses an unknown id: InvalidSubnetID.NotFound",
            File("crates/simulator-core/src/core/network/part.rs", "InvalidSubnetID.NotFound"),
            &[(O::DescribeSubnets, 1)],
            Refused {
                code: "InvalidSubnetID.NotFound",
                call: |scene| {
                    Box::pin(async move {
                        let unknown = NetworkQuery::Ids(vec![format!("subnet-{NO_ID}")]);
                        scene.cloud.describe_subnets(&unknown).await.map(drop)
                    })
                },
            },
        ),
        Belief::read_only(
            "security-groups/unknown-id",
            "DescribeSecurityGroups refuses an unknown id: InvalidGroup.NotFound",
            File("crates/simulator-core/src/core/rules/group/source.rs", "InvalidGroup.NotFound"),
            &[(O::DescribeSecurityGroups, 1)],
            Refused {
                code: "InvalidGroup.NotFound",
                call: |scene| {
                    Box::pin(async move {
                        let unknown = NetworkQuery::Ids(vec![format!("sg-{NO_ID}")]);
                        scene.cloud.describe_security_groups(&unknown).await.map(drop)
                    })
                },
            },
        ),
        Belief::read_only(
            "vpcs/unknown-id",
            "DescribeVpcs refuses an unknown id and names it in the message, or its code ends with NotFound",
            File("crates/cloud-adapter/src/networks/queries.rs", "because of one unknown id"),
            &[(O::DescribeVpcs, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let unknown = only(&format!("vpc-{NO_ID}"));
                    let found = scene.cloud.describe_network(Kind::Vpc, &unknown).await?;
                    Ok(nothing_if(found == Parts::default()))
                })
            }),
        ),
        Belief::read_only(
            "reservations/unknown-id",
            "DescribeCapacityReservations refuses an unknown id with a code that ends with NotFound",
            File("crates/cloud/src/lib.rs", "The Capacity Reservation with this id; `None`"),
            &[(O::DescribeCapacityReservations, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let id = format!("cr-{NO_ID}");
                    let found = scene.cloud.describe_capacity_reservation(&id).await?;
                    Ok(nothing_if(found.is_none()))
                })
            }),
        ),
    ]
}

fn of_others() -> Vec<Belief> {
    vec![
        Belief::read_only(
            "account/id-and-caller",
            "GetCallerIdentity needs no right; an account id has 12 digits, and the caller's ARN contains it",
            File("crates/cloud/src/lib.rs", "which needs no right"),
            &[(O::GetCallerIdentity, 2)],
            Holds(|scene| Box::pin(account(scene))),
        ),
        Belief::read_only(
            "parameters/unknown-name",
            "GetParameter refuses an unknown name: ParameterNotFound",
            Simulator("judge::parameters"),
            &[(O::GetParameter, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let found = scene.cloud.parameter(&format!("/foo-probe/{NO_ID}")).await?;
                    Ok(nothing_if(found.is_none()))
                })
            }),
        ),
        Belief::read_only(
            "parameters/image-of-amazon-linux",
            "Parameter Store names an image of Amazon Linux 2023 for x86_64 that can be launched",
            Simulator("ssm::images_are_published_per_kubernetes_version_and_architecture"),
            &[(O::GetParameter, 1), (O::DescribeImages, 1)],
            Holds(|scene| Box::pin(image(scene))),
        ),
        Belief::read_only(
            "zones/two-with-ids-of-their-own",
            "a region has at least two Availability Zones that are available, with ids of their own",
            Simulator("judge::instances"),
            &[(O::DescribeAvailabilityZones, 1)],
            Holds(|scene| Box::pin(zones(scene))),
        ),
        Belief::read_only(
            "clusters/unknown-name",
            "DescribeCluster refuses an unknown name: ResourceNotFoundException",
            Simulator("judge::clusters"),
            &[(O::DescribeCluster, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let found = scene.cloud.describe_eks(&Query::Cluster(scene.name("missing"))).await?;
                    Ok(nothing_if(found == QueryResult::Cluster(None)))
                })
            }),
        ),
    ]
}

fn nothing_if(nothing: bool) -> Seen {
    Seen::that(nothing, if nothing { "nothing" } else { "something" })
}

async fn account(scene: &Scene) -> Result<Seen> {
    let (account, caller) = (scene.cloud.account().await?, scene.cloud.caller().await?);
    let digits = account.len() == 12 && account.chars().all(|c| c.is_ascii_digit());
    let named = caller.contains(&account);
    Ok(Seen::that(digits && named, format!("{} characters, in the ARN: {named}", account.len())))
}

async fn unknown_instance(scene: &Scene) -> Result<Seen> {
    let id = InstanceId::new(format!("i-{NO_ID}"));
    let found = scene.cloud.describe_instances(std::slice::from_ref(&id)).await?;
    let found = found.get(&id);
    Ok(Seen::that(found == Some(&Described::NotFound), format!("{found:?}")))
}

async fn image(scene: &Scene) -> Result<Seen> {
    let Some(id) = scene.cloud.parameter(IMAGE_PARAMETER).await? else {
        return Ok(Seen::Otherwise("no such parameter".to_owned()));
    };
    let images = scene.cloud.describe_images(&[id.as_str().into()]).await?;
    let fits = images.iter().any(|image| image.available && image.architecture == "x86_64");
    let shown = images.iter().map(|image| format!("{}, available: {}", image.architecture, image.available));
    Ok(Seen::that(fits, shown.collect::<Vec<_>>().join("; ")))
}

async fn zones(scene: &Scene) -> Result<Seen> {
    let zones = scene.cloud.describe_network(Kind::Zone, &only("")).await?.zones;
    let mut usable: Vec<&str> = zones
        .values()
        .filter(|zone| zone.available && zone.is_availability_zone)
        .map(|zone| zone.id.as_str())
        .collect();
    let count = usable.len();
    usable.sort_unstable();
    usable.dedup();
    Ok(Seen::that(count >= 2 && usable.len() == count, format!("{count} zones: {}", usable.join(", "))))
}
