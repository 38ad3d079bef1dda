//! What affects all pools beside the accidents of the storm: clocks that are set, objects that cannot be decoded,
//! tenants that are hostile, an AWS whose responses are late. Each begins, lasts a round, and ends; [`Surroundings`] is
//! where.

use anyhow::{Context as _, Result};
use foo_e2e::odd;
use foo_simulator::core::chance::Chance;
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{Cluster, Pool, SOON, World, manifests};
use foo_testbed::{Probe, wait_until};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;

/// How late what AWS returns may be.
const LAG: Duration = Duration::from_secs(3);
const ODD: &str = "odd";
const RIVAL: &str = "rival";
const HANGING: &str = "hanging";

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accident {
    /// The wall clock of the manager is set. (By less than the five minutes beyond which AWS refuses signatures.)
    ClockSet,
    /// Describe calls return the state of seconds ago, each with a random delay, and what was just created is not
    /// found.
    AwsForgets,
    /// Objects with times that cannot be decoded and control characters in their texts, in the storm's namespace and
    /// elsewhere.
    OddObjects,
    /// Another owner's pool names the storm's group, and is deleted again.
    Rival,
}

impl Accident {
    /// All of them, in an order that chance decides.
    pub(crate) fn shuffled(chance: &mut Chance) -> Result<Vec<Self>> {
        let mut left = vec![Self::ClockSet, Self::AwsForgets, Self::OddObjects, Self::Rival];
        let mut order = Vec::new();
        while !left.is_empty() {
            let next = chance.below(u64::try_from(left.len())?);
            order.push(left.swap_remove(usize::try_from(next)?));
        }
        Ok(order)
    }
}

/// The storm's pool, and the tenants around it.
pub(crate) struct Surroundings<'w> {
    world: &'w World,
    storm: Pool<'w>,
    rivals: Cluster<'w>,
}

impl<'w> Surroundings<'w> {
    /// A Cluster whose API server accepts connections and never responds exists from the beginning to the end.
    pub(crate) async fn of(world: &'w World, storm: Pool<'w>) -> Result<Self> {
        let rivals = world.cluster(RIVAL).await?;
        let (port, own) = (never_responds().await?, world.api().port());
        let kubeconfig = world.api().kubeconfig().replace(&format!(":{own}\""), &format!(":{port}\""));
        anyhow::ensure!(kubeconfig != world.api().kubeconfig(), "the kubeconfig names no port");
        let hanging = world.no_cluster(HANGING).await?;
        world.apply(&manifests::kubeconfig_secret(HANGING, HANGING, &kubeconfig)).await?;
        world.apply(&manifests::foo_cluster(HANGING, HANGING)).await?;
        world.apply(&manifests::foo_control_plane(HANGING, HANGING)).await?;
        world.apply(&manifests::cluster(HANGING, HANGING)).await?;
        hanging.pool("workers", 1).await?;
        Ok(Self { world, storm, rivals })
    }

    pub(crate) async fn begins(&self, accident: Accident, chance: &mut Chance) -> Result<()> {
        println!("  {accident:?} begins");
        match accident {
            Accident::ClockSet => {
                let moved = [-240, -30, 30, 240];
                self.clock_is_set(chance.pick(&moved).copied().unwrap_or_default()).await
            }
            Accident::AwsForgets => self.aws_is_late(LAG),
            Accident::OddObjects => odd::apply_odd_objects(self.world, &self.storm, ODD).await,
            Accident::Rival => self.rival().await,
        }
    }

    pub(crate) async fn ends(&self, accident: Accident) -> Result<()> {
        println!("  {accident:?} ends");
        match accident {
            Accident::ClockSet => self.clock_is_set(0).await,
            Accident::AwsForgets => self.aws_is_late(Duration::ZERO),
            Accident::OddObjects => odd::end(self.world, &self.storm, ODD).await,
            // What it does not own it does not take along.
            Accident::Rival => {
                let rival = self.rivals.existing_pool(RIVAL);
                rival.delete().await?;
                wait_until("the rival to be deleted", SOON, async || {
                    let (pool, foo_pool) =
                        (rival.read(Kind::MachinePool).await?, rival.read(Kind::FooMachinePool).await?);
                    Ok(Probe::when(pool.is_none() && foo_pool.is_none(), || format!("{pool:?} {foo_pool:?}")))
                })
                .await
            }
        }
    }

    /// And the manager notices: its log has that time.
    async fn clock_is_set(&self, seconds: i64) -> Result<()> {
        self.world.move_managers_clock(seconds)?;
        wait_until("the manager's log to show its clock", SOON, async || {
            let log = std::fs::read_to_string(self.world.manager().log())?;
            let time = |line: &str| line.split(' ').next()?.parse::<Timestamp>().ok();
            let last = log.lines().rev().find_map(time).context("an empty log")?;
            let off = last.as_second() - Timestamp::now().as_second();
            Ok(Probe::when((off - seconds).abs() < 15, || format!("off by {off} s, not by {seconds}")))
        })
        .await
    }

    fn aws_is_late(&self, lag: Duration) -> Result<()> {
        use foo_simulator::core::settings::ReadOrder;
        let changed = self.world.aws().region().change_settings(|settings| {
            settings.read_lag = lag;
            settings.read_order = if lag.is_zero() { ReadOrder::InOrder } else { ReadOrder::AnyOrder };
            settings.instances_appear_after = lag;
            settings.tags_appear_after = lag;
            settings.versions_appear_after = lag;
        });
        changed.map_err(|error| anyhow::anyhow!("{error:?}"))
    }

    async fn rival(&self) -> Result<()> {
        let group = self.storm.group();
        let names = |_: &mut Value, foo_pool: &mut Value| {
            let spec = foo_pool.pointer_mut("/spec").and_then(Value::as_object_mut);
            spec.map(|spec| spec.insert("groupName".to_owned(), json!(group)));
        };
        let rival = self.rivals.pool_with(RIVAL, 1, names).await?;
        wait_until("the rival to be refused", SOON, async || {
            let object = rival.read(Kind::FooMachinePool).await?.context("no FooMachinePool")?;
            let reported = kinds::condition(&object, "Ready");
            let reported =
                reported.is_some_and(|(_, reason, _)| ["GroupNameTaken", "GroupNotOwned"].contains(&reason));
            Ok(Probe::when(reported, || format!("{reported:?}")))
        })
        .await
    }
}

/// The port of a server on loopback that accepts connections and never responds, until this process ends.
async fn never_responds() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            tokio::spawn(async move { while connection.read_u8().await.is_ok() {} });
        }
    });
    Ok(port)
}
