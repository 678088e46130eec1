# SPDX-License-Identifier: BSD-3-Clause
"""A perceptron with names of its own, trained by AdamW; a checkpoint after epochs 0, 1, 2, 5, 10, 20, 50."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 4)
y = (x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] > 1).long()
torch.save((x, y), "data.pt")

features = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
model = nn.ModuleDict({"features": features, "out": nn.Linear(16, 3)})
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.8, 0.95), eps=1e-6)
for epoch in range(51):
    if epoch in (0, 1, 2, 5, 10, 20, 50):
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
        torch.save(state, f"runs/epoch_{epoch}.pt")
    for i in torch.randperm(400).split(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model["out"](features(x[i])), y[i]).backward()
        optimizer.step()
