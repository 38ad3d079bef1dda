//! A child process that cannot outlive us.
//!
//! Each program runs under a small `sh` that has the reading end of a pipe from this process. The kernel closes our end
//! however we end (return, panic, SIGKILL), `sh` sees end of file and kills the program. The obvious alternative,
//! `PR_SET_PDEATHSIG`, needs unsafe code, works on Linux only, and fires when the *thread* that spawned the child
//! ends, which in a test run is long before the process does.

use crate::lock;
use anyhow::{Context as _, Result, bail};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Lines on the pipe are names of signals for the program, each acknowledged by a line; end of file means kill it.
///
/// The reader is the background job and `wait` the foreground one, so the supervisor also ends, with the program's
/// status, when the program ends by itself. `sh` gives background jobs /dev/null as standard input: hence
/// descriptor 3.
const SUPERVISOR: &str = r#"
log=$1; shift
exec 3<&0 </dev/null 2>>"$log"
"$@" >>"$log" 3<&- &
child=$!
echo "$child"
( while read -r signal <&3; do kill -"$signal" "$child"; echo sent; done; kill -KILL "$child" ) 2>/dev/null &
reader=$!
wait "$child" 2>/dev/null
status=$?
kill "$reader" 2>/dev/null
exit "$status"
"#;

/// How long a killed program may take to disappear before [`Process::kill`] stops waiting for it.
const REAP: Duration = Duration::from_secs(10);
const TAIL_LINES: usize = 40;

/// Go's garbage collector runs a quarter as often as by default: the programs that the test bed starts are Go, kube-apiserver
/// takes most of the processor time of a test on real components, and a tenth to a fifth of it was for this. The price is
/// memory, 80 MB for each kube-apiserver. Other programs do not read it.
const LESS_GARBAGE_COLLECTION: (&str, &str) = ("GOGC", "400");

/// Each Go program keeps to one processor: dozens of them share two, and a tenth of their time was for spreading work over both.
const ONE_PROCESSOR: (&str, &str) = ("GOMAXPROCS", "1");

/// What every program of the test bed gets beside its own environment.
pub(crate) const FRUGAL: [(&str, &str); 2] = [LESS_GARBAGE_COLLECTION, ONE_PROCESSOR];

/// Names of this process's variables that the AWS CLI and the SDKs read. No program of the test bed gets them: they could point at a
/// real account.
pub(crate) fn aws_variables() -> impl Iterator<Item = OsString> {
    std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_string_lossy().starts_with("AWS_"))
}

/// What can be sent to a running program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: asks the program to end in an orderly way.
    Terminate,
    /// SIGSTOP: the program stays in memory and its connections stay open, but it does not respond.
    Freeze,
    /// SIGCONT: undoes [`Signal::Freeze`].
    Thaw,
}

/// A running program. Dropping it kills the program.
#[derive(Debug)]
pub struct Process {
    name: String,
    pid: u32,
    log: PathBuf,
    supervisor: Mutex<Child>,
    /// None once it was killed.
    control: Mutex<Option<Control>>,
}

/// Both ends of the talk with the supervisor.
#[derive(Debug)]
struct Control {
    commands: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Process {
    /// Starts `program`; its output is appended to `log`, whose folder must exist.
    ///
    /// `env` is added to our own environment without AWS's variables, and to [`FRUGAL`]. Returns as soon as the program runs, not when
    /// it is ready.
    pub fn start<A, S>(name: &str, program: &Path, args: A, env: &[(&str, &str)], log: &Path) -> Result<Self>
    where
        A: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        let mut command = Command::new("sh");
        command.args(["-c", SUPERVISOR, "supervisor"]).arg(log).arg(program).args(args);
        for name in aws_variables() {
            command.env_remove(name);
        }
        let mut supervisor = command
            .env_remove("KUBECONFIG")
            .envs(FRUGAL)
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A group of its own: Ctrl-C in a terminal reaches only us, and we end the rest in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {name}"))?;
        let commands = supervisor.stdin.take().context("the supervisor has no input")?;
        let replies = supervisor.stdout.take().context("the supervisor has no output")?;
        let mut control = Control { commands, replies: BufReader::new(replies) };
        let mut line = String::new();
        control.replies.read_line(&mut line).with_context(|| format!("starting {name}"))?;
        let pid = line.trim().parse().with_context(|| {
            format!("starting {name}: no process id from its supervisor. Log:\n{}", tail_of(log))
        })?;
        tracing::debug!(name, pid, log = %log.display(), "started");
        Ok(Self {
            name: name.to_owned(),
            pid,
            log: log.to_owned(),
            supervisor: Mutex::new(supervisor),
            control: Mutex::new(Some(control)),
        })
    }

    /// Process id of the program itself (not of its supervisor).
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The name it was started under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Everything the program printed.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// The last lines of the log, for error messages.
    pub fn log_tail(&self) -> String {
        tail_of(&self.log)
    }

    /// Whether the program has not ended yet (a frozen one counts as running).
    pub fn is_running(&self) -> bool {
        matches!(lock(&self.supervisor).try_wait(), Ok(None))
    }

    /// The exit code with which the program has ended, as a shell reports it: after a signal, 128 and the signal's number.
    pub fn exit_code(&self) -> Option<i32> {
        lock(&self.supervisor).try_wait().ok().flatten().and_then(|status| status.code())
    }

