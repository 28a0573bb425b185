//! Packing cells into tasks: few enough not to flood the scheduler, many enough to be worth a cluster, and each as long as the others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::sweep::plan::longest_first;

/// A task that takes less is hardly worth being scheduled.
const WORTH_A_TASK: f64 = 300.0;
/// More tasks than this are made only if they would take too long.
const USUALLY_ENOUGH: usize = 200;
/// Estimates are rough, nodes differ, and a task loads its data before it begins: this part of the time limit is what cells may be expected to take.
const PART_OF_LIMIT: f64 = 0.5;

/// How cells are packed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Packing {
    /// At most so many cells in a task.
    pub cells_per_task: Option<usize>,
    /// So many tasks, or as many as there are cells.
    pub tasks: Option<usize>,
}

/// What bounds a packing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    /// Tasks that the cluster takes.
    pub most_tasks: usize,
    /// Cores of a task.
    pub cpus: usize,
    /// How long a task may take, in seconds.
    pub time_limit: Option<f64>,
}

/// Packs cells that take so many seconds on one core. Every cell is in one task, no task is empty, the longest task and in it the longest cell come first.
pub(crate) fn pack(seconds: &[f64], packing: &Packing, bounds: &Bounds) -> Vec<Vec<usize>> {
    if seconds.is_empty() {
        return Vec::new();
    }
    let count = count_tasks(seconds, packing, bounds);
    // Also if the cluster takes fewer tasks than so many cells to each come to.
    let room = packing.cells_per_task.map_or(usize::MAX, |most| most.max(seconds.len().div_ceil(count)));
    let mut order: Vec<usize> = (0..seconds.len()).collect();
    longest_first(&mut order, |index| seconds[index]);
    // The longest cell that is left goes to the task that has least to do. Of numbers that are not negative the bits are in the numbers' order.
    let mut tasks = vec![Vec::new(); count];
    let mut least = BinaryHeap::from_iter((0..count).map(|task| Reverse((0u64, 0usize, task))));
    for index in order {
        let Some(Reverse((load, cells, task))) = least.pop() else { break };
        tasks[task].push(index);
        if cells + 1 < room {
            least.push(Reverse(((f64::from_bits(load) + seconds[index]).to_bits(), cells + 1, task)));
        }
    }
    let load = |task: &Vec<usize>| task.iter().map(|&index| seconds[index]).sum::<f64>();
    tasks.sort_by(|a, b| load(b).total_cmp(&load(a)));
    tasks
}

/// How long a task takes, at most one cell to a core.
pub(crate) fn task_seconds(seconds: &[f64], task: &[usize], cpus: usize) -> f64 {
    task.iter().map(|&index| seconds[index]).sum::<f64>() / cpus.max(1) as f64
}

fn count_tasks(seconds: &[f64], packing: &Packing, bounds: &Bounds) -> usize {
    let total = seconds.iter().sum::<f64>() / bounds.cpus.max(1) as f64;
    let count = match (packing.cells_per_task, packing.tasks) {
        (Some(cells), _) => seconds.len().div_ceil(cells.max(1)),
        (None, Some(tasks)) => tasks,
        (None, None) => {
            let worth = ((total / WORTH_A_TASK).ceil() as usize).min(USUALLY_ENOUGH);
            // A number of seconds that is not positive is as good as none.
            let needed =
                bounds.time_limit.filter(|&limit| limit > 0.0).map_or(0, |limit| (total / (PART_OF_LIMIT * limit)).ceil() as usize);
            worth.max(needed)
        }
    };
    count.clamp(1, bounds.most_tasks.clamp(1, seconds.len()))
}

