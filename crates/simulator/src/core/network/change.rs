//! One change of a network, as EC2 and Elastic Load Balancing carry it out.

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::network::{Change, Parts};

impl Region {
    /// Carries out one change, all of it or nothing. The answer has what it created, as its creator sees it; an association of
    /// a route table or a range comes as the table, subnet or VPC with nothing but it. A repetition with the same client token
    /// creates nothing and has the first answer.
    ///
    /// # Errors
    /// AWS's refusals, with its codes and words.
    pub fn change_network(&mut self, change: &Change) -> AwsResult<Parts> {
        if let Some(created) = self.network.tokens.repeated(change)? {
            return Ok(created);
        }
        let created = self.carry_out(change)?;
        self.network.tokens.remember(change, &created);
        Ok(created)
    }

    fn carry_out(&mut self, change: &Change) -> AwsResult<Parts> {
        Err(AwsError::new("InvalidAction", format!("{} is not written yet", change.operation())))
    }
}
