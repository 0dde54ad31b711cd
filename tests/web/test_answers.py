"""The page's answers are those of the command line and of the arrays themselves."""

from __future__ import annotations

import io
import json
import shutil
import struct
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.cli import main
from inert.pickle.text import rows
from inert.report.about import info
from inert.web.bundle import page, script
from inert.web.export import address, gather
from inert.web.opened import Opened
from tests.makers import dumps, storage, tensor, torch_zip
from tests.web.serving import BIDI, CORPUS, DEMO, MARKUP, SCRIPT, STEERING, Served


def test_every_file_has_its_line(served: Served, files: dict[str, Path]) -> None:
    listed = served.api("files")["files"]
    assert [one["path"].encode() for one in listed] == [str(path).encode("utf-8", "backslashreplace") for path in files.values()]
    assert [name for name, one in zip(files, listed, strict=True) if "refused" in one] == ["refused"]


@pytest.mark.parametrize("name", ["lightning", "zip", "legacy", "tensorflow", "damaged", "safetensors", "sharded", "bad"])
def test_the_overview_is_what_info_says(served: Served, files: dict[str, Path], index: dict[str, int], name: str) -> None:
    found = served.api(f"{index[name]}/overview")
    with inert.open(files[name]) as ckpt:
        assert found["info"] == json.loads(json.dumps(info(ckpt)))
        assert found["tree"]["tensors"] == len(ckpt.tensors)
    assert sum(child["nbytes"] for child in found["tree"]["children"]) == found["tree"]["nbytes"]
    assert sum(found["shares"].values()) == sum(section["nbytes"] for section in found["info"]["sections"])


@pytest.mark.parametrize("name", ["lightning", "zip", "legacy", "tensorflow", "damaged", "safetensors", "sharded"])
def test_columns_are_the_tensors(served: Served, files: dict[str, Path], index: dict[str, int], name: str) -> None:
    found = served.api(f"{index[name]}/tensors")
    with inert.open(files[name]) as ckpt:
        tensors = list(ckpt.tensors.values())
        assert found["names"] == [one.name for one in tensors]
        assert [found["dtypes"][at] for at in found["dtype"]] == [str(one.dtype) for one in tensors]
        assert [found["shapes"][at] for at in found["shape"]] == [list(one.shape) for one in tensors]
        assert {int(row) for row in found["faults"]} == {row for row, one in enumerate(tensors) if one.fault}


def test_storages_that_are_shared(served: Served, index: dict[str, int]) -> None:
    found = served.api(f"{index['legacy']}/tensors")
    shared = {name for name, many in zip(found["names"], found["sharing"], strict=True) if many > 1}
    assert shared
    row = found["names"].index(min(shared))
    one = served.api(f"{index['legacy']}/tensor", row=row)
    assert {found["names"][other] for other in one["sharers"]} < shared
    assert len(one["sharers"]) == one["sharing"] - 1


def plane_file(tmp_path: Path) -> tuple[Path, np.ndarray]:
    array = np.random.default_rng(7).normal(size=(3, 5, 700)).astype("<f4")
    array[1, 2, 3], array[2, 4, 699], array[0, 0, 0] = np.nan, np.inf, -np.inf
    path = tmp_path / "plane.pt"
    path.write_bytes(torch_zip(dumps({"w": tensor(storage("0", array.size), array.shape)}), {"0": array.tobytes()}))
    return path, array


def ask(opened: Opened, function: object, **words: object) -> dict:
    from inert.web.answers import Words

    return function(opened, Words({name: str(value) for name, value in words.items()}))  # type: ignore[operator,no-any-return]


