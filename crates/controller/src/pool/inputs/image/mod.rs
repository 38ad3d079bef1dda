//! The image that a pool's instances boot from. An image that the spec does not name by its id is looked up,
//! recorded, and only then used: a manager that is killed after it created a launch template must find the same
//! image again, although AWS may name a newer one by then.
//!
//! A pool with instance types of both architectures has two, which are found and recorded together.
//!
//! The record is an annotation, which is moved with the object; `status.image` shows it, and replaces an
//! annotation that was lost. A lookup that fails does not affect a pool that has a record.

use super::account;
use super::aws::Aws;
use crate::apply;
use crate::clock::to_kube;
use crate::clouds::CloudRegion;
use crate::lookup;
use crate::pool::gather::Gathered;
use crate::pool::pools::Pools;
use crate::pool::state::{PoolState, WrittenImage};
use foo_api::FooMachinePool;
use foo_api::names::managers;
use foo_api::pool::image_source::{Lacks, NoSource, NodeType, Nodes, Source, Sources, image_id, is_arm64};
use foo_api::pool::{Ami, Arm64ImageStatus, ImagePolicy, ImageStatus};
use foo_cloud::lookups::{Asking, Lookups};
use foo_cloud::{ImageInfo, ImageQuery, InstanceTypeInfo};
use foo_model::names::IMAGE_ANNOTATION;
use foo_model::{AwsTime, Blocked, EventReason, ImageId, KubernetesTime, Reason};
use foo_planner::desired::Goal;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{Patch, PatchParams};
use kube::{Api, Resource, ResourceExt};
use kube_runtime::reflector::ObjectRef;
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How soon an image that a pool waits for is looked up again. Lookups remember that there is none for as long.
const TRY_AGAIN: Duration = Duration::from_mins(1);
/// How soon a record is written again that the API server did not take.
const WRITE_AGAIN: Duration = Duration::from_secs(2);

/// The ids of a pool's images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pool) struct Ids {
    /// That of the launch template.
    pub(in crate::pool) template: ImageId,
    /// That of the arm64 instance types, if the pool has others, too, and the spec names another image for them.
    pub(in crate::pool) arm64: Option<ImageId>,
}

/// The image of a pool.
pub(in crate::pool) struct Image {
    /// Its id, or why there is none.
    pub(in crate::pool) ids: Result<Ids, Blocked>,
    /// The record of the image, if it was looked up.
    pub(in crate::pool) record: Option<ImageStatus>,
    /// Why the pool keeps the image that it has, although there may be a newer one.
    pub(in crate::pool) warning: Option<Blocked>,
    /// When to come back.
    pub(in crate::pool) next_try: Option<Duration>,
}

/// Whether a pass can look images up and record them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Yes.
    Full,
    /// No: AWS cannot be used, or the pool is paused.
    RecordOnly,
}

impl Image {
    fn named(id: ImageId) -> Self {
        let ids = Ids { template: id, arm64: None };
        Self { ids: Ok(ids), record: None, warning: None, next_try: None }
    }

    fn recorded(record: ImageStatus) -> Self {
        Self { ids: Ok(Ids::of(&record)), record: Some(record), warning: None, next_try: None }
    }

    /// None, for this reason; the record is about another source or Kubernetes version.
    fn missing(because: Blocked, record: Option<ImageStatus>) -> Self {
        Self { ids: Err(because), record, warning: None, next_try: None }
    }

    /// The same, and the pass comes back after this time.
    fn awaited(self, next_try: Duration) -> Self {
        Self { next_try: Some(next_try), ..self }
    }
}

impl Ids {
    fn of(record: &ImageStatus) -> Self {
        let arm64 = record.arm64.as_ref().map(|arm64| arm64.id.as_str().into());
        Self { template: record.id.as_str().into(), arm64 }
    }
}

impl fmt::Display for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { template, arm64: None } => write!(f, "image {template}"),
            Self { template, arm64: Some(arm64) } => write!(f, "image {template} and, for arm64, {arm64}"),
        }
    }
}

impl Pools {
    /// The image of a pool. May write the record, after which `gathered` has the pool as it was written.
    pub(in crate::pool) async fn image(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &mut Gathered,
        region: &Result<Option<Arc<CloudRegion>>, Blocked>,
        state: &mut PoolState,
    ) -> Image {
        let record = state.unconfirmed.image(recorded(&gathered.pool));
        if gathered.goal != Goal::Run {
            let because = Blocked::new(Reason::Deleting, "the pool is being deleted");
            return Image::missing(because, record);
        }
        let id = gathered.pool.spec.ami.id.as_deref().map(ImageId::new);
        if let (Some(id), None) = (&id, &record) {
            return Image::named(id.clone());
        }
        let reach = self.reach(key, gathered, region, state).await;
        if let Some(id) = id {
            if reach == Reach::Full {
                // The next lookup is a first one again. If this fails the next pass repeats it.
                self.record(gathered, None, state).await.ok();
            }
            return Image::named(id);
        }
        let region = region.as_ref().ok().and_then(Option::as_deref);
        self.looked_up(gathered, region.map(|region| (region, reach)), record, state).await
    }

