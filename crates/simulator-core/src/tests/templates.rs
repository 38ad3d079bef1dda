//! Launch templates.

use super::scene::{data, refusal, scene};
use crate::core::document::Document;
use crate::core::ec2::launch_data::{LaunchData, USER_DATA_LIMIT};
use crate::core::ec2::templates::{NewTemplate, NewVersion, TemplateKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_model::TemplateVersion;
use std::collections::BTreeMap;

fn new_template(name: &str, token: Option<&str>) -> NewTemplate {
    NewTemplate {
        name: name.to_owned(),
        data: data("m7i.large"),
        description: None,
        tags: BTreeMap::new(),
        token: token.map(str::to_owned),
        caller: "arn:test".to_owned(),
    }
}

fn new_version(key: &TemplateKey, token: Option<&str>, instance_type: &str) -> NewVersion {
    NewVersion {
        template: key.clone(),
        data: data(instance_type),
        source: None,
        description: None,
        token: token.map(str::to_owned),
        caller: "arn:test".to_owned(),
    }
}

/// "numbers never reused; the default version cannot be deleted; per-version success and failure lists".
#[test]
fn versions_have_numbers_of_their_own() {
    let scene = scene();
    let key = TemplateKey::Id(scene.template("name", "m7i.large"));
    let version = || {
        scene.with(|region| {
            region.create_template_version(new_version(&key, None, "m7i.large")).map(|it| it.1.number)
        })
    };
    assert_eq!(version(), Ok(TemplateVersion(2)));
    assert_eq!(version(), Ok(TemplateVersion(3)));
    let delete = |versions: &[&str]| {
        let versions: Vec<String> = versions.iter().map(|it| (*it).to_owned()).collect();
        scene.with(|region| region.templates.delete_versions(&key, &versions)).expect("a result").2
    };
    let results = delete(&["1", "3", "9"]);
    let codes: Vec<Option<&str>> =
        results.iter().map(|it| it.failure.as_ref().map(|(code, _)| *code)).collect();
    assert_eq!(codes, [Some("unexpectedError"), None, Some("launchTemplateVersionDoesNotExist")]);
    assert_eq!(version(), Ok(TemplateVersion(4)));
    scene.with(|region| region.templates.set_default(&key, "4").map(drop)).expect("another default");
    assert!(delete(&["1"])[0].failure.is_none());
    let many = vec!["1".to_owned(); 201];
    assert!(scene.with(|region| region.templates.delete_versions(&key, &many)).is_err());
}

/// "only CreateLaunchTemplate/-Version … have a client token".
#[test]
fn a_client_token_makes_a_repetition_harmless() {
    let scene = scene();
    let create = |name: &str, token| {
        scene.with(|region| region.create_template(new_template(name, token)).map(|it| it.id.clone()))
    };
    let id = create("name", Some("t1")).expect("made");
    assert_eq!(create("name", Some("t1")), Ok(id.clone()));
    assert_eq!(refusal(create("name", Some("t2"))).0, "InvalidLaunchTemplateName.AlreadyExistsException");
    assert_eq!(refusal(create("other", Some("t1"))).0, "IdempotentParameterMismatch");
    let key = TemplateKey::Id(id);
    let version = |token, instance_type| {
        scene.with(|region| {
            region.create_template_version(new_version(&key, token, instance_type)).map(|it| it.1.number)
        })
    };
    assert_eq!(version(Some("v"), "m7i.large"), Ok(TemplateVersion(2)));
    assert_eq!(version(Some("v"), "m7i.large"), Ok(TemplateVersion(2)));
    assert_eq!(refusal(version(Some("v"), "m7i.xlarge")).0, "IdempotentParameterMismatch");
    assert_eq!(version(Some("w"), "m7i.large"), Ok(TemplateVersion(3)));
}

/// "Unknown version/name/id have their own codes".
#[test]
fn unknown_templates_have_codes_of_their_own() {
    let scene = scene();
    let id = scene.template("name", "m7i.large");
    let find = |key| scene.with(|region| region.templates.find(&key).map(|it| it.id.clone()));
    assert_eq!(find(TemplateKey::Name("name".to_owned())), Ok(id.clone()));
    let code = |key| refusal(find(key)).0;
    assert_eq!(code(TemplateKey::Name("none".to_owned())), "InvalidLaunchTemplateName.NotFoundException");
    assert_eq!(code(TemplateKey::Id("lt-0123456789abcdef0".into())), "InvalidLaunchTemplateId.NotFound");
    assert_eq!(code(TemplateKey::Id("x".into())), "InvalidLaunchTemplateId.Malformed");
    let version = scene.with(|region| {
        region.templates.find(&TemplateKey::Id(id.clone())).and_then(|it| it.version("7").map(|it| it.number))
    });
    assert_eq!(refusal(version).0, "InvalidLaunchTemplateId.VersionNotFound");
    assert_eq!(
        refusal(
            scene.with(|region| region.create_template(new_template("a b", None)).map(|it| it.id.clone()))
        )
        .0,
        "InvalidLaunchTemplateName.MalformedException"
    );
}

/// "User data ≤ 16 KiB before base64."
#[test]
fn user_data_is_limited_before_base64() {
    let with = |bytes: usize| {
        let text = STANDARD.encode(vec![b'x'; bytes]);
        let data =
            LaunchData::new(Document::map().with("userData", Some(Document::Text(text)))).expect("base64");
        data.check_size("TooLong")
    };
    assert!(with(USER_DATA_LIMIT).is_ok());
    assert_eq!(refusal(with(USER_DATA_LIMIT + 1)).0, "TooLong");
    let broken = LaunchData::new(Document::map().with("userData", Some(Document::text("not base64!"))));
    assert_eq!(refusal(broken).1, "Invalid BASE64 encoding of user data.");
    assert_eq!(refusal(LaunchData::new(Document::map())).0, "MissingParameter");
}

/// CreateLaunchTemplateVersion with SourceVersion: what is not given comes from there.
#[test]
fn a_source_version_fills_the_gaps() {
    let scene = scene();
    let key = TemplateKey::Id(scene.template("name", "m7i.large"));
    let only_key =
        LaunchData::new(Document::map().with("keyName", Some(Document::text("ssh")))).expect("good data");
    let merged = scene.with(|region| {
        let mut new = new_version(&key, None, "m7i.large");
        new.data = only_key;
        new.source = Some("$Latest".to_owned());
        region.create_template_version(new).map(|it| it.1.data.clone()).expect("made")
    });
    assert_eq!(merged.key_name(), Some("ssh"));
    assert_eq!(merged.instance_type().map(|it| it.to_string()).as_deref(), Some("m7i.large"));
}
