"""MANIFEST.tsv: every file of the corpus with its writer and its reason: python make_manifest.py (nothing but Python). Run it last."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
OTHER: dict[str, tuple[str, str]] = {}  # files of containers that are recognised only
TABLES = {
    "hostile": "make_hostile.py",
    "broken": "make_broken.py",
    "safetensors/broken": "make_safetensors.py",
    "distributed": "make_distributed.py",
}
TEXTS = {0: "protocol 0, text opcodes", 1: "protocol 1", 2: "protocol 2"}


def rows() -> dict[str, tuple[str, str]]:
    found = dict(OTHER)
    for path in HERE.glob("*/*.expected.json"):
        facts = json.loads(path.read_text(encoding="utf-8"))
        folder = path.with_name(path.name.removesuffix(".expected.json"))
        if folder.is_dir():
            files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".json")
            found |= {file.relative_to(HERE).as_posix(): (facts["writer"], facts["why"]) for file in files}
            continue
        found[f"{path.parent.name}/{path.name.removesuffix('.expected.json')}"] = (facts["writer"], facts["why"])
    for folder, maker in TABLES.items():
        table = json.loads((HERE / folder / "expected.json").read_text(encoding="utf-8"))
        found |= {f"{folder}/{name}": (maker, row["why"]) for name, row in table.items() if (HERE / folder / name).exists()}
    for name, row in json.loads((HERE / "sharded" / "expected.json").read_text(encoding="utf-8")).items():
        files = (path for path in (HERE / "sharded" / name).rglob("*") if path.is_file() and path.suffix != ".json")
        found |= {path.relative_to(HERE).as_posix(): ("make_sharded.py", row["why"]) for path in files}
    for path in (HERE / "python2").iterdir():
        module, _, protocol = path.stem.partition("-p")
        found[f"python2/{path.name}"] = (f"Python 2.7 {module}", TEXTS[int(protocol)])
    for path in (HERE / "pickles").iterdir():
        writer, _, how = path.stem.partition("-")
        found[f"pickles/{path.name}"] = (f"make_pickles.py ({writer})", f"a dict of arrays by {writer}: {how}")
    for path in (HERE / "old_joblib").glob("*/*"):
        python, version, *how = path.parent.name.split("-")
        what = "the pickle" if path.name == "state.pkl" else "an array beside it"
        why = f"{what} of a dict of arrays by joblib before 0.10{': ' * bool(how)}{', '.join(how)}"
        found[path.relative_to(HERE).as_posix()] = (f"joblib {version}, Python {python[2]}.{python[3:]}", why)
    return found


def main() -> None:
    lines = ["path\twriter\twhy", *("\t".join((path, *row)) for path, row in sorted(rows().items()))]
    (HERE / "MANIFEST.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} files")


if __name__ == "__main__":
    main()
