//! AWS's refusals of callers. The codes differ between EC2 and the other services (EC2 API Reference, "Error codes";
//! Auto Scaling and STS API Reference, "Common errors").

use super::Credentials;
use super::policy::{Ask, Verdict};
use crate::core::Region;
use crate::core::error::{AwsError, AwsResult};
use crate::core::settings::TemplateRefusal;
use crate::service::Service;
use foo_model::LaunchTemplateId;

/// Refuses a call unless the key's policies allow everything that it needs. The refusal names the first missing
/// permission.
pub fn check(key: &Credentials, asks: &[Ask], service: Service, caller_arn: &str) -> AwsResult<()> {
    for policy in &key.policies {
        for ask in asks {
            match policy.judge(ask) {
                Verdict::Allowed => {}
                verdict => return Err(denied(ask, verdict, service, caller_arn)),
            }
        }
    }
    Ok(())
}

/// The caller may not assume this role. AWS responds alike for roles that do not exist (IAM User Guide,
/// "Troubleshoot IAM roles").
pub fn not_trusted(action: &str, role: &str, caller_arn: &str) -> AwsError {
    let text = format!("User: {caller_arn} is not authorized to perform: {action} on resource: {role}");
    AwsError::new("AccessDenied", text).status(403)
}

/// The temporary credentials have expired.
pub fn session_over(service: Service) -> AwsError {
    let text = "The security token included in the request is expired";
    match service {
        Service::Ec2 => AwsError::new("RequestExpired", "Request has expired."),
        Service::AutoScaling | Service::Sts | Service::Sqs | Service::ElasticLoadBalancing | Service::Iam => {
            AwsError::new("ExpiredToken", text).status(403)
        }
        Service::S3 => AwsError::new("ExpiredToken", "The provided token has expired."),
        Service::Ssm | Service::ServiceQuotas => AwsError::new("ExpiredTokenException", text),
        Service::Eks => AwsError::new("ExpiredTokenException", text).status(403),
    }
}

/// The caller may not launch from this template: one of AWS's two forms (Auto Scaling User Guide, "Troubleshoot: launch
/// templates").
pub fn of_template(region: &Region, template: &LaunchTemplateId) -> AwsError {
    match region.settings.template_refusal {
        TemplateRefusal::AccessDenied => {
            let text = format!("You are not authorized to use launch template: {template}");
            AwsError::new("AccessDenied", text).status(403)
        }
        TemplateRefusal::ValidationError => AwsError::validation(
            "You must use a valid fully-formed launch template. You are not authorized to perform this operation. \
             Encoded authorization failure message: 4GIOHlTkIaWHQD0Q0m6XSnuUMCm",
        ),
    }
}

pub(crate) fn denied(ask: &Ask, verdict: Verdict, service: Service, caller_arn: &str) -> AwsError {
    let Ask { action, resource, .. } = ask;
    let reason = match verdict {
        Verdict::Denied => "with an explicit deny in an identity-based policy".to_owned(),
        Verdict::Allowed | Verdict::NotAllowed => {
            format!("because no identity-based policy allows the {action} action")
        }
    };
    let text =
        format!("User: {caller_arn} is not authorized to perform: {action} on resource: {resource} {reason}");
    match service {
        Service::Ec2 => AwsError::new(
            "UnauthorizedOperation",
            format!("You are not authorized to perform this operation. {text}"),
        ),
        Service::AutoScaling
        | Service::Sts
        | Service::Sqs
        | Service::ElasticLoadBalancing
        | Service::Iam
        | Service::S3 => AwsError::new("AccessDenied", text),
        Service::Ssm | Service::ServiceQuotas => return AwsError::new("AccessDeniedException", text),
        // EKS's words (kubernetes-sigs/cluster-api-provider-aws, issue 2432).
        Service::Eks if action.starts_with("kms:") => {
            let text = format!("User not authorized to perform {action}");
            return AwsError::new("InvalidRequestException", text);
        }
        Service::Eks => AwsError::new("AccessDeniedException", text),
    }
    .status(403)
}

/// The access key id is unknown.
pub fn unknown_key(service: Service) -> AwsError {
    match service {
        Service::Ec2 => {
            AwsError::new("AuthFailure", "AWS was not able to validate the provided access credentials")
                .status(401)
        }
        Service::AutoScaling | Service::Sts | Service::Sqs | Service::ElasticLoadBalancing | Service::Iam => {
            AwsError::new("InvalidClientTokenId", "The security token included in the request is invalid.")
                .status(403)
        }
        Service::S3 => AwsError::new(
            "InvalidAccessKeyId",
            "The AWS Access Key Id you provided does not exist in our records.",
        )
        .status(403),
        Service::Ssm | Service::ServiceQuotas => AwsError::new(
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
        ),
        Service::Eks => AwsError::new(
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
        )
        .status(403),
    }
}

/// The signature does not match the secret. EC2 gives the same code as for an unknown key (EC2 API Reference, "Error
/// codes": AuthFailure).
pub fn wrong_signature(service: Service) -> AwsError {
    match service {
        Service::Ec2 => unknown_key(service),
        Service::AutoScaling
        | Service::Sts
        | Service::Sqs
        | Service::Ssm
        | Service::ElasticLoadBalancing
        | Service::ServiceQuotas
        | Service::Eks
        | Service::Iam
        | Service::S3 => AwsError::new(
            signature_code(service),
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret \
             Access Key and signing method. Consult the service documentation for details.",
        )
        .status(403),
    }
}

/// The request was signed too long ago, or in the future. The text is an abbreviation of AWS's.
pub fn expired(service: Service, signed: &str) -> AwsError {
    match service {
        Service::Ec2 => AwsError::new("RequestExpired", "Request has expired."),
        Service::S3 => AwsError::new(
            "RequestTimeTooSkewed",
            "The difference between the request time and the current time is too large.",
        )
        .status(403),
        Service::AutoScaling
        | Service::Sts
        | Service::Sqs
        | Service::Ssm
        | Service::ElasticLoadBalancing
        | Service::ServiceQuotas
        | Service::Eks
        | Service::Iam => AwsError::new(
            signature_code(service),
            format!("Signature expired: {signed} is too far from now."),
        )
        .status(403),
    }
}

fn signature_code(service: Service) -> &'static str {
    if matches!(service, Service::Ssm | Service::ServiceQuotas | Service::Eks) {
        "InvalidSignatureException"
    } else {
        "SignatureDoesNotMatch"
    }
}
