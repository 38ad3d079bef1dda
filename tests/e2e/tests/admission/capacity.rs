//! Reserved and special capacity of pools: what EC2 would refuse is refused at once.

use crate::server::{Kind, on_server, pool, with};
use serde_json::{Value, json};

#[test]
fn special_capacity_that_ec2_would_refuse_is_refused_at_once() {
    on_server(async |server| {
        let place = |fields: Value| json!({ "placement": fields });
        let reserve = |fields: Value| json!({ "capacityReservation": fields });
        let hosts = "arn:aws:resource-groups:eu-central-1:123456789012:group/hosts";
        let on_hosts = |fields: Value| with(place(json!({"hostResourceGroupARN": hosts})), fields);
        let mixed = |percentage: u32| {
            json!({
                "placement": {"hostResourceGroupARN": hosts}, "instanceType": null,
                "mixedInstances": {"overrides": [{"instanceType": "m7i.large"}], "onDemandPercentage": percentage},
            })
        };
        let one_place = "set exactly one of groupName, groupID and hostResourceGroupARN";
        let one_target = "set exactly one of preference, id and resourceGroupARN";
        let no_spot = "have no spot instances";
        let not_of_spot = "EC2 has no Capacity Reservations for spot instances";
        let half = |reservation: Value| {
            json!({
                "instanceType": null, "capacityReservation": reservation,
                "mixedInstances": {"overrides": [{"instanceType": "m7i.large"}], "onDemandPercentage": 50},
            })
        };
        for (wrong, message) in [
            (place(json!({})), one_place),
            (place(json!({"groupName": "a", "groupID": "pg-1"})), one_place),
            (place(json!({"groupName": "a", "hostResourceGroupARN": hosts})), one_place),
            (
                place(json!({"hostResourceGroupARN": hosts, "partitionNumber": 1})),
                "partitionNumber is for placement groups",
            ),
            (place(json!({"groupName": "a", "partitionNumber": 8})), "partitionNumber"),
            (place(json!({"groupName": "a*"})), "should match"),
            (place(json!({"groupName": "a\u{1}"})), "should match"),
            (place(json!({"groupID": "a"})), "should match"),
            (place(json!({"hostResourceGroupARN": "arn:aws:iam::1:role/x"})), "should match"),
            (on_hosts(json!({"tenancy": "dedicated"})), "leave tenancy out"),
            (on_hosts(json!({"spot": {}})), no_spot),
            (mixed(99), no_spot),
            (reserve(json!({})), one_target),
            (reserve(json!({"preference": "none", "id": "cr-1"})), one_target),
            (reserve(json!({"resourceGroupARN": hosts, "id": "cr-1"})), one_target),
            (reserve(json!({"preference": "only"})), "preference"),
            (reserve(json!({"id": "i-1"})), "should match"),
            (with(reserve(json!({"id": "cr-1"})), json!({"spot": {}})), not_of_spot),
            (
                with(reserve(json!({"preference": "capacity-reservations-only"})), json!({"spot": {}})),
                not_of_spot,
            ),
            (half(json!({"id": "cr-1"})), not_of_spot),
            (on_hosts(reserve(json!({"id": "cr-1"}))), "EC2 has no Capacity Reservations on dedicated hosts"),
            (json!({"licenseConfigurations": ["lic-1"]}), "should match"),
            (
                json!({"volumes": [{"deviceName": "/dev/xvdb", "sizeGiB": 1, "snapshotID": "vol-1"}]}),
                "should match",
            ),
            (json!({"rootVolume": {"sizeGiB": 20, "initializationRate": 99}}), "initializationRate"),
            (json!({"rootVolume": {"sizeGiB": 20, "initializationRate": 301}}), "initializationRate"),
        ] {
            server.refuses(Kind::MachinePool, with(pool(), wrong), message).await?;
        }
        for right in [
            place(json!({"groupID": "pg-0a", "partitionNumber": 1})),
            on_hosts(json!({})),
            mixed(100),
            reserve(json!({"id": "cr-0a"})),
            reserve(json!({"resourceGroupARN": hosts})),
            with(reserve(json!({"preference": "none"})), json!({"spot": {}})),
            half(json!({"preference": "open"})),
            on_hosts(reserve(json!({"preference": "none"}))),
            with(place(json!({"groupName": "a"})), json!({"tenancy": "dedicated", "spot": {}})),
            // A volume of the image may have a snapshot of its own.
            json!({"volumes": [{"deviceName": "/dev/xvdb", "sizeGiB": 1, "initializationRate": 100}]}),
        ] {
            server.accepts(Kind::MachinePool, &with(pool(), right)).await?;
        }
        Ok(())
    });
}
