//! Files that appear complete or not at all.
//!
//! ```
//! # let directory = std::env::temp_dir().join(format!("isinglass-files-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory).unwrap();
//! # let path = directory.join("model.bin");
//! use std::io::Write;
//! isinglass_files::write(&path, b"all of it")?;
//! isinglass_files::write_with(&path, |out| out.write_all(b"a large file, piece by piece"))?;
//! # assert_eq!(std::fs::read(&path)?, b"a large file, piece by piece");
//! # std::fs::remove_dir_all(&directory).unwrap();
//! # std::io::Result::Ok(())
//! ```
//!
//! The contents go to a temporary file in the target's directory, which is synced and then renamed; see [`NewFile`] for what that guarantees.
//! [`hex`], [`nearest`] and [`number`] need no standard library, so `no_std` crates can depend on this one without default features.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod hex;
mod nearest;
#[cfg(feature = "std")]
mod new_file;
mod number;
#[cfg(feature = "std")]
mod path;
#[cfg(feature = "std")]
mod temporary;

pub use hex::hex;
pub use nearest::{did_you_mean, nearest};
#[cfg(feature = "std")]
pub use new_file::{NewFile, check, rename, write, write_with};
pub use number::number;
#[cfg(feature = "std")]
pub use path::{directory_of, open, read, read_safetensors, read_to_string};
#[cfg(feature = "std")]
pub use temporary::{is_temporary, is_temporary_of};
