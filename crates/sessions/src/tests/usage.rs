// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;

fn answered(ms: u64, response: Value) -> Event {
    let mut event = event("s", ms, EventKind::PostModel);
    event.detail.model_response = Some(response);
    event
}

#[test]
fn tokens_add_up_and_have_the_table_s_prices() {
    let table = "version: 1\nprices:\n  - model: known\n    input: 1000\n    output: 10000\n    cache_read: 0\n    cache_write: 0\n";
    let (prices, problems) = PriceTable::with_own("own", table);
    assert!(problems.is_empty(), "{problems:?}");
    let projector = SessionProjector::new(None, Arc::new(prices));
    let feed = SessionFeed { projector, seq: std::cell::Cell::new(0) };
    let anthropic = json!({"model": "known", "usage": {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 5, "context_limit": 310}});
    feed.apply(&answered(1, anthropic), Decision::None);
    let piece = json!({"candidates": [{"content": {}}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9}});
    feed.apply(&answered(2, piece), Decision::None);
    assert_eq!(feed.details(1)["usage"]["answers"], 1, "a piece of a stream is no answer");
    let gemini = json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 110, "candidatesTokenCount": 1, "cachedContentTokenCount": 10}});
    let news = feed.apply(&answered(3, gemini), Decision::None);
    assert_eq!(news[0].0, "usage");
    let usage = feed.details(1)["usage"].clone();
    assert_eq!(
        usage,
        json!({
            "input_tokens": 200, "output_tokens": 21, "cache_read_tokens": 60, "cache_write_tokens": 5, "context_tokens": 110,
            "context_limit": 310, "context_share": 110.0 / 310.0, "cost_usd": 0.3, "unpriced": 1, "answers": 2,
        })
    );
}

#[test]
fn totals_of_a_transcript_are_taken_over_and_never_fall() {
    let feed = SessionFeed::new();
    let reporting = |ms: u64, answers: u64, output: u64| {
        let mut event = event("s", ms, EventKind::PostTool);
        event.detail.usage = Some(TranscriptUsage {
            answers,
            output_tokens: output,
            cost_microusd: output,
            unpriced_answers: 1,
            context_tokens: Some(ms),
            ..TranscriptUsage::default()
        });
        event
    };
    for (ms, answers, output) in [(1, 1, 10), (2, 3, 30), (3, 2, 20), (4, 3, 30)] {
        feed.apply(&reporting(ms, answers, output), Decision::None);
    }
    let expected =
        json!({"output_tokens": 30, "answers": 3, "unpriced": 1, "cost_usd": 0.00003, "context_tokens": 4});
    assert_eq!(feed.details(4)["usage"], expected);
}
