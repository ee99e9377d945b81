//! Graphs of the emulator: a list of launches, which it runs in order.

use std::sync::Arc;

use super::Emulator;
use crate::device::backend::{Backend, Recorded, Recording};
use crate::device::image::Image;
use crate::device::tensor_map::RawView;
use crate::{Error, Grid};

/// The launches of a graph.
pub(super) struct Launches {
    emulator: Arc<Emulator>,
    launches: Vec<Launch>,
}

struct Launch {
    image: Image,
    grid: Grid,
    parameters: Vec<Vec<u8>>,
    tensors: Vec<(&'static str, RawView)>,
}

impl Launches {
    pub(super) fn new(emulator: Arc<Emulator>) -> Self {
        Launches {
            emulator,
            launches: Vec::new(),
        }
    }
}

impl Recording for Launches {
    fn stream(&self) -> u64 {
        0
    }

    unsafe fn launch(
        &mut self,
        image: &Image,
        grid: Grid,
        parameters: &[Vec<u8>],
        tensors: &[(&'static str, &RawView)],
    ) -> Result<(), Error> {
        let tensors = tensors.iter().map(|&(name, view)| (name, view.clone()));
        self.launches.push(Launch {
            image: image.clone(),
            grid,
            parameters: parameters.to_vec(),
            tensors: tensors.collect(),
        });
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<Box<dyn Recorded>, Error> {
        Ok(self)
    }
}

impl Recorded for Launches {
    unsafe fn launch(&self) -> Result<(), Error> {
        for it in &self.launches {
            let tensors = it.tensors.iter().map(|(name, view)| (*name, view));
            let tensors: Vec<(&'static str, &RawView)> = tensors.collect();
            // SAFETY: the launch was recorded under the promise that the call demands, and the caller promises that the memory
            // is not freed.
            unsafe {
                self.emulator
                    .launch(&it.image, it.grid, &it.parameters, &tensors)?;
            }
        }
        Ok(())
    }
}
