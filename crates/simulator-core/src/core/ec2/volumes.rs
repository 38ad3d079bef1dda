//! EC2's rules for the volumes of a launch (Amazon EBS User Guide, "Amazon EBS volume types"; EC2 API Reference,
//! EbsBlockDevice).

use super::launch_data::LaunchData;
use crate::core::document::Document;
use crate::core::error::AwsError;

/// A volume type.
struct VolumeKind {
    name: &'static str,
    /// Least and largest size in GiB.
    size: (u64, u64),
    iops: Option<Iops>,
}

/// Limits of the operations per second of a volume type.
struct Iops {
    least: u64,
    most: u64,
    per_gib: u64,
    required: bool,
}

const KINDS: [VolumeKind; 7] = [
    VolumeKind {
        name: "gp3",
        size: (1, 65_536),
        iops: Some(Iops { least: 3_000, most: 80_000, per_gib: 500, required: false }),
    },
    VolumeKind { name: "gp2", size: (1, 16_384), iops: None },
    VolumeKind {
        name: "io1",
        size: (4, 16_384),
        iops: Some(Iops { least: 100, most: 64_000, per_gib: 50, required: true }),
    },
    VolumeKind {
        name: "io2",
        size: (4, 65_536),
        iops: Some(Iops { least: 100, most: 256_000, per_gib: 1_000, required: true }),
    },
    VolumeKind { name: "st1", size: (125, 16_384), iops: None },
    VolumeKind { name: "sc1", size: (125, 16_384), iops: None },
    VolumeKind { name: "standard", size: (1, 1_024), iops: None },
];
/// Throughput of gp3 volumes in MiB/s: least, most, and operations per second that each needs.
const THROUGHPUT: (u64, u64, u64) = (125, 2_000, 4);
/// Rates at which volumes are initialized from a snapshot, in MiB/s.
const INITIALIZATION: std::ops::RangeInclusive<u64> = 100..=300;
/// Types that cannot be a root device.
const NEVER_ROOT: [&str; 2] = ["st1", "sc1"];

/// The violations of these rules in launch data, for an image with this root device.
pub(crate) fn problems(data: &LaunchData, root_device: Option<&str>) -> Vec<AwsError> {
    let mappings = data.document.get_list(&["blockDeviceMappingSet"]);
    mappings.iter().filter_map(|mapping| problem(mapping, root_device).err()).collect()
}

fn problem(mapping: &Document, root_device: Option<&str>) -> Result<(), AwsError> {
    let text = |name| mapping.get_text(&["ebs", name]);
    if text("kmsKeyId").is_some() && text("encrypted") != Some("true") {
        return Err(AwsError::new(
            "InvalidParameterDependency",
            "The parameter KmsKeyId requires the parameter Encrypted to be set.",
        ));
    }
    // EC2 API Reference, LaunchTemplateEbsBlockDeviceRequest. Images of the simulator have a snapshot for their root device only.
    if let Some(rate) = number(mapping, "volumeInitializationRate")? {
        if !INITIALIZATION.contains(&rate) {
            let text = format!("Value ({rate}) for parameter volumeInitializationRate is invalid.");
            return Err(AwsError::invalid_value(text));
        }
        let device = mapping.get_text(&["deviceName"]);
        if text("snapshotId").is_none()
            && device.is_some()
            && root_device.is_some_and(|root| device != Some(root))
        {
            let text =
                "The parameter volumeInitializationRate needs a volume that is created from a snapshot.";
            return Err(combination(text.to_owned()));
        }
    }
    let Some(name) = text("volumeType") else { return Ok(()) };
    let kind = KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| {
        AwsError::invalid_value(format!("Value ({name}) for parameter volumeType is invalid."))
    })?;
    let (size, iops, throughput) =
        (number(mapping, "volumeSize")?, number(mapping, "iops")?, number(mapping, "throughput")?);
    if let Some(size) = size {
        within("Volume size", name, size, kind.size)?;
    }
    if NEVER_ROOT.contains(&name) && root_device.is_some() && root_device == mapping.get_text(&["deviceName"])
    {
        return Err(combination(format!("The volume type {name} cannot be used for the root device.")));
    }
    match (&kind.iops, iops) {
        (None, Some(_)) => return Err(unsupported("iops", name)),
        (Some(rule), None) if rule.required => {
            let text = format!("The parameter iops must be specified for {name} volumes.");
            return Err(AwsError::new("MissingParameter", text));
        }
        (Some(rule), Some(iops)) => {
            within("Volume iops", name, iops, (rule.least, rule.most))?;
            let most = size.map(|size| size.saturating_mul(rule.per_gib).max(rule.least));
            if most.is_some_and(|most| iops > most) {
                let most = rule.per_gib;
                return Err(combination(format!("Iops to volume size ratio is too high; maximum is {most}")));
            }
        }
        (None | Some(_), None) => {}
    }
    let Some(throughput) = throughput else { return Ok(()) };
    let (least, most, each) = THROUGHPUT;
    if name != "gp3" {
        return Err(unsupported("throughput", name));
    }
    within("Volume throughput", name, throughput, (least, most))?;
    if throughput.saturating_mul(each) > iops.unwrap_or(3_000) {
        let text = "Throughput (MiBps) to iops ratio is too high; maximum is 0.25 MiBps per iops";
        return Err(combination(text.to_owned()));
    }
    Ok(())
}

