//! User data that is an object in S3: what the instance gets instead, a small document with which cloud-init fetches
//! it.
//!
//! cloud-init resolves `#include` before any part of the user data runs, and fails if it cannot (cloud-init,
//! `cloudinit/user_data.py`, `_do_include`): an include of a file that another part is to fetch never works in the same
//! boot. A part handler runs while the user data is read, and what it sets as vendor data is read after that with
//! everything that cloud-init understands: templates, several parts, gzip (cloud-init, "Part handler";
//! `cloudinit/stages.py`, `consume_data`).
//!
//! nodeadm reads its NodeConfig from the user data itself, before cloud-init runs: those parts stay.
//!
//! Where user data is stored is decided by `controller/src/pool/inputs/stored.rs`, and when by
//! `planner/src/steps/objects.rs`. The calls are in `controller/src/pool/act/objects.rs`, `cloud/src/objects.rs` and
//! `cloud-adapter/src/objects.rs`; the simulator has `core/objects.rs` and `wire/s3.rs`; the rights are in
//! `xtask/src/generate/iam/user_data.rs`; the page is docs/nodes.md, section "User data in S3".

use crate::mime;
use crate::packed::{LIMIT, unpack};
use crate::seen::Unreadable;
use serde::{Deserialize, Serialize};

/// The part handler, in Python, since cloud-init is written in it.
const HANDLER: &str = include_str!("fetch.py");
/// The type of a part handler.
const HANDLER_TYPE: &str = "text/part-handler";
/// The type of the part that shows where the object is.
const PLACE: &str = "text/x-foo-user-data";
/// The type of a part that nodeadm reads.
const NODE_CONFIG: &str = "application/node.eks.aws";

/// How documents begin that cloud-init understands (cloud-init, "User data formats").
const BEGINNINGS: [&str; 8] = [
    "#cloud-config",
    "#!",
    "#include",
    "#cloud-boothook",
    "#part-handler",
    "## template:",
    "#cloud-config-archive",
    "#cloud-config-jsonp",
];

/// Where an instance fetches its user data, and how it knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// URL of the object, in percent-encoding.
    pub url: String,
    /// Region of the bucket, for which the request is signed.
    pub region: String,
    /// SHA-256 of the object, in hexadecimal digits.
    pub sha256: String,
}

/// Why user data cannot be an object in S3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotStorable {
    /// Ignition has an object storage of its own, in its own form.
    #[error("it is for Ignition; only cloud-init fetches user data from S3")]
    Ignition,
    /// Settings of Bottlerocket, a bare NodeConfig, or a form that is not known.
    #[error("it is not for cloud-init, as that of Bottlerocket: such instances take user data only from EC2")]
    NotCloudInit,
    /// A document of several parts, or in gzip, that is broken.
    #[error("it cannot be read: gzip, or a document of several parts, that is not complete")]
    Unreadable,
    /// What nodeadm reads is too long.
    #[error("its parts for nodeadm, which stay in the user data, are longer than EC2 accepts")]
    NodeConfigTooLong,
}

/// The user data with which an instance fetches this document: at most [`LIMIT`] bytes.
///
/// # Errors
/// The program that reads the document on the instance does not fetch it.
pub fn store(document: &[u8], stored: &Stored) -> Result<Vec<u8>, NotStorable> {
    let plain = unpack(document).map_err(|_| NotStorable::Unreadable)?;
    let mut parts = vec![(HANDLER_TYPE, HANDLER.to_owned())];
    parts.push((PLACE, serde_json::to_string(stored).unwrap_or_default()));
    for part in mime::read(&plain).map_err(|_| NotStorable::Unreadable)?.unwrap_or_default() {
        if part.media_type == NODE_CONFIG {
            parts.push((NODE_CONFIG, String::from_utf8(part.body).map_err(|_| NotStorable::Unreadable)?));
        }
    }
    check_form(&plain)?;
    if parts.iter().any(|(_, body)| mime::ends_early(body)) {
        return Err(NotStorable::Unreadable);
    }
    let user_data = mime::write(&parts).into_bytes();
    if user_data.len() > LIMIT { Err(NotStorable::NodeConfigTooLong) } else { Ok(user_data) }
}

fn check_form(document: &[u8]) -> Result<(), NotStorable> {
    let begins = |beginning: &str| document.starts_with(beginning.as_bytes());
    if BEGINNINGS.iter().any(|beginning| begins(beginning)) || matches!(mime::read(document), Ok(Some(_))) {
        return Ok(());
    }
    let json: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_slice(document);
    if json.is_ok_and(|object| object.contains_key("ignition")) {
        return Err(NotStorable::Ignition);
    }
    Err(NotStorable::NotCloudInit)
}

