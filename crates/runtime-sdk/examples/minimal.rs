//! A whole runtime extension: a Cluster may not be created without an owner, and pools get a tag.
//!
//! `minimal <address> <certificate> <key>`

use foo_runtime_sdk::hooks::{
    BeforeClusterCreate, BeforeClusterCreateRequest, GeneratePatches, GeneratePatchesRequest,
    GeneratePatchesResponseItem,
};
use foo_runtime_sdk::server::{Files, Options, Server};
use foo_runtime_sdk::{Decision, Extension, Failure, Handler, Selector, patch};
use std::time::Duration;

const POOLS: Selector<'_> = Selector::of("infrastructure.foo.com", "FooMachinePoolTemplate");

async fn owner(request: BeforeClusterCreateRequest) -> Result<Decision, Failure> {
    Ok(match request.cluster.annotation("example.com/owner") {
        Some(_name) => Decision::Proceed,
        None => Decision::retry_in(Duration::from_secs(5), "the annotation example.com/owner is missing"),
    })
}

async fn tags(request: GeneratePatchesRequest) -> Result<Vec<GeneratePatchesResponseItem>, Failure> {
    let mut patches = Vec::new();
    for item in request.items.unwrap_or_default().iter().filter(|item| POOLS.matches(&item.object)) {
        let mut wanted = item.object.clone();
        let spec = wanted.0.pointer_mut("/spec/template/spec").and_then(|spec| spec.as_object_mut());
        let tags = spec.map(|spec| spec.entry("tags").or_insert_with(|| serde_json::json!({})));
        let Some(tags) = tags.and_then(|tags| tags.as_object_mut()) else { continue };
        tags.insert("example.com/managed".to_owned(), "true".into());
        patches.extend(patch::between(&item.object, &wanted)?.map(|patch| item.patched(patch)));
    }
    Ok(patches)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: minimal <address> <certificate> <key>");
    let options = Options {
        address: next()?.parse()?,
        admin_address: None,
        tls: Files { certificate: next()?.into(), key: next()?.into(), client_authorities: None },
        grace: Duration::from_secs(20),
    };
    let handlers =
        [Handler::new(BeforeClusterCreate, "owner", owner), Handler::new(GeneratePatches, "tags", tags)];
    Server::bind(Extension::new(handlers)?, options).await?.run(std::future::pending()).await;
    Ok(())
}
