# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The minimum cost: a gRPC server that only returns the bytes it receives."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio


async def unary(request: bytes, context: Any) -> bytes:
    return request


async def stream(requests: AsyncIterator[bytes], context: Any) -> None:
    async for request in requests:
        await context.write(request)


async def main(socket: str) -> None:
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
        "Unary": grpc.unary_unary_rpc_method_handler(unary),
        "Stream": grpc.stream_stream_rpc_method_handler(stream),
    }
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("Echo", handlers),))
    server.add_insecure_port(f"unix:{socket}")
    await server.start()
    print("ready", flush=True)
    # Ends with the process that started it.
    await asyncio.to_thread(sys.stdin.read)
    await server.stop(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
