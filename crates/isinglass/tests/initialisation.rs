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

#[test]
fn orthogonal_signs_are_trained_from() {
    let home = scratch("hadamard");
    let flags = "--depth 3 --init hadamard --sigma-m2 0.81";
    let result = home.json(&format!("{SMALL} {flags} --goal surrogate --lr 1e-9 --means clip --out run"));
    assert_eq!(initialisation(&home, "run"), ["init = \"hadamard\"", "sigma-m2 = 0.81"]);
    assert_eq!((&result["initialisation"]["distribution"], &result["initialisation"]["sigma_m2"]), (&"hadamard".into(), &0.81.into()));
    // At such a learning rate the means stay where they were: ±0.9, and what inspect shows is what was drawn.
    let inspected = home.json("inspect run");
    let layers = inspected["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 4);
    for layer in layers {
        for key in ["sigma_m2", "initial_sigma_m2"] {
            assert!((layer[key].as_f64().unwrap() - 0.81).abs() < 1e-5, "{layer}");
        }
    }
    assert!(home.succeeds("inspect run").contains("0.81"));
    // The file of a run gives the same bits again; another seed does not.
    home.succeeds("train --config run/config.toml --quiet --out again");
    assert!(home.read("again/last.safetensors") == home.read("run/last.safetensors"));
    home.succeeds("train --config run/config.toml --quiet --seed 2 --out other");
    assert!(home.read("other/last.safetensors") != home.read("run/last.safetensors"));
    // Without a variance it takes the usual one; the real weights of the comparison take it too.
    home.succeeds(&format!("{SMALL} --init hadamard --out usual"));
    assert_eq!(initialisation(&home, "usual"), ["init = \"hadamard\""]);
    home.succeeds(&format!("{SMALL} --init hadamard --surrogate continuous --sigma-w2 2.25 --out real"));
    assert!(home.fails(&format!("{SMALL} --init hadamard --sigma-m2 1.2 --out large"), 2).contains("cannot exceed 1"));
    assert!(home.succeeds("train --help").contains("hadamard"));
}

#[test]
fn aligned_layers_are_trained_from() {
    let home = scratch("aligned");
    let result = home.json(&format!("{SMALL} --depth 3 --init aligned:2 --sigma-m2 0.2 --out run"));
    assert_eq!(initialisation(&home, "run"), ["init = \"aligned:2\"", "sigma-m2 = 0.2"]);
    assert_eq!((&result["initialisation"]["distribution"], &result["initialisation"]["sigma_m2"]), (&"aligned:2".into(), &0.2.into()));
    home.succeeds("train --config run/config.toml --quiet --out again");
    assert!(home.read("again/last.safetensors") == home.read("run/last.safetensors"));
    // The usual number of directions is one for every 16 neurons.
    let usual = home.json(&format!("{SMALL} --depth 3 --width 160 --init aligned --out usual"));
    assert_eq!(initialisation(&home, "usual"), ["init = \"aligned\""]);
    assert_eq!(usual["initialisation"]["distribution"], "aligned:10");
    // Flags and files refuse what cannot be.
    for (init, reason) in [("aligned:0", "aligned:K"), ("aligned:10", "at most as many directions"), ("alined", "aligned")] {
        assert!(home.fails(&format!("{SMALL} --init {init} --out bad"), 2).contains(reason), "{init}");
        home.write("bad.toml", format!("init = \"{init}\"\n").as_bytes());
        assert!(home.fails(&format!("{SMALL} --config bad.toml --out bad"), 2).contains(reason), "{init}");
    }
    assert!(!home.path("bad").exists());
    home.write(
        "grid.toml",
        b"[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 9\nepochs = 1\nsamples = 1\n[grid]\ninit = [\"aligned:1\", \"aligned:4\"]\n",
    );
    home.succeeds("sweep run grid.toml --out sweep --quiet");
    let drawn: Vec<_> = common::sweeps::results(&home, "sweep").iter().map(|row| row["init_distribution"].clone()).collect();
    assert_eq!(drawn, ["aligned:1", "aligned:4"]);
}

#[test]
fn deep_plain_layers_are_aligned_and_learn_slowly() {
    let home = scratch("auto-aligned");
    let trained = |flags: &str, out: &str| {
        let result = home
            .json(&format!("train --data mnist --data-dir data --epochs 1 --samples 1 --quiet --train-fraction 0.1 {flags} --out {out}"));
        let rate = home.text(&format!("{out}/config.toml")).lines().find(|line| line.starts_with("lr = ")).unwrap().to_owned();
        (result["initialisation"]["distribution"].as_str().unwrap().to_owned(), rate)
    };
    let case = |flags: &str, out: &str, distribution: &str, rate: &str| {
        assert_eq!(trained(flags, out), (distribution.to_owned(), rate.to_owned()), "{flags}");
    };
    case("--depth 24 --width 64 --carry off", "deep", "aligned:8", "lr = 0.01");
    case("--depth 2 --width 64 --init aligned", "asked", "aligned:8", "lr = 0.01");
    // Carried, shallow and narrow layers stay independent, and a rate that is given stays.
    case("--depth 24 --width 64", "carried", "uniform", "lr = 0.03");
    case("--depth 10 --width 64 --carry off", "shallow", "uniform", "lr = 0.03");
    case("--depth 24 --width 63 --carry off", "narrow", "uniform", "lr = 0.03");
    case("--depth 24 --width 64 --carry off --lr 0.02", "given", "aligned:8", "lr = 0.02");
    case("--depth 24 --width 64 --carry --init aligned", "both", "aligned:8", "lr = 0.03");
    let told = home
        .run("train --data mnist --data-dir data --epochs 1 --samples 1 --train-fraction 0.1 --depth 24 --width 64 --carry off --out told");
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("24 independent layers need") && told.contains("aligned ones need no large means"), "{told}");
}

#[test]
fn a_sweep_compares_orthogonal_with_independent_signs() {
    let home = scratch("hadamard-sweep");
    home.write(
        "grid.toml",
        b"[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 9\nepochs = 1\nsamples = 1\nsigma-m2 = 0.5\n[grid]\ninit = [\"two-point\", \"hadamard\"]\n",
    );
    home.succeeds("sweep run grid.toml --out sweep --quiet");
    let rows = common::sweeps::results(&home, "sweep");
    let drawn: Vec<&str> = rows.iter().map(|row| row["init_distribution"].as_str()).collect();
    assert_eq!(drawn, ["two-point", "hadamard"]);
}
