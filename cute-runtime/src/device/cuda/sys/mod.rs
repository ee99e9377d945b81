//! The driver: its library, loaded when a program asks for a device, and its functions.
//!
//! The driver's interface is a stable one of C, of which this crate needs a few functions: it has a [table](functions) of them. cudarc has
//! them all, but cargo unites the features that a program's crates ask of it, and it cannot be built with those of one crate that links
//! the driver and of another that loads it.

#![allow(
    non_camel_case_types,
    non_snake_case,
    clippy::too_many_arguments,
    reason = "the interface is the driver's"
)]

mod constants;
mod functions;
mod types;

pub(super) use types::*;

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_void};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use libloading::Library;

use crate::Error;

/// The driver, once it is loaded.
static DRIVER: OnceLock<Driver> = OnceLock::new();

/// The names of the driver's library, in the order in which they are tried. The one without a number may be that of a toolkit, which has
/// no driver behind it.
const LIBRARIES: &[&str] = match cfg!(windows) {
    true => &["nvcuda.dll"],
    false => &["libcuda.so.1", "libcuda.so"],
};

/// Loads the driver, unless it is loaded already.
pub(super) fn load() -> Result<(), Error> {
    if DRIVER.get().is_some() {
        return Ok(());
    }
    let library = LIBRARIES.iter().find_map(|name| open(name));
    let library = library.ok_or(Error::NoDriver)?;
    let driver = Driver::new(&library)?;
    // Another thread may have loaded the same library meanwhile.
    let _ = DRIVER.set(driver);
    Ok(())
}

/// Opens a library, which stays open until the process ends.
fn open(name: &str) -> Option<ManuallyDrop<Library>> {
    // SAFETY: this runs the library's initialisers, which are NVIDIA's own and have no requirements. The library is never closed, so its
    // termination routines do not run.
    let opened = unsafe { open_system(name) };
    opened.ok().map(ManuallyDrop::new)
}

/// # Safety
/// As for [`Library::new`].
#[cfg(not(windows))]
unsafe fn open_system(name: &str) -> Result<Library, libloading::Error> {
    // SAFETY: the caller makes the promise that the call demands.
    unsafe { Library::new(name) }
}

/// Not from the program's or the current folder, where anybody may have put a file of this name.
///
/// # Safety
/// As for [`Library::new`].
#[cfg(windows)]
unsafe fn open_system(name: &str) -> Result<Library, libloading::Error> {
    use libloading::os::windows::{LOAD_LIBRARY_SEARCH_SYSTEM32, Library as Loaded};
    // SAFETY: the caller makes the promise that the call demands.
    unsafe { Loaded::load_with_flags(name, LOAD_LIBRARY_SEARCH_SYSTEM32) }.map(Library::from)
}

macro_rules! driver {
    ($($name:ident($($argument:ident: $ty:ty),*) since $since:literal;)*) => {
        /// The driver's functions, as its library has them.
        struct Driver {
            $($name: unsafe extern "system" fn($($ty),*) -> CUresult,)*
        }

        impl Driver {
            fn new(library: &Library) -> Result<Self, Error> {
                Ok(Self {
                    $($name: {
                        let symbol = stringify!($name);
                        // SAFETY: the driver's interface gives the function of this name this signature.
                        let found = unsafe { library.get(symbol.as_bytes()) };
                        let since = stringify!($since);
                        *found.map_err(|_| Error::DriverSymbol { symbol, since })?
                    },)*
                })
            }
        }

        $(
            /// Calls the driver's function of this name. It returns `CUDA_ERROR_NOT_INITIALIZED` before [`load`] has succeeded.
            ///
            /// # Safety
            /// What the driver's documentation demands.
            pub(super) unsafe fn $name($($argument: $ty),*) -> CUresult {
                match DRIVER.get() {
                    // SAFETY: the caller makes the promise that the call demands.
                    Some(driver) => unsafe { (driver.$name)($($argument),*) },
                    None => CUDA_ERROR_NOT_INITIALIZED,
                }
            }
        )*
    };
}

functions::driver_functions! { driver }

#[cfg(test)]
mod tests {
    use crate::Error;

    macro_rules! versions {
        ($($name:ident($($argument:ident: $ty:ty),*) since $since:literal;)*) => {
            &[$(stringify!($since)),*]
        };
    }

    /// The versions that the functions need, as in `12.8`.
    const VERSIONS: &[&str] = super::functions::driver_functions! { versions };

    #[test]
    fn the_error_names_the_version_that_all_functions_need() {
        let number = |version: &&str| {
            let (major, minor) = version.split_once('.').expect("a version");
            (major.parse::<u32>().unwrap(), minor.parse::<u32>().unwrap())
        };
        let newest = VERSIONS.iter().copied().max_by_key(number).unwrap();
        let error = Error::DriverSymbol {
            symbol: "cuInit",
            since: "2.0",
        };
        let needed = format!("a driver of CUDA {newest} or later is needed");
        assert!(error.to_string().ends_with(&needed), "{error}");
    }
}
