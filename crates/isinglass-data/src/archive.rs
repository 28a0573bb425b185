//! `mnist` and `fashion-mnist`: what their files are called, where they are looked for, and what is in them.
//!
//! Both are four IDX files, gzipped or not, in a directory named after the set:
//!
//! ```text
//! DIR/mnist/train-images-idx3-ubyte[.gz]    60 000 images of 28 × 28
//! DIR/mnist/train-labels-idx1-ubyte[.gz]
//! DIR/mnist/t10k-images-idx3-ubyte[.gz]     10 000 images
//! DIR/mnist/t10k-labels-idx1-ubyte[.gz]
//! ```
//!
//! `DIR` is the one given, else the value of `ISINGLASS_DATA`, else the user's cache (see [`data_directory`]).
//!
//! ```
//! use isinglass_data::Archive;
//!
//! let mnist = Archive::named("mnist").unwrap();
//! let error = mnist.load("no/such/directory".as_ref()).unwrap_err();
//! assert!(error.to_string().contains("run `isinglass data fetch mnist`"));
//! ```

use std::env;
use std::ffi::OsString;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use crate::files::{read_images, read_labels};
use crate::verified::Verified;
use crate::{Dataset, Error, Split};

/// A published data set of four IDX files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Its name, and that of its directory.
    pub name: &'static str,
    /// What the classes are, by label.
    pub classes: [&'static str; 10],
    /// Images to train with, as published.
    pub train: usize,
    /// Images to test with, as published.
    pub test: usize,
    /// Training images and labels, test images and labels.
    pub members: [Member; 4],
    /// Where the files are offered, gzipped, in the order to try. Each ends in a slash.
    pub mirrors: &'static [&'static str],
}

/// One file of an [`Archive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The file's name without `.gz`.
    pub file: &'static str,
    /// Length of the raw contents.
    pub length: u64,
    /// SHA-256 of the raw contents: how they are compressed differs from mirror to mirror.
    pub sha256: &'static str,
}

const fn members(sums: [&'static str; 4]) -> [Member; 4] {
    [
        Member { file: "train-images-idx3-ubyte", length: 47_040_016, sha256: sums[0] },
        Member { file: "train-labels-idx1-ubyte", length: 60_008, sha256: sums[1] },
        Member { file: "t10k-images-idx3-ubyte", length: 7_840_016, sha256: sums[2] },
        Member { file: "t10k-labels-idx1-ubyte", length: 10_008, sha256: sums[3] },
    ]
}

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Handwritten digits (LeCun, Cortes, Burges, 1998).
pub const MNIST: Archive = Archive {
    name: "mnist",
    classes: DIGITS,
    train: 60_000,
    test: 10_000,
    members: members([
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ]),
    mirrors: &["https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"],
};

/// Articles of clothing (Xiao, Rasul, Vollgraf, 2017).
pub const FASHION_MNIST: Archive = Archive {
    name: "fashion-mnist",
    classes: ["t-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"],
    train: 60_000,
    test: 10_000,
    members: members([
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ]),
    mirrors: &[
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    ],
};

/// All data sets that can be fetched.
pub const ARCHIVES: [Archive; 2] = [MNIST, FASHION_MNIST];

impl Archive {
    /// The archive of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        ARCHIVES.into_iter().find(|archive| archive.name == name)
    }

    /// The directory of this archive inside a directory of data.
    pub fn directory(&self, data: &Path) -> PathBuf {
        data.join(self.name)
    }

    /// The paths of the four files, gzipped or not; `None` for those not found.
    pub fn find(&self, data: &Path) -> [Option<PathBuf>; 4] {
        self.members.map(|member| member.find(&self.directory(data)))
    }

    /// Reads the data set from a directory of data. Files that are not the published ones are used as they are, and [`Dataset::notices`] says so.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if a file was not found, [`Error::File`] with what is wrong in one.
    pub fn load(&self, data: &Path) -> Result<Dataset, Error> {
        let directory = self.directory(data);
        let mut paths = Vec::with_capacity(4);
        for member in &self.members {
            let path = member.find(&directory);
            paths.push(path.ok_or_else(|| Error::Missing { name: self.name, file: member.file, directory: directory.clone() })?);
        }
        let mut files = Files { verified: Verified::read(), foreign: Vec::new() };
        let mut read_split = |images: usize| -> Result<Split, Error> {
            let (height, width, pixels) = files.read(&self.members[images], &paths[images], read_images)?;
            let labels = files.read(&self.members[images + 1], &paths[images + 1], read_labels)?;
            Split::new(height, width, pixels, labels).map_err(|error| error.in_file(&paths[images]))
        };
        let (train, test) = (read_split(0)?, read_split(2)?);
        files.verified.save();
        let data = Dataset::with_classes(self.name, self.classes.len(), train, test).map_err(|error| error.in_file(&directory))?;
        Ok(data.verified(files.foreign))
    }
}