    /// The image of a pool whose spec does not name it by its id. `region` is absent while it is unknown.
    async fn looked_up(
        &self,
        gathered: &mut Gathered,
        region: Option<(&CloudRegion, Reach)>,
        record: Option<ImageStatus>,
        state: &mut PoolState,
    ) -> Image {
        let version = version(gathered);
        let types = self.instance_types(gathered, region.map(|(region, _)| region), state).await;
        let sources = types.as_ref().map_err(Clone::clone).and_then(|types| {
            let sources = sources_of(&gathered.pool.spec.ami, version.as_deref(), types)?;
            Ok((sources, types))
        });
        let region = region.filter(|(_, reach)| *reach == Reach::Full).map(|(region, _)| region);
        let (sources, types) = match sources {
            Ok(known) => known,
            Err(because) if region.is_some() => return Image::missing(because, record).awaited(TRY_AGAIN),
            Err(because) => return Image::missing(because, record),
        };
        let valid = record.clone().filter(|it| is_from(it, &sources) && it.version == version);
        let policy = gathered.pool.spec.ami.policy.unwrap_or_default();
        match (valid, policy, region) {
            (Some(valid), ImagePolicy::Pinned, region) => {
                if region.is_some() {
                    self.restore(gathered, &valid, state).await;
                }
                Image::recorded(valid)
            }
            (valid, _, Some(region)) => {
                let now = region.clock().remote(self.context.clock.now());
                let known = valid.as_ref().map(Ids::of);
                let found = all_found(&sources, known.as_ref(), types, &region.lookups, now).await;
                let now = self.context.kubernetes_clock.now();
                let found = found.map(|ids| status(&ids, &sources, version, now));
                self.decided(gathered, found, valid, record, state).await
            }
            (Some(valid), ImagePolicy::Latest, None) => Image::recorded(valid),
            (None, _, None) => {
                let because = format!("the image has not been looked up yet: {}", named(&sources));
                Image::missing(Blocked::new(Reason::ImageNotRecorded, because), record)
            }
        }
    }

    /// Whether this pass can look images up, which it does only in the account in which the pool was created.
    async fn reach(
        &self,
        key: &ObjectRef<FooMachinePool>,
        gathered: &Gathered,
        region: &Result<Option<Arc<CloudRegion>>, Blocked>,
        state: &mut PoolState,
    ) -> Reach {
        if gathered.paused_by.is_some() {
            return Reach::RecordOnly;
        }
        match self.aws(key, gathered, region, state) {
            Aws::Usable(region, identity) => {
                match account::mismatch(gathered, region, &identity.group).await {
                    None => Reach::Full,
                    Some(_) => Reach::RecordOnly,
                }
            }
            Aws::Unknown | Aws::Unusable(_) => Reach::RecordOnly,
        }
    }

    /// What follows from a lookup. `valid` is the record, if it is about the present source and version; `record` is
    /// the record, whatever it is about.
    async fn decided(
        &self,
        gathered: &mut Gathered,
        found: Result<ImageStatus, Blocked>,
        valid: Option<ImageStatus>,
        record: Option<ImageStatus>,
        state: &mut PoolState,
    ) -> Image {
        match (found, valid) {
            (Ok(found), Some(valid)) if Ids::of(&found) == Ids::of(&valid) => {
                self.restore(gathered, &valid, state).await;
                Image::recorded(valid)
            }
            (Ok(found), valid) => match self.record(gathered, Some(&found), state).await {
                Ok(()) => {
                    if !state.is_for_plan {
                        self.report_image(gathered, &found, record.as_ref()).await;
                    }
                    Image::recorded(found)
                }
                Err(because) => match valid {
                    Some(valid) => Image::recorded(valid).awaited(WRITE_AGAIN),
                    None => Image::missing(because, record).awaited(WRITE_AGAIN),
                },
            },
            (Err(because), Some(valid)) => {
                let message = format!(
                    "the pool keeps {}, and does not know of newer ones: {}",
                    Ids::of(&valid),
                    because.message
                );
                let warning = Some(Blocked::new(Reason::ImageLookupFailed, message));
                Image { warning, ..Image::recorded(valid) }
            }
            (Err(because), None) => Image::missing(because, record).awaited(TRY_AGAIN),
        }
    }