def test_statistics_and_where_nan_is(tmp_path: Path) -> None:
    from inert.web.work import statistics

    path, array = plane_file(tmp_path)
    opened = Opened(str(path))
    last = list(ask(opened, statistics, row=0))[-1]  # type: ignore[call-overload]
    finite = array[np.isfinite(array)].astype("f8")
    assert last["stats"]["nan"] == 1
    assert last["stats"]["inf"] == 2
    assert last["stats"]["min"] == finite.min()
    assert last["stats"]["max"] == finite.max()
    assert last["stats"]["mean"] == pytest.approx(finite.mean())
    assert last["odd"] == {"nan": [[1, 2, 3]], "inf": [[0, 0, 0], [2, 4, 699]]}
    opened.close()


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
def test_planes_are_those_of_the_array(tmp_path: Path, axes: tuple[int, int]) -> None:
    from inert.web.tensors import image, values

    path, array = plane_file(tmp_path)
    opened = Opened(str(path))
    at = [2, 1, 5]
    index = tuple(slice(None) if axis in axes else at[axis] for axis in range(3))
    plane = array[index] if axes[0] < axes[1] else array[index].T
    words = {"row": 0, "axes": ",".join(map(str, axes)), "at": ",".join(map(str, at))}
    picture = ask(opened, image, **words, max=64)
    shown = np.frombuffer(b64decode(picture["mean"]), "<f4").reshape(picture["height"], picture["width"])
    tall, wide = plane.shape
    assert shown.shape == (min(tall, 64), min(wide, 64))
    for r in range(shown.shape[0]):
        for c in (0, 1, shown.shape[1] // 2, shown.shape[1] - 1):
            block = plane[
                tall * r // shown.shape[0] : tall * (r + 1) // shown.shape[0], wide * c // shown.shape[1] : wide * (c + 1) // shown.shape[1]
            ]
            sound = block[np.isfinite(block)]
            if sound.size:
                assert shown[r, c] == pytest.approx(sound.astype("f8").mean(), rel=1e-5)
            else:
                assert np.isnan(shown[r, c])
    assert picture["nan"] == (~np.isfinite(plane)).sum()
    corner = ask(opened, values, **words, rows=f"0:{min(tall, 4)}", cols=f"0:{min(wide, 4)}")
    expected = [
        [float(v) if np.isfinite(v) else "NaN" if np.isnan(v) else "Infinity" if v > 0 else "-Infinity" for v in row]
        for row in plane[:4, :4]
    ]
    assert corner["values"] == expected
    opened.close()


def test_part_of_a_row_and_nothing_of_a_number(tmp_path: Path) -> None:
    from inert.web.tensors import image, values

    path = tmp_path / "x.pt"
    data = {"v": tensor(storage("0", 6), (6,)), "s": tensor(storage("0", 6), ())}
    path.write_bytes(torch_zip(dumps(data), {"0": np.arange(6, dtype="<f4").tobytes()}))
    opened = Opened(str(path))
    assert ask(opened, values, row=0, cols="2:4")["values"] == [[2, 3]]
    assert ask(opened, values, row=0, rows="0:0")["values"] == []
    assert ask(opened, values, row=1)["values"] == [[0]]
    assert ask(opened, values, row=1, cols="0:0")["values"] == [[]]
    assert ask(opened, image, row=0, cols="1:3")["width"] == 2
    opened.close()


def test_a_download_is_the_array(served: Served, index: dict[str, int], files: dict[str, Path]) -> None:
    for name, row in (("lightning", 0), ("lightning", 12), ("zip", 1), ("tensorflow", 2), ("safetensors", 2)):
        with inert.open(files[name]) as ckpt:
            found = list(ckpt.tensors.values())[row]
            status, headers, body = served.ask(f"/{served.token}/api/{index[name]}/npy?row={row}")
            assert status == 200
            assert int(headers["content-length"]) == len(body)
            assert headers["content-disposition"].endswith('.npy"')
            loaded = np.load(io.BytesIO(body), allow_pickle=False)
            assert loaded.dtype.itemsize * loaded.size == len(found.numpy().tobytes())
            assert loaded.tobytes() == found.numpy().tobytes()


def test_the_object_is_told_one_container_at_a_time(served: Served, index: dict[str, int]) -> None:
    root = served.api(f"{index['lightning']}/object")
    assert [child["key"] for child in root["children"]][:3] == ["epoch", "global_step", "pytorch-lightning_version"]
    at = next(child["at"] for child in root["children"] if child["key"] == "state_dict")
    inside = served.api(f"{index['lightning']}/object", path=at, start=1, count=2)
    assert inside["names"] == ["state_dict"]
    assert [child["kind"] for child in inside["children"]] == ["tensor", "tensor"]
    assert inside["children"][0]["at"] == 1
    assert inside["count"] == 14


def test_what_would_run_is_drawn_as_what_it_is(served: Served, index: dict[str, int]) -> None:
    todo, verdicts = [""], set()
    for path in todo:
        for child in served.api(f"{index['bad']}/object", path=path)["children"]:
            verdicts.add(child.get("verdict"))
            if child["count"] and len(todo) < 50:
                todo.append(f"{path}.{child['at']}".lstrip("."))
    assert "dangerous" in verdicts
    assert served.api(f"{index['bad']}/scan")["verdict"] == "dangerous"


def test_records_and_opcodes_of_files_that_cannot_be_opened(served: Served, index: dict[str, int], files: dict[str, Path]) -> None:
    found = served.api(f"{index['refused']}/parts")
    assert found["refused"]
    assert found["parts"][0]["name"] == "small/data.pkl"  # found by its own header
    part = served.api(f"{index['refused']}/pickle", part="small/data.pkl", start=0, count=2000)
    assert part["rows"][-1]["op"] == "STOP"
    held = served.api(f"{index['refused']}/bytes", file=0, offset=0, count=64)
    assert b64decode(held["data"]) == files["refused"].read_bytes()[:64]
    assert served.api(f"{index['refused']}/scan")["verdict"] == "unreadable"


def test_opcodes_page_by_page(served: Served, index: dict[str, int]) -> None:
    name = "archive/data.pkl"
    first = served.api(f"{index['lightning']}/pickle", part=name, start=0, count=100)
    rest = served.api(f"{index['lightning']}/pickle", part=name, start=100, count=2000)
    with inert.open(DEMO) as ckpt:
        data = bytes(ckpt.pickles[name].data)
    expected = [(row.offset, row.name) for row in rows(data)]
    assert [(row["offset"], row["op"]) for row in first["rows"] + rest["rows"]] == expected[:2100]
    assert first["more"]
    assert {row["verdict"] for row in first["rows"] if "verdict" in row} == {"clean"}


def test_verify_and_compare_in_steps(served: Served, index: dict[str, int]) -> None:
    assert served.api(f"{index['lightning']}/verify")["ok"] is True
    assert served.api(f"{index['damaged']}/verify")["ok"] is False
    same = served.api("compare", a=index["lightning"], b=index["lightning"])
    assert same["same"] is True
    other = served.api("compare", a=index["lightning"], b=index["zip"])
    assert other["same"] is False
    assert "error" in served.api("compare", a=index["lightning"], b=index["refused"])


def test_differences_of_one_tensor(tmp_path: Path) -> None:
    from inert.web.compare import compare
    from inert.web.compare import tensor as tensor_pair

    values = np.arange(6, dtype="<f4")
    for name, held in (("a", values), ("b", values + np.array([0, 0, 1, 0, 0, -3], "<f4"))):
        (tmp_path / f"{name}.pt").write_bytes(torch_zip(dumps({"w": tensor(storage("0", 6), (6,))}), {"0": held.tobytes()}))
    a, b = Opened(str(tmp_path / "a.pt"), 0), Opened(str(tmp_path / "b.pt"), 1)
    from inert.web.answers import BadRequest, Words

    with pytest.raises(BadRequest):
        list(tensor_pair(a, b, Words({"name": "w"})))
    found = list(compare(a, b, Words({})))[-1]
    assert [one["name"] for one in found["changed"]] == ["w"]
    made = list(tensor_pair(a, b, Words({"name": "w"})))[-1]
    assert sum(made["histogram"]["counts"]) == 6
    assert made["histogram"]["edges"][0] == -3
    assert made["histogram"]["edges"][-1] == 1
    assert made["equal"] == 4
    a.close()
    b.close()


def test_options_of_the_command_line_are_said_to_be_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has no option --only."""
    from inert.web import compare

    one, other = Opened(str(DEMO), 0), Opened(str(DEMO), 1)
    said = compare.told

    def hinting(made: Any) -> dict[str, Any]:
        return {**said(made), "summary": ["the same; --only weights compares the weights alone"]}

    monkeypatch.setattr(compare, "told", hinting)
    found = list(ask(one, lambda opened, words: compare.compare(opened, other, words)))[-1]  # type: ignore[call-overload]
    assert found["summary"] == ["the same; inert diff --only weights compares the weights alone"]
    one.close()
    other.close()


def test_a_reader_who_leaves_ends_the_work(tmp_path: Path) -> None:
    from inert.web.work import steps

    told: list[int] = []

    def work(count: object) -> dict:
        for _ in range(1000):
            told.append(1)
            count(16 << 20)  # type: ignore[operator]
        return {"end": True}

    running = steps(work, 1000 * (16 << 20))
    assert next(running) == {"done": 16 << 20, "total": 1000 * (16 << 20)}
    running.close()
    assert len(told) < 20


# -- one file for all


def test_the_exported_page_holds_what_its_scripts_ask_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "page.html"
    assert main(["view", str(DEMO), str(CORPUS / "torch" / "views.pt"), "--export", str(made), "--values"]) == 0
    assert "page.html" in capsys.readouterr().out
    text = made.read_text("utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    assert 'src="' not in text.split("</head>")[1]
    assert "http" not in text.split("<script>")[0].replace("http-equiv", "").split('id="inert-data">')[0]
    held = json.loads(text.split('id="inert-data">')[1].split("</script>")[0])
    for where in (
        "files",
        "0/overview",
        "0/scan",
        "0/parts",
        "0/tensors",
        "1/tensors",
        "0/tensor?row=42",
        "0/stats?row=0",
        "compare?a=0&b=1",
    ):
        assert f"api/{where}" in held
        assert "error" not in held[f"api/{where}"]


def test_values_are_left_out_unless_asked_for() -> None:
    opened = [Opened(str(DEMO))]
    held = gather(opened)
    assert not [where for where in held if "stats" in where or "image" in where or "values" in where]
    assert address("0/object", {"path": "", "count": 200}) in held
    opened[0].close()


def test_texts_of_a_file_stay_data_in_an_exported_page(files: dict[str, Path]) -> None:
    opened = [Opened(str(files["hostile"]))]
    text = page(gather(opened, values=True), SCRIPT)
    opened[0].close()
    head, _, rest = text.partition('id="inert-data">')
    data, _, code = rest.partition("</script>")
    assert "<" not in data
    assert "<script>document" not in head
    assert "owned" not in code
    names = json.loads(data)["api/0/tensors"]["names"]
    assert MARKUP in names
    assert any("inner" in name for name in names)
    assert BIDI in data.encode().decode("unicode_escape") or "\\u202e" in data
    assert STEERING.replace("\r", "").split("\n")[0].encode("unicode_escape").decode().replace("\\x", "\\u00") in data


def test_modules_of_the_page_become_one_script() -> None:
    made = script()
    assert "import {" not in made
    assert "\nexport " not in made
    with pytest.raises(ValueError, match="import each other"):
        script(lambda name: 'import { a } from "./b.js";\n' if name == "app.js" else 'import { a } from "./app.js";\n')
    with pytest.raises(ValueError, match="not known here"):
        script(lambda name: "export default 1;\n")


def test_a_pickle_of_one_opcode_more() -> None:
    """Where the bytes end inside an argument, the last row says so."""
    found = list(rows(b"\x80\x02X" + struct.pack("<I", 10) + b"abc"))
    assert [row.name for row in found] == ["PROTO", "?"]


# -- the command


def test_what_is_not_there_is_refused_before_anything_is_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", "--no-browser", str(DEMO), str(tmp_path / "missing.pt")]) == 2
    assert "missing.pt" in capsys.readouterr().err
    assert main(["view", "--values", str(DEMO)]) == 2
    assert "--export" in capsys.readouterr().err
    assert main(["view", str(DEMO), "--export", str(tmp_path / "no" / "page.html")]) == 2


@pytest.mark.parametrize("place", ["torch/small.pt", "sharded/safetensors/model.safetensors.index.json"])
def test_a_page_never_overwrites_what_it_shows(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(shutil.copytree((CORPUS / place).parent, tmp_path / "held"))
    held = {path: path.read_bytes() for path in folder.iterdir()}
    for target in [folder / Path(place).name, *folder.glob("*00001*.safetensors")]:
        assert main(["view", str(folder / Path(place).name), "--export", str(target)]) == 2
        assert "overwrite the checkpoint itself" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.iterdir()} == held


def test_a_port_that_is_taken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["view", "--no-browser", str(DEMO), "--port", str(taken.getsockname()[1])]) == 2
    assert "in use" in capsys.readouterr().err
    assert main(["view", "--no-browser", str(DEMO), "--port", "99999"]) == 2
    assert "port" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith(("starlette", "inert.web.server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert main(["view", "--no-browser", str(DEMO)]) == 2
    assert "pip install 'inert[view]'" in capsys.readouterr().err
    assert main(["view", str(DEMO), "--export", str(tmp_path / "page.html"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"page": str(tmp_path / "page.html"), "size": (tmp_path / "page.html").stat().st_size}
