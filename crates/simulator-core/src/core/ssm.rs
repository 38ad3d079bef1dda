//! Parameter Store: parameters with versions, and the public ones that name images (Systems Manager User Guide, "Discovering
//! public parameters"; EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs"; Bottlerocket documentation).

use super::catalogue::{IMAGE_ARM64, IMAGE_ARM64_NEWER, IMAGE_X86_64, IMAGE_X86_64_NEWER};
use super::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Versions of Kubernetes for which images are published. All before 1.34 have the older image.
const KUBERNETES: [&str; 8] = ["1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36"];
/// Versions of a parameter that are kept (Systems Manager User Guide, "Working with parameter versions").
const VERSIONS_KEPT: usize = 100;
/// Largest value of a standard parameter, in bytes.
const VALUE_LIMIT: usize = 4_096;
/// Prefix of public parameters; only AWS writes there.
const PUBLIC: &str = "/aws/";

/// Type of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, strum::IntoStaticStr, strum::EnumString)]
#[expect(missing_docs, reason = "the names are AWS's own (API Reference, Parameter)")]
pub enum ParameterType {
    #[default]
    String,
    StringList,
    /// A secret; the simulator does not encrypt it.
    SecureString,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ParameterType,
    /// The number of its latest version.
    pub latest: u64,
    /// Values by version.
    pub values: BTreeMap<u64, (String, Timestamp)>,
}

/// One version of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParameterVersion<'a> {
    /// The parameter.
    pub parameter: &'a Parameter,
    /// Its number.
    pub number: u64,
    /// Its value.
    pub value: &'a str,
    /// When it was written.
    pub written: Timestamp,
}

/// Parameters by name.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    by_name: BTreeMap<String, Parameter>,
}

impl Parameters {
    /// The parameters of a new region: images by Kubernetes version.
    pub(crate) fn public(region: &str, now: Timestamp) -> Self {
        let mut all = Self::default();
        for version in KUBERNETES {
            let (release, [x86_64, arm64]) = if version < "1.34" {
                ("20260105", [IMAGE_X86_64, IMAGE_ARM64])
            } else {
                ("20260202", [IMAGE_X86_64_NEWER, IMAGE_ARM64_NEWER])
            };
            let release = format!("{version}.0-{release}");
            for (architecture, image) in [("x86_64", x86_64), ("arm64", arm64)] {
                let linux = format!(
                    "/aws/service/eks/optimized-ami/{version}/amazon-linux-2023/{architecture}/standard/recommended"
                );
                let name = format!("foo-node-v{version}.0-{architecture}");
                let summary = json!({
                    "schema_version": "2.0", "image_id": image, "image_name": name, "release_version": release,
                });
                let bottlerocket =
                    format!("/aws/service/bottlerocket/aws-k8s-{version}/{architecture}/latest");
                let other_name = if architecture == "arm64" { "arm64" } else { "amd64" };
                let ubuntu = format!(
                    "/aws/service/canonical/ubuntu/eks/22.04/{version}/stable/current/{other_name}/hvm/ebs-gp2/ami-id"
                );
                for (path, value) in [
                    (linux.clone(), summary.to_string()),
                    (format!("{linux}/image_id"), image.to_owned()),
                    (format!("{linux}/image_name"), name),
                    (format!("{linux}/release_version"), release.clone()),
                    (format!("{bottlerocket}/image_id"), image.to_owned()),
                    (format!("{bottlerocket}/image_version"), release.clone()),
                    (ubuntu, image.to_owned()),
                ] {
                    all.write(&path, ParameterType::String, value, now);
                }
            }
        }
        for (architecture, image) in [("x86_64", IMAGE_X86_64_NEWER), ("arm64", IMAGE_ARM64_NEWER)] {
            let path =
                format!("/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{architecture}");
            all.write(&path, ParameterType::String, image.to_owned(), now);
        }
        all.write(
            "/aws/service/global-infrastructure/current-region",
            ParameterType::String,
            region.to_owned(),
            now,
        );
        all
    }

    fn write(&mut self, name: &str, kind: ParameterType, value: String, now: Timestamp) -> u64 {
        let parameter = self.by_name.entry(name.to_owned()).or_insert_with(|| Parameter {
            name: name.to_owned(),
            kind,
            latest: 0,
            values: BTreeMap::new(),
        });
        parameter.kind = kind;
        parameter.latest += 1;
        parameter.values.insert(parameter.latest, (value, now));
        if parameter.values.len() > VERSIONS_KEPT {
            parameter.values.pop_first();
        }
        parameter.latest
    }
}

