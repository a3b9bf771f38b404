"""Blocks of documents on their way to an index: one is written while the next is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from ..model import Document

WAITING = 2  # blocks, at most, that wait to be written, so that memory stays flat


class BlockWriter(ABC):
    """Adds to an index that nobody searches yet; numbers documents from `first` on."""

    most = 1 << 20  # characters that are written together
    least = 100  # characters that are added for each document, also an empty one

    def __init__(self, first: int) -> None:
        self._next, self._characters = first, 0
        self._block: list[Document] = []
        self._dropped: list[int] = []
        self._thread = ThreadPoolExecutor(1)
        self._sent: deque[Future[None]] = deque()

    def add(self, document: Document) -> None:
        """Add `document` under the next number."""
        self._block.append(document)
        shown = len(document.id) + len(document.title) + len(document.text) + len(document.url)
        self._characters += self.least + shown
        if self._characters >= self.most:
            self._send()

    def drop(self, number: int) -> None:
        """Drop the document that was added under `number`, now or before."""
        self._dropped.append(number)

    def commit(self, *, one_segment: bool) -> None:
        """Write all that waits, without what was dropped; `one_segment` merges."""
        self._send()
        self._wait(0)
        self._finish(one_segment)

    def close(self) -> None:
        """Close the index; what was not committed does not stay."""
        for block in self._sent:
            block.cancel()
        self._thread.shutdown()

    def _send(self) -> None:
        """Hand a block to the thread that writes; documents are read meanwhile."""
        block, self._block, self._characters = self._block, [], 0
        if block:
            write = self._prepared(block, self._next)
            self._next += len(block)
            self._wait(WAITING)
            self._sent.append(self._thread.submit(write))

    def _wait(self, left: int) -> None:
        while len(self._sent) > left:
            self._sent.popleft().result()

    @abstractmethod
    def _prepared(self, block: list[Document], first: int) -> Callable[[], None]:
        """Return what the thread does to write `block`, whose first document is number `first`."""

    @abstractmethod
    def _finish(self, one_segment: bool) -> None:
        """Write what was dropped, and let all be searched."""
