//! Free TCP ports on loopback.
//!
//! Not by binding port 0: the kernel then picks from the range it also uses for outgoing connections (32768 and up
//! on Linux), and each component opens hundreds of those to the others, so a port that was free a moment ago, or
//! belongs to a component that a test has stopped for a while, would be taken. Below that range nothing is taken
//! unasked.

use crate::lock;
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Mutex;

/// With the locks of their files, until the process ends.
static HANDED_OUT: Mutex<BTreeMap<u16, File>> = Mutex::new(BTreeMap::new());

const FIRST: u16 = 15_000;
const COUNT: u16 = 15_000;
const ATTEMPTS: u16 = 200;

/// A port on 127.0.0.1 that is free, and that no process of the testbed that runs has handed out.
///
/// Whoever waits for a server to listen would else find that of another test: several programs run at a time, and a port
/// that is handed out is free until its component has started. Another program may still take it; starting a component is
/// retried with other ports.
pub fn free_port() -> Result<u16> {
    // The same for all checkouts of a user: the ports are.
    let user = std::env::var("USER").unwrap_or_default();
    let locks = std::env::temp_dir().join(format!("foo-testbed-ports-{user}"));
    std::fs::create_dir_all(&locks).with_context(|| format!("creating {}", locks.display()))?;
    // RandomState is the standard library's only source of randomness; two test processes must not walk in step.
    let random = RandomState::new();
    for attempt in 0..ATTEMPTS {
        let offset = u16::try_from(random.hash_one(attempt) % u64::from(COUNT)).unwrap_or_default();
        let port = FIRST + offset;
        let Some(reserved) = reserved(&locks, port)? else { continue };
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            lock(&HANDED_OUT).insert(port, reserved);
            return Ok(port);
        }
    }
    bail!("no free port on 127.0.0.1 from {FIRST} to {}", FIRST + COUNT - 1)
}

/// The lock of a port, unless this process or another one has it. The kernel releases it when the process ends.
fn reserved(locks: &Path, port: u16) -> Result<Option<File>> {
    let path = locks.join(port.to_string());
    let file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("locking {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn hands_out_each_port_once() {
        let ports: BTreeSet<u16> = (0..50).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.len(), 50);
    }

    /// As another process would: locks belong to the opened file.
    #[test]
    fn a_port_that_is_handed_out_is_reserved_for_as_long_as_its_process_runs() {
        let locks = tempfile::tempdir().unwrap();
        let first = reserved(locks.path(), 15_001).unwrap();
        assert!(first.is_some() && reserved(locks.path(), 15_001).unwrap().is_none());
        assert!(reserved(locks.path(), 15_002).unwrap().is_some());
        drop(first);
        assert!(reserved(locks.path(), 15_001).unwrap().is_some());
    }
}
