//! What the examples share; each file of the `examples` folder of this package is one runnable idea.

#![forbid(unsafe_code)]

use std::str::FromStr;

use cute_runtime::Device;

/// The command line: `--name value`, `--name=value` and `--name`.
pub struct Arguments(lexopt::Parser);

impl Arguments {
    /// The process's arguments.
    pub fn from_env() -> Self {
        Arguments(lexopt::Parser::from_env())
    }

    /// The name of the next option without its dashes; `None` at the end.
    pub fn next_option(&mut self) -> Result<Option<String>, lexopt::Error> {
        match self.0.next()? {
            None => Ok(None),
            Some(lexopt::Arg::Short('h')) => Ok(Some("help".to_string())),
            Some(lexopt::Arg::Long(name)) => Ok(Some(name.to_string())),
            Some(other) => Err(other.unexpected()),
        }
    }

    /// The value of the option that was read last.
    pub fn value<T>(&mut self) -> Result<T, lexopt::Error>
    where
        T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        use lexopt::ValueExt;
        self.0.value()?.parse()
    }
}

/// The value of `--device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU that can be used, else the emulator.
    #[default]
    Auto,
    /// The first GPU.
    Cuda,
    /// The emulator.
    Emulator,
}

impl DeviceChoice {
    /// The device. Where the emulator stands in for a GPU, the reason goes to standard error.
    pub fn open(self) -> Result<Device, cute_runtime::Error> {
        match self {
            DeviceChoice::Auto => {
                let device = Device::default();
                if let Some(reason) = device.fallback_reason() {
                    eprintln!("on the emulator: {reason}");
                }
                Ok(device)
            }
            DeviceChoice::Cuda => Device::cuda(0),
            DeviceChoice::Emulator => Ok(Device::emulator()),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cuda" => Ok(DeviceChoice::Cuda),
            "emulator" => Ok(DeviceChoice::Emulator),
            _ => Err(format!("expected auto, cuda or emulator, found `{text}`")),
        }
    }
}
