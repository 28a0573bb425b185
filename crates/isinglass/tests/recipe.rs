//! `isinglass train --recipe`, run as a user runs it.

mod common;

use std::fs;
use std::time::Duration;

use common::{Scratch, kill_until_the_end, start, wait_until};
use isinglass::lab::recipe::Recipe;
use isinglass::lab::run::RunConfig;
use serde_json::Value;

/// A recipe made small: a few seconds at most, on generated digits.
const SMALL: &str = "--data digits --train-fraction 0.05 --epochs 1 --width 32 --quiet";

/// The same on small images.
const TINY: &str = "--data mnist --data-dir data --epochs 1 --width 32 --quiet";

fn with_images(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_images();
    scratch
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

fn config(home: &Scratch, run: &str) -> RunConfig {
    RunConfig::from_toml(&home.text(&format!("{run}/config.toml"))).unwrap()
}

#[test]
fn recipes_are_listed_on_standard_output() {
    let home = Scratch::new("list");
    let table = home.succeeds("train --recipe list");
    let header: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["name", "data", "network", "about"]);
    assert_eq!(table.lines().count(), 1 + Recipe::ALL.len());
    for (line, recipe) in table.lines().skip(1).zip(Recipe::ALL) {
        assert!(line.starts_with(recipe.name()) && line.ends_with(recipe.about()), "{line}");
    }
    assert!(table.contains("784-501×2-10") && table.contains("784-256×100-10"), "{table}");

    let list = home.json("train --recipe list");
    let list = list["recipes"].as_array().unwrap();
    assert_eq!(list.len(), Recipe::ALL.len());
    assert_eq!(keys(&list[0]), ["name", "data", "network", "about", "published", "draws"]);
    assert_eq!((&list[0]["name"], &list[0]["data"], &list[0]["network"]), (&"mnist-501".into(), &"mnist".into(), &"784-501×2-10".into()));
    assert!(home.succeeds("train --recipe list --format csv").starts_with("name,data,network,about,published,draws\nmnist-501,mnist,"));
    assert_eq!(home.entries(), 0, "nothing is trained");
}

#[test]
fn unknown_recipes_are_refused_with_the_names() {
    let home = Scratch::new("unknown");
    let message = home.fails("train --recipe mnist-500", 2);
    assert!(message.contains("mnist-500") && message.contains("--recipe list"), "{message}");
    for recipe in Recipe::ALL {
        assert!(message.contains(recipe.name()), "{message}");
    }
    home.write("run.toml", b"recipe = \"mnist-500\"\n");
    assert!(home.fails("train --config run.toml", 2).contains("mnist-501"));
    let message = home.fails("train --config run.toml --recipe mnist-501", 2);
    assert!(message.contains("--recipe") && message.contains("--config"), "{message}");
    assert_eq!(home.entries(), 1, "nothing is made");
}

#[test]
fn a_recipe_ends_with_a_packed_network_and_its_accuracy() {
    let home = Scratch::new("packed");
    let table = home.succeeds(&format!("train --recipe mnist-501 {SMALL} --out a"));
    let lines: Vec<&str> = table.lines().collect();
    let last = &lines[lines.len() - 3..];
    assert_eq!(last[0], "The run is in a");
    assert!(last[1].starts_with("The packed network is a/model.safetensors ("), "{table}");
    let predicted = home.succeeds("predict a/model.safetensors");
    assert_eq!(last[2], predicted.trim_end());
    assert!(predicted.starts_with("accuracy ") && predicted.contains("digits test images"), "{predicted}");
    // The very file that `pack` makes.
    home.succeeds("pack a -o m.safetensors");
    assert_eq!(home.read("a/model.safetensors"), home.read("m.safetensors"));
    let summary: Value = serde_json::from_slice(&home.read("a/summary.json")).unwrap();
    assert!(summary.get("packed").is_none());

    let result = home.json(&format!("train --recipe mnist-501 {SMALL} --out b"));
    assert_eq!(keys(&result["packed"]), ["file", "bytes", "accuracy", "correct", "images", "path"]);
    let predicted = home.json("predict b/model.safetensors");
    for key in ["accuracy", "correct", "images"] {
        assert_eq!(result["packed"][key], predicted[key], "{key}");
    }
    assert_eq!(result["packed"]["accuracy"], result["test"]["binary"]["accuracy"]);
    assert_eq!(result["packed"]["file"], "b/model.safetensors");
    assert_eq!(result["packed"]["bytes"], home.read("b/model.safetensors").len());
    assert_eq!(home.read("a/model.safetensors"), home.read("b/model.safetensors"), "equal seeds give equal files");

    // Without a recipe there is neither.
    let plain = home.json(&format!("train {SMALL} --out plain"));
    assert!(plain.get("packed").is_none() && plain["config"].get("recipe").is_none());
    assert!(!home.path("plain/model.safetensors").exists());
}

#[test]
fn flags_override_a_recipe_and_its_name_is_recorded() {
    let home = Scratch::new("override");
    let flags = "--depth 4 --seed 2 --carry off --lr 0.02";
    home.succeeds(&format!("train --recipe mnist-carried-20 {SMALL} {flags} --out a"));
    let recipe = Recipe::find("mnist-carried-20").unwrap().config();
    let config = config(&home, "a");
    assert_eq!(config.recipe.as_deref(), Some("mnist-carried-20"));
    assert_eq!((config.hidden_layers(), config.seed, config.epochs, config.lr), (vec![32; 4], 2, 1, 0.02));
    assert_eq!((config.data.as_deref(), config.carry.map(|carry| carry.to_string()).as_deref()), (Some("digits"), Some("off")));
    assert_eq!((config.tau, config.init, config.batch, &config.samples), (recipe.tau, recipe.init, recipe.batch, &recipe.samples));

    // A list of layers gives way to numbers, and the settings of a run to those of another.
    home.succeeds(&format!("train --recipe fashion-mnist-501 {SMALL} --out b"));
    assert_eq!(self::config(&home, "b").hidden_layers(), [32, 32]);
    home.succeeds("train --config a/config.toml --out c --quiet");
    assert_eq!(home.read("a/config.toml"), home.read("c/config.toml"));
    assert_eq!(home.read("a/model.safetensors"), home.read("c/model.safetensors"));
}

