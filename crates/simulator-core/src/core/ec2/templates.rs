//! Launch templates and their versions (EC2 User Guide, "Store instance launch parameters in launch templates").

use super::launch_data::LaunchData;
use crate::core::chance::Chance;
use crate::core::error::{AwsError, AwsResult};
use crate::core::versioned::Versioned;
use foo_model::{LaunchTemplateId, TemplateVersion, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

/// Most versions of a template (EC2 User Guide, "Launch template restrictions").
pub const VERSION_LIMIT: usize = 10_000;
/// Most versions of one DeleteLaunchTemplateVersions.
pub const DELETE_LIMIT: usize = 200;

/// A launch template.
#[derive(Clone, Debug, Serialize)]
pub struct Template {
    /// Its id.
    pub id: LaunchTemplateId,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created: Timestamp,
    /// ARN of its creator.
    pub created_by: String,
    /// Its own tags.
    pub tags: BTreeMap<String, String>,
    /// The default version.
    pub default: TemplateVersion,
    /// The number of the next version; numbers are never reused.
    next: i64,
    /// Its versions.
    pub versions: BTreeMap<TemplateVersion, Arc<Version>>,
}

/// One version of a launch template.
#[derive(Clone, Debug, Serialize)]
pub struct Version {
    /// Its number.
    pub number: TemplateVersion,
    /// Its description.
    pub description: Option<String>,
    /// When it was created.
    pub created: Timestamp,
    /// ARN of its creator.
    pub created_by: String,
    /// Its launch template data.
    pub data: LaunchData,
}

/// A reference to a template in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateKey {
    /// By id.
    Id(LaunchTemplateId),
    /// By name.
    Name(String),
}

/// Result of the deletion of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionDeletion {
    /// The version, as in the request.
    pub version: String,
    /// Code and message if it was not deleted.
    pub failure: Option<(&'static str, String)>,
}

/// Parameters of CreateLaunchTemplate.
#[derive(Clone, Debug)]
pub struct NewTemplate {
    /// Its name.
    pub name: String,
    /// The first version.
    pub data: LaunchData,
    /// Description of the first version.
    pub description: Option<String>,
    /// Tags of the template itself.
    pub tags: BTreeMap<String, String>,
    /// Client token.
    pub token: Option<String>,
    /// ARN of the caller.
    pub caller: String,
}

/// Parameters of CreateLaunchTemplateVersion.
#[derive(Clone, Debug)]
pub struct NewVersion {
    /// The template.
    pub template: TemplateKey,
    /// Its launch template data.
    pub data: LaunchData,
    /// The source version, whose data it extends (a number, `$Latest` or `$Default`).
    pub source: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Client token.
    pub token: Option<String>,
    /// ARN of the caller.
    pub caller: String,
}

/// All launch templates of a region.
#[derive(Clone, Debug)]
pub struct Templates {
    pub(crate) by_id: Versioned<LaunchTemplateId, Template>,
    by_name: BTreeMap<String, LaunchTemplateId>,
    /// Client tokens, each with the fingerprint of its request and what that created.
    tokens: BTreeMap<String, (u64, LaunchTemplateId, TemplateVersion)>,
}

impl Template {
    /// The highest version, which `$Latest` means.
    pub fn latest(&self) -> TemplateVersion {
        self.versions.last_key_value().map_or(self.default, |(number, _)| *number)
    }

    /// The version that a text (a number, `$Latest`, `$Default`) means at this moment.
    pub fn version(&self, text: &str) -> AwsResult<&Arc<Version>> {
        let number = match text {
            "$Latest" => Some(self.latest()),
            "$Default" | "" => Some(self.default),
            number => number.parse().ok().map(TemplateVersion),
        };
        let malformed = || {
            AwsError::invalid_value(format!("Value ({text}) for parameter LaunchTemplateVersion is invalid."))
        };
        self.versions.get(&number.ok_or_else(malformed)?).ok_or_else(|| {
            AwsError::new(
                "InvalidLaunchTemplateId.VersionNotFound",
                format!(
                    "Could not find the specified version {text} for the launch template with ID {}.",
                    self.id
                ),
            )
        })
    }
}

