//! User data in S3 (`spec.userDataStorage`): where it is kept, whose role may read it, and what instances get instead.

use crate::clouds::CloudRegion;
use crate::lookup;
use crate::pool::names::sha256;
use foo_api::pool::FooMachinePoolSpec;
use foo_bootstrap::{LIMIT, NotStorable, STORED_LIMIT, Stored, store};
use foo_cloud::lookups::{Asking, Lookups};
use foo_cloud::stored::Folder;
use foo_cloud::{CloudError, Freshness, Observation, Seen};
use foo_model::object::fits_tag;
use foo_model::{Blocked, GroupName, ObjectPlace, Reason, Storage, StoredUserData, UserData};
use foo_planner::Memory;
use foo_planner::desired::{Desired, Identity, Size};
use foo_planner::observed::LastRead;
use std::collections::BTreeSet;
use std::time::Duration;

/// What keeping user data in S3 needs.
#[derive(Clone, Debug)]
pub(in crate::pool) struct Keeping {
    /// Where.
    pub(in crate::pool) storage: Storage,
    /// The region of the pool, in which the bucket has to be.
    pub(in crate::pool) region: String,
    /// The pool's namespace, which is a part of the key.
    pub(in crate::pool) namespace: String,
    /// The group, whose name is a part of the key.
    pub(in crate::pool) group: GroupName,
    /// ARN of the role of the pool's instance profile: it alone may read what is stored.
    pub(in crate::pool) reader: String,
}

/// Where a pool keeps its user data, if not in the launch template.
pub(in crate::pool) fn storage(spec: &FooMachinePoolSpec) -> Option<Storage> {
    let bucket = &spec.user_data_storage.as_ref()?.s3;
    Some(Storage { bucket: bucket.bucket.clone(), prefix: bucket.prefix.clone().unwrap_or_default() })
}

/// The same, with the role that may read it.
pub(in crate::pool) async fn keeping(
    spec: &FooMachinePoolSpec,
    (region, identity): (&str, &Identity),
    lookups: &Lookups,
    asking: Asking,
) -> Result<Option<Keeping>, Blocked> {
    let Some(storage) = storage(spec) else { return Ok(None) };
    let reader = reader(spec, lookups, asking).await?;
    let (namespace, group) = (identity.namespace.clone(), identity.group.clone());
    Ok(Some(Keeping { storage, region: region.to_owned(), namespace, group, reader }))
}

async fn reader(spec: &FooMachinePoolSpec, lookups: &Lookups, asking: Asking) -> Result<String, Blocked> {
    let blocked = |message: String| Blocked::new(Reason::NodeRoleUnusable, message);
    let Some(name) = &spec.iam_instance_profile else {
        return Err(blocked(
            "spec.userDataStorage needs spec.iamInstanceProfile, whose role reads it".into(),
        ));
    };
    let found = lookups.instance_profile(name, asking).await;
    let what = format!("instance profile {name}");
    let found = found.map_err(|error| lookup::failed(Reason::NodeRoleUnusable, &what, &error))?;
    let Some(profile) = found else {
        return Err(blocked(format!("instance profile {name} does not exist")));
    };
    let Some(role) = profile.role else {
        return Err(blocked(format!(
            "instance profile {name} has no role, which could read the user data in S3"
        )));
    };
    if fits_tag(&role.arn) {
        return Ok(role.arn);
    }
    Err(blocked(format!(
        "{} cannot be the value of a tag in S3, which controls who may read the user data: at most 256 letters, digits and +-=._:/@",
        role.arn
    )))
}

/// How old the list of what is stored may be when instances are about to be launched.
pub(in crate::pool) const BEFORE_LAUNCHES: Duration = Duration::from_mins(1);

/// Whether the next plans may launch instances: there are to be more than the group has, or some are being replaced.
pub(in crate::pool) fn launches_soon(
    desired: &Desired,
    group: Option<&Observation>,
    memory: &Memory,
) -> bool {
    let has = match group.map(|group| &group.seen) {
        Some(Seen::Present(group)) => group.sizes.desired,
        Some(Seen::Absent) | None => 0,
    };
    let grows = match desired.size {
        Size::Replicas { wanted, .. } => wanted > has,
        Size::External { .. } | Size::Unknown => false,
    };
    grows || memory.rollout.as_ref().is_some_and(|rollout| rollout.waiting_since.is_some())
}

/// The names of the pool's objects, from a list that all pools of its namespace share.
pub(in crate::pool) async fn read(
    region: &CloudRegion,
    storage: &Storage,
    identity: &Identity,
    freshness: Freshness,
) -> Result<LastRead<BTreeSet<String>>, CloudError> {
    let (namespace, group) = (&identity.namespace, &identity.group);
    let folder = Folder {
        bucket: storage.bucket.clone(),
        owner: region.account().await?.to_owned(),
        prefix: storage.namespace_folder(namespace),
    };
    let Some(list) = region.objects.keys(&folder, freshness).await.fresh()? else {
        return Ok(LastRead::Unknown);
    };
    let own = storage.folder(namespace, group);
    let keys = list.value.range(own.clone()..).take_while(|key| key.starts_with(&own));
    let names = keys.filter_map(|key| storage.name_in(namespace, group, key)).map(str::to_owned);
    Ok(LastRead::At { at: list.began, seen: names.collect() })
}

