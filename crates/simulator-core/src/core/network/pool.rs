//! The IPv4 addresses of a subnet, and which of them are assigned.

use ipnet::Ipv4Net;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// AWS reserves the first four addresses of a subnet and the last one (VPC User Guide, "Subnet CIDR blocks").
const RESERVED_AT_START: u32 = 4;
const RESERVED: u32 = 5;

/// Assigned and returned addresses, as offsets from the first address of the subnet.
#[derive(Clone, Debug)]
pub(super) struct AddressPool {
    range: Ipv4Net,
    given: u32,
    returned: BTreeSet<u32>,
}

impl AddressPool {
    pub(super) fn new(range: Ipv4Net) -> Self {
        Self { range, given: 0, returned: BTreeSet::new() }
    }

    fn capacity(&self) -> u32 {
        1_u32
            .checked_shl(32_u32.saturating_sub(u32::from(self.range.prefix_len())))
            .unwrap_or(0)
            .saturating_sub(RESERVED)
    }

    /// How many addresses are free.
    pub(super) fn free(&self) -> u32 {
        let returned = u32::try_from(self.returned.len()).unwrap_or(u32::MAX);
        self.capacity().saturating_sub(self.given).saturating_add(returned)
    }

    /// Assigns an address: one that was never used, while there are any, so that DNS names rarely repeat.
    pub(super) fn take(&mut self) -> Option<Ipv4Addr> {
        let offset = if self.given < self.capacity() {
            self.given += 1;
            RESERVED_AT_START + self.given - 1
        } else {
            self.returned.pop_first()?
        };
        Some(Ipv4Addr::from(u32::from(self.range.network()).wrapping_add(offset)))
    }

    pub(super) fn give_back(&mut self, address: Ipv4Addr) {
        self.returned.insert(u32::from(address).wrapping_sub(u32::from(self.range.network())));
    }
}

#[cfg(test)]
mod tests {
    use crate::core::network::{Network, PRIVATE_SUBNETS};
    use foo_model::{SubnetId, Zone};
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn addresses_are_unique_until_the_subnet_is_full() {
        let mut network = Network::default_of("eu-central-1", "123456789012", Duration::ZERO);
        let id = SubnetId::new(PRIVATE_SUBNETS[1]);
        let free = |network: &Network| network.subnets.get(&id).expect("default subnet").free_addresses;
        assert_eq!(free(&network), 8187);
        let first = network.assign_address(&id).expect("free");
        assert_eq!(first.to_string(), "10.0.32.4");
        let mut seen = BTreeSet::from([first]);
        while let Some(address) = network.assign_address(&id) {
            assert!(seen.insert(address));
        }
        assert_eq!((seen.len(), free(&network)), (8187, 0));
        network.free_address(&id, first);
        assert_eq!((network.assign_address(&id), free(&network)), (Some(first), 0));
        assert_eq!(network.zones[&Zone::new("eu-central-1b")], "euc1-az2");
    }
}
