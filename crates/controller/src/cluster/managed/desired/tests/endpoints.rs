//! Endpoints of AWS's services.

use super::*;

#[test]
fn a_service_that_is_listed_twice_is_one_endpoint_of_each_type() {
    let region = Region::with("ab");
    let endpoints = |list: Value| {
        let desired = region.desired(json!({"endpoints": list, "zones": {"count": 2}})).unwrap();
        let kind = |it: &DesiredEndpointKind| match it {
            DesiredEndpointKind::Gateway => "gateway",
            DesiredEndpointKind::Interface { private_dns: true, .. } => "interface with names",
            DesiredEndpointKind::Interface { private_dns: false, .. } => "interface",
        };
        desired.endpoints.iter().map(|it| format!("{} {}", it.name, kind(&it.kind))).collect::<Vec<_>>()
    };
    let whole = |service: &str, kind: &str| json!({"service": format!("com.amazonaws.eu-central-1.{service}"), "type": kind});
    let both = endpoints(json!([{"name": "S3"}, whole("s3", "Interface")]));
    assert_eq!(both, ["com.amazonaws.eu-central-1.s3 interface", "s3 gateway"]);
    for list in
        [json!([{"name": "S3"}, whole("s3", "Gateway")]), json!([whole("s3", "Gateway"), {"name": "S3"}])]
    {
        assert_eq!(endpoints(list), ["s3 gateway"]);
    }
    assert_eq!(endpoints(json!([whole("ec2", "Interface"), {"name": "EC2"}])), ["ec2 interface with names"]);
    // Admission refuses the same service twice by its whole name.
    let both_whole = [whole("s3", "Gateway"), whole("s3", "Interface")];
    let twice = json!({"endpoints": both_whole, "zones": {"count": 2}});
    let (reason, message) = region.problem(twice);
    assert_eq!(reason, Reason::EndpointTwice);
    assert!(
        message.starts_with("com.amazonaws.eu-central-1.s3 is listed as a gateway and as an interface"),
        "{message}"
    );
}

#[test]
fn names_of_services_become_endpoints() {
    let endpoints = |region: &Region, list: Value| {
        let desired = region.desired(json!({"endpoints": list, "zones": {"count": 2}})).unwrap();
        desired.endpoints
    };
    let region = Region::with("ab");
    let all = endpoints(&region, json!([{"name": "S3"}, {"name": "ECR"}, {"name": "SSM"}]));
    let names: Vec<_> = all.iter().map(|it| (it.name.as_str(), it.service.as_str())).collect();
    assert_eq!(
        names,
        [
            ("ec2messages", "com.amazonaws.eu-central-1.ec2messages"),
            ("ecr.api", "com.amazonaws.eu-central-1.ecr.api"),
            ("ecr.dkr", "com.amazonaws.eu-central-1.ecr.dkr"),
            ("s3", "com.amazonaws.eu-central-1.s3"),
            ("ssm", "com.amazonaws.eu-central-1.ssm"),
            ("ssmmessages", "com.amazonaws.eu-central-1.ssmmessages"),
        ]
    );
    assert_eq!(all[3].kind, DesiredEndpointKind::Gateway);
    assert_eq!(
        all[0].kind,
        DesiredEndpointKind::Interface {
            subnets: ["private/eu-central-1a".to_owned(), "private/eu-central-1b".to_owned()].into(),
            groups: ["endpoint".to_owned()].into(),
            private_dns: true,
        }
    );
    let is_private = |service: &str| {
        let endpoints = endpoints(&region, json!([{"service": service}]));
        matches!(endpoints[0].kind, DesiredEndpointKind::Interface { private_dns: true, .. })
    };
    assert!(is_private("com.amazonaws.eu-central-1.kms"));
    assert!(!is_private("com.amazonaws.eu-central-1.s3"));
    assert!(!is_private("com.amazonaws.vpce.eu-central-1.vpce-svc-0123"));
}

#[test]
fn names_of_services_differ_between_partitions() {
    let of = |name: &'static str| Region {
        name: Some(name),
        zones: [zone(name, 'a', "az1")].into(),
        ..Region::default()
    };
    let spec =
        || json!({"zones": {"count": 1}, "endpoints": [{"name": "S3"}, {"name": "EC2"}, {"name": "Logs"}]});
    let services = |region: &'static str| {
        let desired = of(region).desired(spec()).unwrap();
        desired.endpoints.into_iter().map(|it| it.service).collect::<Vec<_>>()
    };
    assert_eq!(
        services("cn-north-1"),
        ["cn.com.amazonaws.cn-north-1.ec2", "com.amazonaws.cn-north-1.logs", "com.amazonaws.cn-north-1.s3"]
    );
    assert_eq!(services("us-gov-west-1")[0], "com.amazonaws.us-gov-west-1.ec2");
    assert_eq!(of("us-iso-east-1").problem(spec()).0, Reason::EndpointUnknown);
    assert_eq!(of("eusc-de-east-1").problem(spec()).0, Reason::EndpointUnknown);
}
