//! The batch script of a submission.

use std::path::Path;

use super::SlurmError;
use crate::shell;

/// Options of sbatch that a submission sets itself, or could not live with.
const OWN: [&str; 15] = [
    "-a",
    "--array",
    "-c",
    "--cpus-per-task",
    "-J",
    "--job-name",
    "-M",
    "--clusters",
    "-n",
    "--ntasks",
    "-W",
    "--wait",
    "--wrap",
    "--parsable",
    "--test-only",
];

/// What tasks ask the cluster for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resources {
    /// The partition; the cluster's own choice if `None`, as with all that follow.
    pub partition: Option<String>,
    /// How long a task may take, as sbatch understands it.
    pub time: Option<String>,
    /// Cores, and threads, of a task.
    pub cpus_per_task: usize,
    /// Memory of a task.
    pub mem: Option<String>,
    /// Who pays.
    pub account: Option<String>,
    /// The quality of service.
    pub qos: Option<String>,
    /// At most so many tasks at a time.
    pub max_running: Option<usize>,
    /// Other options of sbatch, as they are written in a batch script.
    pub others: Vec<String>,
}

impl Default for Resources {
    fn default() -> Self {
        Self { partition: None, time: None, cpus_per_task: 1, mem: None, account: None, qos: None, max_running: None, others: Vec::new() }
    }
}

impl Resources {
    /// Whether sbatch could be told all of it.
    ///
    /// # Errors
    ///
    /// [`SlurmError::Value`].
    pub fn check(&self) -> Result<(), SlurmError> {
        self.lines().map(drop)
    }

    /// The options that have a flag, with their values.
    fn named(&self) -> impl Iterator<Item = (&'static str, String)> {
        let named = [
            ("cpus-per-task", Some(self.cpus_per_task.max(1).to_string())),
            ("partition", self.partition.clone()),
            ("time", self.time.clone()),
            ("mem", self.mem.clone()),
            ("account", self.account.clone()),
            ("qos", self.qos.clone()),
        ];
        named.into_iter().filter_map(|(option, value)| Some((option, value?)))
    }

    fn lines(&self) -> Result<Vec<String>, SlurmError> {
        let mut lines = Vec::new();
        for (option, value) in self.named() {
            lines.push(format!("#SBATCH --{option}={}", quoted(&format!("--{option}"), &value)?));
        }
        for option in &self.others {
            let refuse = |reason| Err(SlurmError::Value { what: "the option".into(), value: option.clone(), reason });
            if !option.starts_with('-') || option.contains(['\n', '\r']) {
                return refuse("write one or more options of sbatch, such as --constraint=avx512, on one line");
            }
            if words(option).iter().any(|word| is_own(word)) {
                return refuse("it is set by isinglass itself, or has a flag of its own");
            }
            lines.push(format!("#SBATCH {option}"));
        }
        Ok(lines)
    }
}

/// The letters of sbatch that take no value.
const WITHOUT_VALUE: &str = "HhIkOQsvVW";

/// Whether an option of sbatch is one of [`OWN`]: also with its value attached (`-a1-5`), or cut short (`--arr=1-5`), as sbatch allows.
fn is_own(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    if name.starts_with("--") {
        return name.len() > 3 && OWN.iter().any(|own| own.starts_with(name)) || OWN.contains(&name);
    }
    // Letters without a value can be written together, as in `-Ha1`: the first that takes one ends the list.
    let letters = name.strip_prefix('-').unwrap_or_default();
    let last = letters.find(|letter| !WITHOUT_VALUE.contains(letter)).unwrap_or(letters.len());
    letters.chars().take(last + 1).any(|letter| OWN.contains(&format!("-{letter}").as_str()))
}

/// The words of a line, as sbatch and the shell part them: by spaces outside quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quote, mut has_word) = (String::new(), None, false);
    for character in line.chars() {
        match (quote, character) {
            (Some(open), character) if open == character => quote = None,
            (None, '"' | '\'') => (quote, has_word) = (Some(character), true),
            (None, character) if character.is_whitespace() => {
                if has_word {
                    words.push(std::mem::take(&mut word));
                }
                has_word = false;
            }
            (_, character) => {
                word.push(character);
                has_word = true;
            }
        }
    }
    if has_word {
        words.push(word);
    }
    words
}

