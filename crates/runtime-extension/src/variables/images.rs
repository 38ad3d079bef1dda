//! The variable `images`: which image the instances of a Kubernetes version boot from.

use super::schema::{SchemaError, Schemas};
use super::table::{AMI_ID, Object};
use foo_runtime_sdk::Failure;
use foo_runtime_sdk::variables::Variables;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Its name.
pub(crate) const IMAGES: &str = "images";

/// The image of one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Image {
    /// Kubernetes version, exactly as kubelets of the image report it.
    pub(crate) version: String,
    /// Id of the image.
    pub(crate) id: String,
}

/// Its schema; texts are as in our CRDs.
pub(super) fn schema(schemas: &Schemas) -> Result<Value, SchemaError> {
    let mut version = schemas.at(Object::ControlPlane, &["version"])?;
    if let Some(fields) = version.as_object_mut() {
        let text = "Kubernetes version, exactly as kubelets of the image report it, for example `v1.36.3-eks-0a1b2c3`.";
        fields.insert("description".to_owned(), json!(text));
    }
    Ok(json!({
        "type": "array",
        "maxItems": 100,
        "default": [],
        "description": "Images by Kubernetes version: instances boot from the one whose version is that of their pool, so an \
                        upgrade changes version and image together. If the list has entries, `amiID` is ignored, and a \
                        version without an image is refused.",
        "items": {
            "type": "object",
            "required": ["version", "id"],
            "properties": {"version": version, "id": schemas.at(Object::Pool, &["ami", "id"])?},
        },
    }))
}

/// The image for a version, if a variable shows which.
///
/// # Errors
///
/// When there are images, but none for the version, or when a variable is of another type.
pub(crate) fn image(variables: Variables<'_>, version: &str) -> Result<Option<String>, Failure> {
    let images: Vec<Image> = variables.find(IMAGES)?.unwrap_or_default();
    if images.is_empty() {
        let single: Option<String> = variables.find(AMI_ID)?;
        return Ok(single.filter(|id| !id.is_empty()));
    }
    let found = images.into_iter().find(|image| image.version == version);
    found
        .map(|image| Some(image.id))
        .ok_or_else(|| Failure::new(format!("variable {IMAGES} has no image for Kubernetes {version}")))
}
