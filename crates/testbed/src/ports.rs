//! Free TCP ports on loopback.
//!
//! Not by binding port 0: the kernel then picks from the range it also uses for outgoing connections (32768 and up
//! on Linux), and each component opens hundreds of those to the others, so a port that was free a moment ago, or
//! belongs to a component that a test has stopped for a while, would be taken. Below that range nothing is taken
//! unasked.

use crate::lock;
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

static HANDED_OUT: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

const FIRST: u16 = 15_000;
const COUNT: u16 = 15_000;
const ATTEMPTS: u16 = 200;

/// A port on 127.0.0.1 that is free, and that this process has not handed out before.
///
/// Another process may still take it before the caller does; starting a component is retried with other ports.
pub fn free_port() -> Result<u16> {
    // RandomState is the standard library's only source of randomness; two test processes must not walk in step.
    let random = RandomState::new();
    for attempt in 0..ATTEMPTS {
        let offset = u16::try_from(random.hash_one(attempt) % u64::from(COUNT)).unwrap_or_default();
        let port = FIRST + offset;
        if lock(&HANDED_OUT).contains(&port) {
            continue;
        }
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() && lock(&HANDED_OUT).insert(port) {
            return Ok(port);
        }
    }
    bail!("no free port on 127.0.0.1 from {FIRST} to {}", FIRST + COUNT - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_out_each_port_once() {
        let ports: BTreeSet<u16> = (0..50).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.len(), 50);
    }
}
