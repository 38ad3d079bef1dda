//! Objects that a page shows are accepted as they stand there.

use super::server::on_server;
use anyhow::{Context as _, ensure};

/// The objects of a page, as it shows them.
fn shown(page: &str) -> anyhow::Result<Vec<String>> {
    let page = super::server::root().join(page);
    let text = std::fs::read_to_string(&page).context("reading the page")?;
    let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split_once("```"));
    Ok(blocks.map(|(block, _)| block.to_owned()).collect())
}

#[test]
fn the_page_on_networks_and_the_samples_are_accepted() {
    on_server(async |server| {
        let mut objects = shown("docs/concepts/networks.md")?;
        ensure!(objects.len() == 5, "{} objects; it had five", objects.len());
        for entry in std::fs::read_dir(super::server::root().join("deploy/samples"))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            // The samples of policies are tested with their tenants.
            if !name.ends_with("_limits.yaml") {
                objects.push(std::fs::read_to_string(path)?);
            }
        }
        ensure!(objects.len() == 10, "{} objects with the samples; there were ten", objects.len());
        let create = ["create", "-f", "-", "--dry-run=server", "--output=name"];
        let created = server.kubectl_with(&create, &objects.join("---\n")).await?;
        ensure!(created.lines().count() == objects.len(), "{created}");
        Ok(())
    });
}

#[test]
fn examples_of_the_page_on_identities_are_accepted() {
    on_server(async |server| {
        let blocks = shown("docs/operations/identities.md")?;
        ensure!(blocks.len() == 6, "{} objects; it had six", blocks.len());
        let create = ["create", "namespace", "foo-system", "--dry-run=client", "--output=yaml"];
        server.apply(&server.kubectl(&create).await?).await?;
        server.apply(&blocks.join("---\n")).await?;
        let shown = server.kubectl(&["get", "fooclusteridentities", "--no-headers"]).await?;
        let names: Vec<&str> = shown.lines().filter_map(|line| line.split_whitespace().next()).collect();
        ensure!(names == ["default", "shared", "team-a", "team-a-keys", "team-b"], "{shown}");
        Ok(())
    });
}
