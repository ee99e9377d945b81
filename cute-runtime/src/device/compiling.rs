//! What is done beside compiling a kernel: its PTX is written to the folder that the environment variable `CUTE_DUMP_PTX` names, and how
//! long it took is [told](super::tell).

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use super::image::Image;
use super::tell::{Level, is_told, tell};

/// The environment variable.
const DUMP: &str = "CUTE_DUMP_PTX";

/// What is told is of this target.
const TARGET: &str = "cute_runtime::compile";

/// The value that `compile` makes of a kernel, after its PTX was written. Tells how long it took, and what `report` says of it.
pub(super) fn compiling<T, E>(
    image: &Image,
    compile: impl FnOnce() -> Result<T, E>,
    report: impl FnOnce(&T) -> String,
) -> Result<T, E> {
    dump(image);
    let start = Instant::now();
    let made = compile()?;
    if is_told(Level::Info, TARGET) {
        let (name, report) = (image.name, report(&made));
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let what = format_args!("compiled `{name}` in {milliseconds:.1} ms: {report}");
        tell(Level::Info, TARGET, what);
    }
    Ok(made)
}

fn dump(image: &Image) {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| std::env::var_os(DUMP).map(PathBuf::from));
    if let Some(folder) = folder
        && let Err(error) = write(folder, image)
    {
        let folder = folder.display();
        let what = format_args!("`{}` is not written to {folder}: {error}", image.name);
        tell(Level::Warn, TARGET, what);
    }
}

/// Writes the PTX to a file that is named after the kernel and, since instances share names, after the text.
fn write(folder: &Path, image: &Image) -> io::Result<()> {
    let mut hash = DefaultHasher::new();
    image.ptx.hash(&mut hash);
    fs::create_dir_all(folder)?;
    let name = format!("{}-{:016x}.ptx", image.name, hash.finish());
    fs::write(folder.join(name), image.ptx)
}
