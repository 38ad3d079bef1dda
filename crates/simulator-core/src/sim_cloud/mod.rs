//! The simulated AWS behind the `foo_cloud` traits: no SDK, no HTTP, the same core, faults, throttling and counts.

mod clusters;
mod compute;
mod convert;
mod errors;
mod groups;
mod networks;
mod objects;
mod overlay;
mod queue;
mod requirements;
mod roles;

pub use queue::SimQueue;

use crate::core::Region;
use crate::core::catalogue::IMAGE_X86_64;
use crate::core::ec2::templates::TemplateKey;
use crate::core::error::{AwsError, AwsResult};
use crate::core::network::SECURITY_GROUP;
use crate::faults::CallHead;
use crate::iam::policy::{Ask, Verdict};
use crate::iam::{ask, refusals};
use crate::service::Service;
use crate::world::{Ending, Gate, Inner, World};
use foo_cloud::{AwsClock, CloudError, ErrorKind, Operation, Result};
use foo_model::{
    AwsTime, GroupName, InstanceOptions, LaunchTemplateId, MetadataOptions, TemplateContent, UserData,
    operation,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Content of a launch template that every new region can launch, for instances that no FooMachinePool launched.
pub fn plain_content(user_data: &[u8]) -> TemplateContent {
    TemplateContent {
        image: IMAGE_X86_64.into(),
        arm64_image: None,
        instance_type: Some("m7i.large".into()),
        security_groups: vec![SECURITY_GROUP.into()],
        instance_profile: None,
        key_name: None,
        volumes: Vec::new(),
        metadata: MetadataOptions::with_tokens(1),
        spot: None,
        options: InstanceOptions::default(),
        user_data: UserData(user_data.to_vec()),
        tags: BTreeMap::new(),
        interface_tags: BTreeMap::new(),
    }
}

/// A cloud of one caller in one region of a simulator.
#[derive(Clone, Debug)]
pub struct SimCloud {
    world: Arc<World>,
    region: String,
    caller: String,
    clock: Option<AwsClock>,
    lag: ReadLag,
}

/// Whether the reads of a cloud are as old as the settings of its region say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadLag {
    /// They are.
    OfRegion,
    /// They show the present.
    None,
}

impl SimCloud {
    pub(crate) fn new(world: Arc<World>, region: &str, caller: &str) -> Self {
        Self {
            world,
            region: region.to_owned(),
            caller: caller.to_owned(),
            clock: None,
            lag: ReadLag::OfRegion,
        }
    }

    /// The same, whose reads show the present whatever the read lag: a test knows what is true.
    #[must_use]
    pub fn of_the_present(self) -> Self {
        Self { lag: ReadLag::None, ..self }
    }

