//! What a group launches: as requests have it, its validation, and the launch data that results.

use super::choose::{LOWEST_PRICE, ON_DEMAND_STRATEGIES, SPOT_STRATEGIES};
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::{TemplateKey, Version};
use crate::core::ec2::{options, volumes};
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{LaunchSource, MixedPolicy, Override, TemplateRef};
use crate::core::group::requirements::Requirements;
use crate::core::region::Region;
use crate::core::settings::{MetadataTags, TemplateCheck};
use foo_model::{GroupName, ImageId, InstanceType};
use std::sync::Arc;

/// A reference to a launch template in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateSpec {
    /// The template.
    pub key: TemplateKey,
    /// A number, `$Latest` or `$Default`; absent means `$Default`.
    pub version: Option<String>,
}

/// What a group is to launch, as in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSpec {
    /// One launch template.
    Template(TemplateSpec),
    /// A mixed instances policy; in an update absent parts stay as they are.
    Mixed {
        /// The template.
        template: Option<TemplateSpec>,
        /// The overrides.
        overrides: Option<Vec<OverrideSpec>>,
        /// InstancesDistribution as in the request.
        distribution: Option<Document>,
    },
}

/// One override, as in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverrideSpec {
    /// Its own template.
    pub template: Option<TemplateSpec>,
    /// The complete override.
    pub document: Document,
}

/// Most sets of attributes of a group (API Reference, LaunchTemplateOverrides).
const MOST_SETS: usize = 4;

const UNUSABLE: &str = "You must use a valid fully-formed launch template.";

impl Region {
    /// Finds the templates that a source refers to, and validates what can be validated before a launch.
    pub(crate) fn resolve_source(
        &self,
        spec: SourceSpec,
        current: Option<&LaunchSource>,
    ) -> AwsResult<LaunchSource> {
        match spec {
            SourceSpec::Template(template) => {
                let template = self.resolve_template(&template)?;
                self.check_when_referred(&template, &[])?;
                Ok(LaunchSource::Template(template))
            }
            SourceSpec::Mixed { template, overrides, distribution } => {
                let current = match current {
                    Some(LaunchSource::Mixed(policy)) => Some(policy),
                    _ => None,
                };
                let template = match (&template, current) {
                    (Some(template), _) => self.resolve_template(template)?,
                    (None, Some(policy)) => policy.template.clone(),
                    (None, None) => {
                        return Err(AwsError::validation(
                            "Valid requests must contain LaunchTemplateSpecification within the LaunchTemplate of \
                             MixedInstancesPolicy",
                        ));
                    }
                };
                let overrides = match (overrides, current) {
                    (Some(specs), _) => {
                        specs.into_iter().map(|spec| self.resolve_override(spec)).collect::<AwsResult<_>>()?
                    }
                    (None, Some(policy)) => policy.overrides.clone(),
                    (None, None) => Vec::new(),
                };
                // Values that an update does not contain stay.
                let mut given = current.map_or_else(Document::map, |policy| policy.distribution.clone());
                if let Some(Document::Map(entries)) = distribution {
                    for (name, value) in entries {
                        given.set(&name, value);
                    }
                }
                self.check_when_referred(&template, &overrides)?;
                self.refuse_block(&template)?;
                mixed_policy(template, overrides, given).map(LaunchSource::Mixed)
            }
        }
    }

    /// Auto Scaling User Guide, "Use Capacity Blocks for machine learning workloads": limitations.
    fn refuse_block(&self, template: &TemplateRef) -> AwsResult<()> {
        if self.template_version(template).is_ok_and(|version| version.data.is_block()) {
            return Err(AwsError::validation(
                "Capacity Blocks are not supported for Auto Scaling groups with a mixed instances policy.",
            ));
        }
        Ok(())
    }

    fn resolve_template(&self, spec: &TemplateSpec) -> AwsResult<TemplateRef> {
        let template = self.templates.find(&spec.key).map_err(unusable)?;
        // Auto Scaling's reads of templates are eventually consistent, too: it does not find what is not visible yet.
        let template = self.template_as_read(template);
        let version = spec.version.clone().unwrap_or_else(|| "$Default".to_owned());
        template.version(&version).map_err(unusable)?;
        Ok(TemplateRef { id: template.id.clone(), name: template.name.clone(), version })
    }

    fn resolve_override(&self, spec: OverrideSpec) -> AwsResult<Override> {
        Ok(Override {
            instance_type: spec.document.get_text(&["InstanceType"]).map(InstanceType::from),
            weight: weight_of(&spec.document)?,
            template: spec.template.as_ref().map(|template| self.resolve_template(template)).transpose()?,
            document: spec.document,
        })
    }

