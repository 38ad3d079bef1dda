//! The handlers, each with its name.

use crate::variables;
use crate::{patches, upgrade};
use foo_runtime_sdk::hooks::{DiscoverVariables, GeneratePatches, GenerateUpgradePlan};
use foo_runtime_sdk::{Extension, Handler};
use std::future::ready;

/// The extension. Handlers whose setting is off let everything pass, so settings change without another discovery.
///
/// # Errors
///
/// Never in a program that was tested: when a variable has no schema.
pub fn extension() -> anyhow::Result<Extension> {
    let definitions = variables::definitions()?;
    let discovered = move |request: foo_runtime_sdk::hooks::DiscoverVariablesRequest| {
        ready(crate::settings::Settings::of(&request.settings).map(|_known| definitions.clone()))
    };
    Ok(Extension::new([
        Handler::new(DiscoverVariables, "variables", discovered),
        Handler::new(GeneratePatches, "patches", |request| ready(patches::generate(&request))),
        Handler::new(GenerateUpgradePlan, "upgrade-plan", |request| ready(upgrade::plan(&request))),
    ])?)
}
