//! AMX.

use crate::{Avx512, IceLake};

/// Products of tiles of bytes (Sapphire Rapids and later). Proves AMX-TILE and AMX-INT8, that the system lets this process use them, and all that [`IceLake`] proves.
///
/// It has nothing for vectors of floats: [`Amx::avx512`] is what runs those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amx(IceLake);

impl Amx {
    /// The token, if the machine has the instructions and the system permits them, which Linux is asked for when this is called first. Never without the standard library.
    pub fn detect() -> Option<Self> {
        IceLake::detect().filter(|_| permitted()).map(Self)
    }

    /// The token of the instructions that it extends.
    pub fn ice_lake(self) -> IceLake {
        self.0
    }

    /// The token for vectors of floats.
    pub fn avx512(self) -> Avx512 {
        self.0.avx512()
    }
}

#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn permitted() -> bool {
    static PERMITTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *PERMITTED.get_or_init(|| has_tiles() && linux_permits_tiles())
}

#[cfg(not(all(feature = "std", target_os = "linux", not(miri))))]
fn permitted() -> bool {
    false
}

/// AMX-TILE and AMX-INT8 of leaf 7.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn has_tiles() -> bool {
    const TILE_AND_INT8: u32 = 1 << 24 | 1 << 25;
    #[allow(unused_unsafe)] // safe since Rust 1.94
    // SAFETY: AVX2 was detected, so there is a leaf 7.
    let leaf = unsafe { core::arch::x86_64::__cpuid_count(7, 0) };
    leaf.edx & TILE_AND_INT8 == TILE_AND_INT8
}

/// Asks for the state of tiles, 8 KiB that every thread gets when it first uses them: `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`.
#[cfg(all(feature = "std", target_os = "linux", not(miri)))]
fn linux_permits_tiles() -> bool {
    const ARCH_PRCTL: isize = 158;
    const REQUEST_PERMISSION: usize = 0x1023;
    const TILE_DATA: usize = 18;
    let mut result = ARCH_PRCTL;
    // SAFETY: the call touches no memory of the process; a kernel that does not know the request refuses it.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") result,
            in("rdi") REQUEST_PERMISSION,
            in("rsi") TILE_DATA,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result == 0
}
