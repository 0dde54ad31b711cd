"""Whatever the index and the shards in a folder: sound answers, twice the same, or an InertError; names lead nowhere outside of it."""

from asking import folders, in_folder
from driver import run

READS = ("formats.sharded", "formats.sharded_index", "formats.sharded_union", "containers.folder")

run(
    in_folder,
    seeds=[
        *folders("sharded/*"),
        *folders("sharded/safetensors", head=b"model.safetensors.index.json"),
        *folders("sharded/bin", head=b"pytorch_model-00001-of-00002.bin"),
    ],
    smoke=1200,
)
