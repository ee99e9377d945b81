//! Any text is a value that prints and reads back the same, or an error within the text.
#![no_main]

use cute_algebra::Value;
use cute_algebra::notation::eval_str;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match eval_str(text) {
        // Truth values, words and lists are results only.
        Ok(Value::Bool(_) | Value::Word(_) | Value::List(_)) => {}
        Ok(value) => assert_eq!(eval_str(&value.to_string()).as_ref(), Ok(&value)),
        Err(error) => {
            assert!(text.get(error.at.clone()).is_some(), "{error:?}");
            assert!(!error.render(text).is_empty());
        }
    }
});
