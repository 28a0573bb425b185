//! Fetching, from a small server on this machine that can be told to misbehave.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use isinglass_data::archive::{Archive, MNIST, Member};
use isinglass_data::fetch::{Progress, fetch};
use isinglass_data::{Error, idx, sha256_of};

/// How the server answers.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// As it should.
    Good,
    /// Closes the connection after this many bytes of a body, whatever it promised.
    Cuts(usize),
    /// The same, and sends whole files only.
    CutsWithoutRange(usize),
    /// Sends whole files whatever was asked.
    NoRange,
    /// Knows nothing.
    NotFound,
    /// Sends something else.
    Wrong,
    /// Sends clients elsewhere first.
    Redirects,
}

/// Listens until the process ends; remembers what was asked, as `FILE` or `FILE bytes=7-`.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(files: &[(String, Vec<u8>)], manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/data/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (files, log) = (files.to_vec(), asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &files, manner, &log);
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, files: &[(String, Vec<u8>)], manner: Manner, log: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(request)) = lines.next() else { return };
    let path = request.split(' ').nth(1).unwrap();
    if manner == Manner::Redirects
        && let Some(name) = path.strip_prefix("/data/")
    {
        let head = format!("HTTP/1.1 302 Found\r\nLocation: /elsewhere/{name}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nmoved");
        let _ = stream.write_all(head.as_bytes());
        return;
    }
    let name = path.rsplit('/').next().unwrap().to_owned();
    let headers: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let range = headers.iter().find_map(|line| line.to_ascii_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    log.lock().unwrap().push(range.as_ref().map_or(name.clone(), |range| format!("{name} {range}")));
    let file = files.iter().find(|(known, _)| *known == name).map(|(_, bytes)| bytes.as_slice());
    let Some(file) = file.filter(|_| manner != Manner::NotFound) else {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    };
    let whole_only = matches!(manner, Manner::NoRange | Manner::CutsWithoutRange(_));
    let start = range.filter(|_| !whole_only).map(|range| range.trim_end_matches('-').parse::<usize>().unwrap());
    if start.is_some_and(|start| start >= file.len()) {
        let _ = stream.write_all(b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return;
    }
    let mut body = file[start.unwrap_or(0)..].to_vec();
    if manner == Manner::Wrong {
        body.iter_mut().for_each(|byte| *byte = !*byte);
    }
    let status = match start {
        Some(start) => format!("206 Partial Content\r\nContent-Range: bytes {start}-{}/{}", file.len() - 1, file.len()),
        None => "200 OK".to_owned(),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let sent = match manner {
        Manner::Cuts(n) | Manner::CutsWithoutRange(n) => &body[..n.min(body.len())],
        _ => &body[..],
    };
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent));
}

/// A directory of the test's own, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("isinglass-fetch-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join("mnist").join(name)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("mnist")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FIRST: &str = "train-images-idx3-ubyte.gz";

/// MNIST with one small image to each label, its sums, and its compressed files at the given level.
fn archive(level: u32) -> (Archive, Vec<(String, Vec<u8>)>) {
    let mut raw: [Vec<u8>; 4] = Default::default();
    // What gzip halves (the upper four bits of xorshift, Marsaglia 2003).
    let next = |x: &u32| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 17);
        Some(x ^ (x << 5))
    };
    let noise: Vec<u8> = std::iter::successors(Some(1), next).map(|x| (x >> 28) as u8).take(4_000).collect();
    idx::write_images(&mut raw[0], 20, 20, &noise).unwrap();
    idx::write_labels(&mut raw[1], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    idx::write_images(&mut raw[2], 20, 20, &noise[..400]).unwrap();
    idx::write_labels(&mut raw[3], &[9]).unwrap();
    let mut archive = MNIST;
    let mut files = Vec::new();
    for (member, raw) in archive.members.iter_mut().zip(&raw) {
        *member = Member { sha256: sha256_of(raw).leak(), length: raw.len() as u64, ..*member };
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(raw).unwrap();
        files.push((format!("{}.gz", member.file), encoder.finish().unwrap()));
    }
    (archive, files)
}

