"""Writes demo.ckpt beside this script: what Lightning saves after two epochs of a small image classifier.

    PYTHONPATH=../tests/corpus python make_demo.py            (lightning 2.6, torch 2.13.0)

`make demo` looks at the file; it is committed, so that nobody needs torch for it.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from pathlib import Path
from typing import Any

import lightning
import torch
from describe import renamed
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn

HERE = Path(__file__).resolve().parent
warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Digits(lightning.LightningModule):
    scratch = ""

    def __init__(self, width: int = 12, classes: int = 10, lr: float = 3e-3, augment: bool = True) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )  # fmt: skip
        self.head = nn.Linear(width * 4, classes)

    def training_step(self, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        images, labels = batch
        loss = nn.functional.cross_entropy(self.head(self.features(images).flatten(1)), labels)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self) -> Any:
        optimiser = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
        return {"optimizer": optimiser, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 2)}

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["callbacks"] = renamed(checkpoint["callbacks"], self.scratch, "runs/digits")


def main() -> None:
    lightning.seed_everything(20, verbose=False)
    images = torch.rand(64, 1, 8, 8)
    data = torch.utils.data.TensorDataset(images, images.flatten(1).argmax(1) % 10)
    model = Digits()
    with tempfile.TemporaryDirectory() as Digits.scratch:
        callbacks = [ModelCheckpoint(Digits.scratch, monitor="loss", filename="best"), EarlyStopping("loss")]
        trainer = lightning.Trainer(
            max_epochs=2, accelerator="cpu", logger=False, callbacks=callbacks, enable_progress_bar=False, enable_model_summary=False,
            default_root_dir=Digits.scratch,
        )  # fmt: skip
        trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=16))
        trainer.save_checkpoint(HERE / "demo.ckpt")
    print(f"{HERE / 'demo.ckpt'}: {(HERE / 'demo.ckpt').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
