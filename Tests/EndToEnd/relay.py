"""A TCP relay that can stop passing anything on, without a word to either side: what a closed lid or lost Wi-Fi looks like."""

import asyncio


class Relay:
    def __init__(self, host):
        self.host = host
        self.passing = asyncio.Event()
        self.passing.set()
        self._tasks = set()

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", self.host.port)
        for source, sink in ((reader, other_writer), (other_reader, writer)):
            task = asyncio.create_task(self._pass(source, sink))
            self._tasks.add(task)

    async def _pass(self, source, sink):
        try:
            while data := await source.read(65536):
                await self.passing.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        # A closed end is not told while nothing passes.
        await self.passing.wait()
        sink.close()