    /// The same; records the dates of responses in `clock`. They are virtual time, as all times in the responses.
    #[must_use]
    pub fn noted_in(self, clock: AwsClock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// The name of the caller, which fault rules can use.
    pub fn caller(&self) -> &str {
        &self.caller
    }

    fn account_id(&self) -> String {
        self.world.account().to_owned()
    }

    fn arn(&self) -> String {
        self.world.arn_of(&self.caller)
    }

    /// A call that the manager's policy allows only on groups with the ownership tag. An in-process cloud has no
    /// policy; but while conditions do not see the tags of a new group
    /// ([`Settings::rights_appear_after`](crate::core::Settings)) it gets the refusal of a caller with that policy.
    async fn call_on_group<T>(
        &self,
        operation: Operation,
        name: &GroupName,
        parameters: String,
        work: impl FnOnce(&mut Region) -> AwsResult<T> + Send,
    ) -> Result<T> {
        let arn = self.arn();
        self.call(operation, parameters, |region| {
            if let Some(group) = region.group(name).filter(|it| !ask::knows_tags(region, it.created)) {
                return Err(not_allowed(operation, &group.arn, &arn));
            }
            work(region)
        })
        .await
    }

    /// A call that the manager's policy allows only on launch templates with the ownership tag.
    async fn call_on_template<T>(
        &self,
        operation: Operation,
        id: &LaunchTemplateId,
        parameters: String,
        work: impl FnOnce(&mut Region) -> AwsResult<T> + Send,
    ) -> Result<T> {
        let arn = self.arn();
        self.call(operation, parameters, |region| {
            if is_unknown_to_conditions(region, id) {
                return Err(not_allowed(operation, &ask::arn(region, "launch-template", id.as_str()), &arn));
            }
            work(region)
        })
        .await
    }

    /// One call of a region's service, with faults, throttling and counts.
    async fn call<T>(
        &self,
        operation: Operation,
        parameters: String,
        work: impl FnOnce(&mut Region) -> AwsResult<T> + Send,
    ) -> Result<T> {
        let work = |region: &mut Region| match self.lag {
            ReadLag::OfRegion => work(region),
            ReadLag::None => region.without_lag(work),
        };
        let carry_out = |call: &CallHead<'_>, ending: Ending| self.world.carry_out(call, ending, work);
        self.pass(operation, &parameters, carry_out).await
    }

    /// One call of a service that is the same in all regions, with faults, throttling and counts.
    async fn call_of_account<T>(
        &self,
        operation: Operation,
        parameters: &str,
        work: impl FnOnce(&mut Inner) -> AwsResult<T> + Send,
    ) -> Result<T> {
        let carry_out =
            |call: &CallHead<'_>, ending: Ending| self.world.carry_out_anywhere(call, ending, work);
        self.pass(operation, parameters, carry_out).await
    }

    /// What faults and throttling make of a call, which is carried out unless they prevent it.
    async fn pass<T>(
        &self,
        operation: Operation,
        parameters: &str,
        carry_out: impl FnOnce(&CallHead<'_>, Ending) -> AwsResult<T> + Send,
    ) -> Result<T> {
        let (service, sent) = (service_of(operation), Instant::now());
        let call = CallHead {
            caller: &self.caller,
            region: &self.region,
            service,
            action: operation.name(),
            parameters,
        };
        let no_response = |kind, text| CloudError::new(operation, kind, None, text);
        // A read whose response is lost can be repeated. Whether a change was carried out stays unknown.
        let lost_response = || {
            if operation.is_mutation() {
                no_response(ErrorKind::LostResponse, "no response; the call may have been carried out")
            } else {
                no_response(ErrorKind::Unreachable, "no response")
            }
        };
        let (wait, ending) = match self.world.gate(&call) {
            Gate::Open(wait) => (wait, Ending::Complete),
            // A truncated response cannot be parsed, so it is the same as none.
            Gate::ResponseLost | Gate::Truncated => (Duration::ZERO, Ending::Lost),
            Gate::Silence => (Duration::ZERO, Ending::Never),
            Gate::Hangs => std::future::pending().await,
            Gate::Refused(error) => {
                self.dates_response(sent);
                return Err(errors::as_adapter(operation, &error));
            }
            Gate::Dropped => return Err(lost_response()),
            Gate::Unreachable => return Err(no_response(ErrorKind::Unreachable, "connection refused")),
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        let result = carry_out(&call, ending);
        match ending {
            Ending::Never => std::future::pending().await,
            Ending::Lost | Ending::Truncated => Err(lost_response()),
            Ending::Complete => {
                self.dates_response(sent);
                result.map_err(|error| errors::as_adapter(operation, &error))
            }
        }
    }

    /// The `Date` of a response has whole seconds.
    fn dates_response(&self, sent: Instant) {
        let Some(clock) = &self.clock else { return };
        let now = self.world.lock().clock.now();
        let date = AwsTime::from_millis(now.0.div_euclid(1000).saturating_mul(1000));
        clock.responded(sent, Instant::now(), date);
    }
}

fn service_of(operation: Operation) -> Service {
    match operation.service() {
        operation::Service::AutoScaling => Service::AutoScaling,
        operation::Service::Ec2 => Service::Ec2,
        operation::Service::Sts => Service::Sts,
        operation::Service::Sqs => Service::Sqs,
        operation::Service::ElasticLoadBalancing => Service::ElasticLoadBalancing,
        operation::Service::ServiceQuotas => Service::ServiceQuotas,
        operation::Service::Ssm => Service::Ssm,
        operation::Service::Eks => Service::Eks,
        operation::Service::Iam => Service::Iam,
        operation::Service::S3 => Service::S3,
    }
}

/// Whether a template is so new that conditions on its tags fail.
fn is_unknown_to_conditions(region: &Region, id: &LaunchTemplateId) -> bool {
    let template = region.templates.find(&TemplateKey::Id(id.clone()));
    template.is_ok_and(|template| !ask::knows_tags(region, template.created))
}

/// The refusal of a call that a policy allows only on resources with a tag.
fn not_allowed(operation: Operation, resource: &str, caller_arn: &str) -> AwsError {
    let service = service_of(operation);
    let ask = Ask {
        action: format!("{}:{}", service.name(), operation.name()),
        resource: resource.to_owned(),
        context: std::collections::BTreeMap::new(),
    };
    refusals::denied(&ask, Verdict::NotAllowed, service, caller_arn)
}
