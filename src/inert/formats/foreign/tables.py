"""The tables: how the things that get mistaken for checkpoints begin, what they are called, and what to do next.

Knows: every pattern, noun phrase and hint. Tables are tried from the top, and the first row that matches names the file.
Refuses to know: where the bytes come from, and what the patterns are held against beyond the comment above each table.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    Row = tuple[str, bytes, str, str]  # kind, pattern, noun phrase, hint
    Rows = tuple[Row, ...]

BESIDE_IT = "open the folder that it lies in"
AGAIN = "download or copy the file again and compare its size with the original's"
NEVER = "its content was probably never written, or only in part: " + AGAIN
LATER = "this version of inert does not read it yet: the table in the README lists the formats it reads"
OPEN = "inert reads this format: try `inert info` on it"
WRONG = "it holds no weights: check the link or path that it came from"
USE = "inert does not read this format: use "
MAKER = USE + "the program that made it"
BINARY = "copy the file again in binary mode: the bytes that were lost cannot be told"
LINK = "it only points to another file: get that file"
PAGE = "the download gave this instead of the file: check the link and your access to it, then download it again"
MEMBER = "unpack it and open the file inside"
TF_OPEN = "open the checkpoint by its prefix, its .index file or its folder"
BESIDE = "it holds no weights: they are in the .index and .data files beside it; " + TF_OPEN

LEGACY = "a legacy PyTorch checkpoint (the layout before 1.6)"
TARRED = "a PyTorch checkpoint in the tar layout before 0.1.10"
MAGIC = rb"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"  # of torch.save before 1.6: 0x1950a86a20f9469cfc6c as a LONG1

# Patterns over the first bytes.
# What inert reads, or will in a later version, comes first: such files get here only when damaged, or inside of something.
LATER_HEADS: Rows = (
    ("torch-legacy", rb"\x80[\x02\x03]\x8a\x0a" + MAGIC + rb"\.", LEGACY, OPEN),
    ("torch-legacy", rb"\x80[\x04\x05](?:\x95.{8})?\x8a\x0a" + MAGIC + rb"\x94?\.", LEGACY, OPEN),
    ("torch-legacy", rb"L119547037146038801333356L?\n\.", LEGACY, OPEN),
    ("mangled", rb"\x80[\x02\x03]\x8a\r\n\x6c\xfc", f"{LEGACY} damaged by a change of line ends", BINARY),
    ("torchscript", rb".{4}PTMF", "a TorchScript model for mobile devices (flatbuffer)", OPEN),
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
    ("cab", rb"MSCF\0{4}", "a Windows cabinet archive", MEMBER),
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
    ("compress", rb"\x1f\x9d[\x09-\x10\x89-\x90]", "a compress (.Z) wrapper", "unpack it with `uncompress < FILE > NEW`"),
    ("snappy", rb"\xff\x06\0\0sNaPpY", "a Snappy wrapper", "decompress it with a Snappy tool"),
    ("lzip", rb"LZIP[\0\x01]", "an lzip wrapper", "unpack it with `lzip -d < FILE > NEW`"),
    ("lzop", rb"\x89LZO\0\r\n\x1a\n", "an lzop wrapper", "unpack it with `lzop -d < FILE > NEW`"),
    ("lrzip", rb"LRZI[\0\x01]", "an lrzip wrapper", "unpack it with `lrzip -d FILE`"),
    ("lzfse", rb"bvx[12n-]", "an LZFSE wrapper", "unpack it with `lzfse -decode -i FILE -o NEW`"),
    ("zpaq", rb"7kSt\xa01\x83\xd3|zPQ[\x01\x02]", "a ZPAQ archive", "unpack it with `zpaq x FILE` and open the file inside"),
    (
        "arj",
        rb"\x60\xea.[\0-\x0a][\x1e\x22-\x40][\0-\x0c].[\0-\x0b]",
        "an ARJ archive",
        "unpack it with `7z x FILE` and open the file inside",
    ),
    ("ace", rb".{7}\*\*ACE\*\*", "an ACE archive", "unpack it with `unace x FILE` and open the file inside"),
    ("lha", rb"..-(?:lh[0-9dx]|lz[s45]|pm[0-2s])-", "an LHA archive", "unpack it with `lha x FILE` and open the file inside"),
    ("xar", rb"xar!\0", "a xar archive", "unpack it with `xar -xf FILE` and open the file inside"),
    ("wim", rb"MSWIM\0\0\0", "a Windows image", "unpack it with `7z x FILE` and open the file inside"),
    (
        "cpio",
        rb"07070[127][0-7A-Fa-f]{6}",
        "a cpio archive",
        "unpack it with `cpio -id < FILE` and open the file inside",
    ),
    ("squashfs", rb"hsqs|sqsh", "a SquashFS image", "unpack it with `unsquashfs FILE` and open the file inside"),
    (
        "joblib-zfile",
        rb"ZF0x",
        "a compressed file of an old joblib",
        "if you trust its maker, load it with joblib and save it again",
    ),
)

# Of these and of HEADS: what holds other files in a way that nothing here looks through, so that nobody knows what is in it.
SEALED = frozenset((
    "7z", "rar", "compress", "snappy", "lzip", "lzop", "lrzip", "lzfse", "zpaq", "arj", "ace", "lha", "xar", "wim", "cpio",
    "squashfs", "cab", "ar", "encrypted", "zip-part",
))  # fmt: skip
IMAGE = (0x8001, b"CD001", "an ISO 9660 image")  # where its sign stands, behind what may be anything

# Names that checkpoint files usually bear.
CHECKPOINT = rb"\.(?:pt2?|pth|ptl|bin|ckpt|safetensors|pkl|distcp|h5|hdf5|onnx|gguf|index|t7)$|\.data-\d{5}-of-\d{5}$"

# Patterns over the names of an archive's members, one a line; the last row takes what is left.
ZIPS: Rows = (
    ("torch-export", rb"^[^/\n]+/archive_format$|^serialized_exported_program\.json$", "a PyTorch program (.pt2)", OPEN),
    ("torchscript", rb"^[^/\n]+/bytecode\.pkl$", "a TorchScript archive for mobile devices", OPEN),
    ("torchscript", rb"^[^/\n]+/(?:constants\.pkl$|code/__torch__)", "a TorchScript archive (torch.jit.save)", OPEN),
    ("torchscript", rb"^[^/\n]+/tensors/\d+$", "a TorchScript archive of PyTorch 1.0 to 1.3", OPEN),
    ("torch-package", rb"^[^/\n]+/\.data/(?:extern_modules|python_version|\w+\.storage)$", "a torch.package archive", OPEN),
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
    ("torch-tar", rb"^(?:\./)?(?:sys_info|storages|tensors)$", TARRED, OPEN),
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

TAR_KINDS = tuple(row[0] for row in TARS)

# Patterns searched in the first bytes of a pickle.
PICKLES: Rows = (
    ("torch-legacy", rb"\A.{5,60}protocol_version.{1,40}little_endian", f"{LEGACY} with damaged first bytes", AGAIN),
    ("joblib", rb"joblib\.numpy_pickle", "a joblib file (a pickle with NumPy arrays between its opcodes)", OPEN),
    ("torch-dcp", rb"torch\.distributed\.checkpoint\.metadata", "the .metadata of a distributed PyTorch checkpoint", BESIDE_IT),
    ("pickle", rb"_load_from_bytes", "a bare pickle with PyTorch tensors in it", OPEN),
    ("pickle", rb"ctorch\n\w*Storage|torch\._utils.{1,4}_rebuild", "the data.pkl of an unpacked PyTorch archive", OPEN),
    ("pickle", rb"sklearn\.", "a bare pickle of a scikit-learn object", OPEN),
    ("pickle", rb"numpy", "a bare pickle with NumPy arrays in it", OPEN),
    ("pickle", rb"", "a bare pickle", OPEN),
)

# How a pickle begins: protocols 2 to 5, then 0 and 1.
PICKLE_2 = re.compile(rb"\x80[\x02-\x05][()\]}cKMJGNXUTILFSVBC\x8a\x88-\x8f\x95]")
PICKLE_0 = re.compile(  # protocols 0 and 1 have no magic number: an opcode with its operand, and another behind it
    rb"(?:\([dlt]?)?(?:(?:I-?\d+L?|L-?\d+L?|F-?[\d.]+(?:e[+-]?\d+)?|S'[^\n]*'|S\"[^\n]*\"|p\d+)\r?\n[]()}{[dltasu02ebRoQNIFLSVPgpciq.]"
    rb"|V[^\n]*\np\d+\n|[ci][A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n(?:p\d+\n|q.|[()]|X.{1,3}\x00|U[\x00-\x1f]))"
    rb"|[]})]q\x00[(.suaXUKMJGN]|\((?:K[^ -~]|X.\x00{3}|U[\x00-\x1f]|J..\x00\x00)",
    re.S,
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
    ("sharded", rb"\{.*\"weight_map\"\s*:", "the index of a sharded checkpoint (JSON with a weight_map)", OPEN),
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
