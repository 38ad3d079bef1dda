//! Prints the progress of a story, in full or as a summary.

use std::time::Duration;

/// Receives what happens.
pub trait Reporter: Send + Sync {
    /// A step starts.
    fn step_started(&self, number: usize, title: &str);
    /// Something happens, or was seen.
    fn info(&self, text: &str);
    /// What a command printed.
    fn prints(&self, command: &str, output: &str);
    /// A wait continues.
    fn waiting_for(&self, what: &str, so_far: Duration);
    /// Something happens that is not requested.
    fn warning(&self, text: &str);
    /// All checks of the step passed.
    fn step_passed(&self, number: usize, title: &str, took: Duration);
    /// All steps passed.
    fn all_passed(&self, steps: usize, took: Duration);
}

/// Prints everything, for a user who watches.
#[derive(Clone, Copy, Debug)]
pub struct Verbose;

/// One line for each step, and the tables.
#[derive(Clone, Copy, Debug)]
pub struct Summary;

impl Reporter for Verbose {
    fn step_started(&self, number: usize, title: &str) {
        println!("\n== {number}. {title}");
    }

    fn info(&self, text: &str) {
        println!("   {text}");
    }

    fn prints(&self, command: &str, output: &str) {
        println!("   $ {command}");
        indented(output);
    }

    fn waiting_for(&self, what: &str, so_far: Duration) {
        println!("   … {:>3} s waiting for {what}", so_far.as_secs());
    }

    fn warning(&self, text: &str) {
        println!("   ! {text}");
    }

    fn step_passed(&self, number: usize, _title: &str, took: Duration) {
        println!("   step {number} passed ({:.1} s)", took.as_secs_f32());
    }

    fn all_passed(&self, steps: usize, took: Duration) {
        Summary.all_passed(steps, took);
    }
}

impl Reporter for Summary {
    fn step_started(&self, _number: usize, _title: &str) {}

    fn info(&self, _text: &str) {}

    fn prints(&self, _command: &str, output: &str) {
        indented(output);
    }

    fn waiting_for(&self, _what: &str, _so_far: Duration) {}

    fn warning(&self, text: &str) {
        Verbose.warning(text);
    }

    fn step_passed(&self, number: usize, title: &str, took: Duration) {
        println!("step {number} passed ({:.1} s): {title}", took.as_secs_f32());
    }

    fn all_passed(&self, steps: usize, took: Duration) {
        println!("\nall {steps} steps passed ({:.0} s)", took.as_secs_f32());
    }
}

fn indented(output: &str) {
    for line in output.lines() {
        println!("     {line}");
    }
}
