//! The page of figures: tables and plots from the files of runs. It has no figure of its own.

use crate::goals::{GOALS, Goal};
use crate::record::{Fleet, Measure, Run, Story, TimeLine};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use xtask::generate::{Axis, Join, Line, Mark, Plot, Scale, short};

/// Name of the page, and below it what its pictures' folder is called.
const PAGE: &str = "figures.md";
const PICTURES: &str = "figures";

/// Cargo's profile of what users run.
const RELEASE: &str = "release";

/// What is plotted over the number of instances.
const BY_SIZE: [(Measure, &str); 7] = [
    (Measure::IdleCalls, "calls-idle"),
    (Measure::ScaleOutCalls, "calls-scale-out"),
    (Measure::IdleWrites, "writes-idle"),
    (Measure::ScaleOutWrites, "writes-scale-out"),
    (Measure::ResidentMegabytes, "memory"),
    (Measure::PassP99Milliseconds, "passes"),
    (Measure::ChangedMachineMilliseconds, "changed-machine"),
];

/// What is plotted over time.
const STORIES: [(Story, &str, &str); 3] = [
    (Story::ScaleOut, "scale-out", "A scale-out from 0"),
    (Story::FailOver, "fail-over", "A fail-over with one more instance requested"),
    (Story::RollOut, "roll-out", "A roll-out, a tenth at a time"),
];

const INTRODUCTION: &str = "\
# Figures

