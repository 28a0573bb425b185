//! Figure 1: variance, correlation and correlation map of random networks, beside the theory.

use isinglass_theory::{MeanField, Model, Neuron, RandomNetwork};
use serde_json::Value;

use super::judgement::{Judgement, by_count};
use super::output::{Output, rounded, row};
use super::record::{FigureRecord, Table};
use super::study::{Scale, Study, Subject};
use super::{Progress, ReproduceError};
use crate::simulate::{Comparison, Measurement, Shown, Simulation, picture};

/// The paper's variances.
const SIGMA_M2: [f64; 3] = [0.2, 0.5, 0.99];
const SIGMA_B2: f64 = 0.001;

/// The surrogates; the paper shows the deterministic one.
const SURROGATES: [(&str, Model, Neuron); 4] = [
    ("deterministic-sign", Model::Deterministic, Neuron::Sign),
    ("deterministic-tanh-1", Model::Deterministic, Neuron::Tanh(1.0)),
    ("lrt-binary-logistic-1", Model::LrtBinary, Neuron::Logistic(1.0)),
    ("lrt-continuous-tanh-1", Model::LrtContinuous, Neuron::Tanh(1.0)),
];

const CAPTION: &str = "Random networks, σ_b² = 0.001 (width, depth and number below): markers are means over networks, bands one standard deviation, lines the theory. \
    The paper shows the deterministic surrogate and says that plots for the local reparameterisation trick (LRT) are similar.\n\n\
    The neuron is our choice where the paper's captions contradict each other: the exact sign neuron, the unit gain tanh(h) whose depth scale diverges at σ_m² = 1, \
    and for LRT logistic neurons and tanh.";

pub(super) fn make(study: &Study, progress: &Progress<'_>) -> Result<FigureRecord, ReproduceError> {
    let mut output = Output::new(study, Subject::Fig1, CAPTION)?;
    let simulation = Simulation { seed: study.seed, threads: study.threads, ..size(study.scale) };
    for (key, value) in [("width", simulation.width), ("realisations", simulation.realisations), ("depth", simulation.depth)] {
        output.setting(key, value);
    }
    output.setting("sigma-m2", SIGMA_M2.to_vec());
    output.setting("sigma-b2", SIGMA_B2);
    output.setting("c in layer 0", 0.5);
    let columns = ["surrogate", "σ_m²", "q* (theory)", "largest deviation", "of", "agrees"];
    let mut verdicts = Table {
        title: "Deviations from the theory, in standard errors, all layers together".into(),
        columns: columns.map(Into::into).into(),
        rows: Vec::new(),
    };
    let columns = ["surrogate", "sigma_m2", "layer", "q", "q_sd", "q_theory", "c", "c_sd", "c_theory"];
    let mut data = Table { title: String::new(), columns: columns.map(Into::into).into(), rows: Vec::new() };
    let (mut agreeing, mut worst) = (0, 0.0f64);
    let all = SURROGATES.len() * SIGMA_M2.len();
    for (index, (name, model, neuron)) in SURROGATES.into_iter().enumerate() {
        let network = RandomNetwork::new(model, neuron)?;
        let mut outcomes: Vec<(MeanField, Measurement, Comparison)> = Vec::new();
        for (number, sigma_m2) in SIGMA_M2.into_iter().enumerate() {
            let field = network.at(Some(sigma_m2), SIGMA_B2)?;
            let before = index * SIGMA_M2.len() + number;
            let measurement = simulation.run(&field, &|done, of| progress((before as f64 + done as f64 / of as f64) / all as f64))?;
            let comparison = measurement.compare(&field)?;
            agreeing += usize::from(comparison.agrees() == Some(true));
            worst = comparison.worst().map_or(worst, |one| worst.max(one.worst()));
            verdicts.rows.push(verdict(name, sigma_m2, &field, &comparison)?);
            data.rows.extend(layers(name, sigma_m2, &comparison));
            outcomes.push((field, measurement, comparison));
        }
        let shown: Vec<Shown<'_>> =
            outcomes.iter().map(|(field, measurement, comparison)| Shown { field, measurement, comparison }).collect();
        output.picture(name, &picture(&shown)?, &format!("{model} surrogate, {neuron} neurons."))?;
    }
    output.table(verdicts);
    output.data("layers", &data)?;
    let evidence = format!(
        "In {agreeing} of {all} settings no quantity deviates from the theory by more than 5 standard errors over {} random networks, all layers taken together, after the O(1/N) of finite width is removed; the largest deviation is {worst:.2} standard errors.",
        simulation.realisations
    );
    let claim = "The theory predicts the average behaviour of random networks, for the deterministic surrogate and, similarly, for LRT.";
    output.claim(claim, Ok(Judgement { verdict: by_count(agreeing, all), evidence }));
    output.finish()
}

/// The paper's width, depth and number of networks, which take seconds.
fn size(scale: Scale) -> Simulation {
    let paper = Simulation { width: 1000, realisations: 50, depth: 30, ..Simulation::default() };
    match scale {
        Scale::Smoke => Simulation { width: 100, realisations: 12, depth: 8, ..paper },
        Scale::Quick | Scale::Medium | Scale::Paper => paper,
    }
}

fn verdict(name: &str, sigma_m2: f64, field: &MeanField, comparison: &Comparison) -> Result<Vec<Value>, ReproduceError> {
    let q_star = field.variance_fixed_point()?.finite();
    let worst = comparison.worst();
    Ok(row([
        name.into(),
        sigma_m2.into(),
        q_star.map_or(Value::Null, |q| rounded(q, 5)),
        worst.map_or(Value::Null, |worst| rounded(worst.worst(), 2)),
        worst.map_or(Value::Null, |worst| worst.quantity.into()),
        comparison.agrees().map_or(Value::Null, |agrees| if agrees { "yes" } else { "no" }.into()),
    ]))
}

fn layers(name: &str, sigma_m2: f64, comparison: &Comparison) -> Vec<Vec<Value>> {
    let one = |(layer, measured): (usize, &crate::simulate::LayerComparison)| {
        let (q, c) = (measured.q_aa, measured.c);
        row([
            name.into(),
            sigma_m2.into(),
            layer.into(),
            q.mean.into(),
            q.sd.into(),
            q.theory.into(),
            c.mean.into(),
            c.sd.into(),
            c.theory.into(),
        ])
    };
    comparison.layers.iter().enumerate().map(one).collect()
}
