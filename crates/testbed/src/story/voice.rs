//! Who tells the story, and how much of it.

use std::time::Duration;

/// Hears what happens.
pub trait Voice: Send + Sync {
    /// A step begins.
    fn step_begins(&self, number: usize, title: &str);
    /// Something happens, or was seen.
    fn says(&self, text: &str);
    /// What a command printed.
    fn shows(&self, command: &str, output: &str);
    /// Something is being waited for, still.
    fn waits(&self, what: &str, so_far: Duration);
    /// Something happens that is not requested.
    fn warns(&self, text: &str);
    /// Everything that the step claims was seen.
    fn step_held(&self, number: usize, title: &str, took: Duration);
    /// That was the last one.
    fn all_held(&self, steps: usize, took: Duration);
}

/// Tells everything to somebody who watches.
#[derive(Clone, Copy, Debug)]
pub struct Narrator;

/// One line for each step, and the tables.
#[derive(Clone, Copy, Debug)]
pub struct Summary;

impl Voice for Narrator {
    fn step_begins(&self, number: usize, title: &str) {
        println!("\n== {number}. {title}");
    }

    fn says(&self, text: &str) {
        println!("   {text}");
    }

    fn shows(&self, command: &str, output: &str) {
        println!("   $ {command}");
        indented(output);
    }

    fn waits(&self, what: &str, so_far: Duration) {
        println!("   … {:>3} s waiting for {what}", so_far.as_secs());
    }

    fn warns(&self, text: &str) {
        println!("   ! {text}");
    }

    fn step_held(&self, number: usize, _title: &str, took: Duration) {
        println!("   step {number} held: {:.1} s", took.as_secs_f32());
    }

    fn all_held(&self, steps: usize, took: Duration) {
        Summary.all_held(steps, took);
    }
}

impl Voice for Summary {
    fn step_begins(&self, _number: usize, _title: &str) {}

    fn says(&self, _text: &str) {}

    fn shows(&self, _command: &str, output: &str) {
        indented(output);
    }

    fn waits(&self, _what: &str, _so_far: Duration) {}

    fn warns(&self, text: &str) {
        Narrator.warns(text);
    }

    fn step_held(&self, number: usize, title: &str, took: Duration) {
        println!("step {number} held in {:>5.1} s: {title}", took.as_secs_f32());
    }

    fn all_held(&self, steps: usize, took: Duration) {
        println!("\nall {steps} steps held in {:.0} s", took.as_secs_f32());
    }
}

fn indented(output: &str) {
    for line in output.lines() {
        println!("     {line}");
    }
}
