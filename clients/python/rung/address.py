"""Which service the typed client talks to, and what it needs to be let in."""

from __future__ import annotations

import json
import os
import pathlib

from rung.error import RungError


def address(server: str) -> str:
    """The address in the form that gRPC takes; another form would be looked up as a host's name."""
    if server.startswith("/"):
        return f"unix:{server}"
    host, _, port = server.rpartition(":")
    if not server.startswith("unix:") and not (host and port.isdecimal()):
        raise RungError(
            "INVALID_ARGUMENT",
            f"server address {server!r}: allowed are HOST:PORT, unix:/path and /path",
        )
    return server


def local_server() -> str:
    record = home() / "scheduler.json"
    try:
        addresses = json.loads(record.read_text())["addresses"]
    except (OSError, ValueError, KeyError):
        raise RungError(
            "UNAVAILABLE", f"no local service ({record} is missing): start one with: rung local up"
        ) from None
    return str(next((a for a in addresses if a.startswith("unix:")), addresses[0]))


def local_token() -> str:
    file = home() / "token"
    try:
        lines = [line for line in file.read_text().splitlines() if ":" in line]
        return lines[0].split(":", 1)[1].strip()
    except (OSError, IndexError):
        raise RungError(
            "UNAUTHENTICATED", f"a TCP address needs a token: pass token=…, or put it into {file}"
        ) from None


def is_on_this_machine(server: str) -> bool:
    host = server.rpartition(":")[0]
    return (
        server.startswith("unix:")
        or host in ("localhost", "[::1]")
        or host.startswith("127.")
    )


def insecure_by_environment() -> bool:
    return os.environ.get("RUNG_INSECURE_NETWORK", "").lower() in ("1", "true", "on", "yes")


def home() -> pathlib.Path:
    """The folder of the local service. Raises: RungError for a path that is not UTF-8."""
    data = os.environ.get("XDG_DATA_HOME")
    folder = (pathlib.Path(data) if data else pathlib.Path.home() / ".local/share") / "rung"
    if os.environ.get("RUNG_HOME"):
        folder = pathlib.Path(os.environ["RUNG_HOME"])
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(folder).decode(errors="replace")
        raise RungError(
            "FAILED_PRECONDITION", f"the path {shown!r} is not UTF-8; choose one that is"
        ) from None
    return folder
