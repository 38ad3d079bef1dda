//! How much the simulator bears, and how moto compares: `make bench` prints it. Nothing here fails for being slow.
//!
//! Both are asked over HTTP on one kept connection, by the same client, one call after the other. moto is measured when
//! the Python of an environment that has it is named; with fewer groups, because it needs minutes for as many.

use anyhow::{Context as _, Result, bail};
use foo_simulator::{Handle, SimulatorConfig};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const REGION: &str = "eu-central-1";
const INSTANCES_PER_GROUP: u32 = 10;
/// Starts moto on a free port, says which, and ends when its standard input does.
const MOTO: &str = "
import logging, sys
from moto.server import ThreadedMotoServer
logging.disable(logging.CRITICAL)
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
";

/// One connection to an endpoint, opened again when the other side closes it.
struct Client {
    address: SocketAddr,
    stream: Option<BufReader<TcpStream>>,
}

impl Client {
    fn new(address: SocketAddr) -> Self {
        Self { address, stream: None }
    }

    fn connect(&self) -> Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        Ok(BufReader::new(stream))
    }

    /// Makes a call and returns its response, which must be a success.
    fn call(&mut self, service: &str, version: &str, parameters: &str) -> Result<String> {
        let body = format!("{parameters}&Version={version}");
        let request = format!(
            "POST / HTTP/1.1\r\nHost: {service}.{REGION}.amazonaws.com\r\nContent-Type: \
             application/x-www-form-urlencoded\r\nContent-Length: {}\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=AKIDBENCH/20260101/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n{body}",
            body.len()
        );
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.connect()?,
        };
        stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length, mut close) = (String::new(), 0, false);
        stream.read_line(&mut status)?;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse()?,
                "connection" => close = value.trim().eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        let mut response = vec![0; length];
        stream.read_exact(&mut response)?;
        let response = String::from_utf8(response)?;
        if !status.contains(" 200 ") {
            bail!("{status}{response}");
        }
        self.stream = (!close && !status.starts_with("HTTP/1.0")).then_some(stream);
        Ok(response)
    }

    fn scaling(&mut self, parameters: &str) -> Result<String> {
        self.call("autoscaling", "2011-01-01", parameters)
    }

    fn ec2(&mut self, parameters: &str) -> Result<String> {
        self.call("ec2", "2016-11-15", parameters)
    }

    /// Makes the groups, of the first image and in all subnets there are.
    fn make(&mut self, groups: u32) -> Result<()> {
        let images = self.ec2("Action=DescribeImages&Filter.1.Name=architecture&Filter.1.Value.1=x86_64")?;
        let image = texts(&images, "imageId").next().context("no image")?.to_owned();
        let subnets = self.ec2("Action=DescribeSubnets")?;
        let subnets = texts(&subnets, "subnetId").collect::<Vec<_>>().join(",");
        self.ec2(&format!(
            "Action=CreateLaunchTemplate&LaunchTemplateName=bench&LaunchTemplateData.ImageId={image}&\
             LaunchTemplateData.InstanceType=m7i.large"
        ))?;
        for number in 0..groups {
            self.scaling(&format!(
                "Action=CreateAutoScalingGroup&AutoScalingGroupName=g{number:04}&MinSize=0&MaxSize=20&DesiredCapacity=\
                 {INSTANCES_PER_GROUP}&VPCZoneIdentifier={subnets}&LaunchTemplate.LaunchTemplateName=bench&\
                 LaunchTemplate.Version=1"
            ))?;
        }
        Ok(())
    }
}

/// The texts of an element.
fn texts<'a>(xml: &'a str, element: &'a str) -> impl Iterator<Item = &'a str> {
    let open = format!("<{element}>");
    let pieces: Vec<&str> = xml.split(open.as_str()).skip(1).collect();
    pieces.into_iter().filter_map(|piece| piece.split('<').next())
}

/// The median of some calls, and the last response.
fn median(times: u32, mut call: impl FnMut() -> Result<String>) -> Result<(Duration, String)> {
    let mut taken = Vec::new();
    let mut response = String::new();
    for _ in 0..times {
        let started = Instant::now();
        response = call()?;
        taken.push(started.elapsed());
    }
    taken.sort();
    Ok((taken.get(taken.len() / 2).copied().unwrap_or_default(), response))
}

fn resident_megabytes(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? / 1024)
}

fn measure(name: &str, client: &mut Client, pid: u32, groups: u32, seconds: u64) -> Result<()> {
    println!("{name}: {groups} groups, {} instances", groups * INSTANCES_PER_GROUP);
    let page = groups.min(100);
    let (took, response) =
        median(11, || client.scaling(&format!("Action=DescribeAutoScalingGroups&MaxRecords={page}")))?;
    println!(
        "  a page of {page} groups with {} instances: {:.1} ms, {} kB (target for 100 groups: 20 ms)",
        texts(&response, "InstanceId").count(),
        took.as_secs_f64() * 1e3,
        response.len() / 1024
    );
    println!("  resident memory: {} MB (target for 1,000 groups: 300)", resident_megabytes(pid)?);
    let started = Instant::now();
    let mut calls = 0_u32;
    while started.elapsed() < Duration::from_secs(seconds) {
        client.scaling("Action=DescribeAutoScalingGroups&AutoScalingGroupNames.member.1=none")?;
        calls += 1;
    }
    let rate = f64::from(calls) / started.elapsed().as_secs_f64();
    println!("  small calls: {rate:.0} a second (target: 5,000)");
    Ok(())
}

fn simulator(groups: u32) -> Result<()> {
    // One thread serves, this one asks.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut config = SimulatorConfig::stepped();
    config.throttling.autoscaling = None;
    config.throttling.ec2 = foo_simulator::Ec2Throttling::Off;
    let aws = runtime.block_on(Handle::start(config))?;
    let mut client = Client::new(aws.address());
    client.make(groups)?;
    aws.step(Duration::from_mins(5));
    measure("foo-sim", &mut client, std::process::id(), groups, 3)
}

/// Ends a child process.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn moto(python: &str, groups: u32) -> Result<()> {
    let mut child = Command::new(python)
        .args(["-W", "ignore", "-c", MOTO])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {python}"))?;
    let output = child.stdout.take().context("no output")?;
    let child = Ending(child);
    let mut port = String::new();
    BufReader::new(output).read_line(&mut port)?;
    let address: SocketAddr = format!("127.0.0.1:{}", port.trim()).parse().context("moto did not start")?;
    let mut client = Client::new(address);
    client.make(groups)?;
    measure("moto", &mut client, child.0.id(), groups, 3)
}

fn main() -> Result<()> {
    let python = std::env::args().nth(1);
    simulator(1_000)?;
    if let Some(python) = python {
        return moto(&python, 20);
    }
    println!("moto: not measured; name the Python of an environment that has it");
    Ok(())
}
