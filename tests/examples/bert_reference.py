"""The C++ BERT gives the logits of this independent implementation, written with plain torch ops.

Usage: bert_reference.py BERT_PROBE DATA. Exit status 77 when the data are not set up.

Nothing of the C++ side is used: weights come through the safetensors package, attention, layer norm
and GELU are spelt out. Only the token ids and the randomly drawn head are taken from the probe.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

TOLERANCE = 1e-4  # float32 sums of up to 1,536 terms in another order; measured below 1e-6


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.pow(2).mean(-1, keepdim=True) + 1e-12).sqrt() * weight + bias


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def encode(ids, weights, heads=12):
    """The pooled vector of one row of token ids, without padding and without dropout."""
    import torch

    x = weights["embeddings.word_embeddings.weight"][torch.tensor(ids)]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    norm = "embeddings.LayerNorm"
    x = layer_norm(x, weights[norm + ".weight"], weights[norm + ".bias"])
    for layer in range(6):
        name = f"encoder.layer.{layer}."
        query, key, value = (
            linear(x, weights, name + "attention.self." + part)
            for part in ("query", "key", "value")
        )
        size = query.shape[1] // heads
        contexts = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            scores = torch.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            contexts.append(scores / scores.sum(-1, keepdim=True) @ value[:, part])
        attended = linear(torch.cat(contexts, -1), weights, name + "attention.output.dense")
        norm = name + "attention.output.LayerNorm"
        x = layer_norm(x + attended, weights[norm + ".weight"], weights[norm + ".bias"])
        wide = linear(x, weights, name + "intermediate.dense")
        wide = wide * 0.5 * (1 + torch.erf(wide / math.sqrt(2)))
        narrow = linear(wide, weights, name + "output.dense")
        norm = name + "output.LayerNorm"
        x = layer_norm(x + narrow, weights[norm + ".weight"], weights[norm + ".bias"])
    return torch.tanh(linear(x[0], weights, "pooler.dense"))


def main(probe: str, data: Path) -> int:
    if not (data / "model.safetensors").exists():
        print(f"skipped: no data in {data}; scripts/setup fetches them")
        return 77
    import torch
    from safetensors.torch import load_file

    torch.set_num_threads(1)
    command = [probe, "logits", str(data)]
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(output.stdout)
    weights = load_file(str(data / "model.safetensors"))
    weight = torch.tensor(found["classifier_weight"]).view(2, -1)
    bias = torch.tensor(found["classifier_bias"])
    expected = torch.stack([encode(ids, weights) @ weight.T + bias for ids in found["ids"]])
    lengths = sorted({len(ids) for ids in found["ids"]})
    assert len(expected) >= 8 and len(lengths) > 3, f"too uniform a sample: {lengths}"

    failed = 0
    for path in ("fused", "plain", "upper_layer"):
        difference = (torch.tensor(found[path]) - expected).abs().max().item()
        print(f"{path}: max |difference| {difference:.2e} over rows of lengths {lengths}")
        failed |= not difference <= TOLERANCE
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
