//! Whether files are the published ones, without summing up the same file twice.
//!
//! Contents are summed up while they are read. What a file came to is remembered in the user's cache, with all that changes when the file does: its path, length, and the times of its
//! last change. A cache that cannot be read or written costs a little time and nothing else.

use std::fs::{self, Metadata};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use isinglass_files::hex;
use sha2::{Digest, Sha256};

use crate::archive::{Member, user_cache};
use crate::{Error, contents};

/// The file in the user's cache.
const FILE: &str = "verified.txt";
/// The most files that are remembered.
const MOST: usize = 100;
/// A file that was changed a moment ago may change once more without its times showing it.
const MOMENT: Duration = Duration::from_secs(3);

/// The files of this user that were summed up before.
pub(crate) struct Verified {
    file: Option<PathBuf>,
    /// `SHA-256 KEY`, oldest first.
    lines: Vec<String>,
    is_changed: bool,
}

impl Verified {
    /// What is remembered.
    pub fn read() -> Self {
        Self::read_from(user_cache().map(|cache| cache.join(FILE)))
    }

    fn read_from(file: Option<PathBuf>) -> Self {
        let text = file.as_ref().filter(|file| file.is_file()).and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        Self { file, lines: text.lines().map(str::to_owned).collect(), is_changed: false }
    }

    /// Reads a file, and says whether it is the published one.
    pub fn read_member<T>(
        &mut self,
        member: &Member,
        path: &Path,
        read: impl FnOnce(&mut dyn BufRead) -> Result<T, Error>,
    ) -> Result<(T, bool), Error> {
        let mut from = contents::open(path)?;
        let metadata = fs::metadata(path).map_err(Error::Read)?;
        // Not the published one, whatever is in it.
        if metadata.len() != member.length && !contents::is_packed(path)? {
            return Ok((read(&mut *from)?, false));
        }
        let key = key(path, &metadata);
        if let Some(known) = key.as_ref().and_then(|key| self.sum_of(key)) {
            let is_published = known == member.sha256;
            return Ok((read(&mut *from)?, is_published));
        }
        let mut summed = Summed { from: &mut *from, sum: Sha256::new() };
        let value = read(&mut summed)?;
        let sum = hex(&summed.sum.finalize());
        let is_settled = metadata.modified().is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > MOMENT));
        if let Some(key) = key.filter(|_| is_settled) {
            self.lines.push(format!("{sum} {key}"));
            self.is_changed = true;
        }
        Ok((value, sum == member.sha256))
    }

    fn sum_of(&self, key: &str) -> Option<&str> {
        self.lines.iter().rev().filter_map(|line| line.split_once(' ')).find(|(_, known)| *known == key).map(|(sum, _)| sum)
    }

    /// Keeps what was summed up, if that can be.
    pub fn save(self) {
        let Some(file) = self.file.filter(|_| self.is_changed) else { return };
        let skipped = self.lines.len().saturating_sub(MOST);
        let text: String = self.lines[skipped..].iter().map(|line| format!("{line}\n")).collect();
        if file.parent().is_some_and(|directory| fs::create_dir_all(directory).is_ok()) {
            let _ = isinglass_files::write(&file, text);
        }
    }
}

/// All that tells one version of a file from another. `None` if there is no such text.
fn key(path: &Path, metadata: &Metadata) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let path = path.to_str().filter(|path| !path.contains('\n'))?;
    let modified = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos();
    Some(format!("{} {modified} {} {path}", metadata.len(), identity(metadata)))
}

/// On Unix, what even a program that sets a file's times cannot set.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    format!("{}:{}:{}.{}", metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> String {
    "-".to_owned()
}

/// Sums up what is read.
struct Summed<'a> {
    from: &'a mut dyn BufRead,
    sum: Sha256,
}

impl Read for Summed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.sum.update(&buffer[..length]);
        Ok(length)
    }
}

impl BufRead for Summed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        // What was filled is still there: filling again reads nothing.
        if let Ok(part) = self.from.fill_buf() {
            self.sum.update(&part[..length]);
        }
        self.from.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sha256_of;

    fn read_all(from: &mut dyn BufRead) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        from.read_until(b'\n', &mut bytes).map_err(Error::Read)?;
        from.read_to_end(&mut bytes).map_err(Error::Read)?;
        Ok(bytes)
    }

    /// A file whose times are those of an hour ago.
    fn write(path: &Path, bytes: &[u8]) {
        fs::write(path, bytes).unwrap();
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }

    #[test]
    fn files_are_summed_up_once_for_every_version() {
        let directory = std::env::temp_dir().join(format!("isinglass-data-verified-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (path, cache) = (directory.join("file"), directory.join("cache/verified.txt"));
        let contents = b"a line\nand more";
        let sum: &'static str = Box::leak(sha256_of(contents).into_boxed_str());
        let member = Member { file: "file", length: contents.len() as u64, sha256: sum };
        let read = |bytes: &[u8]| {
            write(&path, bytes);
            let mut verified = Verified::read_from(Some(cache.clone()));
            let (found, is_published) = verified.read_member(&member, &path, read_all).unwrap();
            assert_eq!(found, bytes);
            let summed = verified.is_changed;
            verified.save();
            (is_published, summed)
        };
        assert_eq!(read(contents), (true, true));
        let again = |expected: (bool, bool)| {
            let mut verified = Verified::read_from(Some(cache.clone()));
            let (_, is_published) = verified.read_member(&member, &path, read_all).unwrap();
            assert_eq!((is_published, verified.is_changed), expected);
        };
        again((true, false));
        // As long as before, and of the same time.
        assert_eq!(read(b"a line\nand morE"), (false, true));
        again((false, false));
        assert_eq!(read(b"longer than the published one"), (false, false));
        // A damaged cache is none.
        fs::write(&cache, b"\xff\n\n 1 2 3\n").unwrap();
        assert_eq!(read(contents), (true, true));
        fs::remove_dir_all(&directory).unwrap();
    }
}
