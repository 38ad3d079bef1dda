//! Free addresses of subnets against what pools need. Values only.
//!
//! Several pools share subnets, so they are taken together: for the subnets of each pool, all pools that have no
//! others. A set is short if its pools are to grow, and what they need beyond the instances that run there is more than
//! what is free. A pool that is not to grow is never refused: a full subnet must not stop changes of something else.

use crate::account::Group;
use crate::report::pools;
use std::collections::{BTreeMap, BTreeSet};

/// What a pool needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) pool: String,
    /// Desired replicas.
    pub(crate) replicas: u32,
    /// Desired replicas and surge.
    pub(crate) most: u32,
    pub(crate) subnets: BTreeSet<String>,
}

/// A sentence for each set of subnets that is short. Which subnets, which pools and how many instances follow from the
/// topology alone, so the sentence stays the same while instances come and go.
pub(crate) fn shortages(demands: &[Demand], free: &BTreeMap<String, u32>, groups: &[Group]) -> Vec<String> {
    let sets: BTreeSet<&BTreeSet<String>> = demands.iter().map(|demand| &demand.subnets).collect();
    sets.into_iter().filter_map(|set| shortage(set, demands, free, groups)).collect()
}

fn shortage(
    set: &BTreeSet<String>,
    demands: &[Demand],
    free: &BTreeMap<String, u32>,
    groups: &[Group],
) -> Option<String> {
    let bound: Vec<&Demand> = demands.iter().filter(|demand| demand.subnets.is_subset(set)).collect();
    let sum = |of: fn(&Demand) -> u32| bound.iter().map(|demand| u64::from(of(demand))).sum::<u64>();
    let (replicas, most) = (sum(|demand| demand.replicas), sum(|demand| demand.most));
    let there = groups
        .iter()
        .filter(|group| group.subnets.is_subset(set))
        .map(|group| group.instances)
        .sum::<usize>();
    let there = u64::try_from(there).unwrap_or(u64::MAX);
    let free: u64 = set.iter().filter_map(|subnet| free.get(subnet)).map(|free| u64::from(*free)).sum();
    let short = replicas > there && most.saturating_sub(there) > free;
    short.then(|| {
        let names = bound.iter().map(|demand| demand.pool.as_str()).collect();
        let subnets: Vec<&str> = set.iter().map(String::as_str).collect();
        let instances = if most == 1 { "instance" } else { "instances" };
        format!(
            "{}: too few free addresses in {} for {most} {instances}, those of a roll-out included",
            pools(&names),
            subnets.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(subnets: &[&str]) -> BTreeSet<String> {
        subnets.iter().map(|subnet| (*subnet).to_owned()).collect()
    }

    fn demand(pool: &str, replicas: u32, subnets: &[&str]) -> Demand {
        Demand { pool: pool.to_owned(), replicas, most: replicas + 1, subnets: set(subnets) }
    }

    fn found(demands: &[Demand], free: &[(&str, u32)], groups: &[(&[&str], usize)]) -> Vec<String> {
        let free = free.iter().map(|(subnet, free)| ((*subnet).to_owned(), *free)).collect();
        let groups: Vec<_> = groups
            .iter()
            .map(|(subnets, instances)| Group { pool: None, subnets: set(subnets), instances: *instances })
            .collect();
        shortages(demands, &free, &groups)
    }

    #[test]
    fn a_new_pool_needs_addresses_for_its_replicas_and_its_surge() {
        let pool = [demand("a", 10, &["s1", "s2"])];
        assert_eq!(found(&pool, &[("s1", 5), ("s2", 6)], &[]), Vec::<String>::new());
        assert_eq!(
            found(&pool, &[("s1", 5), ("s2", 5)], &[]),
            ["pool a: too few free addresses in s1, s2 for 11 instances, those of a roll-out included"]
        );
    }

    #[test]
    fn instances_that_run_have_their_addresses() {
        let pool = [demand("a", 10, &["s1"])];
        assert!(found(&pool, &[("s1", 1)], &[(&["s1"], 10)]).is_empty());
        assert!(found(&pool, &[("s1", 0)], &[(&["s1"], 10)]).is_empty(), "it is not to grow");
        assert_eq!(found(&pool, &[("s1", 1)], &[(&["s1"], 9)]).len(), 1);
        assert_eq!(found(&pool, &[("s1", 1)], &[(&["s1", "s2"], 10)]).len(), 1, "they may be elsewhere");
    }

    #[test]
    fn pools_that_share_subnets_share_their_addresses() {
        let both = [demand("a", 3, &["s1"]), demand("b", 3, &["s1"])];
        let found = found(&both, &[("s1", 7)], &[]);
        assert_eq!(
            found,
            ["pools a, b: too few free addresses in s1 for 8 instances, those of a roll-out included"]
        );
    }

    #[test]
    fn a_pool_of_one_subnet_finds_no_room_in_others() {
        let both = [demand("a", 3, &["s1"]), demand("b", 3, &["s1", "s2"])];
        let short = found(&both, &[("s1", 2), ("s2", 100)], &[]);
        assert_eq!(
            short,
            ["pool a: too few free addresses in s1 for 4 instances, those of a roll-out included"]
        );
    }
}
