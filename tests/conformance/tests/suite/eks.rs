//! A cluster's life, and what EKS needs of IAM, through the Rust SDK, as the provider asks for it: of the simulator and
//! of moto. moto knows clusters, their configuration and tags, roles, instance profiles and OpenID Connect providers;
//! neither updates of versions, add-ons, access entries nor pod identity associations.

use crate::sdk::{Moto, World, differ_only_in, here};
use anyhow::{Context as _, Result};
use foo_cloud::{Clusters, Roles};
use foo_model::eks::{
    AuthenticationMode, Change, Cluster, ClusterChange, ConfigUpdate, EndpointAccess, InstanceProfile,
    IpFamily, LogType, Minor, NewCluster, NewOidcProvider, OidcProvider, Placement, Query, QueryResult, Role,
    SupportType, TagChange,
};
use foo_model::network::Tags;
use foo_simulator::{AccessKey, Handle, SimulatorConfig};
use serde_json::json;
use std::collections::BTreeSet;

/// Name of the role and of the instance profile that both have (`serve_moto.py`).
const NODES: &str = "nodes";
const ISSUER: &str = "https://oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF";

/// Where moto's results differ, and why moto is wrong ("API" is the Amazon EKS API Reference).
const DEVIATIONS: [(&str, &str); 8] = [
    ("created: mode", "API, CreateCluster, accessConfig: moto forgets it"),
    ("created: support", "API, CreateCluster, upgradePolicy: moto forgets it"),
    ("other logs", "API, UpdateClusterConfig: the response is an update; moto responds with the cluster"),
    ("a private endpoint", "the same"),
    ("updated: access", "API, VpcConfigRequest: what a request does not name stays; moto replaces all of it"),
    ("updated: subnets", "the same"),
    ("updated: mode", "follows from the creation"),
    ("updated: support", "follows from the creation"),
];

fn main_cluster() -> String {
    "main".to_owned()
}

fn tags(key: &str) -> Tags {
    [(key.to_owned(), "v".to_owned())].into()
}

fn account_of(cloud_role: &Role) -> String {
    cloud_role.arn.split(':').nth(4).unwrap_or_default().to_owned()
}

/// What a cluster is like, as far as it is the same in every AWS: no ids, no times, no versions of the platform.
fn shown(cluster: &Cluster) -> Vec<(&'static str, String)> {
    vec![
        ("status", format!("{:?}", cluster.status)),
        ("version", cluster.version.to_string()),
        ("endpoint", cluster.endpoint.as_ref().is_some_and(|it| it.starts_with("https://")).to_string()),
        ("authority", cluster.certificate_authority.is_some().to_string()),
        ("issuer", cluster.oidc_issuer.as_ref().is_some_and(|it| it.starts_with("https://")).to_string()),
        ("subnets", cluster.placement.subnets.len().to_string()),
        ("access", format!("{:?}", cluster.access)),
        ("services", format!("{:?} {:?}", cluster.service_ipv4, cluster.ip_family)),
        ("mode", format!("{:?}", cluster.authentication_mode)),
        ("logs", format!("{:?}", cluster.logging)),
        ("key", format!("{:?}", cluster.encryption_key)),
        ("support", format!("{:?}", cluster.upgrade_policy)),
        ("protection", cluster.deletion_protection.to_string()),
        ("tags", format!("{:?}", cluster.tags)),
    ]
}

fn of_main(change: ClusterChange) -> Change {
    Change::Cluster { cluster: main_cluster(), change }
}

impl World {
    async fn new_cluster(&self) -> Result<NewCluster> {
        let role = self.cloud.role(NODES).await?.context("no role")?;
        Ok(NewCluster {
            version: Some(Minor(34)),
            role_arn: role.arn,
            placement: Placement { subnets: self.subnets(), security_groups: BTreeSet::new() },
            access: EndpointAccess {
                public: true,
                private: true,
                public_cidrs: ["203.0.113.0/24".to_owned()].into(),
            },
            service_ipv4: Some("10.100.0.0/16".to_owned()),
            ip_family: IpFamily::Ipv4,
            authentication_mode: AuthenticationMode::Api,
            creator_is_admin: false,
            self_managed_addons: false,
            logging: [LogType::Api].into(),
            encryption_key: None,
            upgrade_policy: Some(SupportType::Standard),
            zonal_shift: None,
            deletion_protection: false,
            scaling_tier: None,
            tags: tags("a"),
        })
    }

    async fn tries_eks(&mut self, step: &str, change: Change, token: Option<&str>) {
        let outcome = self.cloud.change_eks(&change, token).await;
        self.note(step, outcome.map(|_| "done".to_owned()));
    }

    async fn sees_cluster(&mut self, step: &str) {
        match self.cloud.describe_eks(&Query::Cluster(main_cluster())).await {
            Ok(QueryResult::Cluster(Some(cluster))) => {
                for (what, value) in shown(&cluster) {
                    self.note(&format!("{step}: {what}"), Ok(value));
                }
            }
            other => self.note(step, other.map(|result| format!("{result:?}"))),
        }
    }

    async fn lives_through_a_cluster(&mut self) -> Result<()> {
        self.sees_cluster("no cluster").await;
        let cluster = Box::new(self.new_cluster().await?);
        let create = of_main(ClusterChange::Create(cluster));
        self.tries_eks("create", create.clone(), Some("one")).await;
        self.tries_eks("create with another token", create, Some("two")).await;
        self.wait(900);
        self.sees_cluster("created").await;
        self.updates().await;
        self.tags_of_cluster().await?;
        let delete = || of_main(ClusterChange::Delete);
        self.tries_eks("delete", delete(), None).await;
        self.wait(900);
        self.sees_cluster("deleted").await;
        self.tries_eks("delete again", delete(), None).await;
        Ok(())
    }