impl Parameter {
    /// Whether it is one of AWS's own.
    pub fn is_public(&self) -> bool {
        self.name.starts_with(PUBLIC)
    }

    fn version(&self, number: u64) -> Option<ParameterVersion<'_>> {
        let (value, written) = self.values.get(&number)?;
        Some(ParameterVersion { parameter: self, number, value, written: *written })
    }
}

impl Parameters {
    /// A parameter by its name or ARN, followed by `:n` for a version.
    ///
    /// # Errors
    /// `ParameterNotFound`, `ParameterVersionNotFound`.
    pub fn find(&self, name: &str) -> AwsResult<ParameterVersion<'_>> {
        let not_found = || AwsError::new("ParameterNotFound", "");
        let (name, selector) = Self::name_of(name);
        // An ARN does not show whether the name of the parameter begins with a slash.
        let found = self.by_name.get(name);
        let found = found.or_else(|| self.by_name.get(name.strip_prefix('/')?));
        let parameter = found.ok_or_else(not_found)?;
        let number = if selector.is_empty() { Some(parameter.latest) } else { selector.parse().ok() };
        number.and_then(|number| parameter.version(number)).ok_or_else(|| {
            AwsError::new(
                "ParameterVersionNotFound",
                format!(
                    "Systems Manager could not find version {selector} of {name}. Verify the version and try again."
                ),
            )
        })
    }

    /// The name and the selector of a parameter that is given by its name or ARN.
    pub fn name_of(given: &str) -> (&str, &str) {
        let name = match given.split_once(":parameter") {
            Some((arn, name)) if arn.starts_with("arn:aws:ssm:") => name,
            _ => given,
        };
        name.split_once(':').unwrap_or((name, ""))
    }

    /// Parameters below a path, after a name.
    pub fn below<'a>(
        &'a self,
        path: &'a str,
        recursive: bool,
        after: Option<&'a str>,
    ) -> impl Iterator<Item = ParameterVersion<'a>> {
        let prefix = if path.ends_with('/') { path.to_owned() } else { format!("{path}/") };
        self.by_name
            .values()
            .filter(move |parameter| {
                let below = parameter.name.strip_prefix(&prefix);
                below.is_some_and(|rest| recursive || !rest.contains('/'))
            })
            .filter(move |parameter| after.is_none_or(|after| parameter.name.as_str() > after))
            .filter_map(|parameter| parameter.version(parameter.latest))
    }

    /// PutParameter. Returns the number of the version.
    ///
    /// # Errors
    /// `ParameterAlreadyExists`, `AccessDeniedException` for AWS's own names, `ValidationException`.
    pub fn put(
        &mut self,
        name: &str,
        kind: ParameterType,
        value: String,
        overwrite: bool,
        now: Timestamp,
    ) -> AwsResult<u64> {
        if name.starts_with(PUBLIC) {
            return Err(AwsError::new(
                "AccessDeniedException",
                format!("No access to reserved parameter name: {name}."),
            ));
        }
        if self.by_name.contains_key(name) && !overwrite {
            return Err(AwsError::new(
                "ParameterAlreadyExists",
                "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.",
            ));
        }
        let levels = name.matches('/').count();
        let fits = (1..=1_011).contains(&name.len())
            && levels <= 15
            && (levels == 0 || name.starts_with('/'))
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-/".contains(c));
        if !fits || value.is_empty() || value.len() > VALUE_LIMIT {
            return Err(AwsError::new(
                "ValidationException",
                "Parameter names have letters, digits and the symbols . - _ /, at most 15 levels, and begin with / if they \
                 have any; values have 1 to 4096 characters.",
            ));
        }
        Ok(self.write(name, kind, value, now))
    }

    /// AWS publishes a parameter.
    pub fn publish(&mut self, name: &str, value: String, now: Timestamp) {
        self.write(name, ParameterType::String, value, now);
    }

    /// DeleteParameter.
    ///
    /// # Errors
    /// `ParameterNotFound`.
    pub fn delete(&mut self, name: &str) -> AwsResult<()> {
        let own = !name.starts_with(PUBLIC) && self.by_name.remove(name).is_some();
        if own { Ok(()) } else { Err(AwsError::new("ParameterNotFound", "")) }
    }
}
