//! Ctrl-C and SIGTERM ask a run to stop after its step; the second one ends it at once, which harms nothing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether, and by which signal, the process was asked to stop.
#[derive(Debug)]
pub struct Signals {
    asked: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> io::Result<Self> {
        let (asked, number) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset, the second finds it set.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
            flag::register_usize(signal, Arc::clone(&number), signal as usize)?;
            flag::register(signal, Arc::clone(&asked))?;
        }
        Ok(Self { asked, number })
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