    fn check_when_referred(&self, template: &TemplateRef, overrides: &[Override]) -> AwsResult<()> {
        if self.settings.template_check == TemplateCheck::AtLaunch {
            return Ok(());
        }
        let version = self.template_version(template).map_err(unusable)?;
        if overrides.is_empty() {
            let data = &version.data;
            return self
                .check_data(data, data.image().as_ref(), data.instance_type().as_ref())
                .map_err(unusable);
        }
        // Overrides by requirements are stored without a check.
        for choice in overrides.iter().filter(|choice| choice.instance_type.is_some()) {
            let version = self.version_of(choice, &version).map_err(unusable)?;
            let image = choice.image().or_else(|| version.data.image());
            self.check_data(&version.data, image.as_ref(), choice.instance_type.as_ref())
                .map_err(unusable)?;
        }
        Ok(())
    }

    /// The version that a reference means at this moment.
    pub(crate) fn template_version(&self, template: &TemplateRef) -> AwsResult<Arc<Version>> {
        let found = self.templates.find(&TemplateKey::Id(template.id.clone()))?;
        found.version(&template.version).cloned()
    }

    /// The version that an override launches: that of its own template, or else this one.
    pub(crate) fn version_of(&self, choice: &Override, base: &Arc<Version>) -> AwsResult<Arc<Version>> {
        choice.template.as_ref().map_or_else(|| Ok(Arc::clone(base)), |own| self.template_version(own))
    }

    /// Refuses tags that instance metadata cannot contain, if the template, or else the account's default, puts tags
    /// there (EC2 API Reference, ModifyInstanceMetadataDefaults).
    pub(crate) fn check_metadata_tags(&self, name: &GroupName, data: &LaunchData) -> AwsResult<()> {
        let shown = match data.document.get_text(&["metadataOptions", "instanceMetadataTags"]) {
            Some(text) => text == "enabled",
            None => self.settings.instance_metadata_tags == MetadataTags::Enabled,
        };
        let tags = self.groups.get(name).map(|group| group.tags_of_instances(data)).unwrap_or_default();
        match tags.keys().find(|key| shown && !fits_in_metadata(key)) {
            None => Ok(()),
            Some(key) => Err(AwsError::invalid_value(format!(
                "'{key}' is not a valid tag key. Tag keys must match pattern ([0-9a-zA-Z\\-_+=,.@:]{{1,255}}), and must not be \
                 a reserved name ('.', '..', '_index')"
            ))),
        }
    }

    /// What EC2 checks in RunInstances: the image, the type and the security groups must exist and be compatible.
    pub(crate) fn check_data(
        &self,
        data: &LaunchData,
        image: Option<&ImageId>,
        instance_type: Option<&InstanceType>,
    ) -> AwsResult<()> {
        let image = image.ok_or_else(|| AwsError::missing("ImageId"))?;
        let image = self.images.get(image).filter(|image| image.available).ok_or_else(|| {
            AwsError::new("InvalidAMIID.NotFound", format!("The image id '[{image}]' does not exist"))
        })?;
        let instance_type = instance_type.ok_or_else(|| AwsError::missing("InstanceType"))?;
        let info = self.types.get(instance_type).ok_or_else(|| {
            AwsError::invalid_value(format!("Invalid value '{instance_type}' for InstanceType."))
        })?;
        if info.architecture != image.architecture {
            return Err(AwsError::invalid_value(format!(
                "The architecture '{}' of the specified instance type does not match the architecture '{}' of the \
                 specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.",
                info.architecture, image.architecture
            )));
        }
        if let Some(problem) = options::problem(data, info) {
            return Err(problem);
        }
        self.check_capacity(data)?;
        if let Some(problem) = volumes::problems(data, Some(&image.root_device)).into_iter().next() {
            return Err(problem);
        }
        for group in data.all_security_groups() {
            if self.network.security_groups.get(&group).is_none() {
                return Err(AwsError::new(
                    "InvalidGroup.NotFound",
                    format!("The security group '{group}' does not exist"),
                ));
            }
        }
        Ok(())
    }
}

/// Whether instance metadata can contain a tag with this key (EC2 User Guide, "View tags for your EC2 instances using
/// instance metadata").
fn fits_in_metadata(key: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_+=,.@:".contains(c);
    (1..=255).contains(&key.len()) && key.chars().all(allowed) && ![".", "..", "_index"].contains(&key)
}

/// Auto Scaling returns EC2's errors about a template in its own `ValidationError`.
#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn unusable(error: AwsError) -> AwsError {
    AwsError::validation(format!("{UNUSABLE} {}", error.message))
}