    /// An error with the tail of the log if the program has ended.
    pub fn check_running(&self) -> Result<()> {
        if self.is_running() {
            return Ok(());
        }
        bail!("{} has ended; the end of {}:\n{}", self.name, self.log.display(), self.log_tail())
    }

    /// Sends a signal; it has been sent when this returns. An error if the program has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let name = match signal {
            Signal::Terminate => "TERM",
            Signal::Freeze => "STOP",
            Signal::Thaw => "CONT",
        };
        self.check_running()?;
        let mut control = lock(&self.control);
        let control = control.as_mut().with_context(|| format!("{} was killed", self.name))?;
        writeln!(control.commands, "{name}").with_context(|| format!("signalling {}", self.name))?;
        let mut reply = String::new();
        control.replies.read_line(&mut reply).with_context(|| format!("signalling {}", self.name))?;
        anyhow::ensure!(!reply.is_empty(), "{} ended before the signal", self.name);
        if signal == Signal::Freeze {
            self.wait_until_frozen()?;
        }
        Ok(())
    }

    /// A signal that was sent has not arrived yet: each thread stops when it is next read.
    fn wait_until_frozen(&self) -> Result<()> {
        let end = Instant::now() + REAP;
        while Instant::now() < end {
            if self.all_threads_stopped() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        bail!("{} did not stop", self.name)
    }

    /// Whether all its threads are in state T (proc(5), `/proc/pid/task/tid/stat`).
    fn all_threads_stopped(&self) -> bool {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.pid)) else { return false };
        threads.flatten().all(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            // The name in brackets may contain anything; the state comes after it. A thread that has ended counts as
            // stopped.
            stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
        })
    }

    /// Asks the program to end and waits for it; after `grace` it is killed. Returns whether it ended in time.
    pub async fn terminate(&self, grace: Duration) -> Result<bool> {
        self.signal(Signal::Terminate)?;
        let deadline = Instant::now() + grace;
        while self.is_running() {
            if Instant::now() > deadline {
                self.kill();
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(true)
    }

    /// Kills the program as a crash would, and waits until it has ended (milliseconds).
    pub fn kill(&self) {
        lock(&self.control).take();
        let deadline = Instant::now() + REAP;
        while self.is_running() {
            if Instant::now() > deadline {
                tracing::warn!(name = self.name, pid = self.pid, "still there after a kill");
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn tail_of(log: &Path) -> String {
    let text = std::fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = text.unwrap_or_else(|error| format!("(no log: {error})"));
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> (Process, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        (Process::start("sh", Path::new("sh"), ["-c", script], &[], &log).unwrap(), folder)
    }

    fn wait_for(mut condition: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(5);
        while !condition() {
            assert!(Instant::now() < deadline, "timed out");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn the_supervisor_exits_with_the_program() {
        let (process, _folder) = shell("echo hello; echo bad >&2; exit 3");
        wait_for(|| !process.is_running());
        let error = process.check_running().unwrap_err().to_string();
        assert!(error.contains("hello") && error.contains("bad"), "{error}");
        assert_eq!(process.exit_code(), Some(3));
    }

    #[test]
    fn the_program_outlives_the_thread_that_started_it() {
        let ticks = || shell("while :; do echo tick; sleep 0.02; done");
        let (process, _folder) = std::thread::spawn(ticks).join().unwrap();
        let printed = || std::fs::read_to_string(process.log()).unwrap().len();
        let before = printed();
        wait_for(|| printed() > before + "tick\n".len());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn dropping_kills_the_program() {
        let (process, _folder) = shell("exec sleep 1000");
        let entry = PathBuf::from(format!("/proc/{}", process.pid()));
        assert!(process.is_running() && entry.exists());
        drop(process);
        assert!(!entry.exists());
    }

    #[tokio::test]
    async fn terminate_reports_whether_the_program_exited() {
        let (obedient, _folder) = shell("exec sleep 1000");
        assert!(obedient.terminate(Duration::from_secs(5)).await.unwrap());
        let (stubborn, _folder) = shell("trap '' TERM; echo set; while :; do sleep 0.05; done");
        wait_for(|| stubborn.log_tail().contains("set"));
        assert!(!stubborn.terminate(Duration::from_millis(200)).await.unwrap());
        assert!(!stubborn.is_running());
    }

    #[test]
    fn a_frozen_program_does_nothing_until_thawed() {
        let (process, _folder) = shell("while :; do echo tick; sleep 0.02; done");
        let printed = || std::fs::read_to_string(process.log()).unwrap().len();
        let (began, before) = (Instant::now(), printed());
        wait_for(|| printed() >= before + 5 * "tick\n".len());
        let five_ticks = began.elapsed();
        process.signal(Signal::Freeze).unwrap();
        let frozen = printed();
        // The proof that nothing is printed: as long as ten ticks took, on this machine.
        std::thread::sleep(five_ticks * 2);
        assert_eq!(printed(), frozen);
        process.signal(Signal::Thaw).unwrap();
        wait_for(|| printed() > frozen);
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let started =
            Process::start("none", Path::new("/no/such"), [""; 0], &[], &folder.path().join("log")).unwrap();
        wait_for(|| !started.is_running());
        assert!(started.check_running().unwrap_err().to_string().contains("/no/such"));
    }
}
