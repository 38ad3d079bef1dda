//! Fault injection: rules that make single calls fail, hang or lose their response.

use crate::core::chance::Chance;
use crate::core::error::AwsError;
use crate::core::probability::Probability;
use crate::service::Service;
use serde::{Deserialize, Serialize};

/// A rule: which calls, how many of them, and their fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// Only calls of this service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Only calls of this action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Only calls of this caller (the access key id; for in-process clouds their caller name).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// Only calls whose parameters contain this text (a group's name, an id).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containing: Option<String>,
    /// Only calls that change something: neither Describe…, Get… nor List….
    #[serde(default)]
    pub changes: bool,
    /// How many matching calls succeed before the first one that fails.
    #[serde(default)]
    pub skip: u32,
    /// How many calls fail; all further ones if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Probability that a call fails that would fail by the fields above; 1 if absent. Calls that do not fail because
    /// of it do not count for `times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Probability>,
    /// Their fault.
    pub fault: Fault,
}

/// A fault of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Fault {
    /// It is refused with this response and not carried out. `{request-id}` in the message becomes a new id each time.
    Error {
        /// AWS's error code.
        code: String,
        /// HTTP status; 0 or absent: AWS's status for the code.
        #[serde(default)]
        status: u16,
        /// The text.
        #[serde(default)]
        message: String,
    },
    /// It is refused as AWS refuses a call that no policy allows.
    Denied,
    /// It is refused as AWS refuses a call above the rate limit.
    Throttled,
    /// It is carried out after this real time.
    Delay {
        /// Milliseconds of real time.
        millis: u64,
    },
    /// The connection is reset before the call is carried out; the caller cannot know that it was not.
    DroppedBefore,
    /// It is carried out, then the connection is reset.
    DroppedAfter,
    /// It is not carried out and gets no response; the connection stays open.
    Hang,
    /// It is carried out, but gets no response; the connection stays open.
    HangAfter,
    /// It is carried out, but the connection ends in the middle of the response's body.
    Truncated,
    /// AWS cannot be reached, and the caller knows that the call was not carried out. Over HTTP the same as
    /// [`Self::DroppedBefore`].
    Unreachable,
}

impl FaultRule {
    /// A rule for every call of an action.
    pub fn on(action: &str, fault: Fault) -> Self {
        Self {
            service: None,
            action: Some(action.to_owned()),
            caller: None,
            containing: None,
            changes: false,
            skip: 0,
            times: None,
            probability: None,
            fault,
        }
    }

    /// A rule for every call of every service.
    pub fn on_everything(fault: Fault) -> Self {
        Self { action: None, ..Self::on("", fault) }
    }

    /// A rule for every call that changes something.
    pub fn on_changes(fault: Fault) -> Self {
        Self { changes: true, ..Self::on_everything(fault) }
    }

    /// This rule, for that many calls only.
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// This rule, after that many calls have succeeded.
    pub fn after(mut self, skip: u32) -> Self {
        self.skip = skip;
        self
    }

    /// This rule, for one caller only.
    pub fn for_caller(mut self, caller: &str) -> Self {
        self.caller = Some(caller.to_owned());
        self
    }

    /// This rule, for calls whose parameters contain a text.
    pub fn containing(mut self, text: &str) -> Self {
        self.containing = Some(text.to_owned());
        self
    }

    /// This rule, with a probability for each call.
    pub fn with_probability(mut self, probability: Probability) -> Self {
        self.probability = Some(probability);
        self
    }

    fn matches(&self, call: &CallHead<'_>) -> bool {
        self.service.is_none_or(|service| service == call.service)
            && self.action.as_deref().is_none_or(|action| action == call.action)
            && self.caller.as_deref().is_none_or(|caller| caller == call.caller)
            && self.containing.as_deref().is_none_or(|text| call.parameters.contains(text))
            && (!self.changes || call.changes())
    }
}

/// What is known of a call before it is carried out.
#[derive(Clone, Copy, Debug)]
pub struct CallHead<'a> {
    /// The caller: access key id, or name of an in-process cloud.
    pub caller: &'a str,
    /// The region.
    pub region: &'a str,
    /// The service.
    pub service: Service,
    /// The action.
    pub action: &'a str,
    /// All parameters as text.
    pub parameters: &'a str,
}