    /// Writes the annotation again if only the status has the record.
    async fn restore(&self, gathered: &mut Gathered, record: &ImageStatus, state: &mut PoolState) {
        let is_there = annotated(&gathered.pool).is_some() || state.unconfirmed.image.is_some();
        if !is_there {
            // If this fails the next pass repeats it; the status has the record.
            self.record(gathered, Some(record), state).await.ok();
        }
    }

    /// Writes the record, or removes it. The resourceVersion is a precondition: a manager with an old cache must not
    /// replace a record that it does not know.
    async fn record(
        &self,
        gathered: &mut Gathered,
        record: Option<&ImageStatus>,
        state: &mut PoolState,
    ) -> Result<(), Blocked> {
        if state.is_for_plan {
            state.unconfirmed.image = Some(WrittenImage(record.cloned()));
            return Ok(());
        }
        let pool = &gathered.pool;
        let text = record.map(|record| json!(record).to_string());
        let patch = json!({"metadata": {
            "uid": pool.uid(), "resourceVersion": pool.resource_version(), "annotations": {IMAGE_ANNOTATION: text}
        }});
        let params =
            PatchParams { field_manager: Some(managers::POOL_IMAGE.to_owned()), ..PatchParams::default() };
        let pools: Api<FooMachinePool> = Api::namespaced(self.context.client.clone(), &gathered.namespace());
        match pools.patch(&pool.name_any(), &params, &Patch::Merge(patch)).await {
            Ok(written) => {
                state.unconfirmed.image = Some(WrittenImage(record.cloned()));
                gathered.pool = Arc::new(written);
                Ok(())
            }
            Err(error) => {
                if !apply::is_conflict(&error) {
                    tracing::warn!(pool = pool.name_any(), %error, "could not record the image of a FooMachinePool");
                }
                let message =
                    "the image that was found cannot be recorded in an annotation of the FooMachinePool yet";
                Err(Blocked::new(Reason::ImageNotRecorded, message))
            }
        }
    }

    async fn report_image(&self, gathered: &Gathered, found: &ImageStatus, before: Option<&ImageStatus>) {
        let image = resolved(&found.id, &found.source, before.map(|before| before.id.as_str()));
        let arm64_before = before.and_then(|before| Some(before.arm64.as_ref()?.id.as_str()));
        let arm64 = found.arm64.as_ref().map(|it| resolved(&it.id, &it.source, arm64_before));
        let arm64 = arm64.map(|arm64| format!("; for arm64: {arm64}")).unwrap_or_default();
        let message = format!("{image}{arm64}");
        let object = gathered.pool.object_ref(&());
        self.context.events.publish(&object, EventReason::ImageResolved, &message).await;
    }
}

/// An image that was found, in a message: where its id is from, and the one before if that was another one.
fn resolved(id: &str, source: &str, before: Option<&str>) -> String {
    let image = format!("image {id}");
    // An id in the spec is from nowhere else.
    let from = if source == image { String::new() } else { format!(" from {source}") };
    let before = before.filter(|before| *before != id);
    let before = before.map(|before| format!("; before: {before}")).unwrap_or_default();
    format!("{image}{from}{before}")
}

/// Facts about an image that instances of these types can boot from.
pub(in crate::pool) async fn usable(
    id: &ImageId,
    types: &[InstanceTypeInfo],
    lookups: &Lookups,
    asking: Asking,
) -> Result<ImageInfo, Blocked> {
    let shown = lookup::shown(id.as_str());
    let image = lookups
        .image(id, asking)
        .await
        .map_err(|error| lookup::failed(Reason::ImageNotFound, &format!("image {shown}"), &error))?;
    if !image.available {
        return Err(Blocked::new(Reason::ImageNotAvailable, format!("image {shown} is not available")));
    }
    match types.iter().find(|kind| kind.architecture != image.architecture) {
        None => Ok(image),
        Some(other) => Err(Blocked::new(
            Reason::ArchitectureMismatch,
            format!(
                "image {shown} is built for {}, instance type {} runs {}",
                image.architecture, other.instance_type, other.architecture
            ),
        )),
    }
}

fn node_type(info: &InstanceTypeInfo) -> NodeType<'_> {
    NodeType {
        name: info.instance_type.as_str(),
        architecture: &info.architecture,
        nvidia_gpus: info.nvidia_gpus,
        neuron_devices: info.neuron_devices,
    }
}

/// The sources that a spec names for nodes of these types.
fn sources_of(ami: &Ami, version: Option<&str>, types: &[InstanceTypeInfo]) -> Result<Sources, Blocked> {
    let types: Vec<NodeType<'_>> = types.iter().map(node_type).collect();
    Sources::of(ami, Nodes { version, types: &types }).map_err(|NoSource { lacks, message }| {
        let reason = match lacks {
            Lacks::Image => Reason::ImageNotFound,
            Lacks::InstanceTypes => Reason::InstanceTypeNotFound,
            Lacks::Architecture => Reason::ArchitectureMismatch,
        };
        Blocked::new(reason, message)
    })
}

