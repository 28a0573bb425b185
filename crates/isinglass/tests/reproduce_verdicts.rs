//! What `isinglass reproduce` says of sweeps with known answers: grids are made up, and the command draws and judges them as it does those that were trained.

mod common;

use common::Scratch;
use common::synthetic::{Made, Scores, write};
use isinglass_lab::reproduce::Subject;
use isinglass_lab::run::RunConfig;
use serde_json::Value;

const DETERMINISTIC: &str = "deterministic-tanh-1";

/// Seeds 1, 2 and 3 are as far below a value, at it and above.
fn scattered(value: f64, spread: f64, config: &RunConfig) -> f64 {
    value * (1.0 + spread * (config.seed as f64 - 2.0))
}

/// Without biases, `χ₁ = σ_m²` of both surrogates of Figure 2.
fn xi(config: &RunConfig) -> f64 {
    -1.0 / config.sigma_m2.unwrap().ln()
}

/// A training accuracy that falls through one half at a depth.
fn ends_at(limit: f64, config: &RunConfig) -> f64 {
    (0.5 + 0.005 * (limit - config.depth.unwrap() as f64)).clamp(0.1, 0.95)
}

/// Both planes of Figure 2 with networks that train to some depth, and counterparts of which nothing is known.
fn plane(limit: impl Fn(&str, &RunConfig) -> f64) -> impl Fn(&str, &RunConfig) -> Made {
    move |sweep, config| Made::Trained(Scores::surrogate(ends_at(limit(sweep, config), config)))
}

fn reproduce(scratch: &Scratch, figure: &str) -> Value {
    scratch.json(&format!("reproduce {figure} --scale quick --data-dir data --quiet"))["figures"][0].clone()
}

/// The claims of a figure that contain some words: verdicts and evidence.
fn claims(record: &Value, words: &str) -> Vec<(String, String)> {
    let text = |claim: &Value, key: &str| claim[key].as_str().unwrap().to_owned();
    let all = record["claims"].as_array().unwrap().iter();
    all.filter(|claim| text(claim, "claim").contains(words)).map(|claim| (text(claim, "verdict"), text(claim, "evidence"))).collect()
}

#[track_caller]
fn check(record: &Value, words: &str, verdict: &str, evidence: &[&str]) {
    let found = claims(record, words);
    assert!(!found.is_empty(), "{words}: {record}");
    for (is, text) in found {
        assert_eq!(is, verdict, "{words}: {text}");
        assert!(evidence.iter().all(|words| text.contains(words)), "{words}: {text}");
    }
}

fn figure_2(made: impl Fn(&str, &RunConfig) -> Made) -> Value {
    let scratch = Scratch::new("verdicts");
    write(&scratch, Subject::Fig2, made);
    reproduce(&scratch, "fig2")
}

#[test]
fn three_depth_scales_hold_where_training_ends_there() {
    let record = figure_2(plane(|_, config| scattered(3.0 * xi(config), 0.03, config)));
    check(&record, "About 3ξ", "holds", &["3 of 3 values", "3.0ξ (2.8ξ to 3.2ξ) at σ_m² = 0.7", "95 % intervals over 3 seeds"]);
    check(&record, "follows the correlation depth scale", "holds", &["1.00 (1.00 to 1.00)", "at least 50 at 0.99"]);
    // Tables have the interval beside the depth: 3ξ = 8.4 at σ_m² = 0.7.
    let row = &record["tables"][0]["rows"][2];
    assert_eq!((&row[0], &row[4], &row[5]), (&0.7.into(), &8.4.into(), &"7.8 to 9.1".into()), "{row}");
}

#[test]
fn three_depth_scales_do_not_hold_where_training_ends_elsewhere() {
    let record = figure_2(plane(|_, config| scattered(12.0 * xi(config), 0.03, config)));
    // Three ends are seen, and one is beyond the grid and beyond 6ξ.
    check(&record, "About 3ξ", "does not hold", &["0 of 4 values", "12.0ξ (11.1ξ to 12.9ξ) at σ_m² = 0.5", "at least 8.1ξ at σ_m² = 0.85"]);
    check(&record, "follows the correlation depth scale", "holds", &[]);
}

