"""The typed client against a service that answers as the test wants."""

from __future__ import annotations

import os
import pathlib
import sys
from concurrent import futures
from typing import Any, Callable, Iterator

import grpc
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))
import rung  # noqa: E402
from rung.client import _read_document  # noqa: E402
from rung.v1 import tuner_pb2 as pb  # noqa: E402
from rung.v1 import tuner_pb2_grpc  # noqa: E402


class Tuner(tuner_pb2_grpc.TunerServicer):
    """Answers ListExperiments with `answer(calls so far, context)`."""

    def __init__(self) -> None:
        self.calls = 0
        self.answer: Callable[[int, grpc.ServicerContext], Any] = (
            lambda calls, context: pb.ListExperimentsResponse()
        )

    def ListExperiments(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.calls += 1
        return self.answer(self.calls, context)


@pytest.fixture
def tuner() -> Tuner:
    return Tuner()


@pytest.fixture
def port(tuner: Tuner) -> Iterator[int]:
    """Where `tuner` listens."""
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    tuner_pb2_grpc.add_TunerServicer_to_server(tuner, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(None).wait()


@pytest.fixture
def client(port: int) -> Iterator[rung.Client]:
    with rung.Client(f"127.0.0.1:{port}", token="secret", retry_for=5) as connected:
        yield connected


def test_a_limit_that_is_reached_is_told_at_once(client: rung.Client, tuner: Tuner) -> None:
    tuner.answer = lambda calls, context: context.abort(
        grpc.StatusCode.RESOURCE_EXHAUSTED, "limits.metrics_per_trial: trial 1.0 has 1 of at most 1"
    )
    with pytest.raises(rung.RungError, match="limits.metrics_per_trial") as refused:
        client.experiments()
    assert (refused.value.code, tuner.calls) == ("RESOURCE_EXHAUSTED", 1)


def test_a_service_that_cannot_do_it_now_is_asked_again(client: rung.Client, tuner: Tuner) -> None:
    def answer(calls: int, context: grpc.ServicerContext) -> Any:
        if calls == 1:
            context.abort(grpc.StatusCode.UNAVAILABLE, "16384 events wait already; try again")
        return pb.ListExperimentsResponse()

    tuner.answer = answer
    assert client.experiments() == []
    assert tuner.calls == 2


def test_a_page_of_several_mebibytes_is_taken(client: rung.Client, tuner: Tuner) -> None:
    page = pb.ListExperimentsResponse()
    page.experiments.add(name="x" * (5 << 20))  # gRPC's default limit is 4 MiB
    tuner.answer = lambda calls, context: page
    assert len(client.experiments()[0].name) == 5 << 20


def test_the_proxy_of_the_environment_is_not_the_way(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # where nobody listens
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("no_grpc_proxy", raising=False)
    with rung.Client(f"127.0.0.1:{port}", token="secret", connect_wait=5) as client:
        assert client.experiments() == []


def test_the_folder_of_a_document_keeps_its_links(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "e.json").write_text('{"name": "é"}', encoding="utf-8")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    assert _read_document(link / "e.json", None) == ('{"name": "é"}', str(link))
    assert _read_document({}, link) == ("{}", str(link))
    monkeypatch.chdir(tmp_path)
    assert _read_document(os.path.join("link", "e.json"), None)[1] == str(link)
    assert _read_document({}, None) == ("{}", str(tmp_path))
