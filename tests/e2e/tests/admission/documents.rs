//! Objects that a page shows are accepted as they stand there.

use crate::server::on_server;
use anyhow::{Context as _, ensure};
use std::path::Path;

#[test]
fn what_the_page_on_identities_shows_is_accepted() {
    on_server(async |server| {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations/identities.md");
        let text = std::fs::read_to_string(&page).context("reading the page")?;
        let blocks: Vec<&str> = text
            .split("```yaml\n")
            .skip(1)
            .filter_map(|rest| rest.split_once("```").map(|(block, _)| block))
            .collect();
        ensure!(blocks.len() == 5, "{} objects; it had five", blocks.len());
        let create = ["create", "namespace", "foo-system", "--dry-run=client", "--output=yaml"];
        server.apply(&server.kubectl(&create).await?).await?;
        server.apply(&blocks.join("---\n")).await?;
        let shown = server.kubectl(&["get", "fooclusteridentities", "--no-headers"]).await?;
        let names: Vec<&str> = shown.lines().filter_map(|line| line.split_whitespace().next()).collect();
        ensure!(names == ["default", "team-a", "team-a-keys", "team-b"], "{shown}");
        Ok(())
    });
}
