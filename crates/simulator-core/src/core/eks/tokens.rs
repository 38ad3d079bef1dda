//! Client request tokens: the same request with the same token happens once (EKS API Reference, `clientRequestToken`). The same
//! token with another request is an error **(A)**.

use super::refusal::invalid;
use crate::core::error::AwsResult;
use std::collections::BTreeMap;

/// Requests by action, cluster and token, each with the id of what it made.
#[derive(Clone, Debug, Default)]
pub(in crate::core) struct Tokens(BTreeMap<(&'static str, String, String), (String, String)>);

impl Tokens {
    /// The id of what the same request made before.
    pub(in crate::core) fn made_before(
        &self,
        action: &'static str,
        cluster: &str,
        token: Option<&str>,
        request: &impl std::fmt::Debug,
    ) -> AwsResult<Option<String>> {
        let Some(token) = token else { return Ok(None) };
        let Some((former, id)) = self.0.get(&(action, cluster.to_owned(), token.to_owned())) else {
            return Ok(None);
        };
        if *former == format!("{request:?}") {
            return Ok(Some(id.clone()));
        }
        Err(invalid("The clientRequestToken was used before with other parameters."))
    }

    /// Remembers what a request made.
    pub(in crate::core) fn remember(
        &mut self,
        action: &'static str,
        cluster: &str,
        token: Option<&str>,
        request: &impl std::fmt::Debug,
        id: &str,
    ) {
        let Some(token) = token else { return };
        let key = (action, cluster.to_owned(), token.to_owned());
        self.0.insert(key, (format!("{request:?}"), id.to_owned()));
    }

    /// Forgets the tokens of what belonged to a cluster that is gone.
    pub(in crate::core) fn forget_cluster(&mut self, cluster: &str) {
        self.0.retain(|(_, of, _), _| of != cluster);
    }
}