impl CallHead<'_> {
    /// Whether it changes something, by AWS's naming.
    fn changes(&self) -> bool {
        !["Describe", "Get", "List", "Assume"].iter().any(|read| self.action.starts_with(read))
    }
}

/// The rules in force, in the order they were added.
#[derive(Clone, Debug)]
pub(crate) struct Faults {
    rules: Vec<(u64, FaultRule)>,
    serial: u64,
    chance: Chance,
}

impl Faults {
    /// No rules. The seed decides which calls rules with a probability hit.
    pub(crate) fn new(seed: u64) -> Self {
        Self { rules: Vec::new(), serial: 0, chance: Chance::new(seed, "faults") }
    }

    /// Adds a rule and returns its number.
    pub(crate) fn add(&mut self, rule: FaultRule) -> u64 {
        self.serial += 1;
        self.rules.push((self.serial, rule));
        self.serial
    }

    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let before = self.rules.len();
        self.rules.retain(|(serial, _)| *serial != number);
        self.rules.len() < before
    }

    pub(crate) fn clear(&mut self) {
        self.rules.clear();
    }

    pub(crate) fn rules(&self) -> Vec<(u64, FaultRule)> {
        self.rules.clone()
    }

    /// The fault of the first rule that hits this call. Rules count the calls that they match; a rule that is used up
    /// is removed.
    pub(crate) fn take_for(&mut self, call: &CallHead<'_>) -> Option<Fault> {
        let chance = &mut self.chance;
        let at = self.rules.iter_mut().position(|(_, rule)| {
            if !rule.matches(call) || rule.times == Some(0) {
                return false;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
                return false;
            }
            rule.probability.is_none_or(|probability| probability.occurs(chance))
        })?;
        let (_, rule) = self.rules.get_mut(at)?;
        rule.times = rule.times.map(|times| times.saturating_sub(1));
        let fault = rule.fault.clone();
        self.rules.retain(|(_, rule)| rule.times != Some(0));
        Some(fault)
    }
}

/// AWS's refusal of a call that no policy allows, naming the action.
pub(crate) fn denied(call: &CallHead<'_>, account: &str) -> AwsError {
    let user = format!("arn:aws:iam::{account}:user/{}", call.caller);
    let action = format!("{}:{}", call.service.name(), call.action);
    match call.service {
        Service::Ec2 => AwsError::new(
            "UnauthorizedOperation",
            format!(
                "You are not authorized to perform this operation. User: {user} is not authorized to perform: {action} \
                 because no identity-based policy allows the {action} action. Encoded authorization failure message: \
                 {{request-id}}"
            ),
        ),
        Service::AutoScaling
        | Service::Sts
        | Service::Sqs
        | Service::Ssm
        | Service::ElasticLoadBalancing
        | Service::ServiceQuotas
        | Service::Eks
        | Service::Iam
        | Service::S3 => AwsError::new(
            if matches!(call.service, Service::ServiceQuotas | Service::Eks) {
                "AccessDeniedException"
            } else {
                "AccessDenied"
            },
            format!(
                "User: {user} is not authorized to perform: {action} because no identity-based policy allows the \
                 {action} action"
            ),
        ),
    }
    .status(403)
}