#[test]
fn a_recipe_of_draws_ends_with_their_ensemble() {
    let home = with_images("draws");
    let result = home.json(&format!("train --recipe mnist-1024-ensemble {TINY} --seed 3 --out a"));
    let model = home.read("a/model.safetensors");
    home.succeeds("pack a --samples 25 -o draws.safetensors");
    assert_eq!(model, home.read("draws.safetensors"), "the very file that `pack` makes");
    let about = home.json("inspect a/model.safetensors").to_string();
    assert!(about.contains("25 draws with seed 3"), "{about}");
    let stochastic = &result["test"]["stochastic"][0];
    assert_eq!((&stochastic["samples"], &stochastic["accuracy"]), (&25.into(), &result["packed"]["accuracy"]));
    // Found complete, and packed again if need be.
    let written = fs::metadata(home.path("a/model.safetensors")).unwrap().modified().unwrap();
    assert_eq!(home.json("resume a --quiet"), result);
    assert_eq!(fs::metadata(home.path("a/model.safetensors")).unwrap().modified().unwrap(), written);
    home.succeeds("pack a -o sign.safetensors");
    fs::copy(home.path("sign.safetensors"), home.path("a/model.safetensors")).unwrap();
    assert_eq!(home.json("resume a --quiet"), result);
    assert_eq!(home.read("a/model.safetensors"), model);
}

#[test]
fn continuous_neurons_are_not_packed() {
    let home = with_images("lrt");
    let train = format!("train --recipe mnist-lrt-2048 {TINY}");
    let table = home.succeeds(&format!("{train} --out a"));
    assert!(table.lines().last().unwrap().starts_with("Not packed: the neurons of surrogate lrt-continuous"), "{table}");
    assert!(!home.path("a/model.safetensors").exists());
    assert_eq!(home.succeeds("resume a --quiet"), table);
    let result = home.json(&format!("{train} --out b"));
    assert_eq!(result.get("packed"), Some(&Value::Null));
    assert_eq!(home.json("resume b --quiet"), result);
}

#[test]
fn a_run_whose_packing_was_interrupted_is_packed_by_resume() {
    let home = with_images("interrupted");
    let result = home.json(&format!("train --recipe mnist-501 {TINY} --out a"));
    let (model, summary) = (home.read("a/model.safetensors"), home.read("a/summary.json"));
    // Complete: printed again, and nothing is written.
    let written = fs::metadata(home.path("a/model.safetensors")).unwrap().modified().unwrap();
    assert_eq!(home.json("resume a --quiet"), result);
    assert_eq!(fs::metadata(home.path("a/model.safetensors")).unwrap().modified().unwrap(), written);

    let packs_again = |what: &str| {
        assert_eq!(home.json("resume a --quiet"), result, "{what}");
        assert_eq!(home.read("a/model.safetensors"), model, "{what}");
        assert_eq!(home.read("a/summary.json"), summary, "{what}");
    };
    fs::remove_file(home.path("a/model.safetensors")).unwrap();
    packs_again("no file");
    let mut damaged = model.clone();
    *damaged.last_mut().unwrap() ^= 1;
    home.write("a/model.safetensors", &damaged);
    packs_again("damaged");
    home.succeeds(&format!("train {TINY} --seed 9 --out other"));
    home.succeeds("pack other -o a/model.safetensors");
    packs_again("another network");

    // A file of somebody else is left alone, before and after the end of the training.
    for unfinished in [false, true] {
        home.write("a/model.safetensors", b"mine");
        if unfinished {
            fs::remove_file(home.path("a/summary.json")).unwrap();
        }
        let message = home.fails("resume a --quiet", 2);
        assert!(message.contains("a/model.safetensors") && message.contains("not replaced"), "{message}");
        assert_eq!(home.read("a/model.safetensors"), b"mine");
    }
    fs::remove_file(home.path("a/model.safetensors")).unwrap();
    let again = home.json("resume a --quiet");
    assert_eq!((&again["test"], &again["packed"]), (&result["test"], &result["packed"]));
    assert_eq!(home.read("a/model.safetensors"), model);
}

#[test]
fn killed_again_and_again_a_run_ends_with_the_same_packed_network() {
    let home = with_images("kill");
    let train = format!("train --recipe mnist-501 {TINY} --epochs 8 --batch 8");
    home.succeeds(&format!("{train} --out whole"));
    let child = start(&home, &format!("{train} --out torn --checkpoint-steps 7"));
    wait_until("config.toml", || home.path("torn/config.toml").exists());
    kill_until_the_end(
        child,
        |round| Duration::from_millis(20 << round.min(20)),
        |_| start(&home, "resume torn --quiet --checkpoint-steps 7"),
    );
    for file in ["last.safetensors", "model.safetensors", "config.toml"] {
        assert_eq!(home.read(&format!("torn/{file}")), home.read(&format!("whole/{file}")), "{file}");
    }
}
