//! A training run: curves, scores, insides, settings.

use std::fs;
use std::path::Path;

use isinglass_net::NetworkConfig;
use serde_json::Value;

use super::section::{Section, Writer, shown};
use super::source::{Kind, check_regular};
use super::{ReportError, table};
use isinglass_runs::run::{
    Behind, CONFIG, Epoch, Evaluation, Line, METRICS, Part, RunConfig, SUMMARY, Start, Summary, curves, epochs, insides, read_config,
    read_metrics, read_summary,
};
use isinglass_runs::words::{digits, duration};

pub(super) fn read(directory: &Path, mut writer: Writer) -> Result<Section, ReportError> {
    for file in [CONFIG, METRICS, SUMMARY] {
        check_regular(&directory.join(file))?;
    }
    let config = read_config(directory)?;
    let summary = read_summary(directory)?;
    let metrics = if directory.join(METRICS).is_file() { read_metrics(directory)? } else { Vec::new() };
    let start = metrics.iter().find_map(|line| if let Line::Start(start) = line { Some(&**start) } else { None });
    let epochs: Vec<Epoch> = epochs(&metrics).cloned().collect();
    let remark = summary.is_none().then(|| format!("not finished: {} of {} epochs", epochs.len(), config.epochs));
    if let Some(remark) = &remark {
        writer.html.element("p", &[("class", "notice")], &format!("This run is {remark}."));
    }
    let known = Known::of(&config, summary.as_ref(), start);
    write_facts(&config, &known, start, epochs.len(), &mut writer);
    if let Some(summary) = &summary {
        write_scores(&summary.evaluation, &mut writer);
    }
    if !epochs.is_empty() {
        writer.chart(Ok(curves(&known.title(), &epochs)), "Learning curves", "Loss, accuracy and schedules over the epochs.");
    }
    if let Some(summary) = &summary {
        let caption = "Means and neurons after training, and the variance of the fields beside the theory's, layer by layer.";
        writer.chart(insides(&known.title(), &summary.inspection.layers), "Insides of the network", caption);
    }
    let path = directory.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(|source| ReportError::Read { path, source })?;
    writer.text_file("Settings", &text);
    let name = shown(directory);
    Ok(writer.finish(Kind::Run, format!("Run {name}"), name, remark))
}

/// What is known of a run, also before there is a summary.
struct Known<'a> {
    data: String,
    /// `784-512×2-10, deterministic, sign`.
    network: String,
    summary: Option<&'a Summary>,
}

impl<'a> Known<'a> {
    fn of(config: &RunConfig, summary: Option<&'a Summary>, start: Option<&Start>) -> Self {
        if let Some(summary) = summary {
            return Self { data: summary.data.clone(), network: summary.inspection.network.to_string(), summary: Some(summary) };
        }
        let size = |size: Option<usize>| size.map_or("?".to_owned(), |size| size.to_string());
        let (inputs, classes) = (size(start.map(|start| start.data.inputs)), size(start.map(|start| start.data.classes)));
        let hidden = NetworkConfig { hidden: config.hidden_layers(), ..NetworkConfig::default() }.hidden_shape();
        let neuron = config.neuron.map(|neuron| neuron.to_string()).unwrap_or_default();
        let network = format!("{inputs}-{hidden}-{classes}, {}, {neuron}", config.surrogate);
        Self { data: config.data.clone().unwrap_or_default(), network, summary: None }
    }

    fn title(&self) -> String {
        if self.data.is_empty() { self.network.clone() } else { format!("{}: {}", self.data, self.network) }
    }
}

fn write_facts(config: &RunConfig, known: &Known<'_>, start: Option<&Start>, epochs: usize, writer: &mut Writer) {
    let drawn = match known.summary.map(|summary| &summary.inspection.initialisation) {
        Some(initialisation) => {
            let variance = initialisation.sigma_m2.map(|sigma_m2| format!(", σ² = {}", digits(sigma_m2))).unwrap_or_default();
            format!("{}{variance} ({})", initialisation.distribution, initialisation.reason)
        }
        None => config.init.map(|init| init.to_string()).unwrap_or_default(),
    };
    writer.facts([
        ("network", known.network.clone()),
        ("data", known.data.clone()),
        ("initialisation", drawn),
        ("epochs", format!("{epochs} of {}", config.epochs)),
        ("seed", config.seed.to_string()),
        ("version", start.map(|start| start.version.clone()).unwrap_or_default()),
        ("time of training", known.summary.map(|summary| duration(summary.seconds)).unwrap_or_default()),
        ("note", known.summary.map(|summary| summary.notices.join(" ")).unwrap_or_default()),
    ]);
}

fn write_scores(evaluation: &Evaluation, writer: &mut Writer) {
    let parts: Vec<Part> = Part::ALL.into_iter().filter(|part| evaluation.of(*part).is_some()).collect();
    let mut header = vec!["network".to_owned()];
    for score in ["accuracy", "loss"] {
        header.extend(parts.iter().map(|part| format!("{} {score}", part.name())));
    }
    let row = |network: Behind| {
        let name = match network {
            Behind::Surrogate => "surrogate".to_owned(),
            Behind::Binary => "binary, sign(M)".to_owned(),
            Behind::Stochastic(samples) => format!("mean of {samples} stochastic"),
        };
        let score = |part: &Part| evaluation.of(*part).and_then(|scores| scores.of(network));
        let mut row = vec![Value::from(name)];
        row.extend(parts.iter().map(|part| table::percent(&score(part).map(|score| score.accuracy).into())));
        row.extend(parts.iter().map(|part| Value::from(score(part).map(|score| score.nll))));
        row
    };
    let rows: Vec<Vec<Value>> = evaluation.test.networks().map(row).collect();
    table::write(&mut writer.html, &header, &rows);
}
