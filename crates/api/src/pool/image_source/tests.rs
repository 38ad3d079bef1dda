use super::*;

fn kind<'a>(name: &'a str, architecture: &'a str, nvidia_gpus: u32, neuron_devices: u32) -> NodeType<'a> {
    NodeType { name, architecture, nvidia_gpus, neuron_devices }
}

fn x86() -> NodeType<'static> {
    kind("m7i.large", "x86_64", 0, 0)
}

fn arm() -> NodeType<'static> {
    kind("m7g.large", "arm64", 0, 0)
}

/// The source of these, as text, or the message.
fn source(ami: &Ami, version: &str, types: &[NodeType<'_>]) -> Result<String, String> {
    let version = Some(version).filter(|version| !version.is_empty());
    let source = Source::of(ami, Nodes { version, types });
    source.map(|source| source.to_string()).map_err(|none| none.message)
}

/// The sources of types of both architectures, as text.
fn sources(ami: &Ami, types: &[NodeType<'_>]) -> Result<Vec<String>, String> {
    let sources = Sources::of(ami, Nodes { version: Some("v1.36.3"), types });
    sources.map(|all| all.all().map(Source::to_string).collect()).map_err(|none| none.message)
}

fn parameter(name: &str) -> Ami {
    Ami { ssm_parameter: Some(name.to_owned()), ..Ami::default() }
}

fn recommended(family: ImageFamily, variant: Option<ImageVariant>) -> Ami {
    Ami { recommended: Some(RecommendedImage { family, variant }), ..Ami::default() }
}

#[test]
fn placeholders_are_the_minor_version_and_the_architecture() {
    let ami = parameter("/nodes/{version}/{arch}/{version}");
    for (version, minor) in
        [("v1.36.3", "1.36"), ("1.36", "1.36"), ("v1.36.2-eks-0a1b2c3", "1.36"), ("v1.9.0+k3s1", "1.9")]
    {
        let filled = format!("SSM parameter /nodes/{minor}/arm64/{minor}");
        assert_eq!(source(&ami, version, &[arm()]), Ok(filled), "{version}");
    }
    assert!(source(&ami, "", &[arm()]).unwrap_err().contains("MachinePool.spec.template.spec.version"));
    assert!(source(&ami, "latest", &[arm()]).unwrap_err().contains("latest has no minor version"));
}

#[test]
fn what_has_no_placeholders_needs_neither_a_version_nor_one_architecture() {
    assert_eq!(source(&parameter("/node"), "", &[x86(), arm()]), Ok("SSM parameter /node".to_owned()));
}

#[test]
fn types_of_two_architectures_have_an_image_each_that_of_x86_64_first() {
    let both = [arm(), x86()];
    let named = ["SSM parameter /node/x86_64", "SSM parameter /node/arm64"];
    let named = named.map(str::to_owned).to_vec();
    assert_eq!(sources(&parameter("/node/{arch}"), &both), Ok(named));
    let ids = ImageIds { x86_64: "ami-1".to_owned(), arm64: "ami-2".to_owned() };
    let ids = Ami { ids: Some(ids), ..Ami::default() };
    let named = ["image ami-1", "image ami-2"].map(str::to_owned).to_vec();
    assert_eq!(sources(&ids, &both), Ok(named));
    for (only, image) in [(x86(), "image ami-1"), (arm(), "image ami-2")] {
        assert_eq!(sources(&ids, &[only]), Ok(vec![image.to_owned()]), "only what the types need");
    }
    // Drivers follow from the types of the architecture.
    let gpus = [kind("g5.xlarge", "x86_64", 1, 0), arm()];
    let found = sources(&recommended(ImageFamily::Bottlerocket, None), &gpus).unwrap();
    assert!(found[0].contains("1.36-nvidia/x86_64") && found[1].contains("1.36/arm64"), "{found:?}");
}

#[test]
fn what_names_one_image_is_the_image_of_both_architectures() {
    for ami in [Ami::of_id("ami-1"), parameter("/node/{version}")] {
        assert_eq!(sources(&ami, &[x86(), arm()]).map(|all| all.len()), Ok(1));
    }
}

#[test]
fn types_that_neither_architecture_fits_are_named() {
    let mac = kind("mac2.metal", "arm64_mac", 0, 0);
    let why = sources(&parameter("/node/{arch}"), &[x86(), mac]);
    let said = "no image fits all instance types: m7i.large runs x86_64, mac2.metal runs arm64_mac";
    assert_eq!(why, Err(said.to_owned()));
}

#[test]
fn a_lookup_has_the_architecture_of_the_types_unless_it_names_one() {
    let lookup = |architecture| {
        let lookup =
            ImageLookup { owner: "self".to_owned(), name: "node-{version}-*".to_owned(), architecture };
        Ami { lookup: Some(lookup), ..Ami::default() }
    };
    let said = |arch: &str| Ok(format!("newest image of owner self with name \"node-1.36-*\" for {arch}"));
    assert_eq!(source(&lookup(None), "v1.36.3", &[arm()]), said("arm64"));
    assert_eq!(source(&lookup(Some(ImageArchitecture::X86_64)), "v1.36.3", &[arm()]), said("x86_64"));
}

#[test]
fn recommended_images_have_these_parameters() {
    let check = |family, variant, kind: NodeType<'_>, path: &str| {
        let said = source(&recommended(family, variant), "v1.36.3", &[kind]);
        assert_eq!(said, Ok(format!("SSM parameter /aws/service/{path}")));
    };
    let gpu = || kind("g5.xlarge", "x86_64", 1, 0);
    let neuron = || kind("inf2.xlarge", "x86_64", 0, 1);
    let al2023 = |rest: &str| format!("eks/optimized-ami/1.36/amazon-linux-2023/{rest}/recommended/image_id");
    check(ImageFamily::Al2023, None, x86(), &al2023("x86_64/standard"));
    check(ImageFamily::Al2023, None, arm(), &al2023("arm64/standard"));
    check(ImageFamily::Al2023, None, gpu(), &al2023("x86_64/nvidia"));
    check(ImageFamily::Al2023, None, neuron(), &al2023("x86_64/neuron"));
    check(ImageFamily::Al2023, Some(ImageVariant::Standard), gpu(), &al2023("x86_64/standard"));
    let bottlerocket = |rest: &str| format!("bottlerocket/aws-k8s-1.36{rest}/latest/image_id");
    check(ImageFamily::Bottlerocket, None, arm(), &bottlerocket("/arm64"));
    check(ImageFamily::Bottlerocket, None, gpu(), &bottlerocket("-nvidia/x86_64"));
    check(ImageFamily::Bottlerocket, Some(ImageVariant::Fips), x86(), &bottlerocket("-fips/x86_64"));
    let ubuntu = |rest: &str| format!("canonical/ubuntu/{rest}/ami-id");
    check(ImageFamily::Ubuntu2204, None, x86(), &ubuntu("eks/22.04/1.36/stable/current/amd64/hvm/ebs-gp2"));
    check(ImageFamily::Ubuntu2404, None, arm(), &ubuntu("eks/24.04/1.36/stable/current/arm64/hvm/ebs-gp3"));
    check(
        ImageFamily::UbuntuPro2404,
        None,
        x86(),
        &ubuntu("eks-pro/24.04/1.36/stable/current/amd64/hvm/ebs-gp3"),
    );
}

#[test]
fn types_that_need_different_drivers_have_no_recommended_image() {
    let ami = recommended(ImageFamily::Al2023, None);
    let why = source(&ami, "v1.36.3", &[x86(), kind("g5.xlarge", "x86_64", 1, 0)]).unwrap_err();
    assert!(why.contains("Nvidia for g5.xlarge") && why.contains("spec.ami.recommended.variant"), "{why}");
    let ami = recommended(ImageFamily::Bottlerocket, None);
    let why = source(&ami, "v1.36.3", &[kind("inf2.xlarge", "x86_64", 0, 1)]).unwrap_err();
    assert!(why.contains("Bottlerocket has no image with the drivers"), "{why}");
}

#[test]
fn only_ids_of_images_are_taken_from_parameters() {
    assert_eq!(image_id(" ami-0a1b2c3d4e5f60718\n"), Some("ami-0a1b2c3d4e5f60718"));
    for other in
        ["", "hush", "ami-", "ami-hush", "ami-0a1b2c3d, ami-0a1b2c3e", r#"{"image_id":"ami-0a1b2c3d"}"#]
    {
        assert_eq!(image_id(other), None, "{other}");
    }
}
