//! The identity provider of a cluster (EKS User Guide, "Grant users access to Kubernetes with an external OIDC provider"): one per
//! cluster, associated and disassociated by an update of the cluster, and never changed.

use super::tags::check_tags;
use super::updates::NewUpdate;
use crate::core::eks::cluster::{Change, Cluster, Update};
use crate::core::eks::identities::ClusterProvider;
use crate::core::eks::refusal::{invalid, not_found, wrong_state};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::eks::{
    IdentityProvider, IdentityProviderSettings, IdentityProviderStatus, NewIdentityProvider, UpdateType,
};
use serde_json::json;

/// What an update is described by.
fn params(name: &str) -> Vec<(&'static str, String)> {
    vec![("IdentityProviderConfig", json!([{ "type": "oidc", "name": name }]).to_string())]
}

/// The form of a configuration (EKS API Reference, OidcIdentityProviderConfigRequest). The words are a guess **(A)**, but those about
/// the issuer of the cluster.
fn check(name: &str, settings: &IdentityProviderSettings, own_issuer: &str) -> AwsResult<()> {
    let IdentityProviderSettings {
        issuer_url,
        client_id,
        username_claim: _,
        username_prefix,
        groups_claim: _,
        groups_prefix,
        required_claims,
    } = settings;
    for (field, value) in [("identityProviderConfigName", name), ("clientId", client_id)] {
        if value.is_empty() {
            return Err(invalid(format!("{field} cannot be empty.")));
        }
    }
    if !issuer_url.starts_with("https://") || issuer_url.contains('?') {
        return Err(invalid("The issuerUrl must begin with https:// and must not have query parameters."));
    }
    if issuer_url == own_issuer {
        return Err(invalid(
            "Incorrect Identity Provider URL configuration. The Identity Provider URL cannot be same as OpenID Connect (OIDC) issuer URL",
        ));
    }
    let prefixes = [username_prefix, groups_prefix];
    if prefixes.into_iter().flatten().any(|prefix| prefix.contains("system:")) {
        return Err(invalid("The prefix can't contain system:"));
    }
    let fits = |(claim, value): (&String, &String)| {
        (1..=63).contains(&claim.chars().count()) && (1..=253).contains(&value.chars().count())
    };
    if required_claims.iter().all(fits) { Ok(()) } else { Err(invalid("A required claim is invalid.")) }
}

impl Region {
    /// AssociateIdentityProviderConfig.
    ///
    /// # Errors
    /// EKS's refusals; nothing begins then.
    pub fn associate_identity_provider(
        &mut self,
        cluster: &str,
        new: &NewIdentityProvider,
        token: Option<&str>,
    ) -> AwsResult<Update> {
        const ACTION: &str = "AssociateIdentityProviderConfig";
        const KIND: UpdateType = UpdateType::AssociateIdentityProviderConfig;
        if let Some(id) = self.eks.tokens.made_before(ACTION, cluster, token, new)? {
            return self.update_seen(cluster, &id, None).cloned();
        }
        let of = self.check_free(cluster, KIND)?;
        let NewIdentityProvider { name, settings, tags } = new.clone();
        check(&name, &settings, &of.issuer(&self.name))?;
        check_tags(&tags)?;
        if of.identity_provider.is_some() {
            // Code and words are a guess **(A)**.
            return Err(wrong_state(format!(
                "Identity provider config is already associated with cluster {cluster}"
            )));
        }
        let update = self.begin_provider(cluster, KIND, &name, Change::AssociateIdentityProvider)?;
        let uuid = self.eks.chance.uuid();
        let (region, account) = (&self.name, &self.account);
        let arn =
            format!("arn:aws:eks:{region}:{account}:identityproviderconfig/{cluster}/oidc/{name}/{uuid}");
        let status = IdentityProviderStatus::Creating;
        let config = IdentityProvider { name, arn, status, settings, tags };
        let made = ClusterProvider { config, created: self.now };
        if let Some(of) = self.eks.clusters.get_mut(&cluster.to_owned()) {
            of.identity_provider = Some(made);
        }
        self.eks.tokens.remember(ACTION, cluster, token, new, &update.id);
        Ok(update)
    }

    /// DisassociateIdentityProviderConfig.
    ///
    /// # Errors
    /// EKS's refusals; nothing begins then.
    pub fn disassociate_identity_provider(
        &mut self,
        cluster: &str,
        name: &str,
        token: Option<&str>,
    ) -> AwsResult<Update> {
        const ACTION: &str = "DisassociateIdentityProviderConfig";
        const KIND: UpdateType = UpdateType::DisassociateIdentityProviderConfig;
        if let Some(id) = self.eks.tokens.made_before(ACTION, cluster, token, &name)? {
            return self.update_seen(cluster, &id, None).cloned();
        }
        let of = self.check_free(cluster, KIND)?;
        if of.identity_provider.as_ref().is_none_or(|it| it.config.name != name) {
            return Err(wrong_state(format!(
                "Identity provider config is not associated with cluster {cluster}"
            )));
        }
        let update = self.begin_provider(cluster, KIND, name, Change::DisassociateIdentityProvider)?;
        let of = self.eks.clusters.get_mut(&cluster.to_owned());
        if let Some(provider) = of.and_then(|of| of.identity_provider.as_mut()) {
            provider.config.status = IdentityProviderStatus::Deleting;
        }
        self.eks.tokens.remember(ACTION, cluster, token, &name, &update.id);
        Ok(update)
    }

    fn begin_provider(
        &mut self,
        cluster: &str,
        kind: UpdateType,
        name: &str,
        change: Change,
    ) -> AwsResult<Update> {
        let takes = self.settings.eks.identity_provider_update;
        self.begin_update(cluster, NewUpdate { kind, params: params(name), change, takes })
    }

    /// A configuration, as DescribeIdentityProviderConfig sees it.
    ///
    /// # Errors
    /// There is none.
    pub fn identity_provider_seen(&self, cluster: &str, name: &str) -> AwsResult<&IdentityProvider> {
        let found = self.cluster_seen(cluster)?.identity_provider.as_ref().map(|it| &it.config);
        let refusal = || {
            not_found(format!(
                "No config found for cluster: {cluster}, config type: oidc, config name: {name}"
            ))
        };
        found.filter(|it| it.name == name).ok_or_else(refusal)
    }
}

impl Cluster {
    /// The association is over.
    pub(super) fn provider_is_active(&mut self) {
        if let Some(provider) = &mut self.identity_provider {
            provider.config.status = IdentityProviderStatus::Active;
        }
    }

    /// An update that failed leaves what was before.
    pub(super) fn provider_update_failed(&mut self, change: &Change) {
        match change {
            Change::AssociateIdentityProvider => self.identity_provider = None,
            Change::DisassociateIdentityProvider => self.provider_is_active(),
            Change::Version(_)
            | Change::Forced(_)
            | Change::Rollback(_)
            | Change::Config(_)
            | Change::Key(_)
            | Change::Addon(..) => {}
        }
    }
}
