//! IAM's actions, as far as clusters need them (IAM API Reference): roles and instance profiles are read here, and made by the
//! control API; OpenID Connect providers are made here.

use super::operation::Caller;
use super::sts::Operation;
use super::xml::Xml;
use crate::core::error::{AwsError, AwsResult};
use crate::core::time::iso_seconds;
use crate::iam::directory::{Provider, no_entity, role_id};
use crate::iam::policy::{Ask, Policy, VALUES_END, Verdict};
use crate::iam::roles::Role;
use crate::request::params::Params;
use crate::world::Inner;
use foo_model::Timestamp;
use foo_model::network::Tags;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// All actions.
pub(super) const ACTIONS: [(&str, Operation); 13] = [
    ("GetRole", get_role),
    ("GetInstanceProfile", get_instance_profile),
    ("SimulatePrincipalPolicy", simulate),
    ("CreateOpenIDConnectProvider", create_provider),
    ("GetOpenIDConnectProvider", get_provider),
    ("ListOpenIDConnectProviders", list_providers),
    ("DeleteOpenIDConnectProvider", |inner, params, _, _| {
        inner.keys.directory.delete_provider(provider_arn(params)?);
        Ok(())
    }),
    ("TagOpenIDConnectProvider", tag_provider),
    ("UntagOpenIDConnectProvider", |inner, params, _, _| {
        let keys = params.texts("TagKeys");
        let provider = inner.keys.directory.provider(provider_arn(params)?)?;
        provider.tags.retain(|key, _| !keys.contains(key));
        Ok(())
    }),
    ("ListOpenIDConnectProviderTags", |inner, params, _, xml| {
        let provider = inner.keys.directory.provider(provider_arn(params)?)?;
        write_tags(xml, &provider.tags);
        xml.text("IsTruncated", "false");
        Ok(())
    }),
    ("UpdateOpenIDConnectProviderThumbprint", |inner, params, _, _| {
        let thumbprints = params.texts("ThumbprintList");
        inner.keys.directory.provider(provider_arn(params)?)?.thumbprints = checked(thumbprints)?;
        Ok(())
    }),
    ("AddClientIDToOpenIDConnectProvider", |inner, params, _, _| {
        let client = params.required("ClientID")?.to_owned();
        inner.keys.directory.provider(provider_arn(params)?)?.clients.insert(client);
        Ok(())
    }),
    ("RemoveClientIDFromOpenIDConnectProvider", |inner, params, _, _| {
        let client = params.required("ClientID")?;
        inner.keys.directory.provider(provider_arn(params)?)?.clients.remove(client);
        Ok(())
    }),
];

fn provider_arn(params: &Params) -> AwsResult<&str> {
    params.required("OpenIDConnectProviderArn")
}

/// Thumbprints are SHA-1 in hexadecimal digits.
fn checked(thumbprints: Vec<String>) -> AwsResult<Vec<String>> {
    let fits = |it: &String| it.len() == 40 && it.chars().all(|c| c.is_ascii_hexdigit());
    if thumbprints.len() <= 5 && thumbprints.iter().all(fits) {
        return Ok(thumbprints);
    }
    Err(AwsError::new(
        "InvalidInput",
        "Thumbprint list must contain fewer than 5 entries of 40 hexadecimal digits.",
    ))
}

fn tags_in(params: &Params) -> Tags {
    let pair = |tag: &Params| {
        tag.text("Key").map(|key| (key.to_owned(), tag.text("Value").unwrap_or_default().to_owned()))
    };
    params.list("Tags").into_iter().filter_map(pair).collect()
}

fn write_tags(xml: &mut Xml, tags: &Tags) {
    xml.list("Tags", "member", tags, |xml, (key, value)| {
        xml.text("Key", key);
        xml.text("Value", value);
    });
}

/// A role that there is.
fn role(inner: &Inner, account: &str, name: &str) -> Option<Role> {
    let role = inner.keys.role(name)?;
    inner.keys.principals(account).role(&role.arn(account)).map(|_| role)
}

fn write_role(inner: &Inner, account: &str, role: &Role, xml: &mut Xml) {
    let created = inner.keys.directory.created(&role.name).unwrap_or(Timestamp(0));
    let services: Vec<_> = role
        .services
        .iter()
        .map(|service| {
            json!({ "Effect": "Allow", "Principal": { "Service": service }, "Action": ["sts:AssumeRole", "sts:TagSession"] })
        })
        .collect();
    let trust = json!({ "Version": "2012-10-17", "Statement": services }).to_string();
    let trust: String = url::form_urlencoded::byte_serialize(trust.as_bytes()).collect();
    xml.text("Path", &role.path);
    xml.text("RoleName", &role.name);
    xml.text("RoleId", inner.keys.directory.unique_id(&role.name));
    xml.text("Arn", role.arn(account));
    xml.text("CreateDate", iso_seconds(created));
    xml.text("AssumeRolePolicyDocument", trust.replace('+', "%20"));
    xml.value("MaxSessionDuration", role.max_session_seconds);
}

fn get_role(inner: &mut Inner, params: &Params, caller: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let name = params.required("RoleName")?;
    let absent = || no_entity(format!("The role with name {name} cannot be found."));
    let role = role(inner, caller.account, name).ok_or_else(absent)?;
    xml.within("Role", |xml| write_role(inner, caller.account, &role, xml));
    Ok(())
}

