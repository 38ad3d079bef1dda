//! Images and instance types: they exist, and fit each other.

use super::report::{Report, by_what, pools};
use crate::clouds::Connected;
use crate::topology::Topology;
use foo_cloud::{ImageInfo, InstanceTypeInfo};
use foo_model::{ImageId, InstanceType};
use futures::future::join_all;
use std::collections::BTreeMap;

/// What is found, and the types that AWS has.
pub(super) async fn look<'a>(
    aws: &Connected,
    topology: &'a Topology,
    report: &mut Report,
) -> BTreeMap<&'a str, InstanceTypeInfo> {
    let region = &topology.region;
    let images = by_what(
        topology
            .pools
            .iter()
            .flat_map(|pool| pool.images.iter().map(|image| (image.as_str(), pool.name.as_str()))),
    );
    let types = by_what(
        topology
            .pools
            .iter()
            .flat_map(|pool| pool.types.iter().map(|name| (name.as_str(), pool.name.as_str()))),
    );
    let (found_images, found_types) = tokio::join!(
        join_all(images.keys().map(async |id| aws.image(&ImageId::new(*id)).await)),
        join_all(types.keys().map(async |name| { aws.instance_type(&InstanceType::new(*name)).await })),
    );
    let mut known_images: BTreeMap<&str, ImageInfo> = BTreeMap::new();
    for ((id, names), answer) in images.iter().zip(found_images) {
        let Some(found) = report.answer(&format!("{}: image {id} in {region}", pools(names)), answer) else {
            continue;
        };
        if !found.available {
            report.finds(format!("{}: image {id} cannot be launched", pools(names)));
        }
        known_images.insert(id, found);
    }
    let mut known_types: BTreeMap<&str, InstanceTypeInfo> = BTreeMap::new();
    for ((name, names), answer) in types.iter().zip(found_types) {
        let what = format!("{}: instance type {name} in {region}", pools(names));
        known_types.extend(report.answer(&what, answer).map(|found| (*name, found)));
    }
    architectures(topology, &known_images, &known_types, report);
    known_types
}

fn architectures(
    topology: &Topology,
    images: &BTreeMap<&str, ImageInfo>,
    types: &BTreeMap<&str, InstanceTypeInfo>,
    report: &mut Report,
) {
    let pairs = topology.pools.iter().flat_map(|pool| {
        let images = pool.images.iter().filter_map(|id| images.get(id.as_str()));
        images.flat_map(|image| {
            let types = pool.types.iter().filter_map(|name| types.get(name.as_str()));
            let others = types.filter(|one| one.architecture != image.architecture);
            others.map(|one| {
                let finding = format!(
                    "image {} is for {}, instance type {} is {}",
                    image.id, image.architecture, one.instance_type, one.architecture
                );
                (finding, pool.name.as_str())
            })
        })
    });
    for (finding, names) in by_what(pairs) {
        report.finds(format!("{}: {finding}", pools(&names)));
    }
}
