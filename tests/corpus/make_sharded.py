"""Makes the folders of sharded/: python make_sharded.py (torch 2.13.0, safetensors 0.8.0; run make_manifest.py afterwards).

Indexes are written as transformers writes them. sharded/expected.json says of each folder which tensors there are, what they hold, which
notes inert makes, and where it refuses.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from describe import Walk
from safetensors.torch import load_file, save_file

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "sharded"
TABLE: dict[str, dict[str, Any]] = {}
SHARES = [{"a": torch.arange(6.0).reshape(2, 3), "n.b": torch.arange(3)}, {"c": torch.ones(2, dtype=torch.bfloat16)}]


def write(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".safetensors":
        save_file(tensors, path, metadata={"format": "pt"})
    else:
        torch.save(tensors, path)


def sha(tensor: torch.Tensor) -> str:
    return hashlib.sha256(bytes(tensor.contiguous().view(-1).view(torch.uint8).tolist())).hexdigest()


def names(kind: str) -> list[str]:
    stem = {"safetensors": "model", "bin": "pytorch_model"}[kind]
    return [f"{stem}-{number:05}-of-00002.{kind}" for number in (1, 2)]


def make(
    folder: str,
    why: str,
    kind: str = "safetensors",
    shards: dict[str, dict[str, torch.Tensor]] | None = None,
    where: Any = None,
    metadata: dict[str, Any] | None = None,
    index: str = "",
    notes: str = "",
    refuses: str = "",
    absent: tuple[str, ...] = (),
) -> Path:
    """``where``: the weight_map, None for the true one, False for no index · ``absent``: tensors that nobody can read."""
    shards = dict(zip(names(kind), SHARES, strict=True)) if shards is None else shards
    home = FOLDER / folder
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    for name, tensors in shards.items():
        write(home / name, tensors)
    true = {tensor: name for name, tensors in shards.items() for tensor in tensors}
    if where is not False:
        size = sum(tensor.nbytes for tensors in shards.values() for tensor in tensors.values())
        facts = {"metadata": {"total_size": size} if metadata is None else metadata, "weight_map": true if where is None else where}
        name = index or f"{names(kind)[0].split('-')[0]}.{kind}.index.json"
        (home / name).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    found = {name: sha(tensor) for tensors in shards.values() for name, tensor in tensors.items() if name not in absent}
    TABLE[folder] = {"why": why, "notes": sorted(notes.split()), "refuses": refuses, "tensors": found}
    return home


def describe(folder: str, kind: str) -> None:
    """What the whole set is, as for a file."""
    state: dict[str, torch.Tensor] = {}
    for name in names(kind):
        state |= load_file(FOLDER / folder / name) if kind == "safetensors" else torch.load(FOLDER / folder / name)
    walk = Walk()
    walk.walk(state, [])
    facts = {
        "format": "sharded",
        "writer": f"torch {torch.__version__}",
        "why": TABLE[folder]["why"],
        "notes": [],
        "tensors": walk.tensors,
        "leaves": [],
    }
    text = json.dumps(facts, separators=(",", ":")).replace('{"path":', '\n{"path":')
    (FOLDER / f"{folder}.expected.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    both, tied = names("safetensors"), torch.arange(4.0)
    make("safetensors", "an index and its shards")
    make("bin", "the same of pickles", "bin")
    describe("safetensors", "safetensors")
    describe("bin", "bin")
    make(
        "variant",
        "a variant's index, shards in a folder of their own",
        shards={f"part/model.fp16-0000{i}-of-00002.safetensors": SHARES[i - 1] for i in (1, 2)},
        index="model.safetensors.index.fp16.json",
    )
    make(
        "tied",
        "tied weights are counted once",
        "bin",
        {names("bin")[0]: {"a": tied, "b": tied}},
        metadata={"total_size": 16.0},
        notes="shards-count",
    )
    make("no_index", "shards alone", where=False, notes="shards-no-index")
    home = make("one_of_two", "shards alone, and one is missing", where=False, notes="shards-no-index shard-missing", absent=("c",))
    (home / both[1]).unlink()
    home = make("missing", "a shard is missing", notes="shard-missing", absent=("c",))
    (home / both[1]).unlink()
    home = make("all_missing", "every shard is missing", refuses="none of its 2 shards can be read")
    for name in both:
        (home / name).unlink()
    home = make("cut", "a shard is cut", "bin", notes="shard-unreadable", absent=("c",))
    (home / names("bin")[1]).write_bytes((home / names("bin")[1]).read_bytes()[:300])
    make(
        "ghost",
        "the index names a tensor that its shard lacks",
        where={"a": both[0], "n.b": both[0], "c": both[1], "d": both[1]},
        notes="shard-ghost",
    )
    make(
        "elsewhere",
        "a tensor lies in another shard than the index says",
        where={"a": both[0], "n.b": both[1], "c": both[1]},
        notes="shard-ghost",
    )
    make("stray", "the index leaves a tensor out", where={"a": both[0], "c": both[1]}, notes="shard-stray")
    twice = {both[0]: {"a": torch.zeros(2)}, both[1]: {"a": torch.ones(2), "b": torch.ones(1)}}
    make(
        "twice",
        "a tensor lies in two shards",
        shards=twice,
        where={"a": both[1], "b": both[1], "c": both[0]},
        notes="shard-duplicate shard-ghost",
    )
    make("total", "total_size is wrong", metadata={"total_size": 7, "a": None, "b": "text"}, notes="shards-total")
    make(
        "escape",
        "the index leads out of its folder",
        where={"a": both[0], "n.b": "../total/" + both[0], "c": both[1]},
        notes="shard-ghost shard-path",
    )
    make(
        "itself",
        "the index names itself",
        where={"a": both[0], "n.b": both[0], "c": both[1], "d": "model.safetensors.index.json"},
        notes="shard-unreadable",
    )
    make("no_text", "shards that are no names", where={"a": both[0], "n.b": 1, "c": both[1]}, notes="shards-index shard-stray")
    make("list", "the map is a list", where=["a"], refuses="weight_map is no object")
    rows = (f"{json.dumps(name)}: {json.dumps(row, sort_keys=True)}" for name, row in sorted(TABLE.items()))
    (FOLDER / "expected.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{len(TABLE)} folders")


if __name__ == "__main__":
    main()