/// Seconds of a time limit as Slurm writes them: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`, `days-hours:minutes:seconds`. `None` if it is
/// none of these, or unlimited.
pub(crate) fn time_limit(text: &str) -> Option<f64> {
    let numbers = |text: &str| text.split(':').map(|part| part.parse::<u32>().ok().map(f64::from)).collect::<Option<Vec<f64>>>();
    if let Some((days, rest)) = text.split_once('-') {
        let days = f64::from(days.parse::<u32>().ok()?);
        let rest = numbers(rest)?;
        let units = [3600.0, 60.0, 1.0];
        return (rest.len() <= 3).then(|| 86_400.0 * days + rest.iter().zip(units).map(|(number, unit)| number * unit).sum::<f64>());
    }
    match numbers(text)?[..] {
        [minutes] => Some(60.0 * minutes),
        [minutes, seconds] => Some(60.0 * minutes + seconds),
        [hours, minutes, seconds] => Some(3600.0 * hours + 60.0 * minutes + seconds),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { most_tasks: 1001, cpus: 1, time_limit: None };

    fn loads(seconds: &[f64], tasks: &[Vec<usize>]) -> Vec<f64> {
        let mut all: Vec<usize> = tasks.concat();
        all.sort_unstable();
        assert_eq!(all, (0..seconds.len()).collect::<Vec<_>>(), "every cell is in one task");
        assert!(tasks.iter().all(|task| !task.is_empty()));
        tasks.iter().map(|task| task_seconds(seconds, task, 1)).collect()
    }

    #[test]
    fn thousands_of_short_cells_make_few_tasks_of_equal_length() {
        // 5000 cells from 1 to 3 seconds: 10000 seconds are 34 tasks of five minutes.
        let seconds: Vec<f64> = (0..5000).map(|index| 1.0 + f64::from(index * 7919 % 5000) / 2500.0).collect();
        let tasks = pack(&seconds, &Packing::default(), &BOUNDS);
        assert_eq!(tasks.len(), 34);
        let loads = loads(&seconds, &tasks);
        assert!(loads[0] - loads[33] < 1.0 && loads[0] < 300.0, "{loads:?}");
        // Each takes twice as many on two cores.
        assert_eq!(pack(&seconds, &Packing::default(), &Bounds { cpus: 2, ..BOUNDS }).len(), 17);
        // A hundred times as long: more tasks are of no use.
        let long: Vec<f64> = seconds.iter().map(|seconds| 100.0 * seconds).collect();
        assert_eq!(pack(&long, &Packing::default(), &BOUNDS).len(), 200);
        // Unless they would not come to their end: a million seconds in halves of an hour.
        assert_eq!(pack(&long, &Packing::default(), &Bounds { time_limit: Some(3600.0), ..BOUNDS }).len(), 556);
        assert_eq!(pack(&long, &Packing::default(), &Bounds { time_limit: Some(60.0), ..BOUNDS }).len(), 1001);
        assert_eq!(pack(&long, &Packing::default(), &Bounds { most_tasks: 10, ..BOUNDS }).len(), 10);
    }

    #[test]
    fn long_cells_have_a_task_each_and_the_longest_is_the_first() {
        let seconds = [4000.0, 9000.0, 2000.0];
        let tasks = pack(&seconds, &Packing::default(), &BOUNDS);
        assert_eq!(tasks, [vec![1], vec![0], vec![2]]);
        assert_eq!(pack(&[1.0], &Packing::default(), &BOUNDS), [vec![0]]);
        assert!(pack(&[], &Packing::default(), &BOUNDS).is_empty());
    }

    #[test]
    fn short_and_long_cells_are_mixed() {
        let seconds = [300.0, 100.0, 100.0, 100.0];
        let tasks = pack(&seconds, &Packing { tasks: Some(2), ..Packing::default() }, &BOUNDS);
        assert_eq!(tasks, [vec![0], vec![1, 2, 3]]);
        // Cells that cost nothing are spread too.
        assert_eq!(pack(&[0.0; 4], &Packing { tasks: Some(2), ..Packing::default() }, &BOUNDS), [vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn a_number_of_cells_or_tasks_can_be_asked_for() {
        let seconds = [10.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        let per_task = |cells| Packing { cells_per_task: Some(cells), tasks: None };
        let tasks = pack(&seconds, &per_task(3), &BOUNDS);
        assert_eq!(tasks.iter().map(Vec::len).max(), Some(3));
        assert_eq!((tasks.len(), loads(&seconds, &tasks)[0]), (3, 10.0));
        assert_eq!(pack(&seconds, &per_task(1), &BOUNDS).len(), 7);
        assert_eq!(pack(&seconds, &per_task(100), &BOUNDS).len(), 1);
        // The cluster's limit comes first: more cells to a task, and all of them.
        let tasks = pack(&seconds, &per_task(1), &Bounds { most_tasks: 2, ..BOUNDS });
        assert_eq!(tasks.len(), 2);
        loads(&seconds, &tasks);
        assert_eq!(pack(&seconds, &Packing { tasks: Some(50), ..Packing::default() }, &BOUNDS).len(), 7);
    }

    #[test]
    fn time_limits_are_read_as_slurm_reads_them() {
        for (text, seconds) in [
            ("90", 5400.0),
            ("1:30", 90.0),
            ("02:00:10", 7210.0),
            ("1-0", 86_400.0),
            ("2-3:30", 2.0 * 86_400.0 + 12_600.0),
            ("0-0:0:5", 5.0),
        ] {
            assert_eq!(time_limit(text), Some(seconds), "{text}");
        }
        for text in ["UNLIMITED", "", "1:2:3:4", "1-", "x-1", "1-2:3:4:5"] {
            assert_eq!(time_limit(text), None, "{text}");
        }
    }
}