fn mixed_policy(template: TemplateRef, overrides: Vec<Override>, given: Document) -> AwsResult<MixedPolicy> {
    // Defaults that AWS adds (Auto Scaling API Reference, InstancesDistribution).
    let sets = overrides.iter().filter_map(|it| it.document.get(&["InstanceRequirements"]));
    let sets: Vec<&Document> = sets.collect();
    let on_demand = if sets.is_empty() { ON_DEMAND_STRATEGIES[0] } else { LOWEST_PRICE };
    let mut distribution = Document::map();
    for (name, value) in [
        ("OnDemandAllocationStrategy", on_demand),
        ("OnDemandBaseCapacity", "0"),
        ("OnDemandPercentageAboveBaseCapacity", "100"),
        ("SpotAllocationStrategy", "lowest-price"),
    ] {
        distribution.set(name, Document::text(value));
    }
    if let Document::Map(mut entries) = given {
        // An empty price removes an earlier one (Auto Scaling API Reference, InstancesDistribution).
        entries.retain(|name, value| name != "SpotMaxPrice" || value.get_text(&[]) != Some(""));
        for (name, value) in entries {
            distribution.set(&name, value);
        }
    }
    let number = |name: &str, limit: u32| {
        let text = distribution.get_text(&[name]).unwrap_or("0");
        text.parse::<u32>()
            .ok()
            .filter(|number| *number <= limit)
            .ok_or_else(|| AwsError::validation(format!("Invalid value {text} for {name}.")))
    };
    check_distribution(&distribution)?;
    let weighted = overrides.iter().filter(|it| it.document.get(&["WeightedCapacity"]).is_some()).count();
    if weighted != 0 && weighted != overrides.len() {
        return Err(AwsError::validation("Either all overrides have a WeightedCapacity, or none has."));
    }
    check_sets(&sets, &overrides, &distribution)?;
    let on_demand_base = number("OnDemandBaseCapacity", u32::MAX)?;
    let on_demand_percentage = number("OnDemandPercentageAboveBaseCapacity", 100)?;
    Ok(MixedPolicy { template, overrides, on_demand_base, on_demand_percentage, distribution })
}

/// Sets of attributes (API Reference, LaunchTemplateOverrides, InstancesDistribution).
fn check_sets(sets: &[&Document], overrides: &[Override], distribution: &Document) -> AwsResult<()> {
    if sets.len() > MOST_SETS {
        return Err(AwsError::validation(format!(
            "The number of InstanceRequirements must not exceed {MOST_SETS}."
        )));
    }
    if overrides
        .iter()
        .any(|it| it.instance_type.is_some() && it.document.get(&["InstanceRequirements"]).is_some())
    {
        return Err(AwsError::validation(
            "An override can have either InstanceType or InstanceRequirements, not both.",
        ));
    }
    for requirements in sets {
        Requirements::read(requirements)?;
    }
    let without_order = [
        ("OnDemandAllocationStrategy", ON_DEMAND_STRATEGIES[0]),
        ("SpotAllocationStrategy", "capacity-optimized-prioritized"),
    ];
    for (name, strategy) in without_order {
        if !sets.is_empty() && distribution.get_text(&[name]) == Some(strategy) {
            return Err(AwsError::validation(format!(
                "{name} {strategy} is not supported with InstanceRequirements."
            )));
        }
    }
    Ok(())
}

/// WeightedCapacity: 1-999 (API Reference, LaunchTemplateOverrides).
fn weight_of(choice: &Document) -> AwsResult<u32> {
    let Some(text) = choice.get_text(&["WeightedCapacity"]) else { return Ok(1) };
    text.parse::<u32>()
        .ok()
        .filter(|weight| (1..=999).contains(weight))
        .ok_or_else(|| AwsError::validation(format!("Invalid value {text} for WeightedCapacity.")))
}

/// Validates an InstancesDistribution (API Reference).
fn check_distribution(distribution: &Document) -> AwsResult<()> {
    const KNOWN: [&str; 6] = [
        "OnDemandAllocationStrategy",
        "OnDemandBaseCapacity",
        "OnDemandPercentageAboveBaseCapacity",
        "SpotAllocationStrategy",
        "SpotInstancePools",
        "SpotMaxPrice",
    ];
    if let Document::Map(entries) = distribution
        && let Some(unknown) = entries.keys().find(|name| !KNOWN.contains(&name.as_str()))
    {
        return Err(AwsError::validation(format!("InstancesDistribution.{unknown} is not simulated.")));
    }
    let strategies: [(&str, &[&str]); 2] =
        [("OnDemandAllocationStrategy", &ON_DEMAND_STRATEGIES), ("SpotAllocationStrategy", &SPOT_STRATEGIES)];
    for (name, allowed) in strategies {
        let text = distribution.get_text(&[name]).unwrap_or_default();
        if !allowed.contains(&text) {
            return Err(AwsError::validation(format!("{name} {text} is not supported.")));
        }
    }
    if let Some(pools) = distribution.get_text(&["SpotInstancePools"]) {
        let fits = pools.parse::<u32>().is_ok_and(|pools| (1..=20).contains(&pools));
        let lowest = distribution.get_text(&["SpotAllocationStrategy"]) == Some(SPOT_STRATEGIES[0]);
        if !fits || !lowest {
            return Err(AwsError::validation(
                "SpotInstancePools is between 1 and 20, and only goes with the lowest-price strategy.",
            ));
        }
    }
    Ok(())
}
