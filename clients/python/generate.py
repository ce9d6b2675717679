"""Generates the wire modules `rung/v1/*_pb2*.py` from proto/rung/v1 (needs grpcio-tools)."""

from __future__ import annotations

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def generate(
    target: pathlib.Path = HERE, proto_root: pathlib.Path = HERE.parents[1] / "proto"
) -> None:
    """Writes the modules below `target`; raises RuntimeError when protoc refuses a file."""
    import grpc_tools
    from grpc_tools import protoc

    package = target / "rung" / "v1"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text('"""Generated from proto/rung/v1: the wire messages."""\n')
    well_known = pathlib.Path(grpc_tools.__file__).parent / "_proto"
    for proto in ("types", "tuner"):
        arguments = [
            "protoc",
            f"-I{proto_root}",
            f"-I{well_known}",
            f"--python_out={target}",
            f"--pyi_out={target}",
            f"--grpc_python_out={target}",
            str(proto_root / "rung" / "v1" / f"{proto}.proto"),
        ]
        if protoc.main(arguments) != 0:
            raise RuntimeError(f"protoc refused {proto}.proto")


if __name__ == "__main__":
    generate(*(pathlib.Path(argument) for argument in sys.argv[1:]))