#[test]
fn intervals_across_the_threshold_decide_nothing() {
    let record = figure_2(plane(|_, config| scattered(6.0 * xi(config), 0.15, config)));
    check(&record, "About 3ξ", "not decided", &["0 of 4 (4 undecided) values"]);
    // One seed in the theory's order, one in the other, one between.
    let torn = plane(|_, config| match config.seed {
        1 => 45.0 * config.sigma_m2.unwrap(),
        2 => 45.0 * (1.2 - config.sigma_m2.unwrap()),
        _ => 30.0 - 30.0 * (config.sigma_m2.unwrap() - 0.7).abs(),
    });
    check(&figure_2(torn), "follows the correlation depth scale", "not decided", &["over 3 seeds"]);
}

#[test]
fn ends_outside_the_grid_count_if_they_contradict() {
    // Every network trains, also far beyond 6ξ; and none does, also where 3ξ is deep.
    let every = figure_2(plane(|_, _| 1000.0));
    check(&every, "About 3ξ", "does not hold", &["0 of 4 values", "at least 60.2ξ at σ_m² = 0.3"]);
    check(&every, "follows the correlation depth scale", "not decided", &["the same for every σ_m²"]);
    let none = figure_2(plane(|_, _| 1.0));
    check(&none, "About 3ξ", "does not hold", &["0 of 3 values", "below 0.7ξ at σ_m² = 0.85"]);
    // Where 3ξ itself is outside, at 0.3 and 0.99, the grid cannot tell.
    let few = figure_2(plane(|_, config| if config.sigma_m2 == Some(0.7) { 1000.0 } else { 3.0 * xi(config) }));
    check(&few, "About 3ξ", "holds in part", &["2 of 3 values"]);
}

#[test]
fn counterparts_are_judged_by_their_distances() {
    let scores = Scores {
        surrogate: 0.9,
        binary: 0.58,
        stochastic: |samples| [0.6, 0.7, 0.85][[1, 5, 100].iter().position(|&k| k == samples).unwrap()],
    };
    let record = figure_2(|_, config| {
        let shift = 0.002 * (config.seed as f64 - 2.0);
        Made::Trained(Scores { surrogate: scores.surrogate + shift, binary: scores.binary + shift, ..scores })
    });
    check(&record, "more closely as the number of samples", "holds", &["30.00 % (29.50 % to 30.50 %) with 1 sample"]);
    check(&record, "about as well as a single sample", "holds", &["2.00 % (1.50 % to 2.50 %)", "25.00 % of the weights have changed sign"]);
}

#[test]
fn a_cell_that_failed_is_missing_and_not_untrained() {
    let scratch = Scratch::new("verdicts");
    let holds = plane(|_, config| scattered(3.0 * xi(config), 0.03, config));
    write(&scratch, Subject::Fig2, |sweep, config| {
        let is_missing = sweep == DETERMINISTIC && (config.sigma_m2, config.depth, config.seed) == (Some(0.7), Some(24), 2);
        if is_missing { Made::Failed("it panicked: index out of bounds") } else { holds(sweep, config) }
    });
    let output = scratch.run("reproduce fig2 --scale quick --data-dir data --quiet --format json");
    let message = String::from_utf8(output.stderr).unwrap();
    // What can be drawn is drawn and printed, and the cell is named.
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("sigma-m2 = 0.7, depth = 24, seed = 2: it panicked: index out of bounds"), "{message}");
    assert!(message.contains("error: 1 of 60 cells failed") && message.contains("--retry-failed"), "{message}");
    let record = serde_json::from_slice::<Value>(&output.stdout).unwrap()["figures"][0].clone();
    assert!(scratch.read("figures/fig2/surrogates.svg").starts_with(b"<svg"));
    let caption = record["caption"].as_str().unwrap();
    assert!(caption.contains("Of the sweep deterministic-tanh-1, 1 of 60 cells failed for another reason and are missing"), "{caption}");
    assert!(caption.contains("seed = 2 (it panicked: index out of bounds)") && !caption.contains("count as untrained"), "{caption}");
    // The claims that need it are open; the other surrogate's are not.
    for words in ["About 3ξ", "follows the correlation depth scale"] {
        let found = claims(&record, words);
        assert_eq!(found[0].0, "not decided", "{found:?}");
        assert!(found[0].1.contains("which failed: it panicked"), "{found:?}");
        assert_eq!(found[1].0, "holds", "{found:?}");
    }
    let row = &record["tables"][0]["rows"][2];
    assert_eq!((&row[0], &row[4], &row[5]), (&0.7.into(), &Value::Null, &Value::Null), "{row}");
}

