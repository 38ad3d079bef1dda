//! Launch templates.

use super::{tags, template_data};
use crate::core::ec2::templates::{NewTemplate, NewVersion, Template, TemplateKey, Version};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::time::iso_millis;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_model::{LaunchTemplateId, TemplateVersion};
use std::borrow::Cow;
use std::collections::BTreeMap;

const PAGING: Paging = Paging { limit: "MaxResults", default: 200, min: 1, max: 200 };

pub(super) fn create(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let mut template_tags = BTreeMap::new();
    for spec in params.list("TagSpecification") {
        if spec.text("ResourceType") != Some("launch-template") {
            return Err(AwsError::invalid_value("The resource type must be launch-template."));
        }
        template_tags.extend(tags::parse(spec)?);
    }
    let new = NewTemplate {
        name: params.required("LaunchTemplateName")?.to_owned(),
        data: template_data::parse(params)?,
        description: description(params)?,
        tags: template_tags,
        token: token(params),
        caller: caller.arn.clone(),
    };
    let warnings = region.template_warnings(&new.data);
    let template = region.create_template(new)?;
    xml.within("launchTemplate", |xml| write_template(xml, template));
    write_warnings(xml, &warnings);
    Ok(())
}

/// Warnings about what EC2 will refuse at a launch (API Reference, ValidationWarning).
fn write_warnings(xml: &mut Xml, warnings: &[AwsError]) {
    if warnings.is_empty() {
        return;
    }
    xml.within("warning", |xml| {
        xml.list("errorSet", "item", warnings, |xml, warning| {
            xml.text("code", &warning.code);
            xml.text("message", &warning.message);
        });
    });
}

pub(super) fn create_version(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let new = NewVersion {
        template: key(params)?,
        data: template_data::parse(params)?,
        source: params.text("SourceVersion").map(str::to_owned),
        description: description(params)?,
        token: token(params),
        caller: caller.arn.clone(),
    };
    let (template, version) = region.create_template_version(new)?;
    xml.within("launchTemplateVersion", |xml| write_version(xml, template, &version));
    write_warnings(xml, &region.template_warnings(&version.data));
    Ok(())
}

pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let filters = Filters::ec2(params)?.only(&["launch-template-name"])?;
    let keys: Vec<TemplateKey> = params
        .texts("LaunchTemplateId")
        .into_iter()
        .map(|id| TemplateKey::Id(LaunchTemplateId::new(id)))
        .chain(params.texts("LaunchTemplateName").into_iter().map(TemplateKey::Name))
        .collect();
    let fits =
        |template: &Cow<'_, Template>| filters.match_with(&template.tags, |_| vec![template.name.as_str()]);
    let after = page.after.as_deref().map(LaunchTemplateId::from);
    let (found, next) = if keys.is_empty() {
        page.take(region.templates_seen(after.as_ref()).filter(fits), |template| template.id.to_string())
    } else {
        let named = keys.iter().map(|key| region.template_seen(key)).collect::<AwsResult<Vec<_>>>()?;
        (named.into_iter().filter(fits).collect(), None)
    };
    xml.list("launchTemplates", "item", found, |xml, template| write_template(xml, &template));
    xml.optional("nextToken", next);
    Ok(())
}

pub(super) fn describe_versions(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let wanted = params.texts("LaunchTemplateVersion");
    let mut next = None;
    let templates: Vec<Cow<'_, Template>>;
    let mut found: Vec<(&Template, &Version)> = Vec::new();
    if params.text("LaunchTemplateId").is_none() && params.text("LaunchTemplateName").is_none() {
        // Without a template only the special versions can be requested, of all templates at once.
        if wanted.is_empty() || wanted.iter().any(|text| text != "$Latest" && text != "$Default") {
            return Err(AwsError::missing("LaunchTemplateId or LaunchTemplateName"));
        }
        templates = region.templates_seen(None).collect();
        for template in &templates {
            for text in &wanted {
                found.push((template, template.version(text)?));
            }
        }
    } else {
        templates = vec![region.template_seen(&key(params)?)?];
        let template: &Template = templates.first().ok_or_else(|| AwsError::missing("LaunchTemplateId"))?;
        if wanted.is_empty() {
            let bound = |name| {
                params.text(name).map(|text| template.version(text).map(|version| version.number)).transpose()
            };
            let (min, max) = (bound("MinVersion")?, bound("MaxVersion")?);
            let after = page.after.as_deref().map(|after| after.parse().map_err(|_| AwsError::bad_token()));
            let after = after.transpose()?.map(TemplateVersion);
            // Newest first, as AWS lists them.
            let entries = template
                .versions
                .values()
                .rev()
                .map(AsRef::as_ref)
                .filter(|version: &&Version| min.is_none_or(|min| version.number >= min))
                .filter(|version| max.is_none_or(|max| version.number <= max))
                .filter(|version| after.is_none_or(|after| version.number < after));
            let (versions, token) = page.take(entries, |version| version.number.to_string());
            next = token;
            found.extend(versions.into_iter().map(|version| (template, version)));
        } else {
            for text in &wanted {
                found.push((template, template.version(text)?));
            }
        }
    }
    xml.list("launchTemplateVersionSet", "item", found, |xml, (template, version)| {
        write_version(xml, template, version);
    });
    xml.optional("nextToken", next);
    Ok(())
}

