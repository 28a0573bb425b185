//! Tests of readers with files that are damaged, truncated or made to deceive.
//!
//! A [`Campaign`] takes valid files apart at random and hands the result to a reader. The reader may refuse it, but it may not panic, take more memory than a small
//! multiple of the file's size, or run for long. Input number *n* of a campaign is always the same, so a failure is reproduced by its number alone.
//!
//! `cargo test` tries some ten thousand inputs per reader; `ISINGLASS_FUZZ=10000000` tries that many.
//!
//! [`skip`] is for tests that need what not every machine has.
//!
//! A test that limits memory installs the allocator that counts:
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATIONS: isinglass_fuzz::Allocations = isinglass_fuzz::Allocations;
//!
//! #[test]
//! fn fuzz() {
//!     Campaign::new("idx", [valid_file()]).run(|bytes| drop(idx::read_images(bytes)));
//! }
//! ```

mod allocations;
mod campaign;
mod generator;
mod missing;
mod mutation;
mod safetensors;

pub use allocations::{Allocations, peak_of};
pub use campaign::Campaign;
pub use generator::Generator;
pub use missing::skip;
pub use mutation::mutate;
pub use safetensors::repair_safetensors;
