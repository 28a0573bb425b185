//! What is read as a file, and what is not.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use isinglass_files::{open, read, read_safetensors, read_to_string};

fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("isinglass-files-read-{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_directories_are_refused_at_once() {
    let home = directory("pipe");
    let pipe = home.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(open(&pipe).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(read("/dev/zero").unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(read(&home).unwrap_err().kind(), ErrorKind::IsADirectory);
    assert_eq!(read(home.join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(read("/dev/null").unwrap(), b"");
    fs::remove_dir_all(&home).unwrap();
}

#[test]
fn texts_are_utf_8() {
    let home = directory("text");
    let path = home.join("a.txt");
    fs::write(&path, "größer").unwrap();
    assert_eq!(read_to_string(&path).unwrap(), "größer");
    fs::write(&path, b"\xff").unwrap();
    assert_eq!(read_to_string(&path).unwrap_err().kind(), ErrorKind::InvalidData);
    fs::remove_dir_all(&home).unwrap();
}

#[test]
fn of_files_that_are_no_safetensors_only_the_start_is_read() {
    let home = directory("safetensors");
    let path = home.join("a.safetensors");
    let whole = [&2u64.to_le_bytes()[..], b"{}", &[7; 100]].concat();
    fs::write(&path, &whole).unwrap();
    assert_eq!(read_safetensors(&path).unwrap(), whole);
    for start in [&[0; 9][..], b"12345678{", b"\x02\0\0\0\0\0\0\0["] {
        fs::write(&path, [start, &[0; 100]].concat()).unwrap();
        assert_eq!(read_safetensors(&path).unwrap(), start);
    }
    fs::write(&path, b"{").unwrap();
    assert_eq!(read_safetensors(&path).unwrap(), b"{");
    fs::remove_dir_all(&home).unwrap();
}