/// The files of an archive while they are read.
struct Files {
    verified: Verified,
    /// Those that are not the published ones.
    foreign: Vec<&'static str>,
}

impl Files {
    fn read<T>(&mut self, member: &Member, path: &Path, read: fn(&mut dyn BufRead) -> Result<T, Error>) -> Result<T, Error> {
        let (value, is_published) = self.verified.read_member(member, path, read).map_err(|error| error.in_file(path))?;
        if !is_published {
            self.foreign.push(member.file);
        }
        Ok(value)
    }
}

impl Member {
    pub(crate) fn find(&self, directory: &Path) -> Option<PathBuf> {
        [directory.join(self.file), directory.join(self.compressed())].into_iter().find(|path| path.is_file())
    }

    pub(crate) fn compressed(&self) -> String {
        format!("{}.gz", self.file)
    }
}

/// The directory that holds data: the one given, else `ISINGLASS_DATA`, else the user's cache.
///
/// The cache is `$XDG_CACHE_HOME/isinglass` or `~/.cache/isinglass`, on macOS `~/Library/Caches/isinglass`, on Windows `%LOCALAPPDATA%\isinglass`.
///
/// # Errors
///
/// [`Error::NoDirectory`] if there is none of these.
pub fn data_directory(given: Option<&Path>) -> Result<PathBuf, Error> {
    choose_directory(given, set_variable).ok_or(Error::NoDirectory)
}

/// The user's cache, if there is one.
pub(crate) fn user_cache() -> Option<PathBuf> {
    choose_cache(set_variable)
}

fn set_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn choose_directory(given: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    given.map(Path::to_owned).or_else(|| variable("ISINGLASS_DATA").map(PathBuf::from)).or_else(|| choose_cache(variable))
}

fn choose_cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).map(PathBuf::from);
    let cache = if cfg!(windows) {
        path("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        path("HOME").map(|home| home.join("Library/Caches"))
    } else {
        // A path that is not absolute is to be ignored, says the XDG Base Directory Specification.
        path("XDG_CACHE_HOME").filter(|cache| cache.is_absolute()).or_else(|| path("HOME").map(|home| home.join(".cache")))
    };
    cache.map(|cache| cache.join("isinglass"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_headers_and_images() {
        for archive in ARCHIVES {
            let lengths = [16 + 784 * archive.train, 8 + archive.train, 16 + 784 * archive.test, 8 + archive.test];
            assert_eq!(archive.members.map(|member| member.length), lengths.map(|length| length as u64));
            assert!(archive.members.iter().all(|member| member.sha256.len() == 64));
            assert!(archive.mirrors.iter().all(|mirror| mirror.starts_with("https://") && mirror.ends_with('/')));
        }
    }

    #[cfg(not(any(windows, target_os = "macos")))]
    #[test]
    fn the_directory_given_goes_before_the_variable_and_that_before_the_cache() {
        let all = |name: &str| Some(OsString::from(format!("/{name}")));
        assert_eq!(choose_directory(Some(Path::new("here")), all), Some("here".into()));
        assert_eq!(choose_directory(None, all), Some("/ISINGLASS_DATA".into()));
        let only = |names: &'static [&str]| move |name: &str| names.contains(&name).then(|| OsString::from(format!("/{name}")));
        assert_eq!(choose_directory(None, only(&["XDG_CACHE_HOME", "HOME"])), Some("/XDG_CACHE_HOME/isinglass".into()));
        assert_eq!(choose_directory(None, only(&["HOME"])), Some("/HOME/.cache/isinglass".into()));
        assert_eq!(choose_directory(None, only(&[])), None);
    }
}
