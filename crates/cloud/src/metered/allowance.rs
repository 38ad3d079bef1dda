//! Which buckets the calls of a cloud use.
//!
//! AWS counts calls per account and region, whoever sends them; those of IAM per account. The account of credentials is
//! unknown until AWS reports it; until then a cloud has buckets of its own.

use super::Limits;
use super::bucket::Tokens;
use crate::bucket::Bucket;
use foo_model::operation::Priority;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The buckets of one account in one region. That of IAM is the same in all regions.
#[derive(Clone)]
pub(super) struct Buckets {
    auto_scaling: Arc<Tokens>,
    ec2_describe: Arc<Tokens>,
    ec2_mutate: Arc<Tokens>,
    sqs: Arc<Tokens>,
    rare: Arc<Tokens>,
    target_health: Arc<Tokens>,
    eks_describe: Arc<Tokens>,
    eks_mutate: Arc<Tokens>,
    iam: Arc<Tokens>,
}

/// The buckets of all accounts in use. Clones share them.
#[derive(Clone, Default)]
pub struct Accounts(Arc<Mutex<HashMap<Place, Weak<Buckets>>>>);

/// An account and a region.
type Place = (String, String);

/// The buckets that one cloud uses: its own, then those of its account.
pub struct Allowance {
    accounts: Accounts,
    region: String,
    state: Mutex<State>,
}

struct State {
    account: Option<String>,
    buckets: Arc<Buckets>,
}

impl Buckets {
    fn new(limits: Limits) -> Self {
        let full = |rate| Arc::new(Tokens::new(rate));
        Self {
            auto_scaling: full(limits.auto_scaling),
            ec2_describe: full(limits.ec2_describe),
            ec2_mutate: full(limits.ec2_mutate),
            sqs: full(limits.sqs),
            rare: full(limits.rare),
            target_health: full(limits.target_health),
            eks_describe: full(limits.eks_describe),
            eks_mutate: full(limits.eks_mutate),
            iam: full(limits.iam),
        }
    }

    pub(super) fn tokens(&self, bucket: Bucket) -> &Tokens {
        match bucket {
            Bucket::AutoScaling => &self.auto_scaling,
            Bucket::Ec2Describe => &self.ec2_describe,
            Bucket::Ec2Mutate => &self.ec2_mutate,
            Bucket::Sqs => &self.sqs,
            Bucket::Rare => &self.rare,
            Bucket::TargetHealth => &self.target_health,
            Bucket::EksDescribe => &self.eks_describe,
            Bucket::EksMutate => &self.eks_mutate,
            Bucket::Iam => &self.iam,
        }
    }
}

impl Allowance {
    /// Full buckets for a cloud in that region, whose account will be one of these.
    pub fn new(limits: Limits, accounts: Accounts, region: impl Into<String>) -> Self {
        let state = State { account: None, buckets: Arc::new(Buckets::new(limits)) };
        Self { accounts, region: region.into(), state: Mutex::new(state) }
    }

    /// How long a call of this priority that starts now waits for its token behind the calls that wait already and are as
    /// urgent or more; the longest wait of all buckets. The tokens that less urgent calls get meanwhile are not counted.
    pub fn backlog(&self, priority: Priority) -> Duration {
        let buckets = self.buckets();
        let all = [&buckets.auto_scaling, &buckets.ec2_describe, &buckets.ec2_mutate];
        all.map(|tokens| tokens.backlog(priority)).into_iter().max().unwrap_or_default()
    }

    pub(super) fn buckets(&self) -> Arc<Buckets> {
        Arc::clone(&self.state().buckets)
    }

    /// AWS reported the account. The first cloud of an account in a region contributes its own buckets, and the first
    /// of all regions that of IAM.
    pub(super) fn belongs_to(&self, account: &str) {
        let mut state = self.state();
        if account.is_empty() || state.account.as_deref() == Some(account) {
            return;
        }
        let mut known = self.accounts.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, buckets| buckets.strong_count() > 0);
        let place = (account.to_owned(), self.region.clone());
        if let Some(buckets) = known.get(&place).and_then(Weak::upgrade) {
            state.buckets = buckets;
        } else {
            let mut elsewhere = known.iter().filter(|((owner, _), _)| owner == account);
            if let Some(elsewhere) = elsewhere.find_map(|(_, buckets)| buckets.upgrade()) {
                let iam = Arc::clone(&elsewhere.iam);
                state.buckets = Arc::new(Buckets { iam, ..Buckets::clone(&state.buckets) });
            }
            known.insert(place, Arc::downgrade(&state.buckets));
        }
        state.account = Some(account.to_owned());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Accounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accounts").finish_non_exhaustive()
    }
}

impl fmt::Debug for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allowance").field("region", &self.region).finish_non_exhaustive()
    }
}
