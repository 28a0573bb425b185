//! The arrays of a layer, and how they become tensors of a file.

use std::ops::Deref;

use isinglass_files::number;
use safetensors::tensor::Dtype;

use crate::LayerSpec;

/// What the optimiser keeps of a layer; arrays it does not need are empty. Matrices have the shape of the means, with padding in an engine and without in a checkpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OptimizerState<Matrix> {
    /// `θ`, where the optimiser does not move the means themselves.
    pub theta: Matrix,
    /// Averages of the gradients of the means.
    pub m: Matrix,
    /// Averages of their squares.
    pub v: Matrix,
    /// The same for the biases.
    pub bias_m: Vec<f32>,
    pub bias_v: Vec<f32>,
    /// Sums over the ends of epochs that are averaged, of what the optimiser moves and of the biases; empty before the first.
    pub sum: Matrix,
    pub bias_sum: Vec<f32>,
}

impl<Matrix> OptimizerState<Matrix> {
    /// The same state with its matrices in another layout.
    pub fn map<Other>(&self, layout: impl Fn(&Matrix) -> Other) -> OptimizerState<Other> {
        OptimizerState {
            theta: layout(&self.theta),
            m: layout(&self.m),
            v: layout(&self.v),
            bias_m: self.bias_m.clone(),
            bias_v: self.bias_v.clone(),
            sum: layout(&self.sum),
            bias_sum: self.bias_sum.clone(),
        }
    }
}

