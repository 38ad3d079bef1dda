//! The flags as typed, and the same flags checked and converted: the rest of the code never sees an invalid
//! value.
//!
//! A new flag changes the golden help: `UPDATE_GOLDEN=1`.

mod values;

use crate::client::Limit;
use crate::clouds::QueueAddress;
use crate::context;
use crate::diagnostics::Files;
use crate::identities;
use crate::leader::state::Timing;
use crate::telemetry::LogFormat;
use clap::{Parser, ValueEnum};
use foo_cloud::observer;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;
use values::{address, duration};

/// Manager of cluster-api-provider-foo, a Cluster API infrastructure provider for AWS Auto Scaling groups.
#[derive(Debug, Parser)]
#[command(name = "foo-manager", version, max_term_width = 100)]
pub struct Args {
    /// Path of a kubeconfig for the management cluster. Without it the manager uses the in-cluster
    /// configuration, or $KUBECONFIG.
    #[arg(long)]
    pub kubeconfig: Option<PathBuf>,
    /// Reconcile only objects in this namespace; in all namespaces if empty.
    #[arg(long, default_value = "")]
    pub namespace: String,
    /// Reconcile only objects whose label cluster.x-k8s.io/watch-filter has this value; all objects if empty.
    #[arg(long, default_value = "")]
    pub watch_filter: String,
    /// Controllers to run, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "pool,cluster,control-plane,eks,node-config")]
    pub controllers: Vec<ControllerName>,
    /// Maximum number of objects that each controller reconciles at the same time, 1 to 1000.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub concurrency: u16,
    /// How often each object is reconciled even if nothing has changed (± 20 %).
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub sync_period: Duration,

    /// Whether replicas of the manager elect a leader. Disable it only if a single replica runs.
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true")]
    pub leader_elect: bool,
    /// Namespace of the Lease for leader election: the pod's own namespace, or `default` outside of a pod.
    #[arg(long, env = "POD_NAMESPACE", default_value = "default")]
    pub leader_election_namespace: String,
    /// Name of the Lease for leader election.
    #[arg(long, default_value = "controller-leader-election-foo")]
    pub leader_election_id: String,
    /// How long other replicas wait after the leader's last renewal of the Lease before one of them takes
    /// over; whole seconds.
    #[arg(long, default_value = "15s", value_parser = duration)]
    pub leader_elect_lease_duration: Duration,
    /// How long the leader keeps working after its last successful renewal of the Lease; must be shorter than
    /// the lease duration.
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub leader_elect_renew_deadline: Duration,
    /// Time between two attempts to acquire or renew the Lease; must be shorter than the renew deadline.
    #[arg(long, default_value = "2s", value_parser = duration)]
    pub leader_elect_retry_period: Duration,

    /// Namespace of the Secrets that FooClusterIdentities refer to: the pod's own namespace, or `default`
    /// outside of a pod.
    #[arg(long, env = "POD_NAMESPACE", default_value = "default")]
    pub identity_namespace: String,
    /// Requires a FooClusterIdentity for every FooCluster, so that none falls back to the manager's own AWS
    /// credentials; and an identity that several namespaces may use has to list the instance profiles and roles
    /// that they may name. For management clusters with several tenants.
    #[arg(long)]
    pub require_identity: bool,
    /// AWS regions that FooClusters may be in, separated by commas; all regions if empty.
    #[arg(long, value_delimiter = ',')]
    pub regions: Vec<String>,

    /// Maximum rate of requests to the management cluster's API server, in requests per second.
    #[arg(long, default_value_t = 100)]
    pub kube_api_qps: u32,
    /// Maximum number of requests to the management cluster's API server in one burst.
    #[arg(long, default_value_t = 200)]
    pub kube_api_burst: u32,

    /// Address that serves /metrics and /debug, over TLS, to clients whose bearer token may use these paths. Not
    /// served if empty.
    #[arg(long, default_value = ":8443")]
    pub diagnostics_address: String,
    /// Serve only /metrics there, over plain HTTP and without authentication. For an address that other
    /// machines cannot reach.
    #[arg(long)]
    pub insecure_diagnostics: bool,
    /// PEM file with the certificate and its chain for the diagnostics address. The manager reloads it when
    /// it changes. Without it the manager creates a self-signed certificate at each start.
    #[arg(long, requires = "tls_private_key_file")]
    pub tls_cert_file: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    #[arg(long, requires = "tls_cert_file")]
    pub tls_private_key_file: Option<PathBuf>,
    /// Address that serves /livez and /readyz.
    #[arg(long, default_value = ":9440", value_parser = address)]
    pub health_addr: SocketAddr,

