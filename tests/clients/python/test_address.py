"""Which service the client talks to: as clients/cli/address.cc decides it."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))
from rung import address  # noqa: E402
from rung.error import RungError  # noqa: E402


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    monkeypatch.setenv("RUNG_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "server", ["localhost:1", "127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "unix:/a/b"]
)
def test_a_token_may_go_to_this_machine(server: str) -> None:
    assert address.is_on_this_machine(server)


@pytest.mark.parametrize(
    "server", ["127.example.org:1", "127.0.0.1.example.org:1", "127.1:1", "::1:7070", "head:1"]
)
def test_a_name_that_only_looks_like_loopback_is_beyond_it(server: str) -> None:
    assert not address.is_on_this_machine(server)


def test_the_three_forms_are_taken_and_others_refused() -> None:
    assert address.address("/a/b") == "unix:/a/b"
    assert address.address("unix:/a/b") == "unix:/a/b"
    assert address.address("head:7070") == "head:7070"
    for server in ("host", "host:", ":7070", "host:http", "http://host:7070", "host:٧٠"):
        with pytest.raises(RungError, match="allowed are HOST:PORT, unix:/path and /path"):
            address.address(server)


def test_the_secret_is_that_of_the_first_line_that_is_no_comment(home: pathlib.Path) -> None:
    (home / "token").write_text("# name:secret\n \t\nada:s3:cret \r\nbob:other\n")
    assert address.local_token() == "s3:cret"


def test_a_token_file_that_is_missing_or_wrong_is_named(home: pathlib.Path) -> None:
    with pytest.raises(RungError, match=f"put it into {home / 'token'}"):
        address.local_token()
    (home / "token").write_text("# ada:secret\n\n")
    with pytest.raises(RungError, match="holds no line of the form name:secret"):
        address.local_token()


@pytest.mark.parametrize("line", ["no colon", ":secret", "ada:", "ada:two words", "ada:caf\u00e9"])
def test_a_line_that_is_no_token_is_named_without_its_secret(
    home: pathlib.Path, line: str
) -> None:
    (home / "token").write_text(f"# tokens\n{line}\nbob:other\n", encoding="utf-8")
    with pytest.raises(RungError) as refused:
        address.local_token()
    assert refused.value.code == "FAILED_PRECONDITION"
    assert str(refused.value) == (
        f"{home / 'token'}:2: must be name:secret, the secret of visible ASCII characters"
    )


def test_the_local_service_is_where_its_record_says(home: pathlib.Path) -> None:
    addresses = ["127.0.0.1:7070", "unix:/tmp/x/rung.sock"]
    (home / "scheduler.json").write_text(json.dumps({"pid": 1, "addresses": addresses}))
    assert address.local_server() == "unix:/tmp/x/rung.sock"
    (home / "scheduler.json").write_text(json.dumps({"pid": 1, "addresses": addresses[:1]}))
    assert address.local_server() == "127.0.0.1:7070"


def test_without_a_record_it_is_looked_for_at_the_usual_socket(home: pathlib.Path) -> None:
    assert address.local_server() == f"unix:{home}/rung.sock"
    (home / "scheduler.json").write_text('{"pid": 1, "addr')  # half written
    assert address.local_server() == f"unix:{home}/rung.sock"


def test_a_folder_whose_socket_is_elsewhere_needs_the_record(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUNG_HOME", str(home / ("x" * 100)))
    with pytest.raises(RungError, match="start one with: rung local up"):
        address.local_server()


def test_a_relative_home_is_meant_from_the_current_folder(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    monkeypatch.setenv("RUNG_HOME", "state")
    assert address.local_server() == f"unix:{home}/state/rung.sock"
