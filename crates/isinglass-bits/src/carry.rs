//! Carried sums: a layer adds its sum to that of the layer before.
//!
//! ```text
//! s_i = Σ_j S_ij x_j + s_i of the layer before        if the layer carries
//! s_i = Σ_j S_ij x_j                                  if not
//! x_i = +1  ⇔  s_i ≥ t_i
//! ```
//!
//! Sums are carried in units of `1/√N`, so both layers must have `N` inputs, and `N` neurons that are added one by one.
//! The first layer's sums are of bytes, in other units, so nothing is carried from it; the output layer does not carry.
//! After `m` layers sums lie within `±mN`, which must fit 32 bits.

use alloc::format;
use alloc::vec::Vec;

use crate::{Error, PackedLayer};

/// The largest size of a carried sum: a neuron that is never +1 has a threshold one above it, and that must fit 32 bits.
pub const MAX_SUM: i32 = i32::MAX - 1;

/// The size of a layer, and whether it carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub inputs: usize,
    pub neurons: usize,
    pub carries: bool,
}

impl From<&PackedLayer> for Shape {
    fn from(layer: &PackedLayer) -> Self {
        Self { inputs: layer.inputs(), neurons: layer.neurons(), carries: layer.carries() }
    }
}

/// How many layers' sums add up in each layer of neurons, the first layer first; the output is not among them.
///
/// # Errors
///
/// [`Error::Shape`] if a layer cannot carry, [`Error::Value`] if carried sums may exceed [`MAX_SUM`].
pub(crate) fn summed_layers(shapes: impl IntoIterator<Item = Shape>) -> Result<Vec<usize>, Error> {
    let mut summed: Vec<usize> = Vec::new();
    let mut below: Option<Shape> = None;
    for (index, shape) in shapes.into_iter().enumerate() {
        summed.push(match (below, summed.last()) {
            (Some(below), Some(&layers)) if shape.carries => checked(index, below, shape, layers + 1)?,
            _ if shape.carries => return Err(Error::Shape("layer 0 carries: it has no layer before it".into())),
            _ => 1,
        });
        below = Some(shape);
    }
    Ok(summed)
}

/// `layers`, if a layer can carry so that the sums of this many add up.
fn checked(index: usize, below: Shape, shape: Shape, layers: usize) -> Result<usize, Error> {
    if index == 1 {
        return Err(Error::Shape(
            "layer 1 carries: the sums of layer 0 are of bytes, in other units, so layer 2 is the first that can carry".into(),
        ));
    }
    let size = shape.inputs;
    if [shape.neurons, below.inputs, below.neurons] != [size; 3] {
        let text = |shape: Shape| format!("{} inputs and {} neurons", shape.inputs, shape.neurons);
        return Err(Error::Shape(format!(
            "layer {index} carries, with {}, from a layer with {}: all four numbers must be equal",
            text(shape),
            text(below)
        )));
    }
    // Sizes are those of matrices in memory, so the product does not overflow 64 bits.
    if layers as u64 * size as u64 > MAX_SUM as u64 {
        let most = MAX_SUM as usize / size;
        return Err(Error::Value(format!(
            "layer {index} carries the sums of {layers} layers with {size} inputs: at most {most}, so that they fit 32 bits; let a layer in between not carry"
        )));
    }
    Ok(layers)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn square(size: usize, carries: bool) -> Shape {
        Shape { inputs: size, neurons: size, carries }
    }

    fn chain(size: usize, carrying: usize) -> impl Iterator<Item = Shape> {
        [square(size, false); 2].into_iter().chain(core::iter::repeat_n(square(size, true), carrying))
    }

    #[test]
    fn layers_add_up_until_one_does_not_carry() {
        let carries = [false, false, true, true, false, true, false, false, true];
        assert_eq!(summed_layers(carries.map(|carries| square(7, carries))).unwrap(), [1, 1, 2, 3, 1, 2, 1, 1, 2]);
        assert!(summed_layers([]).unwrap().is_empty());
    }

    #[test]
    fn sums_that_might_not_fit_32_bits_are_refused() {
        // 2047 layers of 2²⁰ inputs are the most; one more gives 2³¹.
        let size = 1 << 20;
        assert_eq!(summed_layers(chain(size, 2046)).unwrap().last(), Some(&2047));
        let error = summed_layers(chain(size, 2047)).unwrap_err().to_string();
        assert!(error.contains("2048 layers with 1048576 inputs: at most 2047"), "{error}");
        // At the limit itself: 2³¹ − 2 is a multiple of 331.
        let (layer, most) = (square(331, true), MAX_SUM as usize / 331);
        assert_eq!(most * 331, MAX_SUM as usize);
        assert_eq!(checked(9, layer, layer, most).unwrap(), most);
        assert!(matches!(checked(9, layer, layer, most + 1), Err(Error::Value(_))));
    }
}