    /// URL to use instead of the endpoints of all AWS services, for example of a simulator.
    #[arg(long)]
    pub aws_endpoint_url: Option<String>,
    /// URL of an SQS queue with EventBridge events about instances. Without it the manager sees changes in
    /// AWS only when it describes the Auto Scaling groups (--aws-quiet-period), and gets no interruption
    /// notices.
    #[arg(long, env = "FOO_EVENTS_QUEUE_URL", default_value = "")]
    pub events_queue_url: String,
    /// AWS region of that queue, if the region is not part of its URL.
    #[arg(long, default_value = "")]
    pub events_queue_region: String,
    /// How often the manager describes Auto Scaling groups in which it expects no change; less often with
    /// more than 500 groups per account and region.
    #[arg(long, default_value = "30s", value_parser = duration)]
    pub aws_quiet_period: Duration,
    /// How soon the manager describes an Auto Scaling group again in which it expects a change. The interval
    /// grows up to five times this.
    #[arg(long, default_value = "2s", value_parser = duration)]
    pub aws_active_period: Duration,
    /// How often the manager describes managed networks in which it expects no change: how long something that
    /// was changed by hand stays unnoticed at most. All networks of an account and region share the calls.
    #[arg(long, default_value = "5m", value_parser = duration)]
    pub aws_network_period: Duration,
    /// How long a new leader waits before it changes the size of any group: what AWS reports may not yet
    /// include what the former leader did.
    #[arg(long, default_value = "10s", value_parser = duration)]
    pub settle_time: Duration,

    /// Format of log lines.
    #[arg(long, default_value = "text")]
    pub log_format: LogFormat,
    /// Log level (error, warn, info, debug, trace), or a filter such as `foo_controller=debug,info`. Below info only the
    /// manager's own modules log: other ones log tokens and user data there.
    #[arg(long, env = "FOO_LOG", default_value = "info")]
    pub log_level: String,
    /// Where traces of reconciles are sent with OTLP over HTTP, such as
    /// `http://collector.observability:4318/v1/traces`. Empty: there are no traces. Variables of OpenTelemetry that apply:
    /// `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG`, `OTEL_SERVICE_NAME` and
    /// `OTEL_RESOURCE_ATTRIBUTES`.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", default_value = "", hide_env_values = true)]
    pub traces_endpoint: String,
}

/// One of the manager's controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum ControllerName {
    /// Reconciles FooMachinePools and FooMachines.
    Pool,
    /// Reconciles FooClusters.
    Cluster,
    /// Reconciles FooControlPlanes in mode external.
    ControlPlane,
    /// Reconciles FooNodeConfigs.
    NodeConfig,
    /// Reconciles FooControlPlanes in mode eks; calls AWS.
    Eks,
}

/// The flags, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Kubeconfig of the management cluster.
    pub kubeconfig: Option<PathBuf>,
    /// Controllers to run.
    pub controllers: BTreeSet<ControllerName>,
    /// Settings of the controllers.
    pub settings: context::Settings,
    /// Rules for the identities of all clusters.
    pub identity_rules: identities::Rules,
    /// Leader election; none when switched off.
    pub election: Option<Election>,
    /// Limit of requests to the management cluster.
    pub kube_limit: Limit,
    /// Where and how diagnostics are served.
    pub diagnostics: Option<Diagnostics>,
    /// Where health is served.
    pub health: SocketAddr,
    /// Replaces AWS's endpoints.
    pub aws_endpoint_url: Option<String>,
    /// The queue of events.
    pub events_queue: Option<QueueAddress>,
    /// Periods of the observers.
    pub observer: observer::Settings,
}

/// Where and how diagnostics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    /// The address.
    pub address: SocketAddr,
    /// The protocol and its authentication.
    pub security: Security,
}

/// How diagnostics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    /// Metrics only, without authentication.
    Insecure,
    /// Over TLS, to clients that the API server authorizes, with a certificate created at the start.
    SelfSigned,
    /// The same with the certificate in these files.
    Files(Files),
}

/// Settings of the leader election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// Namespace of the lease.
    pub namespace: String,
    /// Name of the lease.
    pub name: String,
    /// Periods.
    pub timing: Timing,
}

/// An invalid flag or combination of flags.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Invalid(String);

