//! The manager: watches, gather, observe, plan, execute, publish.
