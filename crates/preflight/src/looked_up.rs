//! Images that pools look up (`ami.ssmParameter`, `lookup`, `recommended`): they exist for the version that the pool
//! has, and for the one that it is to reach.

use crate::account::Account;
use crate::report::{Report, by_what, pools};
use crate::topology::{LookedUp, Pool, Topology};
use foo_api::pool::image_source::{NoSource, NodeType, Nodes, Source, Sources, image_id, is_arm64};
use foo_cloud::{CloudError, ErrorKind, ImageInfo, ImageQuery, InstanceTypeInfo};
use foo_model::ImageId;
use futures::future::join_all;
use std::collections::BTreeMap;

/// The outcome of lookups.
#[derive(Debug, Default)]
pub(crate) struct Resolved<'a> {
    /// The images of each version, by the name of the pool.
    pub(crate) images: BTreeMap<&'a str, Vec<Images>>,
    /// What speaks against the version that a pool has, with the pool: one that runs has its image.
    pub(crate) of_new_pools: Vec<(String, &'a str)>,
}

/// What the instances of a pool boot from.
#[derive(Debug)]
pub(crate) struct Images {
    /// The image of the launch template: of all types, or with `arm64` of those of x86_64.
    pub(crate) template: ImageInfo,
    /// The image of arm64 types, if they have another one.
    pub(crate) arm64: Option<ImageInfo>,
}

impl Images {
    /// The image of a type of this architecture.
    pub(crate) fn of(&self, architecture: &str) -> &ImageInfo {
        self.arm64.as_ref().filter(|_| is_arm64(architecture)).unwrap_or(&self.template)
    }
}

/// Which of its versions a pool needs an image of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needed {
    /// The one that it has, if it is new.
    Now,
    /// The one that it is to reach.
    Next,
}

/// Why there is no image.
enum Missing {
    /// AWS has none, or cannot have one: a sentence.
    Surely(String),
    /// Unknown: AWS did not return it.
    Unknown(CloudError),
}

/// Looks up what the pools look up.
pub(crate) async fn check<'a>(
    aws: &dyn Account,
    topology: &'a Topology,
    types: &BTreeMap<&str, InstanceTypeInfo>,
    report: &mut Report,
) -> Resolved<'a> {
    let wanted: Vec<_> = topology.pools.iter().flat_map(wanted).collect();
    // Where a type is not known, that is reported already.
    let results = wanted.iter().map(async |(pool, ami, version, _needed)| {
        let named = pool.types.iter().map(|name| types.get(name.as_str()).map(node));
        let described = pool.described.iter().map(|it| Some(it.node_type(DESCRIBED)));
        let types = named.chain(described).collect::<Option<Vec<_>>>()?;
        Some(resolve_all(aws, Sources::of(&ami.ami, Nodes { version: Some(version), types: &types })).await)
    });
    let results = join_all(results).await;
    let (mut resolved, mut next) = (Resolved::default(), Vec::new());
    for ((pool, _ami, _version, needed), result) in wanted.iter().zip(results) {
        match (result, needed) {
            (None, _) => {}
            (Some(Ok(images)), _) => resolved.images.entry(&pool.name).or_default().push(images),
            (Some(Err(Missing::Unknown(error))), _) => report.lacks(error.to_string()),
            (Some(Err(Missing::Surely(why))), Needed::Next) => next.push((why, pool.name.as_str())),
            (Some(Err(Missing::Surely(why))), Needed::Now) => {
                resolved.of_new_pools.push((why, pool.name.as_str()));
            }
        }
    }
    report_missing(next, report);
    resolved
}

/// Sentences about pools, those that are the same as one.
pub(crate) fn report_missing<'a>(found: impl IntoIterator<Item = (String, &'a str)>, report: &mut Report) {
    for (why, names) in by_what(found.into_iter()) {
        report.finds(format!("{}: {why}", pools(&names)));
    }
}

fn wanted(pool: &Pool) -> Vec<(&Pool, &LookedUp, &str, Needed)> {
    let Some(it) = &pool.looked_up else { return Vec::new() };
    let versions = [(&it.now, Needed::Now), (&it.next, Needed::Next)];
    let known = versions.into_iter().filter_map(|(version, needed)| Some((version.as_deref()?, needed)));
    known.map(|(version, needed)| (pool, it, version, needed)).collect()
}

/// Stands for the names of instance types that are chosen by their attributes.
pub(crate) const DESCRIBED: &str = "of mixedInstances.overrides[].requirements";

fn node(info: &InstanceTypeInfo) -> NodeType<'_> {
    NodeType {
        name: info.instance_type.as_str(),
        architecture: &info.architecture,
        nvidia_gpus: info.nvidia_gpus,
        neuron_devices: info.neuron_devices,
    }
}

/// The images that sources name now.
async fn resolve_all(aws: &dyn Account, sources: Result<Sources, NoSource>) -> Result<Images, Missing> {
    let Sources { template, arm64 } = sources.map_err(|none| Missing::Surely(none.message))?;
    let template = resolve(aws, &template).await?;
    let arm64 = match arm64 {
        None => None,
        Some(arm64) => Some(resolve(aws, &arm64).await?),
    };
    Ok(Images { template, arm64 })
}

/// The image that a source names now, in the words of the pool controller.
async fn resolve(aws: &dyn Account, source: &Source) -> Result<ImageInfo, Missing> {
    let none = |what: &str| Missing::Surely(format!("{source}: {what}"));
    let failed = |error: CloudError| match error.kind {
        ErrorKind::NotFound | ErrorKind::Invalid => Missing::Surely(format!("{source} does not exist")),
        ErrorKind::Throttled
        | ErrorKind::Denied
        | ErrorKind::Credentials
        | ErrorKind::AlreadyExists
        | ErrorKind::LimitExceeded
        | ErrorKind::InUse
        | ErrorKind::LostResponse
        | ErrorKind::Unreachable
        | ErrorKind::Internal => Missing::Unknown(error),
    };
    let id = match source {
        Source::Spec(id) => id.clone(),
        Source::Parameter(name) => {
            let value = aws.parameter(name).await.map_err(failed)?;
            let value = value.ok_or_else(|| none("there is no such parameter"))?;
            // Users choose the parameter, and may not be allowed to read it: its value is not shown.
            image_id(&value).ok_or_else(|| none("its value is not the id of an image"))?.to_owned()
        }
        Source::Newest { owner, name, architecture } => {
            let [owner, name, architecture] = [owner, name, architecture].map(String::clone);
            let newest = aws.newest_image(&ImageQuery { owner, name, architecture }).await.map_err(failed)?;
            newest.ok_or_else(|| none("there is none"))?.id.as_str().to_owned()
        }
    };
    let image = aws.image(&ImageId::new(id.as_str())).await.map_err(failed)?;
    if image.available { Ok(image) } else { Err(none(&format!("image {id} cannot be launched"))) }
}