/// What instances get instead of the user data, and what they fetch.
pub(in crate::pool) fn kept(
    keeping: &Keeping,
    user_data: Vec<u8>,
    secret: &str,
) -> Result<(UserData, StoredUserData), Blocked> {
    let Keeping { storage, region, namespace, group, reader } = keeping;
    if user_data.len() > STORED_LIMIT {
        let message = format!(
            "the bootstrap data in Secret {secret} has {} bytes, at most {STORED_LIMIT} are stored in S3",
            user_data.len()
        );
        return Err(Blocked::new(Reason::UserDataTooLarge, message));
    }
    // A role in the name: the same content for another role is another object, with another tag.
    let name = sha256(&[reader.as_bytes(), b"\n", &user_data].concat());
    let place = ObjectPlace { storage: storage.clone(), name };
    let stored = Stored {
        url: url(&place.key(namespace, group), &place.storage, region, reader),
        region: region.clone(),
        sha256: sha256(&user_data),
    };
    let small = store(&user_data, &stored).map_err(|why| refused(why, secret))?;
    let object = StoredUserData { place, user_data: UserData(user_data), reader: reader.clone() };
    Ok((UserData(small), object))
}

fn refused(why: NotStorable, secret: &str) -> Blocked {
    let reason = match why {
        NotStorable::NodeConfigTooLong => Reason::UserDataTooLarge,
        NotStorable::Ignition | NotStorable::NotCloudInit | NotStorable::Unreadable => {
            Reason::UserDataNotStorable
        }
    };
    let limit =
        if why == NotStorable::NodeConfigTooLong { format!(" ({LIMIT} bytes)") } else { String::new() };
    Blocked::new(reason, format!("the bootstrap data in Secret {secret} is not kept in S3: {why}{limit}"))
}

/// URL of an object (Amazon S3 User Guide, "Virtual hosting of general purpose buckets").
fn url(key: &str, storage: &Storage, region: &str, role: &str) -> String {
    let partition = role.split(':').nth(1).unwrap_or_default();
    let suffix = dns_suffix(partition);
    let encoded: String = key.bytes().map(encoded).collect();
    format!("https://{}.s3.{region}.{suffix}/{encoded}", storage.bucket)
}

/// What the hosts of a partition end in (AWS Fault Isolation Boundaries, "Partitions"; botocore, `partitions.json`).
fn dns_suffix(partition: &str) -> &'static str {
    match partition {
        "aws-cn" => "amazonaws.com.cn",
        "aws-iso" => "c2s.ic.gov",
        "aws-iso-b" => "sc2s.sgov.gov",
        "aws-iso-e" => "cloud.adc-e.uk",
        "aws-iso-f" => "csp.hci.ic.gov",
        "aws-eusc" => "amazonaws.eu",
        _ => "amazonaws.com",
    }
}

/// In percent-encoding, except slashes.
fn encoded(byte: u8) -> String {
    match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeping(reader: &str) -> Keeping {
        Keeping {
            storage: Storage { bucket: "nodes".into(), prefix: "a".into() },
            region: "eu-central-1".into(),
            namespace: "ns".into(),
            group: "ns-c-pool(1)".into(),
            reader: reader.into(),
        }
    }

    const ROLE: &str = "arn:aws:iam::123456789012:role/workers";

    #[test]
    fn user_data_name_the_object() {
        let data = b"#cloud-config\n".to_vec();
        let (user_data, object) = kept(&keeping(ROLE), data.clone(), "boot").unwrap();
        let stored = foo_bootstrap::stored(&user_data.0).unwrap().unwrap();
        let name = &object.place.name;
        assert_eq!(
            stored.url,
            format!(
                "https://nodes.s3.eu-central-1.amazonaws.com/a/foo-user-data/ns/ns-c-pool%21281%2129/{name}"
            )
        );
        assert_eq!(stored.sha256, sha256(&data));
        assert_eq!((object.user_data.0, object.reader.as_str()), (data, ROLE));
    }

    #[test]
    fn another_role_reads_another_object() {
        let name = |role: &str| kept(&keeping(role), b"#!/bin/sh\n".to_vec(), "boot").unwrap().1.place.name;
        assert_eq!(name(ROLE), name(ROLE));
        assert_ne!(name(ROLE), name("arn:aws:iam::123456789012:role/others"));
    }

    #[test]
    fn hosts_follow_the_partition() {
        let (user_data, _) =
            kept(&keeping("arn:aws-cn:iam::1:role/r"), b"#!/bin/sh\n".to_vec(), "boot").unwrap();
        assert!(String::from_utf8(user_data.0).unwrap().contains(".s3.eu-central-1.amazonaws.com.cn/"));
    }

    #[test]
    fn user_data_that_cloud_init_cannot_read_are_refused_with_a_reason() {
        for (text, reason, part) in [
            ("[settings.kubernetes]\n", Reason::UserDataNotStorable, "as that of Bottlerocket"),
            ("{\"ignition\": {}}", Reason::UserDataNotStorable, "it is for Ignition"),
        ] {
            let blocked = kept(&keeping(ROLE), text.as_bytes().to_vec(), "boot").unwrap_err();
            assert_eq!(blocked.reason, reason);
            assert!(blocked.message.contains(part), "{}", blocked.message);
        }
        let long = vec![b'#'; STORED_LIMIT + 1];
        assert_eq!(kept(&keeping(ROLE), long, "boot").unwrap_err().reason, Reason::UserDataTooLarge);
    }
}
