//! What `clusterctl init` leaves in etcd, kept for the next API server on which the same is to be installed: an installation takes
//! more processor time than everything else in the start of a management cluster.
//!
//! Nothing in it depends on one API server: certificates, ports and keys are in files, and webhooks are pointed at managers when those
//! start. Only objects that Kubernetes and clusterctl created have the same UIDs in all of them, the namespace `kube-system` too, by which the
//! provider knows a management cluster: of several before one AWS, only one starts from here, and [`Capi::install`] is for the others.

use super::{Capi, CapiOptions};
use crate::store::copy;
use crate::{ApiServer, Tools};
use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Below the folder of the programs that cargo built.
const FOLDER: &str = "installed";
/// How many stores stay: more than one run of all tests needs. Each has about 15 MB.
const KEPT: usize = 12;
/// What decides, beside providers, what is in a store.
const PROGRAMS: [&str; 3] = ["etcd", "kube-apiserver", "clusterctl"];

/// Starts an API server, in this folder and with these further arguments, on which the providers are installed and none of their
/// managers runs. Whoever is the first to ask for these providers installs them; others wait for that.
pub(crate) async fn start(
    tools: &Tools,
    folder: &Path,
    args: &[&str],
    options: &CapiOptions,
) -> Result<ApiServer> {
    let kept = kept(tools, options)?;
    if !kept.exists() {
        let path = kept.with_extension("lock");
        // Held until this function returns, or this process ends.
        let _lock = tokio::task::spawn_blocking(move || locked(&path)).await??;
        if !kept.exists() {
            let api = ApiServer::start_with(tools, folder, args).await?;
            Capi::init(&api, options.clone()).await?;
            keep(&api.snapshot(FOLDER).await?, &kept).await?;
            return Ok(api);
        }
    }
    ApiServer::start_from(tools, folder, args, &kept).await
}

/// Where the store with these providers is, once it is there.
fn kept(tools: &Tools, options: &CapiOptions) -> Result<PathBuf> {
    let program = std::env::current_exe().context("finding this program")?;
    let built = program.ancestors().skip(1).find(|folder| !folder.ends_with("deps"));
    let folder = built.context("a program without a folder")?.join(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    Ok(folder.join(key(tools, options)?))
}

/// Differs where the store would differ.
fn key(tools: &Tools, options: &CapiOptions) -> Result<String> {
    // Core runs with the gates; they are in no object.
    let CapiOptions { providers, kubeadm_bootstrap, feature_gates: _, variables } = options;
    let mut hash = Sha256::new();
    hash.update(format!("{kubeadm_bootstrap} {variables:?}"));
    for name in PROGRAMS {
        let file = tools.program(name).metadata().with_context(|| format!("reading {name}"))?;
        hash.update(format!("{name} {} {:?}", file.len(), file.modified()?));
    }
    let mut files = files_in(&tools.capi())?;
    for provider in providers {
        hash.update(format!("{:?} {} {}", provider.kind, provider.name, provider.version));
        files.extend(files_in(&provider.folder.join(&provider.version))?);
    }
    for file in files {
        hash.update(fs::read(&file).with_context(|| format!("reading {}", file.display()))?);
    }
    Ok(format!("{:x}", hash.finalize()))
}

/// The files in a folder, without those in folders below it, by name.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}

fn locked(path: &Path) -> Result<File> {
    let file = File::create(path).with_context(|| format!("creating {}", path.display()))?;
    file.lock().with_context(|| format!("locking {}", path.display()))?;
    Ok(file)
}

/// Moves a copy of a store to its place in one step, and removes the oldest of too many.
async fn keep(store: &Path, kept: &Path) -> Result<()> {
    let partial = kept.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial).with_context(|| format!("removing {}", partial.display()))?;
    }
    copy(store, &partial).await?;
    fs::rename(&partial, kept).with_context(|| format!("renaming {}", partial.display()))?;
    fs::remove_dir_all(store).with_context(|| format!("removing {}", store.display()))?;
    let folder = kept.parent().context("a store without a folder")?;
    for oldest in stores(folder)?.into_iter().skip(KEPT) {
        fs::remove_dir_all(&oldest).with_context(|| format!("removing {}", oldest.display()))?;
    }
    Ok(())
}

/// All stores that are kept, the newest first.
fn stores(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut stores: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.path().extension().is_none() {
            stores.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    stores.sort_by(|one, other| other.cmp(one));
    Ok(stores.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_stores_stay() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..=KEPT).map(|n| format!("{n:02}")).collect();
        for (seconds, name) in (1_u64..).zip(&names) {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            File::open(&path).unwrap().set_modified(time).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = folder.path().join("store.of-an-api-server");
        fs::create_dir(&store).unwrap();
        runtime.block_on(keep(&store, &folder.path().join("new"))).unwrap();

        let left = stores(folder.path()).unwrap();
        let left: Vec<_> = left.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        let expected = std::iter::once("new").chain(names.iter().skip(2).rev().map(String::as_str));
        assert_eq!(left, expected.collect::<Vec<_>>());
        assert!(!store.exists());
    }
}