    async fn updates(&mut self) {
        let update = |update| of_main(ClusterChange::UpdateConfig(update));
        let logs = ConfigUpdate::Logging([LogType::Audit].into());
        self.tries_eks("other logs", update(logs), Some("logs")).await;
        self.wait(600);
        let access = EndpointAccess { public: false, private: true, public_cidrs: BTreeSet::new() };
        self.tries_eks("a private endpoint", update(ConfigUpdate::Access(access)), Some("access")).await;
        self.wait(600);
        self.sees_cluster("updated").await;
    }

    async fn tags_of_cluster(&mut self) -> Result<()> {
        let found = self.cloud.describe_eks(&Query::Cluster(main_cluster())).await?;
        let QueryResult::Cluster(Some(cluster)) = found else { anyhow::bail!("no cluster") };
        let arn = cluster.arn;
        let unknown = format!("{arn}-2");
        let tag = |arn: String| Change::Tags { arn, change: TagChange::Tag(tags("b")) };
        let untag = TagChange::Untag(["a".to_owned()].into());
        self.tries_eks("tag", tag(arn.clone()), None).await;
        self.tries_eks("tag missing", tag(unknown), None).await;
        self.tries_eks("untag", Change::Tags { arn, change: untag }, None).await;
        let found = self.cloud.describe_eks(&Query::Cluster(main_cluster())).await?;
        let QueryResult::Cluster(Some(cluster)) = found else { anyhow::bail!("no cluster") };
        self.note("tags", Ok(format!("{:?}", cluster.tags)));
        Ok(())
    }

    /// Roles, instance profiles, and the life of an OpenID Connect provider.
    async fn asks_iam(&mut self) -> Result<()> {
        let role = self.cloud.role(NODES).await?.context("no role")?;
        let account = account_of(&role);
        self.note("role", Ok(format!("{} {:?}", role.arn.replace(&account, ""), role.trusted_services)));
        self.note("its id", Ok(role.unique_id.starts_with("AROA").to_string()));
        let unknown = self.cloud.role("missing").await;
        self.note("unknown role", unknown.map(|it| it.is_some().to_string()));
        let profile = self.cloud.instance_profile(NODES).await;
        let is_it = |it: InstanceProfile| it.role.is_some_and(|it| it.arn == role.arn);
        self.note("profile", profile.map(|it| it.is_some_and(is_it).to_string()));
        let unknown = self.cloud.instance_profile("missing").await;
        self.note("unknown profile", unknown.map(|it| it.is_some().to_string()));
        self.lives_through_a_provider().await
    }

    async fn lives_through_a_provider(&mut self) -> Result<()> {
        let new = NewOidcProvider {
            url: ISSUER.to_owned(),
            client_ids: ["sts.amazonaws.com".to_owned()].into(),
            tags: tags("a"),
        };
        let arn = self.cloud.create_oidc_provider(&new).await?;
        self.note("provider", Ok(arn.rsplit(":oidc-provider/").next().unwrap_or_default().to_owned()));
        let again = self.cloud.create_oidc_provider(&new).await;
        self.note("provider again", again.map(|_| "made".to_owned()));
        let show = |it: Option<OidcProvider>| {
            it.map_or_else(|| "none".to_owned(), |it| format!("{} {:?} {:?}", it.url, it.client_ids, it.tags))
        };
        let found = self.cloud.oidc_provider(&arn).await;
        self.note("what it is like", found.map(show));
        let deleted = self.cloud.delete_oidc_provider(&arn).await;
        self.note("delete the provider", deleted.map(|()| "done".to_owned()));
        let found = self.cloud.oidc_provider(&arn).await;
        self.note("no provider", found.map(show));
        let deleted = self.cloud.delete_oidc_provider(&arn).await;
        self.note("delete it again", deleted.map(|()| "done".to_owned()));
        Ok(())
    }

    async fn reads_everything_of_eks(&mut self) -> Result<()> {
        self.asks_iam().await?;
        self.lives_through_a_cluster().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moto_has_different_clusters_only_where_it_deviates_from_aws() -> Result<()> {
    let aws = Handle::start(SimulatorConfig::stepped()).await?;
    // Without a key every role exists.
    let key = AccessKey { id: "judge".to_owned(), secret: "judge".to_owned(), policy: None };
    aws.simulator().put_key(key);
    let role = json!({ "name": NODES, "services": ["ec2.amazonaws.com", "eks.amazonaws.com"] });
    aws.simulator().put_role(serde_json::from_value(role)?);
    aws.simulator().put_instance_profile(serde_json::from_value(json!({ "name": NODES, "role": NODES }))?);
    let mut moto = Moto::start().await?;
    let mut simulated = World::new(here(aws.endpoint()), Some(aws.simulator().clone())).await?;
    let mut of_moto = World::new(moto.place.take().context("no place")?, None).await?;
    simulated.reads_everything_of_eks().await.context("foo-sim")?;
    of_moto.reads_everything_of_eks().await.context("moto")?;
    differ_only_in(&DEVIATIONS, &simulated, &of_moto);
    Ok(())
}