impl Templates {
    pub(crate) fn new(lag: Duration) -> Self {
        Self { by_id: Versioned::new(lag), by_name: BTreeMap::new(), tokens: BTreeMap::new() }
    }

    /// Finds a template, as it is now.
    pub fn find(&self, key: &TemplateKey) -> AwsResult<&Template> {
        let id = match key {
            TemplateKey::Id(id) => Some(id),
            TemplateKey::Name(name) => self.by_name.get(name),
        };
        id.and_then(|id| self.by_id.get(id)).ok_or_else(|| unknown(key))
    }

    /// Finds a template, as a reader sees it.
    pub fn seen(&self, key: &TemplateKey) -> AwsResult<&Template> {
        match key {
            TemplateKey::Id(id) => self.by_id.seen(id),
            TemplateKey::Name(name) => match self.by_name.get(name) {
                Some(id) => self.by_id.seen(id),
                None => self.by_id.seen_after(None).map(|(_, template)| template).find(|it| &it.name == name),
            },
        }
        .ok_or_else(|| unknown(key))
    }

    /// CreateLaunchTemplate. A request with the token of an earlier identical one returns the same template.
    pub(crate) fn create(
        &mut self,
        now: Timestamp,
        chance: &mut Chance,
        new: NewTemplate,
    ) -> AwsResult<&Template> {
        check_name(&new.name)?;
        let request = fingerprint(&format!("template {} {:?}", new.name, new.data));
        if let Some((id, _)) = self.repeated(new.token.as_deref(), request)? {
            return self.find(&TemplateKey::Id(id));
        }
        if self.by_name.contains_key(&new.name) {
            return Err(AwsError::new(
                "InvalidLaunchTemplateName.AlreadyExistsException",
                "Launch template name already in use.",
            ));
        }
        let id = LaunchTemplateId::new(chance.id("lt"));
        let number = TemplateVersion(1);
        let version = Version {
            number,
            description: new.description,
            created: now,
            created_by: new.caller.clone(),
            data: new.data,
        };
        let template = Template {
            id: id.clone(),
            name: new.name.clone(),
            created: now,
            created_by: new.caller,
            tags: new.tags,
            default: number,
            next: 2,
            versions: BTreeMap::from([(number, Arc::new(version))]),
        };
        self.by_name.insert(new.name, id.clone());
        self.by_id.insert(id.clone(), template);
        self.remember(new.token, request, &id, number);
        self.find(&TemplateKey::Id(id))
    }

    /// CreateLaunchTemplateVersion.
    pub fn create_version(
        &mut self,
        now: Timestamp,
        new: NewVersion,
    ) -> AwsResult<(&Template, Arc<Version>)> {
        let template = self.find(&new.template)?;
        let (id, limit_reached) = (template.id.clone(), template.versions.len() >= VERSION_LIMIT);
        let request = fingerprint(&format!("version {id} {:?} {:?}", new.source, new.data));
        if let Some((id, number)) = self.repeated(new.token.as_deref(), request)? {
            let template = self.find(&TemplateKey::Id(id))?;
            let version = Arc::clone(template.version(&number.to_string())?);
            return Ok((template, version));
        }
        let data = match &new.source {
            Some(source) => new.data.over(&template.version(source)?.data),
            None => new.data,
        };
        if limit_reached {
            return Err(AwsError::new(
                "VersionLimitExceeded",
                format!("You have reached the limit of {VERSION_LIMIT} versions for launch template {id}."),
            ));
        }
        let template = self.by_id.get_mut(&id).ok_or_else(|| unknown(&new.template))?;
        let number = TemplateVersion(template.next);
        template.next += 1;
        let version = Arc::new(Version {
            number,
            description: new.description,
            created: now,
            created_by: new.caller,
            data,
        });
        template.versions.insert(number, Arc::clone(&version));
        self.remember(new.token, request, &id, number);
        Ok((self.find(&TemplateKey::Id(id))?, version))
    }

