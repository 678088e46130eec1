# SPDX-License-Identifier: BSD-3-Clause
"""A small convolutional network on handwritten digits, as one trains it in PyTorch. usage: train.py

Made this folder's files with PyTorch 1.13 and scikit-learn 1.2 (`load_digits`: 1,797 images of 8 x 8, "Optical
Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0). The first
1,500 images train; the loss is analyzed on the first 300 of them."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target)
train, train_labels = images[:1500], labels[:1500]

torch.manual_seed(1)
model = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2),   # 4 x 3 x 3
    nn.Flatten(), nn.Linear(36, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(11):
    torch.save({"model_state_dict": model.state_dict(), "optimizer_state_dict": optimizer.state_dict(),
                "epoch": epoch}, f"runs/epoch-{epoch}.pt")
    order = torch.randperm(len(train))
    for batch in order.split(64):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(train[batch]), train_labels[batch]).backward()
        optimizer.step()

# The forward pass, with the names of the state_dict: the exporter must neither fold nor fuse.
model.eval()
torch.onnx.export(model, images[:2], "model.onnx", input_names=["image"], output_names=["logits"],
                  dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}}, opset_version=17,
                  do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)

with torch.no_grad():  # by the model as it is exported: hesscope compares the graph's predictions with these
    np.savez_compressed("eval.npz", image=images[:300].numpy(), target=labels[:300].numpy(),
                        predictions=model(images[:300]).numpy())
