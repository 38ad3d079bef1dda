//! Plays a script.

use super::script::{Mistake, Step, read};
use crate::world::World;
use std::fmt::Write as _;

/// The script with what its commands print now; or what is wrong with it, each with file and line.
pub(super) fn play(file: &str, script: &str) -> Result<String, String> {
    let lines = read(script)
        .map_err(|mistakes| mistakes.iter().map(|mistake| mistake.of(file)).collect::<Vec<_>>().join("\n"))?;
    let mut world: Option<World> = None;
    let mut output = String::new();
    for line in lines {
        let _place = Place(format!("{file}:{}: {}", line.number, line.text));
        writeln!(output, "{}", line.text).unwrap();
        let printed = match (line.step, &mut world) {
            (Step::Begin(begin, pool), world) => {
                *world = Some(begin(*pool));
                Vec::new()
            }
            (Step::Act(act), Some(world)) => {
                let printed =
                    act(world).map_err(|text| Mistake::at(line.number, line.text, &text).of(file))?;
                world.cloud.record(world.now);
                printed
            }
            (Step::None | Step::Act(_), _) => Vec::new(),
        };
        for printed in printed {
            writeln!(output, "| {printed}").unwrap();
        }
    }
    Ok(output)
}

/// Says where a script was when the world broke one of its rules.
struct Place(String);

impl Drop for Place {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("at {}", self.0);
        }
    }
}
