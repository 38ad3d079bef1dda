//! Reserved and special capacity of pools: what EC2 would refuse is refused at once.

use super::server::{Kind, on_server, pool, with};
use serde_json::{Value, json};

/// Every attribute that a user may write.
fn attributes() -> Value {
    let range = json!({"min": 1, "max": 64});
    let decimals = json!({"min": "0.5", "max": "64"});
    json!({
        "architecture": "arm64", "vcpuCount": range, "memoryMiB": range, "memoryGiBPerVCPU": decimals,
        "cpuManufacturers": ["intel", "amd", "amazon-web-services", "apple"], "excludedInstanceTypes": ["c5*.*", "m5.large"],
        "instanceGenerations": ["current", "previous"], "bareMetal": "included", "burstablePerformance": "required",
        "localStorage": "required", "localStorageTypes": ["ssd", "hdd"], "totalLocalStorageGB": decimals,
        "networkInterfaceCount": range, "networkBandwidthGbps": decimals, "baselineEBSBandwidthMbps": range,
        "acceleratorCount": range, "acceleratorTypes": ["gpu", "fpga", "inference"],
        "acceleratorManufacturers": ["nvidia", "amd", "amazon-web-services", "xilinx"], "acceleratorNames": ["radeon-pro-v520"],
        "acceleratorTotalMemoryMiB": range, "onDemandMaxPricePercentageOverLowestPrice": 999_999,
        "spotMaxPricePercentageOverLowestPrice": 0,
    })
}