impl Args {
    /// Checks and converts.
    pub fn into_config(self) -> Result<Config, Invalid> {
        let election = self.election()?;
        let events_queue = self.events_queue()?;
        let diagnostics = self.diagnostics()?;
        let positive = |flag: &str, value: u32| {
            NonZeroU32::new(value).ok_or_else(|| Invalid(format!("{flag} must be at least 1")))
        };
        Ok(Config {
            kube_limit: Limit {
                per_second: positive("--kube-api-qps", self.kube_api_qps)?,
                burst: positive("--kube-api-burst", self.kube_api_burst)?,
            },
            controllers: self.controllers.into_iter().collect(),
            settings: context::Settings {
                namespace: some(self.namespace),
                identity_namespace: self.identity_namespace,
                watch_filter: some(self.watch_filter),
                sync_period: self.sync_period,
                concurrency: self.concurrency,
                settle_time: self.settle_time,
                network_period: self.aws_network_period,
                seed: u64::from(std::process::id()),
                ..context::Settings::default()
            },
            observer: observer::Settings {
                quiet_period: self.aws_quiet_period,
                active_shortest: self.aws_active_period,
                active_longest: self.aws_active_period.saturating_mul(5),
                patient_period: self.aws_active_period.saturating_mul(10),
                seed: u64::from(std::process::id()),
                ..observer::Settings::default()
            },
            identity_rules: identities::Rules {
                identity_required: self.require_identity,
                regions: self.regions.into_iter().collect(),
            },
            kubeconfig: self.kubeconfig,
            election,
            diagnostics,
            health: self.health_addr,
            aws_endpoint_url: self.aws_endpoint_url,
            events_queue,
        })
    }

    fn diagnostics(&self) -> Result<Option<Diagnostics>, Invalid> {
        if self.diagnostics_address.is_empty() {
            return Ok(None);
        }
        let address = address(&self.diagnostics_address)
            .map_err(|error| Invalid(format!("--diagnostics-address {error}")))?;
        let security = match (&self.tls_cert_file, &self.tls_private_key_file) {
            (Some(_), Some(_)) if self.insecure_diagnostics => {
                return Err(Invalid(
                    "--insecure-diagnostics cannot be combined with --tls-cert-file".to_owned(),
                ));
            }
            (Some(certificate), Some(key)) => {
                Security::Files(Files { certificate: certificate.clone(), key: key.clone() })
            }
            _ if self.insecure_diagnostics => Security::Insecure,
            _ => Security::SelfSigned,
        };
        Ok(Some(Diagnostics { address, security }))
    }

    fn events_queue(&self) -> Result<Option<QueueAddress>, Invalid> {
        let url = self.events_queue_url.as_str();
        if url.is_empty() {
            return match self.events_queue_region.as_str() {
                "" => Ok(None),
                _ => Err(Invalid("--events-queue-region requires --events-queue-url".to_owned())),
            };
        }
        if !["https://", "http://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(Invalid(format!("--events-queue-url {url}: not a URL")));
        }
        let region = some(self.events_queue_region.clone()).or_else(|| region_of_queue(url));
        match region {
            Some(region) => Ok(Some(QueueAddress { region, url: url.to_owned() })),
            None => Err(Invalid(format!(
                "--events-queue-url {url} does not contain the region: set --events-queue-region"
            ))),
        }
    }

    fn election(&self) -> Result<Option<Election>, Invalid> {
        if !self.leader_elect {
            return Ok(None);
        }
        let timing = Timing {
            lease_duration: self.leader_elect_lease_duration,
            renew_deadline: self.leader_elect_renew_deadline,
            retry_period: self.leader_elect_retry_period,
        };
        if timing.renew_deadline >= timing.lease_duration || timing.retry_period >= timing.renew_deadline {
            return Err(Invalid(
                "--leader-elect-retry-period must be shorter than --leader-elect-renew-deadline, and that must be shorter \
                 than --leader-elect-lease-duration"
                    .to_owned(),
            ));
        }
        if timing.lease_duration.subsec_nanos() != 0 {
            // A Lease stores whole seconds: other replicas would wait for a shorter time than this one
            // assumes.
            return Err(Invalid("--leader-elect-lease-duration must be whole seconds".to_owned()));
        }
        Ok(Some(Election {
            namespace: self.leader_election_namespace.clone(),
            name: self.leader_election_id.clone(),
            timing,
        }))
    }
}

