//! The observer against a scripted cloud, in paused time: what it costs, what it sees, which groups it wakes.

mod anything;
mod details;
mod failures;
mod groups;

use crate::support::{Scripted, Wall, World, group};
use foo_cloud::observer::{Settings, Wakes};
use foo_cloud::{Clock, ErrorKind, Observer, Seen, TemplateSummary};
use foo_model::GroupName;
use futures::{FutureExt, StreamExt};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::sleep;

struct Bench {
    cloud: Scripted,
    observer: Arc<Observer>,
    wakes: Wakes,
    clock: Arc<dyn Clock>,
    wall: Wall,
    driver: JoinHandle<()>,
}

impl Bench {
    /// An observer that has not begun to watch anything, of a cloud that is prepared so.
    fn new(prepare: &dyn Fn(&mut World)) -> Self {
        let cloud = Scripted::default();
        cloud.edit(prepare);
        let wall = Wall::default();
        let clock: Arc<dyn Clock> = Arc::new(wall.clock());
        let observer =
            Arc::new(Observer::new(Arc::new(cloud.clone()), Settings::default(), Arc::clone(&clock)));
        let wakes = observer.wakes();
        let driver = start(&observer);
        Self { cloud, observer, wakes, clock, wall, driver }
    }

    /// An observer of three groups, in an account that has these launch templates.
    async fn with_templates<const N: usize>(templates: [(String, TemplateSummary); N]) -> Self {
        let bench = Self::new(&|world| world.templates.extend(templates.clone()));
        for group in ["g0", "g1", "g2"] {
            bench.observer.watch(&group.into());
        }
        seconds(1).await;
        bench
    }

    /// An observer of this many groups that exist, called `g0`, `g1`, …, which has read all of them once.
    async fn of(groups: usize) -> Self {
        let cloud = Scripted::default();
        for at in 0..groups {
            let name = format!("g{at}");
            cloud.edit(|world| world.groups.insert(name.as_str().into(), group(&name, 3, &["i-1", "i-2"])));
        }
        let wall = Wall::default();
        let clock: Arc<dyn Clock> = Arc::new(wall.clock());
        let observer =
            Arc::new(Observer::new(Arc::new(cloud.clone()), Settings::default(), Arc::clone(&clock)));
        let wakes = observer.wakes();
        let driver = start(&observer);
        for at in 0..groups {
            observer.watch(&format!("g{at}").as_str().into());
        }
        let mut bench = Self { cloud, observer, wakes, clock, wall, driver };
        seconds(1).await;
        assert_eq!(bench.woken().len(), groups, "the first read of a group is news");
        bench.cloud.edit(|world| {
            world.group_calls.clear();
            world.template_calls.clear();
        });
        bench
    }

    /// Starts what names the groups that have not been observed for too long.
    fn guarded(&self) -> JoinHandle<()> {
        let observer = Arc::clone(&self.observer);
        tokio::spawn(async move { observer.guard().await })
    }

    fn woken(&mut self) -> BTreeSet<GroupName> {
        let mut names = BTreeSet::new();
        while let Some(Some(name)) = self.wakes.next().now_or_never() {
            assert!(names.insert(name), "named twice");
        }
        names
    }

    fn group_calls(&self) -> usize {
        self.cloud.edit(|world| world.group_calls.len())
    }

    fn fail(&self, kind: Option<ErrorKind>) {
        self.cloud.edit(|world| world.failing = kind);
    }

    fn resize(&self, name: &str, desired: u32) {
        self.cloud.edit(|world| world.groups.get_mut(&g(name)).unwrap().sizes.desired = desired);
    }

    fn desired(&self, name: &str) -> u32 {
        match self.observer.view(&g(name)).unwrap().seen {
            Seen::Present(group) => group.sizes.desired,
            Seen::Absent => panic!("absent"),
        }
    }
}

fn start(observer: &Arc<Observer>) -> JoinHandle<()> {
    let observer = Arc::clone(observer);
    tokio::spawn(async move { observer.run().await })
}

fn g(name: &str) -> GroupName {
    name.into()
}

fn only(name: &str) -> BTreeSet<GroupName> {
    BTreeSet::from([g(name)])
}

async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}
