//! What the kernel reports about this process, under the names that all Prometheus clients use. Linux only:
//! other systems have no such metrics.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fmt;
use std::fs;

/// Clock ticks per second in the kernel's times for programs (`USER_HZ`): the same on every architecture that
/// we build for.
const TICKS: f64 = 100.0;

/// Reads `/proc` at each scrape.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        if let Some(seconds) = cpu_seconds(&stat) {
            let help = "CPU time used, in user and system mode";
            let cpu = encoder.encode_descriptor("process_cpu_seconds", help, None, MetricType::Counter)?;
            ConstCounter::new(seconds).encode(cpu)?;
        }
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let boot = fs::read_to_string("/proc/stat").unwrap_or_default();
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let gauges = [
            ("process_resident_memory_bytes", "Resident memory", kibibytes(&status, "VmRSS:")),
            ("process_virtual_memory_bytes", "Virtual memory", kibibytes(&status, "VmSize:")),
            ("process_start_time_seconds", "Start time, in seconds since 1970", started(&stat, &boot)),
            ("process_open_fds", "Open file descriptors", open_files()),
            ("process_max_fds", "File descriptors that may be open", most_files(&limits)),
        ];
        for (name, help, value) in gauges {
            let Some(value) = value else { continue };
            ConstGauge::new(value).encode(encoder.encode_descriptor(
                name,
                help,
                None,
                MetricType::Gauge,
            )?)?;
        }
        Ok(())
    }
}

/// The fields of proc_pid_stat(5) from the third on: the second may contain spaces and brackets.
fn fields(stat: &str) -> impl Iterator<Item = f64> {
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    after.split_whitespace().skip(1).map(|field| field.parse().unwrap_or_default())
}

/// utime and stime, the 14th and the 15th.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let mut times = fields(stat).skip(10);
    Some((times.next()? + times.next()?) / TICKS)
}

/// starttime, the 22nd, counts from the start of the machine.
fn started(stat: &str, boot: &str) -> Option<f64> {
    let booted: f64 = boot.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(booted + fields(stat).nth(18)? / TICKS)
}

fn kibibytes(status: &str, key: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

fn open_files() -> Option<f64> {
    // One of them is that of the directory itself.
    let files = fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
    Some(f64::from(u32::try_from(files).ok()?))
}

fn most_files(limits: &str) -> Option<f64> {
    limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "7 (foo) manager) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 1234 1000000 500 18446744073709551615";

    #[test]
    fn the_kernels_words_are_understood() {
        assert_eq!(cpu_seconds(STAT), Some(3.0));
        assert_eq!(started(STAT, "cpu 1 2\nbtime 1000\n"), Some(1012.34));
        assert_eq!(kibibytes("Name:\tx\nVmRSS:\t    2048 kB\n", "VmRSS:"), Some(2_097_152.0));
        assert_eq!(
            most_files("Limit\nMax open files            1024                 524288               files\n"),
            Some(1024.0)
        );
        assert_eq!(
            (cpu_seconds(""), started("", ""), kibibytes("", "VmRSS:"), most_files("")),
            (None, None, None, None)
        );
    }
}