#[test]
fn a_loss_that_diverged_is_a_network_that_did_not_train() {
    // As if every network deeper than 3ξ had diverged: midway between depths 10 and 24 at σ_m² = 0.85.
    let record =
        figure_2(
            |_, config| {
                if config.depth.unwrap() as f64 > 3.0 * xi(config) { Made::Diverged } else { Made::Trained(Scores::surrogate(0.9)) }
            },
        );
    let caption = record["caption"].as_str().unwrap();
    assert!(
        caption.contains("Of the sweep deterministic-tanh-1, 36 of 60 cells failed, since their loss diverged. They count as untrained."),
        "{caption}"
    );
    let row = &record["tables"][0]["rows"][3];
    assert_eq!((&row[0], &row[4]), (&0.85.into(), &17.0.into()), "{row}");
    check(&record, "About 3ξ", "holds", &[]);
}

#[test]
fn the_best_variance_is_judged_by_accuracy_and_depth() {
    let scratch = Scratch::new("verdicts");
    write(&scratch, Subject::Fig5, |sweep, config| {
        let sigma_m2 = config.sigma_m2.unwrap();
        Made::Trained(Scores::surrogate(match sweep {
            // Better and deeper towards 1; the opposite; torn between seeds; nothing at all.
            DETERMINISTIC => ends_at(scattered(80.0 * sigma_m2, 0.01, config), config),
            "deterministic-sign" => ends_at(scattered(60.0 * (1.1 - sigma_m2), 0.01, config), config),
            "deterministic-tanh-1.5" => ends_at(if config.seed == 1 { 60.0 * sigma_m2 } else { 60.0 * (1.2 - sigma_m2) }, config),
            _ => 0.1,
        }))
    });
    let record = reproduce(&scratch, "fig5");
    check(&record, "the unit gain tanh:1", "holds", &["at least 50", "0.00 % (0.00 % to 0.00 %) behind"]);
    check(&record, "the exact sign neuron", "does not hold", &["train to depth 7 (6 to 7)", "at σ_m² = 0.3"]);
    check(&record, "the supercritical gain", "not decided", &["over 3 seeds"]);
    check(&record, "LRT with binary neurons", "does not hold", &["not even at the smallest depth, 4", "3 seeds"]);
}

#[test]
fn initialisations_are_poor_if_the_gap_is_certain() {
    let of = |gap: f64, spread: f64| {
        let scratch = Scratch::new("verdicts");
        write(&scratch, Subject::Fig6, |_, config| {
            let is_critical = config.init.is_some_and(|init| init.to_string() == "critical");
            Made::Trained(Scores::surrogate(if is_critical { 0.9 } else { scattered(0.9 - gap, spread, config) }))
        });
        claims(&reproduce(&scratch, "fig6"), "train deep networks poorly").remove(0)
    };
    let (verdict, evidence) = of(0.4, 0.02);
    assert!(verdict == "holds" && evidence.contains("40.00 % (37.52 % to 42.48 %)"), "{verdict}: {evidence}");
    assert_eq!([of(0.01, 0.001).0, of(0.1, 0.01).0, of(0.1, 0.1).0], ["does not hold", "holds in part", "not decided"]);
}

#[test]
fn regularisation_is_compared_seed_by_seed() {
    let scratch = Scratch::new("verdicts");
    write(&scratch, Subject::Ablation, |sweep, config| {
        let seed = config.seed as f64;
        // All seeds differ by two points from the next, with and without.
        let base = 0.90 + 0.02 * seed;
        Made::Trained(match sweep {
            "ablation-input-dropout" => Scores::binary(base + 0.005 + 0.001 * seed),
            "ablation-tau" => Scores::binary(base - 0.001 * seed),
            "ablation-adversarial" => Scores::binary(base + 0.004),
            "ablation-ensemble" => Scores { stochastic: |_| 0.945, ..Scores::binary(base) },
            _ => Scores::binary(base),
        })
    });
    let record = reproduce(&scratch, "ablation");
    check(&record, "Input dropout improves", "holds", &["+0.70 (+0.45 to +0.95) percentage points"]);
    check(&record, "larger logits", "does not hold", &["−0.90 (−1.40 to −0.40)"]);
    check(&record, "Adversarial examples improve", "holds", &["+0.40"]);
    check(&record, "An ensemble of 100 draws", "not decided", &["+0.50 (−4.47 to +5.47)"]);
}