/// Where an instance with this user data fetches the rest; nothing if it fetches nothing.
///
/// # Errors
/// It begins as [`store`] writes it, and is not complete.
pub fn stored(user_data: &[u8]) -> Result<Option<Stored>, Unreadable> {
    let Some(parts) = mime::read(user_data).unwrap_or_default() else { return Ok(None) };
    let Some(place) = parts.iter().find(|part| part.media_type == PLACE) else { return Ok(None) };
    if !parts.iter().any(|part| part.media_type == HANDLER_TYPE && part.body == HANDLER.as_bytes()) {
        return Err(Unreadable::new("no part handler fetches the object"));
    }
    serde_json::from_slice(&place.body).map(Some).map_err(|error| Unreadable::new(error.to_string()))
}

/// What nodeadm and cloud-init have in the end: NodeConfigs from the user data, everything else from the object.
///
/// # Errors
/// The object is not the one that the user data names.
pub fn fetched(user_data: &[u8], object: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let broken = |_| Unreadable::new("the object cannot be read");
    let plain = unpack(object).map_err(broken)?;
    let Some(parts) = mime::read(&plain)? else { return Ok(plain) };
    let text = |body: Vec<u8>| String::from_utf8(body).map_err(|_| Unreadable::new("a part is no text"));
    let mut whole = Vec::new();
    for part in parts.into_iter().filter(|part| part.media_type != NODE_CONFIG) {
        whole.push((part.media_type, text(part.body)?));
    }
    for part in mime::read(user_data)?.unwrap_or_default() {
        if part.media_type == NODE_CONFIG {
            whole.push((part.media_type, text(part.body)?));
        }
    }
    let whole: Vec<(&str, String)> =
        whole.iter().map(|(media_type, body)| (media_type.as_str(), body.clone())).collect();
    Ok(mime::write(&whole).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Stored {
        Stored {
            url: "https://nodes.s3.eu-central-1.amazonaws.com/a/foo-user-data/g/00".into(),
            region: "eu-central-1".into(),
            sha256: "00".into(),
        }
    }

    #[test]
    fn cloud_init_gets_a_small_document_that_names_the_object() {
        let large = format!("#cloud-config\nwrite_files:\n- content: {}\n", "x".repeat(100_000));
        let user_data = store(large.as_bytes(), &place()).unwrap();
        assert!(user_data.len() < 6_000, "{} bytes", user_data.len());
        assert_eq!(stored(&user_data).unwrap(), Some(place()));
        assert_eq!(fetched(&user_data, large.as_bytes()).unwrap(), large.as_bytes());
    }

    #[test]
    fn everything_that_cloud_init_reads_is_fetched() {
        for text in [
            "#cloud-config\n",
            "#!/bin/sh\n",
            "## template: jinja\n#cloud-config\n",
            "#include\nhttps://e/\n",
        ] {
            assert!(store(text.as_bytes(), &place()).is_ok(), "{text}");
        }
    }

    #[test]
    fn parts_for_nodeadm_stay_and_the_rest_is_fetched() {
        let config = "{\"apiVersion\":\"node.eks.aws/v1alpha1\"}";
        let document =
            mime::write(&[("text/cloud-config", "#cloud-config\n{}".into()), (NODE_CONFIG, config.into())]);
        let user_data = store(document.as_bytes(), &place()).unwrap();
        let kept = mime::read(&user_data).unwrap().unwrap();
        assert_eq!(kept.iter().filter(|part| part.body == config.as_bytes()).count(), 1);
        assert_eq!(fetched(&user_data, document.as_bytes()).unwrap(), document.as_bytes());
        let long = mime::write(&[(NODE_CONFIG, "x".repeat(LIMIT))]);
        assert_eq!(store(long.as_bytes(), &place()), Err(NotStorable::NodeConfigTooLong));
    }

    #[test]
    fn formats_without_a_fetch_are_refused() {
        for (text, why) in [
            ("{\"ignition\":{\"version\":\"3.4.0\"}}", NotStorable::Ignition),
            ("[settings.kubernetes]\n", NotStorable::NotCloudInit),
            ("---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n", NotStorable::NotCloudInit),
            ("\u{1f}", NotStorable::NotCloudInit),
            ("Content-Type: multipart/mixed; boundary=a\n\n--a\n", NotStorable::Unreadable),
        ] {
            assert_eq!(store(text.as_bytes(), &place()), Err(why), "{text}");
        }
    }

    #[test]
    fn other_user_data_names_no_object() {
        for text in ["#cloud-config\n", "[settings]\n", ""] {
            assert_eq!(stored(text.as_bytes()).unwrap(), None);
        }
        let document = mime::write(&[(PLACE, "{}".into())]);
        assert!(stored(document.as_bytes()).is_err());
    }
}
