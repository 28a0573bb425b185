//! A training run: curves, scores, insides, settings.

use std::fs;
use std::path::Path;

use isinglass_net::NetworkConfig;
use serde_json::{Value, json};

use super::section::{Section, Writer, shown};
use super::source::{Kind, check_regular};
use super::sweep::duration;
use super::{ReportError, table};
use isinglass_runs::run::{CONFIG, METRICS, RunConfig, SUMMARY, curves, insides, read_config, read_metrics, read_summary};

pub(super) fn read(directory: &Path, mut writer: Writer) -> Result<Section, ReportError> {
    for file in [CONFIG, METRICS, SUMMARY] {
        check_regular(&directory.join(file))?;
    }
    let config = read_config(directory)?;
    let summary = read_summary(directory)?;
    let metrics = if directory.join(METRICS).is_file() { read_metrics(directory)? } else { Vec::new() };
    let start = metrics.iter().find(|line| line["kind"] == "start").cloned().unwrap_or(Value::Null);
    let epochs = metrics.iter().filter(|line| line["kind"] == "epoch").count();
    let remark = summary.is_none().then(|| format!("not finished: {epochs} of {} epochs", config.epochs));
    if let Some(remark) = &remark {
        writer.html.element("p", &[("class", "notice")], &format!("This run is {remark}."));
    }
    let known = summary.clone().unwrap_or_else(|| so_far(&config, &start));
    write_facts(&config, &known, &start, epochs, &mut writer);
    if summary.is_some() {
        write_scores(&known, &mut writer);
    }
    if epochs > 0 {
        writer.chart(Ok(curves(&known, &metrics)), "Learning curves", "Loss, accuracy and schedules over the epochs.");
    }
    if summary.is_some() {
        let caption = "Means and neurons after training, and the variance of the fields beside the theory's, layer by layer.";
        writer.chart(insides(&known), "Insides of the network", caption);
    }
    let path = directory.join(CONFIG);
    let text = fs::read_to_string(&path).map_err(|source| ReportError::Read { path, source })?;
    writer.text_file("Settings", &text);
    let name = shown(directory);
    Ok(writer.finish(Kind::Run, format!("Run {name}"), name, remark))
}

/// What is known of a network before there is a summary.
fn so_far(config: &RunConfig, start: &Value) -> Value {
    let size = |key: &str| start["data"][key].as_u64().map_or("?".to_owned(), |size| size.to_string());
    let hidden = NetworkConfig { hidden: config.hidden_layers(), ..NetworkConfig::default() }.hidden_shape();
    let neuron = config.neuron.map(|neuron| neuron.to_string()).unwrap_or_default();
    json!({
        "data": config.data,
        "network": {
            "shape": format!("{}-{hidden}-{}", size("inputs"), size("classes")),
            "surrogate": config.surrogate.to_string(),
            "neuron": neuron,
        },
    })
}

fn write_facts(config: &RunConfig, known: &Value, start: &Value, epochs: usize, writer: &mut Writer) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seconds = known["seconds"].as_f64().map(duration).unwrap_or_default();
    let initialisation = &known["initialisation"];
    let variance = initialisation["sigma_m2"].as_f64().map(|_| format!(", σ² = {}", table::text(&initialisation["sigma_m2"])));
    let drawn = match &initialisation["distribution"] {
        Value::String(distribution) => format!("{distribution}{} ({})", variance.unwrap_or_default(), text(&initialisation["reason"])),
        _ => config.init.map(|init| init.to_string()).unwrap_or_default(),
    };
    let notices: Vec<String> = known["notices"].as_array().into_iter().flatten().map(text).collect();
    writer.facts([
        (
            "network",
            format!(
                "{}, {}, {}",
                text(&known["network"]["shape"]),
                text(&known["network"]["surrogate"]),
                text(&known["network"]["neuron"])
            ),
        ),
        ("data", text(&known["data"])),
        ("initialisation", drawn),
        ("epochs", format!("{epochs} of {}", config.epochs)),
        ("seed", config.seed.to_string()),
        ("version", text(&start["version"])),
        ("time of training", seconds),
        ("note", notices.join(" ")),
    ]);
}

fn write_scores(summary: &Value, writer: &mut Writer) {
    let parts: Vec<&str> = ["test", "train", "validation"].into_iter().filter(|part| summary[*part].is_object()).collect();
    let mut header = vec!["network".to_owned()];
    for score in ["accuracy", "loss"] {
        header.extend(parts.iter().map(|part| format!("{part} {score}")));
    }
    let row = |name: String, of: &dyn Fn(&str) -> Value| {
        let mut row = vec![Value::from(name)];
        row.extend(parts.iter().map(|part| table::percent(&of(part)["accuracy"])));
        row.extend(parts.iter().map(|part| of(part)["nll"].clone()));
        row
    };
    let mut rows = vec![row("surrogate".into(), &|part| summary[part]["surrogate"].clone())];
    if summary["test"]["binary"].is_object() {
        rows.push(row("binary, sign(M)".into(), &|part| summary[part]["binary"].clone()));
    }
    for (index, sampled) in summary["test"]["stochastic"].as_array().into_iter().flatten().enumerate() {
        let name = format!("mean of {} stochastic", table::text(&sampled["samples"]));
        rows.push(row(name, &|part| summary[part]["stochastic"][index].clone()));
    }
    table::write(&mut writer.html, &header, &rows);
}
