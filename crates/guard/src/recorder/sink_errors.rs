// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds sink errors that have not been reported yet.

use std::collections::BTreeMap;

use tenterhook_ledger::SinkReport;

/// Errors that have been reported, by sink.
#[derive(Debug, Default)]
pub struct SinkErrors(BTreeMap<String, String>);

impl SinkErrors {
    /// Returns errors that have not been reported yet. A resolved error is forgotten, so that it is reported again
    /// when it recurs.
    pub fn take_new(&mut self, reports: Vec<SinkReport>) -> Vec<String> {
        let mut messages = Vec::new();
        for SinkReport { sink, size, error } in reports {
            let Some(error) = error.map(|error| error.to_string()) else {
                self.0.remove(&sink);
                continue;
            };
            if self.0.get(&sink) != Some(&error) {
                messages.push(format!("the checkpoint of {size} records did not reach the {sink}: {error}"));
                self.0.insert(sink, error);
            }
        }
        messages
    }
}

#[cfg(test)]
mod tests {
    use tenterhook_ledger::sink::SinkError;

    use super::*;

    fn report(size: u64, error: Option<&str>) -> Vec<SinkReport> {
        let error = error.map(|text| SinkError::Failed(text.to_owned()));
        vec![SinkReport { sink: "witness w1".to_owned(), size, error }]
    }

    #[test]
    fn an_error_of_a_sink_is_reported_when_it_begins_and_when_it_changes() {
        let mut reported = SinkErrors::default();
        let mut new = |size, error| reported.take_new(report(size, error)).len();
        assert_eq!(new(1, None), 0);
        assert_eq!((new(2, Some("no route")), new(3, Some("no route"))), (1, 0));
        assert_eq!(new(4, Some("its cosignature could not be stored")), 1);
        assert_eq!((new(5, None), new(6, Some("no route"))), (0, 1));
    }
}
