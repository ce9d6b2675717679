"""Which service the typed client talks to, and what it needs to be let in."""

from __future__ import annotations

import json
import os
import pathlib
import socket
from typing import List

from rung.error import RungError

_SOCKET_PATH_BYTES_MAX = 100


def address(server: str) -> str:
    """The address in the form that gRPC takes; another form would be looked up as a host's name."""
    if server.startswith("/"):
        return f"unix:{server}"
    host, _, port = server.rpartition(":")
    is_tcp = host and "/" not in host and port.isascii() and port.isdecimal()
    if not (server.startswith("unix:") or is_tcp):
        raise RungError(
            "INVALID_ARGUMENT",
            f"server address {server!r}: allowed are HOST:PORT, unix:/path and /path",
        )
    return server


def local_server() -> str:
    """Where the service of this user's folder says it is, else where its socket would be.

    Raises: RungError UNAVAILABLE where that path is too long for a socket: the scheduler moves it,
        and its record alone says where to.
    """
    folder = home()
    addresses = _recorded_addresses(folder / "scheduler.json")
    if addresses:
        return next((each for each in addresses if each.startswith("unix:")), addresses[0])
    path = folder / "rung.sock"
    if len(os.fsencode(path)) > _SOCKET_PATH_BYTES_MAX:
        raise RungError(
            "UNAVAILABLE", f"no rung service runs in {folder}: start one with: rung local up"
        )
    return f"unix:{path}"


def _recorded_addresses(record: pathlib.Path) -> List[str]:
    try:
        addresses = json.loads(record.read_text(encoding="utf-8"))["addresses"]
        return [address for address in addresses if isinstance(address, str)]
    except (OSError, ValueError, KeyError, TypeError):  # missing or half written
        return []


def local_token() -> str:
    """The secret of the token file's first token, by the rules of proto/token.h.

    Raises: RungError UNAUTHENTICATED without the file, FAILED_PRECONDITION naming the line that is
        not `name:secret`, or the file that holds none.
    """
    file = home() / "token"
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        raise RungError(
            "UNAUTHENTICATED", f"a TCP address needs a token: pass token=…, or put it into {file}"
        ) from None
    for number, line in enumerate(lines, 1):
        token = line.rstrip(" \t\r")
        if not token or token.startswith("#"):
            continue
        name, _, secret = token.partition(":")
        if name and secret and all("!" <= character <= "~" for character in secret):
            return secret
        raise RungError(
            "FAILED_PRECONDITION",
            f"{file}:{number}: must be name:secret, the secret of visible ASCII characters",
        )
    raise RungError(
        "FAILED_PRECONDITION", f"the token file {file} holds no line of the form name:secret"
    )


def is_on_this_machine(server: str) -> bool:
    """Whether a token may go there unencrypted: proto/loopback.h says which hosts are loopback."""
    host = server.rpartition(":")[0]
    if server.startswith("unix:") or host in ("localhost", "[::1]"):
        return True
    try:
        return socket.inet_pton(socket.AF_INET, host)[0] == 127
    except (OSError, ValueError):  # a name, such as 127.example.org
        return False


def insecure_by_environment() -> bool:
    return os.environ.get("RUNG_INSECURE_NETWORK", "").lower() in ("1", "true", "on", "yes")


def home() -> pathlib.Path:
    """The folder of the local service, absolute. Raises: RungError for a path that is not UTF-8."""
    data = os.environ.get("XDG_DATA_HOME")
    folder = (pathlib.Path(data) if data else pathlib.Path.home() / ".local/share") / "rung"
    if os.environ.get("RUNG_HOME"):
        folder = pathlib.Path(os.environ["RUNG_HOME"])
    folder = folder.absolute()
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(folder).decode(errors="replace")
        raise RungError(
            "FAILED_PRECONDITION", f"the path {shown!r} is not UTF-8; choose one that is"
        ) from None
    return folder
