//! What a file looks like after it was written, or was not.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use isinglass_files::{NewFile, check, is_temporary, rename, write, write_with};

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("isinglass-files-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).unwrap();
        Self(directory)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_are_created_and_replaced() {
    let home = Scratch::new();
    let path = home.path("a.txt");
    write(&path, "one").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    // A second name keeps the old contents: the new file took the place of the old one and was not written into it.
    fs::hard_link(&path, home.path("b.txt")).unwrap();
    write(&path, "two").unwrap();
    assert_eq!((fs::read(&path).unwrap(), fs::read(home.path("b.txt")).unwrap()), (b"two".to_vec(), b"one".to_vec()));
    assert_eq!(home.names(), ["a.txt", "b.txt"]);
}

#[test]
fn nothing_appears_before_the_end() {
    let home = Scratch::new();
    let path = home.path("a");
    fs::write(&path, "old").unwrap();
    let mut file = NewFile::create(&path).unwrap();
    file.write_all(&[7; 1 << 20]).unwrap();
    assert_eq!((fs::read(&path).unwrap(), home.names()), (b"old".to_vec(), vec![".a.tmp".to_owned(), "a".to_owned()]));
    file.publish().unwrap();
    assert!(fs::read(&path).unwrap() == [7; 1 << 20]);
    assert_eq!(home.names(), ["a"]);
}

#[test]
fn failed_writers_leave_the_old_file_and_nothing_else() {
    let home = Scratch::new();
    let path = home.path("a");
    write(&path, "old").unwrap();
    let failed = write_with(&path, |out| out.write_all(&[1; 100_000]).and(Err(io::Error::other("no more"))));
    assert_eq!(failed.unwrap_err().to_string(), "no more");
    let panicked = std::panic::catch_unwind(|| write_with(home.path("b"), |_| -> io::Result<()> { panic!("on purpose") }));
    assert!(panicked.is_err());
    drop(NewFile::create(&path).unwrap());
    assert_eq!((fs::read(&path).unwrap(), home.names()), (b"old".to_vec(), vec!["a".to_owned()]));
}

#[test]
fn bad_targets_are_refused_before_and_while_writing() {
    let home = Scratch::new();
    fs::write(home.path("file"), "").unwrap();
    fs::create_dir(home.path("directory")).unwrap();
    fs::create_dir(home.path(".blocked.tmp")).unwrap();
    let before = home.names();
    for name in ["missing/a", "file/a", "directory", "directory/", "blocked"] {
        assert!(check(home.path(name)).is_err() && write(home.path(name), "new").is_err(), "{name}");
    }
    check(home.path("file")).unwrap();
    check(home.path("new")).unwrap();
    assert_eq!(home.names(), before);
}

#[test]
fn the_temporary_file_may_lie_elsewhere() {
    let home = Scratch::new();
    fs::create_dir(home.path("run")).unwrap();
    let mut file = NewFile::create_in(&home.path("run"), &home.path("record")).unwrap();
    file.write_all(b"all").unwrap();
    assert!(home.path("run/.record.tmp").exists());
    file.publish().unwrap();
    assert_eq!((fs::read(home.path("record")).unwrap(), fs::read_dir(home.path("run")).unwrap().count()), (b"all".to_vec(), 0));
}

#[test]
fn finished_files_are_renamed() {
    let home = Scratch::new();
    fs::write(home.path("a.part"), "all").unwrap();
    rename(home.path("a.part"), home.path("a")).unwrap();
    assert_eq!(home.names(), ["a"]);
}

/// What the killed child writes.
const TARGET: &str = "ISINGLASS_FILES_TARGET";

#[test]
#[ignore = "run as a child process by the test below"]
fn child_that_dies() {
    let mut file = NewFile::create(Path::new(&std::env::var_os(TARGET).unwrap())).unwrap();
    file.write_all(&[1; 1 << 20]).unwrap();
    std::process::abort();
}

#[test]
fn killed_processes_leave_one_file_and_the_next_writer_replaces_it() {
    let home = Scratch::new();
    let path = home.path("a");
    write(&path, "old").unwrap();
    for _ in 0..3 {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_dies", "--ignored"])
            .env(TARGET, &path)
            .output()
            .unwrap();
        assert!(!child.status.success());
        assert_eq!((fs::read(&path).unwrap(), home.names()), (b"old".to_vec(), vec![".a.tmp".to_owned(), "a".to_owned()]));
        assert!(is_temporary(".a.tmp"));
    }
    write(&path, "new").unwrap();
    assert_eq!((fs::read(&path).unwrap(), home.names()), (b"new".to_vec(), vec!["a".to_owned()]));
}

#[test]
fn concurrent_writers_take_turns() {
    let home = Scratch::new();
    let path = home.path("a");
    // What one writer writes is all the same letter, and longer than any buffer.
    let contents = |letter: u8| vec![letter; 200_000 + usize::from(letter)];
    write(&path, contents(b'a')).unwrap();
    let is_whole = |bytes: &[u8]| bytes == contents(bytes[0]);
    std::thread::scope(|scope| {
        for letter in b'a'..=b'd' {
            let path = &path;
            scope.spawn(move || {
                for round in 0..40 {
                    let bytes = contents(letter);
                    match round % 3 {
                        0 => drop(NewFile::create(path).unwrap()),
                        1 => check(path).unwrap(),
                        _ => write_with(path, |out| bytes.chunks(30_001).try_for_each(|part| out.write_all(part))).unwrap(),
                    }
                }
            });
        }
        for _ in 0..400 {
            let mut bytes = Vec::new();
            fs::File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
            assert!(is_whole(&bytes), "{} bytes, from {} to {}", bytes.len(), bytes[0], bytes[bytes.len() - 1]);
        }
    });
    assert!(is_whole(&fs::read(&path).unwrap()));
    assert_eq!(home.names(), ["a"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn new_files_respect_the_umask_and_replaced_ones_keep_their_mode() {
        let home = Scratch::new();
        fs::write(home.path("plain"), "").unwrap();
        write(home.path("a"), "new").unwrap();
        assert_eq!(mode(&home.path("a")), mode(&home.path("plain")));
        // Stricter than the umask, laxer, and not even writable.
        for bits in [0o600, 0o666, 0o444] {
            fs::set_permissions(home.path("a"), fs::Permissions::from_mode(bits)).unwrap();
            let mut file = NewFile::create(&home.path("a")).unwrap();
            assert_eq!(mode(&home.path(".a.tmp")), bits, "from the beginning");
            file.write_all(b"newer").unwrap();
            file.publish().unwrap();
            assert_eq!(mode(&home.path("a")), bits);
        }
    }

    #[test]
    fn left_over_files_pass_nothing_on() {
        let home = Scratch::new();
        fs::write(home.path("plain"), "").unwrap();
        fs::write(home.path(".a.tmp"), "left over, and longer than what follows").unwrap();
        fs::set_permissions(home.path(".a.tmp"), fs::Permissions::from_mode(0o400)).unwrap();
        fs::hard_link(home.path(".a.tmp"), home.path("other")).unwrap();
        write(home.path("a"), "new").unwrap();
        assert_eq!((fs::read(home.path("a")).unwrap(), mode(&home.path("a"))), (b"new".to_vec(), mode(&home.path("plain"))));
        assert_eq!(fs::read(home.path("other")).unwrap(), b"left over, and longer than what follows");
    }

    #[test]
    fn what_a_link_points_to_is_written() {
        let home = Scratch::new();
        fs::create_dir(home.path("store")).unwrap();
        symlink("store/file", home.path("dangling")).unwrap();
        symlink(home.path("dangling"), home.path("twice")).unwrap();
        symlink("loop", home.path("loop")).unwrap();
        for (link, text) in [("dangling", "one"), ("twice", "two")] {
            write(home.path(link), text).unwrap();
            assert_eq!(fs::read_to_string(home.path("store/file")).unwrap(), text);
            assert!(fs::symlink_metadata(home.path(link)).unwrap().is_symlink());
        }
        assert!(write(home.path("loop"), "").is_err());
        assert_eq!(home.names(), ["dangling", "loop", "store", "twice"]);
        assert_eq!(fs::read_dir(home.path("store")).unwrap().count(), 1);
    }

    #[test]
    fn links_in_place_of_the_temporary_file_are_not_followed() {
        let home = Scratch::new();
        fs::write(home.path("victim"), "precious").unwrap();
        symlink("victim", home.path(".a.tmp")).unwrap();
        write(home.path("a"), "new").unwrap();
        assert_eq!((fs::read(home.path("a")).unwrap(), fs::read(home.path("victim")).unwrap()), (b"new".to_vec(), b"precious".to_vec()));
    }

    #[test]
    fn only_files_are_replaced() {
        assert!(write("/dev/null", "").is_err());
        let home = Scratch::new();
        symlink("/dev/null", home.path("a")).unwrap();
        assert!(write(home.path("a"), "").unwrap_err().to_string().contains("not a regular file"));
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn read_only_directories_are_refused() {
        let home = Scratch::new();
        let directory = home.path("closed");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(directory.join("probe"), "").is_ok() {
            eprintln!("skipped: this user may write to read-only directories");
        } else {
            assert_eq!(write(directory.join("a"), "").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        }
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn directories_that_cannot_be_opened_take_files() {
        let home = Scratch::new();
        let directory = home.path("blind");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o333)).unwrap();
        write(directory.join("a"), "new").unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(fs::read(directory.join("a")).unwrap(), b"new");
    }
}