fn nothing(_: Progress<'_>) {}

#[test]
fn four_files_arrive_and_are_not_fetched_again() {
    let (archive, files) = archive(6);
    let (server, scratch) = (Server::new(&files, Manner::Good), Scratch::new("good"));
    let mut last = None;
    let mut progress = |progress: Progress<'_>| last = Some((progress.file.to_owned(), progress.received, progress.total));
    let fetched = fetch(&archive, &scratch.0, &[&server.url], &mut progress).unwrap();
    assert!(fetched.iter().all(|file| file.downloaded));
    assert_eq!(fetched[0].path, scratch.file(FIRST));
    let length = files[3].1.len() as u64;
    assert_eq!(last, Some((files[3].0.clone(), length, Some(length))));
    assert_eq!(scratch.names().len(), 4, "no part is left: {:?}", scratch.names());
    assert_eq!(archive.load(&scratch.0).unwrap().train.len(), 10);

    let again = fetch(&archive, &scratch.0, &["http://127.0.0.1:9/"], &mut nothing).unwrap();
    assert!(again.iter().all(|file| !file.downloaded));
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn redirections_are_followed() {
    let (archive, files) = archive(6);
    let (server, scratch) = (Server::new(&files, Manner::Redirects), Scratch::new("redirects"));
    fetch(&archive, &scratch.0, &[&server.url], &mut nothing).unwrap();
    assert!(fs::read(scratch.file(FIRST)).unwrap() == files[0].1);
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn a_cut_connection_is_resumed() {
    let (archive, files) = archive(6);
    let (server, scratch) = (Server::new(&files, Manner::Cuts(800)), Scratch::new("cut"));
    fetch(&archive, &scratch.0, &[&server.url], &mut nothing).unwrap();
    assert!(fs::read(scratch.file(FIRST)).unwrap() == files[0].1);
    assert_eq!(server.asked()[..3], [FIRST.to_owned(), format!("{FIRST} 800-"), format!("{FIRST} 1600-")]);
}

#[test]
fn a_part_outlives_the_program() {
    let (archive, files) = archive(6);
    let scratch = Scratch::new("part");
    // The first mirror never gets beyond its first 700 bytes.
    let stuck = Server::new(&files, Manner::CutsWithoutRange(700));
    let error = fetch(&archive, &scratch.0, &[&stuck.url], &mut nothing).unwrap_err();
    assert!(error.to_string().contains("interrupted after 700"), "{error}");
    assert_eq!(scratch.names(), [format!("{FIRST}.part")]);
    let good = Server::new(&files, Manner::Good);
    fetch(&archive, &scratch.0, &[&good.url], &mut nothing).unwrap();
    assert_eq!(good.asked()[0], format!("{FIRST} 700-"));
    assert_eq!(scratch.names().len(), 4);
}

#[test]
fn a_whole_part_is_only_verified() {
    let (archive, files) = archive(6);
    let (server, scratch) = (Server::new(&files, Manner::Good), Scratch::new("whole"));
    fs::create_dir_all(scratch.0.join("mnist")).unwrap();
    fs::write(scratch.file(&format!("{FIRST}.part")), &files[0].1).unwrap();
    fetch(&archive, &scratch.0, &[&server.url], &mut nothing).unwrap();
    assert_eq!(server.asked()[..2], [format!("{FIRST} {}-", files[0].1.len()), files[1].0.clone()]);
}

#[test]
fn a_server_that_ignores_ranges_starts_again() {
    let (archive, files) = archive(6);
    let (server, scratch) = (Server::new(&files, Manner::NoRange), Scratch::new("norange"));
    fs::create_dir_all(scratch.0.join("mnist")).unwrap();
    fs::write(scratch.file(&format!("{FIRST}.part")), &files[0].1[..100]).unwrap();
    fetch(&archive, &scratch.0, &[&server.url], &mut nothing).unwrap();
    assert!(fs::read(scratch.file(FIRST)).unwrap() == files[0].1);
}

#[test]
fn a_part_of_another_mirror_is_dropped_if_it_does_not_fit() {
    let (archive, files) = archive(6);
    let other = self::archive(0).1;
    let (server, scratch) = (Server::new(&files, Manner::Good), Scratch::new("mixed"));
    fs::create_dir_all(scratch.0.join("mnist")).unwrap();
    for length in [100, files[0].1.len() + 5] {
        let _ = fs::remove_file(scratch.file(FIRST));
        fs::write(scratch.file(&format!("{FIRST}.part")), &[&other[0].1[..], &[0; 4_000]].concat()[..length]).unwrap();
        fetch(&archive, &scratch.0, &[&server.url], &mut nothing).unwrap();
        assert!(fs::read(scratch.file(FIRST)).unwrap() == files[0].1);
    }
}

#[test]
fn the_next_mirror_is_tried() {
    let (archive, files) = archive(6);
    let scratch = Scratch::new("mirrors");
    let mirrors = [Manner::NotFound, Manner::Wrong, Manner::Good].map(|manner| Server::new(&files, manner));
    // Nobody listens on the first one; addresses work without their last slash too.
    let urls = ["http://127.0.0.1:9", mirrors[0].url.trim_end_matches('/'), &mirrors[1].url, &mirrors[2].url];
    fetch(&archive, &scratch.0, &urls, &mut nothing).unwrap();
    assert!(mirrors.iter().all(|mirror| mirror.asked().len() == 4));
}

#[test]
fn wrong_contents_are_refused_with_their_sum() {
    let (archive, files) = archive(6);
    let (server, scratch) = (Server::new(&[(FIRST.to_owned(), b"something else".to_vec())], Manner::Good), Scratch::new("sum"));
    let error = fetch(&archive, &scratch.0, &[&server.url], &mut nothing).unwrap_err().to_string();
    assert!(error.contains(&sha256_of(b"something else")) && error.contains(archive.members[0].sha256), "{error}");
    assert!(scratch.names().is_empty(), "{:?}", scratch.names());

    // What the user put there is left alone.
    fs::write(scratch.file(FIRST), b"mine").unwrap();
    let good = Server::new(&files, Manner::Good);
    let error = fetch(&archive, &scratch.0, &[&good.url], &mut nothing).unwrap_err();
    assert!(error.to_string().contains(&sha256_of(b"mine")), "{error}");
    assert_eq!(fs::read(scratch.file(FIRST)).unwrap(), b"mine");
    assert!(good.asked().is_empty());
}

#[test]
fn an_endless_answer_is_stopped() {
    let (archive, _) = archive(6);
    let (server, scratch) = (Server::new(&[(FIRST.to_owned(), vec![7; 1_000_000])], Manner::Good), Scratch::new("endless"));
    let error = fetch(&archive, &scratch.0, &[&server.url], &mut nothing).unwrap_err().to_string();
    assert!(error.contains("the server sent more than"), "{error}");
}

#[test]
fn without_a_server_the_user_is_told_what_to_do() {
    let (archive, _) = archive(6);
    let scratch = Scratch::new("offline");
    let error = fetch(&archive, &scratch.0, &["http://127.0.0.1:9/"], &mut nothing).unwrap_err();
    assert!(matches!(error, Error::Download { .. }));
    let message = error.to_string();
    let directory = scratch.0.join("mnist");
    for says in [FIRST, "http://127.0.0.1:9/", "without a network, copy the four files of mnist", directory.to_str().unwrap()] {
        assert!(message.contains(says), "{message}");
    }
}