impl OptimizerState<Vec<f32>> {
    /// Checks that training could resume from these: all numbers are finite, and averages of squares are not negative.
    pub fn check(&self, index: usize) -> Result<(), String> {
        let Self { theta, m, v, bias_m, bias_v, sum, bias_sum } = self;
        // In the order of `LAYER_ARRAYS`, after means and biases.
        let arrays = [theta, m, v, bias_m, bias_v, sum, bias_sum];
        for ((name, _), array) in LAYER_ARRAYS[2..].iter().zip(arrays) {
            let least = if ["v", "bias_v"].contains(name) { 0.0 } else { f32::MIN };
            if let Some(wrong) = array.iter().find(|value| !(least..=f32::MAX).contains(*value)) {
                let limit = if least == 0.0 { "averages of squares are finite and not negative" } else { "numbers are finite" };
                return Err(format!("damaged: {} has {}: {limit}", tensor_name(index, name), number(*wrong)));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Shape {
    Matrix,
    Vector,
}

/// The arrays of a layer, in the order in which they are hashed.
const LAYER_ARRAYS: [(&str, Shape); 9] = [
    ("means", Shape::Matrix),
    ("bias", Shape::Vector),
    ("theta", Shape::Matrix),
    ("m", Shape::Matrix),
    ("v", Shape::Matrix),
    ("bias_m", Shape::Vector),
    ("bias_v", Shape::Vector),
    ("sum", Shape::Matrix),
    ("bias_sum", Shape::Vector),
];

/// The arrays of a layer in training, borrowed.
pub(crate) struct StoredLayer<'a> {
    /// In the order of [`LAYER_ARRAYS`].
    arrays: [&'a [f32]; LAYER_ARRAYS.len()],
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<'a> StoredLayer<'a> {
    /// Borrows the arrays of a layer. The rows of all matrices begin `stride` apart.
    pub fn new<Matrix: Deref<Target = [f32]>>(
        spec: &LayerSpec,
        stride: usize,
        means: &'a [f32],
        bias: &'a [f32],
        state: &'a OptimizerState<Matrix>,
    ) -> Self {
        let OptimizerState { theta, m, v, bias_m, bias_v, sum, bias_sum } = state;
        let arrays = [means, bias, theta, m, v, bias_m, bias_v, sum, bias_sum];
        Self { arrays, rows: spec.outputs(), columns: spec.inputs(), stride }
    }

    /// The layer's tensors, named as those of layer `index`.
    pub(super) fn tensors(&self, index: usize) -> [(String, Array<'a>); LAYER_ARRAYS.len()] {
        let Self { arrays, rows, columns, stride } = *self;
        std::array::from_fn(|i| {
            let (name, shape) = LAYER_ARRAYS[i];
            let array = match shape {
                Shape::Matrix => Array::matrix(arrays[i], rows, columns, stride),
                Shape::Vector => Array::vector(arrays[i]),
            };
            (tensor_name(index, name), array)
        })
    }
}

fn tensor_name(index: usize, name: &str) -> String {
    format!("layers.{index}.{name}")
}

/// Means, biases and the optimiser's state of a layer, as they are read.
pub(super) type LayerValues = (Vec<f32>, Vec<f32>, OptimizerState<Vec<f32>>);

/// Reads a layer's arrays in their order. `read` takes the name and shape of a tensor; `missing` makes the error for one that is required.
pub(super) fn read_layer(
    index: usize,
    spec: &LayerSpec,
    mut read: impl FnMut(&str, &[usize]) -> Result<Option<Vec<f32>>, String>,
    missing: impl Fn(&str) -> String,
) -> Result<LayerValues, String> {
    let mut arrays = [const { None }; LAYER_ARRAYS.len()];
    for (array, (name, shape)) in arrays.iter_mut().zip(LAYER_ARRAYS) {
        let shape = match shape {
            Shape::Matrix => &[spec.outputs(), spec.inputs()][..],
            Shape::Vector => &[spec.outputs()],
        };
        *array = read(&tensor_name(index, name), shape)?;
    }
    let [means, bias, theta, m, v, bias_m, bias_v, sum, bias_sum] = arrays;
    let means = means.ok_or_else(|| missing(&tensor_name(index, "means")))?;
    let bias = bias.ok_or_else(|| missing(&tensor_name(index, "bias")))?;
    let [theta, m, v, bias_m, bias_v, sum, bias_sum] = [theta, m, v, bias_m, bias_v, sum, bias_sum].map(Option::unwrap_or_default);
    Ok((means, bias, OptimizerState { theta, m, v, bias_m, bias_v, sum, bias_sum }))
}

/// Rows of numbers in memory, with or without padding between them.
pub(super) struct Array<'a> {
    pub shape: Vec<usize>,
    stride: usize,
    values: Numbers<'a>,
}

enum Numbers<'a> {
    Floats(&'a [f32]),
    Indices(&'a [u32]),
}

impl<'a> Array<'a> {
    /// A matrix whose rows begin `stride` apart.
    pub fn matrix(values: &'a [f32], rows: usize, columns: usize, stride: usize) -> Self {
        Self { shape: vec![rows, columns], stride, values: Numbers::Floats(values) }
    }

    /// A vector.
    pub fn vector(values: &'a [f32]) -> Self {
        Self { shape: vec![values.len()], stride: values.len(), values: Numbers::Floats(values) }
    }

    /// Indices of examples.
    pub fn indices(values: &'a [u32]) -> Self {
        Self { shape: vec![values.len()], stride: values.len(), values: Numbers::Indices(values) }
    }

    pub fn is_empty(&self) -> bool {
        match self.values {
            Numbers::Floats(values) => values.is_empty(),
            Numbers::Indices(values) => values.is_empty(),
        }
    }

    pub fn dtype(&self) -> Dtype {
        match self.values {
            Numbers::Floats(_) => Dtype::F32,
            Numbers::Indices(_) => Dtype::U32,
        }
    }

    /// The bytes of the file.
    pub fn data(&self) -> Vec<u8> {
        match self.values {
            Numbers::Floats(values) => self.bytes_of(values, f32::to_le_bytes),
            Numbers::Indices(values) => self.bytes_of(values, u32::to_le_bytes),
        }
    }

    /// The bytes of these numbers without their padding, written into zeros a row at a time: collecting them one by one took a sixth of the time of a small run.
    fn bytes_of<T: Copy>(&self, values: &[T], to_bytes: impl Fn(T) -> [u8; 4]) -> Vec<u8> {
        let mut data = vec![0; self.data_len()];
        let columns = self.shape.last().copied().unwrap_or(0);
        let rows = data.as_chunks_mut::<4>().0.chunks_exact_mut(columns.max(1));
        for (row, values) in rows.zip(values.chunks_exact(self.stride.max(1))) {
            row.iter_mut().zip(values).for_each(|(bytes, &value)| *bytes = to_bytes(value));
        }
        data
    }

    /// Their length.
    pub fn data_len(&self) -> usize {
        4 * self.shape.iter().product::<usize>()
    }
}
