"""What a file is that inert does not open: one sentence that says so, and one hint that says what to do next.

Knows: how the things that get mistaken for checkpoints begin and end, as tables of patterns tried in order. The content
decides; a file's name is asked only where its bytes say nothing. Reads the first and last few KiB and bounded samples, and
inflates at most 4 KiB of a wrapper.
Refuses to know: how to read any of these formats, and whether one that it names is whole (unless its ends show that).
"""

from __future__ import annotations

import re
from struct import Struct

from ..errors import one_line
from ..source import BytesSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..source import Source

    Answer = tuple[str, str, str, str]  # kind, noun phrase, facts (begin with "; " or are empty), hint
    Rows = tuple[tuple[str, bytes, str, str], ...]  # kind, pattern, noun phrase, hint

END = 8 << 10  # bytes looked at on both ends of the file
INSIDE = 4 << 10  # bytes inflated to tell what a wrapper holds
WHOLE = 256 << 10  # files up to this size are searched for NUL runs and members' headers exactly, larger ones by samples
COMMENT = (64 << 10) + 22  # how far before the end of a file a zip's end record may lie
PROBE, PROBES = 512, 64  # bytes of a sample, and how many: 512 is the smallest unit that storage loses
HOPS = 64  # members of a tar that are visited
CANDIDATES = 16  # end records of a zip that are tried: a comment may hold false ones
SHOWN = 3  # members or ranges that are listed

AGAIN = "download or copy the file again and compare its size with the original's"
NEVER = "its content was probably never written, or only in part: " + AGAIN
LATER = "this version of inert does not read it yet: the table in the README lists the formats it reads"
PICKLE = "this version of inert does not read bare pickles yet; do not unpickle it unless you trust whoever made it"
OPEN = "inert reads this format: try `inert info` on it"
WRONG = "it holds no weights: check the link or path that it came from"
USE = "inert does not read this format: use "
MAKER = USE + "the program that made it"
BINARY = "copy the file again in binary mode: the bytes that were lost cannot be told"
LINK = "it only points to another file: get that file"
PAGE = "the download gave this instead of the file: check the link and your access to it, then download it again"
MEMBER = "unpack it and open the file inside"
TF_LATER = "this version of inert does not read TensorFlow checkpoints yet"
BESIDE = "it holds no weights: they are in the .index and .data files beside it; " + TF_LATER

LEGACY = "a legacy PyTorch checkpoint (the layout before 1.6)"
TARRED = "a PyTorch checkpoint in the tar layout before 0.1.10"
MAGIC = rb"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"  # of torch.save before 1.6: 0x1950a86a20f9469cfc6c as a LONG1

# All rows: kind, pattern, noun phrase, hint. The first that matches names the file.
# What inert will read in a later version comes first: drop a row here when its format has moved in.
LATER_HEADS: Rows = (
    ("torch-legacy", rb"\x80[\x02\x03]\x8a\x0a" + MAGIC + rb"\.", LEGACY, LATER),
    ("torch-legacy", rb"\x80[\x04\x05](?:\x95.{8})?\x8a\x0a" + MAGIC + rb"\x94?\.", LEGACY, LATER),
    ("torch-legacy", rb"L119547037146038801333356L?\n\.", LEGACY, LATER),
    ("mangled", rb"\x80[\x02\x03]\x8a\r\n\x6c\xfc", f"{LEGACY} damaged by a change of line ends", BINARY),
    ("torchscript", rb".{4}PTMF", "a TorchScript model for mobile devices (flatbuffer)", LATER),
    (
        "tf-bundle",
        rb"\0\0[\x02-\x40]\x08.(?:\x10\x01)?\x1a[\x02-\x10]\x08\x01",
        "the index of a TensorFlow checkpoint, cut short",
        AGAIN,
    ),
)

