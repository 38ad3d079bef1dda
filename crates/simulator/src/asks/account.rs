//! Which actions on which resources a call of IAM asks for (Service Authorization Reference, "Actions, resources, and condition keys
//! for AWS Identity and Access Management (IAM)", its tables of June 2026).

use crate::iam::ask::ask;
use crate::iam::directory::Directory;
use crate::iam::policy::Ask;
use crate::request::params::{Params, tags_of};
use crate::service::Service;
use foo_model::network::Tags;

/// The tags of the OpenID Connect provider that a call is about, which conditions see.
pub(crate) fn tags_of_provider(directory: &Directory, params: &Params) -> Option<Tags> {
    let provider = directory.providers.get(params.text("OpenIDConnectProviderArn")?)?;
    Some(provider.tags.clone())
}

/// What must be allowed, of a resource with these tags.
pub(crate) fn on_provider(asks: Vec<Ask>, tags: &Tags) -> Vec<Ask> {
    asks.into_iter().map(|it| it.on_resource(Service::Iam, tags)).collect()
}

/// What must be allowed before the call is carried out. Paths of roles are not known before: IAM looks them up by name, and asks
/// for the ARN without one **(A)**. Creation with tags needs the right to tag as well (IAM User Guide, "Tag OpenID Connect (OIDC)
/// identity providers").
pub(super) fn of_call(account: &str, action: &str, params: &Params) -> Vec<Ask> {
    let named = |kind: &str, name: &str| format!("arn:aws:iam::{account}:{kind}/{name}");
    let text = |name: &str| params.text(name).unwrap_or("*");
    let resource = match action {
        "GetRole" => named("role", text("RoleName")),
        "GetInstanceProfile" => named("instance-profile", text("InstanceProfileName")),
        "CreateOpenIDConnectProvider" => {
            named("oidc-provider", text("Url").strip_prefix("https://").unwrap_or("*"))
        }
        "SimulatePrincipalPolicy" => text("PolicySourceArn").to_owned(),
        "ListOpenIDConnectProviders" => "*".to_owned(),
        _ => text("OpenIDConnectProviderArn").to_owned(),
    };
    let tags = tags_of(params.list("Tags"));
    let tagging = (action == "CreateOpenIDConnectProvider" && !tags.is_empty())
        .then(|| ask("iam:TagOpenIDConnectProvider".to_owned(), resource.clone()));
    let main = ask(format!("iam:{action}"), resource);
    std::iter::once(main).chain(tagging).map(|it| it.with_tags("aws:RequestTag", &tags)).collect()
}
