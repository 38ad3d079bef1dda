//! The simulator as AWS's SDKs for Python and Rust, moto and a browser see it. What they need beside Python 3 is
//! reported by the test that misses it.

mod boto3;
mod eks;
mod judge;
mod networks;
mod page;
mod probe;
mod sdk;

/// Where the tests install what they need.
const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
