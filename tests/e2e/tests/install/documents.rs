//! docs/operations/install.md, followed to the letter.

use foo_e2e::document::Reader;
use foo_testbed::{CapiOptions, Rig, RigOptions};

const PAGE: &str = "docs/operations/install.md";

#[test]
fn the_page_on_installing_with_clusterctl_works_from_release_to_removal() {
    foo_e2e::alone(async || {
        let rig =
            Rig::start(RigOptions { capi: Some(CapiOptions::default()), ..RigOptions::default() }).await?;
        let reader = Reader::of(&rig).await?;
        let image = "registry.example.com/mine/cluster-api-provider-foo";
        reader.run(&format!("export IMAGE={image}")).await?;
        reader.follow(PAGE, "A release").await?;
        let foreign = "export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE AWS_SECRET_ACCESS_KEY=EXAMPLEKEY\n\
                      echo '#!/bin/sh' >user-data\n\
                      export EXISTING_KUBECONFIG=$KUBECONFIG USER_DATA=user-data";
        reader.run(foreign).await?;
        let printed = reader.follow(PAGE, "With clusterctl").await?;
        for provider in ["infrastructure-foo", "control-plane-foo", "bootstrap-foo"] {
            assert!(printed.contains(provider), "{printed}");
        }
        assert!(
            printed.contains(&format!("image: {image}:v0.1.0")),
            "what is installed runs the reader's image"
        );
        let printed = reader.follow(PAGE, "A first cluster").await?;
        assert!(printed.contains("my-cluster-workers"), "{printed}");
        reader.follow(PAGE, "Protection from deletion").await?;
        let delete = "clusterctl delete --config clusterctl.yaml --infrastructure foo --include-crd";
        let refused = reader.run(delete).await.err().map(|error| format!("{error:#}")).unwrap_or_default();
        assert!(refused.contains("found existing objects"), "{refused}");
        reader.follow(PAGE, "Remove a cluster").await?;
        let printed = reader.follow(PAGE, "See what is left").await?;
        assert_eq!(printed, "", "left after the cluster was deleted");
        reader.follow(PAGE, "Remove what clusterctl installed").await?;
        let left = rig
            .api()
            .kubectl(["get", "crd,clusterrole,clusterrolebinding,validatingadmissionpolicy", "-o", "name"])
            .await?;
        let own: Vec<&str> = left.lines().filter(|name| name.contains("foo")).collect();
        assert!(own.is_empty(), "{own:?}");
        Ok(())
    });
}

/// The rest of the page is tested in `eks/quickstart.rs`, with a manager.
#[test]
fn the_quick_start_builds_the_release_and_installs_the_providers() {
    const PAGE: &str = "docs/quickstart.md";
    foo_e2e::alone(async || {
        let rig =
            Rig::start(RigOptions { capi: Some(CapiOptions::default()), ..RigOptions::default() }).await?;
        let reader = Reader::of(&rig).await?;
        let foreign = "export IMAGE=registry.example.com/mine/cluster-api-provider-foo\n\
                      export MANAGER_KEY_ID=AKIAIOSFODNN7EXAMPLE MANAGER_SECRET_KEY=EXAMPLEKEY";
        reader.run(foreign).await?;
        reader.follow(PAGE, "2. Management cluster, image and release").await?;
        let printed = reader.follow(PAGE, "3. Install the providers").await?;
        for provider in ["cluster-api", "infrastructure-foo", "control-plane-foo", "bootstrap-foo"] {
            assert!(printed.contains(provider), "{printed}");
        }
        let keys = rig
            .api()
            .kubectl(["get", "secret", "foo-aws-credentials", "-n", "foo-system", "-o", "name"])
            .await?;
        assert_eq!(keys.trim(), "secret/foo-aws-credentials");
        Ok(())
    });
}
