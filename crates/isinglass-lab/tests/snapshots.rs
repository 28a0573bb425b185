//! Pictures as they were when somebody last looked at them, byte for byte.
//!
//! After a change that is meant, `ISINGLASS_BLESS=1 cargo test -p isinglass-lab --test snapshots` writes them anew. Look at them before they are committed: browsers show SVG files.

use std::{fs, path::PathBuf};

use isinglass_chart::Figure;
use isinglass_lab::simulate::{Shown, Simulation, picture};
use isinglass_theory::activation::FieldPair;
use isinglass_theory::{Correlation, Model, Neuron, RandomNetwork};

#[track_caller]
fn assert_snapshot(name: &str, figure: &Figure) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.svg"));
    let svg = figure.to_svg().unwrap();
    if std::env::var_os("ISINGLASS_BLESS").is_some() {
        fs::write(&path, &svg).unwrap();
    }
    // Git may have turned the ends of lines into those of the system.
    let stored = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).replace("\r\n", "\n");
    if let Some((line, (now, before))) = svg.lines().zip(stored.lines()).enumerate().find(|(_, (now, before))| now != before) {
        panic!("{name}.svg, line {}: was\n{before}\nand is\n{now}\n(ISINGLASS_BLESS=1 takes it over)", line + 1);
    }
    assert_eq!(svg.len(), stored.len(), "{name}.svg ends elsewhere");
}

#[test]
fn a_simulation_beside_the_theory() {
    let network = RandomNetwork::new(Model::Deterministic, Neuron::Sign).unwrap();
    let simulation = Simulation {
        width: 60,
        realisations: 10,
        depth: 8,
        start: FieldPair { q_a: 1.0, q_b: 1.0, correlation: Correlation::new(0.5).unwrap() },
        map: vec![0.0, 0.25, 0.5, 0.75, 1.0],
        backwards: false,
        carry: false,
        seed: 1,
        threads: 2,
    };
    let fields = [0.5, 0.99].map(|sigma_m2| network.at(Some(sigma_m2), 0.001).unwrap());
    let measurements = fields.each_ref().map(|field| simulation.run(field, &|_, _| {}).unwrap());
    let comparisons: Vec<_> = fields.iter().zip(&measurements).map(|(field, measurement)| measurement.compare(field).unwrap()).collect();
    let shown = fields.iter().zip(&measurements).zip(&comparisons);
    let shown: Vec<_> = shown.map(|((field, measurement), comparison)| Shown { field, measurement, comparison }).collect();
    assert_snapshot("simulation", &picture(&shown).unwrap());
}
