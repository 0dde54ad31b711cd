"""Files of torch.jit.save, torch.package and torch.export with their tensors: python make_script.py [FOLDER] (torch 2.13.0).

TorchScript: what ``module.state_dict()`` gives, then tensors of other attributes by their paths, then constants. The old .pt2 layout, which
torch 2.13 reads and no longer writes, is put together from torch.save files as torch 2.6 did.
"""

from __future__ import annotations

import io
import json
import sys
import types
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch
from describe import Walk
from torch import nn
from torch.package import PackageExporter, package_exporter

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "script"
warnings.simplefilter("ignore")
VERSION = torch.__version__
DTYPES = ("uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "complex32", "bfloat16", "complex64", "float8_e8m0fnu")


def placeless(module: Any) -> None:
    """Source ranges are saved with the names of files: without their folders, a second machine writes the same bytes."""
    original = module.get_source_lines_and_file

    def get(*arguments: Any, **options: Any) -> Any:
        lines, number, name = original(*arguments, **options)
        return lines, number, Path(name).name if name else name

    module.get_source_lines_and_file = get


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.register_buffer("count", torch.tensor(7))
        self.register_buffer("scratch", torch.ones(2), persistent=False)
        self.plain = torch.arange(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight.sum() + self.plain.sum()


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.tied = self.inner
        self.rows = torch.jit.Attribute([torch.ones(1), torch.zeros(2)], list[torch.Tensor])
        self.table = torch.jit.Attribute({"a key": torch.full((3,), 2.0)}, dict[str, torch.Tensor])
        self.numbers = torch.jit.Attribute([1, 2, 3], list[int])
        self.view = nn.Parameter(torch.arange(12.0).reshape(3, 4).t(), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) + self.rows[0] + self.table["a key"].sum() + self.view.sum()


class Kinds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name in DTYPES:
            self.register_buffer(f"of_{name}", torch.arange(1.0, 4.0).to(getattr(torch, name)))
        self.register_buffer("coo", torch.eye(3).to_sparse())
        self.register_buffer("csr", torch.eye(3).to_sparse_csr())
        self.register_buffer("conj", torch.complex(torch.ones(2), torch.ones(2)).conj())
        scales, zeros = torch.tensor([0.1, 0.2], dtype=torch.float64), torch.tensor([0, 1])
        self.register_buffer("channels", torch.quantize_per_channel(torch.ones(2, 3), scales, zeros, 0, torch.qint8))
        self.register_buffer("whole", torch.quantize_per_tensor(torch.ones(4), 0.5, 3, torch.quint8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class Linear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(2, 3)
        self.register_buffer("kept", torch.ones(3).bfloat16())
        self.register_buffer("scratch", torch.ones(3), persistent=False)
        self.constant = torch.arange(3.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lin(x) + self.kept + self.scratch + self.constant


def record(name: str, tensors: dict[str, torch.Tensor], why: str, kind: str, notes: tuple[str, ...] = (), **more: Any) -> None:
    """NAME.expected.json: the tensors by the names that inert gives them."""
    walk = Walk()
    walk.walk(tensors, [])
    facts = {"loader": f"torch {VERSION}", "format": kind, "writer": f"torch {VERSION}", "why": why, "notes": sorted(notes), **more}
    text = json.dumps({**facts, "tensors": walk.tensors, "leaves": []}, separators=(",", ":")).replace('{"path":', '\n{"path":')
    (FOLDER / f"{name}.expected.json").write_text(text + "\n", encoding="utf-8")


def detached(*parts: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """As state_dict() gives tensors; those that are the same stay the same."""
    seen: dict[int, torch.Tensor] = {}
    return {name: seen.setdefault(id(tensor), tensor.detach()) for part in parts for name, tensor in part.items()}


def scripts() -> None:
    outer = torch.jit.script(Outer().eval())
    inner = ("inner", "tied")
    names = [f"{child}.{name}" for child in inner for name in ("weight", "count", "scratch", "plain")]
    outer.save(str(FOLDER / "module.pt"), _extra_files={"sub/labels.txt": "cat"})
    loaded = torch.jit.load(str(FOLDER / "module.pt"))
    tensors = {"view": loaded.view, "rows.0": loaded.rows[0], "rows.1": loaded.rows[1], "table.a key": loaded.table["a key"]}
    tensors |= {name: getattr(getattr(loaded, name.partition(".")[0]), name.partition(".")[2]) for name in names}
    for name in ("weight", "count", "scratch", "plain"):
        tensors[f"tied.{name}"] = tensors[f"inner.{name}"]
    record("module.pt", detached(tensors), "a module with tied submodules, lists and dicts of tensors", "torchscript", ("script-code",))

    kinds = torch.jit.script(Kinds())
    kinds.save(str(FOLDER / "kinds.pt"))
    loaded = torch.jit.load(str(FOLDER / "kinds.pt"))
    state = loaded.state_dict()
    record(
        "kinds.pt", detached(dict(state)), "storages that only the C++ pickler names; sparse, quantised", "torchscript", ("script-code",)
    )

    torch.manual_seed(13)
    frozen = torch.jit.freeze(torch.jit.script(Linear().eval()))
    frozen.save(str(FOLDER / "frozen.pt"))
    constants = torch.jit.load(str(FOLDER / "frozen.pt")).code_with_constants[1].const_mapping
    record(
        "frozen.pt",
        detached({f"CONSTANTS.{name}": tensor for name, tensor in constants.items()}),
        "a frozen module: all weights are constants",
        "torchscript",
        ("script-code",),
    )

    lite = torch.jit.script(Linear().eval())
    lite._save_for_lite_interpreter(str(FOLDER / "lite.ptl"))
    state = dict(torch.jit.load(str(FOLDER / "lite.ptl")).state_dict())
    names = {"kept": state["kept"], "scratch": lite.scratch, "constant": lite.constant} | {
        k: v for k, v in state.items() if k.startswith("lin")
    }
    record("lite.ptl", detached(names), "the lite interpreter's archive, with bytecode.pkl", "torchscript", ("script-code",))
    outer._save_for_lite_interpreter(str(FOLDER / "flatbuffer.ptl"), _use_flatbuffer=True)
    record(
        "flatbuffer.ptl",
        detached(tensors),
        "the lite interpreter's flatbuffer",
        "torchscript",
        ("script-code",),
        metadata={"container": "flatbuffer"},
    )


def packages() -> None:
    package_exporter._gate_torchscript_serialization = False
    torch.manual_seed(13)
    script = torch.jit.script(nn.Sequential(nn.Linear(2, 3)))
    frozen = torch.jit.freeze(torch.jit.script(nn.Sequential(nn.Linear(2, 2, bias=False))).eval())
    packed = sys.modules["packed"] = types.ModuleType("packed")
    weight, bias = torch.arange(6.0).reshape(2, 3), torch.ones(3, dtype=torch.float16)
    with PackageExporter(FOLDER / "package.pt") as out:
        out.extern(["torch", "torch.**", "collections"])
        out.save_source_string("packed", "VALUE = 1\n")
        out.save_pickle("model", "state.pkl", {"weight": weight, "row": weight[1], "bias": bias})
        out.save_pickle("script", "all.pkl", {"module": script, "frozen": frozen})
        out.save_text("conf", "labels.txt", "cat")
        out.save_binary("conf", "raw", b"\x80\x03 only begins like a pickle")
    del packed
    tensors = {"model/state.pkl.weight": weight, "model/state.pkl.row": weight[1], "model/state.pkl.bias": bias}
    tensors |= {f".data/ts_code/0.{name}": tensor for name, tensor in script.state_dict().items()}
    tensors[".data/ts_code/1.CONSTANTS.c0"] = frozen.code_with_constants[1].const_mapping["c0"]
    notes = ("package-source", "package-reduce")
    record("package.pt", detached(tensors), "two pickles, a text, bytes, source, TorchScript", "torch-package", notes)


def exports() -> None:
    torch.manual_seed(13)
    module = Linear().eval()
    program = torch.export.export(module, (torch.ones(1, 2),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # it names folders
    torch.export.save(program, FOLDER / "export.pt2", extra_files={"note.txt": "hi"})
    loaded = torch.export.load(FOLDER / "export.pt2")
    record("export.pt2", {**loaded.state_dict, **loaded.constants}, "raw records under a JSON table", "torch-export")

    def saved(value: Any) -> bytes:
        out = io.BytesIO()
        torch.save(value, out)
        return out.getvalue()

    with zipfile.ZipFile(FOLDER / "export_old.pt2", "w") as out:
        for name, data in (
            ("serialized_exported_program.json", b'{"schema_version": {"major": 8, "minor": 2}, "torch_version": "2.6.0"}'),
            ("serialized_state_dict.pt", saved(dict(loaded.state_dict))),
            ("serialized_constants.pt", saved(dict(loaded.constants))),
            ("serialized_example_inputs.pt", saved(((torch.ones(1, 2),), {}))),
            ("version", b"8.2"),
        ):
            out.writestr(zipfile.ZipInfo(name), data)
    why = "torch 2.6's layout: torch.save files in a zip"
    record("export_old.pt2", {**loaded.state_dict, **loaded.constants}, why, "torch-export", metadata={"schema_version": "8.2"})


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    placeless(torch._sources)
    placeless(torch.jit.frontend)
    torch.manual_seed(13)
    scripts()
    packages()
    exports()
    print(f"{len(list(FOLDER.glob('*.expected.json')))} files in {FOLDER}")


if __name__ == "__main__":
    main()
