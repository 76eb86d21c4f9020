"""The messages of the protocol: protoc's Python output, made at run time from Protocol/tidemark.proto."""

import atexit
import importlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROTOCOL = pathlib.Path(__file__).resolve().parents[2] / "Protocol"


def load():
    """Returns the generated module."""
    folder = tempfile.mkdtemp(prefix="tidemark-python-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run(
        ["protoc", f"--proto_path={PROTOCOL}", f"--python_out={folder}", "tidemark.proto"],
        check=True,
    )
    sys.path.insert(0, folder)
    return importlib.import_module("tidemark_pb2")


pb = load()