pub(super) fn modify(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    // SetDefaultVersion on the wire; DefaultVersion in the documentation.
    let version = params.text("SetDefaultVersion").or_else(|| params.text("DefaultVersion"));
    let version = version.ok_or_else(|| AwsError::missing("DefaultVersion"))?.to_owned();
    let template = region.templates.set_default(&key(params)?, &version)?;
    xml.within("launchTemplate", |xml| write_template(xml, template));
    Ok(())
}

pub(super) fn delete_versions(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let (id, name, results) =
        region.templates.delete_versions(&key(params)?, &params.texts("LaunchTemplateVersion"))?;
    let write = |xml: &mut Xml, version: &str| {
        xml.text("launchTemplateId", id.as_str());
        xml.text("launchTemplateName", &name);
        // The field is a number, so a version that is not a number is shown as 0.
        xml.text("versionNumber", if version.parse::<i64>().is_ok() { version } else { "0" });
    };
    let gone = results.iter().filter(|result| result.failure.is_none());
    xml.list("successfullyDeletedLaunchTemplateVersionSet", "item", gone, |xml, result| {
        write(xml, &result.version);
    });
    let failed = results.iter().filter_map(|result| result.failure.as_ref().map(|failure| (result, failure)));
    xml.list(
        "unsuccessfullyDeletedLaunchTemplateVersionSet",
        "item",
        failed,
        |xml, (result, (code, message))| {
            write(xml, &result.version);
            xml.within("responseError", |xml| {
                xml.text("code", code);
                xml.text("message", message);
            });
        },
    );
    Ok(())
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let template = region.templates.delete(&key(params)?)?;
    xml.within("launchTemplate", |xml| write_template(xml, &template));
    Ok(())
}

fn key(params: &Params) -> AwsResult<TemplateKey> {
    match (params.text("LaunchTemplateId"), params.text("LaunchTemplateName")) {
        (Some(id), None) => Ok(TemplateKey::Id(LaunchTemplateId::new(id))),
        (None, Some(name)) => Ok(TemplateKey::Name(name.to_owned())),
        (Some(_), Some(_)) => Err(AwsError::new(
            "InvalidParameterCombination",
            "You can specify either a launch template ID or a launch template name, not both.",
        )),
        (None, None) => Err(AwsError::missing("LaunchTemplateId or LaunchTemplateName")),
    }
}

fn token(params: &Params) -> Option<String> {
    params.text("ClientToken").filter(|token| !token.is_empty()).map(str::to_owned)
}

fn description(params: &Params) -> AwsResult<Option<String>> {
    let text = params.text("VersionDescription");
    if text.is_some_and(|text| text.chars().count() > 255) {
        return Err(AwsError::invalid_value("The version description can have at most 255 characters."));
    }
    Ok(text.map(str::to_owned))
}

fn write_template(xml: &mut Xml, template: &Template) {
    xml.text("launchTemplateId", template.id.as_str());
    xml.text("launchTemplateName", &template.name);
    xml.text("createTime", iso_millis(template.created));
    xml.text("createdBy", &template.created_by);
    xml.value("defaultVersionNumber", template.default);
    xml.value("latestVersionNumber", template.latest());
    tags::write(xml, &template.tags);
}

fn write_version(xml: &mut Xml, template: &Template, version: &Version) {
    xml.text("launchTemplateId", template.id.as_str());
    xml.text("launchTemplateName", &template.name);
    xml.value("versionNumber", version.number);
    xml.optional("versionDescription", version.description.as_ref());
    xml.text("createTime", iso_millis(version.created));
    xml.text("createdBy", &version.created_by);
    xml.value("defaultVersion", version.number == template.default);
    xml.document("launchTemplateData", &version.data.document, "item");
}