/// The same options for the command line of sbatch, where they rank above the user's `SBATCH_…` variables, which rank above the script.
pub(crate) fn arguments(job: &Job<'_>, resources: &Resources) -> Result<Vec<String>, SlurmError> {
    let mut arguments = vec![
        format!("--job-name={}", job.name),
        format!("--array={}", array(job, resources)),
        "--nodes=1".to_owned(),
        "--ntasks=1".to_owned(),
        "--requeue".to_owned(),
        "--open-mode=append".to_owned(),
        format!("--output={}", log(job)?),
    ];
    arguments.extend(resources.named().map(|(option, value)| format!("--{option}={value}")));
    arguments.extend(resources.others.iter().flat_map(|option| words(option)));
    Ok(arguments)
}

fn array(job: &Job<'_>, resources: &Resources) -> String {
    let limit = resources.max_running.map(|most| format!("%{}", most.max(1))).unwrap_or_default();
    format!("0-{}{limit}", job.tasks.saturating_sub(1))
}

fn log(job: &Job<'_>) -> Result<String, SlurmError> {
    Ok(path_text(job.directory)?.replace('%', "%%") + "/logs/%a.log")
}

/// What a script is about.
pub(crate) struct Job<'a> {
    /// Its name.
    pub name: &'a str,
    pub tasks: usize,
    /// The program that runs the cells.
    pub executable: &'a Path,
    /// The sweep, and the submission's own directory: absolute.
    pub sweep: &'a Path,
    pub directory: &'a Path,
    /// Where data are looked for first.
    pub data_dir: Option<&'a Path>,
    /// How often a cell saves its state.
    pub checkpoint_seconds: f64,
    /// Variables that the tasks need, also where the cluster does not hand the environment on.
    pub variables: &'a [(String, String)],
}

/// Writes the script.
///
/// The worker takes the shell's place. So it is the worker that gets Slurm's SIGTERM at the time limit, at preemption and from scancel; it then saves the state of its cells.
pub(crate) fn script(job: &Job<'_>, resources: &Resources) -> Result<String, SlurmError> {
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        format!("#SBATCH --job-name={}", job.name),
        format!("#SBATCH --array={}", array(job, resources)),
        "#SBATCH --nodes=1 --ntasks=1".to_owned(),
        "#SBATCH --requeue --open-mode=append".to_owned(),
        format!("#SBATCH --output={}", quoted("the log", &log(job)?)?),
    ];
    lines.extend(resources.lines()?);
    lines.push(String::new());
    for (name, value) in job.variables {
        lines.push(format!("export {name}={}", shell::word(value)));
    }
    lines.push(
        r#"echo "task $SLURM_ARRAY_TASK_ID of job $SLURM_ARRAY_JOB_ID on $SLURMD_NODENAME, start $((${SLURM_RESTART_COUNT:-0} + 1)), $(date -u +%Y-%m-%dT%H:%M:%SZ)""#
            .to_owned(),
    );
    lines.push(format!("exec {} sweep work {} \\", shell::word(path_text(job.executable)?), shell::word(path_text(job.sweep)?)));
    if let Some(directory) = job.data_dir {
        lines.push(format!("  --data-dir {} \\", shell::word(path_text(directory)?)));
    }
    lines.push(format!("  --checkpoint-seconds {} \\", job.checkpoint_seconds));
    let list = path_text(job.directory)?.to_owned() + "/tasks.txt";
    lines.push(format!("  --task-list {} --task \"$SLURM_ARRAY_TASK_ID\" --threads \"$SLURM_CPUS_PER_TASK\"", shell::word(&list)));
    Ok(lines.join("\n") + "\n")
}

fn path_text(path: &Path) -> Result<&str, SlurmError> {
    let refuse = |reason| SlurmError::Value { what: "the path".into(), value: path.display().to_string(), reason };
    path.to_str().ok_or_else(|| refuse("it is not UTF-8"))
}

