//! Who adopts an EKS cluster: names from the arguments, or from a manifest of Cluster API Provider AWS, read into what can be.

use super::capa::Given;
use crate::adopt::manifest::{LONGEST_NAME, object_name};
use crate::refused::Usage;
use anyhow::Result;
use foo_api::FooClusterIdentitySpec;
use foo_api::identity::DEFAULT_IDENTITY;
use foo_api::patterns::{is_eks_name, is_object_name, is_region};

/// The Cluster that adopts an EKS cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopter {
    /// Its namespace.
    pub namespace: String,
    /// Its name, which its FooCluster and FooControlPlane have, too.
    pub name: String,
    /// Region of the EKS cluster.
    pub region: String,
    /// Name of the FooClusterIdentity, if it is not the default one.
    pub identity: Option<String>,
}

impl Adopter {
    /// Name of the FooClusterIdentity.
    pub(super) fn identity_name(&self) -> &str {
        self.identity.as_deref().unwrap_or(DEFAULT_IDENTITY)
    }
}

/// What is known of the FooClusterIdentity.
#[derive(Clone, Debug, PartialEq)]
pub enum Identity {
    /// It cannot be read.
    Unknown,
    /// There is none of that name.
    Missing,
    /// It exists.
    Known(Box<FooClusterIdentitySpec>),
}

/// What a user says about an adoption.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Name of the EKS cluster.
    pub eks: Option<String>,
    /// What a manifest of Cluster API Provider AWS says.
    pub given: Option<Given>,
    /// The region.
    pub region: Option<String>,
    /// Name of the Cluster.
    pub cluster: Option<String>,
    /// Name of the FooClusterIdentity.
    pub identity: Option<String>,
}

impl Wish {
    /// The name of the EKS cluster, and who adopts it.
    ///
    /// # Errors
    /// A [`Usage`]: the region is missing, or a name cannot be.
    pub fn adopter(self, namespace: &str) -> Result<(String, Adopter)> {
        let Self { eks, given, region, cluster, identity } = self;
        let (of_manifest, of_label) =
            given.as_ref().map_or((None, None), |it| (it.region.clone(), it.cluster.clone()));
        let eks = eks.or_else(|| given.map(|it| it.name)).unwrap_or_default();
        let usage = |text: String| -> Result<(String, Adopter)> { Err(Usage(text).into()) };
        if !is_eks_name(&eks) {
            return usage(format!(
                "{eks} is no name of an EKS cluster: it has 1 to 100 letters, digits, dashes and underscores, and begins with one of the \
                 first two"
            ));
        }
        if let (Some(region), Some(other)) =
            (&region, of_manifest.as_ref().filter(|it| region.as_ref() != Some(*it)))
        {
            return usage(format!("--region is {region}, and the manifest has {other}"));
        }
        let Some(region) = region.or(of_manifest) else {
            return usage("name the region of the EKS cluster with --region".to_owned());
        };
        if !is_region(&region) {
            return usage(format!("{region} is no AWS region"));
        }
        let name = cluster.or(of_label).unwrap_or_else(|| object_name(&eks));
        if !is_object_name(&name) || name.len() > LONGEST_NAME {
            return usage(format!("{name} is no name of a Cluster: give it one with --cluster"));
        }
        if let Some(identity) = identity.as_ref().filter(|name| !is_object_name(name)) {
            return usage(format!("{identity} is no name of a FooClusterIdentity"));
        }
        Ok((eks, Adopter { namespace: namespace.to_owned(), name, region, identity }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(eks: &str) -> Wish {
        Wish { eks: Some(eks.to_owned()), region: Some("eu-central-1".to_owned()), ..Wish::default() }
    }

    fn refused(wish: Wish) -> String {
        let error = wish.adopter("team").unwrap_err();
        assert!(error.is::<Usage>(), "{error}");
        error.to_string()
    }

    #[test]
    fn the_cluster_has_the_name_of_the_eks_cluster_as_far_as_kubernetes_allows_it() {
        let (eks, adopter) = wish("Legacy_prod").adopter("team").unwrap();
        assert_eq!((eks.as_str(), adopter.name.as_str()), ("Legacy_prod", "legacy-prod"));
        let named = Wish { cluster: Some("blue".to_owned()), ..wish("Legacy_prod") };
        assert_eq!(named.adopter("team").unwrap().1.name, "blue");
    }

    #[test]
    fn a_manifest_says_what_arguments_do_not() {
        let given = Given {
            name: "team_prod".to_owned(),
            region: Some("eu-west-1".to_owned()),
            cluster: Some("prod".to_owned()),
        };
        let of_manifest = Wish { given: Some(given.clone()), ..Wish::default() };
        let (eks, adopter) = of_manifest.clone().adopter("team").unwrap();
        assert_eq!(
            (eks.as_str(), adopter.name.as_str(), adopter.region.as_str()),
            ("team_prod", "prod", "eu-west-1")
        );
        let elsewhere = Wish { region: Some("eu-central-1".to_owned()), ..of_manifest.clone() };
        assert_eq!(refused(elsewhere), "--region is eu-central-1, and the manifest has eu-west-1");
        let odd = Given { cluster: Some("a/b".to_owned()), ..given };
        assert!(refused(Wish { given: Some(odd), ..of_manifest }).starts_with("a/b is no name of a Cluster"));
    }

    #[test]
    fn names_that_no_manifest_can_have_are_refused() {
        for eks in ["", "-a", "a b", "file:///etc/passwd", &"a".repeat(101)] {
            assert!(refused(wish(eks)).contains("is no name of an EKS cluster"), "{eks}");
        }
        assert!(refused(Wish { region: None, ..wish("a") }).contains("--region"));
        assert_eq!(
            refused(Wish { region: Some("--debug".to_owned()), ..wish("a") }),
            "--debug is no AWS region"
        );
        assert!(refused(Wish { cluster: Some("A".to_owned()), ..wish("a") }).contains("--cluster"));
        assert!(refused(Wish { identity: Some("A".to_owned()), ..wish("a") }).contains("FooClusterIdentity"));
    }
}
