//! Ctrl-C and SIGTERM ask a run to stop after its step; the second one ends the process at once, which harms nothing.
//!
//! Once nobody listens any more, signals do what they did before.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};

const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];

/// Those who listen now.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// Whether, and by which signal, the process was asked to stop.
#[derive(Debug)]
pub struct Signals {
    asked: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
    registered: Vec<SigId>,
}

impl Signals {
    /// Listens from now on, as long as this lives.
    pub fn listen() -> io::Result<Self> {
        keep_defaults()?;
        LISTENERS.fetch_add(1, Ordering::SeqCst);
        // From here on dropping it undoes everything.
        let mut signals = Self { asked: Arc::default(), number: Arc::default(), registered: Vec::new() };
        for signal in SIGNALS {
            // In this order: the first signal finds the flag unset, the second finds it set.
            signals.registered.push(flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&signals.asked))?);
            signals.registered.push(flag::register_usize(signal, Arc::clone(&signals.number), signal as usize)?);
            signals.registered.push(flag::register(signal, Arc::clone(&signals.asked))?);
        }
        Ok(signals)
    }

    /// Becomes true when a signal arrives.
    pub fn asked(&self) -> &AtomicBool {
        &self.asked
    }

    /// The signal's number.
    pub fn number(&self) -> u8 {
        self.number.load(Ordering::Relaxed) as u8
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            low_level::unregister(id);
        }
        LISTENERS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Sees to it that signals end the process while nobody listens, if they did before. The handler of `signal-hook` stays once it is there, and calls the one before it, if there is
/// one (such as Python's), but knows nothing of the system's default.
fn keep_defaults() -> io::Result<()> {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if *done {
        return Ok(());
    }
    for signal in SIGNALS.into_iter().filter(|&signal| ends_the_process(signal)) {
        let unless_heard = move || {
            if LISTENERS.load(Ordering::SeqCst) == 0 {
                let _ = low_level::emulate_default_handler(signal);
            }
        };
        // SAFETY: the handler reads an atomic and calls a function that is documented to be async-signal-safe.
        unsafe { low_level::register(signal, unless_heard) }?;
    }
    *done = true;
    Ok(())
}

/// Whether a signal has the system's default handler, and not another or none.
#[cfg(unix)]
fn ends_the_process(signal: i32) -> bool {
    // SAFETY: all zeros are a valid `sigaction`, and with a null pointer for the new handler the old one is written to it and nothing is changed.
    let handler = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &mut action) == 0).then_some(action.sa_sigaction)
    };
    handler == Some(libc::SIG_DFL)
}

#[cfg(not(unix))]
fn ends_the_process(_: i32) -> bool {
    true
}
