"""Findings: what was tolerated, doubted or found wrong, said so that a person can act on it.

Knows: the table of finding codes with their severity and what to do, and how a sentence lists names.
Refuses to know: how anything is found; the readers and checks do that.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

INFO, WARNING, ERROR = "info", "warning", "error"
SHOWN = 5  # names in one sentence

# code → (severity, what to do next). One row per kind of fact; docs/findings.md is generated from this table.
CODES: dict[str, tuple[str, str]] = {
    "zip-prefix": (ERROR, "remove the bytes before the archive; torch.load refuses the file as it is"),
    "zip-trailing": (WARNING, "no writer leaves such bytes: check that the file is what you expect"),
    "zip-comment": (WARNING, "PyTorch writes no archive comment; another program has rewritten the file"),
    "zip-count": (ERROR, "the end record and the directory disagree; verify the file against its source"),
    "zip-local-name": (ERROR, "another reader may see another name here; treat the file with suspicion"),
    "zip-local-header": (ERROR, "the member's local header is damaged; its bytes cannot be located"),
    "zip-local-fields": (WARNING, "the directory's values were used, as torch does"),
    "zip-duplicate": (ERROR, "the last one was used; programs differ on which of them they read"),
    "zip-case": (ERROR, "torch looks records up without regard to case; other programs may find another record, or none"),
    "zip-overlap": (ERROR, "treat the file with suspicion: no writer makes such members"),
    "zip-outside-root": (ERROR, "torch reads only the folder of the first entry; the others are shown but not used"),
    "zip-no-root": (ERROR, "torch.load needs the records inside one folder; zip the folder itself"),
    "zip-method": (ERROR, "torch reads stored and deflated members only"),
    "zip-sizes": (ERROR, "the directory is damaged or lies; the member is refused"),
    "zip-encrypted": (ERROR, "it cannot be read: decrypt the archive with the program that made it"),
    "zip-deflated": (INFO, "a general zip program has compressed this; torch's mmap=True would misread it"),
    "zip-crc": (
        ERROR,
        "its bytes or its checksum are damaged: get the file again; `inert repair SRC DST` keeps every tensor that is whole",
    ),
    "zip-inflate": (ERROR, "the compressed data is damaged: get the file again; `inert repair SRC DST` keeps every tensor that is whole"),
    "zip-descriptor": (
        WARNING,
        "torch does not read it; programs that unpack while they download do. `inert repair SRC DST` writes it anew",
    ),
    "zip-gap": (WARNING, "no reader looks there, so anything may be hidden: `inert repair SRC DST` leaves it out"),
    "zip-name": (ERROR, "torch only looks names up; unpacked, it may land outside of its folder: treat the file with suspicion"),
    "zip-text": (ERROR, "torch.load stops at it, for it makes a text of each: `inert repair SRC DST` gives it another"),
    "zip-disk": (ERROR, "torch refuses archives on several disks; the directory is damaged: `inert repair SRC DST`"),
    "zip-folder": (
        ERROR,
        "torch reads nothing of it, and takes for its bytes what happens to be in memory: `inert repair SRC DST` writes it anew",
    ),
    "zip-masked": (ERROR, "torch refuses the archive; the directory is damaged: `inert repair SRC DST` writes it anew"),
    "zip-flags": (WARNING, "no writer of checkpoints sets these; the directory is damaged, or another program has written it"),
    "zip-extra": (WARNING, "readers step over it; the header is damaged, or another program has written it"),
    "zip-strangers": (INFO, "no reader looks at these fields; another program has added members, or the directory is damaged"),
    "zip-end": (ERROR, "readers that look at these fields refuse the file: `inert repair SRC DST` writes them anew"),
    "zip-alignment": (WARNING, "torch reads it, but not with load.calculate_storage_offsets: `inert repair SRC DST` aligns it again"),
    "storage-deflated": (
        WARNING,
        "torch.load(mmap=True) takes the compressed bytes for values: `inert repair SRC DST` stores them plainly",
    ),
    "storage-key": (ERROR, "torch looks such a record up as it stands; no writer makes such keys: treat the file with suspicion"),
    "zip-crc-none": (INFO, "the writer computed no checksums; damage cannot be detected"),
    "zip-beyond-end": (ERROR, "the file is cut short or the directory is damaged"),
    "tar-duplicate": (ERROR, "the last one was used; programs differ on which of them they read"),
    "tar-refused": (ERROR, "it is not read: nothing of an archive is ever extracted, and only plain files under plain names are looked at"),
    "tar-number": (WARNING, "Python reads it, other programs read another number or refuse it: they see other members behind it"),
    "tar-head": (ERROR, "torch.load takes it for a tar archive and finds nothing of its own there; other programs read what follows"),
    "tar-damaged": (ERROR, "the archive is damaged; members behind this place are not seen"),
    "tar-cut": (ERROR, "the archive is cut short; get it again"),
    "tar-filler": (WARNING, "no reader looks there; the archive is damaged, or something is hidden in it"),
    "tar-header": (WARNING, "readers take it; the archive is damaged, or of an odd program"),
    "unreadable": (ERROR, "get the file again; `inert repair SRC DST` keeps what can be saved"),
    "file-name": (WARNING, "programs that go by the name refuse it: give it the name of its format, or convert it"),
    "unidentified": (ERROR, "this is no checkpoint that inert reads: get the right file"),
    "unsupported": (ERROR, "it was not checked"),
    "limit": (ERROR, "it was not checked to the end: raise Limits, if you trust the file"),
    "tensor-name": (ERROR, "no encoding holds such a name: programs cannot write it again, and differ on how they show it"),
    "sparse-indices": (ERROR, "programs that do not look at the indices read and write beyond the tensor: do not load it"),
    "values-nan": (WARNING, "training has diverged, or something is masked with them: `inert show FILE NAME --stats` tells more"),
    "values-bool": (WARNING, "programs differ on what such a bool is: the tensor is damaged, or was made from other bytes"),
    "record-missing": (ERROR, "tensors that use a record which is not there cannot be read; the others can"),
    "record-size": (ERROR, "tensors that use a record of another size than the pickle says are refused; the others can be read"),
    "version-missing": (WARNING, "torch.load refuses an archive without a version record; add one"),
    "version-unknown": (ERROR, "torch reads versions 1 to 10"),
    "version-twice": (WARNING, "torch consults .data/version first"),
    "byteorder-bad": (ERROR, "the record must be 'little' or 'big'; give byteorder= to say which it is"),
    "alignment-bad": (ERROR, "torch.load refuses a file where the record is no number: `inert repair SRC DST` writes it anew"),
    "byteorder-missing": (INFO, "little-endian was assumed, as torch does"),
    "tensor-damaged": (ERROR, "this tensor is refused; the others can be read"),
    "tensor-storage-retyped": (ERROR, "torch uses the first element type for all tensors of the storage"),
    "tensor-storage-resized": (ERROR, "torch uses the first size for all tensors of the storage"),
    "reference-unknown": (ERROR, "torch knows persistent ids of its storages only; it was kept as an inert node"),
    "tensor-flattened": (
        INFO,
        "the shapes of the parameters in it are in no such file: load all ranks' files under FSDP with the model, save a full state dict",
    ),
    "tensor-hooks": (WARNING, "the tensor carries backward hooks, which are code names; they are kept as data"),
    "legacy-trailing": (WARNING, "torch.load stops before them; they are no further save"),
    "legacy-byteorder": (INFO, "storages were read as little-endian all the same, as torch does"),
    "legacy-keys": (ERROR, "torch reads each listed storage in turn; the last one of a key counts"),
    "module-source": (INFO, "the source text is kept as text and never run; torch only compares it with the class it has"),
    "wrapper-opened": (INFO, "torch.load does not see through it: unpack the file for other programs"),
    "wrapper-damaged": (ERROR, "what came out before the fault was read; get the file again"),
    "pickle-several": (INFO, "they are given as a list; pickle.load and torch.load read one at a time"),
    "pickles-limit": (WARNING, "the file holds more pickles than Limits.pickles; the rest are not read"),
    "pickle-raw": (INFO, "joblib.load reads it; pickle.load does not"),
    "pickle-hidden": (ERROR, "pickle.load takes for opcodes what joblib.load takes for an array: treat the file with suspicion"),
    "pickle-companions": (INFO, "joblib before 0.10 wrote each array to a file beside the pickle: keep them together"),
    "companion-missing": (ERROR, "get the files from where the pickle came from and put them beside it; their arrays cannot be read"),
    "npy-trailing": (WARNING, "NumPy reads no further than the array"),
    "data-missing": (WARNING, "the pickle alone holds no tensor data: put the folder data/ of the archive beside data.pkl"),
    "data-beside": (INFO, "the tensor data was read from the files of the folder data/ beside it"),
    "archive-unpacked": (INFO, "torch.load and torch.jit.load read no folders: `zip -0 -r NEW.pt FOLDER`, from where the folder lies"),
    "folder-entry": (WARNING, "only plain files that lie in the folder are read"),
    "safetensors-header": (ERROR, "the safetensors library refuses such a header; write the file again with it"),
    "safetensors-metadata": (ERROR, "the safetensors library takes texts only; write the file again with texts for values"),
    "safetensors-entry": (ERROR, "the safetensors library refuses the whole file for it; the tensor cannot be read or is in doubt"),
    "safetensors-extra": (WARNING, "the safetensors library reads it all the same; other readers may not"),
    "safetensors-duplicate": (ERROR, "the last one was used, as the safetensors library does; its specification forbids it"),
    "safetensors-hole": (ERROR, "what no tensor covers may hide anything; the safetensors library refuses the file"),
    "safetensors-overlap": (ERROR, "the safetensors library refuses the file"),
    "safetensors-short": (ERROR, "download or copy the file again; the tensors beyond its end are refused"),
    "safetensors-trailing": (ERROR, "the safetensors library refuses the file: write it again with `inert convert`"),
    "shard-missing": (ERROR, "get the missing file and put it beside the others; the tensors of the other shards can be read"),
    "shard-unreadable": (ERROR, "download or copy the shard again; the tensors of the other shards can be read"),
    "shard-path": (ERROR, "an index must name files inside its own folder; treat it with suspicion"),
    "shard-ghost": (ERROR, "the index and the shards are not of one save; get them all from one place"),
    "shard-duplicate": (ERROR, "programs differ on which of them they read; get all files from one place"),
    "shard-stray": (WARNING, "the index does not name it, and programs may not read it; it is listed all the same"),
    "shard-unnamed": (
        WARNING,
        "programs that go by the index do not read it; it is of another save, or the index is: `inert repair SRC DST` takes what it lacks",
    ),
    "shards-index": (ERROR, "programs differ on how they read such an index; write it again"),
    "shards-total": (WARNING, "most programs do not look at it; it may also mean that files of two saves are mixed"),
    "shards-count": (WARNING, "the index names fewer files than their numbers promise; check that it is of the same save"),
    "shards-odd": (WARNING, "other programs expect a dictionary of tensors in every shard"),
    "shards-choice": (INFO, "open the other index or a file by its own name to read that"),
    "shards-no-index": (INFO, "all shards of the set were read"),
    "dcp-file-missing": (ERROR, "get the missing file and put it beside the others; the tensors in it cannot be read"),
    "dcp-record": (ERROR, "the .metadata and the .distcp files are not of one save, or damaged; get them all from one place"),
    "dcp-stray": (INFO, "no name of the saved state lies there; an older save may have left it"),
    "dcp-entry": (ERROR, "the entry of .metadata is not what torch.distributed.checkpoint writes; nothing was made of it"),
    "zero-missing": (ERROR, "get the missing file and put it beside the others; the tensors in it cannot be read"),
    "zero-unreadable": (ERROR, "download or copy the file again; the tensors in it cannot be read"),
    "zero-twice": (ERROR, "the files are of two saves: move those of the other one away; the tensors in them are refused"),
    "zero-partitions": (ERROR, "the files are not of one save; get them all from one place"),
    "zero-sizes": (ERROR, "the model file and the optimizer files are not of one save; the tensors concerned are refused"),
    "zero-experts": (ERROR, "DeepSpeed's ds_to_universal.py puts such partitions together"),
    "zero-expert-missing": (ERROR, "get the missing file and put it beside the others"),
    "zero-no-partitions": (WARNING, "the weights are those of the model file; the optimizer files hold them in float32"),
    "zero-saved": (INFO, "given as the model file has it; DeepSpeed's own consolidation leaves it out"),
    "zero-slices": (INFO, "the tensors of each rank are slices of the model's: put them together as the model was cut"),
    "zero-optimizer": (INFO, "open an optimizer file by its own name to see them"),
    "tf-block-crc": (ERROR, "TensorFlow refuses the index; what it says may be wrong: get the file again"),
    "tf-block": (ERROR, "the tensors in this block of the index are not listed; the others can be read. Get the file again"),
    "tf-order": (ERROR, "TensorFlow may not find such a key, or the other one; the index is damaged or was not written by TensorFlow"),
    "tf-index-gap": (WARNING, "TensorFlow leaves no such gaps in an index; another program has written or changed it"),
    "tf-index-overlap": (ERROR, "no writer makes blocks that share bytes; treat the file with suspicion"),
    "tf-footer": (WARNING, "TensorFlow does not look there; the index is damaged, or of another program"),
    "tf-header": (ERROR, "TensorFlow refuses such a checkpoint; get it again"),
    "tf-entry": (ERROR, "the entry is damaged, and nothing was made of it; the other tensors can be read"),
    "tf-shard-missing": (ERROR, "get the missing file and put it beside the index; names, types and shapes are known without it"),
    "tf-shard-short": (ERROR, "the file is cut short, or index and data are of two saves; get all files of one save"),
    "tf-shard-long": (WARNING, "the index and this file may be of two saves; check them by verify, or get all files of one save"),
    "tf-gap": (WARNING, "TensorFlow fills up with zeros and does not look there; the file is damaged, or of another program"),
    "tf-overlap": (ERROR, "no writer makes tensors that share bytes; treat the file with suspicion"),
    "tf-mixed-steps": (ERROR, "index and data are of two saves, of different steps most likely; get all files of one save"),
    "tf-tensor-crc": (ERROR, "the stored bytes are damaged; get the file again"),
    "tf-slice-stray": (WARNING, "no tensor is made of this slice; TensorFlow lists it under its coded name"),
    "tf-object-graph": (ERROR, "the tree of objects cannot be shown; the tensors can be read by their keys"),
    "tf-unmerged": (WARNING, "the save was not finished: its parts were never merged; all that are there were read as one"),
    "tf-part-missing": (ERROR, "the save was not finished, or files were lost; the tensors of that part are not known"),
    "tf-choice": (INFO, "open another one by its own name to read that"),
    "tf-state-stale": (WARNING, "the newest one that is there was read; edit or delete the file named checkpoint"),
    "tf-state-path": (INFO, "the file was looked for beside the file named checkpoint; TensorFlow would look where its author had it"),
    "tf-index-alone": (INFO, "a stream has no files beside it: open the index by its path to read the data"),
    "tf-index-name": (ERROR, "TensorFlow does not find it under this name; give the index its own name, and get the data file again"),
    "pickle-trailing": (WARNING, "torch ignores them; check that the file is what you expect"),
    "pickle-proto": (WARNING, "a second PROTO opcode or one out of place: no ordinary writer makes it"),
    "pickle-protocol": (WARNING, "Python's unpickler refuses it; torch's weights_only one does not look at the number"),
    "pickle-frame": (ERROR, "Python's two unpicklers differ on such a frame; it was read as pickle.load and torch.load read it"),
    "pickle-arguments": (ERROR, "every unpickler stops at such a call, torch's too; it was kept as an inert node"),
    "pickle-extension": (ERROR, "such a code stands for a name that only the loading program knows: do not load the file"),
    "pickle-buffer": (ERROR, "an out-of-band buffer is not in the file"),
    "pickle-duplicate-key": (WARNING, "the last value was used, as Python does"),
    "pickle-odd-key": (WARNING, "a key that no Python dict could hold cheaply was kept as an inert node"),
    "pickle-broken": (ERROR, "the pickle cannot be read to its end; what stands before the fault is kept"),
    "value-odd": (WARNING, "the value's arguments are not what its class takes; it was kept as an inert node"),
    "paths-limit": (WARNING, "more paths lead to the same containers than Limits.paths; the rest are not listed"),
    "names-limit": (WARNING, "the tensor names together exceed Limits.name_bytes; the rest are not listed"),
    "script-files": (ERROR, "TorchScript may do so while it is loaded, at any path that it names; do not load the file"),
    "script-code": (INFO, "torch.jit.load compiles it and runs it with the model; inert lists it and reads nothing of it"),
    "package-source": (WARNING, "importing from the package runs it; inert lists it and reads nothing of it"),
    "package-reduce": (INFO, "such an object was kept as a reference; TorchScript modules are listed under .data/ts_code"),
    "export-native": (WARNING, "running the program loads this compiled code; inert lists it and reads nothing of it"),
    "shared-alias": (INFO, "the metadata says which tensor stands for it; shared=copy writes each under its own name"),
    "aliases": (
        INFO,
        "the library gives the stored tensor only; converting gives both names (save_model also drops views so, as equal ones)",
    ),
    "shared-copy": (INFO, "they no longer share memory once they are loaded, and take more room"),
    "header-large": (WARNING, "the safetensors library refuses headers over 100,000,000 bytes; use shards or shorter names"),
    "shards-one": (INFO, "programs read the one file without an index; a smaller max_shard_size (--max-shard-size) makes more"),
    "shards-stale": (WARNING, "programs may read them instead of what was written: remove them if nobody needs them"),
    "legacy-untyped": (WARNING, "torch.load fails on them in this format, though torch.save writes them so: use torch-zip, or cast them"),
    "storage-stray": (INFO, "no tensor uses this record"),
    "pickle-reencoded": (INFO, "it was not in any known program's style: its opcodes differ, what it says does not"),
    "pattern-idle": (WARNING, "inert ls shows the names; what lies inside of objects and tuples stays with them"),
    "device-left": (WARNING, "the subclass keeps its own note of the device: --dense makes plain tensors of replicated ones"),
    "cast-overflow": (WARNING, "they are beyond the type's range: keep these tensors in a wider type, with --dtype NAME=float32"),
    "cast-saturated": (WARNING, "the type's largest value stands for them: scale the tensors before, or keep them in a wider type"),
    "cast-left": (INFO, "they keep their type: --dense makes plain tensors of some"),
    "cast-untied": (INFO, "the cast tensor has a storage of its own now, and the other view keeps the old one"),
    "cast-no-grad": (INFO, "torch loads no tensors of this type that require gradients, unless they are parameters"),
    "dense-left": (WARNING, "no single plain tensor says the same: convert it where the program that wrote it runs"),
    "dtype-widened": (INFO, "the values are the same; cast them back after loading"),
    "zip-directory": (ERROR, "the members can be found by their own headers all the same: inert repair does so"),
    "zip-cut": (ERROR, "get the file again; what is there can be recovered by inert repair"),
    "zip-crc-field": (WARNING, "the bytes are right and one checksum is wrong; inert repair writes it anew"),
    "legacy-head": (ERROR, "torch.load refuses the file; inert repair writes the number anew"),
    "legacy-count": (
        ERROR,
        "torch.load refuses the storage; its bytes were taken from where they should stand, and may be damaged as well",
    ),
    "tf-index-cut": (ERROR, "TensorFlow refuses such an index; inert repair finds its blocks one behind another"),
    "repair-filled": (WARNING, "these are no trained values: train them again, or get them from another copy"),
    "repair-untold": (WARNING, "keep the report of the repair beside the file"),
    "repair-attributes": (WARNING, "the tensor itself is whole"),
    "repair-place": (WARNING, "None stands in their places, so that what follows them keeps its own"),
    "repair-program": (WARNING, "a program needs every record: the model's own code can load these tensors (load_state_dict)"),
    "repair-raw": (WARNING, "what each record was must be known from elsewhere, such as the model's own code"),
    "pickle-computed-name": (
        ERROR,
        "the name is not written down but made while loading: nobody can say what is imported; do not load the file",
    ),
    "pickle-getattr": (ERROR, "which attribute is taken, and of what, is only known while loading; do not load the file"),
    "pickle-codec": (ERROR, "Python imports a module of that codec's name; real files use latin-1 only"),
    "pickle-loads-bytes": (ERROR, "what is loaded is made while loading, so that nobody can look at it; do not load the file"),
    "pickle-changes-name": (ERROR, "it would change a class or module of the loading program itself; do not load the file"),
    "pickle-odd-arguments": (ERROR, "no pickler writes such a call, and it does more than build data; do not load the file"),
    "pickle-array-again": (ERROR, "joblib writes each array once: this makes it read bytes in another way; do not load the file"),
    "pickle-calls-result": (WARNING, "what is called is only known while loading; do not load the file unless you trust its maker"),
    "pickle-embedded": (INFO, "it was scanned like a file of its own"),
    "pickle-elsewhere": (WARNING, "no reader of this format looks there, but another program may; it was scanned all the same"),
    "zip-stray": (ERROR, "programs that read archives in another way see it; it was scanned too"),
    "zip-several": (INFO, "torch reads the first one, Python's zipfile the last; all of them were scanned"),
    "archive-escape": (ERROR, "a program that unpacks the archive may write or read outside of its folder; torch.load does not unpack it"),
    "storage-extra": (WARNING, "no tensor covers these bytes; torch refuses such a record"),
    "scan-unread": (ERROR, "what was not read may hold anything: do not take the file for clean; get it again, or unpack it and scan that"),
    "scan-limit": (ERROR, "what was not read may hold anything; raise Limits.scan_ratio, or unpack the file and scan the parts"),
    "scan-nothing": (INFO, "no pickle is in it: there is nothing that pickle.load or torch.load would run"),
    "source-file": (INFO, "it is source text: whoever imports or runs it runs what stands there; inert does not judge it"),
    "lambda-layer": (ERROR, "it carries compiled Python code, which Keras runs when it loads the model unless safe_mode is on"),
    "text-name": (INFO, "it is text to whoever reads only the tensors; a program that is told to builds its objects by it"),
    "text-name-unknown": (WARNING, "Lightning before 2.6 imports and calls it in load_from_checkpoint; nobody has judged it"),
    "text-name-dangerous": (ERROR, "do not give the file to that program; reading the tensors with inert calls nothing"),
    "tf-op": (WARNING, "running the graph does that on the machine; restoring the weights alone does not"),
    "class-plain": (WARNING, "its contents were changed, and what the class does with them is unknown: a plain container takes its place"),
}

# code of a fault that reading notes → what `inert repair` does about it. What a writer makes anew is right in every field, so the table
# names what is mended by writing; where bytes are missing or damaged, the tensors over them are left out and listed.
ANEW, KEPT, OUT = "written anew", "the one that was used is kept", "left out and listed as lost"
REPAIRS: dict[str, str] = {
    "zip-directory": f"the members are found by their own headers; the directory is {ANEW}",
    "zip-cut": f"what is whole in the readable part is kept; what is not is {OUT}",
    "zip-beyond-end": f"what is whole in the readable part is kept; what is not is {OUT}",
    "zip-crc": "the bytes are kept, named as doubtful, and get a checksum of their own; doubtful=lost leaves their tensors out",
    "zip-inflate": f"what is whole in the readable part is kept; what is not is {OUT}",
    "zip-crc-field": f"the bytes are kept, the checksum is {ANEW}",
    "zip-crc-none": f"checksums are {ANEW}",
    "zip-prefix": "the bytes before the archive are left out",
    "zip-trailing": "the bytes behind the archive are left out",
    "zip-comment": "the comment is left out",
    "zip-count": f"the directory is {ANEW}",
    "zip-sizes": f"sizes are taken from what follows the member, and {ANEW}",
    "zip-method": f"the header is {ANEW} where the bytes can be read all the same",
    "zip-encrypted": f"bits that lie are cleared; what is encrypted is {OUT}",
    "zip-folder": f"the mark is left out: the directory is {ANEW}",
    "zip-masked": f"the directory is {ANEW}",
    "zip-local-name": f"the directory's name counts; the header is {ANEW}",
    "zip-local-header": f"the member's bytes are found by the directory and what follows them; the header is {ANEW}",
    "zip-local-fields": f"the header is {ANEW}",
    "zip-text": f"the record gets a name in which such bytes are %XX; the id is {ANEW}",
    "zip-name": "a record that torch does not ask for gets a name in which such characters are %XX",
    "zip-descriptor": f"the descriptor is {ANEW}",
    "zip-gap": "what belongs to no member is left out",
    "zip-disk": f"the directory is {ANEW}",
    "zip-flags": f"the directory is {ANEW}",
    "zip-extra": f"the headers are {ANEW}",
    "zip-end": f"the end records are {ANEW}",
    "zip-alignment": "storages are put at multiples of what .storage_alignment says, or of torch's own 64 where that is no number",
    "storage-deflated": "records are stored as torch stores them",
    "zip-duplicate": KEPT,
    "zip-case": "the one with the name that torch asks for is kept",
    "zip-outside-root": "what torch does not read is left out",
    "zip-no-root": "the records are put into a folder",
    "zip-deflated": "records are stored as torch stores them",
    "version-missing": "a version record is added",
    "version-unknown": f"the version record is {ANEW}",
    "alignment-bad": f"the alignment record is {ANEW}",
    "byteorder-missing": "a byteorder record is added",
    "byteorder-bad": f"the byteorder record is {ANEW}: little, or what byteorder= says",
    "record-missing": f"its tensors are {OUT}",
    "record-size": f"what is whole in the readable part is kept; what is not is {OUT}",
    "tensor-damaged": OUT,
    "reference-unknown": OUT,
    "pickle-broken": "what the pickle said before the fault is kept",
    "pickle-trailing": "the bytes behind the pickle are left out",
    "legacy-trailing": "the bytes behind the last storage are left out",
    "legacy-head": f"the number is {ANEW}",
    "legacy-count": f"the count is {ANEW} from what the pickle says; the tensors are named as doubtful",
    "tar-cut": f"what is whole in the readable part is kept; what is not is {OUT}",
    "tar-damaged": "the members that torch needs are found by their headers, wherever these stand",
    "tar-duplicate": KEPT,
    "wrapper-opened": "what is inside is written without the wrapper",
    "wrapper-damaged": "what came out before the fault is repaired like any other file cut short",
    "safetensors-header": f"the entries that can be read are kept; the header is {ANEW}",
    "safetensors-metadata": f"what is text is kept; the header is {ANEW}",
    "safetensors-entry": OUT,
    "safetensors-extra": f"the header is {ANEW}",
    "safetensors-duplicate": KEPT,
    "safetensors-hole": "tensors are written without gaps",
    "safetensors-overlap": "each tensor gets bytes of its own",
    "safetensors-short": f"tensors beyond the end are {OUT}",
    "safetensors-trailing": "the bytes behind the last tensor are left out",
    "shard-missing": f"the others are a set of their own; what the index names in it is {OUT}",
    "shard-unreadable": f"what can be saved of it is kept; the rest is {OUT}",
    "shard-path": f"it is not read; what the index names in it is {OUT}",
    "shard-ghost": f"the index is {ANEW} from the shards",
    "shard-duplicate": KEPT,
    "shard-stray": f"the index is {ANEW} from the shards",
    "shard-unnamed": "the tensors in it that no other shard holds are kept, under an index of their own; the file is left where it is",
    "shards-index": f"the index is {ANEW} from the shards",
    "shards-total": f"the index is {ANEW} from the shards",
    "shards-count": f"the index is {ANEW}, and the shards are numbered anew",
    "shards-no-index": f"an index is {ANEW}",
    "tf-index-cut": f"the blocks are found one behind another; the index is {ANEW}",
    "tf-block-crc": "tensors whose own checksums are right are kept",
    "tf-block": f"the other blocks are kept; the index is {ANEW}",
    "tf-order": f"the index is {ANEW}",
    "tf-index-gap": f"the index is {ANEW}",
    "tf-index-overlap": f"the index is {ANEW}",
    "tf-header": f"the header is {ANEW}",
    "tf-entry": OUT,
    "tf-shard-missing": f"its tensors are {OUT}",
    "tf-shard-short": f"tensors beyond the end are {OUT}",
    "tf-shard-long": "the bytes behind the last tensor are left out",
    "tf-overlap": "each tensor gets bytes of its own",
    "tf-tensor-crc": OUT,
    "tf-mixed-steps": f"tensors whose checksums are wrong are {OUT}",
    "tf-unmerged": "the parts are written as one",
    "tf-part-missing": "the parts that are there are written as one",
}


class Location:
    """Where: ``part`` (record, member or file name) and ``offset`` in bytes from that part's start, or None."""

    __slots__ = ("offset", "part")

    def __init__(self, part: str, offset: int | None = None) -> None:
        self.part = part
        self.offset = offset

    def __str__(self) -> str:
        return self.part if self.offset is None else f"{self.part} at byte {self.offset:,}"

    def __repr__(self) -> str:
        return f"Location({self.part!r}, {self.offset!r})"


class Finding:
    """One fact about a file: ``code`` (a key of CODES), ``severity``, ``message``, ``where``, the ``tensors`` it hits, ``fix``."""

    __slots__ = ("code", "fix", "message", "severity", "tensors", "where")

    def __init__(self, code: str, message: str, part: str = "", offset: int | None = None, tensors: tuple[str, ...] = ()) -> None:
        self.code = code
        self.severity, self.fix = CODES[code]
        self.message = message
        self.where = Location(part, offset)
        self.tensors = tensors

    def __str__(self) -> str:
        from .errors import one_line

        where = f"{self.where}: " if self.where.part else ""
        hit = f" [{', '.join(self.tensors[:3])}{' …' if len(self.tensors) > 3 else ''}]" if self.tensors else ""
        return one_line(f"{self.severity}: {where}{self.message}{hit}; {self.fix}")

    def __repr__(self) -> str:
        return f"<Finding {self.code} {self}>"


def listed(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(name[:80] for name in shown[:SHOWN]) + (f" and {len(shown) - SHOWN:,} more" if len(shown) > SHOWN else "")


def are(names: list[str]) -> str:
    return f"{'is' if len(names) == 1 else 'are'} also {listed(names)}"