fn number(mapping: &Document, name: &str) -> Result<Option<u64>, AwsError> {
    let Some(text) = mapping.get_text(&["ebs", name]) else { return Ok(None) };
    let wrong = |_| AwsError::invalid_value(format!("Value ({text}) for parameter {name} is invalid."));
    text.parse().map(Some).map_err(wrong)
}

fn within(what: &str, kind: &str, value: u64, (least, most): (u64, u64)) -> Result<(), AwsError> {
    if value < least {
        let text = format!("{what} of {value} is too low for volume type {kind}; minimum is {least}.");
        return Err(AwsError::invalid_value(text));
    }
    if value > most {
        let text = format!("{what} of {value} is too high for volume type {kind}; maximum is {most}.");
        return Err(AwsError::invalid_value(text));
    }
    Ok(())
}

fn unsupported(parameter: &str, kind: &str) -> AwsError {
    combination(format!("The parameter {parameter} is not supported for {kind} volumes."))
}

fn combination(text: String) -> AwsError {
    AwsError::new("InvalidParameterCombination", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of what is wrong with a volume, or `fits`. Fields are `name=value`, device `/dev/xvda` is the root's.
    fn check(device: &str, fields: &str) -> String {
        let ebs = fields.split_whitespace().filter_map(|field| field.split_once('='));
        let ebs = ebs.fold(Document::map(), |map, (name, value)| map.with(name, Some(Document::text(value))));
        let mapping = Document::map().with("deviceName", Some(Document::text(device))).with("ebs", Some(ebs));
        let document = Document::map().with("blockDeviceMappingSet", Some(Document::List(vec![mapping])));
        let found = problems(&LaunchData { document }, Some("/dev/xvda"));
        found.first().map_or_else(|| "fits".to_owned(), |error| error.code.clone())
    }

    #[test]
    fn volumes_are_what_their_type_allows() {
        for (fields, expected) in [
            ("volumeType=gp3 volumeSize=20", "fits"),
            ("volumeType=gp3 volumeSize=20 snapshotId=snap-1 volumeInitializationRate=300", "fits"),
            ("volumeType=gp3 volumeSize=20 volumeInitializationRate=300", "InvalidParameterCombination"),
            ("volumeType=gp3 volumeSize=20 volumeInitializationRate=301", "InvalidParameterValue"),
            ("volumeType=gp3 volumeSize=20 iops=3000 throughput=125", "fits"),
            ("volumeType=gp3 volumeSize=20 iops=16000 throughput=1000", "InvalidParameterCombination"),
            ("volumeType=gp3 volumeSize=100 iops=16000 throughput=1000", "fits"),
            ("volumeType=gp3 volumeSize=100 throughput=1000", "InvalidParameterCombination"),
            ("volumeType=gp3 volumeSize=20 iops=2999", "InvalidParameterValue"),
            ("volumeType=gp2 volumeSize=20 iops=3000", "InvalidParameterCombination"),
            ("volumeType=gp2 volumeSize=20 throughput=125", "InvalidParameterCombination"),
            ("volumeType=io1 volumeSize=20", "MissingParameter"),
            ("volumeType=io2 volumeSize=20 iops=1000", "fits"),
            ("volumeType=io1 volumeSize=20 iops=1001", "InvalidParameterCombination"),
            ("volumeType=st1 volumeSize=124", "InvalidParameterValue"),
            ("volumeType=gp9", "InvalidParameterValue"),
            ("volumeType=gp3 volumeSize=many", "InvalidParameterValue"),
            ("volumeType=gp3 kmsKeyId=x", "InvalidParameterDependency"),
            ("volumeType=gp3 kmsKeyId=x encrypted=true", "fits"),
        ] {
            assert_eq!(check("/dev/xvdb", fields), expected, "{fields}");
        }
        // The image has a snapshot for its root device.
        assert_eq!(check("/dev/xvda", "volumeType=gp3 volumeInitializationRate=100"), "fits");
        assert_eq!(check("/dev/xvda", "volumeType=st1 volumeSize=125"), "InvalidParameterCombination");
        assert_eq!(check("/dev/xvdb", "volumeType=st1 volumeSize=125"), "fits");
    }
}
