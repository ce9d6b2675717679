"""The C++ WordPiece tokenizer gives the ids of the `tokenizers` package on every row of the text.

Usage: tokenizer_parity.py BERT_PROBE DATA. Exit status 77 when the data are not set up.
"""

import subprocess
import sys
from pathlib import Path


def main(probe: str, data: Path) -> int:
    text = data / "movieReviewSnippets_GroundTruth.txt"
    if not text.exists() or not (data / "tokenizer.json").exists():
        print(f"skipped: no data in {data}; scripts/setup fetches them")
        return 77
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(data / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lines = text.read_bytes().decode("utf-8").split("\r\n")
    rows = [line.split("\t")[2] for line in lines]
    expected = [encoding.ids for encoding in tokenizer.encode_batch(rows)]
    output = subprocess.run([probe, "ids", str(data)], check=True, capture_output=True, text=True)
    found = [[int(token) for token in line.split()] for line in output.stdout.splitlines()]

    assert len(expected) == 10_605, f"{len(expected)} rows in {text}"
    assert len(found) == len(expected), f"{len(found)} rows, expected {len(expected)}"
    different = [row for row in range(len(expected)) if expected[row] != found[row]]
    for row in different[:5]:
        print(f"line {row + 1}: {rows[row]!r}\n  expected {expected[row]}\n  found    {found[row]}")
    print(f"{len(expected)} rows, {len(different)} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
