//! Which initialisation `--sigma-m2` and `--init` mean together.

mod common;

use common::Scratch;

const SMALL: &str = "train --data mnist --data-dir data --width 9 --epochs 1 --samples 1 --quiet";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_images();
    scratch
}

/// The lines of `config.toml` about the initialisation.
fn initialisation(home: &Scratch, run: &str) -> Vec<String> {
    let config = home.text(&format!("{run}/config.toml"));
    config.lines().filter(|line| line.starts_with("init") || line.starts_with("sigma")).map(str::to_owned).collect()
}

#[test]
fn a_variance_alone_means_two_point() {
    let home = scratch("two-point");
    home.succeeds(&format!("{SMALL} --sigma-m2 0.9 --out short"));
    assert_eq!(initialisation(&home, "short"), ["init = \"two-point\"", "sigma-m2 = 0.9"]);
    home.succeeds(&format!("{SMALL} --init two-point --sigma-m2 0.9 --out long"));
    home.succeeds("train --config short/config.toml --quiet --out again");
    for run in ["long", "again"] {
        assert_eq!(home.text(&format!("{run}/config.toml")), home.text("short/config.toml"));
        assert!(home.read(&format!("{run}/last.safetensors")) == home.read("short/last.safetensors"), "{run}");
    }
    home.succeeds(&format!("{SMALL} --out none"));
    assert_eq!(initialisation(&home, "none"), ["init = \"auto\""]);
    home.succeeds(&format!("{SMALL} --surrogate continuous --sigma-w2 1.5 --out continuous"));
    assert_eq!(initialisation(&home, "continuous"), ["init = \"two-point\"", "sigma-m2 = 1.5"]);
}

#[test]
fn a_named_rule_that_chooses_the_variance_excludes_it() {
    let home = scratch("excludes");
    for init in ["auto", "critical"] {
        let message = home.fails(&format!("{SMALL} --init {init} --sigma-m2 0.9 --out x"), 2);
        assert!(message.contains(&format!("init {init} chooses σ_m² itself")), "{message}");
        home.write("both.toml", format!("init = \"{init}\"\nsigma-m2 = 0.9\n").as_bytes());
        assert!(home.fails(&format!("{SMALL} --config both.toml --out x"), 2).contains("chooses σ_m² itself"));
    }
    assert!(!home.path("x").exists());
}

#[test]
fn a_flag_wins_over_the_file() {
    let home = scratch("wins");
    for (file, flags, expected) in [
        ("init = \"auto\"", "--sigma-m2 0.9", ["init = \"two-point\"", "sigma-m2 = 0.9"].as_slice()),
        ("init = \"critical\"", "--sigma-m2 0.9", &["init = \"two-point\"", "sigma-m2 = 0.9"]),
        ("init = \"uniform\"", "--sigma-m2 0.2", &["init = \"uniform\"", "sigma-m2 = 0.2"]),
        ("sigma-m2 = 0.5", "", &["init = \"two-point\"", "sigma-m2 = 0.5"]),
        ("sigma-m2 = 0.5", "--sigma-m2 0.7", &["init = \"two-point\"", "sigma-m2 = 0.7"]),
        ("sigma-m2 = 0.5", "--init auto", &["init = \"auto\""]),
        ("sigma-m2 = 0.5", "--init two-point", &["init = \"two-point\"", "sigma-m2 = 0.5"]),
        ("init = \"two-point\"\nsigma-m2 = 0.5", "--init critical", &["init = \"critical\""]),
    ] {
        home.write("run.toml", file.as_bytes());
        let place = format!("{} {flags}", file.replace(['\n', '"', '='], " ")).split_whitespace().collect::<Vec<_>>().join("_");
        home.succeeds(&format!("{SMALL} --config run.toml {flags} --out {place}"));
        assert_eq!(initialisation(&home, &place), expected, "{file}, {flags}");
    }
}

#[test]
fn a_sweep_over_the_variance_needs_no_init() {
    let home = scratch("sweep");
    let grid = "[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 9\nepochs = 1\nsamples = 1\n[grid]\nsigma-m2 = [0.5, 0.9]\n";
    home.write("grid.toml", grid.as_bytes());
    home.succeeds("sweep run grid.toml --out short --quiet");
    home.write("grid.toml", grid.replace("[grid]", "init = \"two-point\"\n[grid]").as_bytes());
    home.succeeds("sweep run grid.toml --out long --quiet");
    let rows = |sweep: &str| common::sweeps::results(&home, sweep);
    assert_eq!(rows("short"), rows("long"), "the same cells with the same names");
    assert!(rows("short").iter().all(|row| row["init_distribution"] == "two-point"));
    home.write("grid.toml", grid.replace("[grid]", "init = \"auto\"\n[grid]").as_bytes());
    assert!(home.fails("sweep run grid.toml --out bad --quiet", 2).contains("chooses σ_m² itself"));
}
