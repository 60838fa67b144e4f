//! Takes a request to the desk, finds its method, gives its answer.

use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value, json};

use crate::ask::Ask;
use crate::desk::{Call, Desk};
use crate::open::Open;
use crate::reply::{Reply, Trouble};
use crate::{capture, chance, check, describe, digest, events, flows, packets, rows, run, series, why};

const METHODS: &[&str] = &[
    "describe",
    "library",
    "check",
    "edit",
    "run",
    "series",
    "rows",
    "flows",
    "ports",
    "topology",
    "why",
    "events",
    "packets",
    "open",
    "digests",
    "close",
    "intervals",
];

impl Desk {
    /// Answers a request in JSON, `{"id": .., "method": .., "params": {..}}`, by frames: any number of pieces, then `done` or `error`.
    /// `emit` takes them and returns whether anybody still waits; a raised `stop` ends long work within 100 ms.
    pub fn serve(&self, request: &[u8], payload: &[u8], stop: &AtomicBool, emit: &mut dyn FnMut(Vec<u8>) -> bool) {
        let request: Value = match serde_json::from_slice(request) {
            Ok(request) => request,
            Err(error) => {
                emit(Trouble::from(format!("not a request in JSON: {error}")).frame(&Value::Null));
                return;
            }
        };
        let id = &request["id"];
        let none = Map::new();
        let params = match &request["params"] {
            Value::Null => Ok(&none),
            Value::Object(params) => Ok(params),
            _ => Err(Trouble::from("params: expected a table")),
        };
        let answer = params.and_then(|params| {
            let method = request["method"].as_str().ok_or("method is missing: a text")?;
            self.answer(method, params, payload, stop, &mut |piece| emit(piece.frame(id, "piece")))
        });
        match answer {
            Ok(reply) => emit(reply.frame(id, "done")),
            Err(trouble) => emit(trouble.frame(id)),
        };
    }

    /// Answers one method; `emit` takes the pieces before the answer, and returns whether anybody still waits.
    pub fn answer(
        &self,
        method: &str,
        params: &Map<String, Value>,
        payload: &[u8],
        stop: &AtomicBool,
        emit: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<Reply, Trouble> {
        let ask = Ask(params);
        let opened = |with: &dyn Fn(&Open) -> Result<Reply, Trouble>| self.open(ask).and_then(|open| with(&open));
        match method {
            "describe" => Ok(describe::describe(self)),
            "library" => Ok(describe::library(self)),
            "check" => check::check(self, ask),
            "edit" => check::edit(self, ask),
            "run" => run::run(self, Call { ask, stop, emit }),
            "series" => opened(&|open| series::series(open, ask)),
            "rows" => opened(&|open| rows::rows(open, ask)),
            "flows" => opened(&flows::flows),
            "ports" => opened(&flows::ports),
            "topology" => opened(&flows::topology),
            "why" => opened(&|open| why::why(open, ask)),
            "events" => opened(&|open| events::events(open, ask)),
            "packets" => opened(&|open| packets::packets(open, ask, stop)),
            "open" => capture::open(self, Call { ask, stop, emit }, payload),
            "intervals" => chance::intervals(ask, payload, stop),
            "digests" => opened(&|open| Ok(digest::digests(open))),
            "close" => {
                let handle = ask.handle()?;
                self.close(handle);
                Ok(Reply::of(json!({})))
            }
            _ => Err(format!("no method {method:?}: {}", METHODS.join(", ")).into()),
        }
    }
}
