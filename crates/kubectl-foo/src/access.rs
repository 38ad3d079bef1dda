//! The management cluster: which one, and how objects are listed. A kind is listed at most once per command, whatever
//! the number of objects and namespaces.

use crate::refused::{Request, refused, resource};
use anyhow::{Context as _, Result, bail};
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{DeserializeGuard, NamespaceResourceScope, ObjectList};
use kube::{Api, Client, Config, ResourceExt as _};
use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

/// Who writes, in `managedFields`.
pub const FIELD_MANAGER: &str = "kubectl-foo";
/// How long an API server may send nothing.
const PATIENCE: Duration = Duration::from_secs(30);
/// Objects in one response.
const PAGE: u32 = 500;

/// All items of a list that the API server gives in pages.
///
/// # Errors
/// That of the first page that cannot be read.
pub async fn all_pages<T: Clone, E>(
    params: ListParams,
    list: impl AsyncFn(&ListParams) -> Result<ObjectList<T>, E>,
) -> Result<Vec<T>, E> {
    let (mut read, mut page) = (Vec::new(), params.limit(PAGE));
    loop {
        let listed = list(&page).await?;
        read.extend(listed.items);
        match listed.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(read),
        }
    }
}

/// A kind in namespaces that can be listed.
pub trait Listed:
    kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
    + Clone
    + std::fmt::Debug
    + serde::de::DeserializeOwned
{
}

impl<K> Listed for K where
    K: kube::Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned
{
}

/// Access to a cluster.
pub struct Access {
    /// Its client.
    pub client: Client,
    /// The namespace of the kubeconfig's context.
    pub namespace: String,
}

impl Access {
    /// Finds the cluster as kubectl does: the file, or `$KUBECONFIG`, or `~/.kube/config`; its current context or that
    /// one.
    ///
    /// # Errors
    /// There is no such kubeconfig, or it cannot be used.
    pub async fn of(file: Option<&Path>, context: Option<String>) -> Result<Self> {
        Self::with(Self::config_of(file, context).await?)
    }

    /// The configuration that [`Access::of`] finds.
    ///
    /// # Errors
    /// There is no such kubeconfig, or it cannot be used.
    pub async fn config_of(file: Option<&Path>, context: Option<String>) -> Result<Config> {
        let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
        let config = match file {
            Some(file) => {
                let read =
                    Kubeconfig::read_from(file).with_context(|| format!("reading {}", file.display()))?;
                Config::from_custom_kubeconfig(read, &options).await
            }
            None => Config::from_kubeconfig(&options).await,
        };
        config.context("no usable kubeconfig")
    }

    /// Access by that configuration.
    ///
    /// # Errors
    /// It cannot be used, for example because a certificate is none.
    pub fn with(mut config: Config) -> Result<Self> {
        // kube knows no NO_PROXY: a proxy of the environment would be used for everything.
        config.proxy_url = None;
        // kube waits without limit by default.
        config.read_timeout.get_or_insert(PATIENCE);
        let namespace = config.default_namespace.clone();
        Ok(Self { client: Client::try_from(config)?, namespace })
    }
}

/// The reads of one command, in one namespace or in all, and what could not be read.
pub struct Reads<'a> {
    /// The cluster.
    pub client: &'a Client,
    /// The namespace; `None` for all.
    pub namespace: Option<&'a str>,
    warnings: RefCell<Vec<String>>,
}

impl<'a> Reads<'a> {
    /// Reads in that namespace, or in all.
    pub fn new(client: &'a Client, namespace: Option<&'a str>) -> Self {
        Self { client, namespace, warnings: RefCell::default() }
    }

    /// All objects of a kind; with a label selector, if there is one. An object that cannot be decoded is a warning.
    ///
    /// # Errors
    /// The API server refuses it; the error names the right that is missing.
    pub async fn list<K: Listed>(&self, labels: Option<&str>) -> Result<Vec<K>> {
        let params = ListParams { label_selector: labels.map(str::to_owned), ..ListParams::default() };
        self.list_with(self.namespace, params).await
    }

    /// All objects of a kind in that namespace, or in all, that fit the selectors.
    ///
    /// # Errors
    /// As [`Reads::list`].
    pub async fn list_with<K: Listed>(&self, namespace: Option<&str>, params: ListParams) -> Result<Vec<K>> {
        let resource = resource::<K>();
        let request = Request { verb: "list", resource: &resource, namespace };
        self.try_list(namespace, params).await.map_err(|error| refused(request, error))
    }

    /// All objects of a kind that not every installation has: none if the API server does not serve it.
    ///
    /// # Errors
    /// As [`Reads::list`].
    pub async fn list_if_served<K: Listed>(&self) -> Result<Vec<K>> {
        let resource = resource::<K>();
        let request = Request { verb: "list", resource: &resource, namespace: self.namespace };
        match self.try_list(self.namespace, ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
            listed => listed.map_err(|error| refused(request, error)),
        }
    }

    async fn try_list<K: Listed>(
        &self,
        namespace: Option<&str>,
        params: ListParams,
    ) -> Result<Vec<K>, kube::Error> {
        let api: Api<DeserializeGuard<K>> = match namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        };
        let kind = K::kind(&());
        let listed = all_pages(params, async |page| api.list(page).await).await?;
        let mut read = Vec::new();
        for object in listed {
            let name = object.name_any();
            match object.0 {
                Ok(object) => read.push(object),
                Err(error) => self.warn(format!("{kind} {name} cannot be read: {}", error.error)),
            }
        }
        Ok(read)
    }

    /// The objects of a kind of these names, all of which must exist; `None` if the kind is not asked for. If there are no
    /// names all objects, as far as they can be read.
    ///
    /// # Errors
    /// An object does not exist, or a right is missing.
    pub async fn unless_unasked<K: Listed>(&self, names: Option<&[String]>) -> Result<Vec<K>> {
        match names {
            None => Ok(Vec::new()),
            Some([]) => Ok(self.or_warn(self.list(None).await).unwrap_or_default()),
            Some(names) => meant(self.list(None).await?, self.namespace, names),
        }
    }

    /// What was read, or nothing and a warning.
    pub fn or_warn<T>(&self, read: Result<T>) -> Option<T> {
        read.map_err(|error| self.warn(format!("{error:#}"))).ok()
    }

    /// Something could not be read.
    pub fn warn(&self, text: String) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&text) {
            warnings.push(text);
        }
    }

    /// What could not be read so far, each once.
    pub fn unread(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    /// What could not be read, each once.
    pub fn warnings(self) -> Vec<String> {
        self.warnings.into_inner()
    }
}

/// Those of these names, all of which must exist; all if there are no names.
///
/// # Errors
/// One of them does not exist.
pub fn meant<K: Listed>(objects: Vec<K>, namespace: Option<&str>, names: &[String]) -> Result<Vec<K>> {
    if let Some(missing) = names.iter().find(|name| objects.iter().all(|object| object.name_any() != **name))
    {
        bail!("{} {missing} not found in namespace {}", K::kind(&()), namespace.unwrap_or_default());
    }
    Ok(objects.into_iter().filter(|object| names.is_empty() || names.contains(&object.name_any())).collect())
}
