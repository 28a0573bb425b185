//! Networks with other parameters, and networks as the reference sees them.

use isinglass_net::{InputRule, Network, Preprocessing};

use super::reference;

/// The network with changed parameters: `change` sees the number of every layer, its means and its biases.
pub fn changed(mut network: Network, mut change: impl FnMut(usize, &mut [f32], &mut [f32])) -> Network {
    for index in 0..network.layers().len() {
        let layer = network.layers()[index].clone();
        let (mut means, mut bias) = (layer.means().to_vec(), layer.bias().to_vec());
        change(index, &mut means, &mut bias);
        network.replace_layer(index, layer.with_means(means).unwrap().with_bias(bias).unwrap()).unwrap();
    }
    network
}

/// The network with one offset and scale for all inputs.
pub fn with_preprocessing(mut network: Network, preprocessing: Preprocessing) -> Network {
    network.set_input(InputRule::shared(preprocessing)).unwrap();
    network
}

/// The surrogate in plain `f64`, with the floor of the engine.
pub fn plain(network: &Network, surrogate: reference::Surrogate) -> reference::Network {
    let layers = network.layers().iter().map(|layer| reference::Layer {
        means: layer.rows().map(|row| row.iter().map(|&m| f64::from(m)).collect()).collect(),
        bias: layer.bias().iter().map(|&b| f64::from(b)).collect(),
    });
    reference::Network {
        surrogate,
        layers: layers.collect(),
        tau: network.config().tau,
        floor: 1e-6,
        variance_gradient: true,
        carry: network.config().carry,
    }
}

/// Means `[layer][out][in]` and biases `[layer][out]`, as the oracle takes them.
pub fn oracle_arrays(network: &Network) -> (Vec<Vec<Vec<f64>>>, Vec<Vec<f64>>) {
    plain(network, reference::Surrogate::sign()).layers.into_iter().map(|layer| (layer.means, layer.bias)).unzip()
}
