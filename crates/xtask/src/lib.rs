//! Generators and repository checks.