fn get_instance_profile(
    inner: &mut Inner,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let name = params.required("InstanceProfileName")?;
    let absent = || no_entity(format!("Instance Profile {name} cannot be found."));
    let profile = inner.keys.instance_profile(name).ok_or_else(absent)?;
    let id = role_id(&format!("instance profile {name}")).replacen("AROA", "AIPA", 1);
    let role = profile.role.as_deref().and_then(|role_name| role(inner, caller.account, role_name));
    xml.within("InstanceProfile", |xml| {
        xml.text("Path", "/");
        xml.text("InstanceProfileName", name);
        xml.text("InstanceProfileId", &id);
        xml.text("Arn", format!("arn:aws:iam::{}:instance-profile/{name}", caller.account));
        xml.text("CreateDate", iso_seconds(Timestamp(0)));
        xml.list("Roles", "member", &role, |xml, role| write_role(inner, caller.account, role, xml));
    });
    Ok(())
}

/// The policies of a role or user, all of which must allow a call: none allows everything.
fn policies_of(inner: &Inner, account: &str, arn: &str) -> Option<Vec<Policy>> {
    let (_, name) = arn.rsplit_once('/')?;
    let known_role = role(inner, account, name).filter(|role| role.arn(account) == arn);
    let is_user = arn == format!("arn:aws:iam::{account}:user/{name}");
    let user = inner.keys.get(name).filter(|it| is_user && it.session.is_none());
    known_role
        .map(|role| role.policy.into_iter().collect())
        .or_else(|| user.map(|user| user.policies.clone()))
}

/// What all policies together decide.
fn judged(policies: &[Policy], ask: &Ask) -> Verdict {
    strictest(&policies.iter().map(|policy| policy.judge(ask)).collect::<Vec<_>>())
}

/// A denial wins, and what one does not allow is not allowed.
fn strictest(verdicts: &[Verdict]) -> Verdict {
    let any = |verdict| verdicts.contains(&verdict);
    if any(Verdict::Denied) {
        Verdict::Denied
    } else if any(Verdict::NotAllowed) {
        Verdict::NotAllowed
    } else {
        Verdict::Allowed
    }
}

/// The decision in AWS's words.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allowed => "allowed",
        Verdict::NotAllowed => "implicitDeny",
        Verdict::Denied => "explicitDeny",
    }
}

/// Each action on each resource. Policies of resources, of the organization and boundaries of permissions do not exist here.
fn simulate(inner: &mut Inner, params: &Params, caller: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let arn = params.required("PolicySourceArn")?;
    let policies = policies_of(inner, caller.account, arn)
        .ok_or_else(|| no_entity(format!("The entity with ARN {arn} cannot be found.")))?;
    let entry = |entry: &Params| {
        Some((
            entry.text("ContextKeyName")?.to_owned(),
            entry.texts("ContextKeyValues").join(&VALUES_END.to_string()),
        ))
    };
    let context: BTreeMap<String, String> =
        params.list("ContextEntries").into_iter().filter_map(entry).collect();
    let mut resources = params.texts("ResourceArns");
    if resources.is_empty() {
        resources.push("*".to_owned());
    }
    let actions = params.texts("ActionNames");
    xml.list("EvaluationResults", "member", &actions, |xml, action| {
        let ask = |resource: &String| Ask {
            action: action.clone(),
            resource: resource.clone(),
            context: context.clone(),
        };
        let asks: Vec<Ask> = resources.iter().map(ask).collect();
        let decisions: Vec<Verdict> = asks.iter().map(|ask| judged(&policies, ask)).collect();
        let missing =
            |ask: &Ask| policies.iter().flat_map(|it| it.missing_keys(ask)).collect::<BTreeSet<String>>();
        xml.text("EvalActionName", action);
        xml.text("EvalResourceName", "*");
        xml.text("EvalDecision", word(strictest(&decisions)));
        xml.texts("MissingContextValues", "member", asks.iter().flat_map(missing).collect::<BTreeSet<_>>());
        xml.list("ResourceSpecificResults", "member", asks.iter().zip(&decisions), |xml, (ask, decision)| {
            xml.text("EvalResourceName", &ask.resource);
            xml.text("EvalResourceDecision", word(*decision));
            xml.texts("MissingContextValues", "member", missing(ask));
        });
    });
    xml.text("IsTruncated", "false");
    Ok(())
}

fn create_provider(inner: &mut Inner, params: &Params, caller: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let url = params.required("Url")?;
    let provider = Provider {
        url: String::new(),
        clients: params.texts("ClientIDList").into_iter().collect(),
        thumbprints: checked(params.texts("ThumbprintList"))?,
        created: inner.clock.now(),
        tags: tags_in(params),
    };
    let tags = provider.tags.clone();
    let arn = inner.keys.directory.create_provider(caller.account, url, provider)?;
    xml.text("OpenIDConnectProviderArn", arn);
    write_tags(xml, &tags);
    Ok(())
}

/// The URL is without `https://`.
fn get_provider(inner: &mut Inner, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let provider = inner.keys.directory.provider(provider_arn(params)?)?;
    xml.text("Url", &provider.url);
    xml.texts("ClientIDList", "member", &provider.clients);
    xml.texts("ThumbprintList", "member", &provider.thumbprints);
    xml.text("CreateDate", iso_seconds(provider.created));
    write_tags(xml, &provider.tags);
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the form of all operations")]
fn list_providers(inner: &mut Inner, _: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let arns = inner.keys.directory.providers.keys();
    xml.list("OpenIDConnectProviderList", "member", arns, |xml, arn| xml.text("Arn", arn));
    Ok(())
}

fn tag_provider(inner: &mut Inner, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let tags = tags_in(params);
    inner.keys.directory.provider(provider_arn(params)?)?.tags.extend(tags);
    Ok(())
}
