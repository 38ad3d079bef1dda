//! The flags, as typed.

use clap::{Parser, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Runtime extension of cluster-api-provider-foo: Cluster API calls it for Clusters with a managed topology.
#[derive(Debug, Parser)]
#[command(name = "foo-extension", version, max_term_width = 100)]
pub struct Args {
    /// Address on which Cluster API calls hooks, by HTTPS. `[::]` is every address, of IPv4 as well.
    #[arg(long, default_value = "[::]:9443")]
    pub address: SocketAddr,
    /// Address of /healthz, /readyz and /metrics, by HTTP.
    #[arg(long, default_value = "[::]:9440")]
    pub admin_address: SocketAddr,
    /// Folder with tls.crt and tls.key, read again when they change.
    #[arg(long, default_value = "/certificates")]
    pub certificates: PathBuf,
    /// File with certificates of the authorities that sign the client certificate of Cluster API
    /// (--runtime-extension-client-cert-file); if empty, any client gets a response.
    #[arg(long, env = "FOO_EXTENSION_CLIENT_AUTHORITIES", default_value = "")]
    pub client_authorities: String,
    /// Seconds that calls in progress have to end after SIGTERM.
    #[arg(long, default_value_t = 20)]
    pub grace_seconds: u16,
    /// Endpoint of all AWS services: a simulator, or a proxy. Default: those of the region.
    #[arg(long, env = "AWS_ENDPOINT_URL")]
    pub aws_endpoint_url: Option<String>,
    /// Format of log lines.
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Which log lines are written: a level, or levels by module (tracing's EnvFilter). Below info only the extension's
    /// own modules log: other ones log bodies of requests there.
    #[arg(long, default_value = "info")]
    pub log_level: String,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For users.
    Text,
    /// One JSON object per line.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::net::{IpAddr, Ipv6Addr};

    /// A cluster may have addresses of IPv6 only. clusterctl sets the variable to the empty text by default.
    #[test]
    fn it_listens_on_every_address_and_requires_no_client_certificate_by_default() {
        Args::command().debug_assert();
        for args in [&["foo-extension"][..], &["foo-extension", "--client-authorities="]] {
            let args = Args::parse_from(args);
            for address in [args.address, args.admin_address] {
                assert_eq!(address.ip(), IpAddr::V6(Ipv6Addr::UNSPECIFIED));
            }
            assert_eq!(args.client_authorities, "");
        }
    }
}