/// A value as sbatch reads it in a line of a script.
fn quoted(what: &str, value: &str) -> Result<String, SlurmError> {
    let refuse = |reason| Err(SlurmError::Value { what: what.to_owned(), value: value.to_owned(), reason });
    if value.is_empty() {
        return refuse("it is empty");
    }
    // In a file's name a backslash has a meaning that cannot be escaped.
    if value.contains(['\n', '\r', '\\']) {
        return refuse("it has a line break or a backslash");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:+/@%=[]*".contains(c);
    Ok(if value.chars().all(is_plain) { value.to_owned() } else { format!("\"{}\"", value.replace('"', "\\\"")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<'a>(directory: &'a Path) -> Job<'a> {
        Job {
            name: "isinglass-x",
            tasks: 12,
            executable: Path::new("/opt/bin/isinglass"),
            sweep: Path::new("/data/it's 100%"),
            directory,
            data_dir: None,
            checkpoint_seconds: 5.0,
            variables: &[],
        }
    }

    #[test]
    fn a_plain_script_has_what_every_job_needs() {
        let text = script(&job("/data/it's 100%/slurm/x".as_ref()), &Resources::default()).unwrap();
        assert_eq!(
            text,
            r#"#!/bin/sh
#SBATCH --job-name=isinglass-x
#SBATCH --array=0-11
#SBATCH --nodes=1 --ntasks=1
#SBATCH --requeue --open-mode=append
#SBATCH --output="/data/it's 100%%/slurm/x/logs/%a.log"
#SBATCH --cpus-per-task=1

echo "task $SLURM_ARRAY_TASK_ID of job $SLURM_ARRAY_JOB_ID on $SLURMD_NODENAME, start $((${SLURM_RESTART_COUNT:-0} + 1)), $(date -u +%Y-%m-%dT%H:%M:%SZ)"
exec /opt/bin/isinglass sweep work '/data/it'\''s 100%' \
  --checkpoint-seconds 5 \
  --task-list '/data/it'\''s 100%/slurm/x/tasks.txt' --task "$SLURM_ARRAY_TASK_ID" --threads "$SLURM_CPUS_PER_TASK"
"#
        );
    }

    #[test]
    fn resources_are_passed_on() {
        let some = |text: &str| Some(text.to_owned());
        let resources = Resources {
            partition: some("long,short"),
            time: some("1-02:00:00"),
            cpus_per_task: 4,
            mem: some("2G"),
            account: some("a b"),
            qos: some("low"),
            max_running: Some(3),
            others: vec!["--constraint=\"avx2|avx512\" --exclusive".into(), "--nice".into()],
        };
        let variables = [("ISINGLASS_DATA".to_owned(), "/d'".to_owned())];
        let job = Job { data_dir: Some("/data dir".as_ref()), variables: &variables, ..job("/s".as_ref()) };
        let text = script(&job, &resources).unwrap();
        for line in [
            "#SBATCH --array=0-11%3",
            "#SBATCH --cpus-per-task=4",
            "#SBATCH --partition=long,short",
            "#SBATCH --time=1-02:00:00",
            "#SBATCH --mem=2G",
            "#SBATCH --account=\"a b\"",
            "#SBATCH --qos=low",
            "#SBATCH --constraint=\"avx2|avx512\" --exclusive",
            "#SBATCH --nice",
            r"export ISINGLASS_DATA='/d'\'''",
            r"  --data-dir '/data dir' \",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }

    #[test]
    fn flags_are_told_to_sbatch_itself_too() {
        let others = vec!["--constraint=\"avx2|avx512\" --exclusive".into(), "--nice".into()];
        let resources = Resources { partition: Some("a b".into()), max_running: Some(3), others, ..Resources::default() };
        let arguments = arguments(&job("/data/100%/x".as_ref()), &resources).unwrap();
        let expected = [
            "--job-name=isinglass-x",
            "--array=0-11%3",
            "--nodes=1",
            "--ntasks=1",
            "--requeue",
            "--open-mode=append",
            "--output=/data/100%%/x/logs/%a.log",
            "--cpus-per-task=1",
            "--partition=a b",
            "--constraint=avx2|avx512",
            "--exclusive",
            "--nice",
        ];
        assert_eq!(arguments, expected);
    }

    #[test]
    fn what_would_break_a_job_is_refused() {
        let other = |option: &str| Resources { others: vec![option.into()], ..Resources::default() };
        for option in [
            "constraint",
            "--nice\nrm -r x",
            "--array=1-5",
            "--exclusive -a 3",
            "-J name",
            "",
            "-a1-5",
            "--arr=1-5",
            "-Jname",
            "--exclusive \"-a3\"",
        ] {
            let message = other(option).check().unwrap_err().to_string();
            assert!(message.contains("cannot be given to Slurm"), "{option}: {message}");
        }
        let partition = |name: &str| Resources { partition: Some(name.into()), ..Resources::default() };
        assert!(partition("a\nb").check().is_err() && partition("").check().is_err());
        assert!(script(&job(r"/with\backslash".as_ref()), &Resources::default()).is_err());
    }
}
