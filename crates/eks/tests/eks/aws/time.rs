//! What happens by itself as time goes by.

use super::*;

impl Aws {
    pub fn advance(&mut self, to: Timestamp) {
        while let Some(index) = self.next_due(to) {
            let (at, due) = self.due.remove(index);
            self.now = self.now.max(at);
            let before = self.state.clone();
            self.happen(due);
            self.history.push((self.now, before));
        }
        self.now = self.now.max(to);
        let (now, lag) = (self.now, self.lag);
        self.history.retain(|(at, _)| at.plus(lag) > now);
    }

    fn next_due(&self, to: Timestamp) -> Option<usize> {
        let due = self.due.iter().enumerate().filter(|(_, (at, _))| *at <= to);
        due.min_by_key(|(_, (at, _))| *at).map(|(index, _)| index)
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Created => self.created(),
            Due::InsightsRefreshed => {
                if let Some(refresh) = &mut self.insights_refresh {
                    refresh.is_over = true;
                }
                self.insights = self.insights_next.take().unwrap_or_else(|| self.insights.clone());
            }
            Due::UpdateShows => {
                let moving = self.state.updates.iter().any(|it| it.status == UpdateStatus::InProgress);
                if let Some(cluster) = self.state.cluster.as_mut().filter(|_| moving) {
                    cluster.status = ClusterStatus::Updating;
                }
            }
            Due::UpdateOver(id, change) => self.update_over(&id, &change),
            Due::Deleted => {
                self.state.cluster = None;
                self.state.updates.clear();
                self.state.addons.clear();
                self.state.entries.clear();
                self.state.identities.clear();
                self.due.clear();
                self.tokens.clear();
            }
            Due::Addon(name) => self.addon_due(&name),
        }
    }

    fn created(&mut self) {
        let fails = self.creations_that_fail > 0;
        self.creations_that_fail = self.creations_that_fail.saturating_sub(1);
        let Some(cluster) = &mut self.state.cluster else { return };
        if fails {
            cluster.status = ClusterStatus::Failed;
            let code = "Ec2SubnetNotFound".to_owned();
            let message = "no such subnet".to_owned();
            cluster.health = vec![Issue { code, message, resources: vec!["subnet-1".to_owned()] }];
            return;
        }
        cluster.status = ClusterStatus::Active;
        cluster.endpoint = Some("https://ABC.gr7.eu-central-1.eks.amazonaws.com".to_owned());
        cluster.certificate_authority = Some("Y2E=".to_owned());
    }

    fn update_over(&mut self, id: &str, change: &ClusterChange) {
        let fails = self.updates_that_fail > 0;
        self.updates_that_fail = self.updates_that_fail.saturating_sub(1);
        let update = self.state.updates.iter_mut().find(|it| it.id == id).unwrap();
        update.status = if fails { UpdateStatus::Failed } else { UpdateStatus::Successful };
        let cluster = self.state.cluster.as_mut().unwrap();
        cluster.status = ClusterStatus::Active;
        if fails {
            let message = "no free addresses".to_owned();
            update.errors = vec![Issue { code: "IpNotAvailable".to_owned(), message, resources: vec![] }];
            return;
        }
        match change {
            ClusterChange::UpdateVersion { version, .. } => cluster.version = *version,
            ClusterChange::Encrypt(key) => cluster.encryption_key = Some(key.clone()),
            ClusterChange::UpdateConfig(update) => match update.clone() {
                ConfigUpdate::Access(it) => cluster.access = it,
                ConfigUpdate::Placement { subnets, security_groups } => {
                    let placement = &mut cluster.placement;
                    placement.subnets = subnets.unwrap_or_else(|| placement.subnets.clone());
                    placement.security_groups =
                        security_groups.unwrap_or_else(|| placement.security_groups.clone());
                }
                ConfigUpdate::Logging(it) => cluster.logging = it,
                ConfigUpdate::AuthenticationMode(it) => cluster.authentication_mode = it,
                ConfigUpdate::UpgradePolicy(it) => cluster.upgrade_policy = it,
                ConfigUpdate::ZonalShift(it) => cluster.zonal_shift = it,
                ConfigUpdate::DeletionProtection(it) => cluster.deletion_protection = it,
            },
            _ => {}
        }
    }
}