`make bench BENCH_ARGS=--full` measures these figures and writes this page; a change by hand is overwritten.
[Sizing](sizing.md#measure-it-yourself) describes how. etcd, kube-apiserver, kube-controller-manager and Cluster API core
are the published programs, AWS is the [simulated one](simulator.md), and all of them share the processors of the
machine. Counts and ratios do not depend on the machine; durations and memory do. Each figure is the newest one of its
kind, of a release build of the manager if there is one.
";

/// A value, and the number of the run that measured it.
#[derive(Clone, Copy, Debug)]
struct Measured {
    value: f64,
    run: usize,
}

/// The newest figure of each kind, of a release build if there is one.
type Newest = BTreeMap<(Measure, Fleet), Measured>;

/// Writes the page of the runs in a folder, and its pictures, into another one.
pub(crate) fn write(runs: &Path, out: &Path) -> Result<()> {
    let all = Run::all_in(runs)?;
    ensure!(!all.is_empty(), "no run in {}: run foo-bench first", runs.display());
    let (text, pictures) = page(&all)?;
    let folder = out.join(PICTURES);
    std::fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    for Picture { name, svg, title: _ } in pictures {
        let path = folder.join(format!("{name}.svg"));
        std::fs::write(&path, svg).with_context(|| format!("writing {}", path.display()))?;
    }
    let path = out.join(PAGE);
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// The text of the page, and its pictures.
fn page(runs: &[Run]) -> Result<(String, Vec<Picture>)> {
    let newest = newest(runs);
    let pictures: Vec<Picture> = by_size(&newest)?.into_iter().chain(over_time(runs)?).collect();
    let parts = [
        INTRODUCTION.to_owned(),
        goals(&newest),
        all_figures(&newest),
        shown(&pictures),
        table_of_runs(runs),
        notes(runs),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Ok((parts.join("\n"), pictures))
}

fn newest(runs: &[Run]) -> Newest {
    let mut newest = Newest::new();
    let mut runs: Vec<(usize, &Run)> = (1..).zip(runs).collect();
    // Later ones replace earlier ones, and a stable order keeps the newest last.
    runs.sort_by_key(|(_, run)| run.build == RELEASE);
    for (number, run) in runs {
        let measured = |value| Measured { value, run: number };
        newest.extend(run.figures.iter().map(|it| ((it.measure, it.fleet), measured(it.value))));
    }
    newest
}

fn goals(newest: &Newest) -> String {
    let mut text =
        "## Goals\n\n| Measure | Pools | Goal: at most | Measured | Met | Run |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for goal in GOALS {
        let Goal { measure, fleet, at_most } = goal;
        let measured = newest.get(&(measure, fleet));
        let verdict = goal.verdict(measured.map(|it| it.value)).text();
        let (value, run) = measured.map_or_else(Default::default, |it| (short(it.value), it.run.to_string()));
        let (name, at_most) = (measure.name(), short(at_most));
        // A String takes everything.
        let _written = writeln!(text, "| {name} | {fleet} | {at_most} | {value} | {verdict} | {run} |");
    }
    text
}

fn all_figures(newest: &Newest) -> String {
    let mut text = "## All figures\n\n| Measure | Pools | Measured | Run |\n|---|---|---|---|\n".to_owned();
    for ((measure, fleet), Measured { value, run }) in newest {
        let _written = writeln!(text, "| {} | {fleet} | {} | {run} |", measure.name(), short(*value));
    }
    text
}

fn table_of_runs(runs: &[Run]) -> String {
    let mut text =
        "## Runs\n\n| Run | Began | Machine | Commit | Build of the manager |\n|---|---|---|---|---|\n"
            .to_owned();
    for (number, run) in (1..).zip(runs) {
        let Run { began, machine, sources, build, figures: _, time_lines: _, notes: _ } = run;
        let began = began.strftime("%Y-%m-%d %H:%M UTC");
        let _written = writeln!(text, "| {number} | {began} | {machine} | {sources} | {build} |");
    }
    text
}

/// The first line of each note: the files of the runs have the rest.
fn notes(runs: &[Run]) -> String {
    let mut text = String::new();
    for (number, run) in (1..).zip(runs) {
        for note in &run.notes {
            let begin = if text.is_empty() { "## Notes\n\n" } else { "" };
            let _written =
                writeln!(text, "{begin}* Run {number}: {}", note.lines().next().unwrap_or_default());
        }
    }
    text
}

/// A plot in a file of its own.
struct Picture {
    name: &'static str,
    title: String,
    svg: String,
}

fn shown(pictures: &[Picture]) -> String {
    let mut text = String::new();
    for Picture { name, title, svg: _ } in pictures {
        let begin = if text.is_empty() { "## Plots\n" } else { "" };
        let _written = writeln!(text, "{begin}\n![{title}]({PICTURES}/{name}.svg)");
    }
    text
}

fn by_size(newest: &Newest) -> Result<Vec<Picture>> {
    let mut pictures = Vec::new();
    for (measure, name) in BY_SIZE {
        let line = |name: &str, is_drawn: fn(Fleet) -> bool| {
            let of_measure = newest.iter().filter(|((it, fleet), _)| *it == measure && is_drawn(*fleet));
            let mut points: Vec<(f64, f64)> =
                of_measure.map(|((_, fleet), it)| (f64::from(fleet.instances()), it.value)).collect();
            points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            Line { name: name.to_owned(), points }
        };
        let mut lines = vec![
            line("one pool", |fleet| fleet.pools == 1),
            line("several pools of ten", |fleet| fleet.pools > 1),
        ];
        lines.retain(|line| !line.points.is_empty());
        if lines.is_empty() {
            continue;
        }
        let title = measure.name();
        let x = Axis { name: "instances", scale: Scale::Logarithmic };
        let about = "The newest measured figures by the number of instances.";
        let (join, lines) = (Join::Straight, lines.as_slice());
        let plot = Plot { title, about, x, y: "by the number of instances", join, lines, marks: &[] };
        pictures.push(Picture { name, title: title.to_owned(), svg: plot.drawn()? });
    }
    Ok(pictures)
}

fn over_time(runs: &[Run]) -> Result<Vec<Picture>> {
    let mut pictures = Vec::new();
    for (story, name, what) in STORIES {
        let of_story = runs.iter().flat_map(|run| &run.time_lines).filter(|it| it.story == story);
        // Of several with the most instances, the newest.
        let Some(largest) = of_story.max_by_key(|it| it.fleet.instances()) else { continue };
        pictures.push(drawn(largest, name, what)?);
    }
    Ok(pictures)
}

fn drawn(time_line: &TimeLine, name: &'static str, what: &str) -> Result<Picture> {
    let TimeLine { story: _, fleet, counts, marks } = time_line;
    let title = format!("{what}: {fleet}");
    let lines: Vec<Line> =
        counts.iter().map(|it| Line { name: it.name.clone(), points: it.points.clone() }).collect();
    let marks: Vec<Mark> = marks.iter().map(|it| Mark { at: it.at, name: it.name.clone() }).collect();
    let about = "Counts over time, each valid until the next change of it.";
    let x = Axis { name: "seconds", scale: Scale::Linear };
    let (join, lines, marks) = (Join::Steps, lines.as_slice(), marks.as_slice());
    let svg = Plot { title: &title, about, x, y: "number", join, lines, marks }.drawn()?;
    Ok(Picture { name, title, svg })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::test_support::run;
    use crate::record::{Count, Figure};

    fn figure(measure: Measure, fleet: Fleet, value: f64) -> Figure {
        Figure { measure, fleet, value }
    }

    #[test]
    fn the_table_has_each_goal_with_the_newest_figure_for_it() {
        let fleet = Fleet { pools: 100, size: 10 };
        let runs = [
            run(0, vec![figure(Measure::IdleCalls, fleet, 9.0), figure(Measure::IdleWrites, fleet, 0.5)]),
            run(60, vec![figure(Measure::IdleCalls, fleet, 1.75)]),
        ];
        let (text, _) = page(&runs).unwrap();
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("idle | 100 pools of 10 |")).collect();
        assert_eq!(
            rows.get(..2).unwrap(),
            [
                "| AWS calls per minute, idle | 100 pools of 10 | 2 | 1.75 | yes | 2 |",
                "| Kubernetes writes per minute, idle | 100 pools of 10 | 0 | 0.5 | no | 1 |",
            ]
        );
        assert!(text.contains("| one pool of 5000 | 2 |  | not measured |  |"), "{text}");
    }

    #[test]
    fn a_figure_of_a_release_build_is_not_replaced_by_one_of_another_build() {
        let memory = |value| vec![figure(Measure::ResidentMegabytes, Fleet::one_pool(10), value)];
        let mut debug = run(120, memory(90.0));
        debug.build = "debug".to_owned();
        let (text, _) = page(&[run(0, memory(32.0)), run(60, memory(30.0)), debug]).unwrap();
        assert!(text.contains("| one pool of 10 | 30 | 2 |"), "{text}");
    }

    #[test]
    fn a_run_is_listed_with_its_machine_commit_and_build_and_notes_with_their_first_line() {
        let mut run = run(0, vec![figure(Measure::IdleCalls, Fleet::one_pool(10), 2.0)]);
        run.notes.push("the manager ended\nits log".to_owned());
        let (text, _) = page(&[run]).unwrap();
        let row = "| 1 | 1970-01-01 00:00 UTC | a processor, 2 cores, 8000 MB, Linux 6.1 | 0123456789ab, with \
                   changes | release |";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("* Run 1: the manager ended\n") && !text.contains("its log"), "{text}");
    }

    #[test]
    fn pictures_are_drawn_of_what_was_measured() {
        let small = Fleet::one_pool(10);
        let mut run = run(0, vec![figure(Measure::ResidentMegabytes, small, 30.0)]);
        let counts =
            vec![Count { name: "desired capacity".to_owned(), points: vec![(0.0, 0.0), (1.0, 10.0)] }];
        run.time_lines.push(TimeLine { story: Story::ScaleOut, fleet: small, counts, marks: Vec::new() });
        let (text, pictures) = page(&[run]).unwrap();
        let names: Vec<&str> = pictures.iter().map(|picture| picture.name).collect();
        assert_eq!(names, ["memory", "scale-out"]);
        assert!(text.contains("![A scale-out from 0: one pool of 10](figures/scale-out.svg)"), "{text}");
        assert!(!text.contains("## Notes"), "{text}");
    }
}
