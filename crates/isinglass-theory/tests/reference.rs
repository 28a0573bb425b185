//! Against an independent reference: plain quadrature of the definitions in multiple precision, by `reference/generate.py`, cross-checked with mpmath.
//!
//! It shares no formula with the library: no arcsine law, no mixture, no series.

use isinglass_theory::activation::{Activation, Erf, FieldPair, Phi, Tanh};
use isinglass_theory::{Correlation, RandomNetwork};

/// What the library promises for `erf` and `sign`, and for `tanh` and `logistic`.
const CLOSED_FORM: f64 = 1e-12;
const NUMERICAL: f64 = 1e-10;

/// The rows of a table, as columns by name.
fn rows(table: &'static str) -> impl Iterator<Item = Row> {
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(move |line| Row { names: names.clone(), fields: line.split(',').collect() })
}

struct Row {
    names: Vec<&'static str>,
    fields: Vec<&'static str>,
}

impl Row {
    fn text(&self, name: &str) -> &'static str {
        self.fields[self.names.iter().position(|n| *n == name).unwrap()]
    }

    fn optional(&self, name: &str) -> Option<f64> {
        let text = self.text(name);
        (!text.is_empty()).then(|| text.parse().unwrap())
    }

    fn number(&self, name: &str) -> f64 {
        self.optional(name).unwrap()
    }

    fn phi(&self) -> (Phi, f64) {
        let parameter = self.number("param");
        match self.text("phi") {
            "erf" if parameter == std::f64::consts::FRAC_1_SQRT_2 => (Phi::Erf(Erf::standard()), CLOSED_FORM),
            "erf" => (Phi::Erf(Erf::new(parameter)), CLOSED_FORM),
            "tanh" => (Phi::Tanh(Tanh::new(parameter)), NUMERICAL),
            "sign" => (Phi::Sign, CLOSED_FORM),
            other => panic!("{other}"),
        }
    }

    fn pair(&self) -> FieldPair {
        let correlation = Correlation::from_deficit(self.number("delta")).unwrap();
        FieldPair { q_a: self.number("q_a"), q_b: self.number("q_b"), correlation }
    }
}

/// Compares, and remembers the worst case for the message.
struct Comparison {
    checked: usize,
    failures: Vec<String>,
}

impl Comparison {
    fn new() -> Self {
        Self { checked: 0, failures: Vec::new() }
    }

    fn close(&mut self, row: &Row, what: &str, value: f64, expected: f64, tolerance: f64) {
        self.checked += 1;
        let error = if expected == 0.0 { value.abs() } else { (value / expected - 1.0).abs() };
        if error.is_nan() || error > tolerance {
            self.failures.push(format!("{what} = {value:e}, expected {expected:e}, relative error {error:.1e}: {}", row.fields.join(",")));
        }
    }

    fn finish(self, at_least: usize) {
        assert!(self.checked >= at_least, "only {} numbers were compared", self.checked);
        assert!(self.failures.is_empty(), "{} of {} numbers are off:\n{}", self.failures.len(), self.checked, self.failures.join("\n"));
    }
}

#[test]
fn moments_of_one_field_match_the_reference() {
    let mut comparison = Comparison::new();
    for row in rows(include_str!("reference/single.csv")) {
        let (phi, tolerance) = row.phi();
        let q = row.number("q");
        let moments = phi.moments(q).unwrap();
        let excess = phi.critical_excess(q).unwrap();
        for (name, value) in [
            ("A", moments.mean_square),
            ("one_minus_A", moments.deficit),
            ("B", moments.slope_square),
            ("A_prime", moments.growth),
            ("qB_minus_A", excess),
        ] {
            comparison.close(&row, name, value, row.number(name), tolerance);
        }
    }
    comparison.finish(600);
}

#[test]
fn moments_of_two_fields_match_the_reference() {
    let mut comparison = Comparison::new();
    for row in rows(include_str!("reference/pair.csv")) {
        let (phi, tolerance) = row.phi();
        let pair = row.pair();
        let moments = phi.pair_moments(&pair).unwrap();
        comparison.close(&row, "C", moments.product, row.number("C"), tolerance);
        comparison.close(&row, "1 − C", moments.deficit, row.number("one_minus_C"), tolerance);
        comparison.close(&row, "V", moments.distance, row.number("V"), tolerance);
        let c = row.number("one_minus_c0");
        // At δ = 0 the deficit can be as small as q²: far below the promised 1 − c ≥ 1e-15, where even doubled precision runs out.
        let beyond_promise = pair.correlation.deficit() == 0.0 && c < 1e-20;
        comparison.close(&row, "1 − C²/(A_aA_b)", moments.decorrelation, c * (2.0 - c), if beyond_promise { 1e-5 } else { tolerance });
        if let Some(expected) = row.optional("D") {
            comparison.close(&row, "D", phi.slope_product(&pair).unwrap(), expected, tolerance);
        }
    }
    comparison.finish(1200);
}

#[test]
fn maps_of_all_models_match_the_reference() {
    let mut comparison = Comparison::new();
    let mut models = std::collections::BTreeSet::new();
    for row in rows(include_str!("reference/maps.csv")) {
        models.insert(row.text("model"));
        let neuron = row.text("neuron");
        let tolerance = if neuron.starts_with("tanh") || neuron.starts_with("logistic") { NUMERICAL } else { CLOSED_FORM };
        let network = RandomNetwork::new(row.text("model").parse().unwrap(), neuron.parse().unwrap()).unwrap();
        let field = network.at(row.optional("sigma2"), row.number("sigma_b2")).unwrap();
        let pair = row.pair();
        let next = field.pair_map(&pair).unwrap();
        comparison.close(&row, "q_a'", next.q_a, row.number("q_a_out"), tolerance);
        comparison.close(&row, "q_b'", next.q_b, row.number("q_b_out"), tolerance);
        comparison.close(&row, "q_a'", field.variance_map(pair.q_a).unwrap(), row.number("q_a_out"), tolerance);
        comparison.close(&row, "1 − c'", next.correlation.deficit(), row.number("one_minus_c_out"), tolerance);
        if let Some(expected) = row.optional("chi") {
            comparison.close(&row, "χ", field.chi(pair.q_a, pair.correlation).unwrap(), expected, tolerance);
        }
    }
    assert_eq!(models.len(), 8, "every model appears: {models:?}");
    comparison.finish(500);
}
