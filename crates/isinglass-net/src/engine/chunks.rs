//! The rows of a layer, in chunks for the threads.

use isinglass_pool::{MAX_THREADS, Pool};

use crate::kernels::{LANES, MAX_ROWS, Span, Turn};

/// Splits rows into chunks and hands them to the threads: a thread's number, and its turn. The split affects only the time, not the results.
pub fn over_chunks(pool: &mut Pool, rows: usize, tile_rows: usize, task: &(dyn Fn(usize, Turn) + Sync)) {
    let threads = pool.threads();
    let size = chunk_rows(rows, tile_rows, threads);
    let chunks = rows.div_ceil(size);
    let span = |chunk: usize| Span { first: chunk * size, rows: size.min(rows - chunk * size) };
    let shares = pool.shares(chunks);
    pool.run(chunks, &|worker, chunk| {
        let own = shares.of(worker);
        let next = if own.contains(&chunk) && own.contains(&(chunk + 1)) { span(chunk + 1) } else { Span { first: 0, rows: 0 } };
        task(worker, Turn { span: span(chunk), next, has_others: threads > 1 });
    });
}

/// How many of `threads` threads have a chunk of the layer with most of them; the others would only be in each other's way.
pub fn busy_threads(threads: usize, tile_rows: usize, rows: impl Iterator<Item = usize>) -> usize {
    let threads = threads.clamp(1, MAX_THREADS);
    rows.map(|rows| rows.div_ceil(chunk_rows(rows, tile_rows, threads)).min(threads)).max().unwrap_or(1).max(1)
}

/// The chunk size that minimises the work of the busiest thread; of equal ones the largest, which reads the inputs least often.
fn chunk_rows(rows: usize, tile_rows: usize, threads: usize) -> usize {
    let cost = |size: usize| rows.div_ceil(size).div_ceil(threads) * size.next_multiple_of(tile_rows);
    (1..=MAX_ROWS / LANES).rev().map(|vectors| vectors * LANES).min_by_key(|&size| cost(size)).unwrap_or(MAX_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_is_without_a_chunk() {
        let busy = |threads, rows: &[usize]| busy_threads(threads, 8, rows.iter().copied());
        assert_eq!((busy(2, &[256, 256, 10]), busy(64, &[256, 256, 10]), busy(64, &[17, 10])), (2, 16, 2));
        assert_eq!((busy(0, &[256]), busy(64, &[]), busy(64, &[0]), busy(usize::MAX, &[1 << 20])), (1, 1, 1, MAX_THREADS));
        for (rows, threads) in [16, 100, 501, 784, 1000].into_iter().flat_map(|rows| (1..70).map(move |threads| (rows, threads))) {
            let busy = busy(threads, &[rows, 10]);
            assert!(busy <= threads && rows.div_ceil(chunk_rows(rows, 8, busy)) >= busy, "{rows} rows, {threads} threads: {busy}");
        }
    }

    #[test]
    fn chunks_balance_the_threads() {
        assert_eq!(chunk_rows(256, 8, 2), 64);
        assert_eq!(chunk_rows(10, 8, 2), 16);
        for rows in [1, 100, 501, 784, 1000, 4096] {
            for threads in [1, 2, 4] {
                let size = chunk_rows(rows, 8, threads);
                assert!(size.is_multiple_of(LANES) && size <= MAX_ROWS, "{rows} {threads} {size}");
            }
        }
    }
}
