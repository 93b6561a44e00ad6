"""Sentences through a parser: killed, cut short, or spread over a cluster, the answers are the same."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client, Security

from espalier.io.errors import ConfigError
from espalier.io.files import read_json, write_json
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.parser import Refused
from espalier.syntax.parsers.registry import save_parser
from pipeline.graph import dask_shards, shards

WORDS = ["今天", "天气", "真好", "我们", "去", "公园", "看", "花", "你", "喜欢", "什么", "茶"]


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parsers") / "jieba"
    save_parser(folder, "jieba", None, {})
    return folder


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ESPALIER_SCHEDULER", raising=False)
    monkeypatch.setenv("ESPALIER_WORKERS", "1")
    monkeypatch.setattr(shards, "SHARD_SIZE", 16)


def sentences(count: int) -> list[str]:
    return [
        "".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 2 + number % 7)) for number in range(count)
    ]


def test_each_sentence_has_its_own_answer_in_its_place(parser: Path, tmp_path: Path) -> None:
    asked = ["我们喝茶", "", "我们喝茶", "花"]
    answers = shards.parse_all(asked, parser, tmp_path).answers
    assert answers == [*shards._loaded(str(parser)).parse(asked)]
    assert isinstance(answers[1], Refused) and isinstance(answers[0], Parse) and "".join(answers[0].words) == "我们喝茶"


def test_words_are_parsed_as_they_stand(parser: Path, tmp_path: Path) -> None:
    asked = [("我们喝", "茶"), (), ("花",), ("我们喝", "茶")]
    answers = shards.parse_all(asked, parser, tmp_path).answers
    assert answers == shards._loaded(str(parser)).parse(asked)
    assert isinstance(answers[0], Parse) and answers[0].words == ("我们喝", "茶")
    assert isinstance(answers[1], Refused)
    again = shards.parse_all(["我们喝茶"], parser, tmp_path).answers  # no shard of words answers for a text
    assert isinstance(again[0], Parse) and again[0].words == ("我们", "喝茶")


def test_a_killed_run_loses_no_finished_shard(parser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = sentences(300)
    whole = shards.parse_all(asked, parser, tmp_path / "whole").answers
    parsed: list[int] = []
    real = shards.parse_shard

    def dying(folder: str, part: list[str]) -> Any:
        if len(parsed) == 3:
            raise KeyboardInterrupt
        parsed.append(len(part))
        return real(folder, part)

    monkeypatch.setattr(shards, "parse_shard", dying)
    with pytest.raises(KeyboardInterrupt):
        shards.parse_all(asked, parser, tmp_path / "cut")
    done = {file: file.stat().st_mtime_ns for file in (tmp_path / "cut").rglob("*.parquet")}
    assert len(done) == 3
    parsed[:] = []
    monkeypatch.setattr(shards, "parse_shard", lambda folder, part: parsed.append(len(part)) or real(folder, part))
    again = shards.parse_all(asked, parser, tmp_path / "cut")
    assert again.answers == whole
    assert sum(parsed) == len(set(asked)) - 3 * 16
    assert all(file.stat().st_mtime_ns == time_ for file, time_ in done.items())


def test_shards_of_another_parser_are_not_used_again(parser: Path, tmp_path: Path) -> None:
    asked, scratch = sentences(20), tmp_path / "scratch"
    shards.parse_all(asked, parser, scratch)
    other = tmp_path / "other"
    description = read_json(parser / "parser.json")
    write_json(other / "parser.json", description | {"signature": "jieba of another release"})
    assert shards.parse_all(asked, other, scratch).speed["sentences"] == len(set(asked))
    assert shards.parse_all(asked, parser, scratch).speed["sentences"] == 0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
    ) as made:
        yield made


def test_a_cluster_gives_the_same_parses_though_a_worker_is_killed_in_mid_run(
    parser: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = sentences(2000)
    expected = shards._loaded(str(parser)).parse(asked)
    monkeypatch.setattr(shards, "SHARD_SIZE", 1)
    monkeypatch.setenv("ESPALIER_SCHEDULER", cluster.scheduler_address)
    victim = next(iter(cluster.workers.values())).pid
    files = tmp_path / "shards"

    def kill() -> None:
        while not files.exists() or len(list(files.glob("*/[!.]*"))) < 5:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)  # where no shard is parsed, it waits for ever
    killer.start()
    answers = shards.parse_all(asked, parser, files).answers
    killer.join()
    assert answers == expected
    assert victim not in {worker.pid for worker in cluster.workers.values()}


def test_two_processes_give_what_one_gives(parser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = sentences(100)
    monkeypatch.setenv("ESPALIER_WORKERS", "2")
    assert shards.parse_all(asked, parser, tmp_path).answers == shards._loaded(str(parser)).parse(asked)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "tcp://", "ftp://127.0.0.1:1"])
def test_a_scheduler_that_is_not_there_is_one_line(
    parser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("ESPALIER_SCHEDULER", address)
    monkeypatch.setattr("pipeline.graph.dask_shards.TIMEOUT", 1)
    with pytest.raises(ConfigError, match=r"no Dask scheduler answers there; start"):
        shards.parse_all(["花"], parser, tmp_path)


@pytest.mark.parametrize("address", ["nowhere", "tcp://", "ftp://127.0.0.1:1"])
def test_a_malformed_address_makes_no_client_whose_finalizer_holds_up_the_next(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_shards, "Client", lambda *_, **__: pytest.fail("a client was made"))
    with pytest.raises(ConfigError, match="no Dask scheduler answers there"):
        dask_shards.scheduler_client(address, timeout=1, where=address, remedy="")


def test_no_number_of_workers_is_one_line(parser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER_WORKERS", "many")
    with pytest.raises(ConfigError, match="'many' is not a number of workers"):
        shards.parse_all(["花"], parser, tmp_path)


def test_workers_that_join_a_cluster_have_shards_at_once(tmp_path: Path) -> None:
    from distributed import LocalCluster, get_worker

    from pipeline.graph.dask_shards import SHARDS_PER_WORKER, by_dask

    def where(parser: str, part: list[str]) -> list[str]:
        time.sleep(0.2)
        return [get_worker().address]

    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        parts = ((number, ["花"]) for number in range(16))
        ended = by_dask(where, parts, tmp_path, cluster.scheduler_address, 1)
        first = [next(ended), next(ended)]
        cluster.scale(4)
        cluster.wait_for_workers(4)
        places = [place for _, (place,) in [*first, *ended]]
    assert len(places) == 16
    late = [place for place in places if place != places[0]]
    assert len(set(late)) == 3 and len(late) > SHARDS_PER_WORKER


@pytest.mark.timeout(60)
def test_a_shard_that_ends_while_the_workers_are_counted_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client, LocalCluster

    from pipeline.graph.dask_shards import by_dask

    counted = Client.scheduler_info

    def slowly(self: Client, **options: Any) -> Any:
        time.sleep(0.2)  # in which other shards end
        return counted(self, **options)

    monkeypatch.setattr(Client, "scheduler_info", slowly)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
    ) as cluster:
        parts = ((number, ["花"]) for number in range(12))
        ended = by_dask(lambda parser, part: part, parts, tmp_path, cluster.scheduler_address, 1)
        assert sorted(number for number, _ in ended) == list(range(12))


def test_the_scheduler_of_this_machine_takes_no_code_from_others_and_its_page_is_open_to_it_alone() -> None:
    def listened() -> set[tuple[str, int]]:
        return {tuple(each.laddr) for each in psutil.Process().net_connections() if each.status == "LISTEN"}

    before = listened()
    with dask_shards._client(None, 1) as client:
        opened = listened() - before
        address = client.scheduler.address.removeprefix("tls://")
        with pytest.raises(OSError):
            Client(f"tcp://{address}", timeout=1)
        with pytest.raises(OSError):
            Client(f"tls://{address}", timeout=1, security=Security.temporary())
    assert opened and {host for host, _ in opened} == {"127.0.0.1"}