#[test]
fn attributes_of_instance_types_that_aws_would_refuse_are_refused_at_once() {
    on_server(async |server| {
        let mixed = |fields: Value| with(pool(), json!({"instanceType": null, "mixedInstances": fields}));
        let few = |fields: Value| with(json!({"vcpuCount": {"min": 2}, "memoryMiB": {"min": 4096}}), fields);
        let of = |fields: Value| mixed(json!({"overrides": [{"requirements": few(fields)}]}));
        let both = |x86: Value, arm64: Value| {
            let arm64 = with(few(json!({"architecture": "arm64"})), arm64);
            mixed(json!({"overrides": [{"requirements": few(x86)}, {"requirements": arm64}]}))
        };
        let makers = |names: &[&str]| json!({ "cpuManufacturers": names });
        for right in [
            both(json!({}), json!({})),
            both(makers(&["amd", "intel"]), makers(&["amazon-web-services"])),
            of(json!({})),
            mixed(json!({"overrides": [{"requirements": attributes()}]})),
            mixed(
                json!({"overrides": vec![json!({"requirements": few(json!({}))}); 4], "onDemandStrategy": "lowest-price"}),
            ),
            mixed(json!({"overrides": [{"instanceType": "m7i.large"}], "onDemandStrategy": "prioritized"})),
            of(json!({"acceleratorManufacturers": ["nvidia"]})),
            of(json!({"maxSpotPriceAsPercentageOfOptimalOnDemandPrice": 50, "allowedInstanceTypes": ["m*"]})),
            with(of(json!({"burstablePerformance": "required"})), json!({"cpuCredits": "standard"})),
        ] {
            server.accepts(Kind::MachinePool, &right).await?;
        }
        let one_of_two = "set either instanceType or requirements";
        let one_kind = "either all of overrides have instanceType, or all have requirements";
        let typed = json!({"instanceType": "m7i.large"});
        let described = json!({"requirements": few(json!({}))});
        let of_architecture = "with requirements of both architectures, cpuManufacturers can be";
        let no_order = "requirements have no order";
        let one = mixed(json!({"overrides": [{"instanceType": "m7i.large"}]}));
        server.accepts_change(Kind::MachinePool, pool(), of(json!({}))).await?;
        server.accepts_change(Kind::MachinePool, of(json!({})), one.clone()).await?;
        server.accepts_change(Kind::MachinePool, one, pool()).await?;
        for (wrong, message) in [
            (mixed(json!({"overrides": [{}]})), one_of_two),
            (mixed(json!({"overrides": [with(typed.clone(), described.clone())]})), one_of_two),
            (mixed(json!({"overrides": [typed, described.clone()]})), one_kind),
            (mixed(json!({"overrides": vec![described.clone(); 5]})), "at most 4 sets of requirements"),
            (both(makers(&["intel", "amazon-web-services"]), json!({})), of_architecture),
            (both(json!({}), makers(&["intel"])), of_architecture),
            (mixed(json!({"overrides": [described.clone()], "onDemandStrategy": "prioritized"})), no_order),
            (
                mixed(json!({"overrides": [described], "spotStrategy": "capacity-optimized-prioritized"})),
                no_order,
            ),
            (of(json!({"vcpuCount": null})), "vcpuCount"),
            (of(json!({"memoryMiB": {"max": 1}})), "min"),
            (of(json!({"vcpuCount": {"min": 0}})), "should be greater than or equal to 1"),
            (of(json!({"vcpuCount": {"min": 3, "max": 2}})), "min must not exceed max"),
            (of(json!({"acceleratorCount": {"min": 3, "max": 2}})), "min must not exceed max"),
            (of(json!({"acceleratorCount": {}})), "set min or max"),
            (of(json!({"memoryGiBPerVCPU": {"min": "10", "max": "9.5"}})), "min must not exceed max"),
            (of(json!({"memoryGiBPerVCPU": {}})), "set min or max"),
            (of(json!({"memoryGiBPerVCPU": {"min": "1.2345"}})), "should match"),
            (
                of(json!({"allowedInstanceTypes": ["m*"], "excludedInstanceTypes": ["c*"]})),
                "set either allowedInstanceTypes or excludedInstanceTypes",
            ),
            (of(json!({"allowedInstanceTypes": ["M5 large"]})), "should match"),
            (
                of(json!({
                    "spotMaxPricePercentageOverLowestPrice": 1, "maxSpotPriceAsPercentageOfOptimalOnDemandPrice": 1,
                })),
                "set either spotMaxPricePercentageOverLowestPrice",
            ),
            (
                of(json!({"localStorage": "excluded", "localStorageTypes": ["ssd"]})),
                "localStorage cannot be excluded",
            ),
            (of(json!({"bareMetal": "allowed"})), "Unsupported value"),
            (
                with(of(json!({})), json!({"cpuCredits": "standard"})),
                "cpuCredits is for burstable instance types",
            ),
        ] {
            server.refuses(Kind::MachinePool, wrong, message).await?;
        }
        Ok(())
    });
}

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
        let one_target = "set exactly one of preference, id, resourceGroupARN and block";
        let in_block = |fields: Value| with(reserve(json!({"block": {"id": "cr-0a"}})), fields);
        let not_in_block = "capacityReservation.block needs instanceType, without warmPool and autoscaling";
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
            (reserve(json!({"block": {"id": "cr-1"}, "id": "cr-1"})), one_target),
            (reserve(json!({"block": {}})), "id"),
            (reserve(json!({"block": {"id": "i-1"}})), "should match"),
            (reserve(json!({"block": {"id": "cr-1", "drainLeadSeconds": 299}})), "drainLeadSeconds"),
            (in_block(json!({"spot": {}})), not_of_spot),
            (in_block(json!({"warmPool": {"minSize": 1}})), not_in_block),
            (in_block(json!({"autoscaling": {"minSize": 0, "maxSize": 3}})), not_in_block),
            (
                in_block(json!({
                    "instanceType": null,
                    "mixedInstances": {"overrides": [{"instanceType": "m7i.large"}], "onDemandPercentage": 100},
                })),
                not_in_block,
            ),
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
            in_block(json!({})),
            reserve(json!({"block": {"id": "cr-0a", "drainLeadSeconds": 86_400}})),
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
