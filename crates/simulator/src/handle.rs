//! The simulator as an HTTP server, which runs until its handle is dropped; and the same AWS as EKS itself calls it.

use crate::config::SimulatorConfig;
use crate::server::{self, Side};
use crate::simulator::Simulator;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;
use tokio::task::JoinHandle;

/// A simulated AWS that serves HTTP until the handle is dropped.
#[derive(Debug)]
pub struct Handle {
    simulator: Simulator,
    address: SocketAddr,
    server: JoinHandle<()>,
}

/// What EKS's authenticators take for AWS, until it is dropped.
#[derive(Debug)]
pub struct EksEndpoint {
    address: SocketAddr,
    server: JoinHandle<()>,
}

impl EksEndpoint {
    /// Starts an HTTP server for the authenticators of EKS's clusters: STS and EC2 respond there as to EKS, without the
    /// account's limits, faults and counts. Whoever forwards a request leaves the header `host` as it is.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start(simulator: &Simulator) -> io::Result<Self> {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(server::serve(listener, simulator.clone(), Side::Eks));
        Ok(Self { address, server })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for EksEndpoint {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Handle {
    /// A simulator that responds over HTTP at the configured address. Needs a tokio runtime.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn start(config: SimulatorConfig) -> io::Result<Self> {
        let simulator = Simulator::new(config);
        let listener = tokio::net::TcpListener::bind(simulator.world.config.listen).await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(server::serve(listener, simulator.clone(), Side::Callers));
        Ok(Self { simulator, address, server })
    }

    /// The endpoint URL, for SDKs (`AWS_ENDPOINT_URL`).
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The simulator behind it.
    pub fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// Waits for ever, or until the server fails.
    pub async fn finished(mut self) {
        // An aborted or panicked server has finished as well.
        let _ = (&mut self.server).await;
    }
}

impl Deref for Handle {
    type Target = Simulator;

    fn deref(&self) -> &Simulator {
        &self.simulator
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.server.abort();
    }
}
