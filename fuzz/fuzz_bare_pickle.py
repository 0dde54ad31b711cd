"""Whatever a bare pickle and the arrays of joblib beside it: sound answers, twice the same, or an InertError; no file but theirs is opened."""

from asking import MARK, contents, folders, in_bytes, in_folder
from driver import run

READS = ("formats.bare_pickle", "torch.companions", "torch.raw", "torch.ndarray", "pickle.python2")


def one(data: bytes) -> None:
    (in_folder if MARK in data else in_bytes)(data)


run(
    one,
    seeds=[*contents("pickles/*", "python2/*.pkl", "old/*.pkl", "old_joblib/*zip/*"), *folders("old_joblib/*", head=b"state.pkl")],
    smoke=800,
)
