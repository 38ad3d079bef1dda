//! Terminations that share one call: AWS terminates up to a hundred instances of a group at once.
//!
//! A plan, the memory and events name each instance by itself. If AWS refuses a call because of one instance,
//! it does not show whether it terminated some of the others. So such a refusal proves nothing: the group is
//! observed again, and what is still to be terminated is terminated one by one for a while.

use super::execute::{Done, Executor};
use crate::pool::pass::ActionFailure;
use crate::pool::terminated_alone::Alone;
use foo_cloud::{CloudError, Ended, ErrorKind};
use foo_model::{Decrement, GroupName, InstanceId, Timestamp};
use foo_planner::Action;
use foo_planner::action::InstanceAction;
use futures::future::join_all;

/// Maximum of instances in one call (Auto Scaling API Reference, TerminateInstanceInAutoScalingGroup,
/// InstanceIds).
const MOST: usize = 100;
/// Maximum of Machines that are read concurrently before their instances are terminated.
const READS: usize = 10;

/// How many of these actions, from the first on, share one call; at least one.
pub(in crate::pool) fn first(actions: &[Action], alone: &Alone, now: Timestamp) -> usize {
    let how = |action: &Action| match action {
        Action::Instance(InstanceAction::TerminateInstance { group, id, decrement, .. })
            if !alone.has(id, now) =>
        {
            Some((group.clone(), *decrement))
        }
        _ => None,
    };
    let Some(of_first) = actions.first().and_then(how) else { return 1 };
    actions.iter().take(MOST).take_while(|action| how(action).as_ref() == Some(&of_first)).count()
}

/// A call for several instances.
struct Call<'a> {
    group: &'a GroupName,
    decrement: Decrement,
    ids: Vec<&'a InstanceId>,
}

impl Executor<'_> {
    /// Terminates instances in one call, except those whose Machine is not being deleted. Returns the result
    /// of each, in their order.
    pub(in crate::pool) async fn end_together(
        &self,
        actions: &[&Action],
    ) -> Vec<Result<Done, ActionFailure>> {
        let mut results = Vec::with_capacity(actions.len());
        for some in actions.chunks(READS) {
            let any_failed = results.iter().any(Result::is_err);
            results.extend(if any_failed {
                some.iter()
                    .map(|_| Ok(Some(Done::PreconditionFailed("its Machine could not be read"))))
                    .collect()
            } else {
                join_all(some.iter().map(|action| self.is_overtaken(action))).await
            });
        }
        let free = actions.iter().zip(&results).filter(|(_, result)| matches!(result, Ok(None)));
        let response = match call_of(free.map(|(action, _)| *action)) {
            Some(call) => self.end(&call).await,
            None => Ok(Ended::All),
        };
        let done = |before: Result<Option<Done>, ActionFailure>| match before? {
            Some(overtaken) => Ok(overtaken),
            None => outcome_of(&response),
        };
        results.into_iter().map(done).collect()
    }

    async fn is_overtaken(&self, action: &Action) -> Result<Option<Done>, ActionFailure> {
        let Action::Instance(InstanceAction::TerminateInstance { id, .. }) = action else { return Ok(None) };
        let lives = self.has_living_machine(id).await?;
        Ok(lives.then_some(Done::PreconditionFailed("its Machine is not being deleted")))
    }

    async fn end(&self, call: &Call<'_>) -> Result<Ended, CloudError> {
        if let [id] = call.ids.as_slice() {
            return self.cloud.terminate_instance(id, call.decrement).await.map(|()| Ended::All);
        }
        let ids: Vec<InstanceId> = call.ids.iter().copied().cloned().collect();
        match self.cloud.terminate_instances(call.group, &ids, call.decrement).await {
            Err(error) if is_about_one(&error) => {
                tracing::info!(group = %call.group, %error, "could not terminate the instances with one call; terminating them one by one");
                Ok(Ended::NotAll)
            }
            other => other,
        }
    }
}

fn call_of<'a>(actions: impl Iterator<Item = &'a Action>) -> Option<Call<'a>> {
    let mut all: Option<Call<'a>> = None;
    for action in actions {
        if let Action::Instance(InstanceAction::TerminateInstance { group, id, decrement, .. }) = action {
            let call = all.get_or_insert_with(|| Call { group, decrement: *decrement, ids: Vec::new() });
            call.ids.push(id);
        }
    }
    all
}

/// What the response means for one of several instances.
fn outcome_of(response: &Result<Ended, CloudError>) -> Result<Done, ActionFailure> {
    match response {
        Ok(Ended::All) => Ok(Done::Carried),
        Ok(Ended::NotAll) => Ok(Done::NotTogether),
        Err(error) => Err(error.clone().into()),
    }
}

/// Whether a refusal may concern only one of several instances.
fn is_about_one(error: &CloudError) -> bool {
    match error.kind {
        ErrorKind::Invalid | ErrorKind::InUse | ErrorKind::NotFound | ErrorKind::AlreadyExists => true,
        ErrorKind::Throttled
        | ErrorKind::Denied
        | ErrorKind::Credentials
        | ErrorKind::LimitExceeded
        | ErrorKind::LostResponse
        | ErrorKind::Unreachable
        | ErrorKind::Internal => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::act::test_actions::termination;
    use foo_planner::action::PoolAction;
    use std::time::Duration;

    #[test]
    fn terminations_of_one_kind_share_a_call_and_other_actions_do_not() {
        let mut alone = Alone::default();
        let actions = [
            termination("i-1", Decrement::Shrink),
            termination("i-2", Decrement::Shrink),
            termination("i-3", Decrement::Replace),
            Action::Pool(PoolAction::AddFinalizer),
            Action::Pool(PoolAction::AddFinalizer),
        ];
        let count = |from: usize, alone: &Alone, at: u64| {
            first(&actions[from..], alone, Timestamp::default().plus(Duration::from_secs(at)))
        };
        assert_eq!([0, 2, 3].map(|from| count(from, &alone, 0)), [2, 1, 1]);
        let many: Vec<Action> = (0..120).map(|n| termination(&format!("i-{n}"), Decrement::Shrink)).collect();
        assert_eq!(first(&many, &alone, Timestamp::default()), MOST);
        alone.add(&actions[1], Timestamp::default());
        assert_eq!(count(0, &alone, 0), 1, "what follows would not go with it");
        assert_eq!(count(0, &alone, 300), 2, "not for ever");
    }
}
