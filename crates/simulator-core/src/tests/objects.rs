//! S3: objects with conditions, owners, tags and a reader.

use super::scene::{REGION, scene};
use crate::core::objects::Overwrite;
use std::collections::BTreeMap;

fn tags(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The code of what is refused.
fn code<T>(result: crate::core::AwsResult<T>) -> String {
    result.err().map(|error| error.code).unwrap_or_default()
}

/// Amazon S3 User Guide, "How to prevent object overwrites with conditional writes".
#[test]
fn a_conditional_write_keeps_what_is_there() {
    let scene = scene();
    let put = |content: &[u8], overwrite| {
        let none = BTreeMap::new();
        scene.region.with(|region| region.put_object(("b", None), "k", (content, &none), overwrite)).unwrap()
    };
    assert_eq!(code(put(b"1", Overwrite::Refused)), "NoSuchBucket");
    scene.region.with(|region| region.create_bucket("b").objects.len()).unwrap();
    assert!(put(b"1", Overwrite::Refused).is_ok());
    assert_eq!(code(put(b"2", Overwrite::Refused)), "PreconditionFailed");
    let read = || scene.region.with(|region| region.object_for("b", "k", None)).unwrap();
    assert_eq!(read().unwrap(), b"1");
    assert!(put(b"2", Overwrite::Allowed).is_ok());
    assert_eq!(read().unwrap(), b"2");
}

/// Amazon S3 User Guide, "Verifying bucket ownership with bucket owner condition".
#[test]
fn a_bucket_of_another_owner_is_refused() {
    let scene = scene();
    scene.region.with(|region| region.create_bucket("b").objects.len()).unwrap();
    let list = |owner: &str| scene.region.with(|region| region.list_objects("b", Some(owner), "")).unwrap();
    assert_eq!(code(list("999999999999")), "AccessDenied");
    let account = scene.region.with(|region| region.account.clone()).unwrap();
    assert!(list(&account).is_ok());
}

/// Amazon S3 User Guide, "Categorizing your storage using tags" and "Tagging and access control policies".
#[test]
fn only_the_role_in_the_tag_reads_and_not_every_text_is_a_tag() {
    let scene = scene();
    let role = "arn:aws:iam::123456789012:role/nodes";
    let put = |value: &str| {
        let tags = tags(&[("reader", value)]);
        let put = (b"1".as_slice(), &tags);
        scene.region.with(|region| region.put_object(("b", None), "k", put, Overwrite::Allowed)).unwrap()
    };
    scene.region.with(|region| region.create_bucket("b").reader_tag = Some("reader".to_owned())).unwrap();
    assert_eq!(code(put("arn:aws:iam::123456789012:role/a,b")), "InvalidTag");
    assert_eq!(code(put(&"a".repeat(257))), "InvalidTag");
    put(role).unwrap();
    let read = |role| scene.region.with(|region| region.object_for("b", "k", role)).unwrap();
    assert!(read(Some(role)).is_ok());
    assert_eq!(code(read(Some("arn:aws:iam::123456789012:role/others"))), "AccessDenied");
    assert_eq!(code(read(None)), "AccessDenied");
    assert_eq!(scene.region.name(), REGION);
}
