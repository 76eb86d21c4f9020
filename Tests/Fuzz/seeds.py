"""Writes the vectors as inputs of FuzzFrames. Usage: seeds.py FOLDER"""

import hashlib
import json
import pathlib
import sys

# The order of `FuzzInput.Decoder`.
DECODERS = [
    "Frame", "Hello", "Welcome", "GoAway", "Request", "Items", "End", "Credit", "RecordFields", "Notification",
    "NotificationAck", "Challenge", "Proof", "AssetData", "AssetOffsets", "Progress", "Share",
]

root = pathlib.Path(__file__).resolve().parents[2]
for path in (root / "Protocol" / "Vectors").glob("*.json"):
    for vector in json.loads(path.read_text(encoding="utf-8")):
        if vector["message"] not in DECODERS:
            continue
        data = bytes([DECODERS.index(vector["message"])]) + bytes.fromhex(vector["hex"])
        if len(data) <= 8192:
            (pathlib.Path(sys.argv[1]) / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
