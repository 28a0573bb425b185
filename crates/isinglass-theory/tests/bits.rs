//! The bits of the results are pinned: initialisations are computed from them, and equal seeds must give equal networks on every platform.
//!
//! A change of an algorithm, or of `libm`, changes the numbers below. State it in the changelog.

mod common;

use isinglass_theory::{Advice, MeanField, Model, Neuron, Point};

/// FNV-1a over the bits of the numbers.
#[derive(Clone, Copy)]
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, value: f64) {
        for byte in value.to_bits().to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add_point(&mut self, field: &MeanField) {
        let point = Point::of(field).unwrap();
        let correlation = point.c_star.map(|c| c.deficit());
        for value in [point.q_star.finite(), correlation, point.chi_1, point.chi, point.dq, point.xi_1(), point.xi_c(), point.xi_q()] {
            self.add(value.unwrap_or(-1.0));
        }
    }
}

#[test]
fn results_have_the_same_bits_on_every_platform() {
    let mut found = Vec::new();
    for neuron in ["sign", "probit:0.7", "logistic:1.3", "erf:1.1", "tanh:1.5", "relu"] {
        let mut digest = Digest::new();
        let neuron: Neuron = neuron.parse().unwrap();
        for model in Model::ALL {
            let Ok(network) = isinglass_theory::RandomNetwork::new(model, neuron) else { continue };
            for (sigma2, sigma_b2) in [(0.3, 0.0), (0.9, 0.05), (0.99, 1.0)] {
                let sigma2 = model.weight_variance().symbol().map(|_| sigma2);
                digest.add_point(&network.at(sigma2, sigma_b2).unwrap());
            }
            let advice = Advice::new(&network, 10, 3.0).unwrap();
            for recommendation in [Some(&advice.best), advice.smallest.as_ref()].into_iter().flatten() {
                for value in [recommendation.sigma2, Some(recommendation.sigma_b2), recommendation.signal, recommendation.gradient] {
                    digest.add(value.unwrap_or(-1.0));
                }
            }
        }
        found.push((neuron.to_string(), format!("{:016x}", digest.0)));
    }
    let expected: [(&str, &str); 6] = [
        ("sign", "e10c40efc934d1b4"),
        ("probit:0.7", "7c533b88c6353b37"),
        ("logistic:1.3", "5e22395fb7e1b151"),
        ("erf:1.1", "2f25b241a6ceeb8a"),
        ("tanh:1.5", "24154aa094789b3e"),
        ("relu", "00dc24c496eca119"),
    ];
    assert!(found.iter().zip(expected).all(|(found, expected)| (found.0.as_str(), found.1.as_str()) == expected), "{found:#?}");
}
