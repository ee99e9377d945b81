//! Graphs of the emulator: a list of launches, which it runs in order.

use std::sync::Arc;

use super::Emulator;
use crate::device::backend::{Backend, Recorded, Recording};
use crate::device::image::Image;
use crate::device::parameters::Parameters;
use crate::device::tensor_map::RawView;
use crate::{ElementType, Error, Grid};

/// The launches of a graph.
pub(super) struct Launches {
    emulator: Arc<Emulator>,
    launches: Vec<Launch>,
}

struct Launch {
    image: Image,
    grid: Grid,
    parameters: Parameters,
    tensors: Vec<Argument>,
}

/// A tensor that a launch was given.
struct Argument {
    name: &'static str,
    element: ElementType,
    address: u64,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl Argument {
    fn new(&(name, view): &(&'static str, RawView<'_>)) -> Self {
        Argument {
            name,
            element: view.element,
            address: view.address,
            shape: view.shape.to_vec(),
            strides: view.strides.to_vec(),
        }
    }

    fn named(&self) -> (&'static str, RawView<'_>) {
        let view = RawView {
            element: self.element,
            address: self.address,
            shape: &self.shape,
            strides: &self.strides,
        };
        (self.name, view)
    }
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
        parameters: &Parameters,
        tensors: &[(&'static str, RawView<'_>)],
    ) -> Result<(), Error> {
        self.launches.push(Launch {
            image: image.clone(),
            grid,
            parameters: parameters.clone(),
            tensors: tensors.iter().map(Argument::new).collect(),
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
            let tensors: Vec<_> = it.tensors.iter().map(Argument::named).collect();
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
