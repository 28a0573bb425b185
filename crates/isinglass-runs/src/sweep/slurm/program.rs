//! Running Slurm's commands.

use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::SlurmError;

/// Questions are answered within this time, or not at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Whether a command is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// A command of Slurm, without the variables that would change what it is asked.
pub(crate) fn command(program: &'static str) -> Command {
    let mut command = Command::new(program);
    let prefix = match program {
        "squeue" => Some("SQUEUE_"),
        _ => None,
    };
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        // Of sbatch's variables, which rank above the script, only those that are in the way: others are the user's way to choose a partition or an account.
        let is_in_the_way = matches!(
            &*name,
            "SBATCH_ARRAY_INX"
                | "SBATCH_JOB_NAME"
                | "SBATCH_NO_REQUEUE"
                | "SBATCH_OPEN_MODE"
                | "SBATCH_OUTPUT"
                | "SBATCH_ERROR"
                | "SBATCH_WAIT"
        );
        if is_in_the_way || prefix.is_some_and(|prefix| name.starts_with(prefix)) {
            command.env_remove(&*name);
        }
    }
    command
}

/// What a command prints, if it succeeds within its time.
pub(crate) fn ask(program: &'static str, args: &[String], patience: Option<Duration>) -> Result<String, SlurmError> {
    let output = run(command(program).args(args), program, patience)?;
    let errors = one_line(program, &String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        let message = if errors.is_empty() { format!("{} and nothing said", output.status) } else { errors };
        return Err(SlurmError::Failed { program, message });
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn run(command: &mut Command, program: &'static str, patience: Option<Duration>) -> Result<Output, SlurmError> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let failed = |error: std::io::Error| SlurmError::Failed { program, message: error.to_string() };
    let mut child = child.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SlurmError::Missing { program },
        _ => failed(error),
    })?;
    // Read beside, so that a long answer does not stop halfway because nobody listens.
    let (out, err) = (listen(child.stdout.take()), listen(child.stderr.take()));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if patience.is_some_and(|patience| began.elapsed() > patience) {
            // If it ends by itself just now, all the better.
            let _ = child.kill();
            let _ = child.wait();
            return Err(SlurmError::Silent { program, seconds: began.elapsed().as_secs() });
        }
        thread::sleep(Duration::from_millis(5));
    };
    Ok(Output { status, stdout: out.join().unwrap_or_default(), stderr: err.join().unwrap_or_default() })
}

fn listen(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // Half an answer is better than none.
            let _ = stream.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// `sbatch: error: no such thing` and the like, in one line and without the prefixes.
fn one_line(program: &str, text: &str) -> String {
    let prefixes = [format!("{program}: error: "), format!("{program}: fatal: "), format!("{program}: ")];
    let lines = text.lines().map(|line| {
        let line = line.trim();
        prefixes.iter().find_map(|prefix| line.strip_prefix(prefix.as_str())).unwrap_or(line)
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The largest number of tasks in an array. Where the cluster does not tell, Slurm's own default.
pub(crate) fn most_tasks() -> Result<usize, SlurmError> {
    const DEFAULT: usize = 1001;
    let answer = ask("scontrol", &["show".into(), "config".into()], Some(PATIENCE)).unwrap_or_default();
    match max_array_size(&answer).unwrap_or(DEFAULT) {
        0 => Err(SlurmError::NoArrays),
        most => Ok(most),
    }
}

/// Indices start from 0 and stay below this.
fn max_array_size(config: &str) -> Option<usize> {
    let line = config.lines().find_map(|line| line.trim_start().strip_prefix("MaxArraySize"))?;
    line.trim_start().strip_prefix('=')?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_arrays_is_found_among_the_settings() {
        assert_eq!(max_array_size("MaxArrayTasks = 5\nMaxArraySize            = 1001\nMaxDBDMsgs = 20008\n"), Some(1001));
        assert_eq!(max_array_size("  MaxArraySize=7"), Some(7));
        assert_eq!(max_array_size("nothing"), None);
    }

    #[test]
    fn errors_are_told_in_one_line() {
        let text = "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified\n";
        let line = "invalid partition specified: nope; Batch job submission failed: Invalid partition name specified";
        assert_eq!(one_line("sbatch", text), line);
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_hangs_is_given_up() {
        let run = |line: &str, patience| run(Command::new("sh").args(["-c", line]), "squeue", Some(Duration::from_millis(patience)));
        assert!(matches!(run("exec sleep 60", 50), Err(SlurmError::Silent { .. })));
        // More than a pipe holds.
        let long = run("yes | head -c 1000000; echo sorry >&2; exit 3", 60_000).unwrap();
        assert_eq!((long.stdout.len(), long.stderr, long.status.code()), (1_000_000, b"sorry\n".to_vec(), Some(3)));
    }
}
