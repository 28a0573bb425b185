//! Settings and grids with all kinds of mistakes are refused with a sentence.
//!
//! `ISINGLASS_FUZZ=10000000 cargo test --release -p isinglass-runs --test fuzz -- --nocapture` tries that many.

use isinglass_fuzz::{Allocations, Campaign, Generator};
use isinglass_runs::run::RunConfig;
use isinglass_runs::sweep::Grid;

#[global_allocator]
static ALLOCATIONS: Allocations = Allocations;

const VALUES: [&str; 18] = [
    "1",
    "0",
    "-1",
    "0.5",
    "1e308",
    "inf",
    "nan",
    "9223372036854775807",
    "99999999999999999999",
    "\"tanh\"",
    "\"auto\"",
    "\"\"",
    "true",
    "[]",
    "[1, 2]",
    "[[1], [2]]",
    "{ a = 1 }",
    "1979-05-27",
];

/// Tables of keys and values, the keys being those of the valid files.
fn grammar(keys: Vec<String>, tables: &'static [&'static str]) -> impl Fn(&mut Generator) -> Vec<u8> {
    move |generator| {
        let mut text = String::new();
        for _ in 0..generator.length(20) {
            match generator.below(6) {
                0 => text += &format!("[{}]\n", generator.choose(tables)),
                1 => text += &format!("{} = [{}, {}]\n", generator.choose(&keys), generator.choose(&VALUES), generator.choose(&VALUES)),
                _ => text += &format!("{} = {}\n", generator.choose(&keys), generator.choose(&VALUES)),
            }
        }
        text.into_bytes()
    }
}

fn keys(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.split_once(" = ")).map(|(key, _)| key.to_owned()).collect()
}

#[test]
fn run_settings() {
    let valid = RunConfig::default().to_toml();
    let campaign = Campaign::new("run settings", [valid.clone().into_bytes()]).grammar(grammar(keys(&valid), &["train", "network", "a.b"]));
    // The parser keeps a tree of the text, and messages quote from it.
    campaign.words(VALUES.into_iter().chain(["[", "]", "=", "\"\"\"", "#", "\\u00"])).memory(400, 1 << 16).run(|bytes| {
        if let Ok(config) = RunConfig::from_toml(&String::from_utf8_lossy(bytes)) {
            let text = config.to_toml();
            assert_eq!(RunConfig::from_toml(&text).map(|again| again.to_toml()), Ok(text));
        }
    });
}

#[test]
fn grids() {
    let valid = "[train]\nepochs = 1\nwidth = 64\nneuron = \"tanh\"\n[grid]\ndepth = [2, 4]\nseed = { from = 1, to = 4, points = 4 }\nsigma-m2 = [0.5, 0.9]\n";
    let all = keys(valid).into_iter().chain(keys(&RunConfig::default().to_toml())).collect();
    let campaign = Campaign::new("grid", [valid.into()]).grammar(grammar(all, &["train", "grid", "grid.depth", "sweep"]));
    campaign.words(VALUES.into_iter().chain(["[grid]", "[train]", "[", "]", "="])).memory(400, 1 << 16).run(|bytes| {
        drop(Grid::from_toml(&String::from_utf8_lossy(bytes)));
    });
}
