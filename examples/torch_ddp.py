"""Softmax regression on handwritten digits, trained data-parallel by PyTorch on the CPU (gloo).

Of torchrun it uses only the environment variables. Every rank processes its share of each batch,
DistributedDataParallel averages the gradients, so all ranks end with the same weights and print the same loss.
"""

import argparse
import csv
import os

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel

try:
    from muster_context import report
except ImportError:  # started by another launcher
    def report(**values):
        pass

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "digits.csv")
PIXEL_MAX = 16


def read_digits(path):
    """Pixels in 0..1, and the digit of each row."""
    with open(path, newline="") as file:
        rows = [[float(word) for word in row] for row in csv.reader(file)]
    table = torch.tensor(rows)
    return table[:, :-1] / PIXEL_MAX, table[:, -1].long()


@record
def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.5)
    parser.add_argument("--batch-size", type=int, default=64, help="rows per step, over all ranks")
    parser.add_argument("--data", default=DIGITS)
    parser.add_argument("--fail-rank", type=int, default=-1, help="the rank that fails after its first epoch")
    options = parser.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    pixels, digits = read_digits(options.data)
    model = DistributedDataParallel(torch.nn.Linear(pixels.shape[1], 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr)
    loss = None
    for epoch in range(options.epochs):
        order = torch.randperm(len(digits))  # the same on all ranks: they have the same seed
        for begin in range(0, len(order) - options.batch_size + 1, options.batch_size):
            share = order[begin:begin + options.batch_size][rank::world]
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(pixels[share]), digits[share])
            loss.backward()
            optimizer.step()
        report(epoch=epoch + 1, loss=loss)  # of the last share; muster shows that of rank 0
        if rank == options.fail_rank:
            raise RuntimeError(f"rank {rank} fails as requested after epoch {epoch}")

    with torch.no_grad():
        scores = model.module(pixels)
        loss = torch.nn.functional.cross_entropy(scores, digits).item()
        right = (scores.argmax(1) == digits).float().mean().item()
    print(f"rank {rank} of {world}: loss {loss:.6f}, accuracy {right:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
