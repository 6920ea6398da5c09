"""A stand-in for PyTorch Lightning: the calls of loggers and callbacks, in the Trainer's order and with
its arguments."""
