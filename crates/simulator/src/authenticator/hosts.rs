//! Which hosts a token may be presigned for.
//!
//! The real authenticator takes STS's hosts of its partition: of any region, also with FIPS and dual stack, and the global one
//! of the partition `aws`. A client whose endpoint is overridden (`AWS_ENDPOINT_URL`) presigns for the simulator instead, over
//! http: that address is taken as well, and nothing else on loopback.

use super::refusal::TokenRefusal;
use super::token::Presigned;
use crate::core::error::AwsError;

/// The hosts that a token may be presigned for.
#[derive(Clone, Copy, Debug)]
pub struct StsHosts<'a> {
    /// The simulator's own address, `127.0.0.1:4566`, if it has one.
    pub simulator: Option<&'a str>,
}

/// The region that signs for the global host (AWS STS API Reference, "Endpoints").
const GLOBAL_REGION: &str = "us-east-1";

impl StsHosts<'_> {
    /// Refuses a request for another host than STS's in the partition of `region`, and one that is signed for another region
    /// than its host's, as STS does.
    pub(super) fn check(&self, presigned: &Presigned, region: &str) -> Result<(), TokenRefusal> {
        let Presigned { scheme, host, scope, .. } = presigned;
        if scope.service != "sts" {
            return Err(sts_refuses("Credential should be scoped to correct service: 'sts'. "));
        }
        if scheme == "http" && Some(host.as_str()) == self.simulator {
            return Ok(());
        }
        if scheme != "https" {
            return Err(TokenRefusal::Format(format!("unexpected scheme \"{scheme}\" in pre-signed URL")));
        }
        let unexpected = || TokenRefusal::Format(format!("unexpected hostname \"{host}\" in pre-signed URL"));
        let of_host = region_of(host, region.starts_with("cn-")).ok_or_else(unexpected)?;
        if of_host != scope.region {
            return Err(sts_refuses("Credential should be scoped to a valid region. "));
        }
        Ok(())
    }
}

fn sts_refuses(message: &str) -> TokenRefusal {
    TokenRefusal::Sts(AwsError::new("SignatureDoesNotMatch", message).status(403))
}

/// The region of a host of STS, in China's partition or in the others that have its form.
fn region_of(host: &str, china: bool) -> Option<&str> {
    if host == "sts.amazonaws.com" {
        return (!china).then_some(GLOBAL_REGION);
    }
    let (service, rest) = host.split_once('.')?;
    let (region, domain) = rest.split_once('.')?;
    let known = if china {
        ["amazonaws.com.cn", "api.amazonwebservices.com.cn"].contains(&domain)
    } else {
        ["amazonaws.com", "api.aws"].contains(&domain)
    };
    let formed =
        region.contains('-') && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (known && formed && ["sts", "sts-fips"].contains(&service) && region.starts_with("cn-") == china)
        .then_some(region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_sts_is_one_of_the_partition() {
        assert_eq!(region_of("sts.eu-central-1.amazonaws.com", false), Some("eu-central-1"));
        assert_eq!(region_of("sts-fips.us-east-2.api.aws", false), Some("us-east-2"));
        assert_eq!(region_of("sts.amazonaws.com", false), Some("us-east-1"));
        assert_eq!(region_of("sts.cn-north-1.amazonaws.com.cn", true), Some("cn-north-1"));
        for (host, china) in [
            ("sts.cn-north-1.amazonaws.com.cn", false),
            ("sts.cn-north-1.amazonaws.com", false),
            ("sts.eu-central-1.amazonaws.com", true),
            ("sts.amazonaws.com", true),
            ("sts.eu-central-1.amazonaws.com.evil.example", false),
            ("ec2.eu-central-1.amazonaws.com", false),
            ("sts.evil.amazonaws.com", false),
            ("127.0.0.1:4566", false),
        ] {
            assert_eq!(region_of(host, china), None, "{host}");
        }
    }
}
