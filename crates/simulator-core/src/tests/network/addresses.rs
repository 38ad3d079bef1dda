//! Elastic IP addresses.

use super::scene::{net, net_with};
use foo_model::AllocationId;
use foo_model::network::{Change, Tags};

fn release(allocation: &AllocationId) -> Change {
    Change::ReleaseAddress { allocation: allocation.clone() }
}

#[test]
fn there_are_as_many_addresses_as_the_quota_says_and_none_twice() {
    let net = net_with(|settings| settings.network_quotas.addresses = 2);
    let (one, two) = (net.address(), net.address());
    let now = net.now();
    assert_ne!(now.addresses[&one].ip, now.addresses[&two].ip);
    let (code, message) = net.refused(&Change::AllocateAddress { tags: Tags::new() });
    let text = "The maximum number of addresses has been reached.";
    assert_eq!((code.as_str(), message.as_str()), ("AddressLimitExceeded", text));
    net.done(&release(&one));
    net.address();
    let (code, message) = net.refused(&release(&one));
    let text = format!("The allocation ID '{one}' does not exist");
    assert_eq!((code.as_str(), message), ("InvalidAllocationID.NotFound", text));
}

#[test]
fn the_address_of_a_nat_gateway_cannot_be_released_until_the_gateway_is_deleted() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    net.attached(&vpc);
    let address = net.address();
    let gateway = net.nat(&subnet, &address);
    let refused = |net: &super::scene::Net| {
        let (code, message) = net.refused(&release(&address));
        let text = "You do not have permission to access the specified resource.";
        assert_eq!((code.as_str(), message.as_str()), ("AuthFailure", text));
    };
    refused(&net);
    net.done(&Change::DeleteNatGateway { gateway });
    refused(&net);
    net.wait(60);
    assert_eq!(net.now().addresses[&address].interface, None);
    net.done(&release(&address));
}
