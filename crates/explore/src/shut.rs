//! What a scenario of a page may not bring along, and why: each refusal names its own reason.

use std::sync::Arc;

use elephan_cc::guest::{Factory, Interpreter, Spec};
use elephan_scenario::Source;
use serde_json::{Map, Value};

/// Refuses all code that a scenario brings along.
#[derive(Debug)]
struct NoCode(&'static str);

impl Interpreter for NoCode {
    fn load(&self, _: &Spec) -> Result<Arc<dyn Factory>, String> {
        Err(self.0.to_owned())
    }

    fn look_for(&self, _: &str, _: &Map<String, Value>) -> Result<(), String> {
        Err(self.0.to_owned())
    }
}

/// Returns a source whose scenario may read no files and run no code; `files` and `code` say why.
pub fn without_files_and_code(source: Source, files: &'static str, code: &'static str) -> Source {
    source.without_files(files).with_interpreter(Arc::new(NoCode(code)))
}