/// The region in a queue's URL (SQS Developer Guide, "Amazon SQS queue and message identifiers"; AWS General
/// Reference, "Amazon SQS endpoints"): `sqs.<region>.amazonaws.com`, also `sqs-fips`, the dual-stack
/// `sqs.<region>.api.aws`, the old `<region>.queue.amazonaws.com`, or that of a VPC endpoint,
/// `vpce-….sqs.<region>.vpce.amazonaws.com`.
fn region_of_queue(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (host, _) = rest.split_once('/')?;
    let aws = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".api.amazonwebservices.com.cn"];
    if !aws.iter().any(|suffix| host.ends_with(suffix)) {
        return None;
    }
    let labels: Vec<&str> = host.split('.').collect();
    let after = labels.iter().skip_while(|label| !matches!(**label, "sqs" | "sqs-fips")).nth(1);
    let before = labels.windows(2).find_map(|pair| match pair {
        [region, "queue"] => Some(region),
        _ => None,
    });
    after.or(before).filter(|region| region.contains('-')).map(|region| (*region).to_owned())
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(flags: &[&str]) -> Result<Config, Invalid> {
        Args::try_parse_from([&["foo-manager"], flags].concat()).unwrap().into_config()
    }

    #[test]
    fn without_flags_there_is_a_usable_configuration() {
        let config = config(&[]).unwrap();
        assert_eq!(config.controllers.len(), 5);
        assert!(config.election.is_some());
        assert_eq!(config.settings.namespace, None);
    }

    #[test]
    fn election_periods_must_fit_into_each_other() {
        assert!(config(&["--leader-elect-renew-deadline=15s"]).is_err());
        assert!(
            config(&["--leader-elect-renew-deadline=15s", "--leader-elect=false"])
                .unwrap()
                .election
                .is_none()
        );
    }

    #[test]
    fn a_lease_lasts_whole_seconds() {
        let with = |lease: &str| {
            config(&[lease, "--leader-elect-renew-deadline=1500ms", "--leader-elect-retry-period=200ms"])
        };
        assert!(with("--leader-elect-lease-duration=1900ms").is_err());
        assert!(with("--leader-elect-lease-duration=2s").is_ok());
    }

    #[test]
    fn the_region_of_a_queue_is_in_its_address_or_in_the_flag() {
        let region = |flags: &[&str]| config(flags).map(|it| it.events_queue.map(|it| it.region));
        assert_eq!(region(&[]), Ok(None));
        let url = "--events-queue-url=https://sqs.eu-central-1.amazonaws.com/123456789012/foo";
        assert_eq!(region(&[url]), Ok(Some("eu-central-1".to_owned())));
        let endpoint = "--events-queue-url=https://vpce-1.sqs.eu-west-1.vpce.amazonaws.com/123456789012/foo";
        assert_eq!(region(&[endpoint]), Ok(Some("eu-west-1".to_owned())));
        let local = "--events-queue-url=http://127.0.0.1:4566/123456789012/foo";
        assert!(region(&[local]).is_err());
        assert_eq!(region(&[local, "--events-queue-region=us-east-1"]), Ok(Some("us-east-1".to_owned())));
        assert!(region(&["--events-queue-region=us-east-1"]).is_err());
        assert!(region(&["--events-queue-url=foo"]).is_err());
    }

    #[test]
    fn diagnostics_are_authorized_by_the_api_server_by_default() {
        let security = |flags: &[&str]| config(flags).map(|it| it.diagnostics.map(|it| it.security));
        let default = config(&[]).unwrap().diagnostics.unwrap();
        assert_eq!(
            (default.address.to_string().as_str(), default.security),
            ("[::]:8443", Security::SelfSigned)
        );
        assert_eq!(security(&["--diagnostics-address="]), Ok(None));
        assert_eq!(security(&["--insecure-diagnostics"]), Ok(Some(Security::Insecure)));
        let files = ["--tls-cert-file=/a", "--tls-private-key-file=/b"];
        let expected = Files { certificate: "/a".into(), key: "/b".into() };
        assert_eq!(security(&files), Ok(Some(Security::Files(expected))));
        assert!(security(&[files[0], files[1], "--insecure-diagnostics"]).is_err());
        assert!(Args::try_parse_from(["foo-manager", files[0]]).is_err());
    }

    /// Compares the help text with the golden file; `UPDATE_GOLDEN=1` rewrites it.
    #[test]
    fn help_is_as_documented() {
        use clap::CommandFactory;
        let help = Args::command().term_width(100).render_long_help().to_string();
        // clap leaves spaces on the empty lines between flags.
        let help: String = help.lines().flat_map(|line| [line.trim_end(), "\n"]).collect();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/help.txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).unwrap();
            std::fs::write(path, &help).unwrap();
        }
        assert_eq!(help, std::fs::read_to_string(path).unwrap_or_default());
    }

    #[test]
    fn the_region_is_parsed_from_every_form_of_a_queue_address() {
        for (host, region) in [
            ("sqs.eu-central-1.amazonaws.com", Some("eu-central-1")),
            ("sqs.cn-north-1.amazonaws.com.cn", Some("cn-north-1")),
            ("sqs-fips.us-gov-west-1.amazonaws.com", Some("us-gov-west-1")),
            ("sqs.eu-west-1.api.aws", Some("eu-west-1")),
            ("us-west-2.queue.amazonaws.com", Some("us-west-2")),
            ("vpce-1-a.sqs.eu-west-1.vpce.amazonaws.com", Some("eu-west-1")),
            ("queue.amazonaws.com", None),
            ("sqs.eu-central-1.example.com", None),
        ] {
            let url = format!("https://{host}/123456789012/foo");
            assert_eq!(region_of_queue(&url).as_deref(), region, "{url}");
        }
    }
}
