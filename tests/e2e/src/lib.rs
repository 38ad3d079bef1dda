//! End-to-end tests on real components.
