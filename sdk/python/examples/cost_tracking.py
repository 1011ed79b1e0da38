# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds up tokens and cost, and warns above a limit. The daemon does not wait for an `async` hook."""

import logging
from dataclasses import dataclass

from tenterhook import GenerateEndEvent, ModelConfig, TenterhookClient

PRICES = {"small": 0.000001, "large": 0.00002}
"""Dollars per token, by model; set your own prices."""
MUCH = 10.00


@dataclass
class Usage:
    total_tokens: int = 0
    total_cost: float = 0.0


def calculate_cost(model: ModelConfig, tokens: int) -> float:
    return PRICES.get(model.name, max(PRICES.values())) * tokens


def hooks(client: TenterhookClient) -> Usage:
    usage = Usage()

    @client.hook("GenerateEnd", config={"async": True})
    async def cost_tracking(event: GenerateEndEvent) -> None:
        tokens = event.response.usage.total_tokens
        usage.total_tokens += tokens
        usage.total_cost += calculate_cost(event.model, tokens)
        if usage.total_cost > MUCH:
            logging.getLogger("cost").warning("Session cost exceeded $%.0f: $%.2f", MUCH, usage.total_cost)

    return usage


if __name__ == "__main__":
    client = TenterhookClient(name="cost-tracking")
    hooks(client)
    client.run()
