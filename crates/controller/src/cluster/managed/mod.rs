//! A network that the provider creates.

mod desired;
