"""What all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the processes that tests start, as in `make test`
settings.register_profile("untimed", deadline=None)  # time decides no test
settings.load_profile("untimed")
gc.set_threshold(100_000)  # as the command line has it


def pytest_collection_finish() -> None:
    """What thousands of modules and tests consist of is no garbage, and is not searched for it again."""
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """Models this small are slower on several threads, much so on a busy machine; and one thread gives one result."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
