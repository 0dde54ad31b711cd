"""Checkpoints that Lightning writes while it trains: python make_lightning.py [FOLDER] (lightning 2.6, torch 2.13.0, omegaconf).

One model, three trainings: plain, weights only, and with hyper-parameters in OmegaConf and argparse containers.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from argparse import Namespace
from pathlib import Path
from typing import Any

import lightning
import torch
from describe import renamed, write
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from omegaconf import OmegaConf
from torch import nn

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "lightning"
SCRATCH = "?"
warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Model(lightning.LightningModule):
    def __init__(self, width: int = 4, lr: float = 0.01, more: Any = None) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.BatchNorm1d(width), nn.Linear(width, 1))

    def training_step(self, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        loss = self.net(batch[0]).square().mean()
        self.log("loss", loss)
        return loss

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """The scratch folder's name is nobody's business."""
        if "callbacks" in checkpoint:
            checkpoint["callbacks"] = renamed(checkpoint["callbacks"], SCRATCH, "/runs/1")

    def configure_optimizers(self) -> Any:
        optimiser = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return {"optimizer": optimiser, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimiser, 1)}


def train(name: str, why: str, model: Model, **options: Any) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(24.0).reshape(8, 3) / 24)
    with tempfile.TemporaryDirectory() as scratch:
        global SCRATCH
        SCRATCH = scratch
        stop = EarlyStopping("loss", patience=5)
        keep = ModelCheckpoint(scratch, filename="kept", every_n_epochs=1, **options)
        trainer = lightning.Trainer(
            max_epochs=2, accelerator="cpu", logger=False, callbacks=[keep, stop], enable_progress_bar=False, enable_model_summary=False, default_root_dir=scratch
        )  # fmt: skip
        trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=4))
        path = FOLDER / f"{name}.ckpt"
        trainer.save_checkpoint(path, weights_only=options.get("save_weights_only", False))
    write(path, writer=f"lightning {lightning.__version__}, torch {torch.__version__}", why=why)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, why, more, options in (
        ("plain", "a whole training state", None, {}),
        ("weights_only", "the state dict without the training state", None, {"save_weights_only": True}),
        (
            "omegaconf",
            "hyper-parameters in an OmegaConf container",
            OmegaConf.create({"opt": {"betas": [0.9, 0.95], "name": "adam"}, "path": "/x"}),
            {},
        ),
        ("namespace", "hyper-parameters in argparse and pathlib objects", Namespace(out=Path("runs/1"), sizes=(1, 2), flag=None), {}),
    ):
        lightning.seed_everything(7, verbose=False)
        train(name, why, Model(more=more), **options)


if __name__ == "__main__":
    main()
