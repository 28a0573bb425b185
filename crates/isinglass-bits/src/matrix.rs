//! A matrix of spins, one bit each.
//!
//! Spin `j` of a row is bit `j mod 8` of byte `j/8`, counted from the least significant; 1 stands for +1 and 0 for −1.
//! Rows begin at byte boundaries, and unused bits are 0.
//!
//! ```
//! use isinglass_bits::BitMatrix;
//!
//! let matrix = BitMatrix::from_fn(2, 9, |row, column| row == 0 || column == 8);
//! assert_eq!(matrix.row(0), [0b1111_1111, 0b1]);
//! assert_eq!(matrix.row(1), [0, 0b1]);
//! assert_eq!((matrix.spin(1, 7), matrix.spin(1, 8)), (-1, 1));
//! assert_eq!(matrix.row_sum(1), -7);
//! ```

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::Error;

/// Rows of spins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitMatrix {
    rows: usize,
    columns: usize,
    bytes: Vec<u8>,
}

/// The largest number of columns. Sums over a row, even of bytes, stay well within 32 bits.
pub const MAX_COLUMNS: usize = 1 << 20;

impl BitMatrix {
    /// A matrix of packed rows.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are no rows or columns, too many columns, or the wrong number of bytes; [`Error::Padding`] if a bit beyond the last column is set.
    pub fn new(rows: usize, columns: usize, bytes: Vec<u8>) -> Result<Self, Error> {
        let shape = |reason: &str| Err(Error::Shape(format!("a matrix of {rows} × {columns}: {reason}")));
        if rows == 0 || columns == 0 {
            return shape("it needs at least one row and one column");
        }
        if columns > MAX_COLUMNS {
            return shape(&format!("at most {MAX_COLUMNS} columns"));
        }
        let stride = columns.div_ceil(8);
        if rows.checked_mul(stride) != Some(bytes.len()) {
            return shape(&format!("{} bytes, not {stride} for each row", bytes.len()));
        }
        let used = columns % 8;
        if used != 0 && bytes.chunks(stride).any(|row| row[stride - 1] >> used != 0) {
            return Err(Error::Padding);
        }
        Ok(Self { rows, columns, bytes })
    }

    /// Packs spins; `is_up` says which are +1.
    ///
    /// # Panics
    ///
    /// If there are no rows or columns, or too many.
    pub fn from_fn(rows: usize, columns: usize, mut is_up: impl FnMut(usize, usize) -> bool) -> Self {
        let stride = columns.div_ceil(8);
        let mut bytes = vec![0; rows * stride];
        for row in 0..rows {
            for column in 0..columns {
                bytes[row * stride + column / 8] |= u8::from(is_up(row, column)) << (column % 8);
            }
        }
        Self::new(rows, columns, bytes).expect("at least one row and column, and not too many columns")
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of spins in a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All rows, packed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All rows, packed. Writers must keep the bits beyond the columns 0.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// A row, packed.
    pub fn row(&self, row: usize) -> &[u8] {
        let stride = self.columns.div_ceil(8);
        &self.bytes[row * stride..(row + 1) * stride]
    }

    /// One spin, ±1.
    pub fn spin(&self, row: usize, column: usize) -> i8 {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        if self.row(row)[column / 8] >> (column % 8) & 1 == 1 { 1 } else { -1 }
    }

    /// The sum of a row's spins.
    pub fn row_sum(&self, row: usize) -> i64 {
        let ups: u32 = self.row(row).iter().map(|byte| byte.count_ones()).sum();
        2 * i64::from(ups) - self.columns as i64
    }

    /// The number of spins that are +1.
    pub fn ups(&self) -> u64 {
        self.bytes.iter().map(|byte| u64::from(byte.count_ones())).sum()
    }
}
