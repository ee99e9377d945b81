//! Code that the examples share. Each file in this package's `examples` folder is a program.

#![forbid(unsafe_code)]

pub mod layouts;
#[cfg(feature = "sanitize")]
pub mod sanitize;

use std::ffi::OsString;
use std::str::FromStr;

use cute_runtime::Device;
use lexopt::ValueExt;

/// The command line: `--name value`, `--name=value` and `--name`.
pub struct Arguments(lexopt::Parser);

/// An argument of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The name of an option, without its dashes.
    Option(String),
    /// A value that belongs to no option.
    Value(String),
}

impl Arguments {
    /// The arguments of the process.
    pub fn from_env() -> Self {
        Arguments(lexopt::Parser::from_env())
    }

    /// These arguments, without the name of the program.
    pub fn new(arguments: impl IntoIterator<Item = OsString, IntoIter: 'static>) -> Self {
        Arguments(lexopt::Parser::from_args(arguments))
    }

    /// The next argument; `None` after the last one.
    pub fn next_argument(&mut self) -> Result<Option<Argument>, lexopt::Error> {
        Ok(match self.0.next()? {
            None => None,
            Some(lexopt::Arg::Short('h')) => Some(Argument::Option("help".to_string())),
            Some(lexopt::Arg::Long(name)) => Some(Argument::Option(name.to_string())),
            Some(lexopt::Arg::Value(value)) => Some(Argument::Value(value.string()?)),
            Some(other) => return Err(other.unexpected()),
        })
    }

    /// The name of the next option, without its dashes; `None` after the last one.
    pub fn next_option(&mut self) -> Result<Option<String>, lexopt::Error> {
        match self.next_argument()? {
            None => Ok(None),
            Some(Argument::Option(name)) => Ok(Some(name)),
            Some(Argument::Value(value)) => Err(lexopt::Error::UnexpectedArgument(value.into())),
        }
    }

    /// The value of the option that [`next_option`](Arguments::next_option) returned last.
    pub fn value<T>(&mut self) -> Result<T, lexopt::Error>
    where
        T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>>,
    {
        self.0.value()?.parse()
    }
}

/// The value of `--device`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// `auto`: the first GPU that can be used, else the emulator.
    #[default]
    Auto,
    /// `cuda`: GPU 0, or an error.
    Cuda,
    /// `emulator`: the emulator.
    Emulator,
}

impl DeviceChoice {
    /// Opens the device. If the emulator takes the place of a GPU, the reason is printed to standard error.
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