/// The sources in a message.
fn named(sources: &Sources) -> String {
    sources.all().map(Source::to_string).collect::<Vec<_>>().join("; ")
}

/// Whether a record is about these sources.
fn is_from(record: &ImageStatus, sources: &Sources) -> bool {
    let Sources { template, arm64 } = sources;
    record.source == template.to_string()
        && record.arm64.as_ref().map(|it| it.source.clone()) == arm64.as_ref().map(Source::to_string)
}

/// The types that boot the image of the launch template and, if anything names another one for arm64, those that boot that.
pub(in crate::pool) fn by_image<T>(
    types: &[InstanceTypeInfo],
    arm64: Option<&T>,
) -> (Vec<InstanceTypeInfo>, Vec<InstanceTypeInfo>) {
    types.iter().cloned().partition(|kind| arm64.is_none() || !is_arm64(&kind.architecture))
}

/// The images that the sources name now, if instances of these types can boot from them. `known` are those that the pool has.
async fn all_found(
    sources: &Sources,
    known: Option<&Ids>,
    types: &[InstanceTypeInfo],
    lookups: &Lookups,
    now: AwsTime,
) -> Result<Ids, Blocked> {
    let (plain, of_arm64) = by_image(types, sources.arm64.as_ref());
    let known_template = known.map(|known| &known.template);
    let template = found(&sources.template, known_template, &plain, lookups, now).await?;
    let arm64 = match &sources.arm64 {
        None => None,
        Some(source) => {
            let known = known.and_then(|known| known.arm64.as_ref());
            Some(found(source, known, &of_arm64, lookups, now).await?)
        }
    };
    Ok(Ids { template, arm64 })
}

/// The image that a source names now, if instances of these types can boot from it. `known` is the one that the pool
/// has. Always asked as a new question, whose response is at most ten minutes old and never one from before a failure:
/// the record outlives failures.
async fn found(
    source: &Source,
    known: Option<&ImageId>,
    types: &[InstanceTypeInfo],
    lookups: &Lookups,
    now: AwsTime,
) -> Result<ImageId, Blocked> {
    let missing = |what: &str| Blocked::new(Reason::ImageNotFound, format!("{source}: {what}"));
    let failed = |error| lookup::failed(Reason::ImageNotFound, &source.to_string(), &error);
    let id = match source {
        Source::Spec(id) => return Ok(ImageId::new(id)),
        Source::Parameter(name) => {
            let value = lookups.parameter(name, Asking::New).await.map_err(failed)?;
            let value = value.ok_or_else(|| missing("there is no such parameter"))?;
            // The message does not contain the value: users choose the parameter, and may not be allowed to read it.
            let id = image_id(&value).ok_or_else(|| missing("its value is not the id of an image"))?;
            ImageId::new(id)
        }
        Source::Newest { owner, name, architecture } => {
            let [owner, name, architecture] = [owner, name, architecture].map(String::clone);
            let query = ImageQuery { owner, name, architecture };
            let newest = lookups.newest_image(&query, now, Asking::New).await.map_err(failed)?;
            newest.ok_or_else(|| missing("there is none"))?.id
        }
    };
    let asking = if known == Some(&id) { Asking::Again } else { Asking::New };
    let image = usable(&id, types, lookups, asking).await;
    image.map(|image| image.id).map_err(|why| Blocked::new(why.reason, format!("{source}: {}", why.message)))
}

fn status(ids: &Ids, sources: &Sources, version: Option<String>, now: KubernetesTime) -> ImageStatus {
    // Kubernetes writes whole seconds.
    let seconds = KubernetesTime::from_millis(now.millis().div_euclid(1_000).saturating_mul(1_000));
    let arm64 = ids.arm64.as_ref().zip(sources.arm64.as_ref());
    ImageStatus {
        id: ids.template.as_str().to_owned(),
        source: sources.template.to_string(),
        version,
        resolved_at: Time(to_kube(seconds)),
        arm64: arm64
            .map(|(id, source)| Arm64ImageStatus { id: id.as_str().to_owned(), source: source.to_string() }),
    }
}

/// Kubernetes version of the MachinePool.
fn version(gathered: &Gathered) -> Option<String> {
    gathered.machine_pool.as_ref().and_then(|pool| pool.spec.template.spec.version.clone())
}

/// The record that the pool shows.
fn recorded(pool: &FooMachinePool) -> Option<ImageStatus> {
    annotated(pool).or_else(|| pool.status.as_ref()?.image.clone())
}

/// The record in the annotation; none if it cannot be read.
fn annotated(pool: &FooMachinePool) -> Option<ImageStatus> {
    serde_json::from_str(pool.annotations().get(IMAGE_ANNOTATION)?).ok()
}