    /// ModifyLaunchTemplate: sets the default version.
    pub fn set_default(&mut self, key: &TemplateKey, version: &str) -> AwsResult<&Template> {
        let template = self.find(key)?;
        let (id, number) = (template.id.clone(), template.version(version)?.number);
        if let Some(template) = self.by_id.get_mut(&id) {
            template.default = number;
        }
        self.find(key)
    }

    /// DeleteLaunchTemplateVersions. Each version succeeds or fails on its own.
    pub fn delete_versions(
        &mut self,
        key: &TemplateKey,
        versions: &[String],
    ) -> AwsResult<(LaunchTemplateId, String, Vec<VersionDeletion>)> {
        if versions.is_empty() {
            return Err(AwsError::missing("LaunchTemplateVersion"));
        }
        if versions.len() > DELETE_LIMIT {
            return Err(AwsError::invalid_value(format!(
                "You can specify a maximum of {DELETE_LIMIT} launch template versions."
            )));
        }
        let id = self.find(key)?.id.clone();
        let template = self.by_id.get_mut(&id).ok_or_else(|| unknown(key))?;
        let mut results = Vec::new();
        for text in versions {
            let failure = match template.version(text).map(|version| version.number) {
                // The only code of the enumeration that applies (API Reference, ResponseError).
                Ok(number) if number == template.default => Some((
                    "unexpectedError",
                    format!("Version {number} is the default version and cannot be deleted."),
                )),
                Ok(number) => {
                    template.versions.remove(&number);
                    None
                }
                Err(error) => Some(("launchTemplateVersionDoesNotExist", error.message)),
            };
            results.push(VersionDeletion { version: text.clone(), failure });
        }
        Ok((id, template.name.clone(), results))
    }

    /// DeleteLaunchTemplate. Groups that use it cannot launch any more.
    pub fn delete(&mut self, key: &TemplateKey) -> AwsResult<Arc<Template>> {
        let id = self.find(key)?.id.clone();
        let template = self.by_id.remove(&id).ok_or_else(|| unknown(key))?;
        self.by_name.remove(&template.name);
        Ok(template)
    }

    fn repeated(
        &self,
        token: Option<&str>,
        request: u64,
    ) -> AwsResult<Option<(LaunchTemplateId, TemplateVersion)>> {
        match token.and_then(|token| self.tokens.get(token)) {
            None => Ok(None),
            Some((earlier, id, version)) if *earlier == request => Ok(Some((id.clone(), *version))),
            Some(_) => Err(AwsError::new(
                "IdempotentParameterMismatch",
                "The client token you have provided is associated with a resource that has different parameters.",
            )),
        }
    }

    fn remember(
        &mut self,
        token: Option<String>,
        request: u64,
        id: &LaunchTemplateId,
        version: TemplateVersion,
    ) {
        if let Some(token) = token {
            self.tokens.insert(token, (request, id.clone(), version));
        }
    }
}

/// A hash that identifies a request without storing it: each contains up to 16 KiB of user data.
fn fingerprint(request: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.hash(&mut hasher);
    hasher.finish()
}

/// EC2's response for a template that does not exist.
fn unknown(key: &TemplateKey) -> AwsError {
    match key {
        TemplateKey::Id(id) if !id.as_str().starts_with("lt-") => AwsError::new(
            "InvalidLaunchTemplateId.Malformed",
            format!("The specified launch template ID, {id}, is not valid."),
        ),
        TemplateKey::Id(id) => AwsError::new(
            "InvalidLaunchTemplateId.NotFound",
            format!("The specified launch template, with template ID {id}, does not exist."),
        ),
        TemplateKey::Name(name) => AwsError::new(
            "InvalidLaunchTemplateName.NotFoundException",
            format!("The specified launch template, with template name {name}, does not exist."),
        ),
    }
}

/// 3–128 letters, digits and `( ) . / _ -` (EC2 API Reference, CreateLaunchTemplate).
fn check_name(name: &str) -> AwsResult<()> {
    let fits = (3..=128).contains(&name.chars().count())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "().-/_".contains(c));
    if fits {
        return Ok(());
    }
    Err(AwsError::new(
        "InvalidLaunchTemplateName.MalformedException",
        "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the \
         following characters: - ( ) . / _",
    ))
}
