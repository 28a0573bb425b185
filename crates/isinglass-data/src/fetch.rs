//! Downloads an [`Archive`]: tries several mirrors, resumes interrupted downloads, and verifies every file.
//!
//! A file arrives as `NAME.gz.part`. Once it is complete and the SHA-256 of its raw contents is the one pinned in the archive, it is renamed. A partial download is
//! resumed (HTTP `Range`), even by a later run; a server without ranges starts again. Files that are present and correct are not downloaded again; files that
//! are present and wrong are an error and left alone.

mod transport;

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::archive::{Archive, Member};
use crate::{Error, contents};
use transport::Response;

/// The progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file.
    pub file: &'a str,
    /// Bytes received.
    pub received: u64,
    /// Length of the file in bytes, if the server says so.
    pub total: Option<u64>,
}

/// A file that is present and verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its path.
    pub path: PathBuf,
    /// Whether it was downloaded now.
    pub downloaded: bool,
}

/// Times a server may interrupt a download before the next mirror is tried, as long as each attempt brings something.
const MOST_CUTS: usize = 100;

/// Fetches the four files of an archive into its directory inside `data`. `mirrors` are addresses to which a file name is appended.
///
/// # Errors
///
/// [`Error::Download`] if no mirror delivers a file; [`Error::File`] if an existing file has other contents, or one cannot be written.
pub fn fetch(archive: &Archive, data: &Path, mirrors: &[&str], progress: &mut dyn FnMut(Progress<'_>)) -> Result<[Fetched; 4], Error> {
    let directory = archive.directory(data);
    fs::create_dir_all(&directory).map_err(|error| Error::Write(error).in_file(&directory))?;
    let mut fetched = Vec::with_capacity(4);
    for member in &archive.members {
        fetched.push(match member.find(&directory) {
            Some(path) => check(member, &path).map(|()| Fetched { path, downloaded: false })?,
            None => download(archive, member, &directory, mirrors, progress)?,
        });
    }
    Ok(fetched.try_into().expect("one for each of four members"))
}

/// Checks that the contents are those published.
fn check(member: &Member, path: &Path) -> Result<(), Error> {
    let found = contents::sha256(path, member.length).map_err(|error| error.in_file(path))?;
    if found == member.sha256 { Ok(()) } else { Err(Error::Checksum { found, expected: member.sha256 }.in_file(path)) }
}

fn download(
    archive: &Archive,
    member: &Member,
    directory: &Path,
    mirrors: &[&str],
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Fetched, Error> {
    let file = member.compressed();
    let path = directory.join(&file);
    let part = directory.join(format!("{file}.part"));
    let mut attempts = Vec::new();
    for mirror in mirrors {
        let slash = if mirror.ends_with('/') { "" } else { "/" };
        let url = format!("{mirror}{slash}{file}");
        let transfer = Transfer { url: &url, file: &file, part: &part, member };
        match transfer.run(progress) {
            Ok(()) => {
                isinglass_files::rename(&part, &path).map_err(|error| Error::Write(error).in_file(&path))?;
                return Ok(Fetched { path, downloaded: true });
            }
            Err(Failure::Here(error @ Error::NoCurl(_))) => return Err(error),
            Err(Failure::Here(error)) => return Err(error.in_file(&part)),
            Err(Failure::There(reason)) => attempts.push(format!("{mirror}: {reason}")),
        }
    }
    if attempts.is_empty() {
        attempts.push("no mirror was given".to_owned());
    }
    Err(Error::Download { name: archive.name, file, attempts: attempts.join("; "), directory: directory.to_owned() })
}

/// Where a download failed: on this machine, or at a mirror, so that another may succeed.
enum Failure {
    Here(Error),
    There(String),
}

/// One file from one mirror.
struct Transfer<'a> {
    url: &'a str,
    file: &'a str,
    part: &'a Path,
    member: &'a Member,
}

impl Transfer<'_> {
    /// Leaves the verified file at the path of the part.
    fn run(&self, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), Failure> {
        // The beginning may come from another mirror that compressed it differently: if so, there is one more chance, from nothing.
        let mut may_restart = true;
        let mut cuts = 0;
        loop {
            let before = self.length();
            let reason = match self.request(before, progress)? {
                None => match check(self.member, self.part) {
                    Ok(()) => return Ok(()),
                    Err(error) => {
                        fs::remove_file(self.part).map_err(|error| Failure::Here(Error::Write(error)))?;
                        if before > 0 && may_restart {
                            may_restart = false;
                            continue;
                        }
                        without_path(error)
                    }
                },
                Some(reason) => {
                    cuts += 1;
                    if self.length() > before && cuts < MOST_CUTS {
                        continue;
                    }
                    reason
                }
            };
            return Err(Failure::There(reason));
        }
    }

    fn length(&self) -> u64 {
        fs::metadata(self.part).map_or(0, |metadata| metadata.len())
    }

    /// Requests what follows the first `have` bytes. `None` if all of it arrived, otherwise the reason.
    fn request(&self, have: u64, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Option<String>, Failure> {
        let response = match transport::get(self.url, have) {
            Err(Failure::There(reason)) => return Ok(Some(reason)),
            response => response?,
        };
        let continued = match response.status {
            200 => false,
            206 if response.range_start == Some(have) => true,
            // Nothing follows: the file is complete or wrong, which the checksum will show.
            416 if have > 0 => return Ok(None),
            status => return Ok(Some(format!("the server answered {status}"))),
        };
        let start = if continued { have } else { 0 };
        let mut options = OpenOptions::new();
        if continued {
            options.append(true)
        } else {
            options.write(true).create(true).truncate(true)
        };
        let mut out = options.open(self.part).map_err(|error| Failure::Here(Error::Write(error)))?;
        self.copy(response, &mut out, start, progress)
    }

    fn copy(
        &self,
        response: Response,
        out: &mut File,
        start: u64,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Option<String>, Failure> {
        // No compression makes a file much longer than it was.
        let most = self.member.length + self.member.length / 100 + 65_536;
        let here = |error| Failure::Here(Error::Write(error));
        let Response { length, body: mut from, .. } = response;
        let total = length.map(|length| start + length);
        let mut buffer = vec![0; 1 << 16];
        let mut received = start;
        let cut = loop {
            progress(Progress { file: self.file, received, total });
            match from.read(&mut buffer) {
                Ok(0) => {
                    break total.filter(|total| *total != received).map(|total| format!("interrupted after {received} of {total} bytes"));
                }
                Ok(n) => {
                    out.write_all(&buffer[..n]).map_err(here)?;
                    received += n as u64;
                }
                Err(error) => break Some(format!("interrupted after {received} bytes ({error})")),
            }
            if received > most {
                out.set_len(0).map_err(here)?;
                break Some(format!("the server sent more than the {most} bytes possible for this file"));
            }
        };
        out.sync_all().map_err(here)?;
        Ok(cut)
    }
}

/// Without the path of the part, which means nothing to the user and no longer exists.
fn without_path(error: Error) -> String {
    match error {
        Error::File { source, .. } => without_path(*source),
        Error::Checksum { found, expected } => format!("it sent a file with SHA-256 {found}, not {expected}"),
        other => other.to_string(),
    }
}