/// AWS's refusal of a call above the rate limit.
pub(crate) fn throttled(service: Service) -> AwsError {
    match service {
        Service::Ec2 => AwsError::new("RequestLimitExceeded", "Request limit exceeded.").status(503),
        Service::AutoScaling | Service::Sts | Service::ElasticLoadBalancing | Service::Iam => {
            AwsError::new("Throttling", "Rate exceeded")
        }
        Service::S3 => AwsError::new("SlowDown", "Please reduce your request rate.").status(503),
        Service::Sqs => AwsError::new("RequestThrottled", "Request is throttled.").status(403),
        Service::Ssm => AwsError::new("ThrottlingException", "Rate exceeded"),
        Service::Eks => AwsError::new("ThrottlingException", "Rate exceeded").status(429),
        Service::ServiceQuotas => AwsError::new("TooManyRequestsException", "Rate exceeded"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(action: &str) -> CallHead<'_> {
        CallHead {
            caller: "manager",
            region: "eu-central-1",
            service: Service::AutoScaling,
            action,
            parameters: "AutoScalingGroupName=pool-a",
        }
    }

    #[test]
    fn a_rule_skips_then_hits_then_is_gone() {
        let mut faults = Faults::new(1);
        faults.add(FaultRule::on("SetDesiredCapacity", Fault::Throttled).after(1).times(2));
        let hits: Vec<bool> =
            (0..5).map(|_| faults.take_for(&call("SetDesiredCapacity")).is_some()).collect();
        assert_eq!(hits, [false, true, true, false, false]);
        assert!(faults.rules().is_empty());
    }

    #[test]
    fn a_rule_hits_only_what_it_names() {
        let mut faults = Faults::new(1);
        faults.add(FaultRule::on_everything(Fault::Denied).for_caller("manager").containing("pool-a"));
        faults.add(FaultRule::on("Other", Fault::Throttled));
        assert_eq!(faults.take_for(&call("Any")), Some(Fault::Denied));
        assert_eq!(faults.take_for(&CallHead { caller: "user", ..call("Any") }), None);
        assert_eq!(faults.take_for(&CallHead { parameters: "pool-b", ..call("Any") }), None);
    }

    #[test]
    fn a_rule_for_changes_spares_and_does_not_count_what_only_reads() {
        let mut faults = Faults::new(1);
        faults.add(FaultRule::on_changes(Fault::Hang).after(1));
        let hits = ["DescribeVpcs", "CreateVpc", "GetCallerIdentity", "ListServiceQuotas", "DeleteVpc"]
            .map(|action| faults.take_for(&call(action)).is_some());
        assert_eq!(hits, [false, false, false, false, true]);
    }

    #[test]
    fn a_denied_call_names_the_action_as_aws_does() {
        let error = denied(&call("CreateAutoScalingGroup"), "123456789012");
        assert_eq!((error.code.as_str(), error.status), ("AccessDenied", 403));
        assert!(error.message.starts_with(
            "User: arn:aws:iam::123456789012:user/manager is not authorized to perform: \
             autoscaling:CreateAutoScalingGroup"
        ));
        let error = denied(&CallHead { service: Service::Ec2, ..call("CreateLaunchTemplate") }, "1");
        assert_eq!(error.code, "UnauthorizedOperation");
    }

    #[test]
    fn a_rule_with_a_probability_hits_its_share_and_the_same_calls_for_a_seed() {
        let hits = |seed| {
            let mut faults = Faults::new(seed);
            let half = Probability::new(0.5).expect("a probability");
            faults.add(FaultRule::on_everything(Fault::Hang).with_probability(half));
            (0..1000).map(|_| faults.take_for(&call("Any")).is_some()).collect::<Vec<_>>()
        };
        let count = hits(1).into_iter().filter(|hit| *hit).count();
        assert!((420..580).contains(&count), "{count}");
        assert_eq!(hits(1), hits(1));
        assert_ne!(hits(1), hits(2));
    }

    #[test]
    fn rules_with_an_impossible_probability_or_an_unknown_field_are_refused() {
        let parse = |text| serde_json::from_str::<FaultRule>(text);
        assert!(parse(r#"{"probability":1.5,"fault":{"kind":"hang"}}"#).is_err());
        assert!(parse(r#"{"probability":-0.1,"fault":{"kind":"hang"}}"#).is_err());
        assert!(parse(r#"{"oftn":1,"fault":{"kind":"hang"}}"#).is_err());
        assert!(parse(r#"{"probability":0.25,"fault":{"kind":"truncated"}}"#).is_ok());
    }

    #[test]
    fn rules_have_a_json_form() {
        let rule: FaultRule = serde_json::from_str(
            r#"{"service":"ec2","action":"CreateLaunchTemplate","times":2,
                "fault":{"kind":"error","code":"InternalFailure","status":500,"message":"sorry {request-id}"}}"#,
        )
        .expect("a rule");
        assert_eq!(rule.times, Some(2));
        assert!(matches!(rule.fault, Fault::Error { status: 500, .. }));
        let rule: FaultRule = serde_json::from_str(r#"{"fault":{"kind":"dropped_after"}}"#).expect("a rule");
        assert_eq!(rule, FaultRule::on_everything(Fault::DroppedAfter));
    }
}