HEADS: Rows = (
    ("pytorch1", rb"PYTORCH1", "a file of PyTorch 1.0's preview", "no released PyTorch reads it either: export the model again"),
    ("gguf", rb"GGUF", "a GGUF model (llama.cpp)", USE + "llama.cpp or the gguf package"),
    ("ggml", rb"lmgg|fmgg|tjgg|algg", "a GGML model (llama.cpp or whisper.cpp before GGUF)", MAKER),
    ("matlab", rb"MATLAB 7\.3 MAT-file", "a MATLAB 7.3 file (HDF5 inside)", USE + "h5py"),
    ("matlab", rb"MATLAB \d\.\d MAT-file", "a MATLAB file", USE + "scipy.io.loadmat"),
    ("hdf5", rb"(?:.{512}|.{1024}|.{2048})?\x89HDF\r\n\x1a\n", "an HDF5 file", USE + "h5py, or Keras if Keras wrote it"),
    ("npy", rb"\x93NUMPY", "a NumPy array (.npy)", USE + "numpy.load"),
    ("torch7", rb"[\x03\x04]\0{3}.{0,4000}?\x03\0{3}V 1.{4}\w+\.\w+", "a Torch7 file (Lua, .t7)", USE + "torchfile for Python"),
    ("torch7", rb"4\r?\n1\r?\n3\r?\nV 1\r?\n", "a Torch7 file in text form (Lua, .t7)", USE + "Lua Torch to convert it"),
    ("dgl", rb"\x3f\xa1\xb4\x46\xf0\x4f\x2e\xdd", "a graph file of DGL", USE + "dgl.load_graphs"),
    ("tvm", rb"\x3f\xa1\xb4\x96\xf0\x40\x5e\xdd|\xb7\x9c\x04\x05\x4f\x8d\xe5\xf7", "a parameter file of TVM or DGL", MAKER),
    ("mxnet", rb"\x12\x01\0{14}", "an MXNet parameter file", USE + "mxnet.nd.load"),
    ("darknet", rb"\0{4}\x02\0{3}[\0\x05]\0{3}.{4}\0{4}", "a Darknet weights file (YOLO)", MAKER),
    ("fasttext", rb"\xba\x16\x4f\x2f", "a fastText model", USE + "fasttext.load_model"),
    ("flax", rb"[\x81-\x8f](?:\xa6params|\xa4step)", "a msgpack file as Flax writes it", USE + "flax.serialization"),
    ("tflite", rb".{4}TFL3", "a TensorFlow Lite model", MAKER),
    ("ort", rb".{4}ORTM", "an ONNX Runtime model (.ort)", MAKER),
    ("executorch", rb".{4}ET\d\d", "an ExecuTorch program (.pte)", MAKER),
    (
        "tf-events",
        rb".{12}\x09.{8}\x1a\x0dbrain\.Event:",
        "a TensorBoard event log",
        "it holds curves, no weights: use TensorBoard",
    ),
    ("r-data", rb"RD[AXB][23]\n|[XB]\n\0{3}[\x02\x03]|A\n[23]\n\d", "an R data file (.rds or .RData)", USE + "R"),
    ("sqlite", rb"SQLite format 3\0", "an SQLite database", WRONG),
    ("parquet", rb"PAR1", "a Parquet table", WRONG),
    ("arrow", rb"ARROW1|FEA1|\xff{4}.{4}\x10\0{3}", "an Arrow table", WRONG),
    ("tokenizer", rb"\n.\n[\x05-\x09](?:<unk>|<pad>|\[PAD\])", "a SentencePiece tokenizer", WRONG),
    ("png", rb"\x89PNG\r\n\x1a\n", "a PNG picture", WRONG),
    ("jpeg", rb"\xff\xd8\xff", "a JPEG picture", WRONG),
    ("gif", rb"GIF8[79]a", "a GIF picture", WRONG),
    ("picture", rb"RIFF.{4}WEBP|II\*\0|MM\0\*|BM.{4}\0{4}.{4}[\x0c\x28\x6c\x7c]\0{3}", "a WebP, TIFF or BMP picture", WRONG),
    ("pdf", rb"%PDF-", "a PDF document", WRONG),
    ("media", rb"RIFF.{4}(?:WAVE|AVI )|OggS|fLaC|ID3[\x02-\x04]|.{4}ftyp|\x1aE\xdf\xa3", "a sound or video file", WRONG),
    ("elf", rb"\x7fELF", "a Linux program or library (ELF)", WRONG),
    ("pe", rb"MZ.{62,1000}?PE\0\0", "a Windows program or library", WRONG),
    ("mach-o", rb"[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe", "a macOS program or library, or Java byte code", WRONG),
    ("wasm", rb"\0asm", "a WebAssembly module", WRONG),
    ("windows-shortcut", rb"\x4c\0{3}\x01\x14\x02\0{5}\xc0\0{6}\x46", "a Windows shortcut (.lnk)", LINK),
    (
        "appledouble",
        rb"\0\x05\x16\x07",
        "a macOS companion file (AppleDouble)",
        "open the file of the same name without the leading ._",
    ),
    ("applesingle", rb"\0\x05\x16\0", "a macOS file wrapped as AppleSingle", "copy the file again from the Mac in another way"),
    ("ds-store", rb"\0\0\0\x01Bud1", "a macOS folder settings file (.DS_Store)", WRONG),
    ("plist", rb"bplist00", "a macOS property list", WRONG),
    ("torrent", rb"d\d+:(?:announce|created|info)", "a BitTorrent file", LINK),
    ("ole", rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Microsoft Office document or an installer", WRONG),
    ("encrypted", rb"Salted__|age-encryption\.org/v1|-----BEGIN (?:PGP|AGE)", "an encrypted or signed file", "decrypt it first"),
    ("cab", rb"MSCF", "a Windows cabinet archive", MEMBER),
    ("ar", rb"!<arch>\n", "an ar archive (a .deb package or a static library)", MEMBER),
    ("zip-empty", rb"PK\x05\x06.{4}\0{4}", "an empty zip archive", AGAIN),
    (
        "zip-part",
        rb"PK\x07\x08PK\x03\x04",
        "the first part of a split zip archive",
        "join its parts with `zip -s 0`, then unpack them",
    ),
)

WRAPPERS: Rows = (
    ("gzip", rb"\x1f\x8b\x08", "a gzip wrapper", "unpack it with `gunzip < FILE > NEW`"),
    ("xz", rb"\xfd7zXZ\0", "an xz wrapper", "unpack it with `xz -d < FILE > NEW`"),
    ("bzip2", rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "a bzip2 wrapper", "unpack it with `bunzip2 < FILE > NEW`"),
    ("zlib", rb"\x78[\x01\x5e\x9c\xda]", "a zlib stream", "decompress it with Python's zlib module"),
    ("lzma", rb"\x5d\0\0.{2}(?:\xff{8}|.{5}\0{3})", "an LZMA wrapper", "unpack it with `xz -d --format=lzma < FILE > NEW`"),
    ("zstd", rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", "a Zstandard wrapper", "unpack it with `zstd -d < FILE > NEW`"),
    ("lz4", rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18", "an LZ4 wrapper", "unpack it with `lz4 -d < FILE > NEW`"),
    ("7z", rb"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it with `7z x FILE` and open the file inside"),
    ("rar", rb"Rar!\x1a\x07", "a RAR archive", "unpack it with `unrar x FILE` and open the file inside"),
    ("compress", rb"\x1f\x9d", "a compress (.Z) wrapper", "unpack it with `uncompress < FILE > NEW`"),
    ("snappy", rb"\xff\x06\0\0sNaPpY", "a Snappy wrapper", "decompress it with a Snappy tool"),
    (
        "joblib-zfile",
        rb"ZF0x",
        "a compressed file of an old joblib",
        "if you trust its maker, load it with joblib and save it again",
    ),
)
# Kinds above whose beginning can be inflated → the bytes that takes: bzip2 gives nothing before a block of 900 kB is in.
INFLATED = {"gzip": 64 << 10, "zlib": 64 << 10, "xz": 64 << 10, "lzma": 64 << 10, "bzip2": 1 << 20}
WEAK = ("zlib", "lzma")  # two bytes, or some zeros, prove nothing: only what inflates is taken for one of these

CHECKPOINT = rb"\.(?:pt2?|pth|ptl|bin|ckpt|safetensors|pkl|distcp|h5|hdf5|onnx|gguf|index|t7)$|\.data-\d{5}-of-\d{5}$"

# Patterns over the names of an archive's members, one a line; the last row takes what is left.
ZIPS: Rows = (
    ("torch-export", rb"^[^/\n]+/archive_format$|^serialized_exported_program\.json$", "a PyTorch program (.pt2)", LATER),
    ("torchscript", rb"^[^/\n]+/bytecode\.pkl$", "a TorchScript archive for mobile devices", LATER),
    ("torchscript", rb"^[^/\n]+/(?:constants\.pkl$|code/__torch__)", "a TorchScript archive (torch.jit.save)", LATER),
    ("torchscript", rb"^[^/\n]+/tensors/\d+$", "a TorchScript archive of PyTorch 1.0 to 1.1", LATER),
    ("torch-package", rb"^[^/\n]+/\.data/(?:extern_modules|python_version|\w+\.storage)$", "a torch.package archive", LATER),
    ("torch-zip", rb"^[^/\n]+/data\.pkl$", "a PyTorch zip archive", OPEN),
    (
        "torch-unpacked",
        rb"(?:^|/)data\.pkl$",
        "a zip of an unpacked PyTorch archive",
        "data.pkl must lie in exactly one folder: zip that",
    ),
    ("npz", rb"\A(?:[^\n]+\.npy\n)+\Z", "a NumPy archive (.npz)", USE + "numpy.load"),
    ("keras", rb"^model\.weights\.h5$", "a Keras 3 model (.keras)", USE + "Keras, or h5py for model.weights.h5 inside"),
    ("stable-baselines3", rb"^_stable_baselines3_version$", "a Stable-Baselines3 model", "unzip it and open policy.pth"),
    ("torchserve", rb"^MAR-INF/", "a TorchServe model archive (.mar)", "unzip it and open the model file inside"),
    ("zip-of-checkpoint", CHECKPOINT, "a zip archive that holds checkpoint files", "unzip it and open the file inside"),
    ("office", rb"^\[Content_Types\]\.xml$", "an Office document (docx, xlsx or pptx)", WRONG),
    ("office", rb"^mimetype$", "an OpenDocument file or an e-book", WRONG),
    ("jar", rb"^META-INF/MANIFEST\.MF$|^AndroidManifest\.xml$", "a Java or Android archive", WRONG),
    ("wheel", rb"^[^/\n]+\.dist-info/METADATA$", "a Python wheel", "unzip it and look for weights inside"),
    ("zip", rb"", "a zip archive", "unzip it and look for a checkpoint inside"),
)

TARS: Rows = (
    ("torch-tar", rb"^(?:\./)?(?:sys_info|storages|tensors)$", TARRED, LATER),
    (
        "nemo",
        rb"^(?:\./)?model_config\.yaml$",
        "a NeMo model (.nemo)",
        "unpack it with `tar xf FILE` and open model_weights.ckpt",
    ),
    (
        "tar-of-checkpoint",
        CHECKPOINT,
        "a tar archive that holds checkpoint files",
        "unpack it with `tar xf FILE`, open the file inside",
    ),
    ("tar", rb"", "a tar archive", "unpack it with `tar xf FILE` and look for a checkpoint inside"),
)

# Patterns searched in the first bytes of a pickle.
PICKLES: Rows = (
    ("torch-legacy", rb"\A.{5,60}protocol_version.{1,40}little_endian", f"{LEGACY} with damaged first bytes", AGAIN),
    ("joblib", rb"joblib\.numpy_pickle", "a joblib file (a pickle with NumPy arrays between its opcodes)", PICKLE),
    ("torch-dcp", rb"torch\.distributed\.checkpoint\.metadata", "the .metadata of a distributed PyTorch checkpoint", LATER),
    ("pickle", rb"_load_from_bytes", "a bare pickle with PyTorch tensors in it", PICKLE),
    ("pickle", rb"ctorch\n\w*Storage|torch\._utils.{1,4}_rebuild", "the data.pkl of an unpacked PyTorch archive", LATER),
    ("pickle", rb"sklearn\.", "a bare pickle of a scikit-learn object", PICKLE),
    ("pickle", rb"numpy", "a bare pickle with NumPy arrays in it", PICKLE),
    ("pickle", rb"", "a bare pickle", PICKLE),
)

# How a text begins; only the rows behind PROSE may be anything else as well.
XML = rb"(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*"
TEXTS: Rows = (
    (
        "git-lfs-pointer",
        rb"version https?://(?:git-lfs|hawser)\.github\.com/spec/",
        "a Git LFS pointer",
        "run `git lfs pull` in the repository, or download the file itself",
    ),
    ("git-annex-pointer", rb"\S*annex/objects/", "a git-annex pointer", "run `git annex get` in the repository"),
    ("xet-pointer", rb"# xet version", "a Xet pointer", "download the file itself with the hub's own program"),
    ("dvc-pointer", rb"(?:\w+: \w+\n){0,3}outs:\n- ", "a DVC pointer", "run `dvc pull` in the repository"),
    ("svg", XML + rb"<svg", "an SVG picture", WRONG),
    ("plist", XML + rb"<!DOCTYPE plist", "a macOS property list", WRONG),
    (
        "html",
        XML + rb"<(?:!doctype html|html|head|body|title|meta|script|style|div|center|p|h1|pre)\b",
        "a web page (HTML)",
        PAGE,
    ),
    ("xml", rb"<\?xml|<Error>|<[a-z][\w:.-]*(?: [^<>]{0,500})?>\s*<[a-z]", "an XML document", PAGE),
    (
        "http",
        rb"HTTP/\d",
        "a web server's answer with its headers",
        "download the file again: only the answer's body is the file",
    ),
    ("sharded", rb"\{.*\"weight_map\"\s*:", "the index of a sharded checkpoint (JSON with a weight_map)", LATER),
    ("json-error", rb"\{[^{}\[\]]*\"(?:errors?|error_description|message|detail)\"\s*:", "a JSON message", PAGE),
    ("notebook", rb"\{.*\"(?:nbformat|cells)\"\s*:", "a Jupyter notebook", WRONG),
    ("tfjs", rb"\{.*\"(?:modelTopology|weightsManifest)\"\s*:", "a TensorFlow.js model description (JSON)", MAKER),
    ("tokenizer", rb"\{.*\"(?:added_tokens|tokenizer_class|<unk>|\[UNK\])\"\s*:", "a tokenizer description (JSON)", WRONG),
    (
        "model-config",
        rb"\{.*\"(?:architectures|model_type|_class_name|hidden_size|transformers_version)\"\s*:",
        "a model's configuration (JSON)",
        "it holds no weights: open the file beside it that does",
    ),
    ("json", rb"\{\s*[\"}]|\[\s*[\"\d\[\]{tfn-]", "a JSON text", "it holds no weights in a form that inert reads"),
    ("tf-checkpoint-state", rb"(?:all_)?model_checkpoint_paths?: ", "TensorFlow's `checkpoint` file", BESIDE),
    (
        "tf-graph",
        rb"(?:node|graph_def|meta_graphs|meta_info_def) \{|saved_model_schema_version:",
        "a TensorFlow graph as text",
        WRONG,
    ),
    ("desktop-ini", rb"\[\.ShellClassInfo\]", "a Windows folder settings file (desktop.ini)", WRONG),
    ("internet-shortcut", rb"\[(?:InternetShortcut|Desktop Entry)\]|\[DEFAULT\]\s*BASEURL", "an internet shortcut", LINK),
    ("word-vectors", rb"\d+ \d+\n\S+(?: -?\d[\d.e-]*)+", "a text of word vectors", USE + "gensim"),
    ("checksums", rb"[0-9a-f]{32,128} [ *]\S", "a list of checksums", "it holds no weights: sha256sum or md5sum checks with it"),
)
PROSE: Rows = (
    (
        "python-source",
        rb"(?-i:#![^\n]*python|# -\*- coding|from [\w.]+ import |import [\w.]+\s*(?:as |[\n,;]|\Z)|def \w+\(|class \w+[(:])",
        "a Python source text",
        WRONG,
    ),
    ("text", rb"", "a plain text", "inert reads no weights from text: check the link or path that it came from"),
)

# What a text of some kinds tells of itself: where it stands, and how it is said (groups named n… are numbers).
BEGINS = (rb"\A(?P<a>[^\n]+)", '; it begins with "{a}"')
SAYS = '; it says "{a}"'
REAL = "; the real file is {n} bytes; nothing was downloaded"
TOLD: dict[str, tuple[bytes, str]] = {
    "git-lfs-pointer": (
        rb"oid sha256:(?P<a>[0-9a-f]{64})\s+size (?P<n>\d+)",
        "; the real file is {n} bytes, sha256 {a}; nothing was downloaded",
    ),
    "git-annex-pointer": (rb"-s(?P<n>\d+)", REAL),
    "xet-pointer": (rb"filesize = (?P<n>\d+)", REAL),
    "dvc-pointer": (rb"size: (?P<n>\d+)", REAL),
    "plist": (rb"<string>(?P<a>https?:[^<]+)", '; it links to "{a}"'),
    "html": (rb"<(?:title|h1)[^>]*>\s*(?P<a>[^<]+)", '; its title is "{a}"'),
    "xml": (rb"<(?:message|title)>(?P<a>[^<]+)", SAYS),
    "http": BEGINS,
    "sharded": (rb"\"(?P<a>[^\"\n]+\.(?:bin|safetensors))\"", '; it names shards such as "{a}"'),
    "json-error": (rb"\"(?:error|error_description|message|detail)\"\s*:\s*\"(?P<a>[^\"]+)", SAYS),
    "model-config": (rb"\"(?:model_type|_class_name)\"\s*:\s*\"(?P<a>[^\"]+)", '; the model is "{a}"'),
    "json": (rb"\A(?P<a>[\s\S]{1,200})", BEGINS[1]),
    "tf-checkpoint-state": (rb"model_checkpoint_path: \"(?P<a>[^\"\n]+)", '; the latest checkpoint is "{a}"'),
    "internet-shortcut": (rb"\nURL=(?P<a>\S+)", '; it links to "{a}"'),
    "word-vectors": (rb"\A(?P<n>\d+) (?P<n2>\d+)", "; {n} words of {n2} numbers"),
    "checksums": (rb"\A\w+ [ *](?P<a>[^\n]+)", '; it names "{a}"'),
    "python-path-file": BEGINS,
    "python-source": BEGINS,
    "text": BEGINS,
}

# What a file of a few bytes may be the beginning of.
BEGINNINGS: tuple[tuple[bytes, str], ...] = (
    (b"PK\3\4", "a zip archive, as PyTorch writes since 1.6"),
    (b"\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", LEGACY),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"sys_info\0", TARRED),
    (b"storages\0", TARRED),
    (b"\x80\3", "a pickle"),
    (b"\x80\4\x95", "a pickle"),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\x1f\x8b\x08", "a gzip wrapper"),
    (b"GGUF", "a GGUF model"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"version https://git-lfs", "a Git LFS pointer"),
    (b"<!DOCTYPE html", "a web page"),
)
EMBEDDED = BEGINNINGS[:3]  # of these a copy is worth looking for further in

ENCODED = ("pickle", "joblib", "torch-legacy", "torch-zip", "torchscript", "safetensors", "gzip", "npy", "hdf5")  # met as base64
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
TAR_KINDS = tuple(row[0] for row in TARS)
TF_MAGIC = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"  # the last 8 bytes of a table: u64 0xdb4775248b80fb57
SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")  # bare numbers without a header: only the name tells
SHARD_ANSWER = (
    "tf-data",
    "by its name a data shard of a TensorFlow checkpoint",
    "; its bytes say nothing about themselves",
    "give the .index file or the prefix instead; " + TF_LATER,
)
PICKLE_2 = re.compile(rb"\x80[\x02-\x05][()\]}cKMJGNXUTILFSVBC\x8a\x88-\x8f\x95]")
PICKLE_0 = re.compile(  # protocols 0 and 1 have no magic number: an opcode with its operand, and another behind it
    rb"(?:\([dlt]?)?(?:(?:I-?\d+L?|L-?\d+L?|F-?[\d.]+(?:e[+-]?\d+)?|S'[^\n]*'|S\"[^\n]*\"|p\d+)\r?\n[]()}{[dltasu02ebRoQNIFLSVPgpciq.]"
    rb"|V[^\n]*\np\d+\n|[ci][A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n(?:p\d+\n|q.|[()]|X.{1,3}\x00|U[\x00-\x1f]))"
    rb"|[]})]q\x00[(.suaXUKMJGN]|\((?:K[^ -~]|X.\x00{3}|U[\x00-\x1f]|J..\x00\x00)",
    re.S,
)
NUL_RUN = re.compile(rb"(?<!\0)\0{%d,}" % PROBE)
END_RECORD = Struct("<4s4H2LH")
END_RECORD_64 = Struct("<4sQ2H2L4Q")
LOCAL = (b"PK\3\4", 26, 30)  # of a member's header: signature, where the name's length stands, where the name stands
CENTRAL = (b"PK\1\2", 28, 46)


class Look:
    """What is looked at: both ends of a source. ``inner`` marks the beginning of something inside a wrapper: no end, no size."""

    __slots__ = ("head", "inner", "source", "tail")

    def __init__(self, source: Source, inner: bool = False) -> None:
        self.source = source
        self.inner = inner
        size = min(source.size, END)
        self.head = source.read(0, size)
        self.tail = b"" if inner else source.read(source.size - size, size)


def describe(source: Source) -> tuple[str, str, str]:
    """(kind, sentence, hint): a short id of what ``source`` is, one line that says so, and what to do next.

    Answers for any bytes and reads a bounded number of them. Raises only what ``source`` raises when read.
    """
    look = Look(source)
    kind, noun, facts, hint = _identify(look)
    if kind in ("unknown", "text", "zero-filled") and SHARD.search(source.name):
        zeros = "; it begins with NULs: zero by nature, or never written" if kind == "zero-filled" else ""
        kind, noun, facts, hint = SHARD_ANSWER
        facts += zeros
    facts += _zero_note(look, kind)
    size = "1 byte" if source.size == 1 else f"{source.size:,} bytes"
    return kind, one_line(one_line(f"this is {noun}, {size}{facts}", 400), 400), hint


def _identify(look: Look) -> Answer:
    for recognise in RECOGNISERS:
        answer = recognise(look)
        if answer is not None:
            return answer
    return _unknown(look)


# Whole files of one thing


def _empty(look: Look) -> Answer | None:
    if look.source.size:
        return None
    return "empty", "an empty file", "; nothing was written into it", AGAIN


def _filled(look: Look) -> Answer | None:
    source = look.source
    if not look.head.strip(b"\xff") and _all(source, b"\xff"):
        return "ff-filled", "a file of nothing but FF bytes", _sampled(look), "a failing disk or card leaves such files: " + AGAIN
    if look.head.strip(b"\0") and not look.head.startswith(bytes(PROBE)):
        return None
    if look.inner:
        return "zero-filled", "NUL bytes", "", NEVER
    if _all(source, b"\0"):
        return "zero-filled", "a file of nothing but NUL bytes", _sampled(look), NEVER
    facts = _ranges(look, _zero_ranges(source))
    return "zero-filled", "a file that begins with NUL bytes", facts, NEVER


def _all(source: Source, byte: bytes) -> bool:
    if source.size <= WHOLE:
        return not source.read(0, source.size).strip(byte)
    return not any(_probe(source, at).strip(byte) for at in _probes(source))


def _probe(source: Source, at: int) -> bytes:
    return source.read(at, min(PROBE, source.size - at))


def _probes(source: Source) -> list[int]:
    """Offsets of evenly spaced samples, the first and the last bytes among them."""
    last = max(source.size - PROBE, 0)
    return sorted({last * i // (PROBES - 1) for i in range(PROBES)})


def _zero_ranges(source: Source) -> list[tuple[int, int]]:
    """Runs of NULs: exact in small files; between samples, with edges found by bisection, in large ones."""
    if source.size <= WHOLE:
        return [match.span() for match in NUL_RUN.finditer(source.read(0, source.size))]
    ranges: list[tuple[int, int]] = []
    start = -1  # of the current run
    before = 0  # the sample before this one
    for at in _probes(source):
        zero = not _probe(source, at).strip(b"\0")
        if zero and start < 0:
            start = _edge(source, before, at, False) if at else 0
        elif not zero and start >= 0:
            ranges.append((start, _edge(source, before, at, True)))
            start = -1
            if len(ranges) > SHOWN:
                return ranges
        before = at
    return ranges if start < 0 else [*ranges, (start, source.size)]


def _edge(source: Source, low: int, high: int, zero: bool) -> int:
    """Where between two samples NULs end (``zero``: the one at ``low`` is all NUL, the other is not) or begin (the reverse)."""
    while high - low > PROBE:
        middle = (low + high) // 2
        if (not _probe(source, middle).strip(b"\0")) == zero:
            low = middle
        else:
            high = middle
    data = source.read(low, min(high - low + PROBE, source.size - low))
    return low + (len(data) - len(data.lstrip(b"\0")) if zero else len(data.rstrip(b"\0")))


def _sampled(look: Look) -> str:
    return "" if look.source.size <= WHOLE else f" as far as {PROBES} samples show"


def _ranges(look: Look, ranges: list[tuple[int, int]]) -> str:
    shown = ", ".join(f"{start:,} to {end:,}" for start, end in ranges[:SHOWN])
    more = " and further ones" if len(ranges) > SHOWN else ""
    return f"; bytes {shown}{more} are all NUL{_sampled(look)}"


def _zero_note(look: Look, kind: str) -> str:
    """The NUL runs of a file that is damaged, or of one that ends in NULs: blocks that were never written."""
    if look.inner or kind in ("empty", "zero-filled", "ff-filled", "tf-data") or kind in TAR_KINDS:
        return ""
    ends = len(look.tail) == END and not look.tail[END // 2 :].strip(b"\0")
    ranges = _zero_ranges(look.source) if ends or kind in ("unknown", "zip-cut", "zip-damaged") else []
    return _ranges(look, ranges) + " (never written, or true zeros)" if ranges else ""


# First bytes


def _rows(rows: Rows, look: Look, data: bytes) -> Answer | None:
    for kind, pattern, noun, hint in rows:
        if re.match(pattern, data, re.S):
            return kind, noun, FACTS[kind](look) if kind in FACTS else "", hint
    return None


def _later(look: Look) -> Answer | None:
    answer = _safetensors(look) or _tf_table(look) or _rows(LATER_HEADS, look, look.head)
    if answer and answer[0] == "torch-legacy" and answer[2]:
        return (*answer[:3], AGAIN)
    return answer


def _heads(look: Look) -> Answer | None:
    return _rows(HEADS, look, look.head)


def _safetensors(look: Look) -> Answer | None:
    if not re.match(rb".{8}(?:\xef\xbb\xbf)?\s*\{\s*[\"}]", look.head, re.S) or _decode(look.head):
        return None
    header = int.from_bytes(look.head[:8], "little")
    if look.inner or header + 8 <= look.source.size:
        return "safetensors", "a safetensors file", f"; its header takes {header:,} bytes", LATER
    return "safetensors", "a safetensors file cut short or damaged", f"; its header alone should take {header:,} bytes", AGAIN


def _tf_table(look: Look) -> Answer | None:
    """A LevelDB-style table. Its first value tells the two apart: a header (varint field) or the list of tensors (message)."""
    if not look.tail.endswith(TF_MAGIC):
        return None
    first = re.match(rb"(?:[\x80-\xff]*[\0-\x7f][\xf0-\xff]?.{0,4}?)??\0\0[\x80-\xff]*[\0-\x7f](.)", look.head, re.S)
    if first is None:
        facts = "; its first entry is not that of a TensorFlow checkpoint"
        return "leveldb", "a table as LevelDB writes it", facts, f"if it should be a TensorFlow checkpoint: {AGAIN}"
    if first[1] == b"\x0a":
        return "tf-v1", "a TensorFlow checkpoint of the first version (V1)", "", LATER
    return "tf-bundle", "the index of a TensorFlow checkpoint", "; the numbers are in the .data files beside it", LATER


def _legacy_facts(look: Look) -> str:
    return "; it is cut short, for its header alone takes 137 bytes" if look.source.size < 137 and not look.inner else ""


def _png_facts(look: Look) -> str:
    width, height = (int.from_bytes(look.head[at : at + 4], "big") for at in (16, 20))
    return f"; {width:,} × {height:,} pixels" if len(look.head) >= 24 else ""


def _gguf_facts(look: Look) -> str:
    big = look.head[4:6] == b"\0\0"  # versions are small: the zeros tell the byte order
    version, tensors = (int.from_bytes(look.head[at:end], "big" if big else "little") for at, end in ((4, 8), (8, 16)))
    return f"; version {version}, {tensors:,} tensors" if version >= 2 and len(look.head) >= 24 else ""


def _npy_facts(look: Look) -> str:
    found = re.search(rb"'descr': ?'([^']{1,40})'.{0,80}?'shape': ?(\([\d, L]{0,200}\))", look.head, re.S)
    return f"; type {_show(found[1], 40)}, shape {_show(found[2], 60)}" if found else ""


def _hdf5_facts(look: Look) -> str:
    found = re.search(rb"keras_version|model_config|layer_names|model_weights|optimizer_weights", look.head)
    return "; Keras wrote it" if found else ""


def _aria2(look: Look) -> Answer | None:
    """No magic number: version 1, and a bit field of as many bits as the download has pieces."""
    head = look.head
    if len(head) < 34 or not head.startswith(b"\0\1\0\0\0") or head[6:9] != bytes(3):
        return None
    at = 10 + head[9]  # behind the info hash
    piece, total, field = (int.from_bytes(head[at + a : at + b], "big") for a, b in ((0, 4), (4, 12), (20, 24)))
    if len(head) < at + 24 or not piece or field != (-(-total // piece) + 7) // 8:
        return None
    facts = f"; the whole file would be {total:,} bytes"
    return "aria2", "a control file of an unfinished aria2 download", facts, "let aria2 finish the download"


# Wrappers


def _wrapped(look: Look) -> Answer | None:
    answer = _rows(WRAPPERS, look, look.head)
    if answer is None or answer[0] not in INFLATED or (look.inner and answer[0] not in WEAK):
        return answer  # a wrapper inside a wrapper is named, not opened
    kind, noun, _, hint = answer
    data = _inflate(kind, look.source.read(0, min(INFLATED[kind], look.source.size))) if not look.inner else b""
    if not data:
        return None if kind in WEAK else (kind, noun, "; it holds nothing, or nothing that can be read", AGAIN)
    inner, what, facts, then = _identify(Look(BytesSource(data), inner=True))
    facts = facts.replace("; ", "; inside: ", 1)
    if inner == "unknown":
        return kind, f"{noun} around something unknown", facts, hint
    if inner in TAR_KINDS:
        hint, then = "unpack it with `tar xf FILE`", OPEN
    return kind, f"{noun} around {what}", facts, then if then in (WRONG, PAGE, LINK) else _unpacked(hint, then)


def _unpacked(hint: str, then: str) -> str:
    return f"{hint} and open what comes out" if then is OPEN else f"{hint}; {then}"


def _inflate(kind: str, data: bytes) -> bytes:
    """The first bytes of what ``data`` inflates to; none where it does not."""
    try:
        if kind in ("gzip", "zlib"):
            from zlib import decompressobj

            return decompressobj(47).decompress(data, INSIDE)  # 47: gzip or zlib, whichever it is
        if kind == "bzip2":
            from bz2 import BZ2Decompressor

            return BZ2Decompressor().decompress(data, INSIDE)
        from lzma import LZMADecompressor

        return LZMADecompressor(memlimit=128 << 20).decompress(data, INSIDE)  # the file chooses the size of its dictionary
    except Exception:  # each of the three complains in its own way
        return b""


# Archives


def _zip(look: Look) -> Answer | None:
    begins = look.head.startswith(b"PK\3\4")
    if look.inner:
        return _named(ZIPS, _names(look.head, *LOCAL)[0]) if begins else None
    end = _zip_end(look, begins)
    if end is None:
        return _zip_cut(look) if begins else None
    count, directory, size, front = end
    if directory < 0:
        noun = _named(ZIPS, _names(look.head, *LOCAL)[0])[1]
        facts = f"; its end record tells of {_count(count, 'member')}, but their directory is not there"
        return _mangled(look) or ("zip-damaged", f"{noun} that is damaged", facts, AGAIN)
    kind, noun, facts, hint = _named(ZIPS, _directory_names(look.source, directory, size), count)
    if look.head[6:7] and begins and look.head[6] & 1:
        facts += "; it is encrypted"
    if front:
        facts += f"; {_count(front, 'byte')} of {'other zip archives' if begins else 'something else'} before it"
        hint = f"cut that off with `tail -c +{front + 1} FILE > NEW`, then open NEW"
    return kind, noun, facts, hint


def _zip_end(look: Look, begins: bool) -> tuple[int, int, int, int] | None:
    """(members, offset of the directory or -1, its size, bytes before the archive); None where there is no end record."""
    source = look.source
    start = max(source.size - (COMMENT if begins else END), 0)
    tail = source.read(start, source.size - start)
    told = None
    at = tail.rfind(b"PK\5\6", 0, max(len(tail) - END_RECORD.size + 4, 0))
    for _ in range(CANDIDATES):
        if at < 0:
            break
        found = _end_record(source, start, tail, at)
        if found[1] >= 0:
            return found
        told = told or found
        at = tail.rfind(b"PK\5\6", 0, at)
    return told if begins else None


def _end_record(source: Source, start: int, tail: bytes, at: int) -> tuple[int, int, int, int]:
    """The end record at ``at`` of ``tail``, which lies at ``start`` of the file; the directory's offset is -1 where none is."""
    _, _, _, _, count, size, offset, _ = END_RECORD.unpack_from(tail, at)
    end = start + at
    if tail[max(at - 20, 0) : at].startswith(b"PK\6\7") and end >= 76:  # a ZIP64 record and its locator stand between
        end -= 76
        fields = END_RECORD_64.unpack(source.read(end, END_RECORD_64.size))
        if fields[0] == b"PK\6\6":
            count, size, offset = fields[7:10]
    for directory in (end - size, offset):
        if 0 <= directory <= source.size - 46 and source.read(directory, 4) == b"PK\1\2":
            return count, directory, size, max(directory - offset, 0)
    return count, -1, 0, 0


def _zip_cut(look: Look) -> Answer:
    """No end record: the members' own headers tell what it was. Torch leaves sizes out of them, so they are searched for."""
    source = look.source
    names, last = _names(source.read(0, min(source.size, WHOLE)), *LOCAL)
    _, noun, _, _ = _named(ZIPS, names)
    facts = "; no directory at its end" if b"PK\1\2" not in look.tail else "; the end of its directory is missing"
    seen = "" if source.size <= WHOLE else f" in its first {WHOLE:,} bytes"
    if names:
        facts += f"; {_count(len(names), 'member')} seen{seen}, the last is {_show(names[-1], 60)} at byte {last:,}"
    else:
        facts += "; not even its first member's header is whole"
    hint = f"{AGAIN}, or take an earlier checkpoint; members before the cut may be whole"
    return "zip-cut", f"{noun} cut short", facts, hint


def _directory_names(source: Source, offset: int, size: int) -> list[bytes]:
    """Names from both ends of the directory: what tells the flavours apart stands at either."""
    size = min(size, source.size - offset)
    if size <= 2 * COMMENT:
        return _names(source.read(offset, size), *CENTRAL)[0]
    ends = (source.read(offset, COMMENT), source.read(offset + size - COMMENT, COMMENT))
    return [name for end in ends for name in _names(end, *CENTRAL)[0]]


def _names(data: bytes, signature: bytes, length_at: int, name_at: int) -> tuple[list[bytes], int]:
    """The members' names in the headers seen, and where the last of these stands."""
    names: list[bytes] = []
    last = at = data.find(signature)
    while at >= 0:
        length = int.from_bytes(data[at + length_at : at + length_at + 2], "little")
        name = data[at + name_at : at + name_at + length]
        if name and len(name) == length:
            names.append(name)
            last = at
            at += name_at + length - 4
        at = data.find(signature, at + 4)
    return names, last


def _named(rows: Rows, names: list[bytes], count: int = 0) -> Answer:
    """The row whose pattern the members' names match; the last row matches any."""
    lines = b"".join(name.replace(b"\n", b"?") + b"\n" for name in names)
    kind, _, noun, hint = next(row for row in rows if re.search(row[1], lines, re.M))
    facts = f"; {_count(count, 'member')}" if count else ""
    shown = [name for name in names if re.search(CHECKPOINT, name)] if kind.endswith("-of-checkpoint") else names
    if shown and kind != "torch-zip":
        facts += "; it begins with " if shown is names else "; it holds "
        facts += ", ".join(_show(name, 60) for name in shown[:SHOWN])
    return kind, noun, facts, hint


def _tar(look: Look) -> Answer | None:
    if not _tar_header(look.head[:512]):
        if re.match(rb"(?:sys_info|storages|tensors)\0+\Z", look.head) and len(look.head) < 512:
            return "torch-tar", f"the beginning of {TARRED}", "; it is cut short within its first header", AGAIN
        return None
    names: list[bytes] = []
    at = 0
    while len(names) < HOPS and at + 512 <= look.source.size:
        header = look.source.read(at, 512)
        if not _tar_header(header):
            break
        names.append(header[:100].split(b"\0")[0])
        at += 512 + (_octal(header[124:136]) + 511) // 512 * 512
    kind, noun, facts, hint = _named(TARS, names)
    if at > look.source.size and not look.inner:
        facts += f"; it is cut short, for {_show(names[-1], 60)} should end at byte {at:,}"
        hint = AGAIN
    return kind, noun, facts, hint


def _tar_header(block: bytes) -> bool:
    """The checksum of a tar header is right: old tars have no magic number, and anything may hold "ustar"."""
    return len(block) == 512 and block[0] != 0 and sum(block) - sum(block[148:156]) + 8 * 32 == _octal(block[148:156])


def _octal(field: bytes) -> int:
    digits = re.match(rb"[ \0]*([0-7]{1,12})", field)
    if digits:
        return int(digits[1], 8)
    return int.from_bytes(field[1:], "big") if field[:1] == b"\x80" else 0  # GNU: sizes from 8 GiB on as a binary number


# Text


def _text(look: Look) -> Answer | None:
    text = _decode(look.head)
    if not text:
        return None
    if b"\0" in look.tail.rstrip(b"\0") and not look.head.startswith(UTF_16):
        return "text-and-binary", "a file that begins as text and ends as binary data", _telling("text", text), MAKER
    return _told(TEXTS, text) or _base64(look, text) or _path_file(text) or _told(PROSE, text)


def _told(rows: Rows, text: bytes) -> Answer | None:
    for kind, start, noun, hint in rows:
        if re.match(start, text, re.I | re.S):
            return kind, noun, _telling(kind, text), hint
    return None


def _telling(kind: str, text: bytes) -> str:
    pattern, template = TOLD.get(kind, (b"", ""))
    found = re.search(pattern, text, re.I) if template else None
    if found is None:
        return ""
    groups = {name: _show(b" ".join(value.split()), 80) for name, value in found.groupdict().items()}
    numbers = {name: f"{int(value):,}" for name, value in groups.items() if name[0] == "n" and len(value) < 20}
    return template.format_map(groups | numbers)


def _decode(head: bytes) -> bytes:
    """The head as UTF-8 text with plain line ends and no byte order mark, or nothing where it is no text."""
    if head.startswith(UTF_16):
        text = head[: len(head) // 2 * 2].decode("utf-16", "replace")
    else:
        head = head.rstrip(b"\0")  # a page may lie in a file that was made longer beforehand
        text = head.decode("utf-8", "replace")
        if "\ufffd" in text[:-1] and len(re.findall(rb"[\x20-\x7e\s]", head)) > 0.7 * len(head):
            text = head.decode("latin-1")
    if re.search("[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]", text[:-1]):  # the head's end may cut the last character
        return b""
    return text.strip("\ufeff \t\r\n").replace("\r\n", "\n").encode("utf-8", "replace")


def _path_file(text: bytes) -> Answer | None:
    """site-packages/*.pth: comments, imports and folders only. It shares its suffix with checkpoints."""
    lines = [line for line in text.split(b"\n") if line.strip() and not line.startswith(b"#")]
    if not lines or len(text) > END // 2 or not all(re.match(rb"import[ \t]|\.{0,2}/\S|[A-Za-z]:\\", line) for line in lines):
        return None
    kind = "python-path-file"
    return kind, "a Python path file (.pth of site-packages)", _telling(kind, text), "it tells Python where modules are; " + WRONG


def _base64(look: Look, text: bytes) -> Answer | None:
    body = re.sub(rb"\s+", b"", re.sub(rb"\Adata:[^,]{0,100};base64,", b"", text))
    if look.inner or len(body) < 24 or not re.fullmatch(rb"[A-Za-z0-9+/]+=*", body):
        return None
    from binascii import a2b_base64

    body = body.rstrip(b"=")
    kind, what, facts, then = _identify(Look(BytesSource(a2b_base64(body[: len(body) // 4 * 4])), inner=True))
    if kind not in ENCODED:
        return None  # hexadecimal digits and long words are base64 too
    return "base64", f"base64 text of {what}", facts, _unpacked("decode it with `base64 -d < FILE > NEW`", then)


def _mangled(look: Look) -> Answer | None:
    """UTF-8's replacement character all over binary data: somebody's program read the file as text and wrote it back."""
    found = look.head.count(b"\xef\xbf\xbd")
    if found < 4 or found * 64 < len(look.head):
        return None
    facts = f"; {found:,} bytes of the first {len(look.head):,} were replaced by U+FFFD"
    return (
        "mangled",
        "binary data damaged by a conversion to text",
        facts,
        BINARY,
    )


# Protocol buffers: no magic number, so the nesting of the first fields has to fit


def _protobuf(look: Look) -> Answer | None:
    if look.head[:1] not in (b"\x08", b"\x0a"):
        return None
    fields = _fields(look.head)
    numbers = [number for number, _ in fields]
    if _op(look.head, 2, 1, 2, 1, 1) or _word(look.head, rb"\d+\.\d+\.\S+", 2, 1, 5):
        hint = "its weights are in variables/ beside it; " + TF_LATER
        return "tf-saved-model", "the graph of a TensorFlow SavedModel", "", hint
    if _op(look.head, 1, 2, 1, 1) or _word(look.head, rb"\d+\.\d+\.\S+", 1, 5):
        return "tf-meta", "the graph of a TensorFlow checkpoint (.meta)", "", BESIDE
    if _op(look.head, 1, 2) and _word(look.head, rb"[\w./-]+", 1, 1):
        return "tf-graph", "a frozen TensorFlow graph (.pb)", "", "inert does not read weights inside graphs: use TensorFlow"
    if numbers[:1] != [1] or not isinstance(fields[0][1], int) or not 1 <= fields[0][1] <= 99:
        return None
    if set(numbers[1:]) <= {2, 3, 4, 5, 6, 7, 8, 14, 20, 25} and (_word(look.head, rb"[\w .+/-]+", 2) or _dig(look.head, 7, 1)):
        producer = _dig(look.head, 2)
        facts = f"; written by {_show(producer, 40)}" if producer else ""
        return "onnx", "an ONNX model", facts, USE + "the onnx package"
    if _word(look.head, rb"[\w./ -]+", 2, 1, 1):
        return "coreml", "a Core ML model, as its first fields suggest", "", MAKER
    return None


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """The first fields of a message as (number, value); [] where the bytes are no message. The last value may be cut."""
    fields: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data) and len(fields) < 16:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        value, at = _varint(data, at) if wire in (0, 2) else (0, at)
        if at < 0 or not number or wire not in (0, 1, 2, 5):
            return fields if at < 0 else []
        length = {0: 0, 1: 8, 2: value, 5: 4}[wire]
        fields.append((number, data[at : at + length] if wire else value))
        at += length
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, next offset), or (0, -1) where it does not end within ten bytes."""
    value = 0
    for i in range(10):
        if at < 0 or at + i >= len(data):
            break
        value |= (data[at + i] & 0x7F) << 7 * i
        if data[at + i] < 0x80:
            return value, at + i + 1
    return 0, -1


def _dig(data: bytes, *numbers: int) -> bytes:
    """The bytes of the first field of these numbers, one inside the other; b"" where there is none."""
    for number in numbers:
        data = next((value for found, value in _fields(data) if found == number and isinstance(value, bytes)), b"")
    return data


def _word(data: bytes, pattern: bytes, *numbers: int) -> bool:
    return re.fullmatch(pattern, _dig(data, *numbers)) is not None


def _op(data: bytes, *numbers: int) -> bool:
    """An operation's name such as AddV2 stands there."""
    return _word(data, rb"_?[A-Z][A-Za-z0-9_]{1,60}", *numbers)


# Pickles


def _pickle(look: Look) -> Answer | None:
    if PICKLE_2.match(look.head):
        protocol = f"protocol {look.head[1]}"
    elif PICKLE_0.match(look.head):
        protocol = "protocol 0 or 1"
    else:
        return None
    kind, _, noun, hint = next(row for row in PICKLES if re.search(row[1], look.head, re.S))
    facts = f"; {protocol}"
    if not look.inner and not look.tail.endswith(b"."):
        facts += "; it does not end as a pickle does: it is cut short, or other data follow"
    return kind, noun, facts, hint


# The rest


def _unknown(look: Look) -> Answer:
    shown = look.head[:16].hex(" ")
    guess, hint = _guess(look)
    return "unknown", "a file of no format that inert knows", f"; it begins with {shown} (hex){guess}", hint


def _stub(look: Look) -> Answer | None:
    """A few bytes that are the beginning of something; a letter or two are text as well."""
    if look.inner or look.source.size >= 16 or not any(magic.startswith(look.head) for magic, _ in BEGINNINGS):
        return None
    return _unknown(look)


def _guess(look: Look) -> tuple[str, str]:
    """The nearest guess and what to do, for bytes that no table knows."""
    head = look.head
    starts = dict.fromkeys(noun for magic, noun in BEGINNINGS if magic.startswith(head))
    if starts and not look.inner:
        return f"; nearest guess: the beginning of {' or '.join(list(starts)[:SHOWN])}, cut short", AGAIN
    for magic, noun in EMBEDDED:
        at = head.find(magic)
        if at > 0:
            hint = f"cut off what stands before it with `tail -c +{at + 1} FILE > NEW`, then open NEW"
            return f"; nearest guess: {noun}, with {at:,} bytes of something else before it", hint
    if head[:1] == b"\x80" and len(head) > 2 and head[1] > 5:
        return f"; nearest guess: a damaged pickle, for protocol {head[1]} does not exist", AGAIN
    exponents = [byte & 0x7F for byte in head[3::4]]
    if len(exponents) >= 16 and sum(0x32 <= byte <= 0x43 for byte in exponents) > 0.9 * len(exponents):
        return "; nearest guess: float32 numbers without a header", "ask its maker for names and shapes: nothing here tells them"
    if len(head) >= 4096 and len(set(head)) >= 250:
        return "; nearest guess: compressed, encrypted or raw numbers", "ask where it came from; " + AGAIN
    return "; no nearer guess", "ask where it came from; " + AGAIN


def _show(data: bytes, limit: int) -> str:
    return _clip(data.decode("utf-8", "replace"), limit)


def _clip(text: str, limit: int) -> str:
    """``text`` from a file on one line of at most ``limit`` characters, escapes counted."""
    return one_line(one_line(text.strip(), limit), limit)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


FACTS: dict[str, Callable[[Look], str]] = {
    "torch-legacy": _legacy_facts,
    "png": _png_facts,
    "gguf": _gguf_facts,
    "npy": _npy_facts,
    "hdf5": _hdf5_facts,
}

# In this order: what a magic number proves comes before what only looks alike.
RECOGNISERS: tuple[Callable[[Look], Answer | None], ...] = (
    _empty,
    _later,
    _heads,
    _wrapped,
    _zip,
    _tar,
    _aria2,
    _filled,
    _stub,
    _pickle,
    _text,
    _protobuf,
    _mangled,
)
