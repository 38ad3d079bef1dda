//! STS (AWS STS API Reference): identities of callers, and sessions of roles.

use super::operation::Caller;
use super::xml::Xml;
use crate::core::error::{AwsError, AwsResult};
use crate::core::time::iso_seconds;
use crate::core::wildcard::like;
use crate::iam::policy::Policy;
use crate::iam::roles::{Role, WebIdentityTrust};
use crate::iam::{Issued, refusals};
use crate::request::params::Params;
use crate::world::Inner;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// An operation on the account instead of a region.
pub(super) type Operation = fn(&mut Inner, &Params, &Caller<'_>, &mut Xml) -> AwsResult<()>;

/// The action without a signature: its token identifies the caller.
const UNSIGNED: &str = "AssumeRoleWithWebIdentity";

/// All actions.
pub(super) const ACTIONS: [(&str, Operation); 3] = [
    ("GetCallerIdentity", get_caller_identity),
    ("AssumeRole", assume_role),
    ("AssumeRoleWithWebIdentity", assume_role_with_web_identity),
];

/// Whether a request has the action without a signature.
pub(super) fn is_unsigned(form: &[u8]) -> bool {
    // Parsed as the action is parsed later, because a form can contain two.
    Params::parse(form).is_ok_and(|params| params.text("Action") == Some(UNSIGNED))
}

/// GetCallerIdentity, which every signed caller may call.
#[expect(clippy::unnecessary_wraps, reason = "the form of all operations")]
fn get_caller_identity(inner: &mut Inner, _: &Params, caller: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let (arn, user) = inner.keys.identity(caller.account, caller.name);
    xml.text("Arn", arn);
    xml.text("UserId", user);
    xml.text("Account", caller.account);
    Ok(())
}

fn assume_role(inner: &mut Inner, params: &Params, caller: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    refuse_others(
        params,
        &["SerialNumber", "TokenCode", "PolicyArns", "ProvidedContexts", "SourceIdentity"],
    )?;
    let arn = params.required("RoleArn")?;
    let denied = || refusals::not_trusted("sts:AssumeRole", arn, &caller.arn);
    let role = role_of(inner, arn, caller.account).ok_or_else(denied)?;
    let own = inner.keys.get(caller.name).and_then(|key| key.session.clone());
    let name = own.as_ref().map_or(caller.name, |session| session.role.as_str());
    if !role.trusts(name)
        || role.external_id.as_deref().is_some_and(|id| params.text("ExternalId") != Some(id))
    {
        return Err(denied());
    }
    begin_session(inner, &role, params, own.is_some(), caller, xml)
}

fn assume_role_with_web_identity(
    inner: &mut Inner,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    refuse_others(params, &["PolicyArns", "ProviderId"])?;
    let arn = params.required("RoleArn")?;
    let claims = Claims::of(params.required("WebIdentityToken")?)?;
    if claims.expires.is_some_and(|seconds| seconds.saturating_mul(1_000) <= caller.received.0) {
        return Err(AwsError::new("ExpiredTokenException", "Token expired"));
    }
    let denied = || {
        AwsError::new("AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity").status(403)
    };
    let role = role_of(inner, arn, caller.account).ok_or_else(denied)?;
    // While no key is known every role trusts every token.
    if !role.web_identity.as_ref().map_or_else(|| role.trusts("*"), |trust| claims.are_trusted(trust)) {
        return Err(denied());
    }
    xml.text("SubjectFromWebIdentityToken", &claims.subject);
    xml.text("Provider", &claims.issuer);
    xml.optional("Audience", claims.audiences.first());
    begin_session(inner, &role, params, false, caller, xml)
}

fn role_of(inner: &Inner, arn: &str, account: &str) -> Option<Role> {
    let path = arn.strip_prefix("arn:aws:iam::")?.strip_prefix(account)?.strip_prefix(":role/")?;
    inner.keys.role(path.rsplit('/').next()?)
}

fn refuse_others(params: &Params, others: &[&str]) -> AwsResult<()> {
    match others.iter().find(|name| params.node(name).is_some()) {
        Some(name) => Err(AwsError::validation(format!("{name} is not simulated."))),
        None => Ok(()),
    }
}

/// Creates temporary credentials and writes them.
fn begin_session(
    inner: &mut Inner,
    role: &Role,
    params: &Params,
    chained: bool,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let name = params.required("RoleSessionName")?;
    let fits = (2..=64).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_+=,.@-".contains(c));
    if !fits {
        return Err(AwsError::validation(format!(
            "1 validation error detected: Value '{name}' at 'roleSessionName' failed to satisfy constraint: Member must \
             satisfy regular expression pattern: [\\w+=,.@-]*"
        )));
    }
    let lasts = role.session(params.count("DurationSeconds")?, chained)?;
    let of_session: Option<Policy> = params
        .text("Policy")
        .map(|text| {
            serde_json::from_str(text)
                .map_err(|error| AwsError::new("MalformedPolicyDocument", error.to_string()))
        })
        .transpose()?;
    let expires = caller.received.plus(lasts);
    let packed = of_session.is_some();
    let policies = role.policy.iter().cloned().chain(of_session).collect();
    let Inner { keys, request_ids, .. } = inner;
    let times = (caller.received, expires);
    let Issued { id, secret, token } = keys.issue(request_ids, role, name, policies, times);
    xml.within("Credentials", |xml| {
        xml.text("AccessKeyId", &id);
        xml.text("SecretAccessKey", &secret);
        xml.text("SessionToken", &token);
        xml.text("Expiration", iso_seconds(expires));
    });
    xml.within("AssumedRoleUser", |xml| {
        xml.text("AssumedRoleId", format!("{}:{name}", inner.keys.directory.unique_id(&role.name)));
        xml.text("Arn", format!("arn:aws:sts::{}:assumed-role/{}/{name}", caller.account, role.name));
    });
    if packed {
        xml.value("PackedPolicySize", 1);
    }
    Ok(())
}

/// The claims of a web identity token. Its signature is not verified: the simulator has no identity provider's keys.
struct Claims {
    issuer: String,
    subject: String,
    audiences: Vec<String>,
    expires: Option<i64>,
}

impl Claims {
    fn of(token: &str) -> AwsResult<Self> {
        let payload = token.split('.').nth(1).filter(|_| token.split('.').count() == 3);
        let payload = payload.and_then(|payload| URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok());
        let claims: Option<Value> = payload.and_then(|payload| serde_json::from_slice(&payload).ok());
        let wrong = || {
            AwsError::new(
                "InvalidIdentityToken",
                "The ID Token provided is not a valid JWT. (You may see this error if \
                 you sent an Access Token)",
            )
        };
        let claims = claims.ok_or_else(wrong)?;
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let audiences = match claims.get("aud") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            issuer: text("iss").ok_or_else(wrong)?,
            subject: text("sub").ok_or_else(wrong)?,
            audiences,
            expires: claims.get("exp").and_then(Value::as_i64),
        })
    }

    fn are_trusted(&self, trust: &WebIdentityTrust) -> bool {
        self.issuer == trust.issuer
            && self.audiences.contains(&trust.audience)
            && like(&trust.subject, &self.subject)
    }
}
