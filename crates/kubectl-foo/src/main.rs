//! The plugin. kubectl finds it by its name, `kubectl-foo`, on the PATH.

#![warn(clippy::print_stdout, clippy::print_stderr)]

use clap::Parser as _;
use kubectl_foo::args::Cli;
use kubectl_foo::completion;
use kubectl_foo::refused::{Usage, in_words};
use kubectl_foo::run::{Ended, run};
use kubectl_foo::terminal::Out;
use std::io::ErrorKind;
use std::process::ExitCode;

/// Arguments that cannot be used, as clap has it.
const USAGE: u8 = 2;
/// What the command waited for has failed, or did not happen in time.
const UNFINISHED: u8 = 3;
/// A plan changes something, and `--exit-code` asks for that; `diff` shows a difference; or something is in the way of an
/// adoption.
const CHANGES: u8 = 4;

/// Errors are for users: one line, without the backtrace that `RUST_BACKTRACE` asks for.
#[tokio::main]
async fn main() -> ExitCode {
    let (mut output, mut errors) = (std::io::stdout(), std::io::stderr());
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let text = format!("error: this is a bug of kubectl foo, please report it: {place}\n");
        Out::new(&mut std::io::sink(), &mut std::io::stderr(), Out::screen_of_process()).note(&text);
    }));
    let mut out = Out::new(&mut output, &mut errors, Out::screen_of_process());
    let arguments: Vec<String> =
        std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
    if let Some(words) = completion::requested(&arguments) {
        let text = Box::pin(completion::complete(words)).await;
        return code(out.columns(&text).map(|()| Ended::Done), &mut out);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and the version are errors to clap, too.
        Err(error) => {
            let text = error.render().to_string();
            if error.use_stderr() {
                out.note(&text);
                return ExitCode::from(USAGE);
            }
            return code(out.print(&text).map(|()| Ended::Done), &mut out);
        }
    };
    let done = Box::pin(run(cli, &mut out)).await;
    code(done, &mut out)
}

/// The exit status, after the error is printed.
fn code(done: anyhow::Result<Ended>, out: &mut Out<'_>) -> ExitCode {
    let error = match done {
        Ok(Ended::Done) => return ExitCode::SUCCESS,
        Ok(Ended::Unfinished) => return ExitCode::from(UNFINISHED),
        Ok(Ended::Changes) => return ExitCode::from(CHANGES),
        Err(error) => error,
    };
    if error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        // The reader, such as `head`, has closed the pipe.
        return ExitCode::SUCCESS;
    }
    out.fail(&in_words(error.as_ref()));
    if error.is::<Usage>() { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}
