//! A real Slurm cluster of two nodes on this machine, on loopback addresses and in a directory of its own.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The nodes' names.
pub const NODES: [&str; 2] = ["n1", "n2"];

/// The daemons are stopped when this is dropped, also if the test has failed.
pub struct Cluster {
    directory: PathBuf,
}

impl Cluster {
    /// Starts munged, slurmctld and two slurmd, and waits until both nodes are idle.
    pub fn start(directory: &Path) -> Self {
        for part in ["state", "spool", "log", "run", "munge"] {
            fs::create_dir_all(directory.join(part)).unwrap();
        }
        let cluster = Self { directory: directory.to_owned() };
        fs::write(cluster.configuration(), configuration(directory)).unwrap();
        cluster.start_munge();
        cluster.run("slurmctld", &[]);
        for node in NODES {
            cluster.run("slurmd", &["-N", node]);
        }
        cluster.wait_for("both nodes idle", Duration::from_secs(60), || {
            cluster.run("sinfo", &["--noheader", "--Node", "--format=%T"]).lines().filter(|state| *state == "idle").count() == 2
        });
        cluster
    }

    /// The file that all of Slurm's commands read, by the variable `SLURM_CONF`.
    pub fn configuration(&self) -> PathBuf {
        self.directory.join("slurm.conf")
    }

    /// A daemon with a key, a socket and files of its own, so that one that may run already is not in the way.
    fn start_munge(&self) {
        let at = |name: &str| self.directory.join("munge").join(name);
        fs::write(at("key"), random_bytes()).unwrap();
        for (path, mode) in [(at("key"), "400"), (self.directory.join("munge"), "700")] {
            assert!(Command::new("chmod").arg(mode).arg(path).status().unwrap().success());
        }
        let file = |option: &str, name: &str| format!("--{option}={}", at(name).display());
        let files = [
            file("socket", "socket"),
            file("key-file", "key"),
            file("log-file", "log"),
            file("pid-file", "pid"),
            file("seed-file", "seed"),
        ];
        // Forced, since the directory above is one for temporary files, where everybody may write.
        self.run("munged", &[&["--force"][..], &files.each_ref().map(String::as_str)].concat());
    }

    /// The output of one of Slurm's commands, which must succeed.
    #[track_caller]
    pub fn run(&self, program: &str, args: &[&str]) -> String {
        let path = format!("{}:/usr/local/sbin:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
        let output = Command::new(program).args(args).env("PATH", path).env("SLURM_CONF", self.configuration()).output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(output.status.success(), "{program} {args:?}: {}\n{}", String::from_utf8_lossy(&output.stderr), self.logs());
        String::from_utf8(output.stdout).unwrap()
    }

    /// Ends a node without a warning: its daemon, those that watch its tasks, and the tasks. Returns how many tasks there were.
    pub fn kill_node(&self, node: &str) -> usize {
        let tasks: Vec<u32> =
            self.processes().into_iter().filter(|&process| variable(process, "SLURMD_NODENAME").as_deref() == Some(node)).collect();
        let watchers = tasks.iter().filter_map(|&task| parent(task)).filter(|&watcher| name(watcher).as_deref() == Some("slurmstepd"));
        let daemon = self.daemon(&format!("run/slurmd-{node}.pid")).expect("the node runs");
        let watchers: Vec<u32> = watchers.collect();
        for process in [vec![daemon], watchers, tasks.clone()].concat() {
            signal("KILL", process);
        }
        tasks.len()
    }

    /// Waits until something holds; panics with the daemons' logs if it does not in time.
    #[track_caller]
    pub fn wait_for(&self, what: &str, patience: Duration, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < patience, "{what} did not happen in {patience:?}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
        eprintln!("{what}: after {:.2} s", began.elapsed().as_secs_f64());
    }

    /// The last lines of what the daemons say.
    fn logs(&self) -> String {
        let mut text = String::new();
        for entry in fs::read_dir(self.directory.join("log")).into_iter().flatten().flatten() {
            let log = fs::read_to_string(entry.path()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            text += &format!("{}:\n{}\n", entry.path().display(), lines[lines.len().saturating_sub(20)..].join("\n"));
        }
        text
    }

    fn daemon(&self, pid_file: &str) -> Option<u32> {
        fs::read_to_string(self.directory.join(pid_file)).ok()?.trim().parse().ok()
    }

    /// All processes of this cluster: they were started with its configuration, which no other has.
    fn processes(&self) -> Vec<u32> {
        let configuration = self.configuration().display().to_string();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        ids.filter(|&process| process != std::process::id() && variable(process, "SLURM_CONF").as_ref() == Some(&configuration)).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Nodes that have no controller any more start nothing.
        let pid_files = ["run/slurmctld.pid", "run/slurmd-n1.pid", "run/slurmd-n2.pid", "munge/pid"];
        for daemon in pid_files.iter().filter_map(|file| self.daemon(file)) {
            if self.processes().contains(&daemon) {
                signal("TERM", daemon);
            }
        }
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) && !self.processes().is_empty() {
            std::thread::sleep(Duration::from_millis(50));
        }
        for process in self.processes() {
            signal("KILL", process);
        }
    }
}

fn configuration(directory: &Path) -> String {
    let output =
        |program: &str, arg: &str| String::from_utf8(Command::new(program).arg(arg).output().unwrap().stdout).unwrap().trim().to_owned();
    let (host, user) = (output("hostname", "-s"), output("id", "-un"));
    // All are bound before any is free again, so that they differ.
    let listeners = [0; 3].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = listeners.map(|listener| listener.local_addr().unwrap().port());
    let at = directory.display();
    // A node is given up after 10 seconds of silence. A requeued task waits until the credentials of its first start have expired, two minutes by default.
    format!(
        "ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={at}/munge/socket,cred_expire=15
SlurmctldPidFile={at}/run/slurmctld.pid
SlurmdPidFile={at}/run/slurmd-%n.pid
SlurmdSpoolDir={at}/spool/%n
StateSaveLocation={at}/state
SlurmctldLogFile={at}/log/slurmctld.log
SlurmdLogFile={at}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
SlurmctldTimeout=30
InactiveLimit=0
KillWait=10
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2 RealMemory=1000 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
",
        ports[0], ports[1], ports[2]
    )
}

fn random_bytes() -> Vec<u8> {
    use std::io::Read;
    let mut bytes = vec![0; 1024];
    fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

/// A variable that a process was started with.
fn variable(process: u32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{process}/environ")).ok()?;
    let variables = environment.split(|&byte| byte == 0).filter_map(|line| std::str::from_utf8(line).ok());
    variables.filter_map(|line| line.split_once('=')).find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

fn name(process: u32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{process}/comm")).ok()?.trim().to_owned())
}

fn signal(signal: &str, process: u32) {
    // It may have ended by itself.
    let _ = Command::new("kill").arg(format!("-{signal}")).arg(process.to_string()).stderr(std::process::Stdio::null()).status();
}
