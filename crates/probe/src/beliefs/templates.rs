//! Launch templates: names, versions, client tokens and limits.

use crate::belief::Check::{Holds, Refused};
use crate::belief::Source::{File, Simulator};
use crate::belief::{Belief, Seen};
use crate::scene::{NO_ID, Scene};
use foo_cloud::{Operation as O, Result};
use foo_model::{ImageId, LaunchTemplateId, TemplateContent, TemplateVersion, UserData};

/// Most bytes of user data (EC2 User Guide, "Run commands when you launch an EC2 instance with user data input").
const USER_DATA: usize = 16_384;

pub(super) fn beliefs() -> Vec<Belief> {
    let mut all = of_creation();
    all.extend(of_tokens());
    all.extend(of_versions());
    all
}

fn unknown() -> LaunchTemplateId {
    LaunchTemplateId::new(format!("lt-{NO_ID}"))
}

fn of_creation() -> Vec<Belief> {
    vec![
        Belief::free(
            "templates/name-is-unique",
            "CreateLaunchTemplate refuses a name that is in use: InvalidLaunchTemplateName.AlreadyExistsException",
            Simulator("judge::launch_templates"),
            &[(O::CreateLaunchTemplate, 1)],
            Refused {
                code: "InvalidLaunchTemplateName.AlreadyExistsException",
                call: |scene| {
                    Box::pin(async move {
                        let (content, token) = (content(scene)?, scene.new_name());
                        let (name, tags) = (scene.name("main"), scene.tags());
                        let made = scene.cloud.create_template(&name, &content, "probe", &tags, &token);
                        made.await.map(drop)
                    })
                },
            },
        ),
        Belief::free(
            "templates/short-name",
            "the name of a template has at least three characters: InvalidLaunchTemplateName.MalformedException",
            Simulator("judge::launch_templates"),
            &[(O::CreateLaunchTemplate, 1)],
            Refused {
                code: "InvalidLaunchTemplateName.MalformedException",
                call: |scene| {
                    Box::pin(async move {
                        let (content, token, tags) = (content(scene)?, scene.new_name(), scene.tags());
                        let made = scene.cloud.create_template("fp", &content, "probe", &tags, &token);
                        made.await.map(drop)
                    })
                },
            },
        ),
        Belief::free(
            "templates/unknown-image-is-a-warning",
            "EC2 creates a template whose image does not exist, and warns",
            File("crates/cloud-adapter/src/templates/mod.rs", "only adds a warning"),
            &[(O::CreateLaunchTemplate, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let image = ImageId::new(format!("ami-{NO_ID}"));
                    let (_, warning) = scene.create_template(&scene.new_name(), &image).await?;
                    Ok(Seen::that(warning.is_some(), warning.unwrap_or_else(|| "no warning".to_owned())))
                })
            }),
        ),
        Belief::free(
            "templates/user-data-is-limited",
            "user data has at most 16 KiB before base64: InvalidUserData.Malformed",
            Simulator("templates::user_data_is_limited_before_base64"),
            &[(O::CreateLaunchTemplate, 1)],
            Refused {
                code: "InvalidUserData.Malformed",
                call: |scene| {
                    Box::pin(async move {
                        let user_data = UserData(vec![b'#'; USER_DATA + 1]);
                        let content = TemplateContent { user_data, ..content(scene)? };
                        let (name, tags) = (scene.new_name(), scene.tags());
                        let made = scene.cloud.create_template(&name, &content, "probe", &tags, &name);
                        made.await.map(drop)
                    })
                },
            },
        ),
        Belief::free(
            "templates/deletion-of-unknown",
            "DeleteLaunchTemplate refuses an unknown id: InvalidLaunchTemplateId.NotFound",
            Simulator("templates::unknown_templates_have_codes_of_their_own"),
            &[(O::DeleteLaunchTemplate, 1)],
            Refused {
                code: "InvalidLaunchTemplateId.NotFound",
                call: |scene| Box::pin(async move { scene.cloud.delete_template(&unknown()).await }),
            },
        ),
    ]
}

