"""Writes the frames of vectors/embedded-link.json as a C header: `vectors.py vectors.h`."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NAMES = {"a restart is announced": "ANNOUNCE", "a batch": "BATCH", "a command": "COMMAND"}


def bytes_of(text: str) -> str:
    return "{" + ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(text)) + "}"


def main() -> None:
    vectors = json.loads((ROOT / "vectors/embedded-link.json").read_text())
    schema = json.dumps(json.dumps(vectors["schema"], separators=(",", ":")))
    batch = next(frame for frame in vectors["frames"] if frame["name"] == "a batch")
    lines = [f"static const char VECTOR_SCHEMA[] = {schema};"]
    lines += [
        f"#define VECTOR_SESSION {batch['session']}u",
        f"#define VECTOR_NODE_TIME UINT64_C({batch['fields']['node_time']})",
    ]
    for frame in vectors["frames"]:
        lines.append(f"static const uint8_t VECTOR_{NAMES[frame['name']]}[] = {bytes_of(frame['bytes'])};")
    longest = max(len(case["bytes"]) // 2 for case in vectors["damaged"])
    cases = [f"{{{len(case['bytes']) // 2}, {bytes_of(case['bytes'])}}}" for case in vectors["damaged"]]
    lines.append(
        f"static const struct {{ size_t count; uint8_t bytes[{longest}]; }} DAMAGED[] = {{{', '.join(cases)}}};"
    )
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