fn of_tokens() -> Vec<Belief> {
    vec![
        Belief::free(
            "templates/token-creates-once",
            "CreateLaunchTemplate with the token of an earlier equal request returns the template of that request",
            Simulator("templates::a_client_token_makes_a_repetition_harmless"),
            &[(O::CreateLaunchTemplate, 2)],
            Holds(|scene| Box::pin(token_creates_once(scene))),
        ),
        Belief::free(
            "templates/token-of-another-request",
            "a token of an earlier request with other parameters is refused: IdempotentParameterMismatch",
            Simulator("templates::a_client_token_makes_a_repetition_harmless"),
            &[(O::CreateLaunchTemplate, 1), (O::CreateLaunchTemplateVersion, 2)],
            Refused {
                code: "IdempotentParameterMismatch",
                call: |scene| {
                    Box::pin(async move {
                        let template = new_template(scene).await?;
                        let token = scene.new_name();
                        add_version(scene, &template, b"one", &token).await?;
                        add_version(scene, &template, b"two", &token).await.map(drop)
                    })
                },
            },
        ),
        Belief::free(
            "templates/token-adds-one-version",
            "CreateLaunchTemplateVersion with the token of an earlier equal request returns the version of that request",
            Simulator("templates::a_client_token_makes_a_repetition_harmless"),
            &[(O::CreateLaunchTemplate, 1), (O::CreateLaunchTemplateVersion, 2)],
            Holds(|scene| {
                Box::pin(async move {
                    let (template, token) = (new_template(scene).await?, scene.new_name());
                    let first = add_version(scene, &template, b"one", &token).await?;
                    let second = add_version(scene, &template, b"one", &token).await?;
                    Ok(Seen::that(first == second, format!("versions {first} and {second}")))
                })
            }),
        ),
    ]
}

fn of_versions() -> Vec<Belief> {
    vec![
        Belief::free(
            "templates/version-of-unknown",
            "CreateLaunchTemplateVersion refuses an unknown template: InvalidLaunchTemplateId.NotFound",
            Simulator("templates::unknown_templates_have_codes_of_their_own"),
            &[(O::CreateLaunchTemplateVersion, 1)],
            Refused {
                code: "InvalidLaunchTemplateId.NotFound",
                call: |scene| {
                    Box::pin(async move {
                        add_version(scene, &unknown(), b"one", &scene.new_name()).await.map(drop)
                    })
                },
            },
        ),
        Belief::free(
            "templates/numbers-are-not-used-again",
            "the number of a deleted version is not used again",
            Simulator("templates::versions_have_numbers_of_their_own"),
            &[
                (O::CreateLaunchTemplate, 1),
                (O::CreateLaunchTemplateVersion, 2),
                (O::DeleteLaunchTemplateVersions, 1),
            ],
            Holds(|scene| {
                Box::pin(async move {
                    let template = new_template(scene).await?;
                    let second = add_version(scene, &template, b"two", &scene.new_name()).await?;
                    scene.cloud.delete_template_versions(&template, &[second]).await?;
                    let third = add_version(scene, &template, b"three", &scene.new_name()).await?;
                    let numbers = (second, third) == (TemplateVersion(2), TemplateVersion(3));
                    Ok(Seen::that(numbers, format!("{second}, then {third}")))
                })
            }),
        ),
        Belief::free(
            "templates/default-version-stays",
            "DeleteLaunchTemplateVersions succeeds and reports unexpectedError for the default version",
            Simulator("templates::versions_have_numbers_of_their_own"),
            &[(O::CreateLaunchTemplate, 1), (O::DeleteLaunchTemplateVersions, 1)],
            Refused {
                code: "unexpectedError",
                call: |scene| {
                    Box::pin(async move {
                        let template = new_template(scene).await?;
                        scene.cloud.delete_template_versions(&template, &[TemplateVersion(1)]).await
                    })
                },
            },
        ),
        Belief::free(
            "templates/deletion-of-an-unknown-version",
            "DeleteLaunchTemplateVersions reports no error for a version that does not exist, or \
             launchTemplateVersionDoesNotExist",
            File("crates/cloud-adapter/src/templates/mod.rs", "LaunchTemplateVersionDoesNotExist"),
            &[(O::DeleteLaunchTemplateVersions, 1)],
            Holds(|scene| {
                Box::pin(async move {
                    let template = &scene.place()?.template;
                    scene.cloud.delete_template_versions(template, &[TemplateVersion(99)]).await?;
                    Ok(Seen::AsBelieved("not there".to_owned()))
                })
            }),
        ),
    ]
}

fn content(scene: &Scene) -> Result<TemplateContent> {
    Ok(Scene::content(&scene.place()?.image))
}

async fn new_template(scene: &Scene) -> Result<LaunchTemplateId> {
    let image = &scene.place()?.image;
    Ok(scene.create_template(&scene.new_name(), image).await?.0)
}

async fn add_version(
    scene: &Scene,
    template: &LaunchTemplateId,
    user_data: &[u8],
    token: &str,
) -> Result<TemplateVersion> {
    let content = TemplateContent { user_data: UserData(user_data.to_vec()), ..content(scene)? };
    Ok(scene.cloud.create_template_version(template, &content, "probe", token).await?.made)
}

async fn token_creates_once(scene: &Scene) -> Result<Seen> {
    let (content, name, tags) = (content(scene)?, scene.new_name(), scene.tags());
    let first = scene.cloud.create_template(&name, &content, "probe", &tags, &name).await?.made;
    let second = scene.cloud.create_template(&name, &content, "probe", &tags, &name).await?.made;
    Ok(Seen::that(first == second, format!("the same template: {}", first.0 == second.0)))
}
